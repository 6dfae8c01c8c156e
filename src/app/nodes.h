/* The VMs on this host: `beamtop nodes`, and the picker. */
#ifndef BEAMTOP_APP_NODES_H
#define BEAMTOP_APP_NODES_H

#include "beamtop/dist/discover.h"
#include "cli.h"

/* Reads /proc and asks epmd; takes at most a second when epmd does not answer. */
int nodes_find(struct discover_list *out, const struct cli_options *o, const struct app_env *env,
               struct error *err);

/* "command line", "owner's home" or "": where the VM's cookie was found. */
const char *nodes_cookie_word(const struct discover_vm *vm);
/* What a person should know before choosing it: "another network namespace", "not in epmd"… */
void nodes_note(char *out, size_t size, const struct discover_vm *vm);

#endif
