/* SPDX-License-Identifier: GPL-3.0-or-later */
/* From the command line to a connection: which node, by what way, with whose cookie. */
#ifndef BEAMTOP_APP_SOURCE_TARGET_H
#define BEAMTOP_APP_SOURCE_TARGET_H

#include "beamtop/link/conn.h"
#include "beamtop/link/cookie.h"
#include "beamtop/link/discover.h"
#include "beamtop/link/name.h"
#include "app/cli/cli.h"

struct target {
    char name[LIMIT_NODE_NAME_BYTES + 1];
    struct cookie cookie;
    char address[INET6_ADDRSTRLEN]; /* where a VM of this host listens; "" not known */
    struct conn_way *way;           /* to a VM in another network namespace; else NULL */
    bool is_claimed;          /* only its name says that a VM is meant which may be anybody's */
    struct error no_cookie;   /* why there is none: a node that is not there has none either */
    struct tls_source *tls;   /* NULL: no certificates */
    struct conn_options conn; /* points into this struct and the options */
};

/* A host's name or address is that of this machine. */
bool target_host_is_here(const char *host);
/* The target's name with its host, as patterns of nodes have it. False: it is invalid. */
bool target_full_name(struct name *out, const struct target *t);
/* A name with a slash is that of a file, which is not there when this is asked. */
int target_check_name(const char *name, struct error *err);

/* Of a VM without distribution: its OS pid, its command, its OS pid. */
#define TARGET_NO_NODE                                                                             \
    "OS process %lld (%s) runs without distribution: start it with -sname or -name, or sample it " \
    "as it is: beamtop sample %lld"

/* By a program that carries streams: to the host in its name, as the far side resolves it, and not
 * to the program's end, where the URL's node has one. A VM of this host is at the end of its way.
 */
void target_go_to_its_host(struct target *t);
/*
 * Fills t for `name`, or for the OS pid of a VM of this host in its place. A name without a host
 * that a VM of this host has gets that VM's host, and that VM's cookie when none is given. Without
 * any cookie it is the connection that fails, once it has found the node. `vms` may be NULL: then
 * /proc is read here, if it is needed. os_pid: of them, the one that is meant, where several may
 * have that name; 0: unknown. */
int target_init(struct target *t, const char *name, const struct cli_options *o,
                const struct app_env *env, const struct discover_list *vms, int64_t os_pid,
                struct error *err);
/* Where no pattern has a cookie for it: that of a verified node which has named it, guarded as
 * there. One of COOKIE_NONE is none. */
void target_lend(struct target *t, const struct cookie *cookie);
void target_clear(struct target *t); /* wipes the cookie, drops the way */

/* ERR_USAGE: several VMs of the list have that name; with their OS pids. */
int target_several(const struct discover_list *vms, const char *name, struct error *err);
/* Of t->conn: whether by TLS, and with which certificates: those of the options, else those of the
 * environment, of the configuration's first line that fits the name, of the VM of this host (NULL:
 * it is of none). They are read by the connection. ERR_USAGE: options that do not fit, an invalid
 * line. */
int target_set_tls(struct target *t, const struct cli_options *o, const struct app_env *env,
                   const struct discover_vm *vm, struct error *err);

/* The OS process of that number, if it is a VM. ERR_NOT_FOUND: there is no such process;
 * ERR_REFUSED: /proc hides it; ERR_USAGE: it is not a VM; ERR_TIMEOUT: that was not read. */
int target_find_process(pid_t *pid, const char *number, struct error *err);

/* The VM of a name, of an OS pid in its place, or of a row of a list. */
struct target_choice {
    const struct discover_vm *vm; /* the likeliest one; NULL: none of this host */
    bool sure;                    /* it is meant, and no other of that name */
    bool by_pid;                  /* it was chosen itself, not by what it calls itself */
    bool has_namesake;            /* epmd knows another one of its name, or none */
};

/*
 * The one of the list that has that OS pid, as the name or as os_pid beside it (0: unknown). Else
 * the one of that name, which is the full one or the part before '@': of several the one that epmd
 * knows. */
void target_choose(struct target_choice *c, const struct discover_list *vms, const char *name,
                   int64_t os_pid);
/* The VMs of this host, to choose one. epmd is asked when their command lines do not show which one
 * has that name. The caller clears the list. */
void target_look_for(struct discover_list *list, const char *name, const struct cli_options *o,
                     const struct app_env *env);

#endif
