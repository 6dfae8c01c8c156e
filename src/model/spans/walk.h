/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the steps of spans_walk() share: processes, requests and open spans, as events go by. */
#ifndef BEAMTOP_MODEL_SPANS_WALK_H
#define BEAMTOP_MODEL_SPANS_WALK_H

#include "internal.h"

/* A message that was sent: by token, sender, serial, and receiver, 0 where it is sent to a name.
   The VM gives a sender the same serial again once it has spawned some 16 processes with its token.
 */
struct message_key {
    uint64_t serial;
    uint32_t sender, receiver, label[4];
};
struct message {
    struct message_key key;
    uint32_t span; /* that its sender was in; SPAN_NONE: none */
    int64_t at;
    UT_hash_handle hh;
};

/* A request with a reference: the caller's last one, by reference. */
struct call {
    uint32_t span; /* that it was sent from; SPAN_NONE: there was no such call */
    uint32_t process, to;
    uint32_t callee; /* span that handles it; SPAN_NONE: none is known */
    int64_t sent;
    bool gen;     /* the caller waits for the reply and does nothing else */
    bool spawn;   /* of a process, which may end without a reply */
    bool ended;   /* the caller got its reply or gave up */
    int64_t next; /* when the caller did something else; 0: not yet */
    bool gave_up; /* it gave up */
    bool replied; /* a reply was sent, by anyone */
    /* Without payloads: who answered, in which span; of no use before `replied`. */
    uint32_t answered_by, answered_in;
};

struct ask { /* without payloads: a process calls another one, by no reference yet */
    bool open;
    uint32_t span, to;
    int64_t at;
};

struct gap { /* a process does not run */
    bool open, resumed;
    bool waits; /* it was seen to */
    int64_t since, until;
    uint32_t at; /* text: function */
};

struct process {
    uint32_t top;     /* open span; SPAN_NONE */
    uint32_t refused; /* roots within its roots, too deep: their returns come first */
    uint32_t deep;    /* functions that it is in, too deep: they return first */
    uint32_t call;    /* reference of the last request that it sent; 0: none */
    int64_t active;
    struct ask ask;
    struct gap gap;
    bool scheduled;                   /* events of running are there */
    bool loops;                       /* at some time it waits in a loop of OTP's behaviours */
    uint32_t idle;                    /* text: where it waits between requests; 0: not seen */
    uint32_t came_in;                 /* text: its last event was in, there; 0: was another */
    uint32_t arrived, arrived_of;     /* reply in the queue since it last ran: reference, process */
    uint32_t down, down_of, down_for; /* monitor that went down since: reference, process, text */
    uint32_t last;                    /* span that it opened last; SPAN_NONE */
};

/* What only the walk needs of a span. */
struct extra {
    uint32_t below; /* the open span under it on its process */
    uint32_t call;  /* reference of the request that opened it; 0 */
    uint32_t process;
    uint32_t text;     /* of its operation */
    int64_t last;      /* last event that it caused */
    int64_t read;      /* of a root: when its context had been read; 0: it was not */
    bool ended, waits; /* waits: it did when the capture ended */
    bool of_process;   /* a root that no function call began: its end is a reply, or not seen */
};

struct walk {
    struct spans *s;
    struct process *processes;
    struct call *calls; /* by reference */
    struct extra *extra;
    struct message *by_key, *messages;
    bool *receives; /* by text: a function that was seen to wait for messages */
    uint32_t n_messages;
    int64_t end; /* of all events */
};

/* ---- waits (walk_waits.c) */

/* Whether OTP's behaviours wait for their next message at this function (a text). */
bool walk_is_loop(const struct walk *w, uint32_t at);
bool walk_is_erpc(const struct walk *w, uint32_t at);
bool walk_is_sleep(const struct walk *w, uint32_t at); /* what comes is not taken there */
/* Whether a process there waits for its next request; for any message. */
bool walk_is_idle(const struct walk *w, const struct process *p, uint32_t at);
bool walk_waits_at(const struct walk *w, const struct process *p, uint32_t at);
/* Events say when this span's process runs and waits. */
bool walk_is_known(const struct walk *w, uint32_t span);
/* Valid until the next one is added. */
struct span_wait *walk_add_wait(struct walk *w, uint32_t span, enum span_wait_kind kind,
                                int64_t from, int64_t to);
struct call *walk_call_of(struct walk *w, uint32_t ref); /* NULL: none */
/* The request that this process sent last, from this span, and still waits for; NULL: none. */
struct call *walk_open_call(struct walk *w, const struct process *p, uint32_t span);
struct slice walk_waited_in(const struct walk *w, const struct process *p); /* empty: it runs */
struct span_wait *walk_end_call(struct walk *w, const struct process *p, struct call *c,
                                int64_t now, enum span_outcome outcome);
/* How a request ended of which no reply with a token was dequeued; UNKNOWN: it still goes on. */
enum span_outcome walk_ended_as(struct walk *w, const struct process *p, const struct call *c);
/* The gap of a process ended (`now`: at the latest) without a message that explains it. */
void walk_settle(struct walk *w, struct process *p, int64_t now);

/* ---- messages (walk_messages.c) */

void walk_take_send(struct walk *w, const struct event *e);
void walk_take_receive(struct walk *w, const struct event *e);
/* Opens the span of a request that is dequeued. */
void walk_open_request(struct walk *w, const struct event *e, const struct message *m);
/* The process that replies ends its span of that call, or shows itself to be a task. */
void walk_send_reply(struct walk *w, struct process *p, const struct event *e);
/* A span of a callee without events, the peer of that event, which ends it. */
uint32_t walk_add_leaf(struct walk *w, const struct call *c, const struct event *e);
/* The reply of an open call is dequeued; `answered`: in that span. */
void walk_take_reply(struct walk *w, struct call *c, uint32_t answered, const struct event *e);

/* ---- breakpoints in place of the token's events (walk_breakpoints.c) */

void walk_take_breakpoint(struct walk *w, const struct event *e);
/* Who asked does something else, and no callback was seen to serve it. */
void walk_end_ask(struct walk *w, struct process *p, int64_t at, enum span_outcome outcome);

/* ---- the end of the capture (walk_end.c) */

void walk_end_all(struct walk *w);
/* Sets the context of the root that began at this time, from its process's dictionary. */
void walk_take_context(struct walk *w, const struct event *e);
/* Clears contexts that were read after their roots had ended. */
void walk_check_context(struct walk *w);
void walk_mark_unknown(struct walk *w); /* marks times that light mode does not know */

#endif
