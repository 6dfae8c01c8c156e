/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Recordings that were made to do harm: what lies beside them, tables that are none, pages that
 * repeat, sizes and numbers that cannot be. Each is read in every way, by the program too, within
 * bounds of memory and of processor time. */
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zlib.h>

#include "../../test.h"
#include "../../fuzz/whole.h"
#include "../../temporary.h"
#include "beamtop/base/limits.h"
#include "read_file.h"
#include "run_bounded.h"

enum { PAGE = 4096, LAYERS = 18 };

struct place {
    char dir[64], path[96];
};

static void place_make(struct place *p)
{
    assert_true(temporary_dir(p->dir, sizeof p->dir, "hostile"));
    snprintf(p->path, sizeof p->path, "%s/a.btr", p->dir);
    whole_write(p->path);
}

static void place_clear(const struct place *p)
{
    static const char *const names[] = {"a.btr",         "a.btr-wal", "a.btr-shm",
                                        "a.btr-journal", "victim",    "out"};
    char path[128];
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        snprintf(path, sizeof path, "%s/%s", p->dir, names[i]);
        unlink(path);
    }
    assert_int_equal(rmdir(p->dir), 0);
}

static void beside(char out[128], const struct place *p, const char *end)
{
    snprintf(out, 128, "%s%s", p->path, end);
}

static void put_file(const char *path, const void *bytes, size_t len)
{
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(bytes, 1, len, f), len);
    assert_int_equal(fclose(f), 0);
}

/* As a user with their file may: also what SQLite guards. */
static void change(const struct place *p, const char *sql)
{
    sqlite3 *db = NULL;
    char *why = NULL;
    assert_int_equal(sqlite3_open(p->path, &db), SQLITE_OK);
    sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 0, (int *)NULL);
    sqlite3_db_config(db, SQLITE_DBCONFIG_DQS_DDL, 1, (int *)NULL);
    if (sqlite3_exec(db, sql, NULL, NULL, &why) != SQLITE_OK)
        fail_msg("%s: %s", sql, why);
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
}

static void assert_refused(const struct place *p, const char *says, const char *what)
{
    struct error err = {0};
    struct recording *r = NULL;
    if (recording_open(&r, p->path, &err) != ERR_FORMAT || !strstr(err.text, says))
        fail_msg("%s: %s", what, err.code == ERR_NONE ? "opened" : err.text);
}

/* ---- what lies beside it */

static void put_number(uint8_t *at, uint32_t n)
{
    for (int i = 0; i < 4; i++)
        at[i] = (uint8_t)(n >> (24 - 8 * i));
}

/* A journal of no page that names the victim as the one of several files: played back, it goes. */
static void put_hot_journal(const struct place *p, const char *victim)
{
    static const uint8_t magic[8] = {0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7};
    uint8_t journal[1024] = {0};
    size_t len = strlen(victim), at = 512;
    uint32_t sum = 0;
    char path[128];
    struct stat st;
    assert_int_equal(stat(p->path, &st), 0);
    memcpy(journal, magic, sizeof magic);
    put_number(journal + 16, (uint32_t)(st.st_size / PAGE));
    put_number(journal + 20, 512);
    put_number(journal + 24, PAGE);
    for (size_t i = 0; i < len; i++)
        sum += (uint8_t)victim[i];
    put_number(journal + at, 0x40000000 / PAGE + 1);
    memcpy(journal + at + 4, victim, len);
    put_number(journal + at + 4 + len, (uint32_t)len);
    put_number(journal + at + 8 + len, sum);
    memcpy(journal + at + 12 + len, magic, sizeof magic);
    beside(path, p, "-journal");
    put_file(path, journal, at + 20 + len);
}

TEST(test_a_journal_is_never_played_back)
{
    struct place p;
    char victim[128], journal[128];
    place_make(&p);
    snprintf(victim, sizeof victim, "%s/victim", p.dir);
    put_file(victim, "precious", 8);
    put_hot_journal(&p, victim);
    assert_refused(&p, "a recording never has a journal", "hot journal");
    beside(journal, &p, "-journal");
    assert_int_equal(access(victim, F_OK), 0);
    assert_int_equal(access(journal, F_OK), 0);
    unlink(journal);
    assert_int_equal(symlink(victim, journal), 0);
    assert_refused(&p, "a recording never has a journal", "link");
    place_clear(&p);
}

TEST(test_only_files_lie_beside_it)
{
    static const char *const ends[] = {"-wal", "-shm"};
    struct place p;
    char victim[128], path[128];
    place_make(&p);
    snprintf(victim, sizeof victim, "%s/victim", p.dir);
    for (size_t i = 0; i < ARRAY_LEN(ends); i++) {
        beside(path, &p, ends[i]);
        unlink(path);
        assert_int_equal(symlink(victim, path), 0);
        assert_refused(&p, "is not a regular file", ends[i]);
        unlink(path);
        assert_int_equal(mkfifo(path, 0600), 0);
        assert_refused(&p, "is not a regular file", ends[i]);
        unlink(path);
    }
    assert_int_equal(access(victim, F_OK), -1);
    unlink(p.path);
    assert_int_equal(mkfifo(p.path, 0600), 0);
    assert_refused(&p, "is not a regular file", "fifo");
    place_clear(&p);
}

/* Of one that was killed the last ticks are in FILE-wal: read, with both left as they are. */
TEST(test_what_a_killed_recorder_left_stays)
{
    struct error err = {0};
    struct recording *r = NULL;
    struct stat file, wal, after;
    struct place p;
    char path[128], shm[128];
    place_make(&p);
    pid_t pid = fork();
    if (pid == 0) {
        sqlite3 *db = NULL;
        sqlite3_open(p.path, &db);
        sqlite3_exec(
            db, "PRAGMA wal_autocheckpoint = 0; INSERT INTO mark(here_us, text) VALUES(1, 'late')",
            NULL, NULL, NULL);
        raise(SIGKILL);
    }
    waitpid(pid, NULL, 0);
    beside(path, &p, "-wal");
    beside(shm, &p, "-shm");
    unlink(shm);
    assert_int_equal(stat(p.path, &file) | stat(path, &wal), 0);
    if (recording_open(&r, p.path, &err) != 0)
        fail_msg("%s", err.text);
    const struct recording_mark *marks;
    assert_int_equal(recording_marks(r, &marks), 2);
    recording_close(r);
    assert_int_equal(access(shm, F_OK), -1);
    assert_int_equal(stat(p.path, &after), 0);
    assert_true(after.st_size == file.st_size && after.st_mtime == file.st_mtime);
    assert_int_equal(stat(path, &after), 0);
    assert_true(after.st_size == wal.st_size && after.st_mtime == wal.st_mtime);
    place_clear(&p);
}

/* ---- tables that are none */

#define SCHEMA "PRAGMA writable_schema = ON;"
static const struct {
    const char *what, *sql;
    /* clang-format off */
} computing[] = {
    {"generated column", "ALTER TABLE system ADD COLUMN x AS (hex(zeroblob(100000000)));"},
    {"generated column of another", "ALTER TABLE mark ADD COLUMN x AS (hex(zeroblob(100000000)));"},
    {"generated column behind a key", "CREATE TABLE \"a(UNIQUE(b\"(b UNIQUE, c AS (b));"},
    {"generated column behind a comment", "CREATE TABLE mine(b UNIQUE, c AS/*UNIQUE*/(b));"},
    {"default", "ALTER TABLE system ADD COLUMN x REAL DEFAULT (5);"},
    {"check", SCHEMA "UPDATE sqlite_master SET sql = replace(sql, 'pid TEXT NOT NULL,', 'pid TEXT "
                     "CHECK(pid), ')"
                     " WHERE name = 'process';"},
    {"no key", SCHEMA "UPDATE sqlite_master SET sql = replace(sql, 'PRIMARY KEY(trace', "
                      "'CHECK(trace')"
                      " WHERE name = 'trace_pattern';"},
    {"check that takes memory and time", /* of each row, when the table's pages are looked at */
     SCHEMA "UPDATE sqlite_master SET sql = replace(sql, 'pid TEXT NOT NULL,',"
            " 'pid TEXT NOT NULL CHECK(length(hex(zeroblob(450000000))) > 0),')"
            " WHERE name = 'process';"},
    {"virtual table", SCHEMA "UPDATE sqlite_master SET rootpage = 0,"
                             " sql = 'CREATE VIRTUAL TABLE mark USING fts5(text)' WHERE name = "
                             "'mark';"},
    {"virtual table as a view", SCHEMA "UPDATE sqlite_master SET type = 'view', rootpage = 0,"
                                       " sql = 'create virtual table mark using fts5(text)'"
                                       " WHERE name = 'mark';"},
    {"virtual table under its key", SCHEMA "INSERT INTO sqlite_master VALUES('table', 'x', 'x', 0,"
                                           " 'CREATE VIRTUAL TABLE x USING generate_series()');"},
    {"two of one page",
     SCHEMA "UPDATE sqlite_master SET rootpage = (SELECT rootpage FROM sqlite_master"
                               " WHERE name = 'tick') WHERE name = 'gap';"},
};
static const struct {
    const char *what, *sql;
} inert[] = {
    {"view", "DROP TABLE mark; CREATE VIEW Mark AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL "
             "SELECT i + 1"
             " FROM n) SELECT i AS id, i AS here_us, i AS wall_us, 'x' AS text FROM n;"},
    {"view of another name", "CREATE VIEW mine AS SELECT * FROM tick;"},
    {"trigger", "CREATE TRIGGER t AFTER INSERT ON mark BEGIN DELETE FROM tick; END;"},
    {"table", "CREATE TABLE mine(x);"},
    {"statistics", "ANALYZE; UPDATE sqlite_stat1 SET stat = '1 1';"},
    {"index", "CREATE INDEX mine ON process(memory_bytes);"},
    {"index of an expression",
     "DROP INDEX tick_wall; CREATE INDEX tick_wall ON tick(length(hex(zeroblob(wall_us % 9))));"},
    {"part of an index",
     "DROP INDEX tick_wall; CREATE INDEX tick_wall ON tick(wall_us) WHERE wall_us > 5;"},
    {"index of what we ask for", "CREATE INDEX mine ON mark(coalesce(wall_us, here_us));"},
    {"no index", "DROP INDEX tick_wall;"},
    {"no index of events", "DROP INDEX event_trace;"},
    {"reference", "ALTER TABLE system ADD COLUMN x REAL REFERENCES tick;"},
};
/* clang-format on */

TEST(test_tables_that_compute_are_refused)
{
    for (size_t i = 0; i < ARRAY_LEN(computing); i++) {
        struct place p;
        place_make(&p);
        change(&p, computing[i].sql);
        assert_refused(&p, "", computing[i].what);
        place_clear(&p);
    }
}

/* Nothing reads what is no table of ours, and nothing believes an index. */
TEST(test_what_is_not_used_stays_unused)
{
    for (size_t i = 0; i < ARRAY_LEN(inert); i++) {
        struct place p;
        place_make(&p);
        change(&p, inert[i].sql);
        if (!read_file(p.path, ALL_WAYS, i))
            fail_msg("%s: not opened", inert[i].what);
        place_clear(&p);
    }
}

/* Each table in turn without keys and types, each row of it twice, and rows of nothing. */
TEST(test_tables_without_keys)
{
    static const char *const tables[] = {
        "meta",         "text",          "tick",          "gap",
        "system",       "process",       "owner",         "call_window",
        "call",         "fact",          "trace",         "event",
        "mark",         "answer",        "sample_run",    "sample_frame",
        "sample_node",  "sample_source", "sample_held",   "span_run",
        "span_process", "span_event",    "trace_pattern", "system_event_run",
        "system_event",
    };
    for (size_t i = 0; i < ARRAY_LEN(tables); i++) {
        struct place p;
        const char *t = tables[i];
        char sql[640];
        place_make(&p);
        snprintf(sql, sizeof sql,
                 "PRAGMA legacy_alter_table = ON; CREATE TABLE made AS SELECT * FROM %s;"
                 "DROP TABLE %s; ALTER TABLE made RENAME TO %s; INSERT INTO %s SELECT * FROM %s;"
                 "INSERT INTO %s SELECT t.* FROM (SELECT 1) LEFT JOIN %s t ON 0;",
                 t, t, t, t, t, t, t);
        change(&p, sql);
        (void)read_file(p.path, ALL_WAYS, i);
        run_bounded(p.path, (const char *const[]){"report", NULL}, t);
        place_clear(&p);
    }
}

/* What an earlier program, or a later one of the same version, has more or fewer of. */
TEST(test_columns_of_other_programs_are_read)
{
    struct error err = {0};
    struct recording *r = NULL;
    struct place p;
    place_make(&p);
    change(&p,
           "ALTER TABLE system ADD COLUMN yet_another REAL; ALTER TABLE event ADD COLUMN more TEXT;"
           "ALTER TABLE system DROP COLUMN run_queue;");
    if (recording_open(&r, p.path, &err) != 0)
        fail_msg("%s", err.text);
    read_recording(r, 0);
    recording_close(r);
    place_clear(&p);
}

/* ---- pages */

/* Layers of pages of which each refers hundreds of times to the next: rows without end. */
TEST(test_pages_that_repeat)
{
    static uint8_t page[PAGE];
    struct place p;
    sqlite3 *db = NULL;
    sqlite3_stmt *s = NULL;
    place_make(&p);
    assert_int_equal(sqlite3_open(p.path, &db), SQLITE_OK);
    sqlite3_exec(db, "PRAGMA journal_mode = DELETE", NULL, NULL, NULL);
    assert_int_equal(sqlite3_prepare_v2(db,
                                        "SELECT rootpage FROM sqlite_master WHERE name = 'mark'",
                                        -1, &s, NULL),
                     SQLITE_OK);
    assert_int_equal(sqlite3_step(s), SQLITE_ROW);
    long root = (long)sqlite3_column_int64(s, 0);
    sqlite3_finalize(s);
    sqlite3_close(db);
    FILE *f = fopen(p.path, "r+b");
    assert_true(f && fseek(f, 0, SEEK_END) == 0);
    long pages = ftell(f) / PAGE;
    for (int i = 0; i < LAYERS; i++) {
        uint32_t next = i + 1 < LAYERS ? (uint32_t)(pages + i + 1) : (uint32_t)(pages + LAYERS);
        unsigned cells = 400, content = PAGE - cells * 5;
        memset(page, 0, sizeof page);
        page[0] = 5; /* of a table, with pages below it */
        page[3] = (uint8_t)(cells >> 8), page[4] = (uint8_t)cells;
        page[5] = (uint8_t)(content >> 8), page[6] = (uint8_t)content;
        put_number(page + 8, next);
        for (unsigned k = 0; k < cells; k++) {
            unsigned at = content + k * 5;
            page[12 + 2 * k] = (uint8_t)(at >> 8), page[13 + 2 * k] = (uint8_t)at;
            put_number(page + at, next);
            page[at + 4] = 1;
        }
        assert_int_equal(fseek(f, (i == 0 ? root - 1 : pages + i - 1) * PAGE, SEEK_SET), 0);
        assert_int_equal(fwrite(page, 1, PAGE, f), PAGE);
    }
    memset(page, 0, sizeof page);
    page[0] = 13; /* a leaf without rows */
    page[5] = PAGE >> 8;
    assert_int_equal(fwrite(page, 1, PAGE, f), PAGE);
    put_number(page, (uint32_t)(pages + LAYERS));
    assert_int_equal(fseek(f, 28, SEEK_SET), 0);
    assert_int_equal(fwrite(page, 1, 4, f), 4);
    fclose(f);
    assert_refused(&p, "damaged", "pages that repeat");
    place_clear(&p);
}

/* ---- numbers and sizes that cannot be */

/* What a row after another gets: each place of the list is where a column may begin. */
static void hostile_value(sqlite3_context *c, int n, sqlite3_value **arguments)
{
    unsigned *next = sqlite3_user_data(c);
    (void)n;
    (void)arguments;
    switch ((*next)++ % 8) {
    case 0:
    case 1:
        sqlite3_result_int64(c, INT64_MAX);
        break;
    case 2:
    case 3:
        sqlite3_result_int64(c, INT64_MIN);
        break;
    case 4:
        sqlite3_result_double(c, (double)INFINITY);
        break;
    case 5:
        sqlite3_result_text(c, "text", 4, SQLITE_STATIC);
        break;
    case 6:
        sqlite3_result_double(c, 1e308);
        break;
    default:
        sqlite3_result_int64(c, 1000000000000000000);
    }
}
static const unsigned value_begins[] = {0, 2, 4, 6};
enum {
    BEGINS_EACH = 3
}; /* of them, for one column alone; one, another for each, in a short check */
enum { WAYS_OF_RUNS = 1 << WAY_SUMS | 1 << WAY_EXPORTS | 1 << WAY_REPORT };

/*
 * An update of each column and the number of the file that has it. A file has a column of numbers
 * of each family of tables (class 0), since one that is refused leaves the others to be read, or a
 * key or text of each (1). What all families need (2) and what is mostly refused, of samples (3)
 * and spans (4), has files of its own. */
static const char updates_sql[] =
    "WITH named AS (SELECT m.name AS t, c.name AS c, c.cid AS at, CASE WHEN m.name IN ('meta', "
    "'text', 'tick') THEN 2 WHEN m.name LIKE 'sample%' THEN 3 WHEN m.name LIKE 'span%' THEN 4 ELSE "
    "c.pk > 0 OR c.type IN ('TEXT', 'BLOB') OR c.name IN ('tick', 'from_tick', 'trace', 'bytes') "
    "END AS class, CASE m.name WHEN 'owner' THEN 'process' WHEN 'event' THEN 'trace' ELSE "
    "substr(m.name, 1, instr(m.name || '_', '_') - 1) END AS family "
    "FROM sqlite_master m, pragma_table_info(m.name) c WHERE m.type = 'table'), "
    "numbered AS (SELECT t, c, class, row_number() OVER (PARTITION BY class, iif(class < 2, "
    "family, '') ORDER BY t, at) AS n FROM named) "
    "SELECT printf('UPDATE OR IGNORE \"%w\" SET \"%w\" = hostile()', t, c), "
    "dense_rank() OVER (ORDER BY class, n) - 1, class FROM numbered ORDER BY 2, 1";

struct update {
    char *sql;
    int file, class;
};

static size_t list_updates(const struct place *p, struct update *out, size_t most)
{
    sqlite3 *db = NULL;
    sqlite3_stmt *s = NULL;
    size_t n = 0;
    assert_int_equal(sqlite3_open(p->path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_prepare_v2(db, updates_sql, -1, &s, NULL), SQLITE_OK);
    for (; sqlite3_step(s) == SQLITE_ROW; n++) {
        assert_true(n < most);
        out[n].sql = sqlite3_mprintf("%s", sqlite3_column_text(s, 0));
        out[n].file = sqlite3_column_int(s, 1);
        out[n].class = sqlite3_column_int(s, 2);
    }
    sqlite3_finalize(s);
    sqlite3_close(db);
    assert_true(n > 200);
    return n;
}

/* A whole recording, to begin with again, and the updates of its columns. */
struct whole {
    struct place place;
    uint8_t *bytes;
    size_t len, n;
    struct update updates[512];
};

static void whole_open(struct whole *w)
{
    place_make(&w->place);
    change(&w->place, "PRAGMA journal_mode = DELETE");
    FILE *f = fopen(w->place.path, "rb");
    assert_true(f && fseek(f, 0, SEEK_END) == 0);
    w->len = (size_t)ftell(f);
    w->bytes = malloc(w->len);
    rewind(f);
    assert_int_equal(fread(w->bytes, 1, w->len, f), w->len);
    fclose(f);
    w->n = list_updates(&w->place, w->updates, ARRAY_LEN(w->updates));
}

static void whole_close(struct whole *w)
{
    for (size_t i = 0; i < w->n; i++)
        sqlite3_free(w->updates[i].sql);
    free(w->bytes);
    place_clear(&w->place);
}

/* The columns of that file; -1: all that are numbers. */
static void whole_set(const struct whole *w, int file, unsigned begin)
{
    sqlite3 *db = NULL;
    unsigned next = begin;
    put_file(w->place.path, w->bytes, w->len);
    assert_int_equal(sqlite3_open(w->place.path, &db), SQLITE_OK);
    sqlite3_create_function(db, "hostile", 0, SQLITE_UTF8, &next, hostile_value, NULL, NULL);
    sqlite3_exec(db, "PRAGMA synchronous = OFF; BEGIN", NULL, NULL, NULL);
    for (size_t i = 0; i < w->n; i++) {
        next = begin;
        if (file < 0 ? w->updates[i].class == 0 : w->updates[i].file == file)
            sqlite3_exec(db, w->updates[i].sql, NULL, NULL, NULL); /* or none: not all are taken */
    }
    sqlite3_exec(db, "COMMIT", NULL, NULL, NULL);
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
}

TEST(test_numbers_that_cannot_be)
{
    static struct whole w;
    const char *check = getenv("BEAMTOP_CHECK");
    const bool all = check && strcmp(check, "all") == 0;
    whole_open(&w);
    for (size_t u = 0; u < w.n; u++) {
        const struct update *of = &w.updates[u];
        const bool is_of_run = of->class >= 3;
        if (u > 0 && of->file == of[-1].file)
            continue;
        for (size_t i = 0; i < BEGINS_EACH; i++) {
            if (!all && i != (size_t)of->file % BEGINS_EACH)
                continue;
            whole_set(&w, of->file, value_begins[i]);
            read_file(w.place.path, is_of_run ? WAYS_OF_RUNS : ALL_WAYS, u + i);
        }
    }
    whole_close(&w);
}

/* ---- the program */

/* clang-format off */
static const char *const commands[][6] = {
    {"report"}, {"top", "-n", "0"}, {"calls"}, {"trace"}, {"capture", "--view", "top"},
    {"report", "--format", "json"}, {"report", "--format", "html"}, {"report", "--format",
     "markdown"},
    {"schedulers", "--format", "json"}, {"info"}, {"export"}, {"export", "--format", "openmetrics"},
    {"capture", "--view", "trace"}, {"capture", "--view", "calls"}, {"capture", "--view", "owners"},
};
/* clang-format on */
enum { REPORT = 1, TOP = 2, CALLS = 4, TRACE = 8, CAPTURE = 16, ALL_COMMANDS = 0x7fff };

static void run_commands(const struct place *p, unsigned which, const char *what)
{
    for (size_t i = 0; i < ARRAY_LEN(commands); i++)
        if (which & 1u << i)
            run_bounded(p->path, commands[i], what);
}

TEST(test_the_program_and_numbers)
{
    static struct whole w;
    whole_open(&w);
    for (size_t i = 0; i < ARRAY_LEN(value_begins); i++) {
        char what[32];
        snprintf(what, sizeof what, "values from %u", value_begins[i]);
        whole_set(&w, -1, value_begins[i]);
        read_file(w.place.path, ALL_WAYS, i);
        run_commands(&w.place, i < 2 ? ALL_COMMANDS : REPORT | TOP | CALLS | TRACE, what);
    }
    whole_close(&w);
}

/* Answers as large as they may be, of the least bytes. */
static void put_answers(const struct place *p, const char *question)
{
    static const size_t most = 16u * 1024 * 1024;
    uint8_t *term = malloc(most), *packed = malloc(most);
    uLongf len = most;
    sqlite3 *db = NULL;
    sqlite3_stmt *s = NULL;
    char sql[160];
    memset(term, 0x6a, most); /* empty lists */
    term[0] = 0x6c;
    put_number(term + 1, (uint32_t)(most - 6));
    assert_int_equal(compress2(packed, &len, term, most, 9), Z_OK);
    snprintf(sql, sizeof sql,
             "UPDATE answer SET term = ?, bytes = %zu WHERE question = '%s' AND tick %% 2 = %d",
             most, question, strcmp(question, "node") == 0);
    assert_int_equal(sqlite3_open(p->path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &s, NULL), SQLITE_OK);
    sqlite3_bind_blob64(s, 1, packed, len, SQLITE_STATIC);
    assert_int_equal(sqlite3_step(s), SQLITE_DONE);
    sqlite3_finalize(s);
    sqlite3_close(db);
    free(term);
    free(packed);
}

static const struct {
    const char *what, *sql;
    unsigned read_by;
} sizes[] = {
    {"tick far away", "UPDATE tick SET id = 9223372036854775807 WHERE id = 4",
     REPORT | TOP | CAPTURE},
    {"tick before the first", "UPDATE tick SET id = -9223372036854775808 WHERE id = 1",
     REPORT | TOP | CAPTURE},
    {"sizes of answers", "UPDATE answer SET bytes = 16777216", TOP | CAPTURE},
    {"sizes of windows", "UPDATE call_window SET bytes = 16777216", CALLS},
    {"deep JSON", "UPDATE fact SET value = replace(hex(zeroblob(50000)), '0', '[')", REPORT},
    {"wide JSON",
     "UPDATE fact SET value = '[' || replace(hex(zeroblob(30000)), '00', '[],') || '0]'", REPORT},
    {"wide ending",
     "UPDATE trace SET patterns = '[' || replace(hex(zeroblob(30000)), '00', '\"\",') || '0]'",
     TRACE},
    {"marks",
     "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 9000)"
     " INSERT INTO mark(here_us, wall_us, text) SELECT i, i, 'm' FROM n",
     REPORT | TOP | CAPTURE},
    {"traces",
     "WITH RECURSIVE n(i) AS (SELECT 9 UNION ALL SELECT i + 1 FROM n WHERE i < 6000)"
     " INSERT INTO trace(id, tick, patterns) SELECT i, 1, '' FROM n",
     TRACE | CAPTURE},
    {"windows",
     "WITH RECURSIVE n(i) AS (SELECT 9 UNION ALL SELECT i + 1 FROM n WHERE i < 6000)"
     " INSERT INTO call_window(id, tick, ns, calls) SELECT i, 1, 1, 5 FROM n",
     REPORT | CALLS | CAPTURE},
    {"ticks",
     "WITH RECURSIVE n(i) AS (SELECT 9 UNION ALL SELECT i + 1 FROM n WHERE i < 1500)"
     " INSERT INTO tick(id, here_us, wall_us) SELECT i * 400000, i, i FROM n",
     REPORT | TOP | CAPTURE},
};

TEST(test_sizes_that_cannot_be)
{
    struct place p;
    for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
        place_make(&p);
        change(&p, sizes[i].sql);
        read_file(p.path, ALL_WAYS, 0);
        run_commands(&p, sizes[i].read_by, sizes[i].what);
        place_clear(&p);
    }
    static const char *const questions[] = {"node", "system", "scan"};
    for (size_t i = 0; i < ARRAY_LEN(questions); i++) {
        place_make(&p);
        put_answers(&p, questions[i]);
        run_commands(&p, TOP | CAPTURE, questions[i]);
        place_clear(&p);
    }
}

/* ---- damage that is found when it is read */

/* The root page of a table, in a file that is too large for its pages to be looked at when it is
 * opened. */
static void damage(const struct place *p, const char *table)
{
    static uint8_t page[PAGE];
    sqlite3 *db = NULL;
    sqlite3_stmt *s = NULL;
    char sql[128];
    change(p, "PRAGMA journal_mode = DELETE");
    snprintf(sql, sizeof sql, "SELECT rootpage FROM sqlite_master WHERE name = '%s'", table);
    assert_int_equal(sqlite3_open(p->path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &s, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(s), SQLITE_ROW);
    off_t root = sqlite3_column_int64(s, 0);
    sqlite3_finalize(s);
    sqlite3_close(db);
    int fd = open(p->path, O_WRONLY);
    memset(page, 0xff, sizeof page);
    assert_int_equal(pwrite(fd, page, PAGE, (root - 1) * PAGE), PAGE);
    assert_int_equal(ftruncate(fd, LIMIT_RECORDING_CHECKED_BYTES + PAGE), 0);
    assert_int_equal(close(fd), 0);
}

static int report_code(struct recording *r, struct error *err)
{
    const struct summary_input source = {
        .recording = r, .name = "a", .from = 1, .to = recording_info(r)->ticks};
    const struct summary_options options = {.format = SUMMARY_JSON, .columns = 80};
    struct buf out;
    buf_init(&out, 0);
    (void)summary_write(&out, &source, 1, &options, err);
    buf_clear(&out);
    return (int)err->code;
}

static const struct {
    const char *table, *export;
} read_by_reports[] = {
    {"system", "system"},     {"process", "processes"}, {"owner", "owners"}, {"call", "calls"},
    {"call_window", "calls"}, {"mark", "marks"},        {"fact", NULL},      {"gap", NULL},
    {"trace_pattern", NULL},  {"text", "owners"},       {"event", "events"},
};

TEST(test_reports_and_exports_say_what_is_damaged)
{
    FILE *nowhere = fopen("/dev/null", "w");
    for (size_t i = 0; i < ARRAY_LEN(read_by_reports); i++) {
        const char *table = read_by_reports[i].table, *export = read_by_reports[i].export;
        struct error err = {0};
        struct recording *r = NULL;
        struct place p;
        place_make(&p);
        damage(&p, table);
        if (recording_open(&r, p.path, &err) == ERR_FORMAT &&
            strstr(err.text, "a.btr: the recording cannot be read: ")) {
            place_clear(&p); /* that it has any rows is asked for already */
            continue;
        }
        assert_non_null(r);
        if (strcmp(table, "event") != 0 &&
            (report_code(r, &err) != ERR_FORMAT ||
             !strstr(err.text, "a.btr: the recording cannot be read: ")))
            fail_msg("report without %s: %d, %s", table, (int)err.code, err.text);
        error_clear(&err);
        if (export && recording_export(r, EXPORT_CSV, export, nowhere, &err) != ERR_FORMAT)
            fail_msg("export of %s: %s", table, err.text);
        recording_begin(r); /* the rest is still there */
        assert_true(recording_tick_wall_us(r, 2) > 0);
        error_clear(&err);
        assert_int_equal(recording_failed(r, &err), 0);
        recording_close(r);
        place_clear(&p);
    }
    fclose(nowhere);
}

static const struct {
    const char *table;
    const char *words[6];
    /* clang-format off */
} read_by_commands[] = {
    {"answer", {"top", "-n", "0"}}, {"answer", {"capture", "--view", "top"}}, {"answer", {"info"}},
    {"answer", {"schedulers", "--format", "json"}}, {"mark", {"top", "-n", "0"}}, {"tick", {"top"}},
    {"event", {"trace"}}, {"trace", {"trace"}}, {"call_window", {"calls"}}, {"owner", {"report"}},
    {"owner", {"report", "--format", "html"}}, {"owner", {"export", "--format", "openmetrics"}},
    {"system", {"export"}},
};
/* clang-format on */

/* Bad input, by its name. */
static void expect_refused(const struct place *p, const char *const *words, const char *table)
{
    char path[128], said[1000] = "";
    snprintf(path, sizeof path, "%s/out", p->dir);
    int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
    int code = run_code(p->path, words, table, fd);
    assert_true(pread(fd, said, sizeof said - 1, 0) >= 0);
    assert_int_equal(close(fd), 0);
    if (code != 2 || !strstr(said, "a.btr: ") || !strstr(said, ": the recording "))
        fail_msg("%s without %s: code %d, %s", words[0], table, code, said);
}

TEST(test_commands_say_what_is_damaged)
{
    for (size_t i = 0; i < ARRAY_LEN(read_by_commands); i++) {
        struct place p;
        place_make(&p);
        damage(&p, read_by_commands[i].table);
        expect_refused(&p, read_by_commands[i].words, read_by_commands[i].table);
        place_clear(&p);
    }
}

/* The tick is shown as far as it can be, and the next one, too. */
TEST(test_a_replay_says_what_is_damaged)
{
    struct error err = {0};
    struct replay *replay = NULL;
    struct model *m = model_new();
    struct place p;
    place_make(&p);
    damage(&p, "answer");
    if (replay_open(&replay, p.path, m, &err) != 0)
        fail_msg("%s", err.text);
    for (int64_t tick = 1; tick <= 2; tick++) {
        error_clear(&err);
        if (replay_to(replay, tick, &err) != ERR_USAGE)
            fail_msg("tick %lld: %d %s", (long long)tick, (int)err.code, err.text);
        assert_non_null(strstr(err.text, "malformed"));
        assert_int_equal(replay_tick(replay), tick);
        assert_int_equal(replay_next(replay), tick + 1);
        assert_true(model_recorded(m)->wall_us > 0);
    }
    replay_close(replay);
    model_free(m);
    place_clear(&p);
}

/* A single question is answered. One that comes again and again in the same use is not, and the
   next use starts from zero. */
TEST(test_work_has_an_end_in_each_use)
{
    enum { MOST = 20000 };
    struct error err = {0};
    struct recording *r = NULL;
    struct place p;
    int asked = 0;
    place_make(&p);
    change(&p, "WITH RECURSIVE n(i) AS (SELECT 9 UNION ALL SELECT i + 1 FROM n WHERE i < 6000)"
               " INSERT INTO tick(id, here_us, wall_us) SELECT i, i, i FROM n");
    if (recording_open(&r, p.path, &err) != 0)
        fail_msg("%s", err.text);
    recording_begin(r);
    while (recording_failed(r, &err) == 0 && asked++ < MOST)
        (void)recording_period_s(r, 1, INT64_MAX);
    assert_int_equal(err.code, ERR_FORMAT);
    assert_non_null(strstr(err.text, "with the work that a recording of its size takes"));
    error_clear(&err);
    recording_begin(r);
    assert_true(asked > 10 && recording_period_s(r, 1, INT64_MAX) > 0);
    assert_int_equal(recording_failed(r, &err), 0);
    recording_close(r);
    place_clear(&p);
}

/* Whatever it is at: here it waits for a reader, as its loop cannot. */
TEST(test_an_interrupt_ends_it)
{
    struct place p;
    int pipes[2], status = 0, waiting = 0;
    place_make(&p);
    assert_int_equal(pipe(pipes), 0);
    int room = fcntl(pipes[0], F_SETPIPE_SZ, PAGE);
    assert_true(room > 0);
    pid_t pid = fork();
    if (pid == 0) {
        const char *program = getenv("BEAMTOP");
        const struct rlimit cpu = {MOST_CPU_S, MOST_CPU_S};
        setrlimit(RLIMIT_CPU, &cpu);
        signal(SIGINT, SIG_DFL); /* ignored in what a shell runs in the background */
        dup2(pipes[1], 1);
        close(pipes[0]);
        execl(program, program, "top", p.path, "-n", "0", "--format", "json", (char *)NULL);
        _exit(98);
    }
    close(pipes[1]);
    while (waitpid(pid, &status, WNOHANG) == 0) {
        assert_int_equal(ioctl(pipes[0], FIONREAD, &waiting), 0);
        if (waiting > room / 2)
            kill(pid, SIGINT);
        usleep(10000);
    }
    close(pipes[0]);
    if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGINT)
        fail_msg("ended with %d, %d bytes", status, waiting);
    place_clear(&p);
}
