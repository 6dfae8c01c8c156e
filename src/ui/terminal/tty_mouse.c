/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tty_mouse.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

#include "beamtop/base/limits.h"

/* Bits of a report's first number. */
enum mouse_bits { BUTTONS = 3, MODIFIERS = 4 | 8 | 16, WHEEL = 64 };

#define RELEASE 3 /* of whichever button, in the X10 form */

void mouse_begin(struct mouse *m, enum mouse_form form, uint64_t now_ms)
{
    m->open = form;
    m->len = 0;
    m->garbled = false;
    m->last_ms = now_ms;
}

static bool is_near(const struct mouse *m, int row, int column, uint64_t now_ms)
{
    return m->pressed && row == m->row && abs(column - m->column) <= 1 &&
           now_ms - m->pressed_ms <= LIMIT_DOUBLE_CLICK_MS;
}

static void press_button(struct mouse *m, uint64_t now_ms, struct tty_event *event)
{
    bool twice = is_near(m, event->mouse.row, event->mouse.column, now_ms);
    event->mouse.kind = twice ? MOUSE_DOUBLE_CLICK : MOUSE_CLICK;
    m->pressed = !twice; /* a third click is a first one */
    m->row = event->mouse.row;
    m->column = event->mouse.column;
    m->pressed_ms = now_ms;
}

static void tell_button(struct mouse *m, unsigned bits, int column, int row, uint64_t now_ms,
                        struct tty_event *event)
{
    bits &= ~(unsigned)MODIFIERS;
    if (row < 1 || column < 1)
        return;
    event->mouse.row = row - 1;
    event->mouse.column = column - 1;
    if (bits == 0)
        press_button(m, now_ms, event);
    else if (bits == WHEEL || bits == WHEEL + 1)
        event->mouse.kind = bits == WHEEL ? MOUSE_WHEEL_UP : MOUSE_WHEEL_DOWN;
    else
        return;
    event->kind = TTY_MOUSE;
}

static bool put_sgr(struct mouse *m, unsigned char byte, uint64_t now_ms, struct tty_event *event)
{
    unsigned bits;
    int column, row, end = 0;
    if (byte >= ' ' && byte <= '?') {
        m->garbled = m->garbled || !(isdigit(byte) || byte == ';') || m->len == sizeof m->bytes - 1;
        if (!m->garbled)
            m->bytes[m->len++] = (char)byte;
        return true;
    }
    m->open = MOUSE_CLOSED;
    m->bytes[m->len] = '\0';
    if (byte != 'M' && byte != 'm')
        return m->garbled && byte >= '@' && byte <= '~'; /* it ends any control sequence */
    /* The widths keep every number within an int. */
    if (byte == 'M' && !m->garbled &&
        sscanf(m->bytes, "%5u;%5d;%5d%n", &bits, &column, &row, &end) == 3 && (size_t)end == m->len)
        tell_button(m, bits, column, row, now_ms, event);
    return true;
}

static bool put_x10(struct mouse *m, unsigned char byte, uint64_t now_ms, struct tty_event *event)
{
    if (byte < ' ') {
        m->open = MOUSE_CLOSED;
        return false;
    }
    m->bytes[m->len++] = (char)(byte - ' ');
    if (m->len < 3)
        return true;
    m->open = MOUSE_CLOSED;
    unsigned bits = (unsigned char)m->bytes[0];
    if ((bits & BUTTONS) != RELEASE)
        tell_button(m, bits, (unsigned char)m->bytes[1], (unsigned char)m->bytes[2], now_ms, event);
    return true;
}

bool mouse_put(struct mouse *m, unsigned char byte, uint64_t now_ms, struct tty_event *event)
{
    m->last_ms = now_ms;
    return m->open == MOUSE_SGR   ? put_sgr(m, byte, now_ms, event)
           : m->open == MOUSE_X10 ? put_x10(m, byte, now_ms, event)
                                  : false;
}

unsigned tty_rest_ms(uint64_t last_ms, uint64_t now_ms)
{
    uint64_t silent_ms = now_ms > last_ms ? now_ms - last_ms : 0;
    return silent_ms < LIMIT_MOUSE_SILENCE_MS ? (unsigned)(LIMIT_MOUSE_SILENCE_MS - silent_ms) : 0;
}

unsigned mouse_idle(struct mouse *m, uint64_t now_ms)
{
    unsigned rest_ms = m->open != MOUSE_CLOSED ? tty_rest_ms(m->last_ms, now_ms) : 0;
    if (rest_ms == 0)
        m->open = MOUSE_CLOSED;
    return rest_ms;
}
