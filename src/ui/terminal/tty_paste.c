/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tty_paste.h"

#include "beamtop/base/limits.h"
#include "beamtop/ui/key.h"

void paste_init(struct paste *p)
{
    *p = (struct paste){0};
    buf_init(&p->kept, LIMIT_PASTE_BYTES);
}

void paste_clear(struct paste *p)
{
    buf_clear(&p->kept);
}

void paste_begin(struct paste *p, uint64_t now_ms)
{
    if (p->open)
        return;
    p->open = true;
    p->last_ms = now_ms;
    p->taken = 0;
    buf_reset(&p->kept);
    p->kept.overflow = false;
}

bool paste_put(struct paste *p, uint32_t character, uint64_t now_ms)
{
    char bytes[4];
    buf_put(&p->kept, bytes, key_char_encode(character, bytes));
    p->last_ms = now_ms;
    p->open = ++p->taken < LIMIT_PASTE_TAKEN;
    return p->open;
}

unsigned paste_idle(struct paste *p, uint64_t now_ms)
{
    uint64_t silent_ms = now_ms > p->last_ms ? now_ms - p->last_ms : 0;
    if (silent_ms < LIMIT_PASTE_SILENCE_MS)
        return (unsigned)(LIMIT_PASTE_SILENCE_MS - silent_ms);
    p->open = false;
    return 0;
}
