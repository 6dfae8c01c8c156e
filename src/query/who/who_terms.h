/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is asked about who processes are, and what is made of the values. Pure: no clock, no
 * connection. Terms are bare and checked, slices borrowed from what they were read of. */
#ifndef BEAMTOP_QUERY_WHO_TERMS_H
#define BEAMTOP_QUERY_WHO_TERMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "beamtop/base/buf.h"
#include "beamtop/etf/build.h"
#include "beamtop/etf/cursor.h"
#include "query/native/native.h"

/* Supervisors are found by keys of the dictionary (OTP 26.2 and later), by the item `parent` (25 to
 * 26.1), or by links (23, 24). */
enum who_way { WHO_BY_KEYS, WHO_BY_PARENTS, WHO_BY_LINKS };

struct who_node {
    const char *name;  /* of its pids; borrowed */
    uint32_t creation; /* of its pids */
    enum who_way way;
    bool has_labels;
};

/* What is read of each of some processes; the value is a list with an element for each. */
enum who_column {
    WHO_BASE,         /* registered_name, group_leader, initial_call */
    WHO_CALL,         /* {M,F,A} of '$initial_call', or `undefined` */
    WHO_ANCESTORS,    /* the first 6, names and pids; else none */
    WHO_LABEL,        /* `undefined`, a binary of WHO_LABEL_BYTES at most, or []: another term */
    WHO_LABEL_SIZE,   /* bytes of {{dictionary,'$process_label'},Label} as external term */
    WHO_LABEL_TERM,   /* {{dictionary,'$process_label'},Label} */
    WHO_STACK,        /* {Stack, CurrentFunction}; `false`: proc_lib has not started it */
    WHO_NAME,         /* registered_name, initial_call */
    WHO_NAME_PARENT,  /* … current_stacktrace, parent */
    WHO_NAME_WAITING, /* … message_queue_len */
    WHO_REGISTERED,   /* {registered_name, Name} or [] */
    WHO_MEMORY,       /* {memory, Bytes} */
    WHO_LINKS,        /* links, where they are 1,000 at most, else [] */
};
#define WHO_LABEL_BYTES 1024
/* The most that WHO_LABEL_SIZE says of such a label, in each encoding of atoms. */
#define WHO_LABEL_TEXT_BYTES 200
#define WHO_LABEL_SIZE_MOST (WHO_LABEL_BYTES + 48)
#define WHO_ANCESTORS_MOST 6
#define WHO_LINKS_MOST 1000

struct who_part {
    enum who_column column;
    const struct etf_pid *pids; /* of the node */
    size_t n;                   /* at least 1 */
};
#define WHO_PARTS 4

/* None fails where a process is gone, but for pids that are not of the node. */
void who_call_parts(struct native_call *call, const char *node, const struct who_part *parts,
                    size_t n);
/* Group leaders of applications; fails where there is no application controller. */
void who_call_applications(struct native_call *call);
/* Processes of registered names: a list of pids and `undefined`. */
void who_call_registered(struct native_call *call, const struct slice *names, size_t n);
/* The release; `with_key` fails before OTP 26.2. `pid`: any process of the node. */
void who_call_release(struct native_call *call, const char *node, const struct etf_pid *pid,
                      bool with_key);

/* The values of one of these calls; us: of wall time, nothing in it waits for long. */
bool who_read_values(struct slice value, struct slice *out, size_t n, double *us);
/* Enters the list of each part: n elements follow in its cursor. */
bool who_read_parts(struct slice value, const struct who_part *parts, size_t n, struct cursor *out,
                    double *us);
bool who_read_release(struct slice value, bool with_key, struct who_node *node, double *us);

/* The values of [{Item, Value}], as process_info/2 gives it. false: another form, or gone. */
bool who_read_items(struct slice term, struct slice *values, size_t n);
/* A local pid. */
bool who_read_pid(struct slice term, const struct who_node *node, struct etf_pid *out);
struct slice who_atom_of(struct slice term); /* its name; len 0: it is none */
bool who_term_is(struct slice term, const char *atom);

struct who_mfa {
    struct slice module, function; /* names */
    int64_t arity;
    struct slice terms[3];
};
bool who_read_mfa(struct slice term, struct who_mfa *out); /* {M,F,A} */

/* Before OTP 26.2: appends {M,F,A} of what a process behind proc_lib does: the module of a
 * behaviour whose callback runs as {M,init,1}, else the outermost function. false: it hibernates,
 * or its stack is too deep. */
bool who_call_of_stack(struct builder *out, struct slice stack);
/* It will not tell more later. */
bool who_is_settled(struct slice call);

bool who_is_supervisor(struct slice name); /* it is called so */
/* By what it goes as a supervisor: its name, else its callback module; false: it is none. `name`: a
 * term, len 0: none. */
bool who_read_supervisor(struct slice name, struct slice call, enum who_way way, struct slice *out);

/* Appends text of a label as keeper/who.erl makes it: 200 bytes at most. false: another term than a
 * binary, printable characters, or an atom without quotes. */
bool who_put_label(struct buf *out, struct slice label);

/* Of n things to be asked the part that is next: where it fails, it is cut, so that what fails is
 * found, and the others are read. */
struct who_span {
    size_t n, at, len;
    size_t until; /* a part that was cut ends there */
};
void who_span_start(struct who_span *s, size_t n);
bool who_span_pass(struct who_span *s); /* the part is done; false: all are */
bool who_span_cut(struct who_span *s);  /* false: it is of one */

#endif
