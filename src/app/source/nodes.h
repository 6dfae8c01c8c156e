/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The VMs on this host: `beamtop nodes`, and the picker. */
#ifndef BEAMTOP_APP_SOURCE_NODES_H
#define BEAMTOP_APP_SOURCE_NODES_H

#include "beamtop/link/discover.h"
#include "beamtop/link/tls.h"
#include "app/cli/cli.h"

/* For an epmd that does not answer, where somebody waits at a screen or a shell. */
#define NODES_EPMD_MS 1000u

/* epmd's port: the option, else the environment's, else 0. */
int nodes_epmd_port(const struct cli_options *o, const struct app_env *env, uint16_t *port,
                    struct error *err);
/* Reads /proc and asks epmd, for epmd_ms at most; as discover_start(). */
int nodes_search(struct discover **out, uv_loop_t *loop, const struct cli_options *o,
                 const struct app_env *env, unsigned epmd_ms,
                 void (*done)(void *arg, struct discover_list *list), void *arg, struct error *err);
/* The same; who calls waits for it. */
int nodes_find(struct discover_list *out, const struct cli_options *o, const struct app_env *env,
               unsigned epmd_ms, struct error *err);
/* Adds to what a scan of /proc has found what epmd knows; as nodes_find(). */
int nodes_ask_epmd(struct discover_list *list, const struct cli_options *o,
                   const struct app_env *env, unsigned epmd_ms, struct error *err);

/* What /proc did not say, and why; false: nothing was left out. */
bool nodes_left_out(char *out, size_t size, const struct discover_list *list);
/* Puts it behind an error that it may be the reason of, if one is set. */
void nodes_add_left_out(struct error *err, const struct discover_list *list);
/* Why there are none, with what to do. */
int nodes_none(const struct discover_list *list, struct error *err);

/* "command line", "owner's home" or "": where the VM's cookie was found. */
const char *nodes_cookie_word(const struct discover_vm *vm);
/* What the user should know before choosing it: "another network namespace", "not in epmd"… */
void nodes_note(char *out, size_t size, const struct discover_vm *vm);

/*
 * The nodes' names for a shell's completion, a line each: those of letters, digits and _ . @ - that
 * no option begins with. Shells evaluate words; whoever registers at epmd chooses them. */
void nodes_put_words(struct buf *out, const struct discover_list *list);

#endif
