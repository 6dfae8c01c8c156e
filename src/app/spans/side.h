/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A side of a capture of spans: a connection to another node, and what tokens of the capture do
 * there. Thread: the loop's. */
#ifndef BEAMTOP_APP_SPANS_SIDE_H
#define BEAMTOP_APP_SPANS_SIDE_H

#include <uv.h>

#include "app/cli/cli.h"
#include "beamtop/base/error.h"
#include "beamtop/trace/spans.h"

struct side;

struct side_setup {
    const struct cli_options *options; /* as of the other node, but for its host and port */
    const struct app_env *env;
    uv_loop_t *loop;
    const char *node;
    const char *origin;           /* the node whose capture it is */
    unsigned for_ms, events;      /* caps, as of the other one */
    void (*on_change)(void *arg); /* never from within side_open() */
    void *arg;
};

/* Begins to connect. `options` and `env` are borrowed until side_close(), texts are copied. */
int side_open(struct side **out, const struct side_setup *setup, struct error *err);
/* It takes tokens: the capture may begin. */
bool side_captures(const struct side *s);
/* It has ended, or never began: side_error() says why, ERR_NONE: as it was asked to. */
bool side_is_over(const struct side *s);
const struct error *side_error(const struct side *s);
const struct spans_run *side_run(const struct side *s); /* NULL: it never began */
void side_turn(struct side *s);                         /* now and then */
void side_stop(struct side *s);                         /* it is over soon */
/* Frees it, before the loop is closed. NULL is fine. */
void side_close(struct side *s);

#endif
