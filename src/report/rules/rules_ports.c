/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sockets, as the fact `closed_sockets` knows them. */
#include <math.h>

#include "rules_internal.h"

#define CLOSED_MOST 30 /* of one owner, or of owners of one kind */

static void find_closed(struct judge *j, const json_t *row, double sockets)
{
    struct finding *f = judge_find(j, FINDING_LOOK, sockets, CLOSED_MOST);
    const double for_s = fact_number(row, "for_s");
    const char *owner = fact_text(row, "owner"), *pid = fact_text(row, "pid");
    const char *application = fact_text(row, "application"), *host = fact_text(row, "remote_host");
    f->title = judge_text(j, "%s %s %s closed connections: CLOSE_WAIT",
                          *owner ? owner
                          : *pid ? "A process without a name"
                                 : "Unnamed",
                          *pid ? "keeps" : "processes keep", judge_number(j, sockets));
    if (*pid)
        judge_about(f, judge_text(j, "%s", pid), CAUSE_KNOWN);
    f->view = "ports";
    f->action = "Find what does not close them (beamtop ports NODE --by=owner_name --sort="
                "close_wait). Call close after {error, closed} and tcp_closed, on error paths too";
    f->ruled_out_if = "A pool keeps them until their next use, and its size is their limit";
    judge_evidence(j, f, "sockets", sockets, "", "%s, at each look: %s",
                   *pid ? "sockets of one process" : "sockets of processes of that kind",
                   judge_number(j, sockets));
    judge_evidence(j, f, "for_s", for_s, "s", "in CLOSE_WAIT: for %s at least",
                   judge_seconds(j, for_s));
    if (*application)
        judge_evidence(j, f, "application", NAN, "", "application: %s", application);
    if (*host)
        judge_evidence(j, f, "remote_host", NAN, "", "all closed by %s", host);
}

void judge_closed_sockets(struct judge *j)
{
    const json_t *fact = judge_fact(j, "closed_sockets"), *row;
    const json_t *owners = json_object_get(fact, "owners");
    size_t i;
    if (fact && !owners)
        judge_unknown(j, "ports have not been looked at for 15 min");
    json_array_foreach (owners, i, row) {
        const double sockets = fact_number(row, "sockets");
        if (sockets > judge_limit(j, CLOSED_MOST))
            find_closed(j, row, sockets);
    }
}
