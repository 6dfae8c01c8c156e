/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Counted calls by module: what its functions, taken together, say of it. */
#ifndef BEAMTOP_REPORT_MODULES_H
#define BEAMTOP_REPORT_MODULES_H

#include "rules_internal.h"

struct module_calls {
    struct slice name;
    double reads, writes; /* calls; of functions that call each other the largest number */
    double keyed;         /* of the reads, those by a key: get, fetch, lookup */
    double get_one;       /* get/1 and its like: a lookup by a key */
    struct slice hottest; /* the read that is called most */
    double hottest_calls;
    double prepared;                  /* prepare_query/3: the queries of a repository */
    double stages;                    /* call/2: a stage of a pipeline */
    double switches;                  /* put_dynamic_repo/1 */
    bool prepares, defaults, options; /* prepare_query/3, default_options/1, prepare_opts/2 */
    bool declared;                    /* the node says that it is a repository */
    struct {
        double read, keyed; /* those added last; most calls come first */
    } last;
};

struct modules {
    struct module_calls *items;
    size_t n;
};

/* The items live as long as the findings. */
struct modules modules_of(struct judge *j);
bool module_is_library(struct slice name);
bool module_is_repository(const struct module_calls *m);
/* Few writes, and a lookup by a key: what a registry does, and a table in memory would serve. */
bool module_is_lookup(const struct module_calls *m);
/* Whether the name says that it holds data which is looked up and seldom changes. */
bool module_is_registry(const struct module_calls *m);

/* Whether a count reaches another one, but for what edges of windows cut off: of two functions of
   which one calls the other, a window often has some calls of one more. */
bool calls_reach(double count, double other);

#endif
