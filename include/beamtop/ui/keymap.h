/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What keys do, in each context. `bind CONTEXT KEY ACTION [ARG]` of beamtop.conf fills it; the
 * defaults come from the embedded etc/beamtop.conf in the same way. Owned by
 * one screen. */
#ifndef BEAMTOP_UI_KEYMAP_H
#define BEAMTOP_UI_KEYMAP_H

#include <stdbool.h>
#include <stddef.h>

#include "beamtop/base/error.h"
#include "beamtop/ui/action.h"
#include "beamtop/ui/key.h"

enum context {
    CONTEXT_GLOBAL,
    CONTEXT_TABLE,
    CONTEXT_PROCESSES, /* the list of processes, a table too */
    CONTEXT_DOC,
    CONTEXT_TRACE,
    CONTEXT_PICKER,
    CONTEXT_PROMPT,
    CONTEXTS
};

struct binding {
    enum context context;
    struct key key;
    enum action action;
    char *arg; /* owned; "" when none */
};

struct keymap {
    struct binding *bindings; /* in the order of their making */
    size_t len;
};

void keymap_init(struct keymap *km); /* empty */
void keymap_clear(struct keymap *km);

const char *context_name(enum context context); /* "global", "table", "doc", "trace", … */
const char *context_help(enum context context);
/* The context whose keys hold there too; CONTEXT_GLOBAL: only those of every context. */
enum context context_kind(enum context context);
int context_find(const char *name, size_t len); /* enum context, or -1 */

/* Replaces what the key did there. ERR_USAGE: an argument that is missing or not taken, an action
   that means nothing there; ERR_LIMIT: too many bindings. */
int keymap_bind(struct keymap *km, enum context context, struct key key, enum action action,
                const char *arg, struct error *err);
bool keymap_unbind(struct keymap *km, enum context context,
                   struct key key); /* false: was not bound */

/* The binding of a key in a context, else the global one (not for the prompt, where the rest of
   the keys edit the line). The list of processes is a table too, a trace is a page of text: the
   keys of `table` and `doc` come between. NULL: none. Borrowed until the next change. */
const struct binding *keymap_lookup(const struct keymap *km, enum context context, struct key key);

/* "j, <Down>": the keys that do the action in the context, global ones included. Returns how many.
   arg NULL: any argument. */
size_t keymap_keys_of(const struct keymap *km, enum context context, enum action action,
                      const char *arg, char *out, size_t size);
/* The first of them. False: there is none, and out is "". km NULL: no keys are bound. */
bool keymap_first_key_of(const struct keymap *km, enum context context, enum action action,
                         const char *arg, char *out, size_t size);

#endif
