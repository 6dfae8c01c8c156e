/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Private to live.c (the connection's life), live_tick.c (when a tick begins and ends), live_due.c
 * (when questions are due), live_ask.c and live_take.c (questions out, answers in), live_want.c
 * (what is wanted), live_cost.c (what that costs, and what else the node does), live_host.c (its VM
 * here) and live_clock.c (how far away it is). */
#ifndef BEAMTOP_APP_LIVE_LIVE_INTERNAL_H
#define BEAMTOP_APP_LIVE_LIVE_INTERNAL_H

#include "governor.h"
#include "live.h"

#define SPENT_ENTRIES 128 /* answers remembered for the share of a scheduler */

struct spent {
    uint64_t at_ms;
    double target_us;
};

#define LIVE_ROUNDS 30

struct live_clock {
    uint64_t asked_ns; /* of the header's question in flight; 0: none */
    int64_t asked_us;  /* the same moment, by the clock of this host */
    struct live_round rounds[LIVE_ROUNDS];
    size_t n;
};

enum live_phase {
    PHASE_CONNECTING,
    PHASE_STARTING, /* connected, the first answer is on its way */
    PHASE_RUNNING,
    PHASE_WAITING, /* for the next try */
    PHASE_ENDED,
};

struct live {
    uv_loop_t *loop;
    struct live_options options;
    struct live_handlers handlers;
    void *arg;
    struct model *model;
    int status_fd; /* of a VM of this host, read in place of the node; -1: of another */
    struct conn *conn;
    struct query *query;
    struct filter *filter;
    struct governor governor;
    enum live_phase phase;
    bool was_up;
    bool paused, held;
    unsigned retries;

    struct live_clock clock;
    uv_timer_t *timer; /* next tick, or next try */
    uv_timer_cb on_timer;
    struct want want;
    struct want_scan asked_scan; /* of the scan in flight */
    struct want_scan asked_rows; /* of the rows in flight: as the scan that ranked them */

    /* the tick */
    uint64_t header_began_ms, header_due_ms;
    uint64_t others_began_ms, others_due_ms;
    uint64_t apart_began_ms; /* what is asked apart, last; 0: it is due */
    uint64_t seldom_due_ms;  /* a scan that no view shows; 0: when its cost is known */
    uint64_t rows_due_ms;    /* the rows shown, again; 0: not between two scans */
    uint64_t first_until_ms; /* recorded: so long the first tick waits for all answers */
    uint64_t asked_at_ms;    /* of the header's question in flight */
    question_mask asked;     /* mask of questions of this tick */
    question_mask pending;   /* those without an answer */
    question_mask deferred;  /* of the pending: asked once the header's question is answered */
    question_mask again;     /* asked once more as soon as they are answered */
    question_mask holding;   /* questions of `sets` whose process there may hold something */
    question_mask reported;  /* questions whose first answer is logged */
    double logged_s;         /* how far apart ticks are by the log's last line of it; 0: as asked */
    bool tick_full;          /* this tick asks more than the header's question */
    bool had_tick;           /* a tick has ended since the node answers */
    bool had_second;         /* the next one has begun: costs are known from here on */
    uint64_t bytes_before;
    struct tick_cost cost;
    double tick_us;
    struct spent spent[SPENT_ENTRIES];
    size_t spent_next;
};

/* live_tick.c */
void live_tick_start(struct live *l); /* the node answers: first questions */
void live_tick_now(struct live *l);   /* others are due now */
void live_tick_timer(struct live *l); /* the timer fired while running */
void live_end_tick(struct live *l);   /* all its answers are here */
void live_reset_tick(struct live *l);

/* live_due.c */
uint64_t live_after_s(uint64_t ms, double seconds);
void live_plan(const struct live *l, struct governor_plan *plan);
/* What decides how far apart ticks are: what sweeps processes, without it what is asked apart. */
question_mask live_paced_by(const struct live *l);
bool live_apart_is_due(const struct live *l, const struct governor_plan *plan, uint64_t now);
/* A scan that no view shows: the more it costs, the longer the wait. Plans the next one. */
bool live_seldom_is_due(struct live *l, uint64_t now);
/* The first tick of a recording has all answers, unless one of them takes long. */
bool live_waits_for_all(const struct live *l);
void live_arm(struct live *l, uint64_t due_ms); /* the timer */
void live_arm_next(struct live *l);             /* for what is due next */
/* Moves due times by the costs that the answers brought. What is due now stays due. */
void live_plan_again(struct live *l, const struct governor_plan *plan);
/* The rows shown, the next time from now on: from a scan's answer, or when they are asked. */
void live_plan_rows(struct live *l);
void live_space_out(struct live *l);    /* the second sweep, by what the first one will cost */
void live_note_silence(struct live *l); /* what is shown is old, and the screen says so */
void live_log_why(struct live *l, const struct governor_plan *plan);

/* live_ask.c */
void live_ask_one(struct live *l, enum question question);
/* Starts a tick with these; those still without an answer are left out. */
void live_ask_all(struct live *l, question_mask questions);
void live_ask_deferred(struct live *l); /* what has waited for the header's answer */
/* Ends questions that hold something on the node and that no view wants, once they are answered. */
void live_end_unwanted(struct live *l);
unsigned live_deadline_ms(const struct live *l, enum question question);

/* live_take.c */
void live_on_answer(void *arg, const struct answer *answer); /* of anything but rows */
void live_on_rows(void *arg, const struct answer *answer);
void live_tell_filter(const struct live *l);

/* live_want.c; pure */
bool live_is_seldom(const struct want *want); /* it wants a scan that no view shows */
question_mask live_wanted(const struct want *want);
/* What `before` has no answer for: it is asked at once. */
bool live_wants_more(const struct want *now, const struct want *before);

/* live_cost.c */
void live_note_cost(struct live *l, double target_us); /* an answer came, or other work of ours */
void live_note_answer(struct live *l, const struct answer *answer); /* and what the cost was */
void live_begin_cost(struct live *l);                               /* of a tick that begins */
void live_take_cost(struct live *l);                                /* of a tick that ends */
void live_end_header(struct live *l); /* a tick of the header only is over */
/* Work of the last seconds over those seconds: what the target really bore. */
double live_spent_share(const struct live *l, double others_s);
bool live_is_late(const struct live *l); /* a scheduler did not answer in time */
void live_look_for_work(struct live *l); /* the header's answer came: is the node idle? */

/* live_clock.c */
void live_clock_asked(struct live *l);    /* the header's question goes out */
void live_clock_answered(struct live *l); /* the model has its answer */
void live_clock_forget(struct live *l);

/* live_host.c */
/* The node has said which OS process it is: one that has the other end of the connection is read
 * from outside. */
void live_look_for_host(struct live *l);
void live_forget_host(struct live *l);

#endif
