/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What beamtop's own evaluation on the node calls: the VM counts calls by anyone. */
#include <string.h>

#include "trace_internal.h"

/* The evaluator, what it is made of, and what our expressions call all the time, as counted on OTP
   23 to 29. Of other functions we make a few calls a second at most. */
static const struct own {
    const char *module;
    const char *functions; /* each between blanks; NULL: all */
} own[] = {
    {"erl_anno", NULL},
    {"erl_eval", NULL},
    {"erl_features", NULL},
    {"erl_internal", NULL},
    {"erl_lint", NULL},
    {"erl_parse", NULL},
    {"erlang", " append_element error fun_info list_to_tuple make_ref max min monotonic_time "
               "process_info put raise setelement system_info throw trace_info trace_pattern "
               "tuple_to_list "},
    {"erts_internal", NULL},
    {"gb_sets", NULL},
    {"lists", " all append duplicate foldl keyfind map mapfoldl member min nth reverse sort "
              "ukeysort usort zip3 zipwith zipwith3 "},
    {"maps", NULL},
    {"orddict", NULL},
    {"ordsets", NULL},
    {"persistent_term", NULL},
    {"prim_eval", NULL},
    {"proplists", NULL},
    {"sets", NULL},
    {"trace", NULL},
};

static bool lists_function(const char *functions, struct slice name)
{
    for (const char *at = functions; *at == ' ' && at[1] != '\0';) {
        size_t len = strcspn(at + 1, " ");
        if (len == name.len && memcmp(at + 1, name.s, len) == 0)
            return true;
        at += 1 + len;
    }
    return false;
}

static bool is_own_function(const struct mfa *mfa)
{
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        if (slice_is(mfa->module, own[i].module))
            return !own[i].functions || slice_is(mfa->function, "_") ||
                   lists_function(own[i].functions, mfa->function);
    return false;
}

const struct mfa *trace_own_function(const struct trace_session *t, size_t i)
{
    const struct preflight_pattern *found = &t->prep.preflight.patterns[i];
    for (size_t k = 0; t->functions && k < found->n; k++)
        if (is_own_function(&t->functions[found->first + k].mfa))
            return &t->functions[found->first + k].mfa;
    return NULL;
}
