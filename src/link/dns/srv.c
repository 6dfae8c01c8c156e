/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "srv.h"

#include <stdbool.h>
#include <string.h>

#define HEADER_BYTES 12u
#define QUESTION_BYTES 4u /* behind the name: type, class */
#define RECORD_BYTES 10u  /* behind the name: type, class, time to live, length */
#define SRV_BYTES 6u      /* before the target: priority, weight, port */
#define TYPE_SRV 33u
#define CLASS_IN 1u
#define POINTER 0xc0u
#define LABEL_MOST 63u

static unsigned read_u16(const uint8_t *at)
{
    return (unsigned)at[0] << 8 | at[1];
}

/* Of a host: what a node's name or a terminal would take for something else is none. */
static bool is_host_byte(uint8_t c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_';
}

/* Bytes of the name at that place, without following it; 0: it breaks off. */
static size_t name_length(const uint8_t *message, size_t len, size_t at)
{
    for (size_t i = at; i < len; i += message[i] + 1u) {
        if (message[i] == 0)
            return i + 1 - at;
        if (message[i] > LABEL_MOST)
            return message[i] >= POINTER && i + 2 <= len ? i + 2 - at : 0;
    }
    return 0;
}

/* False: it breaks off, has another byte than a host has, or is the root. Pointers go back only, so
 * they end. */
static bool read_target(char *out, const uint8_t *message, size_t len, size_t at)
{
    size_t n = 0;
    while (at < len && message[at] != 0) {
        const size_t label = message[at];
        if (label >= POINTER) {
            const size_t to = at + 2 <= len ? read_u16(message + at) & 0x3fffu : len;
            if (to >= at)
                return false;
            at = to;
            continue;
        }
        if (label > LABEL_MOST || at + 1 + label > len || n + label + 1 > SRV_TARGET_BYTES)
            return false;
        for (size_t i = 1; i <= label; i++) {
            if (!is_host_byte(message[at + i]))
                return false;
            out[n++] = (char)message[at + i];
        }
        out[n++] = '.';
        at += 1 + label;
    }
    if (n == 0 || at >= len)
        return false;
    out[n - 1] = '\0';
    return true;
}

int srv_each(const uint8_t *message, size_t len, int (*take)(void *arg, const char *target),
             void *arg)
{
    char target[SRV_TARGET_BYTES];
    size_t at = HEADER_BYTES;
    if (len < HEADER_BYTES)
        return -1;
    for (unsigned left = read_u16(message + 4); left > 0; left--) {
        const size_t name = name_length(message, len, at);
        at += name + QUESTION_BYTES;
        if (name == 0 || at > len)
            return -1;
    }
    for (unsigned left = read_u16(message + 6); left > 0; left--) {
        const size_t name = name_length(message, len, at);
        if (name == 0 || len - at - name < RECORD_BYTES)
            return -1;
        const uint8_t *record = message + at + name;
        const size_t data = at + name + RECORD_BYTES, bytes = read_u16(record + 8);
        if (bytes > len - data)
            return -1;
        at = data + bytes;
        if (read_u16(record) == TYPE_SRV && read_u16(record + 2) == CLASS_IN && bytes > SRV_BYTES &&
            read_target(target, message, at, data + SRV_BYTES) && take(arg, target) != 0)
            return 0;
    }
    return 0;
}
