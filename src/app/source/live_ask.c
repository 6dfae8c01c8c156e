/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a key asks of one process: its mailbox, its state, a garbage collection; and what the node
 * need not be asked, since its VM runs on this host. */
#include <limits.h>
#include <unistd.h>

#include "encode.h"
#include "live_internal.h"

#include "beamtop/base/clock.h"
#include "beamtop/local/resident.h"

/* ---- the VM's resident memory from outside: a stalled disk does not hide it */

void live_look_for_host(struct live *l)
{
    const int64_t pid = node_os_pid(model_node(l->model));
    if (l->status_fd < 0 && pid > 0 && pid <= INT_MAX && conn_peer_is(l->conn, (pid_t)pid))
        l->status_fd = resident_open((pid_t)pid);
}

void live_forget_host(struct live *l)
{
    if (l->status_fd >= 0)
        close(l->status_fd);
    l->status_fd = -1;
}

bool live_is_here(const struct live *l)
{
    return l->status_fd >= 0;
}

struct builder *live_complete(struct live *l, struct answer *answer)
{
    struct resident r;
    const enum question q = answer->question;
    if ((q != QUESTION_SYSTEM && q != QUESTION_ALLOC) || !answer->value || !live_is_here(l))
        return NULL;
    if (!resident_read(l->status_fd, &r)) {
        live_forget_host(l);
        return NULL;
    }
    struct builder *b = encode_resident(q, answer->value, answer->len, &r);
    if (b) {
        answer->value = builder_bytes(b, &answer->len) + 1; /* without its version byte */
        answer->len--;
    }
    return b;
}

/* ---- of one process */

/* Of a connection that is up. */
static int ask_once(struct live *l, enum question question, const struct etf_pid *pid,
                    struct builder *b, struct error *err)
{
    int rc = query_pending(l->query, question)
                 ? error_set(err, ERR_LIMIT, "the question before is not answered yet")
                 : query_ask(l->query, question, b, live_deadline_ms(l, question), live_on_answer,
                             l, err);
    if (rc == 0)
        model_asked(l->model, question, &(struct process_ref){.pid = *pid});
    builder_free(b);
    return rc;
}

int live_ask_mailbox(struct live *l, const struct etf_pid *pid, int first, int bytes_each,
                     bool agreed, struct error *err)
{
    if (l->phase != PHASE_RUNNING)
        return error_set(err, ERR_LOST, "not connected");
    if (agreed)
        model_journal(l->model, clock_wall_us(), false,
                      "peeked at the mailbox of " PID_FORMAT ": the first %d messages",
                      PID_NUMBERS(pid), first);
    return ask_once(l, QUESTION_MAILBOX, pid,
                    encode_mailbox(pid, conn_peer_node(l->conn), first, bytes_each, agreed), err);
}

int live_ask_collect(struct live *l, const struct etf_pid *pid, bool agreed, struct error *err)
{
    if (l->phase != PHASE_RUNNING)
        return error_set(err, ERR_LOST, "not connected");
    if (agreed)
        model_journal(l->model, clock_wall_us(), false,
                      "asked " PID_FORMAT " to collect its garbage", PID_NUMBERS(pid));
    return ask_once(l, QUESTION_COLLECT, pid, encode_collect(pid, conn_peer_node(l->conn), agreed),
                    err);
}

int live_ask_state(struct live *l, const struct etf_pid *pid, int timeout_ms, int bytes,
                   bool agreed, struct error *err)
{
    if (l->phase != PHASE_RUNNING)
        return error_set(err, ERR_LOST, "not connected");
    if (agreed)
        model_journal(l->model, clock_wall_us(), false,
                      "asked " PID_FORMAT " for its state (sys:get_state)", PID_NUMBERS(pid));
    return ask_once(l, QUESTION_STATE, pid,
                    encode_state(pid, conn_peer_node(l->conn), timeout_ms, bytes, agreed), err);
}
