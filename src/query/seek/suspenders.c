/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "suspenders.h"

#include <stdio.h>
#include <string.h>

#include "beamtop/base/attr.h"
#include "beamtop/base/text.h"
#include "beamtop/etf/print.h"
#include "query/native/args.h"
#include "query/native/values.h"
#include "query/who/who.h"
#include "query/who/who_terms.h"
#include "seek.h"

#define FOUND_MOST 20
#define AGAIN_MS 30000 /* until all are gone through once more, while it is the same process */
#define SOON_MS 5000   /* where it was not suspended in between */
#define READ_US 10.0   /* each; measured 1 to 4 */
#define COLUMNS 7      /* as suspenders_fields of the model has them */

struct suspenders_read {
    struct seek seek;
    struct who_node node;
    uint64_t now_ms;
    struct buf name;     /* of the argument; len 0: it is the pid */
    struct etf_pid pid;  /* the one that is suspended */
    bool is_pid;         /* it is known */
    bool is_suspended;   /* it is, now */
    bool seeks;          /* this question goes through the processes */
    bool was_free;       /* it has been, since they were gone through */
    struct etf_pid last; /* of which the found are */
    uint64_t sought_ms;  /* 0: never */
    struct {
        struct etf_pid pid;
        int64_t times;
    } found[FOUND_MOST];
    size_t n_found;
};

/* ---- the process */

/* As in `process`: a name makes no atom there. */
static void add_whereis(struct run_calls *calls, const char *name, size_t len)
{
    struct builder *b = builder_new();
    build_list(b, 2);
    build_binary(b, name, len);
    build_atom(b, "utf8");
    build_nil(b);
    const struct args_call atom = {"erlang", "binary_to_existing_atom", 2, NULL, b};
    run_add(calls, "lists", "foldl", args_of_calls("erlang", "whereis", 1, &atom, 1));
}

static bool ask_pid(void *own, struct run_calls *calls)
{
    const struct suspenders_read *r = own;
    const char *name = (const char *)r->name.data;
    if (r->is_pid)
        return false;
    if (r->name.len > 0 && name[0] != '<') {
        add_whereis(calls, name, r->name.len);
        return true;
    }
    struct builder *b = builder_new();
    build_list(b, 1);
    build_string(b, name, r->name.len);
    build_nil(b);
    run_add(calls, "erlang", "list_to_pid", b);
    return true;
}

/* MyApp.Repo is the module of Elixir, unless a process has that very name. */
static bool ask_alias(void *own, struct run_calls *calls)
{
    struct suspenders_read *r = own;
    struct buf alias;
    if (r->is_pid || r->name.len == 0 || !text_is_capital(r->name.data[0]))
        return false;
    buf_init(&alias, 0);
    buf_printf(&alias, "Elixir.%s", buf_cstr(&r->name));
    add_whereis(calls, (const char *)alias.data, alias.len);
    buf_clear(&alias);
    return true;
}

static void take_pid(void *own, const struct slice *values, size_t n)
{
    struct suspenders_read *r = own;
    r->is_pid = values && n == 1 && who_read_pid(values[0], &r->node, &r->pid);
}

static bool ask_status(void *own, struct run_calls *calls)
{
    const struct suspenders_read *r = own;
    if (r->is_pid)
        run_add(calls, "erlang", "process_info", args_of_info(r->node.name, &r->pid, "status"));
    return r->is_pid;
}

static void take_status(void *own, const struct slice *values, size_t n)
{
    struct suspenders_read *r = own;
    struct slice parts[2];
    r->is_suspended = values && n == 1 && values_read_tuple(values[0], 2, parts, 2) &&
                      who_term_is(parts[1], "suspended");
    r->was_free |= !r->is_suspended;
    r->seeks = r->is_suspended &&
               (r->sought_ms == 0 || !pid_same(&r->last, &r->pid) ||
                r->now_ms - r->sought_ms >= (uint64_t)(r->was_free ? SOON_MS : AGAIN_MS));
    if (!r->seeks)
        return;
    r->last = r->pid;
    r->sought_ms = r->now_ms;
    r->was_free = false;
    r->n_found = 0;
    seek_begin(&r->seek, r->node.name);
}

/* ---- who suspends it */

static bool ask_suspenders_list(void *own, struct run_calls *calls)
{
    struct suspenders_read *r = own;
    if (r->seeks)
        seek_add_list(&r->seek, calls);
    return r->seeks;
}

static void take_suspenders_list(void *own, const struct slice *values, size_t n)
{
    struct suspenders_read *r = own;
    seek_take_list(&r->seek, values, n);
}

/* lists:zipwith3(fun lists:keyfind/3, [Pid, …], [1, …], Lists): the lists stay on the node. */
static void add_finds(const struct suspenders_read *r, struct run_calls *calls)
{
    const struct seek *s = &r->seek;
    struct builder *pid = builder_new();
    build_pid(pid, r->node.name, &r->pid);
    const struct args_call inner[] = {
        args_fun_call("lists", "keyfind", 3), args_repeated_call(s->n_out, pid),
        args_repeated_call(s->n_out, args_of_text("1")),
        args_composed_call(args_of_matches(
            s->node, s->out, s->n_out, "suspending",
            args_of_text("[[{{suspending,'$1'},[{is_list,'$1'}],['$1']},{'_',[],[[]]}]]")))};
    run_add(calls, "lists", "foldl",
            args_of_calls("lists", "zipwith3", 4, inner, ARRAY_LEN(inner)));
    calls->most_us = PRICE_BATCH_US + READ_US * (double)s->n_out;
    calls->ends_ms = SEEK_LATE_MS;
}

static bool ask_waiting(void *own, struct run_calls *calls)
{
    struct suspenders_read *r = own;
    if (!r->seeks || !seek_next(&r->seek, false, calls))
        return false;
    if (r->seek.phase == SEEK_WAITING)
        add_finds(r, calls);
    return true;
}

static bool ask_running(void *own, struct run_calls *calls)
{
    struct suspenders_read *r = own;
    if (!r->seeks || !seek_next(&r->seek, true, calls))
        return false;
    add_finds(r, calls);
    return true;
}

/* {Pid, Active, Outstanding}, or `false`. */
static void take_find(struct suspenders_read *r, const struct etf_pid *by, struct slice value)
{
    struct slice parts[3];
    if (r->n_found == FOUND_MOST || !values_read_tuple(value, 3, parts, 3))
        return;
    r->found[r->n_found].pid = *by;
    r->found[r->n_found++].times = values_add(values_count(parts[1]), values_count(parts[2]));
}

static void take_finds(void *own, const struct slice *values, size_t n)
{
    struct suspenders_read *r = own;
    struct cursor c;
    struct slice each;
    size_t count;
    if (n == 0) {
        seek_give_up(&r->seek);
        return;
    }
    if (!seek_take(&r->seek, values) || !values_enter_list(values[0], &c, &count) ||
        count != r->seek.n_out)
        return;
    r->seek.read += (int64_t)count;
    for (size_t i = 0; i < count && cursor_raw(&c, &each); i++)
        take_find(r, &r->seek.out[i], each);
}

/* ---- the answer */

static void build_found(struct builder *b, const struct suspenders_read *r, size_t i,
                        const struct stepped_who *who)
{
    const bool is_found = i < r->n_found;
    const struct etf_pid *by = is_found ? &r->found[i].pid : &r->pid;
    char id[40];
    snprintf(id, sizeof id, PID_FORMAT, PID_NUMBERS(by));
    build_tuple(b, COLUMNS);
    build_binary(b, is_found ? id : "nobody", strlen(is_found ? id : "nobody"));
    values_build_pid(b, r->node.name, true, &r->pid);
    values_build_pid(b, r->node.name, is_found, by);
    who_build_shown(b, is_found ? who->find(who->arg, by) : NULL);
    build_known_int(b, is_found ? r->found[i].times : -1);
    build_int(b, r->seek.read);
    build_known_int(b, r->seek.processes);
}

/* Of a suspended process one row for each that holds it, or one that says how many were read. */
static void build_suspenders(struct builder *b, void *read, int64_t mono_ns,
                             const struct stepped_who *who)
{
    const struct suspenders_read *r = read;
    const size_t n = !r->is_suspended ? 0 : r->n_found > 0 ? r->n_found : 1;
    build_tuple(b, 4);
    build_atom(b, "suspenders");
    build_int(b, mono_ns);
    build_list(b, n);
    for (size_t i = 0; i < n; i++)
        build_found(b, r, i, who);
    build_nil(b);
    build_bool(b, n > 0 && (r->seek.processes < 0 || r->seek.read < r->seek.processes));
}

/* ---- the question */

static const struct run_step steps[] = {
    {ask_pid, take_pid, 0, false},
    {ask_alias, take_pid, 0, false},
    {ask_status, take_status, 0, false},
    {ask_suspenders_list, take_suspenders_list, 0, false},
    {ask_waiting, take_finds, SEEK_LATE_MS, true},
    {ask_running, take_finds, SEEK_LATE_MS, true},
};

static void init_suspenders(void *read)
{
    struct suspenders_read *r = read;
    buf_init(&r->name, 0);
    seek_init(&r->seek);
}

/* {Pid | Name, _}, as of `process`. */
static bool take_argument(void *read, const uint8_t *arg, size_t len)
{
    struct suspenders_read *r = read;
    struct cursor c;
    struct slice name, node;
    buf_reset(&r->name);
    cursor_init(&c, arg, len);
    const bool is_pair = cursor_tuple_of(&c, 2);
    r->is_pid = is_pair && cursor_kind(&c) == ETF_KIND_PID && cursor_pid(&c, &r->pid, &node);
    if (is_pair && !r->is_pid && cursor_binary(&c, &name))
        buf_put(&r->name, name.s, name.len);
    return true;
}

static void begin_suspenders(void *read, const struct stepped_now *now)
{
    struct suspenders_read *r = read;
    r->node = (struct who_node){.name = now->node, .creation = now->creation};
    r->now_ms = now->ms;
    r->is_pid = r->is_pid && r->name.len == 0; /* a name is another's by now, perhaps */
    r->is_suspended = r->seeks = false;
}

static size_t find_suspenders(void *read, struct etf_pid *out)
{
    const struct suspenders_read *r = read;
    for (size_t i = 0; r->is_suspended && i < r->n_found; i++)
        out[i] = r->found[i].pid;
    return r->is_suspended ? r->n_found : 0;
}

static void clear_suspenders(void *read)
{
    struct suspenders_read *r = read;
    buf_clear(&r->name);
    seek_clear(&r->seek);
}

const struct stepped suspenders_question = {
    .question = QUESTION_SUSPENDERS,
    .bytes = sizeof(struct suspenders_read),
    .steps = steps,
    .n_steps = ARRAY_LEN(steps),
    .init = init_suspenders,
    .takes = take_argument,
    .begin = begin_suspenders,
    .whom = find_suspenders,
    .build = build_suspenders,
    .clear = clear_suspenders,
};
