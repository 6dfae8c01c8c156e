/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tty_background.h"

#include <stdlib.h>
#include <string.h>

#include "beamtop/base/limits.h"
#include "tty_mouse.h"

bool tty_is_light(const char *colorfgbg)
{
    const char *last = colorfgbg ? strrchr(colorfgbg, ';') : NULL;
    char *end = NULL;
    long color = last ? strtol(last + 1, &end, 10) : 0;
    return last && end != last + 1 && *end == '\0' && (color == 7 || (color >= 9 && color <= 15));
}

/* One to four hexadecimal digits, as a share of the most that they can say. */
static bool read_part(const char **at, double *share)
{
    static const double most[] = {0, 0xf, 0xff, 0xfff, 0xffff};
    size_t digits = strspn(*at, "0123456789abcdefABCDEF");
    if (digits < 1 || digits > 4)
        return false;
    *share = (double)strtol(*at, NULL, 16) / most[digits];
    *at += digits;
    return true;
}

/* "rgb:ffff/ffff/ffff", "rgba:…", with what follows. */
static bool read_light(const char *answer, bool *light)
{
    double red, green, blue;
    size_t kind = strncmp(answer, "rgb:", 4) == 0 ? 4 : strncmp(answer, "rgba:", 5) == 0 ? 5 : 0;
    const char *at = answer + kind;
    if (kind == 0 || !read_part(&at, &red) || *at++ != '/' || !read_part(&at, &green) ||
        *at++ != '/' || !read_part(&at, &blue))
        return false;
    *light = 0.299 * red + 0.587 * green + 0.114 * blue > 0.5;
    return true;
}

void background_begin(struct background *b, uint64_t now_ms)
{
    b->part = BACKGROUND_OPEN;
    b->len = 0;
    b->last_ms = now_ms;
}

static void end_answer(struct background *b, unsigned char byte, struct tty_event *event)
{
    b->bytes[b->len] = '\0';
    b->part = byte == 0x1b ? BACKGROUND_ENDING : BACKGROUND_CLOSED;
    b->due = false;
    if (read_light(b->bytes, &event->light))
        event->kind = TTY_BACKGROUND;
}

bool background_put(struct background *b, unsigned char byte, uint64_t now_ms,
                    struct tty_event *event)
{
    enum background_part part = b->part;
    b->last_ms = now_ms;
    if (part == BACKGROUND_OPEN && (byte == 0x07 || byte == 0x1b)) {
        end_answer(b, byte, event);
        return true;
    }
    if (part == BACKGROUND_OPEN && byte >= ' ' && b->len < sizeof b->bytes - 1) {
        b->bytes[b->len++] = (char)byte;
        return true;
    }
    b->part = BACKGROUND_CLOSED;
    return part == BACKGROUND_ENDING && byte == '\\';
}

unsigned background_idle(struct background *b, uint64_t now_ms)
{
    unsigned rest_ms = b->part != BACKGROUND_CLOSED ? tty_rest_ms(b->last_ms, now_ms) : 0;
    if (rest_ms == 0)
        b->part = BACKGROUND_CLOSED;
    return rest_ms;
}

void background_wait(struct background *b, uint64_t now_ms)
{
    if (b->asked_ms == 0)
        b->asked_ms = now_ms;
    b->due = b->due && now_ms - b->asked_ms < LIMIT_BACKGROUND_MS;
}
