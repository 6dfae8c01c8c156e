/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Where the facts of screen and batch come from: a live node or a recording, behind one interface.
 * A source fills the model that it was opened with, tick by tick, and calls its handlers; readers
 * of the model do not see which it is, and ask for what only one can do by its name.
 *
 * One thread: the loop's. A source is owned by who opened it; model, loop and texts of the setup
 * are borrowed until it is closed. Handlers are called from the loop, never from within a function
 * of this header, but for on_change, on_tick and on_trouble by those that show something else of a
 * recording at once: source_step(), source_seek(), source_set_want(), source_set_filter(). A
 * handler closes the source only in on_end. */
#ifndef BEAMTOP_APP_SOURCE_SOURCE_H
#define BEAMTOP_APP_SOURCE_SOURCE_H

#include <stdbool.h>
#include <stdint.h>
#include <uv.h>

#include "beamtop/base/error.h"
#include "beamtop/model/model.h"
#include "app/cli/cli.h"

struct cookie;
struct discover_list;
struct live;
struct recording;
struct source;

struct source_handlers {
    /* The model has changed; facts: an answer came, else only the link. May be NULL. */
    void (*on_change)(void *arg, bool facts);
    /* A tick is there, with its cost and interval. May be NULL: of a node, without ticks. */
    void (*on_tick)(void *arg);
    /* An answer failed or cannot be read; the source goes on. */
    void (*on_trouble)(void *arg, const struct error *err);
    /* Worth telling: trouble, or what this source is. */
    void (*on_notice)(void *arg, bool trouble, const char *text);
    /* No tick follows. had_tick: there was one; err NULL: everything was reported. */
    void (*on_end)(void *arg, bool had_tick, const struct error *err);
    /* Only where something can be acted on: the node answers, or the connection is gone. May be
     * NULL. */
    void (*on_link)(void *arg, bool up);
};

struct source_setup {
    const struct cli_options *cli; /* way to the node, its cookie; --at and -n of a recording */
    const struct app_env *env;
    const struct discover_list *vms; /* of this host, if they are known; read while opening */
    const struct cookie *lent;       /* of the node of its cluster that has named it; NULL: none */
    int64_t os_pid;                  /* of them, the one that is meant; 0: any of that name */
    uv_loop_t *loop;
    struct model *model;
    double interval_s;
    double budget;  /* share of one scheduler */
    bool reconnect; /* after a loss */
    /* For batch: whole ticks, none before there are rates if those are wanted, no waiting that the
     * node needs not. */
    bool batch, rates;
    double most_s; /* of batch: ticks never further apart; 0: as the budget says */
    const struct source_handlers *handlers;
    void *arg;
};

/* What only some can do. */
enum source_ability {
    SOURCE_ACTS,  /* source_live(): trace, count, ask one process */
    SOURCE_SEEKS, /* source_seek(), source_set_speed(), source_recording() */
};

/* `target` is a file: that recording; else a node. The only place that decides it. */
int source_open(struct source **out, const char *target, const struct source_setup *setup,
                struct error *err);
bool source_can(const struct source *s, enum source_ability ability); /* false of NULL */

/* What the model gets from now on. ERR_NOT_FOUND says what of it is not there; the rest comes. */
int source_set_want(struct source *s, const struct want *want, struct error *err);
/* NULL or "": none. ERR_USAGE with the offset of the error; the last good one stays. */
int source_set_filter(struct source *s, const char *expression, size_t *error_offset,
                      struct error *err);
void source_set_interval(struct source *s, double interval_s);
void source_set_budget(struct source *s, double budget);
void source_pause(struct source *s, bool paused);
void source_step(struct source *s); /* a tick now, also while paused */
/* The moment that is shown: now, or that of the tick. */
int64_t source_wall_us(const struct source *s);
/* Frees s; closed (may be NULL) is called when nothing of it is left in the loop. NULL is fine. */
void source_close(struct source *s, void (*closed)(void *arg), void *arg);

/* ---- SOURCE_ACTS: NULL without it. Borrowed for the life of s. */
struct live *source_live(struct source *s);

/* ---- SOURCE_SEEKS */
/* WHEN of replay_find(). ERR_USAGE says why not. */
int source_seek(struct source *s, const char *when, struct error *err);
/* Sets how many times as fast as recorded; returns the speed it took. 0: only returns it. */
double source_set_speed(struct source *s, double speed);
/* What is played, and its tick that is shown; NULL without the ability. */
struct recording *source_recording(struct source *s, int64_t *tick);

#endif
