/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tty_background.h"

#include <stdlib.h>
#include <string.h>

#include "beamtop/base/limits.h"
#include "tty_mouse.h"

/* The classic palette of terminals. */
enum theme_background tty_background(const char *colorfgbg)
{
    const char *last = colorfgbg ? strrchr(colorfgbg, ';') : NULL;
    char *end = NULL;
    long color = last ? strtol(last + 1, &end, 10) : -1;
    if (!last || end == last + 1 || *end != '\0')
        return BACKGROUND_UNKNOWN;
    return color == 0 || color == 8    ? BACKGROUND_DARK
           : color == 7 || color == 15 ? BACKGROUND_LIGHT
                                       : BACKGROUND_UNKNOWN;
}

/* One to four hexadecimal digits, as eight bits behind those of rgb. */
static bool read_part(const char **at, uint32_t *rgb)
{
    static const unsigned long most[] = {0, 0xf, 0xff, 0xfff, 0xffff};
    size_t digits = strspn(*at, "0123456789abcdefABCDEF");
    if (digits < 1 || digits > 4)
        return false;
    *rgb = *rgb << 8 | (uint32_t)(strtoul(*at, NULL, 16) * 0xff / most[digits]);
    *at += digits;
    return true;
}

/* "rgb:ffff/ffff/ffff", "rgba:…", with what follows. */
static bool read_color(const char *answer, uint32_t *rgb)
{
    size_t kind = strncmp(answer, "rgb:", 4) == 0 ? 4 : strncmp(answer, "rgba:", 5) == 0 ? 5 : 0;
    const char *at = answer + kind;
    *rgb = 0;
    return kind > 0 && read_part(&at, rgb) && *at++ == '/' && read_part(&at, rgb) && *at++ == '/' &&
           read_part(&at, rgb);
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
    b->due = b->waits = false;
    uint32_t rgb;
    if (read_color(b->bytes, &rgb)) {
        event->kind = TTY_BACKGROUND;
        event->background = theme_background_of(rgb);
    }
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

unsigned background_left(struct background *b, uint64_t now_ms, struct tty_event *event)
{
    uint64_t waited_ms = now_ms - b->asked_ms;
    if (b->waits && waited_ms < LIMIT_BACKGROUND_ANSWER_MS)
        return (unsigned)(LIMIT_BACKGROUND_ANSWER_MS - waited_ms);
    if (b->waits && event->kind == TTY_NONE) {
        b->waits = false;
        *event = (struct tty_event){.kind = TTY_BACKGROUND, .background = BACKGROUND_UNKNOWN};
    }
    return 0;
}
