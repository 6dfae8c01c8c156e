/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "node_terms.h"

#include <inttypes.h>
#include <string.h>

#include "beamtop/base/attr.h"
#include "beamtop/base/buf.h"
#include "query/native/values.h"

/* ---- what is asked */

static const struct native_step fact_steps[] = {
    {"erlang", "node", "[]", NULL},
    {"erlang", "system_info", "[otp_release]", NULL},
    {"erlang", "system_info", "[version]", NULL},
    {"erlang", "system_info", "[system_version]", NULL},
    {"erlang", "system_info", "[wordsize]", NULL},
    {"erlang", "system_info", "[schedulers]", NULL},
    {"erlang", "system_info", "[schedulers_online]", NULL},
    {"erlang", "system_info", "[dirty_cpu_schedulers]", NULL},
    {"erlang", "system_info", "[dirty_cpu_schedulers_online]", NULL},
    {"erlang", "system_info", "[dirty_io_schedulers]", NULL},
    {"erlang", "system_info", "[process_limit]", NULL},
    {"erlang", "system_info", "[port_limit]", NULL},
    {"erlang", "system_info", "[atom_limit]", NULL},
    {"erlang", "system_info", "[ets_limit]", NULL},
    {"erlang", "system_info", "[logical_processors_available]", NULL},
    {"erlang", "system_info", "[os_type]", NULL},
    {"erlang", "system_info", "[os_version]", NULL},
    {"os", "getpid", "[]", NULL},
    {"erlang", "system_info", "[start_time]", NULL},
    {"erlang", "time_offset", "[]", NULL},
    {"erlang", "convert_time_unit", "[1,second,native]", NULL},
    {"application", "get_env", "[kernel,net_ticktime,60]", NULL},
    {"application", "get_key", "[elixir,vsn]", NULL},
};
/* Their places in the value. */
enum {
    FACT_NAME,
    FACT_OTP,
    FACT_ERTS,
    FACT_VERSION,
    FACT_WORD_BYTES,
    FACT_SCHEDULERS,
    FACT_DIRTY_IO = FACT_SCHEDULERS + 4,
    FACT_LIMITS,
    FACT_CPUS = FACT_LIMITS + 4,
    FACT_OS_TYPE,
    FACT_OS_VERSION,
    FACT_OS_PID,
    FACT_STARTED,
    FACT_OFFSET,
    FACT_SECOND,
    FACT_TICKTIME,
    FACT_ELIXIR,
    FACTS
};

static const struct native_step mode_steps[] = {{"init", "get_argument", "[mode]", NULL}};
static const struct native_step ticktime_steps[] = {{"net_kernel", "get_net_ticktime", "[]", NULL}};

void node_call_facts(struct native_call *call)
{
    native_batch_init(call, fact_steps, ARRAY_LEN(fact_steps), true);
}

void node_call_mode(struct native_call *call)
{
    native_batch_init(call, mode_steps, ARRAY_LEN(mode_steps), true);
}

void node_call_ticktime(struct native_call *call)
{
    native_batch_init(call, ticktime_steps, ARRAY_LEN(ticktime_steps), true);
}

/* ---- texts */

static void build_text(struct builder *b, const struct buf *text)
{
    build_binary(b, text->data ? (const char *)text->data : "", text->len);
}

static bool build_chars(struct builder *b, struct slice term)
{
    struct buf text;
    buf_init(&text, 0);
    const bool ok = values_put_chars(&text, term);
    if (ok)
        build_text(b, &text);
    buf_clear(&text);
    return ok;
}

/* {Major, Minor, Release}, or text. */
static bool put_os_version(struct buf *out, struct slice term)
{
    struct slice parts[3];
    if (!values_read_tuple(term, 3, parts, 3))
        return values_put_chars(out, term);
    for (size_t i = 0; i < ARRAY_LEN(parts); i++) {
        int64_t number;
        if (!values_read_integer(parts[i], &number))
            return false;
        buf_printf(out, "%s%" PRId64, i > 0 ? "." : "", number);
    }
    return true;
}

/* "unix/linux 6.1.0" */
static bool build_os(struct builder *b, struct slice type, struct slice version)
{
    struct cursor c = values_cursor(type);
    struct slice family, name;
    struct buf text;
    if (!cursor_tuple_of(&c, 2) || !cursor_atom(&c, &family) || !cursor_atom(&c, &name))
        return false;
    buf_init(&text, 0);
    buf_printf(&text, "%.*s/%.*s ", (int)family.len, family.s, (int)name.len, name.s);
    const bool ok = put_os_version(&text, version);
    if (ok)
        build_text(b, &text);
    buf_clear(&text);
    return ok;
}

/* ---- the answer */

/* Native time since 1970 in µs, without what would not fit in between. */
static bool build_start(struct builder *b, const struct slice *facts)
{
    int64_t started, offset, second, native;
    if (!values_read_integer(facts[FACT_STARTED], &started) ||
        !values_read_integer(facts[FACT_OFFSET], &offset) ||
        !values_read_integer(facts[FACT_SECOND], &second) || second <= 0 ||
        second > INT64_MAX / 1000000 || __builtin_add_overflow(started, offset, &native))
        return false;
    const int64_t seconds = native / second;
    if (seconds < 0 || seconds > INT64_MAX / 1000000 - 1)
        return false;
    build_int(b, seconds * 1000000 + native % second * 1000000 / second);
    return true;
}

/* [Seconds] or [{ongoing_change_to, Seconds}], the former a list of one byte; 0: neither. */
static int64_t read_asked_ticktime(struct cursor *c)
{
    struct cursor_list list;
    int64_t seconds = 0;
    if (!cursor_list(c, &list) || list.count != 1)
        return 0;
    if (!list.string && cursor_kind(c) == ETF_KIND_TUPLE &&
        !(cursor_tuple_of(c, 2) && cursor_atom_is(c, "ongoing_change_to")))
        return 0;
    return cursor_list_int64(c, &list, &seconds) ? seconds : 0;
}

/* Of net_kernel, else what the application says. */
static void build_ticktime(struct builder *b, struct slice asked, struct slice at_start)
{
    int64_t seconds = 0;
    struct cursor c = values_cursor(asked);
    if (asked.len > 0)
        seconds = read_asked_ticktime(&c);
    else if (!values_read_integer(at_start, &seconds))
        seconds = 0;
    build_int(b, seconds);
}

/* Of [{ok, [["embedded"] | _]} | error]: anything else is the other mode. */
static void build_mode(struct builder *b, struct slice asked)
{
    struct slice value, of_ok[2], all, first;
    struct buf text;
    if (!values_read_list(asked, &value, 1)) {
        build_atom(b, "undefined");
        return;
    }
    buf_init(&text, 0);
    const bool embedded = values_read_tuple(value, 2, of_ok, 2) &&
                          values_read_list(of_ok[1], &all, 1) && values_read_list(all, &first, 1) &&
                          values_put_chars(&text, first) &&
                          strcmp(buf_cstr(&text), "embedded") == 0;
    buf_clear(&text);
    build_atom(b, embedded ? "embedded" : "interactive");
}

/* {ok, "1.14.0"}, or `undefined`. */
static bool build_elixir(struct builder *b, struct slice key)
{
    struct slice of_ok[2];
    if (values_read_tuple(key, 2, of_ok, 2))
        return build_chars(b, of_ok[1]);
    build_binary(b, "", 0);
    return true;
}

static void build_cpus(struct builder *b, struct slice available)
{
    int64_t cpus;
    build_int(b, values_read_integer(available, &cpus) ? cpus : 0);
}

bool node_build(struct builder *b, const struct node_values *v)
{
    struct slice facts[FACTS];
    if (!values_read_list(v->facts, facts, FACTS))
        return false;
    build_tuple(b, 19);
    build_atom(b, "node");
    values_build(b, facts[FACT_NAME]);
    if (!build_chars(b, facts[FACT_OTP]) || !build_chars(b, facts[FACT_ERTS]))
        return false;
    build_binary(b, values_is_jit(facts[FACT_VERSION]) ? "jit" : "emu", 3);
    for (size_t i = FACT_WORD_BYTES; i <= FACT_DIRTY_IO; i++)
        values_build(b, facts[i]);
    build_tuple(b, 4);
    for (size_t i = FACT_LIMITS; i < FACT_CPUS; i++)
        values_build(b, facts[i]);
    if (!build_os(b, facts[FACT_OS_TYPE], facts[FACT_OS_VERSION]) ||
        !build_chars(b, facts[FACT_OS_PID]) || !build_start(b, facts))
        return false;
    build_ticktime(b, v->ticktime, facts[FACT_TICKTIME]);
    build_mode(b, v->mode);
    if (!build_elixir(b, facts[FACT_ELIXIR]))
        return false;
    build_cpus(b, facts[FACT_CPUS]);
    return true;
}
