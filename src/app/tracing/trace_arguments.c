/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "trace_arguments.h"

#include <stdio.h>

#include "beamtop/trace/pattern.h"
#include "app/cli/error_at.h"
#include "app/cli/tell.h"

int trace_arguments_settings(struct trace_request *out, const struct cli_options *o,
                             const struct app_env *env)
{
    struct settings settings;
    struct trace_request configured;
    struct error err = {0};
    int rc = settings_init(&settings, o, env, &err);
    settings_print_errors(&settings);
    settings_request(&settings, true, &configured);
    settings_clear(&settings);
    *out = o->request;
    for (int i = 0; i < CAPS; i++)
        if (!o->cap_given[i])
            out->caps.value[i] = configured.caps.value[i];
    if (!o->syntax_given)
        out->syntax = configured.syntax;
    if (!o->on_rate_given) {
        out->on_rate_auto = configured.on_rate_auto;
        out->on_rate_stop =
            configured.on_rate_stop && !(configured.on_rate_auto && out->slower_us > 0);
    }
    return rc == 0 ? EXIT_DONE : tell_usage(&err);
}

int trace_arguments_check(const char *const *texts, size_t n_texts, struct trace_request *request)
{
    const unsigned waiting = TRACE_SLOWER | TRACE_RETURNS | TRACE_RAISES;
    struct error err = {0};
    size_t offset = 0;
    for (size_t i = 0; i < n_texts; i++) {
        struct pattern **patterns = NULL;
        size_t n = 0;
        if (patterns_parse_for(NULL, &patterns, &n, texts[i], request->syntax, &offset, &err) !=
            0) {
            error_at_print(texts[i], offset, &err);
            return EXIT_USAGE;
        }
        for (size_t k = 0; k < n; k++)
            if (request->on_rate_auto && (patterns[k]->actions & waiting))
                request->on_rate_stop = false;
        patterns_free(patterns, n);
    }
    return error_at_procs(request->procs);
}

/* ---- system events */
