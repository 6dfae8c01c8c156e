/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "spans_tell.h"

#include <stdio.h>

#include "app/cli/tell.h"
#include "beamtop/output/spans_sink.h"
#include "beamtop/trace/session.h"
#include "spans_file.h"

void spans_tell_capture(const struct spans_run *run, const struct cli_options *o,
                        const struct app_env *env)
{
    struct sink_output output = {.writer = sink_writer_of(stdout)};
    struct error err = {0};
    const struct spans_sink_options options = spans_file_options(o, env);
    spans_put(&output, run, &options, &err); /* a write that failed is found by output_check() */
}

void spans_tell_left(const struct spans_run *run, const char *node, const struct cli_options *o)
{
    const struct session_check *check = &run->status.check;
    char text[sizeof check->text];
    if (run->end == SPANS_END_TRACED) {
        tell_line("trace tokens stay in processes of %s while another tool has the system tracer",
                  node);
        return;
    }
    if (o->format != FORMAT_TEXT || !check->done || !check->clean)
        return;
    session_check_text(text, sizeof text, check, node);
    tell_line("%s", text);
    if (check->tokens > 0)
        tell_line(
            "… but a trace token in %llu process%s of it, which OTP 25 and 26 cannot clear: it "
            "shows nothing unless another tool sets a system tracer, and goes when its process "
            "takes a message without one",
            (unsigned long long)check->tokens, check->tokens == 1 ? "" : "es");
}
