/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Private to fleet.c (the connections), fleet_member.c (each of them), fleet_names.c (which nodes),
 * fleet_join.c (those that come and go), fleet_facts.c (what they are asked for seldom),
 * fleet_versions.c (which of that differs) and fleet_rows.c (what is shown of them). */
#ifndef BEAMTOP_APP_FLEET_FLEET_INTERNAL_H
#define BEAMTOP_APP_FLEET_FLEET_INTERNAL_H

#include "app/live/live.h"
#include "app/source/target.h"
#include "beamtop/base/buf.h"
#include "beamtop/link/lookup.h"
#include "beamtop/model/detail.h"
#include "fleet.h"

enum member_state {
    MEMBER_WAITING, /* for its turn */
    MEMBER_OPENING,
    MEMBER_UP,     /* of one that DNS resolves: it has given its addresses */
    MEMBER_FAILED, /* or lost; the fleet tries again */
};

enum member_origin {
    MEMBER_GIVEN,
    MEMBER_OF_DNS,
    MEMBER_OF_CLUSTER,
};

#define FLEET_CLUSTER_MS 5000u /* from one look at who is in the cluster to the next */
enum member_ask { ASK_VM, ASK_LINKS, MEMBER_ASKS };

#define FLEET_APP_BYTES 100u /* longer names and versions are not compared */
#define FLEET_VERSION_BYTES 80u
/* What a node has said when it was last asked; forgotten with the connection. */
struct member_facts {
    bool waits[MEMBER_ASKS]; /* for its answer */
    uint64_t due_ms[MEMBER_ASKS];
    bool is_told;              /* ASK_VM was answered, or has failed */
    int64_t memory_limit;      /* of its cgroup; -1: none, or unknown */
    int64_t resident_bytes;    /* -1: unknown */
    struct buf apps;           /* "NAME\0VERSION\0" of each application */
    char apart[400];           /* its versions that others do not have, or "same"; "": unknown */
    bool is_apart;             /* of which one is not that of most */
    int64_t queue_bytes, busy; /* of its fullest link; links that are busy; -1: unknown */
    char queue_node[LIMIT_NODE_NAME_BYTES + 1];
};

#define FLEET_ODD_LINKS_MS 2000u /* from one answer of `links` to the next, of one that is_odd */

struct member {
    struct fleet *fleet;
    char name[LIMIT_NODE_NAME_BYTES + 1]; /* as it was given */
    struct target target;
    struct model *model;
    struct live *live; /* NULL: waiting or failed */
    enum member_state state;
    enum member_origin origin;
    const struct member *source; /* of DNS: which names it; NULL: another origin */
    struct cookie lent;          /* of the node of its cluster that has named it */
    const char *note;            /* of one that is up; else NULL */
    const char *left;            /* who named it does so no longer: in words; else NULL */
    bool seen;                   /* named by the answer that is being read */
    bool removed;
    bool is_twin;  /* the same node as another: not tried again */
    bool resolves; /* NAME@dns:HOST or NAME@srv:SERVICE, no node */
    struct lookup *lookup;
    size_t found;     /* addresses */
    struct error why; /* lost, failed */
    bool was_up;
    bool ended; /* live has ended: it is closed in the next turn */
    unsigned tries;
    uint64_t due_ms;          /* failed: the next try */
    int ticks;                /* with an answer since it is up */
    uint64_t links_ms;        /* the last answer of `links` since it is up; 0: there is none */
    uint64_t mnesia_ms;       /* the same of `mnesia` */
    uint64_t mnesia_since_ms; /* since then it runs at each answer; 0: it does not */
    uint64_t raft_ms;         /* the last answer of `raft` since it is up; 0: there is none */
    uint64_t heard_ms;        /* the last answer of any question */
    question_mask unread;     /* what is compared, and had no answer that could be used */
    char unread_why[200];     /* of the last such one */
    uint32_t life;            /* creation of its pids: another one after each start; 0: unknown */
    uint32_t number;          /* another one for each member that there ever was */
    bool is_odd; /* its links differ from what others say, or from before: it is asked more often */
    int64_t findings; /* that name it, when links were last compared; -1: unknown */
    struct member_facts facts;
};

struct fleet {
    struct fleet_setup setup;
    struct member **members;
    size_t n;
    uint32_t made;          /* members that there ever were */
    struct mesh_seen *seen; /* of their links (mesh_seen.c); NULL: nothing yet */
    uv_timer_t *timer;
    size_t next; /* that has its turn: of many that fail, none waits for ever */
    bool changed;
    bool steady;        /* idle nodes are asked as often as others: so are clocks compared */
    bool names_only;    /* for fleet_resolve(): connects to no more than it takes to know them */
    bool follows;       /* the cluster */
    bool cluster_known; /* one has said who is in it */
    uint64_t cluster_due_ms; /* of the next question */
    bool versions_changed;
    uint64_t versions_ms; /* when they were last compared */
};

/* fleet.c */
/* A new one at the end. ERR_LIMIT: there are FLEET_MOST. */
int fleet_new_member(struct member **out, struct fleet *f, const char *name, struct error *err);
/* One goes: another may have been refused for it. */
void fleet_forget_twins(struct fleet *f);
struct member *fleet_find(const struct fleet *f, const char *name); /* NULL: there is none */
bool fleet_has_why(const struct member *m); /* it failed, and is not up since */

/* fleet_member.c */
void fleet_open_member(struct member *m);  /* what fails is its state */
void fleet_close_member(struct member *m); /* its state stays */
void fleet_fail_member(struct member *m, const struct error *why);
void fleet_tell_loss(const struct member *m, const struct error *why); /* to the owner */
void fleet_choose_want(struct member *m); /* what its next tick asks for */

/* fleet_join.c */
void fleet_look_up(struct member *m); /* of one that DNS resolves */
/* Its connections are wanted: it is the one that names the cluster, and that is due. */
bool fleet_asks_cluster(const struct member *m);
void fleet_take_cluster(struct member *seed);                  /* its model has them */
bool fleet_is_twin(const struct member *m, struct error *why); /* it is up: another has it */
bool fleet_is_resolved(const struct fleet *f); /* of names: nothing more is to be waited for */
/* Which of those that are to name nodes has not. ERR_NONE: all have. */
int fleet_why_unnamed(const struct fleet *f, struct error *err);

/* fleet_facts.c */
void fleet_forget_facts(struct member *m);
/* Asks those that are due, FLEET_OPENING at a time of each kind. */
void fleet_ask_facts(struct fleet *f);
/* Its answers of `vm` and `links`. */
void fleet_take_vm(struct member *m, const struct table_detail *table);
void fleet_take_queues(struct member *m, const struct table_detail *table);

/* fleet_versions.c: `apart` of all members. */
void fleet_compare_versions(struct fleet *f);
/* fleet_rows.c: the member's OTP release, "" where it is unknown; borrowed of its model. */
struct slice fleet_release(const struct member *m);
/* The text that most have, and how many; sorts them, and passes over empty ones. False: there is
 * none, or another one is as frequent. */
bool fleet_find_common(struct slice *texts, size_t n, struct slice *common, size_t *most);
int64_t fleet_count_of(double n); /* rounded; -1: unknown */

/* fleet_names.c: calls add for each name, in order. ERR_USAGE says what is wrong, and where; errors
 * of add end it. */
int fleet_read_names(const char *target, int (*add)(void *arg, const char *name, struct error *err),
                     void *arg, struct error *err);

bool fleet_name_resolves(const char *name);   /* NAME@dns:HOST, NAME@srv:SERVICE */
bool fleet_name_is_service(const char *name); /* the second */
void fleet_names_put(struct fleet_names *names, const char *name);

/* mesh_mnesia.c: of a node where Mnesia runs, as it has said last; else NULL */
const struct mnesia_row *mesh_mnesia_of(const struct member *m);
/* mesh_seen.c; NULL is fine */
void mesh_seen_free(struct mesh_seen *seen);

/* fleet_rows.c: a row of `fleet` of which only the name and its host are known, and a row as a
 * tuple in the order of fleet_fields; numbers that are unknown are -1 or NaN. */
struct fleet_row fleet_row_unknown(const char *node);
void fleet_build_row(struct builder *b, const struct fleet_row *row);
/* fleet_rows.c: the answer of `fleet`, with its version byte. The caller frees it. */
struct builder *fleet_build(const struct fleet *f);

#endif
