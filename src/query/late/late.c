/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "late.h"

#include <string.h>

#include "beamtop/base/attr.h"
#include "query/native/args.h"
#include "query/native/values.h"

/* delay_trap: the module `timer` may not be loaded. */
#define ANSWER_MS 50
#define ANSWER_WAIT "[true,50]"

static bool ask_online(void *own, struct run_calls *calls)
{
    (void)own;
    run_add_text(calls, "erlang", "system_info", "[schedulers_online]");
    return true;
}

static void take_online(void *own, const struct slice *values, size_t n)
{
    struct late_read *l = own;
    (void)n;
    if (!values || !values_read_integer(values[0], &l->online) || l->online < 1 ||
        l->online > LATE_SCHEDULERS)
        l->online = 0;
}

/* lists:zipwith(fun erlang:apply/2, [fun erlang:spawn_opt/4, …], [[erlang, exit, [N], Options],
 * …]): each is bound to its scheduler, and ends there with its number. What still waits there ends
 * with the process of the ask. */
static struct builder *spawn_args(int64_t n)
{
    struct builder *b = builder_new();
    char text[100];
    build_list(b, 3);
    build_export(b, "erlang", "apply", 2);
    build_list(b, (size_t)n);
    for (int64_t i = 0; i < n; i++)
        build_export(b, "erlang", "spawn_opt", 4);
    build_nil(b);
    build_list(b, (size_t)n);
    for (int64_t i = 1; i <= n; i++) {
        snprintf(text, sizeof text, "[erlang,exit,[%lld],[link,{priority,max},{scheduler,%lld}]]",
                 (long long)i, (long long)i);
        args_build_text(b, text);
    }
    build_nil(b);
    build_nil(b);
    return b;
}

static bool ask_each(void *own, struct run_calls *calls)
{
    const struct late_read *l = own;
    if (l->online == 0)
        return false;
    run_add_text(calls, "erlang", "process_flag", "[trap_exit,true]");
    run_add(calls, "lists", "zipwith", spawn_args(l->online));
    run_add_text(calls, "erlang", "delay_trap", ANSWER_WAIT);
    run_add(calls, "lists", "foldl", args_of_messages());
    calls->waited_us = ANSWER_MS * 1000.0;
    calls->waits = 1;
    return true;
}

/* {messages, [{'EXIT', Pid, N}]} */
static void take_each(void *own, const struct slice *values, size_t n)
{
    struct late_read *l = own;
    struct slice message, e[3];
    struct cursor c;
    size_t count;
    int64_t scheduler;
    if (!values || !values_enter_list(values_of_pair(values[n - 1], "messages"), &c, &count))
        return;
    l->is_known = true;
    for (size_t i = 0; i < count && cursor_raw(&c, &message); i++)
        if (values_read_tuple(message, 3, e, 3) && values_read_integer(e[2], &scheduler) &&
            scheduler >= 1 && scheduler <= l->online)
            l->answered[scheduler - 1] = true;
}

static const struct run_step steps[] = {
    {ask_online, take_online, 0, false},
    {ask_each, take_each, 0, false},
};

/* ---- the answer */

static void build_late(struct builder *b, void *read, int64_t mono_ns,
                       const struct stepped_who *who)
{
    const struct late_read *l = read;
    size_t n = 0;
    (void)mono_ns;
    (void)who;
    for (int64_t i = 0; l->is_known && i < l->online; i++)
        n += !l->answered[i];
    build_tuple(b, 2);
    build_atom(b, "late");
    if (n > 0)
        build_list(b, n);
    for (int64_t i = 0; n > 0 && i < l->online; i++)
        if (!l->answered[i])
            build_int(b, i + 1);
    build_nil(b);
}

static void init_late(void *read)
{
    (void)read;
}

static void begin_late(void *read, const struct stepped_now *now)
{
    (void)now;
    memset(read, 0, sizeof(struct late_read));
}

static void clear_late(void *read)
{
    (void)read;
}

const struct stepped late_question = {
    .question = QUESTION_LATE,
    .bytes = sizeof(struct late_read),
    .steps = steps,
    .n_steps = ARRAY_LEN(steps),
    .init = init_late,
    .begin = begin_late,
    .build = build_late,
    .clear = clear_late,
};
