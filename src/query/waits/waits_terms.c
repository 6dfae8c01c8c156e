/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "waits_terms.h"

#include "beamtop/base/attr.h"
#include "beamtop/base/buf.h"
#include "query/native/args.h"
#include "query/native/values.h"
#include "query/who/who_terms.h"

#define ITEMS(monitors)                                                                            \
    "[status,message_queue_len,reductions,current_function," monitors "current_stacktrace]"
#define LOOK 6 /* elements, as of the items */

/* ---- calls */

static void build_pair(struct builder *b, const char *first, const char *second)
{
    build_tuple(b, 2);
    build_atom(b, first);
    build_atom(b, second);
}

/* {is_map_key, {{'$1','$2'}}, {const, #{{Module, Function} => 1}}} */
static void build_is_place(struct builder *b)
{
    build_tuple(b, 3);
    build_atom(b, "is_map_key");
    build_tuple(b, 1);
    build_pair(b, "$1", "$2");
    build_tuple(b, 2);
    build_atom(b, "const");
    build_map(b, waits_places_count);
    for (size_t i = 0; i < waits_places_count; i++) {
        build_pair(b, waits_places[i].module, waits_places[i].function);
        build_int(b, 1);
    }
}

struct builder *waits_still(const char *node, const struct etf_pid *pids, size_t n)
{
    return args_of_matches(
        node, pids, n, "status",
        args_of_text("[[{{status,waiting},[],[true]},{{status,suspended},[],[true]},"
                     "{'_',[],[false]}]]"));
}

struct builder *waits_sweep(const char *node, const struct etf_pid *pids, size_t n)
{
    struct builder *b = builder_new();
    build_list(b, 1);
    build_list(b, 2);
    build_tuple(b, 3);
    args_build_text(b, "{current_function,{'$1','$2','_'}}");
    build_list(b, 1);
    build_is_place(b);
    build_nil(b);
    args_build_text(b, "[true]");
    args_build_text(b, "{'_',[],[false]}");
    build_nil(b);
    build_nil(b);
    return args_of_matches(node, pids, n, "current_function", b);
}

/* What of the monitors is said. */
enum monitors_said { SAID_ALL, SAID_NUMBER, SAID_NOTHING };

/* The first frames, of their function; a process may have fewer. */
static void put_clause(struct buf *to, int frames, enum monitors_said said)
{
    static const char *const monitors[] = {"'$5'", "{length,'$5'}", "0"};
    buf_printf(to,
               "{[{status,'$1'},{message_queue_len,'$2'},{reductions,'$3'},"
               "{current_function,'$4'},%s{current_stacktrace,[",
               said == SAID_NOTHING ? "" : "{monitors,'$5'},");
    for (int i = 0; i < frames; i++)
        buf_printf(to, "%s{'$%d','$%d','$%d','_'}", i > 0 ? "," : "", 6 + 3 * i, 7 + 3 * i,
                   8 + 3 * i);
    buf_printf(to, "%s]}],[", frames == WAITS_FRAMES ? "|'_'" : "");
    if (said == SAID_ALL)
        buf_printf(to, "{'=<',{length,'$5'},%d}", WAITS_MONITORS_MOST);
    buf_printf(to, "],[['$1','$2','$3','$4',%s,[", monitors[said]);
    for (int i = 0; i < frames; i++)
        buf_printf(to, "%s{{'$%d','$%d','$%d'}}", i > 0 ? "," : "", 6 + 3 * i, 7 + 3 * i,
                   8 + 3 * i);
    buf_puts(to, "]]]},");
}

static struct builder *look_at(const char *node, const struct etf_pid *pids, size_t n,
                               bool with_monitors)
{
    struct buf text;
    buf_init(&text, 0);
    buf_puts(&text, "[[");
    for (int frames = WAITS_FRAMES; frames >= 0; frames--) {
        put_clause(&text, frames, with_monitors ? SAID_ALL : SAID_NOTHING);
        if (with_monitors)
            put_clause(&text, frames, SAID_NUMBER);
    }
    buf_puts(&text, "{'_',[],[undefined]}]]");
    struct builder *b =
        args_of_matches(node, pids, n, with_monitors ? ITEMS("monitors,") : ITEMS(""),
                        args_of_text(buf_cstr(&text)));
    buf_clear(&text);
    return b;
}

struct builder *waits_looks(const char *node, const struct etf_pid *pids, size_t n)
{
    return look_at(node, pids, n, true);
}

struct builder *waits_spared_looks(const char *node, const struct etf_pid *pids, size_t n)
{
    return look_at(node, pids, n, false);
}

struct builder *waits_links(const char *node, const struct etf_pid *pids, size_t n)
{
    _Static_assert(WAITS_LINKS_MOST == 1000, "as the text says");
    return args_of_matches(node, pids, n, "links",
                           args_of_text("[[{{'_','$1'},[{'=<',{length,'$1'},1000}],['$1']},"
                                        "{'_',[],[undefined]}]]"));
}

struct builder *waits_infos(const char *node, const struct etf_pid *pids, size_t n)
{
    struct builder *items = args_of_text("[status,message_queue_len,reductions,current_function]");
    struct builder *b = args_of_infos(node, pids, n, items);
    builder_free(items);
    return b;
}

/* ---- values */

static bool read_number(struct slice term, int64_t *out)
{
    return values_read_integer(term, out) && *out >= 0 && *out <= VALUES_MOST;
}

static bool read_pid(struct slice term, struct wait_target *out, const char *node)
{
    struct cursor c = values_cursor(term);
    struct slice of;
    if (cursor_kind(&c) != ETF_KIND_PID || !cursor_pid(&c, &out->pid, &of))
        return false;
    const bool local = slice_is(of, node);
    out->kind = local ? FOR_PROCESS : FOR_REMOTE;
    out->node = local ? (struct slice){0} : of;
    return true;
}

/* {process, Pid}, {process, {Name, Node}}, {port, Port}. */
static bool read_monitor(struct slice term, const char *node, struct wait_target *out)
{
    struct slice pair[2], of[2];
    *out = (struct wait_target){0};
    if (!values_read_tuple(term, 2, pair, 2))
        return false;
    if (who_term_is(pair[0], "port")) {
        out->kind = FOR_PORT;
        out->name = pair[1];
        return true;
    }
    if (!who_term_is(pair[0], "process") || read_pid(pair[1], out, node))
        return out->kind != FOR_NOBODY;
    if (!values_read_tuple(pair[1], 2, of, 2) || who_atom_of(of[0]).len == 0)
        return false;
    out->name = who_atom_of(of[0]);
    out->node = who_atom_of(of[1]);
    out->kind = slice_is(out->node, node) ? FOR_NAME : FOR_REMOTE;
    return true;
}

static bool is_same(const struct wait_target *a, const struct wait_target *b)
{
    return a->kind == b->kind && slice_equal(a->name, b->name) && slice_equal(a->node, b->node) &&
           pid_same(&a->pid, &b->pid);
}

/* One that is monitored several times is one. The order of the list is not that in time. */
static void read_monitors(struct slice term, const char *node, enum wait_for kind, bool is_kind,
                          struct wait_look *out)
{
    struct wait_target seen[WAITS_MONITORS_MOST], one;
    struct cursor c;
    struct slice each;
    size_t n = 0, count;
    if (read_number(term, &out->among))
        return;
    out->among = 0;
    if (!values_enter_list(term, &c, &count))
        return;
    for (size_t i = 0; i < count && n < ARRAY_LEN(seen) && cursor_raw(&c, &each); i++) {
        bool is_new = read_monitor(each, node, &one) && (one.kind == kind) == is_kind;
        for (size_t k = 0; k < n; k++)
            is_new = is_new && !is_same(&seen[k], &one);
        if (is_new)
            seen[n++] = one;
    }
    out->among = (int64_t)n;
    if (n == 1)
        out->target = seen[0];
}

/* What called, below what only passes the call on, and what kind of call it is. */
static void read_stack(struct slice term, struct wait_look *out)
{
    struct cursor c;
    struct who_mfa mfa;
    struct slice each;
    size_t n;
    if (!values_enter_list(term, &c, &n))
        return;
    for (size_t i = 0; i < n && cursor_raw(&c, &each) && who_read_mfa(each, &mfa); i++) {
        const char *kind = waits_kind_of(mfa.module, mfa.function);
        if (kind && slice_is(slice_of(out->kind), "call"))
            out->kind = kind;
        if (!waits_is_passing(mfa.module)) {
            out->caller = each;
            return;
        }
    }
}

static void find_target(struct slice monitors, const char *node, struct wait_look *out)
{
    switch (out->place->way) {
    case WAIT_BY_MONITOR:
        read_monitors(monitors, node, FOR_PORT, false, out);
        break;
    case WAIT_BY_PORT:
        read_monitors(monitors, node, FOR_PORT, true, out);
        break;
    case WAIT_BY_NAME:
        out->target = (struct wait_target){.kind = FOR_NAME, .name = slice_of(out->place->name)};
        out->among = 1;
        break;
    case WAIT_BY_CHILD:
    case WAIT_BY_NOTHING:
        break;
    }
}

bool waits_read_look(struct slice term, const char *node, struct wait_look *out)
{
    struct slice of[LOOK];
    struct who_mfa mfa;
    *out = (struct wait_look){0};
    if (!values_read_list(term, of, LOOK) || !read_number(of[1], &out->queue) ||
        !read_number(of[2], &out->reductions) || !who_read_mfa(of[3], &mfa))
        return false;
    if (!who_term_is(of[0], "waiting") && !who_term_is(of[0], "suspended"))
        return false;
    out->status = of[0];
    out->function = of[3];
    out->place = waits_find_place(mfa.module, mfa.function);
    if (!out->place)
        return false;
    out->kind = out->place->kind;
    if (!read_number(of[4], &out->monitors))
        out->monitors = 0;
    find_target(of[4], node, out);
    read_stack(of[5], out);
    return true;
}

void waits_read_links(struct slice term, const char *node, waits_may_be_fn *may_be, void *own,
                      struct wait_look *out)
{
    struct cursor c;
    struct slice each;
    struct wait_target one;
    size_t n;
    if (!values_enter_list(term, &c, &n))
        return;
    out->among = 0;
    for (size_t i = 0; i < n && cursor_raw(&c, &each); i++) {
        const struct cursor kind = values_cursor(each);
        one = (struct wait_target){0};
        if (out->place->way == WAIT_BY_PORT && cursor_kind(&kind) == ETF_KIND_PORT) {
            out->target = (struct wait_target){.kind = FOR_PORT, .name = each};
            out->among++;
        } else if (out->place->way == WAIT_BY_CHILD && read_pid(each, &one, node) &&
                   one.kind == FOR_PROCESS && may_be(own, &one.pid)) {
            out->target = one;
            out->among++;
        }
    }
    if (out->among > 1)
        out->target = (struct wait_target){0};
}

bool waits_read_info(struct slice term, struct wait_look *out)
{
    *out = (struct wait_look){.queue = values_find_integer(term, "message_queue_len"),
                              .reductions = values_find_integer(term, "reductions"),
                              .status = values_find(term, "status"),
                              .function = values_find(term, "current_function")};
    return out->queue >= 0 && out->reductions >= 0 && who_atom_of(out->status).len > 0;
}

bool waits_is_suspended(struct slice function)
{
    struct who_mfa mfa;
    return who_read_mfa(function, &mfa) && slice_is(mfa.module, "sys") &&
           slice_begins(mfa.function, "suspend_loop");
}
