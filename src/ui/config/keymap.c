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
    enum context kind; /* its keys hold here too; CONTEXT_GLOBAL: none */
} contexts[CONTEXTS] = {
    [CONTEXT_GLOBAL] = {"global", "everywhere but in the prompt", WHERE_LIST, CONTEXT_GLOBAL},
    [CONTEXT_TABLE] = {"table", "in lists", WHERE_TABLE, CONTEXT_GLOBAL},
    [CONTEXT_PROCESSES] = {"processes", "in the list of processes", WHERE_TABLE, CONTEXT_TABLE},
    [CONTEXT_DOC] = {"doc", "in pages of text", WHERE_DOC, CONTEXT_GLOBAL},
    [CONTEXT_TRACE] = {"trace", "among the events of a trace", WHERE_TRACE | WHERE_DOC,
                       CONTEXT_DOC},
    [CONTEXT_PICKER] = {"picker", "while choosing", WHERE_PICKER, CONTEXT_GLOBAL},
    [CONTEXT_PROMPT] = {"prompt", "while typing a line", WHERE_PROMPT, CONTEXT_GLOBAL},
};

const char *context_name(enum context context)
{
    return contexts[context].name;
}

const char *context_help(enum context context)
{
    return contexts[context].help;
}

enum context context_kind(enum context context)
{
    return contexts[context].kind;
}

int context_find(const char *name, size_t len)
{
    for (int i = 0; i < CONTEXTS; i++)
        if (strlen(contexts[i].name) == len && strncmp(contexts[i].name, name, len) == 0)
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

static struct binding *find_binding(const struct keymap *km, enum context context, struct key key)
{
    for (size_t i = 0; i < km->len; i++)
        if (km->bindings[i].context == context && key_equal(km->bindings[i].key, key))
            return &km->bindings[i];
    return NULL;
}

static int check_bind(enum context context, enum action action, const char *arg, struct error *err)
{
    const struct action_row *row = &action_table[action];
    if (!(row->where & contexts[context].where))
        return error_set(err, ERR_USAGE, "%s means nothing %s", row->name, contexts[context].help);
    if (row->args[0] == '\0' && arg[0] != '\0')
        return error_set(err, ERR_USAGE, "%s takes nothing", row->name);
    if (row->needs_arg && arg[0] == '\0')
        return error_set(err, ERR_USAGE, "%s needs %s", row->name, row->args);
    return 0;
}

int keymap_bind(struct keymap *km, enum context context, struct key key, enum action action,
                const char *arg, struct error *err)
{
    int rc = check_bind(context, action, arg, err);
    if (rc < 0)
        return rc;
    struct binding *b = find_binding(km, context, key);
    if (!b) {
        if (km->len == LIMIT_BINDINGS)
            return error_set(err, ERR_LIMIT, "more than %d keys are bound", LIMIT_BINDINGS);
        km->bindings = alloc_resize(km->bindings, km->len + 1, sizeof *km->bindings);
        b = &km->bindings[km->len++];
        b->arg = NULL;
    }
    char *copy = alloc_strdup(arg);
    free(b->arg);
    *b = (struct binding){context, key, action, copy};
    return 0;
}

bool keymap_unbind(struct keymap *km, enum context context, struct key key)
{
    struct binding *b = find_binding(km, context, key);
    if (!b)
        return false;
    free(b->arg);
    size_t after = km->len - (size_t)(b - km->bindings) - 1;
    memmove(b, b + 1, after * sizeof *b);
    km->len--;
    return true;
}

const struct binding *keymap_lookup(const struct keymap *km, enum context context, struct key key)
{
    const struct binding *b = find_binding(km, context, key);
    if (!b && contexts[context].kind != CONTEXT_GLOBAL)
        b = find_binding(km, contexts[context].kind, key);
    return b || context == CONTEXT_PROMPT ? b : find_binding(km, CONTEXT_GLOBAL, key);
}

size_t keymap_keys_of(const struct keymap *km, enum context context, enum action action,
                      const char *arg, char *out, size_t size)
{
    size_t n = 0;
    size_t used = 0;
    char text[KEY_TEXT_BYTES];
    out[0] = '\0';
    for (size_t i = 0; i < km->len; i++) {
        const struct binding *b = &km->bindings[i];
        if (b->action != action || (arg && strcmp(arg, b->arg) != 0) ||
            keymap_lookup(km, context, b->key) != b) /* not what the key does here */
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

bool keymap_first_key_of(const struct keymap *km, enum context context, enum action action,
                         const char *arg, char *out, size_t size)
{
    out[0] = '\0';
    if (!km || keymap_keys_of(km, context, action, arg, out, size) == 0)
        return false;
    if (out[0])
        out[1 + strcspn(out + 1, ",")] = '\0'; /* the key may be a comma */
    return out[0] != '\0';
}
