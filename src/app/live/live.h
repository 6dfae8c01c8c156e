/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A live node as a source of facts: connects, asks what the wanted views need
 * every tick within the governor's plan, and gives the answers to a model. After a loss it connects
 * again by itself. One thread: the loop's. */
#ifndef BEAMTOP_APP_LIVE_LIVE_H
#define BEAMTOP_APP_LIVE_LIVE_H

#include <stdbool.h>
#include <uv.h>

#include "beamtop/base/error.h"
#include "beamtop/link/conn.h"
#include "beamtop/link/cookie.h"
#include "beamtop/model/filter.h"
#include "beamtop/model/model.h"
#include "beamtop/query/query.h"
#include "beamtop/trace/session.h"

struct live;

struct live_options {
    struct conn_options conn; /* strings borrowed for the life of the source; cookie too */
    double interval_s;
    double budget;  /* share of one scheduler */
    bool reconnect; /* after a loss; the first connection is tried once */
    double most_s;  /* together: ticks never further apart; 0: as the budget says */
    bool recorded;  /* ticks are kept: the first of a connection has all answers */
    bool together;  /* batch: all questions of a tick at once, as far apart as the costliest */
};

struct live_handlers {
    /* Something in the model has changed; questions: mask of 1 << enum question, 0: the link. */
    void (*on_change)(void *arg, question_mask questions);
    /* What the model has just taken: to be kept. asked: of a scan, else NULL. May be NULL. */
    void (*on_answer)(void *arg, enum question question, const uint8_t *term, size_t len,
                      const struct want_scan *asked);
    /* All questions of a tick are answered, cost and interval are set. */
    void (*on_tick)(void *arg);
    /* An answer failed or was unreadable; the source goes on. May be NULL. */
    void (*on_trouble)(void *arg, enum question question, const struct error *err);
    /* Connected, but something is worth telling: the node's name is not the one asked for. May be
     * NULL. */
    void (*on_notice)(void *arg, const char *text);
    /* The node answers, or the connection is gone: what live_ask() asked of it stays without an
     * answer. May be NULL. */
    void (*on_link)(void *arg, bool up);
    /* No connection, or lost without `reconnect`. The source has ended. */
    void (*on_end)(void *arg, enum conn_failure why, const struct error *err);
};

int live_open(struct live **out, uv_loop_t *loop, const struct live_options *options,
              struct model *model, const struct live_handlers *handlers, void *arg,
              struct error *err);

/* What is on the screen now. What was not asked for before is asked at once. */
void live_set_want(struct live *l, const struct want *want);
void live_set_interval(struct live *l, double interval_s);
void live_set_budget(struct live *l, double budget);
/* What questions beside ticks cost on the node, a second: ticks have the rest of the budget. */
void live_set_beside(struct live *l, double us_per_s);
void live_pause(struct live *l, bool paused);
/* No ticks for a moment, as while calls are counted: what is late is asked at once after it. */
void live_hold(struct live *l, bool held);
/* A question of ours waits for its answer, be it of a tick or of anybody. */
bool live_is_asking(const struct live *l);
/* Seconds until what the view needs is asked again; NaN: it is being asked, paused or not live. */
double live_next_s(const struct live *l);
void live_refresh(struct live *l); /* a tick now, also while paused */
/* NULL or "": no filter. ERR_USAGE with the offset of the error; the last good one stays. */
int live_set_filter(struct live *l, const char *expression, size_t *error_offset,
                    struct error *err);

/*
 * Asked only when the user wants them; the answer is in the model. Nothing is copied on the node
 * unless the user agreed to the cost, which the answer says. */
int live_ask_mailbox(struct live *l, const struct etf_pid *pid, int first, int bytes_each,
                     bool agreed, struct error *err);
int live_ask_collect(struct live *l, const struct etf_pid *pid, bool agreed, struct error *err);
int live_ask_state(struct live *l, const struct etf_pid *pid, int timeout_ms, int bytes,
                   bool agreed, struct error *err);

/*
 * Other questions than a tick's. As query_ask(); ERR_LOST while there is no connection. Their cost
 * is counted. */
bool live_is_up(const struct live *l);
int live_ask(struct live *l, enum question question, const struct builder *arg,
             unsigned deadline_ms, answer_fn *fn, void *fn_arg, struct error *err);
/*
 * Fills a port for sessions, good until the link is lost or the source closed: its users are
 * notified before that. ERR_LOST while there is no connection, or the model does not know its node
 * yet. */
int live_port(struct live *l, struct session_port *out, struct error *err);
/* One header's question: from its sending to the answer, and the node's clocks less those of this
 * host, by the answer. That may be wrong by half of the time, either way. */
struct live_round {
    double us;
    double offset_us;  /* of the time of day */
    int64_t mono_ns;   /* of the monotonic clock: what must be added to ours */
    int64_t middle_ns; /* our monotonic clock, half of the way before the answer came */
};
/* The shortest of the last 30 of this connection, or the last one. False: there was none yet. */
bool live_round_trip(const struct live *l, struct live_round *out);
bool live_last_round(const struct live *l, struct live_round *out);
/*
 * A VM of this host: its resident memory is read here, and put into answers that have it: with
 * encode_place(true). What is returned holds the answer's value, and is freed by the caller; NULL:
 * the answer is as it was. */
bool live_is_here(const struct live *l);
struct builder *live_complete(struct live *l, struct answer *answer);
const char *live_peer_node(const struct live *l);  /* the target's name; NULL while not connected */
uint32_t live_peer_creation(const struct live *l); /* of its pids */

/* Says goodbye and frees; closed (may be NULL) is called when the connection is gone. */
void live_close(struct live *l, void (*closed)(void *arg), void *arg);

#endif
