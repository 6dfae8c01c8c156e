/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "../test.h"
#include "golden.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A letter for each style, in the order of the list. */
static const char letters[] = ".dlvTtHhCcM*nfpRW+-gGow!SPEmk123456";

/* A style without a letter would read beyond them. */
_Static_assert(ARRAY_LEN(letters) == STYLES + 1, "a letter for each style");

void golden_dump(const struct canvas *c, struct buf *out)
{
    for (int row = 0; row < c->rows; row++) {
        size_t end = out->len;
        for (int column = 0; column < c->columns; column++) {
            const char *text = canvas_at(c, row, column)->text;
            buf_puts(out, text);
            if (text[0] && strcmp(text, " ") != 0)
                end = out->len;
        }
        out->len = end;
        buf_puts(out, "\n");
    }
    buf_puts(out, "--- styles\n");
    for (int row = 0; row < c->rows; row++) {
        for (int column = 0; column < c->columns; column++)
            buf_put_u8(out, (uint8_t)letters[canvas_at(c, row, column)->style]);
        buf_puts(out, "\n");
    }
}

static char *read_golden(const char *path)
{
    struct buf b;
    char part[4096];
    size_t n;
    FILE *f = fopen(path, "r");
    if (!f)
        return NULL;
    buf_init(&b, 0);
    while ((n = fread(part, 1, sizeof part, f)) > 0)
        buf_put(&b, part, n);
    fclose(f);
    return buf_take(&b);
}

static int differing_lines(const char *is, const char *wanted)
{
    int line = 1, differing = 0;
    while (*is || *wanted) {
        size_t a = strcspn(is, "\n"), b = strcspn(wanted, "\n");
        if (a != b || memcmp(is, wanted, a) != 0) {
            if (differing++ < 20)
                fprintf(stderr, "line %d\n- %.*s\n+ %.*s\n", line, (int)b, wanted, (int)a, is);
        }
        is += a + (is[a] == '\n');
        wanted += b + (wanted[b] == '\n');
        line++;
    }
    return differing;
}

void golden_compare(const char *name, struct buf *out)
{
    char path[1024];
    const char *dir = getenv("BEAMTOP_SRCDIR"), *update = getenv("BEAMTOP_GOLDEN");
    snprintf(path, sizeof path, "%s/tests/screen/golden/%s.txt", dir ? dir : ".", name);
    if (update && strcmp(update, "update") == 0) {
        FILE *f = fopen(path, "w");
        assert_non_null(f);
        assert_int_equal(fwrite(out->data, 1, out->len, f), out->len);
        fclose(f);
        return;
    }
    char *wanted = read_golden(path);
    if (!wanted)
        fail_msg("%s: there is no %s", name, path);
    int differing = differing_lines(buf_cstr(out), wanted);
    free(wanted);
    if (differing)
        fail_msg("%s: %d lines differ (BEAMTOP_GOLDEN=update takes them as they are)", name,
                 differing);
}
