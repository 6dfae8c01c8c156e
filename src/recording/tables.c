/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tables.h"

#include <math.h>
#include <string.h>

#define AS(FORM, SQL, MEMBER)                                                                      \
    {                                                                                              \
        SQL, FORM_##FORM, offsetof(ROW, MEMBER), sizeof(((ROW *)NULL)->MEMBER), NULL, 0            \
    }
/* clang-format off */
#define OF(SQL, MEMBER)                                                                            \
    {                                                                                              \
        SQL,                                                                                       \
        _Generic((((ROW *)NULL)->MEMBER), struct slice: FORM_SLICE, char *: FORM_CHARS,            \
            int64_t: FORM_INT, uint64_t: FORM_COUNT, unsigned: FORM_UINT, double: FORM_REAL,       \
            bool: FORM_BOOL, struct row_ref: FORM_REF),                                            \
        offsetof(ROW, MEMBER), sizeof(((ROW *)NULL)->MEMBER), NULL, 0                              \
    }
/* clang-format on */

#define FIELDS(LIST, FIRST, TYPE, MEMBER)                                                          \
    {                                                                                              \
        TYPE, FORM_FIELDS, offsetof(ROW, MEMBER), 0, LIST, FIRST                                   \
    }

#define ROW struct note_row
static const struct recording_column meta[] = {OF("key TEXT PRIMARY KEY", key), OF("value", text)};
static const struct recording_column meta_number[] = {OF("key", key), OF("value NOT NULL", number)};
static const struct recording_column texts[] = {AS(ID, "id INTEGER PRIMARY KEY", id),
                                                OF("text TEXT NOT NULL UNIQUE", text)};
static const struct recording_column gap[] = {AS(LAST_TICK, "from_tick INTEGER NOT NULL", tick),
                                              OF("here_us INTEGER NOT NULL", here_us),
                                              OF("why TEXT", text)};
static const struct recording_column fact[] = {AS(TICK, "tick INTEGER NOT NULL", tick),
                                               OF("key TEXT NOT NULL", key),
                                               OF("value TEXT NOT NULL", text)};
static const struct recording_column mark[] = {
    AS(ID, "id INTEGER PRIMARY KEY", id), OF("here_us INTEGER NOT NULL", here_us),
    OF("wall_us INTEGER", wall_us), OF("text TEXT NOT NULL", text)};
static const struct recording_column answer[] = {
    AS(TICK, "tick INTEGER NOT NULL", tick), OF("question TEXT NOT NULL", key),
    OF("asked TEXT", text), OF("bytes INTEGER NOT NULL", bytes), OF("term BLOB NOT NULL", blob)};
#undef ROW

#define ROW struct tick_row
static const struct recording_column tick[] = {AS(TICK, "id INTEGER PRIMARY KEY", id),
                                               OF("here_us INTEGER NOT NULL", here_us),
                                               OF("wall_us INTEGER", wall_us),
                                               AS(RAW, "mono_ns INTEGER", mono_ns),
                                               OF("interval_us INTEGER", interval_us),
                                               OF("cost_us REAL", cost.target_us),
                                               OF("bytes REAL", cost.bytes)};
#undef ROW

#define ROW struct system_row
static const struct recording_column system_row[] = {AS(TICK, "tick INTEGER PRIMARY KEY", tick),
                                                     FIELDS(&system_fields, 0, "REAL", sample)};
#undef ROW

#define ROW struct process_row
static const struct recording_column process[] = {
    AS(TICK, "tick INTEGER NOT NULL", tick),
    OF("pid TEXT NOT NULL", pid),
    OF("name INTEGER", of.name),
    OF("application INTEGER", of.application),
    OF("initial_call INTEGER", of.initial_call),
    OF("label INTEGER", of.label),
    OF("current_function INTEGER", of.current_function),
    OF("reductions_per_s REAL", of.reductions_per_s),
    OF("share REAL", of.reductions_share),
    OF("memory_bytes INTEGER", of.memory_bytes),
    OF("message_queue_len INTEGER", of.message_queue_len),
    OF("message_queue_per_s REAL", of.message_queue_per_s),
    OF("kind TEXT", kind)};
#undef ROW

#define ROW struct owner_row
static const struct recording_column owner[] = {AS(TICK, "tick INTEGER NOT NULL", tick),
                                                OF("by TEXT NOT NULL", by),
                                                OF("owner INTEGER NOT NULL", of.name),
                                                OF("processes INTEGER", of.processes),
                                                OF("reductions_per_s REAL", of.reductions_per_s),
                                                OF("share REAL", of.share),
                                                OF("memory_bytes REAL", of.memory_bytes),
                                                OF("message_queue_len REAL", of.message_queue_len),
                                                OF("kind TEXT", kind)};
#undef ROW

#define ROW struct window_row
static const struct recording_column window[] = {AS(ID, "id INTEGER PRIMARY KEY", id),
                                                 AS(TICK, "tick INTEGER NOT NULL", tick),
                                                 OF("wall_us INTEGER", of.wall_us),
                                                 OF("ns INTEGER NOT NULL", ns),
                                                 OF("functions INTEGER", of.functions),
                                                 OF("calls INTEGER", of.calls),
                                                 OF("calls_per_s REAL", of.calls_per_s),
                                                 OF("lost INTEGER", of.lost),
                                                 OF("bytes INTEGER", bytes),
                                                 OF("line BLOB", line)};
#undef ROW

#define ROW struct call_row
static const struct recording_column call[] = {OF("window INTEGER NOT NULL", window),
                                               OF("module INTEGER NOT NULL", of.module),
                                               OF("function INTEGER NOT NULL", of.function),
                                               OF("arity INTEGER NOT NULL", of.arity),
                                               OF("calls INTEGER", of.calls),
                                               OF("share REAL", of.share),
                                               OF("own_us INTEGER", of.own_us),
                                               OF("words INTEGER", of.words)};
#undef ROW

#define ROW struct trace_row
#define TRACE_ENDING                                                                               \
    OF("ended_us INTEGER", ended_us), OF("reason TEXT", reason), OF("events INTEGER", events),     \
        OF("clean INTEGER", clean), OF("ending TEXT", ending)
static const struct recording_column trace[] = {AS(RAW, "id INTEGER PRIMARY KEY", id),
                                                AS(TICK, "tick INTEGER NOT NULL", tick),
                                                OF("wall_us INTEGER", wall_us),
                                                OF("syntax TEXT", syntax),
                                                OF("patterns TEXT NOT NULL", patterns),
                                                OF("procs TEXT", procs),
                                                TRACE_ENDING};
static const struct recording_column trace_end[] = {AS(RAW, "id", id), TRACE_ENDING};
#undef ROW

#define ROW struct pattern_row
static const struct recording_column trace_pattern[] = {
    OF("trace INTEGER NOT NULL", trace), OF("number INTEGER NOT NULL", number),
    OF("pattern TEXT", tally.pattern), FIELDS(&trace_tally_fields, 0, NULL, tally),
    FIELDS(&trace_pattern_fields, 1, NULL, tally)};
#undef ROW

#define ROW struct event_row
#define EVENT_LINE                                                                                 \
    OF("number INTEGER", line.id), OF("wall_us INTEGER", line.wall_us),                            \
        OF("pattern INTEGER", line.pattern_text), OF("pid TEXT", line.pid),                        \
        OF("name INTEGER", line.name), OF("mfa INTEGER", line.mfa),                                \
        OF("caller INTEGER", line.caller), OF("shown_only INTEGER", line.shown_only),              \
        OF("latency_us REAL", line.latency_us), OF("class TEXT", line.class),                      \
        OF("lost INTEGER", line.lost), OF("at_most INTEGER", line.at_most)
static const struct recording_column event[] = {AS(ID, "id INTEGER PRIMARY KEY", id),
                                                OF("trace INTEGER NOT NULL", trace),
                                                AS(TICK, "tick INTEGER NOT NULL", tick),
                                                OF("kind TEXT NOT NULL", kind),
                                                EVENT_LINE,
                                                OF("term BLOB", term)};
/* Before version 4 the term's values stood in columns, as they print. */
static const struct recording_column event_printed[] = {
    OF("trace INTEGER", trace),
    OF("kind TEXT", kind),
    EVENT_LINE,
    AS(RAW, "mono_ns INTEGER", line.mono_ns),
    OF("depth INTEGER", line.depth),
    OF("args TEXT", args),
    OF("stack TEXT", stack),
    OF("result TEXT", line.result),
    OF("receiver TEXT", line.to),
    OF("message TEXT", line.message),
    OF("no_receiver INTEGER", line.no_receiver),
    OF("full_bytes INTEGER", line.full_bytes),
    OF("why TEXT", line.why),
    OF("duration_us INTEGER", line.duration_us)};
#undef ROW

#define ROW struct events_row
static const struct recording_column events_run[] = {
    AS(RAW, "id INTEGER PRIMARY KEY", id),
    AS(TICK, "tick INTEGER NOT NULL", tick),
    OF("wall_us INTEGER", wall_us),
    OF("session INTEGER NOT NULL", session),
    OF("arm_us REAL", arm_us),
    OF("long_gc INTEGER", limits[EVENT_LONG_GC]),
    OF("long_schedule INTEGER", limits[EVENT_LONG_SCHEDULE]),
    OF("large_heap INTEGER", limits[EVENT_LARGE_HEAP]),
    OF("long_message_queue INTEGER", limits[EVENT_LONG_QUEUE]),
    OF("busy_port INTEGER", limits[EVENT_BUSY_PORT]),
    OF("busy_dist_port INTEGER", limits[EVENT_BUSY_DIST_PORT]),
    AS(INT, "end_tick INTEGER", end_tick),
    OF("seen INTEGER", seen),
    OF("missed INTEGER", missed),
    OF("reason TEXT", reason),
    OF("clean INTEGER", clean),
    OF("not_clean TEXT", not_clean)};
static const struct recording_column events_end[] = {AS(RAW, "id", id),
                                                     AS(TICK, "end_tick INTEGER", end_tick),
                                                     OF("seen INTEGER", seen),
                                                     OF("missed INTEGER", missed),
                                                     OF("reason TEXT", reason),
                                                     OF("clean INTEGER", clean),
                                                     OF("not_clean TEXT", not_clean)};
#undef ROW

#define ROW struct system_event_record
static const struct recording_column system_event[] = {OF("run INTEGER NOT NULL", run),
                                                       OF("number INTEGER NOT NULL", number),
                                                       AS(TICK, "tick INTEGER NOT NULL", tick),
                                                       OF("wall_us INTEGER", of.wall_us),
                                                       AS(CHARS, "event TEXT NOT NULL", of.event),
                                                       AS(CHARS, "pid TEXT", of.who),
                                                       OF("pid_number INTEGER", of.pid.id),
                                                       OF("pid_serial INTEGER", of.pid.serial),
                                                       OF("pid_creation INTEGER", of.pid.creation),
                                                       OF("name INTEGER", name),
                                                       OF("ms INTEGER", of.ms),
                                                       OF("words INTEGER", of.words),
                                                       OF("in_function INTEGER", in),
                                                       OF("out_function INTEGER", out),
                                                       AS(CHARS, "port TEXT", of.port),
                                                       AS(CHARS, "peer TEXT", of.peer),
                                                       AS(CHARS, "state TEXT", of.state),
                                                       OF("next_limit INTEGER", of.limit),
                                                       OF("dropped INTEGER", of.dropped)};
#undef ROW

#define ROW struct sample_run_row
static const struct recording_column sample_run[] = {
    AS(ID, "id INTEGER PRIMARY KEY", id),
    AS(TICK, "tick INTEGER NOT NULL", tick),
    OF("wall_us INTEGER", of.wall_us),
    AS(NS, "ns INTEGER NOT NULL", of.seconds),
    OF("hz REAL", of.hz),
    OF("at_yields INTEGER NOT NULL", of.at_yields),
    OF("samples INTEGER NOT NULL", of.samples),
    OF("lost INTEGER", of.lost),
    OF("moved_on INTEGER", of.moved_on),
    OF("truncated INTEGER", of.truncated),
    OF("unresolved INTEGER", of.unresolved),
    OF("complete INTEGER", of.complete),
    OF("sampler_cpu_s REAL", of.sampler_cpu_s),
    OF("target_cpu_s REAL", of.target_cpu_s),
    OF("erlang INTEGER", of.classes[SAMPLE_ERLANG]),
    OF("bif INTEGER", of.classes[SAMPLE_BIF]),
    OF("gc INTEGER", of.classes[SAMPLE_GC]),
    OF("runtime INTEGER", of.classes[SAMPLE_RUNTIME]),
    OF("nif INTEGER", of.classes[SAMPLE_NIF]),
    OF("scheduler INTEGER", of.classes[SAMPLE_SCHEDULER]),
    OF("other INTEGER", of.classes[SAMPLE_OTHER]),
    OF("left_out REAL", left_out)};
#undef ROW

#define ROW struct sample_frame_row
static const struct recording_column sample_frame[] = {
    AS(ID, "id INTEGER PRIMARY KEY", id), OF("kind TEXT NOT NULL", kind),
    OF("name INTEGER NOT NULL", of.name), OF("object INTEGER NOT NULL", of.object),
    OF("file INTEGER NOT NULL", of.file), OF("line INTEGER NOT NULL", of.line)};
#undef ROW

#define ROW struct sample_node_row
static const struct recording_column sample_node[] = {
    OF("run INTEGER NOT NULL", run), OF("node INTEGER NOT NULL", node),
    OF("parent INTEGER NOT NULL", parent), OF("frame INTEGER NOT NULL", frame),
    OF("samples REAL NOT NULL", samples)};
#undef ROW

#define ROW struct sample_source_row
static const struct recording_column sample_source[] = {
    OF("run INTEGER NOT NULL", run),   OF("kind TEXT NOT NULL", kind),
    OF("rank INTEGER NOT NULL", rank), OF("name TEXT", of.name),
    OF("about INTEGER", of.about),     OF("samples INTEGER", of.samples)};
#undef ROW

#define ROW struct sample_held_row
static const struct recording_column sample_held[] = {OF("run INTEGER NOT NULL", run),
                                                      OF("rank INTEGER NOT NULL", rank),
                                                      OF("call INTEGER", of.call),
                                                      OF("object INTEGER", of.object),
                                                      OF("caller INTEGER", of.caller),
                                                      OF("process TEXT", of.process),
                                                      OF("name INTEGER", of.name),
                                                      OF("thread TEXT", of.thread),
                                                      AS(NS, "ns INTEGER NOT NULL", of.seconds),
                                                      OF("samples INTEGER NOT NULL", of.samples)};
#undef ROW

#define ROW struct span_run_row
static const struct recording_column span_run[] = {AS(ID, "id INTEGER PRIMARY KEY", id),
                                                   AS(TICK, "tick INTEGER NOT NULL", tick),
                                                   OF("wall_us INTEGER", of.wall_us),
                                                   AS(RAW, "mono_ns INTEGER NOT NULL", of.mono_ns),
                                                   OF("node TEXT", node),
                                                   AS(RAW, "capture INTEGER NOT NULL", capture),
                                                   OF("full INTEGER NOT NULL", of.full),
                                                   OF("patterns TEXT", of.patterns),
                                                   OF("procs TEXT", of.status.procs),
                                                   OF("roots_asked INTEGER", of.roots_asked),
                                                   OF("every INTEGER", of.every),
                                                   OF("for_s REAL", of.for_s),
                                                   OF("events_asked INTEGER", of.events_asked),
                                                   OF("functions INTEGER", of.functions),
                                                   OF("calls_per_s REAL", of.calls_per_s),
                                                   OF("load REAL", of.load),
                                                   OF("expensive INTEGER", of.expensive),
                                                   OF("others TEXT", of.others),
                                                   OF("roots INTEGER", of.roots),
                                                   OF("open INTEGER", of.open),
                                                   OF("events INTEGER", of.events),
                                                   OF("skipped INTEGER", of.skipped),
                                                   OF("reason TEXT", reason),
                                                   OF("seconds REAL", of.seconds),
                                                   OF("arm_us REAL", of.arm_us),
                                                   OF("disarm_us REAL", of.disarm_us),
                                                   OF("target_us REAL", of.target_us),
                                                   OF("bytes INTEGER", of.bytes),
                                                   OF("invalid INTEGER", dropped.invalid),
                                                   OF("beyond INTEGER", dropped.beyond),
                                                   OF("duplicate INTEGER", dropped.duplicate),
                                                   OF("clean INTEGER", clean),
                                                   OF("not_clean TEXT", of.status.check.text)};
#undef ROW

#define ROW struct span_process_row
static const struct recording_column span_process[] = {
    OF("run INTEGER NOT NULL", run),
    OF("process INTEGER NOT NULL", process),
    OF("number INTEGER NOT NULL", as.pid.id),
    OF("serial INTEGER NOT NULL", as.pid.serial),
    OF("creation INTEGER NOT NULL", as.pid.creation),
    OF("node INTEGER", as.node),
    OF("name INTEGER", as.name),
    OF("given INTEGER", given)};
#undef ROW

#define ROW struct span_event_row
static const struct recording_column span_event[] = {OF("run INTEGER NOT NULL", run),
                                                     OF("event INTEGER NOT NULL", event),
                                                     AS(RAW, "ns INTEGER NOT NULL", ns),
                                                     AS(RAW, "sort INTEGER NOT NULL", of.order),
                                                     OF("kind TEXT NOT NULL", kind),
                                                     OF("process INTEGER NOT NULL", process),
                                                     AS(RAW, "peer INTEGER", peer),
                                                     AS(RAW, "label INTEGER", label),
                                                     AS(RAW, "serial INTEGER", of.serial),
                                                     OF("tag TEXT", tag),
                                                     OF("class TEXT", class),
                                                     OF("ref BLOB", ref),
                                                     OF("words INTEGER", of.words),
                                                     OF("text INTEGER", of.text)};
#undef ROW

#define TABLE_ROW(id, name, columns, row, end)                                                     \
    [TABLE_##id] = {name, columns, ARRAY_LEN(columns), sizeof(struct row), end},
const struct recording_columns recording_tables[TABLES] = {TABLE_LIST(TABLE_ROW)};

/* ---- SQL */

void tables_create(struct buf *sql)
{
    for (size_t k = 0; k < TABLES && recording_tables[k].end; k++) {
        const struct recording_columns *t = &recording_tables[k];
        const char *between = "(";
        buf_printf(sql, "CREATE TABLE %s", t->name);
        for (size_t i = 0; i < t->n; i++, between = ", ") {
            const struct recording_column *c = &t->columns[i];
            if (c->form != FORM_FIELDS)
                buf_printf(sql, "%s%s", between, c->sql);
            for (size_t f = c->first; c->fields && f < c->fields->n; f++)
                buf_printf(sql, ", %s %s", c->fields->fields[f].key,
                           c->sql                                    ? c->sql
                           : c->fields->fields[f].form == FIELD_REAL ? "REAL"
                                                                     : "INTEGER");
        }
        buf_printf(sql, "%s;", t->end);
    }
}

/* Of all that a row is written with; returns how many these are. */
static size_t put_names(struct buf *sql, const struct recording_columns *t, const char *between,
                        const char *behind)
{
    size_t n = 0;
    for (size_t i = 0; i < t->n; i++) {
        const struct recording_column *c = &t->columns[i];
        if (c->form != FORM_ID && c->form != FORM_FIELDS)
            buf_printf(sql, "%s%.*s%s", n++ > 0 ? between : "", (int)strcspn(c->sql, " "), c->sql,
                       behind);
        for (size_t f = c->first; c->fields && f < c->fields->n; f++, n++)
            buf_printf(sql, "%s%s%s", between, c->fields->fields[f].key, behind);
    }
    return n;
}

void tables_insert(struct buf *sql, enum recording_table table)
{
    const struct recording_columns *t = &recording_tables[table];
    buf_printf(sql, "INSERT OR REPLACE INTO %s(", t->name);
    size_t n = put_names(sql, t, ", ", "");
    buf_puts(sql, ") VALUES(?");
    while (--n > 0)
        buf_puts(sql, ",?");
    buf_puts(sql, ")");
}

void tables_update(struct buf *sql, enum recording_table table)
{
    const struct recording_columns *t = &recording_tables[table];
    buf_printf(sql, "UPDATE %s SET ", t->name);
    (void)put_names(sql, t, ", ", " = ?");
    buf_printf(sql, " WHERE %.*s = ?1", (int)strcspn(t->columns[0].sql, " "), t->columns[0].sql);
}

void tables_find(struct buf *sql, enum recording_table table)
{
    const struct recording_columns *t = &recording_tables[table];
    buf_printf(sql, "SELECT id FROM %s WHERE ", t->name);
    (void)put_names(sql, t, " AND ", " = ?");
}

void tables_select(struct buf *sql, enum recording_table table)
{
    const struct recording_columns *t = &recording_tables[table];
    for (size_t i = 0; i < t->n; i++) {
        const struct recording_column *c = &t->columns[i];
        int len = (int)strcspn(c->sql, " ");
        buf_puts(sql, i == 0 ? "SELECT " : ", ");
        if (c->form == FORM_SLICE && column_is_id(c)) /* where it has no text, the id remains */
            buf_printf(sql, "ifnull((SELECT text FROM text WHERE id = %s.%.*s), %.*s)", t->name,
                       len, c->sql, len, c->sql);
        else
            buf_printf(sql, "%.*s", len, c->sql);
    }
    buf_printf(sql, " FROM %s", t->name);
}

/* ---- reading */

static bool read_slice(sqlite3_stmt *s, int at, const struct recording_column *c,
                       struct arena *arena, struct slice *out)
{
    int type = sqlite3_column_type(s, at);
    *out = (struct slice){"", 0};
    if (type == SQLITE_INTEGER || type == SQLITE_FLOAT)
        return column_is_id(c) && sqlite3_column_double(s, at) == 0; /* 0: none */
    const char *bytes =
        type == SQLITE_BLOB ? sqlite3_column_blob(s, at) : (const char *)sqlite3_column_text(s, at);
    if (bytes)
        *out = slice_keep(arena, (struct slice){bytes, (size_t)sqlite3_column_bytes(s, at)});
    return true;
}

void slice_to_chars(struct slice text, char *out, size_t size)
{
    size_t len = text.len < size ? text.len : size - 1;
    if (len > 0)
        memcpy(out, text.s, len);
    out[len] = '\0';
}

/* Unknown where it is NULL or none that a recorder writes; false: that. */
static bool read_number(sqlite3_stmt *s, int at, enum column_form form, void *out)
{
    bool is_null = sqlite3_column_type(s, at) == SQLITE_NULL;
    double v = sqlite3_column_double(s, at);
    bool known = !is_null && number_is_sound(v) && !(form == FORM_UINT && v > (double)UINT32_MAX);
    int64_t n = known ? sqlite3_column_int64(s, at) : -1;
    if (form == FORM_REAL)
        *(double *)out = known ? v : (double)NAN;
    else if (form == FORM_NS)
        *(double *)out = known ? v / 1e9 : (double)NAN;
    else if (form == FORM_UINT)
        *(unsigned *)out = known ? (unsigned)n : 0;
    else if (form == FORM_COUNT)
        *(uint64_t *)out = known ? (uint64_t)n : 0;
    else
        *(int64_t *)out = n;
    return known || is_null;
}

static bool read_column(sqlite3_stmt *s, int at, const struct recording_column *c,
                        struct arena *arena, void *to)
{
    switch (c->form) {
    case FORM_SLICE:
        return read_slice(s, at, c, arena, to);
    case FORM_CHARS:
        slice_to_chars(db_column_text(s, at), to, c->bytes);
        return true;
    case FORM_BOOL:
        *(bool *)to = sqlite3_column_int(s, at) != 0;
        return true;
    case FORM_RAW:
        *(int64_t *)to = sqlite3_column_int64(s, at);
        return true;
    case FORM_REF:
        return read_number(s, at, c->form, &((struct row_ref *)to)->id);
    case FORM_INT:
    case FORM_COUNT:
    case FORM_UINT:
    case FORM_REAL:
    case FORM_NS:
    case FORM_ID:
    case FORM_TICK:
    case FORM_LAST_TICK:
    case FORM_FIELDS:
        break;
    }
    return read_number(s, at, c->form, to);
}

bool tables_read(sqlite3_stmt *s, enum recording_table table, struct arena *arena, void *row)
{
    const struct recording_columns *t = &recording_tables[table];
    bool sound = true;
    for (size_t i = 0; i < t->n; i++) {
        const struct recording_column *c = &t->columns[i];
        sound = read_column(s, (int)i, c, arena, (char *)row + c->at) && sound;
    }
    return sound;
}
