/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tty_keys.h"

#include <curses.h>
#include <string.h>

#include "beamtop/base/attr.h"

static const struct {
    int curses;
    uint32_t code;
    uint8_t mods;
} known[] = {
    {KEY_UP, KEYS_UP, 0},
    {KEY_DOWN, KEYS_DOWN, 0},
    {KEY_LEFT, KEYS_LEFT, 0},
    {KEY_RIGHT, KEYS_RIGHT, 0},
    {KEY_HOME, KEYS_HOME, 0},
    {KEY_END, KEYS_END, 0},
    {KEY_PPAGE, KEYS_PAGE_UP, 0},
    {KEY_NPAGE, KEYS_PAGE_DOWN, 0},
    {KEY_ENTER, KEYS_ENTER, 0},
    {KEY_BACKSPACE, KEYS_BACKSPACE, 0},
    {KEY_DC, KEYS_DELETE, 0},
    {KEY_IC, KEYS_INSERT, 0},
    {KEY_BTAB, KEYS_TAB, KEY_MOD_SHIFT},
    {KEY_SR, KEYS_UP, KEY_MOD_SHIFT},
    {KEY_SF, KEYS_DOWN, KEY_MOD_SHIFT},
    {KEY_SLEFT, KEYS_LEFT, KEY_MOD_SHIFT},
    {KEY_SRIGHT, KEYS_RIGHT, KEY_MOD_SHIFT},
    {KEY_SHOME, KEYS_HOME, KEY_MOD_SHIFT},
    {KEY_SEND, KEYS_END, KEY_MOD_SHIFT},
    {KEY_SDC, KEYS_DELETE, KEY_MOD_SHIFT},
};

/* Extended names of terminfo: the name and a digit, one more than the bits shift 1, meta 2,
 * ctrl 4. */
static const struct {
    const char *name;
    uint32_t code;
} extended[] = {
    {"kUP", KEYS_UP},     {"kDN", KEYS_DOWN},   {"kLFT", KEYS_LEFT},    {"kRIT", KEYS_RIGHT},
    {"kHOM", KEYS_HOME},  {"kEND", KEYS_END},   {"kPRV", KEYS_PAGE_UP}, {"kNXT", KEYS_PAGE_DOWN},
    {"kDC", KEYS_DELETE}, {"kIC", KEYS_INSERT},
};

static bool extended_key(const char *name, struct key *out)
{
    for (size_t i = 0; name && i < ARRAY_LEN(extended); i++) {
        size_t len = strlen(extended[i].name);
        if (strncmp(name, extended[i].name, len) != 0 || name[len] < '2' || name[len] > '8' ||
            name[len + 1] != '\0')
            continue;
        unsigned bits = (unsigned)(name[len] - '1');
        out->code = extended[i].code;
        out->mods = (uint8_t)((bits & 1 ? KEY_MOD_SHIFT : 0) | (bits & 2 ? KEY_MOD_META : 0) |
                              (bits & 4 ? KEY_MOD_CTRL : 0));
        return true;
    }
    return false;
}

static bool function_key(int code, struct key *out)
{
    for (size_t i = 0; i < ARRAY_LEN(known); i++) {
        if (known[i].curses == code) {
            *out = (struct key){known[i].code, known[i].mods};
            return true;
        }
    }
    if (code >= KEY_F(1) && code <= KEY_F(12)) {
        *out = (struct key){KEYS_F1 + (uint32_t)(code - KEY_F(1)), 0};
        return true;
    }
    return extended_key(keyname(code), out);
}

bool tty_key_of(wint_t ch, bool is_code, struct key *out)
{
    if (is_code)
        return function_key((int)ch, out);
    *out = (struct key){(uint32_t)ch, 0};
    switch (ch) {
    case '\r':
    case '\n':
        out->code = KEYS_ENTER;
        return true;
    case '\t':
        out->code = KEYS_TAB;
        return true;
    case 0x1b:
        out->code = KEYS_ESC;
        return true;
    case 0x08:
    case 0x7f:
        out->code = KEYS_BACKSPACE;
        return true;
    default:
        break;
    }
    if (ch == 0)
        *out = (struct key){' ', KEY_MOD_CTRL};
    else if (ch <= 26)
        *out = (struct key){(uint32_t)ch + 0x60, KEY_MOD_CTRL};
    else if (ch < 0x20)
        *out = (struct key){(uint32_t)ch + 0x40, KEY_MOD_CTRL};
    return ch < KEYS_FIRST && (ch < 0x80 || ch >= 0xa0);
}
