/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the node need not be asked, since its VM runs on this host: its resident memory, from
 * outside. A stalled disk does not hide it. */
#include <limits.h>
#include <unistd.h>

#include "encode.h"
#include "live_internal.h"

#include "beamtop/local/resident.h"

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
