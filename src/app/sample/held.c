/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "held.h"

#include <string.h>

static uint64_t held_ns(const struct held_call *c)
{
    return c->last_ns - c->first_ns;
}

void held_keep(struct held *h, const struct held_call *call)
{
    size_t at = h->n;
    if (call->samples < 2)
        return;
    while (at > 0 && held_ns(&h->list[at - 1]) < held_ns(call))
        at--;
    if (at == LIMIT_SAMPLED_HELD)
        return;
    h->n += h->n < LIMIT_SAMPLED_HELD;
    memmove(h->list + at + 1, h->list + at, (h->n - at - 1) * sizeof *h->list);
    h->list[at] = *call;
}

bool held_take(struct held *h, struct held_call *now, const struct sample *s)
{
    if (s->call != 0 && s->call == now->call && s->mono_ns >= now->last_ns) {
        now->last_ns = s->mono_ns;
        now->samples++;
        return false;
    }
    held_keep(h, now);
    *now = (struct held_call){.call = s->call,
                              .first_ns = s->mono_ns,
                              .last_ns = s->mono_ns,
                              .samples = s->call != 0,
                              .pid_number = s->pid_number,
                              .pid_serial = s->pid_serial,
                              .thread = s->thread,
                              .frame = HELD_NO_FRAME,
                              .caller = HELD_NO_FRAME};
    return s->call != 0;
}
