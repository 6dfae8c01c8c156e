/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "beamtop/base/error.h"

#include <assert.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "beamtop/base/buf.h"
#include "beamtop/base/text.h"

/* Takes raw as the text: made safe, cut at a character. */
static void keep_safe(struct error *err, const char *raw)
{
    struct buf safe;
    buf_init(&safe, 0);
    text_put_safe(&safe, raw, strlen(raw), false);
    size_t len = safe.len;
    if (len >= sizeof(err->text)) {
        len = sizeof(err->text) - 1;
        while (len > 0 && (safe.data[len] & 0xC0) == 0x80)
            len--;
    }
    if (len > 0)
        memcpy(err->text, safe.data, len);
    err->text[len] = '\0';
    buf_clear(&safe);
}

int error_set(struct error *err, enum err code, const char *fmt, ...)
{
    assert(code != ERR_NONE);
    if (err->code != ERR_NONE)
        return code;
    char raw[sizeof(err->text)];
    va_list args;
    va_start(args, fmt);
    vsnprintf(raw, sizeof(raw), fmt, args);
    va_end(args);
    err->code = code;
    keep_safe(err, raw);
    return code;
}

int error_set_errno(struct error *err, int errnum, const char *fmt, ...)
{
    if (err->code != ERR_NONE)
        return ERR_SYSTEM;
    char raw[sizeof(err->text)];
    va_list args;
    va_start(args, fmt);
    vsnprintf(raw, sizeof(raw), fmt, args);
    va_end(args);
    return error_set(err, ERR_SYSTEM, "%s: %s%s", raw, strerror(errnum),
                     errnum == EMFILE ? ": raise the limit (ulimit -n)" : "");
}

void error_context(struct error *err, const char *fmt, ...)
{
    if (err->code == ERR_NONE)
        return;
    char raw[2 * sizeof(err->text)];
    va_list args;
    va_start(args, fmt);
    int n = vsnprintf(raw, sizeof(err->text), fmt, args);
    va_end(args);
    size_t used = n < 0 ? 0 : strlen(raw);
    snprintf(raw + used, sizeof(raw) - used, ": %s", err->text);
    keep_safe(err, raw);
}

void error_clear(struct error *err)
{
    err->code = ERR_NONE;
    err->text[0] = '\0';
}
