/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <errno.h>
#include <math.h>

#include <jansson.h>

#include "../../test.h"
#include "../model/given.h"
#include "beamtop/base/buf.h"
#include "beamtop/output/fields.h"
#include "json_tables.h"

/* A writer that keeps what it gets, and fails from the nth call on. */
struct kept {
    struct buf bytes;
    int calls, fail_from, error;
};

static int keep(void *ctx, const char *bytes, size_t len)
{
    struct kept *k = ctx;
    if (k->fail_from > 0 && k->calls + 1 >= k->fail_from)
        return k->error;
    k->calls++;
    buf_put(&k->bytes, bytes, len);
    return 0;
}

static struct model *full_model(void)
{
    static const enum answer_kind order[] = {
        ANSWER_NODE,   ANSWER_SYSTEM, ANSWER_SCAN,       ANSWER_PROCESS,   ANSWER_ALLOC,
        ANSWER_APPS,   ANSWER_TABLES, ANSWER_HEAPS,      ANSWER_ARMED,     ANSWER_THREADS,
        ANSWER_MSACC,  ANSWER_WAITS,  ANSWER_PORTS,      ANSWER_ONE_TABLE, ANSWER_TABLE_KEYS,
        ANSWER_MNESIA, ANSWER_TERMS,  ANSWER_HOLDERS,    ANSWER_VM,        ANSWER_FLEET,
        ANSWER_LINKS,  ANSWER_MESH,   ANSWER_SUSPENDERS, ANSWER_OLD_CODE,  ANSWER_MATRIX,
        ANSWER_RAFT};
    struct model *m = model_new();
    for (size_t k = 0; k < ARRAY_LEN(order); k++)
        for (size_t i = 0; i < ARRAY_LEN(answers); i++)
            if (answers[i].kind == order[k]) {
                must(m, answers[i].kind, answers[i].text);
                break;
            }
    const struct tick_cost cost = {.target_us = 3100, .bytes = 6200, .share = 0.0031};
    model_set_cost(m, &cost);
    return m;
}

/* What a sink of that format makes of the model. The caller clears it. */
static struct buf output(enum sink_format format, const struct sink_kind *kind,
                         const struct model *m)
{
    struct kept k = {0};
    struct error err = {0};
    const struct sink_writer writer = {keep, &k};
    const struct sink_options options = {.format = format};
    buf_init(&k.bytes, 0);
    struct sink *s = sink_open(&writer, &options);
    if (sink_put(s, kind, m, &err) < 0)
        fail_msg("%s: %s", kind->name, err.text);
    sink_close(s);
    return k.bytes;
}

static json_t *parsed(struct buf *b)
{
    json_error_t error;
    const char *text = buf_cstr(b);
    assert_ptr_equal(strchr(text, '\n'), text + b->len - 1); /* one line */
    json_t *j = json_loads(text, JSON_REJECT_DUPLICATES, &error);
    if (!j)
        fail_msg("%s: %s", error.text, text);
    return j;
}

static json_t *json_of(const struct sink_kind *kind, const struct model *m)
{
    struct buf b = output(SINK_JSON, kind, m);
    json_t *j = parsed(&b);
    buf_clear(&b);
    return j;
}

static const char *text_at(json_t *object, const char *key)
{
    const char *s = json_string_value(json_object_get(object, key));
    assert_non_null(s);
    return s;
}

static int64_t int_at(json_t *object, const char *key)
{
    json_t *v = json_object_get(object, key);
    if (!json_is_integer(v))
        fail_msg("%s is no integer", key);
    return json_integer_value(v);
}

TEST(test_every_kind_has_the_same_frame)
{
    struct model *m = full_model();
    for (const struct sink_kind *kind = sink_kinds; kind->question != QUESTIONS; kind++) {
        json_t *j = json_of(kind, m);
        char schema[64];
        snprintf(schema, sizeof schema, "beamtop.%s/2", kind->name);
        print_message("%s\n", schema);
        assert_string_equal(text_at(j, "schema"), schema);
        if (kind->question == QUESTION_FLEET) { /* of no single node */
            assert_null(json_object_get(j, "node"));
            json_decref(j);
            continue;
        }
        assert_string_equal(text_at(j, "node"), "mq1@host");
        assert_int_equal(int_at(j, "wall_us"), 1700000100000000);
        assert_non_null(json_object_get(j, "interval_us"));
        json_t *cost = json_object_get(j, "cost"), *system = json_object_get(j, "system");
        assert_int_equal(int_at(cost, "target_us"), 3100);
        assert_true(fabs(json_real_value(json_object_get(cost, "share")) - 0.0031) < 1e-9);
        assert_int_equal(int_at(system, "memory_total_bytes"), 1000);
        assert_int_equal(int_at(system, "run_queue"), 3);
        assert_true(json_is_null(json_object_get(system, "reductions_per_s")));
        json_decref(j);
    }
    model_free(m);
}

TEST(test_top_as_json)
{
    struct model *m = full_model();
    json_t *j = json_of(sink_kind_find("top"), m);
    json_t *rows = json_object_get(j, "rows"), *row = json_array_get(rows, 0);
    assert_int_equal(int_at(j, "interval_us"), 1000000);
    assert_int_equal(json_array_size(rows), 2);
    assert_string_equal(text_at(row, "pid"), "<0.41.0>");
    assert_string_equal(text_at(row, "name"), "shop_cart");
    assert_string_equal(text_at(row, "current_function"), "gen_server:loop/7");
    assert_int_equal(int_at(row, "memory_bytes"), 4096);
    assert_true(json_real_value(json_object_get(row, "reductions_per_s")) == 500);
    row = json_array_get(rows, 1);
    assert_true(json_is_null(json_object_get(row, "name")));
    assert_true(json_is_null(json_object_get(row, "reductions_per_s")));
    json_decref(j);
    model_free(m);
}

TEST(test_process_as_json)
{
    struct model *m = full_model();
    json_t *j = json_of(sink_kind_find("process"), m), *p = json_object_get(j, "process");
    assert_int_equal(json_object_size(p), (size_t)proc_columns_len);
    assert_int_equal(int_at(p, "total_heap_bytes"), 2400);
    assert_true(json_is_true(json_object_get(p, "trap_exit")));
    assert_string_equal(text_at(json_object_get(j, "parent"), "pid"), "<0.31.0>");
    assert_int_equal(int_at(json_object_get(j, "links"), "count"), 2);
    json_t *frame = json_array_get(json_object_get(j, "stack"), 0);
    assert_string_equal(text_at(frame, "file"), "gen_server.erl");
    assert_int_equal(int_at(frame, "line"), 437);
    json_t *keys = json_object_get(json_object_get(j, "dictionary"), "keys");
    assert_string_equal(text_at(json_array_get(keys, 0), "key"), "'$ancestors'");
    assert_int_equal(json_array_size(json_object_get(j, "largest_binaries")), 2);
    json_decref(j);
    model_free(m);
}

/* Names that are no UTF-8, or that would steer a terminal. */
static json_t *armed_row(json_t *root, const char *what, const char *where)
{
    json_t *rows = json_object_get(root, "rows"), *row;
    size_t i;
    json_array_foreach (rows, i, row)
        if (strcmp(text_at(row, "what"), what) == 0 && strcmp(text_at(row, "where"), where) == 0)
            return row;
    fail_msg("there is no %s %s", what, where);
    return NULL;
}

TEST(test_armed)
{
    struct model *m = full_model();
    json_t *j = json_of(sink_kind_find("armed"), m), *sums = json_object_get(j, "armed");
    assert_int_equal(int_at(sums, "sessions"), 2);
    assert_int_equal(int_at(sums, "breakpoints"), 7);
    assert_int_equal(int_at(sums, "breakpoints_shown"), 4);
    assert_int_equal(int_at(sums, "processes"), 2);
    assert_int_equal(int_at(sums, "control_word"), 17);
    json_t *point = armed_row(j, "breakpoint", "shop_cart:'add item'/2");
    assert_int_equal(int_at(point, "call_count"), 12);
    assert_int_equal(int_at(point, "call_time_us"), 345);
    assert_true(json_is_null(json_object_get(point, "session")));
    assert_true(json_is_false(json_object_get(point, "beamtop")));
    json_t *flags = armed_row(j, "flags", "shop_cart");
    assert_string_equal(text_at(flags, "pid"), "<0.41.0>");
    assert_string_equal(text_at(flags, "session"), "beamtop");
    assert_true(json_is_true(json_object_get(flags, "beamtop")));
    assert_int_equal(int_at(armed_row(j, "control_word", "trace_control_word"), "value"), 17);
    json_decref(j);

    struct buf text = output(SINK_TEXT, sink_kind_find("armed"), m);
    assert_non_null(strstr(buf_cstr(&text), "local, 12 calls, 345 µs, 6 words\n"));
    buf_clear(&text);
    must(m, ANSWER_ARMED, "{armed, 5, 0, [], {0, []}, {0, []}, [], 0, <<>>, 0}");
    text = output(SINK_TEXT, sink_kind_find("armed"), m);
    assert_non_null(strstr(buf_cstr(&text), "\nNo active tracing on this node.\n"));
    buf_clear(&text);
    j = json_of(sink_kind_find("armed"), m);
    assert_int_equal(json_array_size(json_object_get(j, "rows")), 0);
    json_decref(j);
    model_free(m);
}

TEST(test_hostile_text)
{
    static const struct {
        const char *name, *text, *json, *csv;
    } rows[] = {
        {"escape", "a\033[31mb", "a\\u001B[31mb", "a\xef\xbf\xbd[31mb"},
        {"no UTF-8",
         "a\xff\xfe"
         "b",
         "a\xef\xbf\xbd\xef\xbf\xbd"
         "b",
         "a\xef\xbf\xbd\xef\xbf\xbd"
         "b"},
        {"quote", "a\"b,c", "a\\\"b,c", "\"a\"\"b,c\""},
        {"newline", "a\nb", "a\\nb",
         "a\xef\xbf\xbd"
         "b"},
        {"C1",
         "a\xc2\x9b"
         "b",
         "a\\u009Bb",
         "a\xef\xbf\xbd"
         "b"},
        {"delete",
         "a\x7f"
         "b",
         "a\\u007Fb",
         "a\xef\xbf\xbd"
         "b"},
        {"bidi",
         "a\xe2\x80\xae"
         "b",
         "a\\u202Eb",
         "a\xef\xbf\xbd"
         "b"},
        {"plain", "caf\xc3\xa9", "caf\xc3\xa9", "caf\xc3\xa9"},
    };
    struct error err = {0};
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        const struct sink_node node = {.name = {rows[i].text, strlen(rows[i].text)},
                                       .os_pid = 7,
                                       .port = -1,
                                       .uptime_s = NAN,
                                       .rss_bytes = NAN};
        for (int format = SINK_TEXT; format <= SINK_CSV; format++) {
            struct kept k = {0};
            const struct sink_writer writer = {keep, &k};
            const struct sink_options options = {.format = (enum sink_format)format};
            buf_init(&k.bytes, 0);
            struct sink *s = sink_open(&writer, &options);
            assert_int_equal(sink_put_nodes(s, &node, 1, 5, &err), 0);
            const char *out = buf_cstr(&k.bytes);
            if (format != SINK_TEXT &&
                !strstr(out, format == SINK_JSON ? rows[i].json : rows[i].csv))
                fail_msg("%s: %s", rows[i].name, out);
            for (size_t at = 0; at < k.bytes.len; at++)
                assert_true((uint8_t)out[at] >= 0x20 || out[at] == '\n');
            assert_null(strchr(out, 0x7f));
            if (format == SINK_JSON)
                json_decref(parsed(&k.bytes));
            sink_close(s);
            buf_clear(&k.bytes);
        }
    }
}

TEST(test_csv)
{
    struct model *m = full_model();
    struct kept k = {0};
    struct error err = {0};
    const struct field *columns[COLUMNS_MAX];
    int n;
    assert_int_equal(proc_columns_parse("pid,name,memory,red,links", columns, &n, &err), 0);
    const struct sink_writer writer = {keep, &k};
    const struct sink_options options = {.format = SINK_CSV, .columns = columns, .n_columns = n};
    buf_init(&k.bytes, 0);
    struct sink *s = sink_open(&writer, &options);
    assert_int_equal(sink_put(s, sink_kind_find("top"), m, &err), 0);
    assert_int_equal(sink_put(s, sink_kind_find("top"), m, &err), 0);
    static const char rows[] = "1700000100000000,mq1@host,<0.41.0>,shop_cart,4096,500.000000,\n"
                               "1700000100000000,mq1@host,<0.42.1>,,2048,,\n";
    char wanted[600];
    snprintf(wanted, sizeof wanted,
             "wall_us,node,pid,name,memory_bytes,reductions_per_s,links\n%s%s", rows, rows);
    assert_string_equal(buf_cstr(&k.bytes), wanted);
    assert_int_equal(k.calls, 5); /* line by line */
    sink_close(s);
    buf_clear(&k.bytes);
    /* As many cells in every line. */
    for (const struct sink_kind *kind = sink_kinds; kind->question != QUESTIONS; kind++) {
        struct buf b = output(SINK_CSV, kind, m);
        int commas = -1, count = 0;
        bool quoted = false;
        for (size_t i = 0; i < b.len; i++) {
            quoted ^= b.data[i] == '"';
            count += b.data[i] == ',' && !quoted;
            if (b.data[i] != '\n' || quoted)
                continue;
            if (commas >= 0 && commas != count)
                fail_msg("%s: %d cells, then %d", kind->name, commas, count);
            commas = count;
            count = 0;
        }
        buf_clear(&b);
    }
    model_free(m);
}

TEST(test_text)
{
    struct model *m = full_model();
    struct buf b = output(SINK_TEXT, sink_kind_find("top"), m);
    const char *text = buf_cstr(&b);
    assert_non_null(strstr(text, "mq1@host  2023-11-14 22:15:00Z"));
    assert_non_null(strstr(text, "shop_cart"));
    assert_non_null(strstr(text, "shop_api:'handle-it'/2")); /* what it is called for people */
    assert_non_null(strstr(text, "–"));
    assert_non_null(strstr(text, "2 of 50 processes, by change of reductions_per_s"));
    buf_clear(&b);
    for (const struct sink_kind *kind = sink_kinds; kind->question != QUESTIONS; kind++) {
        b = output(SINK_TEXT, kind, m);
        assert_true(b.len > 40 && b.data[b.len - 1] == '\n');
        buf_clear(&b);
    }
    model_free(m);
}

/* Names of Elixir's modules are as they are written there; what programs read has the node's. */
TEST(test_elixir_names)
{
    struct model *m = full_model();
    must(m, ANSWER_SCAN,
         "{scan, -576460098000000000, 1000000000, 500000, 9, 9, 2, [{<0.41.0>, 9000, 0, "
         "{{'Elixir.Shop.Cart', {'Elixir.Shop.Cart',init,1}, undefined, shop, {m,f,1}}, 9000, 7, "
         "4096, {'Elixir.Shop.Cart', wait, 2}}}], []}");
    must(m, ANSWER_APPS,
         "{apps, 1000000000, [{'Elixir.Shop', <<>>, <<\"1.0\">>, 5, 4096, 1000, 7}], false}");
    static const struct {
        const char *kind, *text, *json;
    } rows[] = {{"top", "Shop.Cart", "\"Elixir.Shop.Cart\""}, {"apps", "Shop", "\"Elixir.Shop\""}};
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct buf text = output(SINK_TEXT, sink_kind_find(rows[i].kind), m);
        struct buf json = output(SINK_JSON, sink_kind_find(rows[i].kind), m);
        if (!strstr(buf_cstr(&text), rows[i].text) || strstr(buf_cstr(&text), "Elixir."))
            fail_msg("%s: %s", rows[i].kind, buf_cstr(&text));
        assert_non_null(strstr(buf_cstr(&json), rows[i].json));
        buf_clear(&text);
        buf_clear(&json);
    }
    model_free(m);
}

/* A size that was read some time ago has its age, in each form; one that never was is the least. */
TEST(test_older_sizes)
{
#define OLD_ROW(id, memory)                                                                        \
    "{<0." id ".0>, 9000, 0, {{undefined, {m,f,1}, undefined, undefined, {m,f,1}}, 9000, 70000, "  \
    "{older, " memory "}, undefined}}"
    struct model *m = full_model();
    must(m, ANSWER_SCAN,
         "{scan, -576460098000000000, 1000000000, 500000, 9, 9, 2, [" OLD_ROW(
             "41", "4194304, 42500") ", " OLD_ROW("42", "8388608, undefined") "], []}");
    for (size_t i = 0; i < ARRAY_LEN(answers); i++)
        if (strcmp(answers[i].name, "heaps, one with a long queue") == 0)
            must(m, ANSWER_HEAPS, answers[i].text);
    struct buf text = output(SINK_TEXT, sink_kind_find("top"), m);
    if (!strstr(buf_cstr(&text), "~4.00 MiB 42 s ago") || !strstr(buf_cstr(&text), "≥8.00 MiB"))
        fail_msg("sizes without their age: %s", buf_cstr(&text));
    buf_clear(&text);
    json_t *j = json_of(sink_kind_find("top"), m), *rows = json_object_get(j, "rows");
    json_t *read = json_array_get(rows, 0), *never = json_array_get(rows, 1);
    assert_true(json_is_true(json_object_get(read, "memory_older")));
    assert_true(json_number_value(json_object_get(read, "memory_age_s")) == 42.5);
    assert_true(json_is_true(json_object_get(never, "memory_older")));
    assert_true(json_is_null(json_object_get(never, "memory_age_s")));
    json_decref(j);
    assert_true(model_heaps(m)->rows[0].older && model_heaps(m)->rows[0].row.older_s == 7.25);
    model_free(m);
}

/* Of what was seen for the first time the age is the least; a quota has its decimals. */
TEST(test_numbers_as_text)
{
    struct model *m = full_model();
    struct buf b = output(SINK_TEXT, sink_kind_find("process"), m);
    if (!strstr(buf_cstr(&b), "≥"))
        fail_msg("an age that is not known: %s", buf_cstr(&b));
    buf_clear(&b);
    char quarter[] = THREADS_ANSWER("200", "800000000 200000000 900", "1", "20", "10");
    memcpy(strstr(quarter, "150000"), "025000", 6);
    must(m, ANSWER_THREADS, quarter);
    b = output(SINK_TEXT, sink_kind_find("cpus"), m);
    if (!strstr(buf_cstr(&b), "0.25"))
        fail_msg("no quota of 0.25: %s", buf_cstr(&b));
    buf_clear(&b);
    model_free(m);
}

/* Many are grouped by what is known of the first ones; few are listed. */
TEST(test_many_relations_as_text)
{
    static const char head[] = "{process, 5, <0.41.0>, {shop, {shop,init,1}, undefined, shop, "
                               "{proc_lib,init_p,5}}, [{links,{2,[{<0.31.0>,shop_sup},"
                               "{<0.32.0>,undefined}]}},{monitors,{58250,[";
    struct model *m = full_model();
    struct buf answer, b;
    buf_init(&answer, 0);
    buf_puts(&answer, head);
    for (int i = 0; i < 40; i++)
        buf_printf(&answer, "%s{process,<0.%d.0>,%s}", i > 0 ? "," : "", 100 + i,
                   i < 17   ? "shop_cart"
                   : i < 19 ? "undefined"
                            : "shop_db");
    buf_puts(&answer, "]}}]}");
    must(m, ANSWER_PROCESS, buf_cstr(&answer));
    b = output(SINK_TEXT, sink_kind_find("process"), m);
    static const char *const lines[] = {
        "monitors                    58,250, of the first 20:\n",
        "                            17  shop_cart\n",
        "                             2  unknown\n                             1  shop_db\n",
        "                            <0.104.0>  shop_cart\n                            58,245 "
        "more\n",
        "linked to                   <0.31.0>  shop_sup\n                            <0.32.0>\n",
    };
    for (size_t i = 0; i < ARRAY_LEN(lines); i++)
        if (!strstr(buf_cstr(&b), lines[i]))
            fail_msg("no %s in %s", lines[i], buf_cstr(&b));
    buf_clear(&answer);
    buf_clear(&b);
    b = output(SINK_CSV, sink_kind_find("process"), m);
    const char *line = buf_cstr(&b), *end = strchr(line, '\n');
    assert_true(end && strchr(end + 1, '\n') && !strchr(end + 1, '\n')[1]);
    buf_clear(&b);
    model_free(m);
}

TEST(test_suspenders)
{
    static const struct {
        const char *answer, *line;
    } rows[] = {
        {"{suspenders, 5, [{<<\"<0.50.0>\">>, <0.41.0>, <0.50.0>, shop_debugger, 2, 9, 9}], false}",
         "suspended by                <0.50.0>  shop_debugger\n"},
        {"{suspenders, 5, [{<<\"nobody\">>, <0.41.0>, undefined, undefined, undefined, 20000, "
         "84000}], true}",
         "suspended by                not found among 20,000 of 84,000 processes\n"},
        {"{suspenders, 5, [{<<\"nobody\">>, <0.41.0>, undefined, undefined, undefined, 84, 84}], "
         "false}",
         "suspended by                no process: probably a send to a busy port or node\n"},
        {"{suspenders, 5, [{<<\"nobody\">>, <0.41.0>, undefined, undefined, undefined, 0, "
         "undefined}], true}",
         "suspended by                unknown: the node listed no processes\n"},
        /* Of another process, or of none. */
        {"{suspenders, 5, [{<<\"<0.50.0>\">>, <0.42.0>, <0.50.0>, x, 1, 9, 9}], false}", NULL},
        {"{suspenders, 5, [], false}", NULL},
    };
    struct model *m = full_model();
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        must(m, ANSWER_SUSPENDERS, rows[i].answer);
        struct buf b = output(SINK_TEXT, sink_kind_find("process"), m);
        const char *is = strstr(buf_cstr(&b), "suspended by");
        if (rows[i].line ? !is || strncmp(is, rows[i].line, strlen(rows[i].line)) != 0 : !!is)
            fail_msg("%s: %s", rows[i].answer, buf_cstr(&b));
        buf_clear(&b);
    }
    model_free(m);
}

TEST(test_ascii)
{
    struct model *m = full_model();
    struct kept k = {0};
    struct error err = {0};
    const struct sink_writer writer = {keep, &k};
    const struct sink_options options = {.format = SINK_TEXT, .ascii = true};
    buf_init(&k.bytes, 0);
    struct sink *s = sink_open(&writer, &options);
    for (const struct sink_kind *kind = sink_kinds; kind->question != QUESTIONS; kind++)
        assert_int_equal(sink_put(s, kind, m, &err), 0);
    for (size_t i = 0; i < k.bytes.len; i++)
        assert_true(k.bytes.data[i] < 0x80);
    sink_close(s);
    buf_clear(&k.bytes);
    model_free(m);
}

TEST(test_failed_writes)
{
    struct model *m = full_model();
    struct kept k = {.fail_from = 2, .error = EPIPE};
    struct error err = {0};
    const struct sink_writer writer = {keep, &k};
    const struct sink_options options = {.format = SINK_JSON};
    buf_init(&k.bytes, 0);
    struct sink *s = sink_open(&writer, &options);
    assert_int_equal(sink_put(s, sink_kind_find("top"), m, &err), 0);
    assert_int_equal(sink_write_errno(s), 0);
    assert_int_equal(sink_put(s, sink_kind_find("top"), m, &err), ERR_SYSTEM);
    assert_int_equal(sink_write_errno(s), EPIPE);
    k.fail_from = 0;
    error_clear(&err);
    assert_int_equal(sink_put(s, sink_kind_find("top"), m, &err), ERR_SYSTEM); /* it stays broken */
    assert_int_equal(k.calls, 1);
    sink_close(s);
    buf_clear(&k.bytes);
    FILE *full = fopen("/dev/full", "w");
    if (full) {
        s = sink_open_file(full, &options);
        error_clear(&err);
        assert_int_equal(sink_put(s, sink_kind_find("info"), m, &err), ERR_SYSTEM);
        assert_int_equal(sink_write_errno(s), ENOSPC);
        sink_close(s);
        fclose(full);
    }
    model_free(m);
}

TEST(test_what_is_not_known_yet)
{
    struct model *m = model_new();
    struct kept k = {0};
    const struct sink_writer writer = {keep, &k};
    const struct sink_options options = {.format = SINK_JSON};
    struct sink *s = sink_open(&writer, &options);
    for (const struct sink_kind *kind = sink_kinds; kind->question != QUESTIONS; kind++) {
        struct error err = {0};
        assert_int_equal(sink_put(s, kind, m, &err), ERR_NOT_FOUND);
    }
    assert_int_equal(k.calls, 0);
    sink_close(s);
    model_free(m);
}

static void write_document(const char *path, const char *text, size_t len, const struct buf *tables)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, len, file), len);
    assert_int_equal(fwrite(tables->data, 1, tables->len, file), tables->len);
    assert_int_equal(fclose(file), 0);
}

/* docs/json.md ends with the tables that the code has. */
TEST(test_the_document_is_true)
{
    const char *dir = getenv("BEAMTOP_SRCDIR");
    char path[512];
    struct buf wanted, found;
    buf_init(&wanted, 0);
    buf_init(&found, 0);
    put_json_tables(&wanted);
    snprintf(path, sizeof path, "%s/docs/json.md", dir ? dir : ".");
    FILE *file = fopen(path, "r");
    if (!file)
        fail_msg("%s cannot be read", path);
    char chunk[4096];
    for (size_t n; (n = fread(chunk, 1, sizeof chunk, file)) > 0;)
        buf_put(&found, chunk, n);
    fclose(file);
    const char *tables = strstr(buf_cstr(&found), "\n### `cost`\n");
    assert_non_null(tables);
    if (strcmp(tables, buf_cstr(&wanted)) != 0 && getenv("BEAMTOP_GOLDEN"))
        write_document(path, buf_cstr(&found), (size_t)(tables - buf_cstr(&found)), &wanted);
    else if (strcmp(tables, buf_cstr(&wanted)) != 0)
        fail_msg("docs/json.md has other tables; BEAMTOP_GOLDEN=update writes them");
    buf_clear(&wanted);
    buf_clear(&found);
}
