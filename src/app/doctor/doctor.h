/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What is needed to open a node, checked one by one: names, ways, cookies, rights. It connects as
 * `info` does, asks the node for nothing, and closes. Nothing of a VM changes. Thread: the loop's.
 */
#ifndef BEAMTOP_APP_DOCTOR_DOCTOR_H
#define BEAMTOP_APP_DOCTOR_DOCTOR_H

#include <stdbool.h>
#include <stddef.h>
#include <uv.h>

#include "beamtop/base/attr.h"
#include "beamtop/base/error.h"
#include "beamtop/link/conn.h"
#include "beamtop/link/discover.h"
#include "beamtop/local/ladder.h"
#include "beamtop/model/outside.h"
#include "app/cli/cli.h"
#include "app/pod/pod.h"
#include "app/source/target.h"

enum doctor_state {
    DOCTOR_OK,
    DOCTOR_NOTE, /* not as it should be, or not known; the node can be opened all the same */
    DOCTOR_FAIL, /* keeps from opening it, or from what the check is of */
    DOCTOR_NONE, /* does not concern this node: no line */
};

#define DOCTOR_FAR_CHECKS 6 /* of a way */
#define DOCTOR_CHECKS (15 + DOCTOR_FAR_CHECKS)

struct doctor_line {
    const char *check; /* its word */
    enum doctor_state state;
    char text[768];
    char fix[512]; /* what lifts it; "" where there is nothing to lift */
};

/* What leads to a node that is named by a URL. */
struct doctor_far {
    struct doctor_line lines[DOCTOR_FAR_CHECKS];
    size_t n;
    struct pod pod;
    int may_exec, may_forward; /* 0: not allowed; -1: not known */
};

/* What is known of one node; all is borrowed by the checks. */
struct doctor_facts {
    const char *asked;            /* its name, or the OS pid that was given */
    const struct discover_vm *vm; /* NULL: not on this host, or one of several */
    struct error several;
    const struct discover_list *vms;
    uint16_t epmd_port; /* the one that was asked */
    struct target target;
    const char *open_file;  /* the cookie's, when others may read it; else NULL */
    struct error no_target; /* ERR_NONE: there is one, which was tried */
    bool up, is_tls;        /* connected, and by TLS */
    char tls_note[256];     /* of conn_tls_note() */
    enum conn_failure why;  /* … else why not, and in words */
    struct error down;
    struct outside_line seen; /* of the VM from outside then; label NULL: nothing */
    char own[LIMIT_NODE_NAME_BYTES + 1], peer[LIMIT_NODE_NAME_BYTES + 1];
    size_t addresses; /* of its host */
    char address[INET6_ADDRSTRLEN];
    struct error no_address;
    struct error no_entry; /* into its namespace, when it is in another one */
    struct ladder ladder;  /* of a VM of this host */
    struct doctor_far far;
};

/* Fills out, in the order of the table; returns how many lines there are. */
size_t doctor_check(struct doctor_line out[DOCTOR_CHECKS], const struct doctor_facts *f);
void doctor_say(struct doctor_line *out, enum doctor_state state, const char *format, ...)
    ATTR_PRINTF(3, 4);
/* An error, of which the last sentences are what lifts it. */
void doctor_say_error(struct doctor_line *out, enum doctor_state state, const struct error *err);
/* Checks what leads to a URL, by runs of kubectl or docker, each within 10 s; else nothing. */
void doctor_look_far(struct doctor_far *far, const char *asked);
/* "ok", "note", "fail" */
const char *doctor_state_word(enum doctor_state state);
/* 0 when it was opened, else the exit code of `info`. */
int doctor_exit_code(const struct doctor_facts *f);

/* Tries to open them, DOCTOR_AT_ONCE at a time: fills what is not known of them yet. */
#define DOCTOR_AT_ONCE 10
void doctor_try(struct doctor_facts *facts, size_t n, const struct cli_options *o,
                const struct app_env *env);

#endif
