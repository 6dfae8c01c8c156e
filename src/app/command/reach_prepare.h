/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The hosts of URLs on a command line, reached before the command runs. Thread: main's. */
#ifndef BEAMTOP_APP_COMMAND_REACH_PREPARE_H
#define BEAMTOP_APP_COMMAND_REACH_PREPARE_H

#include "app/way/reach.h"

/*
 * Connects to the hosts of all URLs that the command line names, by ssh at the terminal if there is
 * one. A URL without a node gets the only one of the epmd there: its text in o is replaced, by one
 * of w. Errors are of the first URL that fails, but in a list a host that is not reached only fails
 * the connections to its nodes. Where several nodes are there, the error lists their URLs. */
int reach_prepare_command(struct reach *w, const struct cli_command *command, struct cli_options *o,
                          const struct app_env *env, struct error *err);

#endif
