/*
 * A damaged recording. The input is a list of damages (see `damage`) that are done to a small valid
 * file, which is made once: bytes, pages, the length, the value of a cell, the term of an answer. It is then
 * opened, read with every function of the reader, and its answers are given to a model.
 */
#include <math.h>
#include <sqlite3.h>
#include <unistd.h>
#include <zlib.h>

#include "../unit/model/answers.h"
#include "../unit/store/made_trace.h"
#include "beamtop/base/attr.h"
#include "beamtop/store/calls_sink.h"
#include "beamtop/store/export.h"
#include "beamtop/store/finding.h"
#include "beamtop/store/recorded_log.h"
#include "beamtop/store/recording.h"
#include "beamtop/store/summary.h"
#include "beamtop/store/trace_sink.h"
#include "fuzz.h"

enum { TICKS = 4, HEAD = 4, PAGE = 4096, WAL_AT = 18, DAMAGES_MOST = 64, CELLS_MOST = 512, SERIES = 60 };
enum { DAMAGE_BYTES, DAMAGE_LENGTH, DAMAGE_PAGE, DAMAGE_CELL, DAMAGE_TERM, DAMAGES };

static struct {
    char path[64];
    uint8_t *bytes; /* of the valid file */
    size_t len;
    char *cells[CELLS_MOST]; /* statements that set a column */
    size_t n_cells;
} base;

/* ---- The valid file */

static void take(struct recorder *r, struct model *m, enum answer_kind kind, const char *question,
                 const char *text)
{
    struct error err = {0};
    struct term t = term_of(text);
    size_t len = 0;
    const uint8_t *bytes = builder_bytes(t.builder, &len);
    FUZZ_REQUIRE(give(m, kind, text, &err) >= 0);
    recorder_answer(r, question, bytes + 1, len - 1, kind == ANSWER_SCAN ? &scan_want : NULL);
    term_free(&t);
}

static void tick(struct recorder *r, struct model *m, int second)
{
    struct error err = {0};
    char text[1200];
    long long mono = -576460000000000000LL + second * 1000000000LL;
    snprintf(text, sizeof text,
             "{system, %lld, %lld, %d, {%d, 600, 500, 400, 50, 40, 30, 20, 10}, {41, 2, 9000, 12}, "
             "{%d, [2,1,4,5]}, {%d, 10, 20, 30, 40, 50}, [{1,5,%d},{2,0,%d}], {2048, 4096}}",
             mono, 1700000000000000LL + second * 1000000LL, second * 1000, 1000 + second, second % 7,
             1000 * second, second * 100, second * 100);
    take(r, m, ANSWER_SYSTEM, "system", text);
    snprintf(text, sizeof text,
             "{scan, %lld, 1000000000, 1234, 50, 50, 2, "
             "[{<0.41.0>, %d, 500, {{shop_cart, {shop_cart,init,1}, <<\"cart\">>, shop, "
             "{proc_lib,init_p,5}}, %d, 3, 4096, {gen_server,loop,7}}}, "
             "{<0.42.1>, %d, 300, {{undefined, {logger_olp,init,1}, undefined, undefined, "
             "{erlang,apply,2}}, %d, 0, 2048, undefined}}], []}",
             mono, second * 500, second * 500, second * 300, second * 300);
    take(r, m, ANSWER_SCAN, "scan", text);
    FUZZ_REQUIRE(recorder_tick(r, m, 1700000000000000LL + second * 1000000LL, &err) == 0);
}

static void add_trace(struct recorder *r)
{
    struct made_trace t;
    made_trace_new(&t);
    recorder_trace_begin(r, t.log, PRINT_ERLANG, MADE_TRACE_WALL_US);
    for (size_t i = 0; i < trace_log_len(t.log); i++) {
        const struct trace_event *e = trace_log_at(t.log, i);
        recorder_trace_event(r, t.log, e, false);
        if (e->outcome == OUTCOME_RETURN || e->outcome == OUTCOME_EXCEPTION)
            recorder_trace_event(r, t.log, e, true);
    }
    made_trace_end(&t);
    recorder_trace_end(r, t.log, MADE_TRACE_WALL_US);
    made_trace_free(&t);
}

static void add_extras(struct recorder *r)
{
    static const struct recorded_call calls[] = {
        {{"shop_repo", 9}, {"prepare_query", 13}, 3, 30, 900, -1, 0.75},
        {{"shop_repo", 9}, {"get", 3}, 2, 10, -1, 44, 0.25},
    };
    const struct calls_function counted = {.module = {"shop_repo", 9}, .function = {"get", 3},
                                           .arity = 2, .calls = 10};
    const struct calls_window whole = {.number = 1, .interval_us = 2000000, .calls = 40,
                                       .rows = &counted, .n_rows = 1};
    const struct recorded_window w = {.wall_us = 1700000002000000, .ns = 2000000000,
                                      .functions = 200, .calls = 40, .lost = 1, .calls_per_s = 20,
                                      .top = calls, .n_top = ARRAY_LEN(calls), .whole = &whole};
    recorder_window(r, &w);
    recorder_mark(r, 5, 1700000002500000, "deploy");
    recorder_fact(r, "logger", "{\"handlers\":[{\"id\":\"default\",\"module\":\"logger_std_h\","
                               "\"mode\":\"sync\",\"process\":\"p\",\"sync_mode_qlen\":10}],"
                               "\"primary_level\":\"info\"}");
    recorder_fact(r, "limits", "{\"atoms\":{\"count\":900000,\"limit\":1048576}}");
    recorder_fact(r, "repositories", "[\"shop_repo\"]");
    recorder_fact(r, "code", "{\"mode\":\"interactive\",\"modules\":300}");
    recorder_gap(r, 9, "link lost");
    add_trace(r);
}

/* A statement for each column of each table. */
static void list_cells(void)
{
    sqlite3 *db = NULL;
    sqlite3_stmt *s = NULL;
    FUZZ_REQUIRE(sqlite3_open(base.path, &db) == SQLITE_OK);
    FUZZ_REQUIRE(sqlite3_prepare_v2(db, "SELECT m.name, c.name FROM sqlite_master m,"
                                        " pragma_table_info(m.name) c WHERE m.type = 'table'",
                                    -1, &s, NULL) == SQLITE_OK);
    while (sqlite3_step(s) == SQLITE_ROW && base.n_cells < CELLS_MOST)
        base.cells[base.n_cells++] = sqlite3_mprintf("UPDATE OR IGNORE \"%w\" SET \"%w\" = ?",
                                                     sqlite3_column_text(s, 0),
                                                     sqlite3_column_text(s, 1));
    sqlite3_finalize(s);
    sqlite3_close(db);
    FUZZ_REQUIRE(base.n_cells > 50);
}

static void forget_file(void)
{
    static const char *const ends[] = {"", "-wal", "-shm", "-journal"};
    char path[80];
    for (size_t i = 0; i < ARRAY_LEN(ends); i++) {
        snprintf(path, sizeof path, "%s%s", base.path, ends[i]);
        unlink(path);
    }
}

static void make_base(void)
{
    const struct recorder_options options = {.node = "mq1@host", .label = "fuzz", .interval_s = 1,
                                             .values = true};
    struct error err = {0};
    struct recorder *r = NULL;
    struct model *m = model_new();
    /* In memory where that is possible: the file is written for every input. */
    const char *dir = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
    snprintf(base.path, sizeof base.path, "%s/beamtop-fuzz-%ld.btr", dir, (long)getpid());
    unlink(base.path); /* of one that was killed */
    FUZZ_REQUIRE(recorder_open(&r, base.path, &options, &err) == 0);
    take(r, m, ANSWER_NODE, "node", NODE_ANSWER);
    for (int i = 1; i <= TICKS; i++) {
        if (i == 2)
            add_extras(r);
        tick(r, m, i);
    }
    FUZZ_REQUIRE(recorder_close(r, "stopped", &err) == 0);
    model_free(m);
    FILE *f = fopen(base.path, "rb");
    FUZZ_REQUIRE(f != NULL && fseek(f, 0, SEEK_END) == 0);
    base.len = (size_t)ftell(f);
    rewind(f);
    base.bytes = malloc(base.len);
    FUZZ_REQUIRE(fread(base.bytes, 1, base.len, f) == base.len);
    fclose(f);
    list_cells();
}

/* ---- Damages: what, a number of two bytes, the length of what follows, and that */

struct image {
    uint8_t *bytes;
    size_t len;
};

static void bind_value(sqlite3_stmt *s, const uint8_t *p, size_t len)
{
    int64_t n = 0;
    double d;
    if (len == 0)
        return; /* NULL */
    for (size_t i = 1; i < len && i < 9; i++)
        n = (int64_t)((uint64_t)n << 8 | p[i]);
    memcpy(&d, &n, sizeof d);
    switch (p[0] % 4) {
    case 0: sqlite3_bind_int64(s, 1, n); break;
    case 1: sqlite3_bind_double(s, 1, d); break;
    case 2: sqlite3_bind_text(s, 1, (const char *)p + 1, (int)len - 1, SQLITE_TRANSIENT); break;
    default: sqlite3_bind_blob(s, 1, p + 1, (int)len - 1, SQLITE_TRANSIENT); break;
    }
}

static void set_cell(sqlite3 *db, size_t which, const uint8_t *p, size_t len)
{
    sqlite3_stmt *s = NULL;
    FUZZ_REQUIRE(sqlite3_prepare_v2(db, base.cells[which % base.n_cells], -1, &s, NULL) ==
                 SQLITE_OK);
    bind_value(s, p, len);
    sqlite3_step(s); /* a value that the table does not take is as good as none */
    sqlite3_finalize(s);
}

static void set_term(sqlite3 *db, size_t which, const uint8_t *p, size_t len)
{
    static const char *const questions[] = {"node", "system", "scan"};
    uint8_t packed[512];
    uLongf size = sizeof packed;
    sqlite3_stmt *s = NULL;
    FUZZ_REQUIRE(compress(packed, &size, p, len) == Z_OK);
    FUZZ_REQUIRE(sqlite3_prepare_v2(
                     db, "UPDATE answer SET term = ?, bytes = ? WHERE question = ? AND tick < 4",
                     -1, &s, NULL) == SQLITE_OK);
    sqlite3_bind_blob(s, 1, packed, (int)size, SQLITE_TRANSIENT);
    sqlite3_bind_int64(s, 2, (int64_t)len);
    sqlite3_bind_text(s, 3, questions[which % ARRAY_LEN(questions)], -1, SQLITE_STATIC);
    sqlite3_step(s);
    sqlite3_finalize(s);
}

/* Cells and terms, while the file is valid. */
static void damage_values(struct image *image, const uint8_t *data, size_t size)
{
    sqlite3 *db = NULL;
    sqlite3_int64 len = 0;
    unsigned flags = SQLITE_DESERIALIZE_FREEONCLOSE | SQLITE_DESERIALIZE_RESIZEABLE;
    unsigned char *copy = sqlite3_malloc64(base.len);
    memcpy(copy, base.bytes, base.len);
    copy[WAL_AT] = copy[WAL_AT + 1] = 1; /* a database in memory has no WAL */
    FUZZ_REQUIRE(sqlite3_open(":memory:", &db) == SQLITE_OK);
    FUZZ_REQUIRE(sqlite3_deserialize(db, "main", copy, (sqlite3_int64)base.len,
                                     (sqlite3_int64)base.len, flags) == SQLITE_OK);
    for (size_t i = 0, n = 0; i + HEAD <= size && n < DAMAGES_MOST; n++) {
        size_t len_of = data[i + 3] < size - i - HEAD ? data[i + 3] : size - i - HEAD;
        size_t which = (size_t)(data[i + 1] << 8 | data[i + 2]);
        if (data[i] % DAMAGES == DAMAGE_CELL)
            set_cell(db, which, data + i + HEAD, len_of);
        else if (data[i] % DAMAGES == DAMAGE_TERM)
            set_term(db, which, data + i + HEAD, len_of);
        i += HEAD + len_of;
    }
    unsigned char *out = sqlite3_serialize(db, "main", &len, 0);
    FUZZ_REQUIRE(out != NULL && len > 0);
    image->len = (size_t)len;
    image->bytes = malloc(image->len);
    memcpy(image->bytes, out, image->len);
    memcpy(image->bytes + WAL_AT, base.bytes + WAL_AT, 2);
    sqlite3_free(out);
    sqlite3_close(db);
}

static void damage_bytes(struct image *image, unsigned what, size_t where, const uint8_t *p,
                         size_t len)
{
    size_t at = where * image->len / 65536, pages = image->len / PAGE;
    if (what == DAMAGE_BYTES) {
        memcpy(image->bytes + at, p, len < image->len - at ? len : image->len - at);
    } else if (what == DAMAGE_LENGTH) {
        image->len = at + 1;
    } else if (what == DAMAGE_PAGE && len > 0 && pages > 0) {
        memmove(image->bytes + p[0] % pages * PAGE, image->bytes + at / PAGE % pages * PAGE, PAGE);
    }
}

static void damage(struct image *image, const uint8_t *data, size_t size)
{
    damage_values(image, data, size);
    for (size_t i = 0, n = 0; i + HEAD <= size && n < DAMAGES_MOST; n++) {
        size_t len = data[i + 3] < size - i - HEAD ? data[i + 3] : size - i - HEAD;
        damage_bytes(image, data[i] % DAMAGES, (size_t)(data[i + 1] << 8 | data[i + 2]),
                     data + i + HEAD, len);
        i += HEAD + len;
    }
}

static void write_image(const struct image *image)
{
    FILE *f = fopen(base.path, "wb");
    FUZZ_REQUIRE(f != NULL && fwrite(image->bytes, 1, image->len, f) == image->len);
    FUZZ_REQUIRE(fclose(f) == 0);
}

/* ---- The reader */

static int take_answer(void *arg, const char *question, const uint8_t *term, size_t len,
                       const struct want_scan *asked, struct error *err)
{
    struct model *m = arg;
    (void)err;
    struct error ignored = {0};
    if (strcmp(question, "node") == 0)
        model_take_node(m, term, len, &ignored);
    else if (strcmp(question, "system") == 0)
        model_take_system(m, term, len, &ignored);
    else if (strcmp(question, "scan") == 0)
        model_take_scan(m, term, len, asked != NULL ? asked : &scan_want, 1, &ignored);
    return 0;
}

static void read_ticks(struct recording *r)
{
    struct model *m = model_new();
    for (int64_t tick = 0; tick <= TICKS + 1; tick++) {
        struct error err = {0};
        int64_t wall_us = recording_tick_wall_us(r, tick);
        (void)recording_tick_at(r, wall_us);
        (void)recording_tick_mono_ns(r, tick);
        (void)recording_gap_before(r, tick);
        (void)recording_answers(r, tick, take_answer, m, &err);
    }
    model_free(m);
}

static size_t text_bytes(struct slice s)
{
    size_t sum = 0;
    for (size_t i = 0; i < s.len; i++)
        sum += (uint8_t)s.s[i];
    return sum;
}

static void read_sums(struct recording *r, int64_t from, int64_t to)
{
    static const char *const by[] = {"application", "supervisor", "module", "name", "label"};
    const struct recording_mark *marks;
    const struct span_owner *owners;
    const struct span_process *processes;
    const struct recorded_call *calls;
    struct span_turnover turnover;
    struct recorded_window sums;
    struct span_stats stats;
    struct error err = {0};
    double series[SERIES];
    size_t sum = 0;
    for (size_t i = 0, n = recording_marks(r, &marks); i < n; i++)
        sum += strlen(marks[i].text);
    (void)recording_stats(r, "memory_total_bytes", from, to, &stats, &err);
    FUZZ_REQUIRE(recording_series(r, "run_queue", from, to, series, SERIES) <= SERIES);
    for (size_t b = 0; b < ARRAY_LEN(by); b++)
        for (size_t i = 0, n = recording_owners(r, by[b], from, to, &owners); i < n; i++)
            sum += text_bytes(owners[i].owner) + text_bytes(owners[i].kind);
    (void)recording_processes(r, from, to, &processes, &turnover);
    for (size_t i = 0, n = recording_calls(r, from, to, &calls, &sums); i < n; i++)
        sum += text_bytes(calls[i].module) + text_bytes(calls[i].function);
    const char *fact = recording_fact(r, "logger", to);
    FUZZ_REQUIRE(fact == NULL || strlen(fact) + sum < SIZE_MAX);
}

static void read_report(struct recording *r, int64_t to, size_t n, enum summary_format format)
{
    const struct summary_source sources[] = {{r, "a", 1, to}, {r, "b", 2, to}};
    struct summary_options o = {.format = format, .columns = 80};
    struct error err = {0};
    struct buf out;
    buf_init(&out, 0);
    (void)summary_write(&out, sources, n, &o, &err);
    buf_clear(&out);
}

static void read_exports(struct recording *r)
{
    static const char *const tables[] = {"system", "processes", "owners", "calls", "events", "marks"};
    struct error err = {0};
    FILE *nowhere = fopen("/dev/null", "w");
    FUZZ_REQUIRE(nowhere != NULL);
    for (size_t i = 0; i < ARRAY_LEN(tables); i++)
        (void)recording_export(r, EXPORT_CSV, tables[i], nowhere, &err);
    (void)recording_export(r, EXPORT_OPENMETRICS, NULL, nowhere, &err);
    fclose(nowhere);
}

static int count_bytes(void *ctx, const char *bytes, size_t len)
{
    *(size_t *)ctx += text_bytes((struct slice){bytes, len});
    return 0;
}

static void read_windows(struct recording *r, size_t which)
{
    size_t sum = 0;
    int64_t n = 0;
    struct error err = {0};
    const struct sink_writer writer = {count_bytes, &sum};
    const struct calls_sink_options options = {.format = (enum calls_format)(which % 4)};
    struct calls_sink *s = calls_sink_open(&writer, &options);
    if (recording_windows_put(r, 1, TICKS, s, &n, &err) != 0)
        FUZZ_REQUIRE(err.text[0] != '\0');
    calls_sink_close(s);
}

/* As logs, tick by tick, as a screen shows them. */
static void show_traces(struct recording *r)
{
    struct recorded_log *l = recorded_log_new();
    int64_t tick = 1;
    for (int i = 0; i < TICKS && tick > 0; i++, tick = recording_tick_after(r, tick)) {
        struct error err = {0};
        if (recorded_log_to(l, r, tick, &err) != 0)
            FUZZ_REQUIRE(err.text[0] != '\0');
    }
    recorded_log_free(l);
}

static void read_traces(struct recording *r, size_t which)
{
    const struct recorded_trace *traces;
    int64_t ids[TICKS];
    size_t sum = 0, n = recording_traces(r, &traces);
    const struct sink_writer writer = {count_bytes, &sum};
    const struct trace_sink_options options = {.format = which % 2 ? SINK_JSON : SINK_TEXT,
                                               .node = "mq1@host"};
    for (size_t i = 0; i < n && i < TICKS; i++) {
        sum += text_bytes(traces[i].reason);
        ids[i] = traces[i].id;
    }
    for (size_t i = 0; i < n && i < TICKS; i++) {
        struct error err = {0};
        struct trace_sink *s = trace_sink_open(&writer, &options);
        if (recording_trace_put(r, ids[i], s, &err) != 0)
            FUZZ_REQUIRE(err.text[0] != '\0');
        trace_sink_close(s);
    }
    show_traces(r);
}

/*
 * Ways to read the file. While fuzzing an input takes one, which its length chooses: many quick
 * runs find more than few that do all. Replayed it takes them all, but one format.
 */
enum { WAY_TICKS, WAY_SUMS, WAY_EXPORTS, WAY_REPORT, WAY_REPORT_OF_TWO, WAY_TRACES, WAYS };

static void read_way(struct recording *r, unsigned way, enum summary_format format)
{
    int64_t ticks = recording_info(r)->ticks;
    switch (way) {
    case WAY_TICKS: read_ticks(r); break;
    case WAY_SUMS: read_sums(r, 1, ticks); break;
    case WAY_EXPORTS: read_exports(r); break;
    case WAY_REPORT: read_report(r, ticks, 1, format); break;
    case WAY_TRACES:
        read_traces(r, (size_t)format);
        read_windows(r, (size_t)format);
        break;
    default: read_report(r, ticks, 2, format); break;
    }
}

static void read_recording(struct recording *r, size_t which)
{
    enum summary_format format = (enum summary_format)(which % 4);
#ifdef FUZZ_ONE_WAY
    read_way(r, which / 4 % WAYS, format);
#else
    for (unsigned way = 0; way < WAYS; way++)
        read_way(r, way, format);
#endif
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct image image;
    struct recording *r = NULL;
    struct error err = {0};
    if (base.bytes == NULL)
        make_base();
    damage(&image, data, size);
    write_image(&image);
    if (recording_open(&r, base.path, &err) == 0) {
        const struct recording_info *info = recording_info(r);
        FUZZ_REQUIRE(info->node && info->otp && info->label && info->end && info->ticks > 0);
        read_recording(r, size);
    } else {
        FUZZ_REQUIRE(err.code != ERR_NONE && err.text[0] != '\0');
    }
    recording_close(r);
    forget_file();
    free(image.bytes);
    return 0;
}
