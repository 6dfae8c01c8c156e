/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `beamtop explain`: what a pattern asks for, as a sentence, a tree and a match specification. */
#include <stdio.h>
#include <string.h>

#include "beamtop/base/attr.h"
#include "beamtop/trace/matchspec.h"
#include "beamtop/trace/pattern.h"
#include "app/cli/commands.h"
#include "app/cli/error_at.h"
#include "app/cli/output.h"

/* Pids in a match specification are of a node; without one, of none. */
#define NO_NODE "nonode@nohost"

/* The fields of a record are known only with a node, those of a struct always. */
static bool put_unknown_records(struct buf *out, const struct pattern *p)
{
    struct record_name records[8];
    bool any = false;
    size_t n = pattern_records(p, records, ARRAY_LEN(records));
    for (size_t i = 0; i < n && i < ARRAY_LEN(records); i++) {
        const struct record_name *r = &records[i];
        if (r->name.len == 0)
            continue;
        buf_printf(out,
                   "  no match specification without a node: it has the fields of #%.*s "
                   "of %.*s\n",
                   (int)r->name.len, r->name.s, (int)r->module.len, r->module.s);
        any = true;
    }
    return any;
}

static int explain_pattern(struct buf *out, const struct pattern *p, unsigned index, size_t *offset,
                           struct error *err)
{
    const struct matchspec_options options = {.index = index, .node = NO_NODE, .stack_depth = 8};
    struct matchspec spec;
    pattern_describe(out, p);
    buf_puts(out, "\n\n");
    pattern_print_tree(out, p);
    buf_puts(out, "\n");
    if (put_unknown_records(out, p))
        return 0;
    int rc = matchspec_build(&spec, p, &options, offset, err);
    if (rc != 0)
        return rc;
    matchspec_print(out, &spec);
    matchspec_clear(&spec);
    return 0;
}

int command_explain(const struct cli_options *o, const struct app_env *env)
{
    struct error err = {0};
    struct pattern **patterns = NULL;
    size_t n = 0, offset = 0;
    struct buf out;
    (void)env;
    buf_init(&out, 0);
    int rc = patterns_parse(&patterns, &n, o->target, strlen(o->target), o->request.syntax, &offset,
                            &err);
    for (size_t i = 0; i < n && rc == 0; i++) {
        buf_puts(&out, i > 0 ? "\n" : "");
        rc = explain_pattern(&out, patterns[i], (unsigned)i, &offset, &err);
    }
    int code = output_put(&out);
    if (rc != 0)
        error_at_print(o->target, offset, &err);
    if (patterns)
        patterns_free(patterns, n);
    buf_clear(&out);
    return rc == 0 ? code : EXIT_USAGE;
}
