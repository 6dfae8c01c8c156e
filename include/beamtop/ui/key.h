/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A key as you name it: `a`, `C-c`, `M-x`, `S-<Tab>`, `<F5>` or `F5`, `<Enter>`, `PgDn`.
 * Plain values; nothing
 * here allocates. */
#ifndef BEAMTOP_UI_KEY_H
#define BEAMTOP_UI_KEY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Keys without a character. Above the last code point of Unicode. */
enum key_code {
    KEYS_FIRST = 0x110000,
    KEYS_ENTER = KEYS_FIRST,
    KEYS_TAB,
    KEYS_ESC,
    KEYS_BACKSPACE,
    KEYS_DELETE,
    KEYS_INSERT,
    KEYS_UP,
    KEYS_DOWN,
    KEYS_LEFT,
    KEYS_RIGHT,
    KEYS_HOME,
    KEYS_END,
    KEYS_PAGE_UP,
    KEYS_PAGE_DOWN,
    KEYS_F1,
    KEYS_F12 = KEYS_F1 + 11,
    KEYS_END_OF_LIST,
};

enum key_mod { KEY_MOD_CTRL = 1, KEY_MOD_META = 2, KEY_MOD_SHIFT = 4 };

/* A character has its code point and never SHIFT (`A`, not S-a). Ctrl letters are lower-case. */
struct key {
    uint32_t code; /* a code point or enum key_code; 0: no key */
    uint8_t mods;  /* enum key_mod */
};

#define KEY_TEXT_BYTES 24

bool key_parse(const char *name, size_t len, struct key *out); /* false: no such key */
/* The name as help and configuration print it ("<Enter>", "C-c", "a"). Returns out. */
char *key_format(struct key key, char out[KEY_TEXT_BYTES]);
/* One UTF-8 character: its bytes (1 to 4), or 0 when s does not begin with one. */
size_t key_char_decode(const char *s, size_t len, uint32_t *code);
size_t key_char_encode(uint32_t code, char out[4]); /* 0: not a character */
bool key_equal(struct key a, struct key b);

#endif
