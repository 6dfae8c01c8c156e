/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Mnesia, as the fact `mnesia` knows it. */
#include <string.h>

#include "rules_internal.h"

#define CUT_S 50 /* two looks, about: by then one that starts has joined */

void judge_mnesia_cut(struct judge *j)
{
    const json_t *fact = judge_fact(j, "mnesia");
    const char *nodes = fact_text(fact, "cut_nodes");
    const double for_s = fact_number(fact, "for_s");
    if (fact && !json_object_get(fact, "cut_nodes"))
        judge_unknown(j, "Mnesia has not been looked at for 15 min");
    if (!fact || !*nodes || !(for_s >= CUT_S))
        return;
    struct finding *f = judge_find(j, FINDING_LOOK, for_s, CUT_S);
    f->title = judge_text(j, "Mnesia runs without %s, which %s connected", nodes,
                          strchr(nodes, ' ') ? "are" : "is");
    f->view = "tables";
    f->action = "See whether it runs there (beamtop tables --mnesia NODE). If so, the network was "
                "cut, and data may differ: keep one side (mnesia:set_master_nodes/1), restart "
                "Mnesia on the other";
    f->ruled_out_if = "Mnesia was stopped there on purpose";
    judge_evidence(j, f, "for_s", for_s, "s", "so at each look: for %s", judge_seconds(j, for_s));
    judge_evidence(j, f, "running_nodes", fact_number(fact, "running_nodes"), "",
                   "nodes on which it runs, as this one sees it: %s of %s",
                   judge_number(j, fact_number(fact, "running_nodes")),
                   judge_number(j, fact_number(fact, "schema_nodes")));
}
