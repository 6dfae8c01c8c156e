/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A target that is played here, for tests of a trace's session: what was asked and told, and
 * answers. */
#ifndef BEAMTOP_TESTS_SESSION_WORLD_H
#define BEAMTOP_TESTS_SESSION_WORLD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "beamtop/base/attr.h"
#include "beamtop/trace/trace.h"

struct question_asked {
    enum question question;
    char *text;
    answer_fn *fn;
    void *arg;
    bool answered;
};

struct world {
    int otp;
    struct session *t;
    event_fn *listener; /* NULL: none, or dropped */
    void *listener_arg;
    struct question_asked asked[64];
    size_t n_asked;
    char *told[64];
    size_t n_told;
    uint64_t now;
    size_t events, finished, changes;
    size_t drops; /* answers that will not come any more */
    int losses;
    uint64_t last_lost;
    bool last_at_most;
    bool refuse; /* asks fail at once */
};

#define FOUND "{preflight,[{0,[{lists,seq,2}],1,ok}],{all,40},{{0,0,[]},[],0},[]}"
#define NOTHING "{armed,1,0,[],{0,[]},{0,[]},[],0,<<>>,0}"
#define COUNTED "{count,20000000,[3]}"
#define STATUS(shut, seen, over) "{1," shut ",10,5,100,2000,0,[{0," seen ",2,0,0," over ",0,0}]}"
#define CALL "{c,1,0,<0.9.0>,2000,{lists,seq,2},{m,f,1},[1,2],[{a,b,1}],0,0}"

/* Owned; fails when it is no term. */
struct builder *term_of(const char *fmt, ...) ATTR_PRINTF(1, 2);

/* more: patterns and caps of it are set here. A world is ended by end_world. */
int open_world(struct world *w, const char *pattern, const struct trace_options *more,
               struct error *err);
struct world *new_world_of(const char *pattern, const struct trace_options *more, int otp);
struct world *new_world(const char *pattern, const struct trace_options *more);
struct world *running_world(const char *pattern, const struct trace_options *more);
void end_world(struct world *w);

/* Answers in Erlang's spelling, to the oldest question of that kind that is open. */
struct question_asked *open_question(struct world *w, enum question question);
void answer(struct world *w, enum question question, const char *text);
void answer_error(struct world *w, enum question question, enum err code);
void to_arming(struct world *w);
void arm_answer(struct world *w);
unsigned long long armed_id(struct world *w);

void push(struct world *w, const char *body); /* {t, Id, 1, Body} */
const char *last_told(const struct world *w);
const struct trace_state *state(const struct world *w);
enum session_phase phase(const struct world *w);
void assert_has(const char *text, const char *part);

#endif
