/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "beamtop/ui/key.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "beamtop/base/attr.h"

/* The first name of a code is the one printed. */
static const struct {
    const char *name;
    uint32_t code;
} key_names[] = {
    {"Enter", KEYS_ENTER},    {"Return", KEYS_ENTER},   {"Tab", KEYS_TAB},
    {"Esc", KEYS_ESC},        {"Escape", KEYS_ESC},     {"Backspace", KEYS_BACKSPACE},
    {"BS", KEYS_BACKSPACE},   {"Delete", KEYS_DELETE},  {"Del", KEYS_DELETE},
    {"Insert", KEYS_INSERT},  {"Ins", KEYS_INSERT},     {"Up", KEYS_UP},
    {"Down", KEYS_DOWN},      {"Left", KEYS_LEFT},      {"Right", KEYS_RIGHT},
    {"Home", KEYS_HOME},      {"End", KEYS_END},        {"PgUp", KEYS_PAGE_UP},
    {"PageUp", KEYS_PAGE_UP}, {"PgDn", KEYS_PAGE_DOWN}, {"PageDown", KEYS_PAGE_DOWN},
    {"F10", KEYS_F1 + 9},     {"F11", KEYS_F1 + 10},    {"F12", KEYS_F12},
    {"F1", KEYS_F1},          {"F2", KEYS_F1 + 1},      {"F3", KEYS_F1 + 2},
    {"F4", KEYS_F1 + 3},      {"F5", KEYS_F1 + 4},      {"F6", KEYS_F1 + 5},
    {"F7", KEYS_F1 + 6},      {"F8", KEYS_F1 + 7},      {"F9", KEYS_F1 + 8},
    {"Space", ' '},
};

static const struct {
    char letter;
    uint8_t mod;
} key_mods[] = {{'C', KEY_MOD_CTRL}, {'M', KEY_MOD_META}, {'S', KEY_MOD_SHIFT}};

size_t key_char_decode(const char *s, size_t len, uint32_t *code)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    if (len == 0)
        return 0;
    unsigned char first = (unsigned char)s[0];
    size_t need = first < 0x80 ? 1 : first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
    if (need > len || (first >= 0x80 && first < 0xc2) || first > 0xf4)
        return 0;
    uint32_t c = need == 1 ? first : first & (0x7fu >> need);
    for (size_t i = 1; i < need; i++) {
        unsigned char next = (unsigned char)s[i];
        if ((next & 0xc0) != 0x80)
            return 0;
        c = c << 6 | (next & 0x3f);
    }
    if (c < least[need] || c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff))
        return 0;
    *code = c;
    return need;
}

size_t key_char_encode(uint32_t code, char out[4])
{
    if (code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff))
        return 0;
    size_t n = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    static const unsigned char lead[] = {0, 0, 0xc0, 0xe0, 0xf0};
    for (size_t i = n; i-- > 1;) {
        out[i] = (char)(0x80 | (code & 0x3f));
        code >>= 6;
    }
    out[0] = (char)(lead[n] | code);
    return n;
}

static bool name_to_code(const char *name, size_t len, uint32_t *code)
{
    size_t used = key_char_decode(name, len, code);
    if (used > 0 && used == len && *code >= 0x20 && *code != 0x7f)
        return true;
    if (len >= 3 && name[0] == '<' && name[len - 1] == '>') {
        name++;
        len -= 2;
    }
    for (size_t i = 0; i < ARRAY_LEN(key_names); i++) {
        if (strlen(key_names[i].name) == len && strncasecmp(key_names[i].name, name, len) == 0) {
            *code = key_names[i].code;
            return true;
        }
    }
    return false;
}

/* The form that a terminal can send: C-i is Tab, C-A is C-a, S-a is A. */
static struct key sendable_key(struct key key)
{
    static const struct {
        uint32_t letter, code;
    } same[] = {{'i', KEYS_TAB}, {'m', KEYS_ENTER}, {'[', KEYS_ESC}};
    bool letter = key.code < 0x80 && ((key.code | 0x20) >= 'a' && (key.code | 0x20) <= 'z');
    if (letter && (key.mods & KEY_MOD_CTRL))
        key.code |= 0x20;
    else if (letter && (key.mods & KEY_MOD_SHIFT))
        key.code &= ~0x20u;
    if (key.code < KEYS_FIRST)
        key.mods &= (uint8_t)~KEY_MOD_SHIFT;
    for (size_t i = 0; i < ARRAY_LEN(same); i++) {
        if ((key.mods & KEY_MOD_CTRL) && key.code == same[i].letter) {
            key.code = same[i].code;
            key.mods &= (uint8_t)~KEY_MOD_CTRL;
        }
    }
    return key;
}

static uint8_t mod_of(char letter)
{
    for (size_t i = 0; i < ARRAY_LEN(key_mods); i++)
        if (key_mods[i].letter == letter)
            return key_mods[i].mod;
    return 0;
}

bool key_parse(const char *name, size_t len, struct key *out)
{
    struct key key = {0};
    bool wrapped = len >= 5 && name[0] == '<' && name[2] == '-' && name[len - 1] == '>';
    if (wrapped && mod_of(name[1])) { /* <C-Up> as well as C-<Up> */
        name++;
        len -= 2;
    }
    while (len > 2 && name[1] == '-' && mod_of(name[0])) {
        key.mods |= mod_of(name[0]);
        name += 2;
        len -= 2;
    }
    if (!name_to_code(name, len, &key.code))
        return false;
    *out = sendable_key(key);
    return true;
}

char *key_format(struct key key, char out[KEY_TEXT_BYTES])
{
    char text[16] = "";
    const char *name = NULL;
    for (size_t i = 0; i < ARRAY_LEN(key_names) && !name; i++)
        if (key_names[i].code == key.code)
            name = key_names[i].name;
    if (name)
        snprintf(text, sizeof text, "<%s>", name);
    else
        text[key_char_encode(key.code, text)] = '\0';
    snprintf(out, KEY_TEXT_BYTES, "%s%s%s%s", key.mods & KEY_MOD_CTRL ? "C-" : "",
             key.mods & KEY_MOD_META ? "M-" : "", key.mods & KEY_MOD_SHIFT ? "S-" : "", text);
    return out;
}

bool key_equal(struct key a, struct key b)
{
    return a.code == b.code && a.mods == b.mods;
}
