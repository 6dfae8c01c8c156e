/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tell.h"

#include <stdlib.h>
#include <string.h>

#include "beamtop/base/alloc.h"
#include "beamtop/base/buf.h"
#include "beamtop/base/text.h"
#include "exit_code.h"

static void put_safe_lines(FILE *to, const char *format, va_list args) ATTR_PRINTF(2, 0);

static void put_safe_lines(FILE *to, const char *format, va_list args)
{
    struct buf safe;
    va_list again;
    va_copy(again, args);
    int n = vsnprintf(NULL, 0, format, again);
    va_end(again);
    size_t size = n > 0 ? (size_t)n + 1 : 1;
    char *text = alloc_zero(size, 1);
    vsnprintf(text, size, format, args);
    buf_init(&safe, 0);
    for (const char *line = text; *line;) {
        size_t len = strcspn(line, "\n");
        text_put_safe(&safe, line, len, false);
        if (line[len] == '\n')
            buf_put_u8(&safe, '\n');
        line += len + (line[len] == '\n');
    }
    fputs(buf_cstr(&safe), to);
    free(text);
    buf_clear(&safe);
}

void tell_line_list(const char *format, va_list args)
{
    fputs("beamtop: ", stderr);
    put_safe_lines(stderr, format, args);
    fputc('\n', stderr);
}

void tell_line(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    tell_line_list(format, args);
    va_end(args);
}

int tell_error(const struct error *err)
{
    tell_line("%s", err->text);
    return exit_code_of_error(err->code);
}

int tell_usage(const struct error *err)
{
    tell_error(err);
    return EXIT_USAGE;
}

void tell_progress(const char *format, ...)
{
    va_list args;
    fputs("\r\033[K", stderr);
    va_start(args, format);
    put_safe_lines(stderr, format, args);
    va_end(args);
}

void tell_to(FILE *to, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    put_safe_lines(to, format, args);
    va_end(args);
}
