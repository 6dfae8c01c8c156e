/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Questions of a prompt to the target, one at a time. */
#include "beamtop/trace/assist.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "beamtop/base/alloc.h"
#include "beamtop/base/limits.h"
#include "assist_internal.h"

#define ASK_MS 5000
#define OLD_NS (60u * UINT64_C(1000000000)) /* names are asked for again at the next line */

static void assist_changed(struct assist *a)
{
    if (a->on_change)
        a->on_change(a->arg);
}

/* ---- answers */

static void take_functions(struct assist *a, const struct answer *answer)
{
    struct error ignored = {0}; /* what is not known is not completed */
    if (answer->err.code == ERR_NONE)
        (void)names_take(a->names, answer->value, answer->len, &ignored);
}

static void take_records(struct assist *a, const struct answer *answer)
{
    struct error err = answer->err;
    if (err.code == ERR_NONE)
        (void)record_store_take(&a->records, answer->value, answer->len, &err);
    if (err.code == ERR_NONE || !a->typed.pending)
        return;
    a->typed.pending = false; /* else it would be asked for again and again */
    a->line.known = true;
    snprintf(a->line.text, sizeof a->line.text, "unknown: %.300s", err.text);
}

static void on_assist_answer(void *arg, const struct answer *answer)
{
    struct assist *a = arg;
    enum assist_question asked = a->asked;
    a->asked = ASSIST_NONE;
    if (asked == ASSIST_MODULES || asked == ASSIST_FUNCTIONS || asked == ASSIST_WHO)
        take_functions(a, answer);
    else if (asked == ASSIST_RECORDS)
        take_records(a, answer);
    else if (asked == ASSIST_MATCH && a->asked_for == a->looked)
        typed_matched(a, answer);
    typed_near(a);
    assist_pump(a);
    assist_changed(a);
}

/* ---- questions */

static void ask_node(struct assist *a, enum assist_question which, enum question question,
                     struct builder *arg)
{
    struct error err = {0};
    if (a->port.ask(a->port.ctx, question, arg, ASK_MS, on_assist_answer, a, &err) == 0)
        a->asked = which;
    builder_free(arg);
    if (a->asked == ASSIST_NONE && which >= ASSIST_RECORDS && a->typed.pending) {
        a->typed.pending = false;
        a->line.known = true;
        snprintf(a->line.text, sizeof a->line.text, "unknown: %.300s", err.text);
    }
}

static void ask_modules(struct assist *a)
{
    a->want_modules = false;
    ask_node(a, ASSIST_MODULES, QUESTION_FUNCTIONS, prepare_names_arg("modules"));
}

static void ask_who(struct assist *a)
{
    a->want_who = false;
    ask_node(a, ASSIST_WHO, QUESTION_FUNCTIONS, prepare_names_arg("who"));
}

static void ask_functions(struct assist *a)
{
    a->want_functions = false;
    ask_node(a, ASSIST_FUNCTIONS, QUESTION_FUNCTIONS, prepare_functions_arg(slice_of(a->module)));
}

static void ask_record(struct assist *a)
{
    const struct record_name name = {slice_of(a->record_module), slice_of(a->record), 0};
    a->want_record = false;
    if (!record_store_find(&a->records, name.module, name.name))
        ask_node(a, ASSIST_RECORDS, QUESTION_RECORDS, prepare_records_arg(&name, 1));
}

static void ask_match(struct assist *a)
{
    struct record_name names[PREPARE_RECORDS];
    size_t n = a->typed.records_asked ? 0 : typed_records(a, names, PREPARE_RECORDS);
    if (n > 0) {
        a->typed.records_asked = true;
        ask_node(a, ASSIST_RECORDS, QUESTION_RECORDS, prepare_records_arg(names, n));
        return;
    }
    typed_compile(a);
    if (!a->typed.pending)
        return;
    a->asked_for = a->looked;
    ask_node(a, ASSIST_MATCH, QUESTION_PREFLIGHT,
             prepare_preflight_arg(a->typed.patterns, a->typed.specs, a->typed.n, &a->typed.procs,
                                   &a->typed.request.caps, false));
    a->typed.pending = false;
}

void assist_pump(struct assist *a)
{
    if (!a->has_port)
        return;
    if (a->asked == ASSIST_NONE && a->want_functions)
        ask_functions(a);
    if (a->asked == ASSIST_NONE && a->want_record)
        ask_record(a);
    if (a->asked == ASSIST_NONE && a->want_who)
        ask_who(a);
    if (a->asked == ASSIST_NONE && a->want_modules)
        ask_modules(a);
    if (a->asked == ASSIST_NONE && a->typed.pending)
        ask_match(a);
}

/* ---- life */

static void forget_names(struct assist *a)
{
    names_free(a->names);
    record_store_clear(&a->records);
    a->names = names_new();
    record_store_init(&a->records);
    a->named_ns = 0;
}

struct assist *assist_new(void (*on_change)(void *arg), void *arg)
{
    struct assist *a = alloc_zero(1, sizeof *a);
    a->on_change = on_change;
    a->arg = arg;
    a->names = names_new();
    record_store_init(&a->records);
    return a;
}

void assist_free(struct assist *a)
{
    if (!a)
        return;
    typed_clear(&a->typed);
    names_free(a->names);
    record_store_clear(&a->records);
    free(a);
}

void assist_set_port(struct assist *a, const struct session_port *port)
{
    if (a->has_port)
        a->port.drop(a->port.ctx, a);
    a->asked = ASSIST_NONE;
    a->want_modules = a->want_who = a->want_functions = a->want_record = false;
    forget_names(a);
    a->has_port = port != NULL;
    if (port)
        a->port = *port;
}

void assist_begin(struct assist *a)
{
    if (!a->has_port)
        return;
    uint64_t now = a->port.now_ns(a->port.ctx);
    if (a->named_ns != 0 && now - a->named_ns < OLD_NS)
        return;
    forget_names(a);
    a->named_ns = now;
    a->want_modules = true;
    assist_pump(a);
}

/* ---- completion */

const struct names *assist_names(const struct assist *a)
{
    return a->names;
}

/* Whether names are known; those that are not are asked for. */
static bool has_names(struct assist *a, bool known, enum assist_question which, bool *want)
{
    if (known)
        return true;
    *want = *want || a->asked != which;
    assist_pump(a);
    return false;
}

bool assist_modules(struct assist *a)
{
    return has_names(a, names_has_modules(a->names), ASSIST_MODULES, &a->want_modules);
}

bool assist_who(struct assist *a)
{
    return has_names(a, names_has_who(a->names), ASSIST_WHO, &a->want_who);
}

bool assist_functions(struct assist *a, const char *module)
{
    if (names_known(a->names, slice_of(module)) != NAMES_UNKNOWN)
        return true;
    if (a->asked == ASSIST_FUNCTIONS && strcmp(a->module, module) == 0)
        return false;
    if (a->asked == ASSIST_FUNCTIONS && a->want_functions)
        return false;
    snprintf(a->module, sizeof a->module, "%s", module);
    a->want_functions = true;
    assist_pump(a);
    return false;
}

bool assist_fields(struct assist *a, const char *module, const char *record,
                   const struct slice **fields, size_t *n)
{
    const struct record_def *def =
        record_store_find(&a->records, slice_of(module), slice_of(record));
    *n = 0;
    if (def) {
        *fields = def->fields;
        *n = def->n_fields;
        return true;
    }
    if (*module == '\0')
        return false;
    snprintf(a->record_module, sizeof a->record_module, "%s", module);
    snprintf(a->record, sizeof a->record, "%s", record);
    a->want_record = true;
    assist_pump(a);
    return false;
}

bool assist_is_asking(const struct assist *a)
{
    return a->want_modules || a->want_who || a->want_functions || a->want_record ||
           (a->asked != ASSIST_NONE && a->asked != ASSIST_MATCH);
}
