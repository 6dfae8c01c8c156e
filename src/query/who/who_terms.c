/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "who_terms.h"

#include <assert.h>
#include <string.h>

#include "beamtop/base/attr.h"
#include "beamtop/base/text.h"
#include "beamtop/etf/print.h"
#include "query/native/args.h"
#include "query/native/values.h"
#include "who_leaders.h"

/* ---- what is asked */

#define LABEL "{dictionary,'$process_label'}"
/* Names and pids: nothing that may be large. */
#define IS_SMALL(v) "{'orelse',{is_atom," v "},{is_pid," v "}}"
#define ANCESTORS(list, guards) "{{'_'," list "},[" guards "],[" list "]},"
#define TWO "'$1','$2'"
#define FOUR TWO ",'$3','$4'"
#define SIX FOUR ",'$5','$6'"
#define SMALL_TWO IS_SMALL("'$1'") "," IS_SMALL("'$2'")
#define SMALL_FOUR SMALL_TWO "," IS_SMALL("'$3'") "," IS_SMALL("'$4'")
#define SMALL_SIX SMALL_FOUR "," IS_SMALL("'$5'") "," IS_SMALL("'$6'")

/* `filter`: a match specification over what process_info/2 gives. */
static const struct column {
    const char *items, *filter;
    bool sized;
} columns[] = {
    [WHO_BASE] = {"[registered_name,group_leader,initial_call]", NULL, false},
    [WHO_CALL] = {"{dictionary,'$initial_call'}",
                  "[{{'_',{'$1','$2','$3'}},[{is_atom,'$1'},{is_atom,'$2'},{is_integer,'$3'}],"
                  "[{{'$1','$2','$3'}}]},{'_',[],[undefined]}]",
                  false},
    [WHO_ANCESTORS] = {"{dictionary,'$ancestors'}",
                       "[" ANCESTORS("['$1']", IS_SMALL("'$1'")) ANCESTORS("[" TWO "]", SMALL_TWO)
                           ANCESTORS("[" TWO ",'$3']", SMALL_TWO
                                     "," IS_SMALL("'$3'")) ANCESTORS("[" FOUR "]", SMALL_FOUR)
                               ANCESTORS("[" FOUR ",'$5']", SMALL_FOUR
                                         "," IS_SMALL("'$5'")) "{{'_',[" SIX "|'_']},[" SMALL_SIX
                                                               "],[[" SIX "]]},{'_',[],[[]]}]",
                       false},
    [WHO_LABEL] = {LABEL,
                   "[{{'_',undefined},[],[undefined]},{undefined,[],[undefined]},"
                   "{{'_','$1'},[{is_binary,'$1'},{'=<',{byte_size,'$1'},1024}],['$1']},"
                   "{'_',[],[[]]}]",
                   false},
    [WHO_LABEL_SIZE] = {LABEL, NULL, true},
    [WHO_LABEL_TERM] = {LABEL, NULL, false},
    [WHO_STACK] = {"[initial_call,current_stacktrace,current_function]",
                   "[{[{'_',{proc_lib,'_','_'}},{'_','$1'},{'_','$2'}],[],[{{'$1','$2'}}]},"
                   "{'_',[],[false]}]",
                   false},
    [WHO_NAME] = {"[registered_name,initial_call]", NULL, false},
    [WHO_NAME_PARENT] = {"[registered_name,initial_call,current_stacktrace,parent]", NULL, false},
    [WHO_NAME_WAITING] = {"[registered_name,initial_call,message_queue_len]", NULL, false},
    [WHO_REGISTERED] = {"registered_name", NULL, false},
    [WHO_MEMORY] = {"memory", NULL, false},
    [WHO_LINKS] = {"links", "[{{'_','$1'},[{'=<',{length,'$1'},1000}],['$1']},{'_',[],[[]]}]",
                   false},
};
_Static_assert(WHO_LABEL_BYTES == 1024 && WHO_ANCESTORS_MOST == 6 && WHO_LINKS_MOST == 1000,
               "as the match specifications have it");

#define STEPS_MOST (WHO_PARTS + 2)

/* ets:match_spec_run(lists:zipwith(…), ets:match_spec_compile(Filter)); `reads` is freed. */
static struct builder *filtered_arguments(struct builder *reads, const char *filter)
{
    struct builder *specification = builder_new();
    build_list(specification, 1);
    args_build_text(specification, filter);
    build_nil(specification);
    const struct args_call inner[] = {{"lists", "zipwith", 3, NULL, reads},
                                      {"ets", "match_spec_compile", 1, NULL, specification}};
    return args_of_calls("ets", "match_spec_run", 2, inner, ARRAY_LEN(inner));
}

/* lists:map(fun erlang:external_size/1, lists:zipwith(…)); `reads` is freed. */
static struct builder *sized_arguments(struct builder *reads)
{
    const struct args_call inner[] = {args_fun_call("erlang", "external_size", 1),
                                      {"lists", "zipwith", 3, NULL, reads}};
    return args_of_calls("lists", "map", 2, inner, ARRAY_LEN(inner));
}

/* Sets what is called with them. */
static struct builder *part_arguments(const char *node, const struct who_part *part,
                                      const char **function)
{
    const struct column *column = &columns[part->column];
    struct builder *items = args_of_text(column->items);
    struct builder *reads = args_of_infos(node, part->pids, part->n, items);
    *function = column->sized || column->filter ? "foldl" : "zipwith";
    builder_free(items);
    if (column->sized)
        return sized_arguments(reads);
    return column->filter ? filtered_arguments(reads, column->filter) : reads;
}

/* With the clock before and after. */
static void init_batch(struct native_call *call, const struct native_step *steps, size_t n)
{
    const struct native_step clock = NATIVE_CLOCK;
    struct native_step all[STEPS_MOST] = {clock};
    assert(n + 2 <= STEPS_MOST);
    memcpy(all + 1, steps, n * sizeof *steps);
    all[n + 1] = clock;
    native_batch_init(call, all, n + 2, false);
    call->priority = "high";
}

void who_call_parts(struct native_call *call, const char *node, const struct who_part *parts,
                    size_t n)
{
    struct native_step steps[WHO_PARTS] = {{0}};
    struct builder *args[WHO_PARTS];
    assert(n <= WHO_PARTS);
    for (size_t i = 0; i < n; i++) {
        const char *function;
        args[i] = part_arguments(node, &parts[i], &function);
        steps[i] = (struct native_step){"lists", function, NULL, args[i]};
    }
    init_batch(call, steps, n);
    for (size_t i = 0; i < n; i++)
        builder_free(args[i]);
}

void who_call_applications(struct native_call *call)
{
    static const struct native_step steps[] = {{"ets", "match", WHO_LEADERS_ARGS, NULL}};
    init_batch(call, steps, ARRAY_LEN(steps));
}

void who_call_registered(struct native_call *call, const struct slice *names, size_t n)
{
    struct builder *b = builder_new();
    build_list(b, 2);
    build_export(b, "erlang", "whereis", 1);
    build_list(b, n);
    for (size_t i = 0; i < n; i++)
        values_build(b, names[i]);
    build_nil(b);
    build_nil(b);
    init_batch(call, &(struct native_step){"lists", "map", NULL, b}, 1);
    builder_free(b);
}

void who_call_release(struct native_call *call, const char *node, const struct etf_pid *pid,
                      bool with_key)
{
    struct builder *b = args_of_info(node, pid, columns[WHO_CALL].items);
    const struct native_step steps[] = {{"erlang", "system_info", "[otp_release]", NULL},
                                        {"erlang", "process_info", NULL, b}};
    init_batch(call, steps, with_key ? 2 : 1);
    builder_free(b);
}

/* ---- what came */

struct slice who_atom_of(struct slice term)
{
    struct cursor c = values_cursor(term);
    struct slice name = {0};
    return cursor_kind(&c) == ETF_KIND_ATOM && cursor_atom(&c, &name) ? name : (struct slice){0};
}

bool who_term_is(struct slice term, const char *atom)
{
    struct cursor c = values_cursor(term);
    return cursor_peek_atom(&c, atom);
}

bool who_read_pid(struct slice term, const struct who_node *node, struct etf_pid *out)
{
    struct cursor c = values_cursor(term);
    struct slice name;
    return cursor_kind(&c) == ETF_KIND_PID && cursor_pid(&c, out, &name) &&
           slice_is(name, node->name) && out->creation == node->creation;
}

bool who_read_mfa(struct slice term, struct who_mfa *out)
{
    struct cursor c = values_cursor(term);
    if (cursor_kind(&c) != ETF_KIND_TUPLE || !cursor_tuple_of(&c, 3))
        return false;
    for (size_t i = 0; i < ARRAY_LEN(out->terms); i++)
        if (!cursor_raw(&c, &out->terms[i]))
            return false;
    out->module = who_atom_of(out->terms[0]);
    out->function = who_atom_of(out->terms[1]);
    return out->module.len > 0 && out->function.len > 0 &&
           values_read_integer(out->terms[2], &out->arity);
}

bool who_read_values(struct slice value, struct slice *out, size_t n, double *us)
{
    struct cursor c = values_cursor(value);
    struct cursor_list list;
    int64_t began, ended;
    if (value.len == 0 || !cursor_list(&c, &list) || list.count != n + 2 ||
        !cursor_int64(&c, &began))
        return false;
    for (size_t i = 0; i < n; i++)
        if (!cursor_raw(&c, &out[i]))
            return false;
    if (!cursor_int64(&c, &ended))
        return false;
    *us = values_between_us(began, ended);
    return true;
}

bool who_read_parts(struct slice value, const struct who_part *parts, size_t n, struct cursor *out,
                    double *us)
{
    struct slice values[WHO_PARTS];
    struct cursor_list list;
    if (!who_read_values(value, values, n, us))
        return false;
    for (size_t i = 0; i < n; i++) {
        out[i] = values_cursor(values[i]);
        if (!cursor_list(&out[i], &list) || list.count != parts[i].n)
            return false;
    }
    return true;
}

bool who_read_release(struct slice value, bool with_key, struct who_node *node, double *us)
{
    struct slice values[2];
    struct cursor_list list;
    int64_t digit, otp = 0;
    if (!who_read_values(value, values, with_key ? 2 : 1, us))
        return false;
    struct cursor c = values_cursor(values[0]);
    if (!cursor_list(&c, &list) || list.nil || list.count > 4)
        return false;
    for (size_t i = 0; i < list.count; i++) {
        if (!cursor_list_int64(&c, &list, &digit) || digit < '0' || digit > '9')
            return false;
        otp = 10 * otp + digit - '0';
    }
    if (!with_key && otp > 26)
        return false;
    node->way = with_key ? WHO_BY_KEYS : otp >= 25 ? WHO_BY_PARENTS : WHO_BY_LINKS;
    node->has_labels = with_key && otp >= 27;
    return true;
}

bool who_read_items(struct slice term, struct slice *values, size_t n)
{
    struct cursor c = values_cursor(term);
    struct cursor_list list;
    struct slice item;
    if (cursor_kind(&c) != ETF_KIND_LIST || !cursor_list(&c, &list) || list.count != n)
        return false;
    for (size_t i = 0; i < n; i++)
        if (!cursor_tuple_of(&c, 2) || !cursor_raw(&c, &item) || !cursor_raw(&c, &values[i]))
            return false;
    return true;
}

/* ---- stacks */

/* What calls callbacks, and callbacks that nothing else looks like. */
static const char *const engines[] = {"gen",       "gen_server", "gen_statem",
                                      "gen_event", "gen_fsm",    "sys"};
static const struct callback {
    const char *function;
    int64_t arity;
} callbacks[] = {{"handle_call", 3},     {"handle_cast", 2},  {"handle_info", 2},
                 {"handle_continue", 2}, {"handle_event", 4}, {"init", 1}};

/* As many as the VM shows at most. */
#define FRAMES_MOST 64

static bool is_engine(struct slice module)
{
    for (size_t i = 0; i < ARRAY_LEN(engines); i++)
        if (slice_is(module, engines[i]))
            return true;
    return false;
}

static bool is_callback(const struct who_mfa *f)
{
    for (size_t i = 0; i < ARRAY_LEN(callbacks); i++)
        if (slice_is(f->function, callbacks[i].function) && f->arity == callbacks[i].arity)
            return true;
    return false;
}

/* {M, F, Arity, Location} */
static bool read_frame(struct cursor *c, struct who_mfa *out)
{
    for (size_t i = 0; i < ARRAY_LEN(out->terms); i++)
        if ((i == 0 && !cursor_tuple_of(c, 4)) || !cursor_raw(c, &out->terms[i]))
            return false;
    out->module = who_atom_of(out->terms[0]);
    out->function = who_atom_of(out->terms[1]);
    return cursor_skip(c) && values_read_integer(out->terms[2], &out->arity);
}

static size_t read_frames(struct slice stack, struct who_mfa *out)
{
    struct cursor c = values_cursor(stack);
    struct cursor_list list;
    if (cursor_kind(&c) != ETF_KIND_LIST || !cursor_list(&c, &list) || list.count > FRAMES_MOST)
        return 0;
    for (size_t i = 0; i < list.count; i++)
        if (!read_frame(&c, &out[i]))
            return 0;
    return list.count;
}

bool who_call_of_stack(struct builder *out, struct slice stack)
{
    struct who_mfa frames[FRAMES_MOST];
    const size_t n = read_frames(stack, frames); /* the innermost is first */
    if (n < 2 || !slice_is(frames[n - 1].module, "proc_lib"))
        return false;
    const struct who_mfa *outer = &frames[n - 2], *inner = outer;
    if (is_engine(outer->module))
        while (inner >= frames && is_engine(inner->module))
            inner--;
    build_tuple(out, 3);
    if (inner != outer && inner >= frames && is_callback(inner)) {
        values_build(out, inner->terms[0]);
        build_atom(out, "init");
        build_int(out, 1);
    } else {
        for (size_t i = 0; i < ARRAY_LEN(outer->terms); i++)
            values_build(out, outer->terms[i]);
    }
    return true;
}

bool who_is_settled(struct slice call)
{
    struct who_mfa f;
    return who_read_mfa(call, &f) && (slice_is(f.function, "init") ||
                                      !(is_engine(f.module) || slice_is(f.module, "proc_lib")));
}

/* ---- supervisors */

bool who_is_supervisor(struct slice name)
{
    static const char *const ends[] = {"_sup", "_supervisor", "Supervisor"};
    for (size_t i = 0; i < ARRAY_LEN(ends); i++) {
        const size_t len = strlen(ends[i]);
        if (name.len >= len && memcmp(name.s + name.len - len, ends[i], len) == 0)
            return true;
    }
    return false;
}

bool who_read_supervisor(struct slice name, struct slice call, enum who_way way, struct slice *out)
{
    struct who_mfa f;
    if (!who_read_mfa(call, &f))
        return false;
    *out = name;
    if (slice_is(f.module, "supervisor") && slice_is(f.function, "init"))
        return name.len > 0;
    const bool is_one = slice_is(f.module, "supervisor") || slice_is(f.module, "supervisor_bridge");
    if (name.len == 0)
        *out = f.terms[is_one ? 1 : 0];
    return is_one || who_is_supervisor(way == WHO_BY_KEYS ? f.module : who_atom_of(name));
}

/* ---- labels */

#define LABEL_CHARACTERS 200

static void put_prefix(struct buf *out, struct slice text)
{
    const size_t len = text.len < WHO_LABEL_TEXT_BYTES ? text.len : WHO_LABEL_TEXT_BYTES;
    size_t valid = 0;
    int32_t cp;
    for (size_t n; (n = text_decode(text.s + valid, len - valid, &cp)) > 0;)
        valid += n;
    buf_put(out, text.s, valid);
}

/* As io_lib:printable_unicode_list/1 has it. */
static bool is_printable(int64_t c)
{
    return (c >= 32 && c <= 126) || (c >= 8 && c <= 13) || c == 27 || (c >= 0xa0 && c < 0xd800) ||
           (c > 0xdfff && c < 0xfffe) || (c > 0xffff && c <= 0x10ffff);
}

static bool put_characters(struct buf *out, struct cursor *c)
{
    struct cursor_list list;
    char text[LABEL_CHARACTERS * 4];
    size_t len = 0;
    if (!cursor_list(c, &list) || list.nil)
        return false;
    for (size_t i = 0; i < list.count; i++) {
        int64_t character;
        if (cursor_kind(c) != ETF_KIND_INTEGER || !cursor_list_int64(c, &list, &character) ||
            !is_printable(character))
            return false;
        if (i < LABEL_CHARACTERS)
            len += text_encode((int32_t)character, text + len);
    }
    if (!cursor_list_end(c, &list))
        return false;
    put_prefix(out, (struct slice){text, len});
    return true;
}

/* One without quotes; two words are reserved on some releases only. */
static bool put_atom(struct buf *out, struct slice name)
{
    struct buf text;
    buf_init(&text, 0);
    print_atom(&text, name.s, name.len);
    const bool is_plain = slice_is(name, buf_cstr(&text)) && (unsigned char)name.s[0] < 0x80 &&
                          !slice_is(name, "maybe") && !slice_is(name, "else");
    buf_clear(&text);
    if (is_plain)
        put_prefix(out, name);
    return is_plain;
}

bool who_put_label(struct buf *out, struct slice label)
{
    struct cursor c = values_cursor(label);
    struct slice text;
    switch (cursor_kind(&c)) {
    case ETF_KIND_BINARY:
        if (*c.at != ETF_BINARY || !cursor_binary(&c, &text))
            return false;
        put_prefix(out, text);
        return true;
    case ETF_KIND_STRING:
    case ETF_KIND_LIST:
        return put_characters(out, &c);
    case ETF_KIND_ATOM:
        return cursor_atom(&c, &text) && text.len > 0 && put_atom(out, text);
    default:
        return false;
    }
}

/* ---- parts */

#define PART_MOST 500
#define PART_CUTS 16

static void limit_part(struct who_span *s, size_t len)
{
    s->len = len < s->n - s->at ? len : s->n - s->at;
}

void who_span_start(struct who_span *s, size_t n)
{
    *s = (struct who_span){.n = n};
    limit_part(s, PART_MOST);
}

bool who_span_pass(struct who_span *s)
{
    s->at += s->len;
    limit_part(s, s->at >= s->until ? PART_MOST : s->len);
    return s->at < s->n;
}

bool who_span_cut(struct who_span *s)
{
    if (s->len <= 1)
        return false;
    s->until = s->at + s->len;
    s->len = (s->len + PART_CUTS - 1) / PART_CUTS;
    return true;
}
