/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `beamtop sampler`: the process that samples, started by sampling.c. */
#include <stdio.h>
#include <unistd.h>

#include "app/cli/commands.h"
#include "app/cli/tell.h"
#include "sampling.h"

int command_sampler(const struct cli_options *o, const struct app_env *env)
{
    struct sampler_options sampler;
    struct error err = {0};
    const char *words[SAMPLER_WORDS] = {o->target};
    (void)env;
    for (size_t i = 0; i < o->n_rest && i + 1 < SAMPLER_WORDS; i++)
        words[i + 1] = o->rest[i];
    if (sampler_words_parse(&sampler, words, o->n_rest + 1, &err) != 0)
        return tell_error(&err);
    return sampler_run(&sampler, STDOUT_FILENO);
}
