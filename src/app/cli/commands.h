/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the commands do: one function each, called by main with parsed options. Returns the exit
 * code. */
#ifndef BEAMTOP_APP_CLI_COMMANDS_H
#define BEAMTOP_APP_CLI_COMMANDS_H

#include "cli.h"

int command_screen(const struct cli_options *o, const struct app_env *env);
int command_top(const struct cli_options *o, const struct app_env *env);
int collect_run(const struct cli_options *o, const struct app_env *env); /* heapsample --gc */
int command_heapsample(const struct cli_options *o, const struct app_env *env);
/* The answer to one question: the sink kind of the command's name. */
int command_table(const struct cli_options *o, const struct app_env *env);
int command_tables(const struct cli_options *o, const struct app_env *env);
int command_holders(const struct cli_options *o, const struct app_env *env);
int command_fleet(const struct cli_options *o, const struct app_env *env);
int command_terms(const struct cli_options *o, const struct app_env *env);
int command_answer(const struct cli_options *o, const struct app_env *env);
int command_msacc(const struct cli_options *o, const struct app_env *env);
int command_process(const struct cli_options *o, const struct app_env *env);
int command_nodes(const struct cli_options *o, const struct app_env *env);
int command_doctor(const struct cli_options *o, const struct app_env *env);
int command_capture(const struct cli_options *o, const struct app_env *env);
int command_explain(const struct cli_options *o, const struct app_env *env);
int command_calls(const struct cli_options *o, const struct app_env *env);
int command_events(const struct cli_options *o, const struct app_env *env);
int command_trace(const struct cli_options *o, const struct app_env *env);
int command_replay(const struct cli_options *o, const struct app_env *env);
int command_record(const struct cli_options *o, const struct app_env *env);
int command_report(const struct cli_options *o, const struct app_env *env);
int command_diff(const struct cli_options *o, const struct app_env *env);
int command_export(const struct cli_options *o, const struct app_env *env);
int command_where(const struct cli_options *o, const struct app_env *env);
int command_perf_map(const struct cli_options *o, const struct app_env *env);
int command_spans(const struct cli_options *o, const struct app_env *env);
int command_stacks(const struct cli_options *o, const struct app_env *env);
int command_sample(const struct cli_options *o, const struct app_env *env);
int command_outside(const struct cli_options *o, const struct app_env *env);
int command_pstack(const struct cli_options *o, const struct app_env *env);
int command_blame(const struct cli_options *o, const struct app_env *env);
int command_relay(const struct cli_options *o, const struct app_env *env);
int command_streams(const struct cli_options *o, const struct app_env *env);
int command_sampler(const struct cli_options *o, const struct app_env *env);
int command_generate(const struct cli_options *o, const struct app_env *env);

#endif
