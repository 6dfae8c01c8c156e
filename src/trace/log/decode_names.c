/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Answers with the names of processes, and with the fields of records. */
#include "beamtop/model/samples.h"
#include "decode.h"

int decode_names(names_fn *fn, void *arg, const uint8_t *term, size_t len, struct error *err)
{
    const struct process_who *who = NULL;
    struct arena arena;
    size_t n = 0;
    arena_init(&arena);
    int rc = process_who_decode(&who, &n, &arena, term, len, err);
    for (size_t i = 0; rc == 0 && i < n; i++)
        fn(arg, &who[i].pid, who[i].name);
    arena_clear(&arena);
    return rc;
}

static bool read_record(struct cursor *c, records_fn *fn, void *arg)
{
    struct slice module, name, missing = {NULL, 0}, fields[LIMIT_TRACE_FIELDS];
    if (!cursor_tuple_of(c, 3) || !cursor_binary(c, &module) || !cursor_binary(c, &name))
        return false;
    if (cursor_kind(c) == ETF_KIND_TUPLE) {
        bool ok =
            cursor_tuple_of(c, 2) && cursor_atom_is(c, "missing") && cursor_binary(c, &missing);
        if (ok)
            fn(arg, module, name, NULL, 0, missing);
        return ok;
    }
    struct cursor_list list;
    if (!answer_list(c, &list, SIZE_MAX))
        return false;
    if (list.count > LIMIT_TRACE_FIELDS)
        return cursor_fail(c, "fewer fields");
    for (size_t i = 0; i < list.count; i++)
        if (!cursor_binary(c, &fields[i]))
            return false;
    if (!cursor_list_end(c, &list))
        return false;
    fn(arg, module, name, fields, list.count, missing);
    return true;
}

int decode_records(records_fn *fn, void *arg, const uint8_t *term, size_t len, struct error *err)
{
    struct cursor c;
    struct cursor_list list;
    cursor_init(&c, term, len);
    bool ok =
        cursor_tuple_of(&c, 2) && cursor_atom_is(&c, "records") && answer_list(&c, &list, SIZE_MAX);
    for (size_t i = 0; ok && i < list.count; i++)
        ok = read_record(&c, fn, arg);
    return cursor_end(&c, ok && cursor_list_end(&c, &list), "records", err);
}
