/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "beamtop/ui/keymap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "beamtop/base/alloc.h"
#include "beamtop/base/limits.h"

static const struct {
    const char *name, *help;
    unsigned where;
} places[PLACES] = {
    [PLACE_GLOBAL] = {"global", "everywhere but in the prompt", WHERE_LIST},
    [PLACE_TABLE] = {"table", "in lists", WHERE_TABLE},
    [PLACE_DOC] = {"doc", "in pages of text", WHERE_DOC},
    [PLACE_TRACE] = {"trace", "among the events of a trace", WHERE_TRACE | WHERE_DOC},
    [PLACE_PICKER] = {"picker", "while choosing", WHERE_PICKER},
    [PLACE_PROMPT] = {"prompt", "while typing a line", WHERE_PROMPT},
};

const char *place_name(enum place place)
{
    return places[place].name;
}

const char *place_help(enum place place)
{
    return places[place].help;
}

int place_find(const char *name, size_t len)
{
    for (int i = 0; i < PLACES; i++)
        if (strlen(places[i].name) == len && strncmp(places[i].name, name, len) == 0)
            return i;
    return -1;
}

void keymap_init(struct keymap *km)
{
    *km = (struct keymap){0};
}

void keymap_clear(struct keymap *km)
{
    for (size_t i = 0; i < km->len; i++)
        free(km->bindings[i].arg);
    free(km->bindings);
    keymap_init(km);
}

static struct binding *find(const struct keymap *km, enum place place, struct key key)
{
    for (size_t i = 0; i < km->len; i++)
        if (km->bindings[i].place == place && key_equal(km->bindings[i].key, key))
            return &km->bindings[i];
    return NULL;
}

static int check(enum place place, enum action action, const char *arg, struct error *err)
{
    const struct action_row *row = &action_table[action];
    if (!(row->where & places[place].where))
        return error_set(err, ERR_USAGE, "%s means nothing %s", row->name, places[place].help);
    if (row->args[0] == '\0' && arg[0] != '\0')
        return error_set(err, ERR_USAGE, "%s takes nothing", row->name);
    if (row->needs_arg && arg[0] == '\0')
        return error_set(err, ERR_USAGE, "%s needs %s", row->name, row->args);
    return 0;
}

int keymap_bind(struct keymap *km, enum place place, struct key key, enum action action,
                const char *arg, struct error *err)
{
    int rc = check(place, action, arg, err);
    if (rc < 0)
        return rc;
    struct binding *b = find(km, place, key);
    if (!b) {
        if (km->len == LIMIT_BINDINGS)
            return error_set(err, ERR_LIMIT, "more than %d keys are bound", LIMIT_BINDINGS);
        km->bindings = alloc_resize(km->bindings, km->len + 1, sizeof *km->bindings);
        b = &km->bindings[km->len++];
        b->arg = NULL;
    }
    char *copy = alloc_strdup(arg);
    free(b->arg);
    *b = (struct binding){place, key, action, copy};
    return 0;
}

bool keymap_unbind(struct keymap *km, enum place place, struct key key)
{
    struct binding *b = find(km, place, key);
    if (!b)
        return false;
    free(b->arg);
    size_t after = km->len - (size_t)(b - km->bindings) - 1;
    memmove(b, b + 1, after * sizeof *b);
    km->len--;
    return true;
}

const struct binding *keymap_lookup(const struct keymap *km, enum place place, struct key key)
{
    const struct binding *b = find(km, place, key);
    if (!b && place == PLACE_TRACE)
        b = find(km, PLACE_DOC, key);
    return b || place == PLACE_PROMPT ? b : find(km, PLACE_GLOBAL, key);
}

size_t keymap_keys_of(const struct keymap *km, enum place place, enum action action,
                      const char *arg, char *out, size_t size)
{
    size_t n = 0;
    size_t used = 0;
    char text[KEY_TEXT_BYTES];
    out[0] = '\0';
    for (size_t i = 0; i < km->len; i++) {
        const struct binding *b = &km->bindings[i];
        bool in_reach = keymap_lookup(km, place, b->key) == b; /* not covered by the place's own */
        if (!in_reach || b->action != action || (arg && strcmp(arg, b->arg) != 0))
            continue;
        int len =
            snprintf(out + used, size - used, "%s%s", n > 0 ? ", " : "", key_format(b->key, text));
        if (len < 0 || (size_t)len >= size - used) {
            out[used] = '\0'; /* whole names only */
            return n;
        }
        used += (size_t)len;
        n++;
    }
    return n;
}
