/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A batch run that prints what one question answers, tick by tick. */
#ifndef BEAMTOP_APP_COMMAND_PRINTING_H
#define BEAMTOP_APP_COMMAND_PRINTING_H

#include <stdbool.h>

#include "app/cli/cli.h"
#include "beamtop/model/want.h"
#include "beamtop/output/sink.h"

/* passes() gets the printing, which may be the first member of a larger struct. */
struct printing {
    const struct sink_kind *kind;
    int (*check)(const struct model *m, struct error *err); /* NULL: it is printed as it is */
    bool (*passes)(void *arg, const struct model *m);       /* not yet printed; NULL: all are */
    struct sink *sink;                                      /* of printing_run() */
};

struct sink_options printing_options(const struct cli_options *o, const struct app_env *env);
/* The options of a table: by which column it is added up, in which order, how many rows. ERR_USAGE:
 * there is no such column. */
int printing_arrange(struct sink_options *options, const struct cli_options *o,
                     const struct sink_kind *kind, struct error *err);
/* Until it has printed as many ticks as the options say. Returns the exit code. */
int printing_run(const struct cli_options *o, const struct app_env *env, const struct want *want,
                 const struct sink_options *options, bool rates, struct printing *p);

#endif
