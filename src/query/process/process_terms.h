/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is asked about one process, and the answer `process` made of the values. Pure: no clock, no
 * connection. Terms are bare and checked, slices borrowed from what they were read of. */
#ifndef BEAMTOP_QUERY_PROCESS_TERMS_H
#define BEAMTOP_QUERY_PROCESS_TERMS_H

#include "query/who/who.h"
#include "query/who/who_terms.h"

/* Above one of these it is large: its memory in bytes, what that has beyond its heaps, which may be
 * links and monitors, its messages, and each of its lists. */
#define PROCESS_MEMORY_MOST (4 << 20)
#define PROCESS_LINKS_BYTES_MOST 400000
#define PROCESS_MESSAGES_MOST 50000
#define PROCESS_LIST_MOST 1000

/* So many of each list say what they were started with, where they have no name. */
#define PROCESS_KIN_SHOWN 20

struct process_question {
    struct slice name; /* a registered name, or a pid as text; len 0: `pid` */
    struct etf_pid pid;
    struct slice node;   /* of `pid` */
    size_t stack, links; /* so many are shown: PROCESS_LIST_MOST at most */
};

/* arg: of docs/queries.md, with version byte, borrowed. */
bool process_read_question(const uint8_t *arg, size_t len, struct process_question *out);

/* ---- asks. That of lists fails where the process has ended, that of a pid where there is none. */

void process_call_pid(struct native_call *call, struct slice name);
void process_call_queue(struct native_call *call, const char *node, const struct etf_pid *pid);
void process_call_items(struct native_call *call, const struct who_node *node,
                        const struct etf_pid *pid);
void process_call_lists(struct native_call *call, const struct who_node *node,
                        const struct etf_pid *pid);

/* ---- values */

/* Of all but the first: the value, when it was read, and what that took. */
bool process_read_value(struct slice answer, struct slice *value, int64_t *mono_ns, double *us);

enum process_found {
    PROCESS_FOUND,
    PROCESS_GONE,
    PROCESS_LARGE,
    PROCESS_ODD, /* another form */
};
enum process_found process_check_queue(struct slice value);
enum process_found process_check_items(struct slice value);
enum process_found process_check_lists(struct slice value);

/* The processes whose names are shown, in the order in which process_build() shows them, into out,
 * which has room for process_named_most(). */
size_t process_named_most(size_t links);
size_t process_read_named(struct slice items, struct slice lists, const struct who_node *node,
                          size_t links, struct etf_pid *out);

struct process_values {
    const struct process_question *question;
    const struct who_node *node;
    const struct etf_pid *pid;
    const struct who_entry *who;
    int64_t mono_ns;
    struct slice items, lists; /* found */
    struct cursor names;       /* of the part WHO_REGISTERED, its list entered */
    const struct who *kin;     /* that knows the first of each list; NULL: nothing is known */
};
bool process_build(struct builder *b, const struct process_values *v); /* false: another form */

/* ---- for process_build.c */

enum process_item {
    ITEM_PLAIN,
    ITEM_MEMORY = ITEM_PLAIN + 6,
    ITEM_WORDS,
    ITEM_PLAIN_END = ITEM_PLAIN + 11,
    ITEM_LEADER = ITEM_PLAIN_END,
    ITEM_STACK,
    ITEM_COLLECTIONS,
    ITEM_COLLECTOR,
    ITEM_PARENT,
    ITEM_PROCESS_TERMS
};
const char *process_item_name(enum process_item item);

enum process_list {
    LIST_LINKS,
    LIST_MONITORS,
    LIST_MONITORED_BY,
    LIST_BINARY,
    LIST_SUSPENDING,
    LIST_ANCESTORS,
    LISTS
};
const char *process_list_name(enum process_list list);
/* One that was not asked for is empty. */
bool process_read_items(struct slice items, struct slice out[ITEM_PROCESS_TERMS]);
bool process_read_lists(struct slice lists, struct slice out[LISTS]);
/* Enters it: *count elements follow. false: it is none, or not of terms. */
bool process_enter_list(struct slice list, size_t *count, struct cursor *c);

#endif
