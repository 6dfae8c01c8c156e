/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Compiles patterns for the tests on real nodes: a pattern a line on stdin, a term a line on
 * stdout: {ok, Clauses, Results | none, Narrow}.   or   {error, "what is wrong"}. The argument is
 * the OTP release that they
 * are for. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "beamtop/etf/print.h"
#include "beamtop/trace/matchspec.h"
#include "beamtop/trace/pattern.h"

static const struct print_limits whole = {.depth = LIMIT_TERM_DEPTH};

static const struct slice fields[] = {{"name", 4}, {"age", 3}};
static const struct record_def records[] = {
    {.module = {"m", 1}, .name = {"user", 4}, .fields = fields, .n_fields = 2},
};

static void put_clauses(struct buf *out, const struct builder *b)
{
    size_t len = 0;
    const uint8_t *bytes = b ? builder_bytes(b, &len) : NULL;
    if (b)
        print_term(out, bytes, len, &whole);
    else
        buf_puts(out, "none");
}

static void put_error(struct buf *out, const struct error *err)
{
    buf_puts(out, "{error, \"");
    for (const char *c = err->text; *c; c++)
        buf_printf(out, *c == '"' || *c == '\\' ? "\\%c" : "%c", *c);
    buf_puts(out, "\"}.\n");
}

static void compile(struct buf *out, const char *line, int otp)
{
    struct matchspec_options options = {.otp = otp, .node = "nonode@nohost", .stack_depth = 8};
    struct pattern *p = NULL;
    struct matchspec m = {0};
    struct error err = {0};
    options.records = records;
    options.n_records = 1;
    if (pattern_parse(&p, line, strlen(line), SYNTAX_AUTO, NULL, &err) < 0 ||
        matchspec_build(&m, p, &options, NULL, &err) < 0) {
        put_error(out, &err);
    } else {
        buf_puts(out, "{ok, ");
        put_clauses(out, m.clauses);
        buf_puts(out, ", ");
        put_clauses(out, m.results);
        buf_puts(out, m.narrow ? ", true}.\n" : ", false}.\n");
    }
    matchspec_clear(&m);
    pattern_free(p);
}

int main(int argc, char **argv)
{
    char line[LIMIT_PATTERN_BYTES];
    struct buf out;
    if (argc != 2) {
        fprintf(stderr, "usage: select RELEASE <PATTERNS\n");
        return 2;
    }
    buf_init(&out, 0);
    buf_puts(&out, "%% coding: utf-8\n");
    while (fgets(line, sizeof(line), stdin)) {
        line[strcspn(line, "\n")] = '\0';
        compile(&out, line, atoi(argv[1]));
    }
    fwrite(out.data, 1, out.len, stdout);
    buf_clear(&out);
    return ferror(stdout) ? 1 : 0;
}
