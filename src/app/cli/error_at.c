/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "error_at.h"

#include <stdio.h>
#include <string.h>

#include "beamtop/base/text.h"
#include "beamtop/trace/procs.h"
#include "exit_code.h"

/* Columns of a text that are shown, so that the caret stands below its character on a terminal of
   80, and how many of them before the caret. */
enum { SHOWN_COLUMNS = 70, BEFORE_COLUMNS = 48 };

void error_at_put(struct buf *out, const char *text, size_t offset, const struct error *err)
{
    size_t len = strlen(text), from = 0, width;
    buf_printf(out, "beamtop: %s\n", err->text);
    if (strchr(text, '\n') || len == 0)
        return;
    size_t at = offset < len ? offset : len, to = len;
    size_t columns = text_width(text, at);
    if (text_width(text, len) > SHOWN_COLUMNS) {
        if (columns > BEFORE_COLUMNS)
            from = text_prefix(text, at, columns - BEFORE_COLUMNS, &width);
        to = from + text_prefix(text + from, len - from, SHOWN_COLUMNS, &width);
    }
    buf_puts(out, from > 0 ? "    ..." : "    ");
    text_put_safe(out, text + from, to - from, false);
    buf_puts(out, to < len ? "...\n    " : "\n    ");
    columns = text_width(text + from, at - from) + (from > 0 ? 3 : 0);
    for (size_t i = 0; i < columns; i++)
        buf_put_u8(out, ' ');
    buf_puts(out, "^\n");
}

void error_at_print(const char *text, size_t offset, const struct error *err)
{
    struct buf out;
    buf_init(&out, 0);
    error_at_put(&out, text, offset, err);
    fwrite(out.data, 1, out.len, stderr);
    buf_clear(&out);
}

int error_at_patterns(const char *const *texts, size_t n, enum syntax syntax,
                      pattern_check_fn *check)
{
    struct error err = {0};
    size_t offset = 0;
    for (size_t i = 0; i < n; i++)
        if (patterns_check(check, texts[i], syntax, &offset, &err) != 0) {
            error_at_print(texts[i], offset, &err);
            return EXIT_USAGE;
        }
    return EXIT_DONE;
}

int error_at_procs(const char *who)
{
    struct error err = {0};
    struct procs procs;
    size_t offset = 0;
    if (!who || procs_parse(&procs, who, &offset, &err) == 0)
        return EXIT_DONE;
    error_at_print(who, offset, &err);
    return EXIT_USAGE;
}
