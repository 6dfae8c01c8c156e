/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "old_code.h"

#include <stdio.h>
#include <string.h>

#include "beamtop/base/attr.h"
#include "beamtop/etf/print.h"
#include "query/native/args.h"
#include "query/native/values.h"
#include "query/who/who.h"
#include "query/who/who_terms.h"
#include "seek.h"

#define FOUND_MOST 500
#define STACK_WORDS                                                                                \
    "100000"           /* of one that is checked: 0.5 ms at most, measured 3 to 5 ns a word        \
                        */
#define CHECK_US 150.0 /* each; measured 35 to 90, most of it until it is scheduled */
#define COLUMNS 8      /* as old_code_fields of the model has them */

struct old_code_read {
    struct seek seek;
    struct who_node node;
    struct buf module; /* a name */
    bool has_old;
    int64_t n_old; /* of them, the first FOUND_MOST are found */
    struct etf_pid found[FOUND_MOST];
    size_t n_found;
};

static struct args_call call_text(const char *module, const char *function, unsigned arity,
                                  struct builder *args)
{
    return (struct args_call){module, function, arity, NULL, args};
}

/* erlang:check_old_code(binary_to_existing_atom(Module, utf8)): no atom is made there. */
static bool ask_old(void *own, struct run_calls *calls)
{
    const struct old_code_read *r = own;
    struct builder *b = builder_new();
    build_list(b, 2);
    build_binary(b, (const char *)r->module.data, r->module.len);
    build_atom(b, "utf8");
    build_nil(b);
    const struct args_call atom = call_text("erlang", "binary_to_existing_atom", 2, b);
    run_add(calls, "lists", "foldl", args_of_calls("erlang", "check_old_code", 1, &atom, 1));
    return true;
}

static void take_old(void *own, const struct slice *values, size_t n)
{
    struct old_code_read *r = own;
    r->has_old = values && n == 1 && who_term_is(values[0], "true");
}

static bool ask_old_list(void *own, struct run_calls *calls)
{
    struct old_code_read *r = own;
    if (r->has_old)
        seek_add_list(&r->seek, calls);
    return r->has_old;
}

static void take_old_list(void *own, const struct slice *values, size_t n)
{
    struct old_code_read *r = own;
    seek_take_list(&r->seek, values, n);
}

/* ---- checks */

/* lists:zip(Pids, [process_info(Pid, stack_size), …]) */
static struct args_call zip_stacks(const struct seek *s)
{
    struct builder *pids = builder_new(), *item = args_of_text("stack_size");
    build_list(pids, 1); /* arguments of hd/1 … */
    build_list(pids, 1); /* … of which this is the first */
    build_list(pids, s->n_out);
    for (size_t i = 0; i < s->n_out; i++)
        build_pid(pids, s->node, &s->out[i]);
    build_nil(pids);
    build_nil(pids);
    build_nil(pids);
    const struct args_call inner[] = {
        call_text("erlang", "hd", 1, pids),
        call_text("lists", "zipwith", 3, args_of_infos(s->node, s->out, s->n_out, item))};
    builder_free(item);
    return args_composed_call(args_of_calls("lists", "zip", 2, inner, ARRAY_LEN(inner)));
}

/* Its pid, or that of the ask's process where its stack is too large to be walked through:
 * [{{'$1',{stack_size,'$2'}},[{'<','$2',N}],[['$1',Module,Options]]},{'_',[],[[{self},…]]}] */
static struct builder *build_choice(const char *module)
{
    static const char *const heads[] = {
        "{'$1',{stack_size,'$2'}}",
        "'_'",
    };
    static const char *const guards[] = {"[{'<','$2'," STACK_WORDS "}]", "[]"};
    static const char *const pids[] = {"'$1'", "{self}"};
    struct builder *b = builder_new();
    build_list(b, ARRAY_LEN(heads));
    for (size_t i = 0; i < ARRAY_LEN(heads); i++) {
        build_tuple(b, 3);
        args_build_text(b, heads[i]);
        args_build_text(b, guards[i]);
        build_list(b, 1);
        build_list(b, 3);
        args_build_text(b, pids[i]);
        build_tuple(b, 2);
        build_atom(b, "const");
        build_atom(b, module);
        args_build_text(b, "{const,[{allow_gc,false}]}");
        build_nil(b);
        build_nil(b);
    }
    build_nil(b);
    return b;
}

/* Each does it itself, when it is next scheduled; then which stacks were too large. */
static void add_checks(struct old_code_read *r, struct run_calls *calls)
{
    struct seek *s = &r->seek;
    struct builder *check = builder_new();
    build_export(check, "erlang", "check_process_code", 3);
    const struct args_call inner[] = {
        args_fun_call("erlang", "apply", 2), args_repeated_call(s->n_out, check),
        args_composed_call(args_of_filter(zip_stacks(s), build_choice(buf_cstr(&r->module))))};
    run_add(calls, "lists", "foldl", args_of_calls("lists", "zipwith", 3, inner, ARRAY_LEN(inner)));
    run_add(calls, "lists", "foldl",
            args_of_matches(
                s->node, s->out, s->n_out, "stack_size",
                args_of_text("[[{{stack_size,'$1'},[{'>=','$1'," STACK_WORDS "}],[true]}]]")));
    calls->most_us = PRICE_BATCH_US + CHECK_US * (double)s->n_out;
    calls->ends_ms = SEEK_LATE_MS;
}

static bool ask_waiting(void *own, struct run_calls *calls)
{
    struct old_code_read *r = own;
    if (!r->has_old || !seek_next(&r->seek, false, calls))
        return false;
    if (r->seek.phase == SEEK_WAITING)
        add_checks(r, calls);
    return true;
}

static bool ask_running(void *own, struct run_calls *calls)
{
    struct old_code_read *r = own;
    if (!r->has_old || !seek_next(&r->seek, true, calls))
        return false;
    add_checks(r, calls);
    return true;
}

static void take_checks(void *own, const struct slice *values, size_t n)
{
    struct old_code_read *r = own;
    struct cursor c, deep;
    struct slice each;
    size_t count, n_deep = 0;
    if (n == 0) {
        seek_give_up(&r->seek);
        return;
    }
    if (!seek_take(&r->seek, values) || !values_enter_list(values[0], &c, &count) ||
        count != r->seek.n_out || !values_enter_list(values[1], &deep, &n_deep))
        return;
    r->seek.read += (int64_t)(n_deep < count ? count - n_deep : 0);
    for (size_t i = 0; i < count && cursor_raw(&c, &each); i++) {
        if (!who_term_is(each, "true"))
            continue;
        r->n_old++;
        if (r->n_found < FOUND_MOST)
            r->found[r->n_found++] = r->seek.out[i];
    }
}

/* ---- the answer */

/* i: of the found; past them: what all have. */
static void build_old_row(struct builder *b, const struct old_code_read *r, size_t i,
                          const struct stepped_who *who)
{
    const bool is_one = i < r->n_found;
    const struct etf_pid none = {0}, *pid = is_one ? &r->found[i] : &none;
    char id[40] = "all";
    if (is_one)
        snprintf(id, sizeof id, PID_FORMAT, PID_NUMBERS(pid));
    build_tuple(b, COLUMNS);
    build_binary(b, id, strlen(id));
    build_binary(b, (const char *)r->module.data, r->module.len);
    build_bool(b, r->has_old);
    values_build_pid(b, r->node.name, is_one, pid);
    who_build_shown(b, is_one ? who->find(who->arg, pid) : NULL);
    build_int(b, is_one ? 1 : r->n_old);
    build_known_int(b, is_one || !r->has_old ? -1 : r->seek.read);
    build_known_int(b, is_one || !r->has_old ? -1 : r->seek.processes);
}

static void build_old_code(struct builder *b, void *read, int64_t mono_ns,
                           const struct stepped_who *who)
{
    const struct old_code_read *r = read;
    build_tuple(b, 4);
    build_atom(b, "old_code");
    build_int(b, mono_ns);
    build_list(b, r->n_found + 1);
    build_old_row(b, r, r->n_found, who);
    for (size_t i = 0; i < r->n_found; i++)
        build_old_row(b, r, i, who);
    build_nil(b);
    build_bool(b, r->has_old && (r->seek.read < r->seek.processes || r->seek.processes < 0));
}

/* ---- the question */

static const struct run_step steps[] = {
    {ask_old, take_old, 0, false},
    {ask_old_list, take_old_list, 0, false},
    {ask_waiting, take_checks, SEEK_LATE_MS, true},
    {ask_running, take_checks, SEEK_LATE_MS, true},
};

static void init_old_code(void *read)
{
    struct old_code_read *r = read;
    buf_init(&r->module, 0);
    seek_init(&r->seek);
}

static bool take_module(void *read, const uint8_t *arg, size_t len)
{
    struct old_code_read *r = read;
    struct cursor c;
    struct slice module = {0};
    buf_reset(&r->module);
    cursor_init(&c, arg, len);
    if (cursor_binary(&c, &module))
        buf_put(&r->module, module.s, module.len);
    return true;
}

static void begin_old_code(void *read, const struct stepped_now *now)
{
    struct old_code_read *r = read;
    r->node = (struct who_node){.name = now->node, .creation = now->creation};
    r->has_old = false;
    r->n_old = 0;
    r->n_found = 0;
    seek_begin(&r->seek, now->node);
}

static size_t find_old(void *read, struct etf_pid *out)
{
    const struct old_code_read *r = read;
    memcpy(out, r->found, r->n_found * sizeof *out);
    return r->n_found;
}

static void clear_old_code(void *read)
{
    struct old_code_read *r = read;
    buf_clear(&r->module);
    seek_clear(&r->seek);
}

const struct stepped old_code_question = {
    .question = QUESTION_OLD_CODE,
    .bytes = sizeof(struct old_code_read),
    .steps = steps,
    .n_steps = ARRAY_LEN(steps),
    .init = init_old_code,
    .takes = take_module,
    .begin = begin_old_code,
    .whom = find_old,
    .build = build_old_code,
    .clear = clear_old_code,
};
