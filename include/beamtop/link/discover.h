/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The BEAM VMs of this host: processes found in /proc, joined with what epmd knows. Cookies that
 * could be read are kept in the list, and wiped with it. */
#ifndef BEAMTOP_LINK_DISCOVER_H
#define BEAMTOP_LINK_DISCOVER_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <uv.h>

#include "beamtop/base/error.h"
#include "beamtop/link/cookie.h"
#include "beamtop/link/epmd.h"
#include "beamtop/link/tls.h"

enum discover_form {
    DISCOVER_NOT_A_NODE, /* the VM is not distributed, as far as can be seen */
    DISCOVER_SHORT,      /* -sname */
    DISCOVER_LONG,       /* -name */
    DISCOVER_UNKNOWN,    /* its name is known to epmd only */
};

enum discover_cookie {
    DISCOVER_COOKIE_NONE,        /* none readable by us */
    DISCOVER_COOKIE_ARGUMENT,    /* -setcookie on its command line */
    DISCOVER_COOKIE_OWNER_HOME,  /* its owner's .erlang.cookie */
    DISCOVER_COOKIE_ENVIRONMENT, /* RELEASE_COOKIE in its environment */
};

struct discover_vm {
    pid_t pid; /* 0: known to epmd only */
    uid_t uid;
    bool one_user; /* and one group: one that a user started as another gets no cookie */
    char user[64]; /* its uid where that has no name, or is of another root directory */
    char node[LIMIT_NODE_NAME_BYTES + 1]; /* alive@host; "" when not a node */
    enum discover_form form;
    uint16_t port; /* where it takes connections: from epmd, its flags or its sockets; 0 unknown */
    uint16_t epmd_port; /* of the epmd that its environment names; 0: not readable */
    uint16_t port_min;  /* from its flags, as is the next; 0: not given */
    uint16_t port_max;
    char address[INET6_ADDRSTRLEN]; /* where it listens, when it is not epmd's; "" unknown */
    bool in_epmd;                   /* the one that was asked knows it */
    char dist_protocol[32];         /* of -proto_dist: "inet_tcp" when not given */
    enum discover_cookie cookie_from;
    struct cookie cookie;
    char otp[32];      /* "25", "25.2.3" where it is known; "" else */
    char command[128]; /* what to call it when it has no name: the release or boot script */
    double uptime_s;   /* negative: unknown */
    uint64_t started;  /* in ticks since boot: with the pid, which process it is; 0: unknown */
    uint64_t rss_bytes;
    bool other_root;    /* lives in another root directory or mount namespace */
    bool other_users;   /* in another user namespace, whose uids are its owner's to choose */
    bool other_network; /* in another network namespace (inside.h) */
};

struct discover_list {
    struct discover_vm *vms; /* nodes first, by name; then the others, by pid */
    size_t count;
    bool truncated; /* more than LIMIT_DISCOVER_VMS */
    bool hidden;    /* processes of other users are: hidepid */
    size_t unread;  /* processes that were not read in time, or files of them: /proc is slow */
    pid_t blocked;  /* … of which this one had kept its reader waiting; 0: none */
    bool epmd_asked;
    enum epmd_failure epmd; /* how epmd answered */
};

struct discover_options {
    const char *proc_root; /* NULL: /proc */
    const char *this_host; /* NULL: gethostname() */
    uint16_t epmd_port;    /* 0: EPMD_PORT */
    unsigned timeout_ms;   /* of the question to epmd; 0: 1000 */
    pid_t only;            /* 0: all processes, else that one */
    /* What a scan has found: discover_start() takes it, and scans no more. NULL: it scans. */
    struct discover_list *found;
};

/* Whether its flags say that it takes connections by TLS, as the first or only protocol. */
bool discover_is_tls(const struct discover_vm *vm);
/* Whether it has that name, whose host does not count. */
bool discover_is_called(const struct discover_vm *vm, const char *name);
/* Whether that process is still the BEAM VM that was found; started: as of that, 0: unknown. Its
   memory can block it, unless the kernel calls it an emulator. */
bool discover_is_vm(pid_t pid, uint64_t started);
enum discover_kind {
    DISCOVER_IS_OTHER,  /* there is none, or it is not a VM */
    DISCOVER_IS_VM,     /* by the kernel's name of it, or its command line */
    DISCOVER_IS_UNREAD, /* its command line was not read within 2 s */
};
enum discover_kind discover_kind(pid_t pid);
/* The part without epmd; blocks for as long as reading /proc takes: until no process more was read
 * for 2 s, and 10 s at most. Threads that a process holds up are left behind, and the list says
 * what was left out. */
int discover_scan(struct discover_list *out, const struct discover_options *o, struct error *err);
/*
 * Joins epmd's names: sets port and in_epmd. A name that no VM has on its command line, or several
 * have, is of the VM that listens at its port; one that is not found is added. proc_root, this_host
 * and epmd_port (0: any) of the options count. */
void discover_join(struct discover_list *list, const struct epmd_name *names, size_t count,
                   const struct discover_options *o);
/*
 * Finds port and address of a node that no epmd was asked for: by its flags, and by the sockets on
 * which it listens. Of several sockets it is the one that the VM has opened first, before it
 * started any application. Needs the rights to read the VM's descriptors, but for the flags. */
void discover_port(struct discover_vm *vm, const struct discover_options *o);
/*
 * Keeps the VMs of a container, which are those in the mount namespace of its first process.
 * `first` is that process, as long as its cgroup or its mounts name the container's id.
 * ERR_NOT_FOUND: it is not of this host, or no VM is there; ERR_REFUSED: this user may not see its
 * namespaces. */
int discover_keep_container(struct discover_list *list, const struct discover_options *o,
                            pid_t first, const char *id, struct error *err);
/* A socket of a VM that takes connections. */
struct discover_socket {
    char address[INET6_ADDRSTRLEN]; /* where it listens; "*": at every one */
    uint16_t port;
};
/* Those of a VM, in its network namespace, at most `most` of them, by port; the VM's uid counts.
 * -1 with errno: its descriptors may not be read. */
long discover_sockets(struct discover_socket *out, size_t most, const char *proc_root, pid_t pid,
                      uid_t uid);
/*
 * Certificates that a node shows to others, from the files that it names, for connections to it:
 * those of `client`, else of `server`. Files are opened within the VM's root with the rights of the
 * VM's user. Loading finds a VM that was started again by its name; it gives NULL where there are
 * none, and an error says why they are not used, behind "its options". Owned by the caller. */
struct tls_source *discover_tls(const struct discover_vm *vm, const struct discover_options *o);
void discover_clear(struct discover_list *list); /* wipes the cookies */

/* Both parts, from the loop; a thread that /proc blocks is left behind. `done` is called once,
 * unless it is stopped before, and owns the list (discover_clear it); *out is freed then. */
struct discover;
int discover_start(struct discover **out, uv_loop_t *loop, const struct discover_options *o,
                   void (*done)(void *arg, struct discover_list *list), void *arg,
                   struct error *err);
void discover_stop(struct discover *d); /* frees it; NULL is fine */

#endif
