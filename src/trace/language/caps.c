/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "beamtop/trace/caps.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "beamtop/base/buf.h"
#include "beamtop/base/text.h"

#define KIB 1024u
#define MIB (1024u * 1024u)

const struct cap_row cap_table[CAPS] = {
    [CAP_TIME_MS] = {"time", "time", UNIT_MS, 15000, 1, 600000, "time", "duration of a trace"},
    [CAP_EVENTS] = {"events", "events", UNIT_COUNT, 100, 1, 10000, "events",
                    "calls and messages that are shown"},
    [CAP_RATE_PER_S] = {"rate", "rate", UNIT_PER_S, 200, 1, 5000, "rate",
                        "calls and messages shown per second"},
    [CAP_WINDOW] = {"window", "window", UNIT_COUNT, 256, 1, 256, "window",
                    "events that the VM may emit before the collector checks"},
    [CAP_WINDOW_BYTES] = {"window-bytes", "window", UNIT_BYTES, 512 * KIB, KIB, 4 * MIB,
                          "window_bytes", "heap that the events of a window may take"},
    [CAP_TERM_BYTES] = {"term-size", "term", UNIT_BYTES, 2 * KIB, 64, 256 * KIB, "term",
                        "size of arguments, result or message of an event; larger ones are "
                        "truncated"},
    [CAP_BYTES] = {"bytes", "bytes", UNIT_BYTES, MIB, KIB, 64 * MIB, "bytes",
                   "bytes that a trace may send"},
    [CAP_HEAP_BYTES] = {"heap", "heap", UNIT_BYTES, 32 * MIB, 4 * MIB, 32 * MIB, "heap",
                        "memory of the collector on the node"},
    [CAP_FUNCTIONS] = {"functions", "functions", UNIT_COUNT, 1000, 1, 10000, NULL,
                       "functions that the patterns may match"},
    [CAP_PROCESSES] = {"processes", "processes", UNIT_COUNT, 10000, 1, 100000, NULL,
                       "processes that may be chosen individually"},
};

void caps_init(struct caps *c)
{
    for (size_t i = 0; i < CAPS; i++)
        c->value[i] = cap_table[i].value;
}

int cap_find(const char *key, enum cap *out)
{
    for (size_t i = 0; i < CAPS; i++) {
        if (strcmp(cap_table[i].key, key) == 0) {
            *out = (enum cap)i;
            return 0;
        }
    }
    return -1;
}

static char *format_bytes(char *out, size_t size, uint64_t bytes)
{
    if (bytes >= MIB)
        snprintf(out, size, "%.1f MiB", (double)bytes / MIB);
    else if (bytes >= KIB)
        snprintf(out, size, "%.1f KiB", (double)bytes / KIB);
    else
        snprintf(out, size, "%llu B", (unsigned long long)bytes);
    return out;
}

char *cap_format(char *out, size_t size, enum cap cap, uint64_t value)
{
    unsigned long long v = value;
    switch (cap_table[cap].unit) {
    case UNIT_COUNT:
        snprintf(out, size, "%llu", v);
        break;
    case UNIT_PER_S:
        snprintf(out, size, "%llu/s", v);
        break;
    case UNIT_MS:
        if (v < 1000)
            snprintf(out, size, "%llu ms", v);
        else
            snprintf(out, size, "%g s", (double)value / 1000.0);
        break;
    case UNIT_BYTES:
        format_bytes(out, size, value);
        break;
    }
    return out;
}

int caps_set(struct caps *c, enum cap cap, uint64_t value, struct error *err)
{
    const struct cap_row *row = &cap_table[cap];
    if (value < row->least || value > row->ceiling) {
        char least[32], ceiling[32];
        return error_set(err, ERR_USAGE, "%s must be between %s and %s", row->key,
                         cap_format(least, sizeof least, cap, row->least),
                         cap_format(ceiling, sizeof ceiling, cap, row->ceiling));
    }
    c->value[cap] = value;
    return 0;
}

/* In the unit of the table. */
static int parse_cap(enum cap_unit unit, const char *text, double *value)
{
    switch (unit) {
    case UNIT_COUNT:
    case UNIT_PER_S:
        return text_parse_count(text, unit == UNIT_PER_S ? "/s" : "", value);
    case UNIT_MS:
        if (text_parse_duration(text, value) != 0)
            return -1;
        *value *= 1000;
        return 0;
    case UNIT_BYTES:
        return text_parse_bytes(text, value);
    }
    return -1;
}

int caps_parse(struct caps *c, enum cap cap, const char *text, struct error *err)
{
    const struct cap_row *row = &cap_table[cap];
    double value;
    if (parse_cap(row->unit, text, &value) == 0)
        return caps_set(c, cap, (uint64_t)llround(fmin(value, 1e15)), err);
    static const char *const examples[] = {
        [UNIT_COUNT] = "100",
        [UNIT_MS] = "15s or 250ms",
        [UNIT_PER_S] = "200",
        [UNIT_BYTES] = "2KiB",
    };
    return error_set(err, ERR_USAGE, "%s: “%s” is not a value such as %s", row->key, text,
                     examples[row->unit]);
}

static int unknown_cap(const char *key, struct error *err)
{
    struct buf keys;
    buf_init(&keys, 0);
    for (size_t i = 0; i < CAPS; i++)
        if (cap_table[i].atom)
            buf_printf(&keys, "%s%s", keys.len > 0 ? ", " : "", cap_table[i].key);
    const int rc =
        error_set(err, ERR_USAGE, "a trace has no cap “%s”: use %s", key, buf_cstr(&keys));
    buf_clear(&keys);
    return rc;
}

int caps_parse_words(struct caps *c, const char *words, enum cap *cap, struct error *err)
{
    const size_t len = strcspn(words, " ");
    char key[32];
    snprintf(key, sizeof key, "%.*s", (int)(len < sizeof key ? len : sizeof key - 1), words);
    if (cap_find(key, cap) != 0)
        return unknown_cap(key, err);
    return caps_parse(c, *cap, words + len + strspn(words + len, " "), err);
}
