/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the parts of `ports` share. Pure: no clock, no connection. */
#ifndef BEAMTOP_QUERY_PORTS_INTERNAL_H
#define BEAMTOP_QUERY_PORTS_INTERNAL_H

#include "ports_table.h"
#include "query/stepped/stepped.h"

#define PORTS_ROWS 1000 /* of an answer */
#define PORTS_LINKS 200 /* connections to nodes */

#define PORTS_HELD 100     /* ports that senders may wait for */
#define PORTS_SENDERS 6000 /* processes that may be senders */

struct ports_sender {
    struct etf_pid pid;
    struct port *to;    /* the one that is held and that it monitors; NULL: none */
    struct port *owned; /* the last of those that it owns and may send to */
    size_t n_owned;     /* of these */
    bool is_suspended;  /* else it waits */
};

struct ports_read {
    const char *node;
    struct port_table table;
    bool is_cut; /* there are more than are listed, or they could not be */
    bool socket_is_loaded, has_native_options;
    uint64_t now_ms;
    unsigned look;       /* this one's number, from 1 on */
    size_t sockets_from; /* the next one that is read, from 1 on */
    unsigned slices;     /* of sockets, that are still read */
    unsigned round;      /* the look at which the first of them was */
    bool has_round;      /* all sockets were read once */
    size_t at;           /* the next one that a step of several asks takes */
    struct port **out;   /* of the last ask */
    size_t n_out;
    struct port *rows[PORTS_ROWS]; /* of the answer, the first first */
    size_t n_rows;
    struct buf links; /* of system_info(dist_ctrl) */
    struct slice nodes[PORTS_LINKS];
    struct port *held[PORTS_HELD];
    size_t n_held;
    bool has_processes; /* all are among the senders */
    struct ports_sender senders[PORTS_SENDERS];
    size_t n_senders;
};

/* Of a list, in the order of those that are out: `take` for each. */
void ports_take_each(struct ports_read *r, struct slice list,
                     void (*take)(struct ports_read *r, struct port *p, struct slice value));

/* ---- calls about those that are out */

/* Those of the answer that it wants, from where the ask before ended. */
size_t ports_choose_rows(struct ports_read *r, size_t most, bool (*wants)(const struct port *p));
bool ports_is_inet(const struct port *p);
/* Arguments, still open: fun Module:Function/Arity, and the list of them. */
struct builder *ports_build_terms(const struct ports_read *r, const char *module,
                                  const char *function, unsigned arity);
void ports_build_same(struct builder *b, const char *text, size_t n);
/* lists:map(fun Module:Function/1, …). */
void ports_add_each(struct ports_read *r, struct run_calls *calls, const char *module,
                    const char *function);
/* lists:zipwith(fun Module:Function/2, …, [Second, …]); second: as text. */
void ports_add_zip(struct ports_read *r, struct run_calls *calls, const char *module,
                   const char *function, const char *second);
/* Their numbers are about to be read: those of before are before. */
void ports_begin_looks(struct ports_read *r);

/* ---- values: one of each port */

void ports_take_name(struct ports_read *r, struct port *p, struct slice value);
void ports_take_owner(struct ports_read *r, struct port *p, struct slice value);
void ports_take_os_pid(struct ports_read *r, struct port *p, struct slice value);
void ports_take_queue(struct ports_read *r, struct port *p, struct slice value);
void ports_take_input(struct ports_read *r, struct port *p, struct slice value);
void ports_take_output(struct ports_read *r, struct port *p, struct slice value);
void ports_take_counts(struct ports_read *r, struct port *p, struct slice value);
void ports_take_socket(struct ports_read *r, struct port *p, struct slice value);
void ports_take_tcp(struct ports_read *r, struct port *p, struct slice value);
void ports_take_flags(struct ports_read *r, struct port *p, struct slice value);
void ports_take_local(struct ports_read *r, struct port *p, struct slice value);
void ports_take_remote(struct ports_read *r, struct port *p, struct slice value);
void ports_begin_look(struct ports_read *r, struct port *p);

/* ---- steps of ports_sockets.c */

bool ports_ask_sockets(void *own, struct run_calls *calls);
void ports_take_sockets(void *own, const struct slice *values, size_t n);
bool ports_ask_infos(void *own, struct run_calls *calls);
void ports_take_infos(void *own, const struct slice *values, size_t n);
bool ports_ask_socket_kernel(void *own, struct run_calls *calls);
void ports_take_kernel(void *own, const struct slice *values, size_t n);

/* ---- steps of ports_rows.c */

bool ports_ask_addresses(void *own, struct run_calls *calls);
void ports_take_addresses(void *own, const struct slice *values, size_t n);
size_t ports_whom(void *read, struct etf_pid *out);

/* ---- steps of ports_senders.c */

bool ports_ask_monitors(void *own, struct run_calls *calls);
void ports_take_monitors(void *own, const struct slice *values, size_t n);
bool ports_ask_processes(void *own, struct run_calls *calls);
void ports_take_processes(void *own, const struct slice *values, size_t n);
bool ports_ask_statuses(void *own, struct run_calls *calls);
void ports_take_statuses(void *own, const struct slice *values, size_t n);
bool ports_ask_functions(void *own, struct run_calls *calls);
void ports_take_functions(void *own, const struct slice *values, size_t n);

/* ---- the rest, ports_rest.c */

/* What the kernel says of it, else its driver; NULL: not known, or none. */
const char *ports_state(const struct port *p);
/* Of pointers to ports, for qsort(): by kind and state; the other one by owner before. */
int ports_compare_kinds(const void *a, const void *b);
int ports_compare_kin(const void *a, const void *b);
/* Those that have no row, in the order of ports_compare_kin(); the caller frees it. */
struct port **ports_list_rest(struct ports_read *r, size_t *n);

/* ---- the answer */

void ports_build(struct builder *b, void *read, int64_t mono_ns, const struct stepped_who *who);

#endif
