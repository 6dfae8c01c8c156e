/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "name_queue.h"

void name_queue_add(struct name_queue *q, const struct etf_pid *pid)
{
    const uint32_t mixed = (pid->id ^ (pid->serial << 15)) * 2654435761u;
    struct etf_pid *seen = &q->seen[(mixed >> 16) % NAMES_ASKED];
    if (q->n == NAMES_AT_ONCE || (seen->id == pid->id && seen->serial == pid->serial))
        return;
    *seen = *pid;
    q->waiting[q->n++] = *pid;
}

void name_queue_ask(struct name_queue *q, struct session *s, unsigned deadline_ms, answer_fn *fn)
{
    struct error ignored = {0}; /* a process without a name is shown by its number */
    if (q->n == 0 || q->asked)
        return;
    struct builder *b = builder_new();
    build_list(b, q->n);
    for (size_t i = 0; i < q->n; i++)
        build_pid(b, s->port.node, &q->waiting[i]);
    build_nil(b);
    q->n = 0;
    q->asked = session_ask(s, QUESTION_WHO, b, deadline_ms, fn, &ignored) == 0;
}
