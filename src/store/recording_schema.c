#include "recording_schema.h"

#include "beamtop/base/buf.h"
#include "internal.h"
#include "trace_columns.h"

/* Rows of kilobytes in a table WITHOUT ROWID would fill a page of overflow each: `answer` has one. */
static const char tables[] =
    "CREATE TABLE meta(key TEXT PRIMARY KEY, value) WITHOUT ROWID;"
    "CREATE TABLE text(id INTEGER PRIMARY KEY, text TEXT NOT NULL UNIQUE);"
    "CREATE TABLE tick(id INTEGER PRIMARY KEY, here_us INTEGER NOT NULL, wall_us INTEGER,"
    " mono_ns INTEGER, interval_us INTEGER, cost_us REAL, bytes REAL);"
    "CREATE INDEX tick_wall ON tick(wall_us);"
    "CREATE TABLE gap(from_tick INTEGER NOT NULL, here_us INTEGER NOT NULL, why TEXT);"
    "CREATE TABLE process(tick INTEGER NOT NULL, pid TEXT NOT NULL, name INTEGER,"
    " application INTEGER, initial_call INTEGER, label INTEGER, current_function INTEGER,"
    " reductions_per_s REAL, share REAL, memory_bytes INTEGER, message_queue_len INTEGER,"
    " message_queue_per_s REAL, kind TEXT, PRIMARY KEY(tick, pid)) WITHOUT ROWID;"
    "CREATE TABLE owner(tick INTEGER NOT NULL, by TEXT NOT NULL, owner INTEGER NOT NULL,"
    " processes INTEGER, reductions_per_s REAL, share REAL, memory_bytes REAL,"
    " message_queue_len REAL, kind TEXT, PRIMARY KEY(tick, by, owner)) WITHOUT ROWID;"
    "CREATE TABLE call_window(id INTEGER PRIMARY KEY, tick INTEGER NOT NULL, wall_us INTEGER,"
    " ns INTEGER NOT NULL, functions INTEGER, calls INTEGER, calls_per_s REAL, lost INTEGER,"
    " bytes INTEGER, line BLOB);"
    "CREATE TABLE call(window INTEGER NOT NULL, module INTEGER NOT NULL,"
    " function INTEGER NOT NULL, arity INTEGER NOT NULL, calls INTEGER, share REAL,"
    " own_us INTEGER, words INTEGER, PRIMARY KEY(window, module, function, arity)) WITHOUT ROWID;"
    "CREATE TABLE fact(tick INTEGER NOT NULL, key TEXT NOT NULL, value TEXT NOT NULL,"
    " PRIMARY KEY(key, tick)) WITHOUT ROWID;"
    "CREATE TABLE trace(id INTEGER PRIMARY KEY, tick INTEGER NOT NULL, wall_us INTEGER, syntax TEXT,"
    " patterns TEXT NOT NULL, procs TEXT, ended_us INTEGER, reason TEXT, events INTEGER,"
    " clean INTEGER, ending TEXT);"
    "CREATE TABLE mark(id INTEGER PRIMARY KEY, here_us INTEGER NOT NULL, wall_us INTEGER,"
    " text TEXT NOT NULL);"
    "CREATE TABLE answer(tick INTEGER NOT NULL, question TEXT NOT NULL, asked TEXT,"
    " bytes INTEGER NOT NULL, term BLOB NOT NULL, PRIMARY KEY(tick, question));";

const char *const schema_tick_tables[] = {"system", "process", "owner", "answer", NULL};

/* The keys of the list from the first on, each a column. */
static void put_keys(struct buf *sql, const struct field_list *list, size_t first)
{
    for (size_t i = first; i < list->n; i++)
        buf_printf(sql, ", %s %s", list->fields[i].key,
                   list->fields[i].form == FIELD_REAL ? "REAL" : "INTEGER");
}

int schema_create(sqlite3 *db, struct error *err)
{
    struct buf sql;
    buf_init(&sql, 0);
    buf_printf(&sql, "BEGIN; PRAGMA application_id = %d; PRAGMA user_version = %d; %s",
               RECORDING_APPLICATION_ID, RECORDING_VERSION, tables);
    buf_puts(&sql, "CREATE TABLE system(tick INTEGER PRIMARY KEY");
    for (size_t i = 0; i < system_fields.n; i++)
        buf_printf(&sql, ", %s REAL", system_fields.fields[i].key);
    buf_puts(&sql, "); CREATE TABLE event(id INTEGER PRIMARY KEY, trace INTEGER NOT NULL,"
                   " tick INTEGER NOT NULL, kind TEXT NOT NULL");
    trace_columns_declare(&sql);
    buf_puts(&sql, "); CREATE INDEX event_trace ON event(trace);"
                   "CREATE TABLE trace_pattern(trace INTEGER NOT NULL, number INTEGER NOT NULL,"
                   " pattern TEXT");
    put_keys(&sql, &trace_tally_fields, 0);
    put_keys(&sql, &trace_pattern_fields, 1);
    buf_puts(&sql, ", PRIMARY KEY(trace, number)) WITHOUT ROWID; COMMIT;");
    int rc = db_exec(db, buf_cstr(&sql), err);
    buf_clear(&sql);
    return rc;
}

/* A view in a table's place could have rows without end. Views of other names are a person's own. */
static const char impostors_sql[] =
    "SELECT count(*) FROM sqlite_master WHERE lower(name) IN ('meta', 'text', 'tick', 'gap', 'system',"
    " 'process', 'owner', 'call_window', 'call', 'fact', 'event', 'trace',"
    " 'trace_pattern', 'mark', 'answer')"
    " AND (type <> 'table' OR sql LIKE 'CREATE VIRTUAL%')";

/* Until it is first moved over all that a recorder writes stands in FILE-wal. */
static bool lacks_wal(sqlite3 *db)
{
    return db_int(db, "SELECT (SELECT journal_mode FROM pragma_journal_mode) = 'wal'"
                      " AND NOT EXISTS (SELECT 1 FROM sqlite_master)", 0) == 1;
}

int schema_check(sqlite3 *db, const char *path, struct error *err)
{
    int64_t id = db_int(db, "PRAGMA application_id", -1);
    int64_t version = db_int(db, "PRAGMA user_version", -1);
    if (id < 0 && sqlite3_errcode(db) == SQLITE_NOTADB)
        return error_set(err, ERR_FORMAT, "%s is no recording of beamtop", path);
    if (id < 0)
        return db_fail(db, err, path);
    if (id == 0 && lacks_wal(db))
        return error_set(err, ERR_FORMAT, "%s is empty: when it is the copy of a recording that was not ended, "
                         "its %s-wal is missing (`record stop` makes one file of both)", path, path);
    if (id != RECORDING_APPLICATION_ID)
        return error_set(err, ERR_FORMAT, "%s is no recording of beamtop", path);
    if (version < RECORDING_OLDEST || version > RECORDING_VERSION)
        return error_set(err, ERR_FORMAT, "%s: its format is version %lld, this program reads %d to %d",
                         path, (long long)version, RECORDING_OLDEST, RECORDING_VERSION);
    if (db_int(db, impostors_sql, -1) != 0)
        return error_set(err, ERR_FORMAT, "%s is no recording that beamtop wrote: its tables are none", path);
    return 0;
}

int schema_prepare_system(sqlite3 *db, sqlite3_stmt **out, struct error *err)
{
    struct buf sql;
    buf_init(&sql, 0);
    buf_puts(&sql, "INSERT INTO system(tick");
    for (size_t i = 0; i < system_fields.n; i++)
        buf_printf(&sql, ", %s", system_fields.fields[i].key);
    buf_puts(&sql, ") VALUES(?");
    for (size_t i = 0; i < system_fields.n; i++)
        buf_puts(&sql, ",?");
    buf_puts(&sql, ")");
    int rc = db_prepare(db, out, buf_cstr(&sql), err);
    buf_clear(&sql);
    return rc;
}
