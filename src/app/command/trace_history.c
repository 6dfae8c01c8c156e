/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "trace_history.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "beamtop/base/attr.h"
#include "beamtop/base/slice.h"
#include "beamtop/base/text.h"

#define MOST 200 /* bytes of a name before it is cut */

static bool is_plain_in_name(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           strchr("@_-", c);
}

void trace_history_file(char out[TRACE_HISTORY_FILE_BYTES], const char *node)
{
    size_t n = (size_t)snprintf(out, TRACE_HISTORY_FILE_BYTES, "traces/");
    const char *s = node;
    for (; *s && n + 4 < MOST; s++) {
        /* A dot is plain but at the beginning: no file is hidden, none is `..`. */
        if (is_plain_in_name(*s) || (*s == '.' && s > node))
            out[n++] = *s;
        else
            n += (size_t)snprintf(out + n, 4, "%%%02X", (unsigned char)*s);
    }
    out[n] = '\0';
    if (*s)
        snprintf(out + n, TRACE_HISTORY_FILE_BYTES - n, "-%016" PRIx64,
                 text_identity(node, strlen(node)));
}

bool trace_history_has_values(const char *line)
{
    size_t digits = 0;
    if (strpbrk(line, "\"'~$") || strstr(line, "<<"))
        return true;
    for (; *line; line++) {
        if (*line == '_' && digits > 0)
            continue; /* 1_000_000 */
        digits = *line >= '0' && *line <= '9' ? digits + 1 : 0;
        if (digits == 5)
            return true;
    }
    return false;
}

bool trace_history_command_has_values(const char *line)
{
    static const char *const words[] = {"trace", "calls", "spans"};
    line += strspn(line, " :");
    size_t len = strcspn(line, " ");
    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        if (slice_is((struct slice){line, len}, words[i]))
            return trace_history_has_values(line + len);
    return false;
}
