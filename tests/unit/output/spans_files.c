/* SPDX-License-Identifier: GPL-3.0-or-later */
/* spans_files DIRECTORY [FORM FILE CASE]: writes runs of causal spans in the forms that other
 * programs read, DIRECTORY/N.FORM; or shows one as text, of so many columns. */
#include "beamtop/output/spans_sink.h"
#include "spans_runs.h"

static const char *const captures[] = {"otp23", "otp25", "otp27", "otp29"};
static const char *const cases[] = {"chain", "task",  "crash",  "timeout", "pool",
                                    "cast",  "defer", "noproc", "remote",  "statem",
                                    "event", "plain", "alias",  "raise",   "sendreq"};
static const struct {
    enum spans_format format;
    const char *name;
} forms[] = {{SPANS_JSON, "json"},
             {SPANS_SPEEDSCOPE, "speedscope"},
             {SPANS_TRACE_EVENT, "trace-event"},
             {SPANS_OTLP, "otlp"}};

static int put(const char *directory, unsigned n, const struct spans_run *run)
{
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        char path[4096];
        struct error err = {0};
        const struct spans_sink_options options = {.format = forms[i].format};
        snprintf(path, sizeof path, "%s/%u.%s", directory, n, forms[i].name);
        FILE *file = fopen(path, "w");
        if (!file)
            return 1;
        struct sink_output output = {.writer = sink_writer_of(file)};
        int rc = spans_put(&output, run, &options, &err);
        if (fclose(file) != 0 || rc != 0)
            return 1;
    }
    return 0;
}

static int show(const char *columns, const char *file, const char *name)
{
    struct spans_run *run = run_read(file, name, strncmp(name, "full", 4) == 0);
    struct sink_output output = {.writer = sink_writer_of(stdout)};
    struct error err = {0};
    const struct spans_sink_options options = {.columns = strtoul(columns, NULL, 10)};
    int rc = spans_put(&output, run, &options, &err);
    spans_run_free(run);
    return rc != 0;
}

int main(int argc, char **argv)
{
    unsigned n = 0;
    int rc = 0;
    if (argc == 4)
        return show(argv[1], argv[2], argv[3]);
    if (argc != 2)
        return 2;
    for (size_t r = 0; r < sizeof captures / sizeof *captures; r++)
        for (size_t i = 0; i < 2 * sizeof cases / sizeof *cases; i++) {
            char name[32];
            snprintf(name, sizeof name, "%s %s", i % 2 ? "full" : "light", cases[i / 2]);
            struct spans_run *run = run_read(captures[r], name, i % 2);
            rc |= put(argv[1], n++, run);
            spans_run_free(run);
        }
    struct spans_run *made[] = {run_hostile(),  run_functions(),   run_called(), run_far(true),
                                run_far(false), run_large(20, 10), run_new(true)};
    for (size_t i = 0; i < sizeof made / sizeof *made; i++) {
        rc |= put(argv[1], n++, made[i]);
        spans_run_free(made[i]);
    }
    return rc;
}
