/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Opens the file of a recording, which may be anyone's. SQLite plays back a rollback journal that
 * lies beside a file, and removes what the journal names, before a query can look at anything: so
 * the file's first bytes, and what lies beside it, are looked at here first, and nothing is
 * written. */
#include "recording_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "beamtop/base/alloc.h"
#include "beamtop/base/attr.h"
#include "beamtop/base/buf.h"
#include "beamtop/base/limits.h"
#include "recording_schema.h"

/* ---- the header: https://sqlite.org/fileformat.html, "The Database Header" */

#define HEADER_BYTES 100
enum { AT_PAGE_SIZE = 16, AT_PAGES = 28, AT_VERSION = 60, AT_APPLICATION = 68 };

static const char magic[16] = "SQLite format 3";

static uint32_t number_at(const uint8_t *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static bool is_page_size(uint32_t n)
{
    return n == 1 || (n >= 512 && n <= 32768 && (n & (n - 1)) == 0); /* 1: of 65536 */
}

int recording_version_check(const char *path, int64_t version, struct error *err)
{
    if (version >= RECORDING_OLDEST && version <= RECORDING_VERSION)
        return 0;
    return error_set(err, ERR_FORMAT, "%s: its format is version %lld, this program reads %d to %d",
                     path, (long long)version, RECORDING_OLDEST, RECORDING_VERSION);
}

/* Until it is first moved over, all that a recorder writes but an empty page stands in FILE-wal. */
static int check_header(const uint8_t *head, size_t len, bool has_wal, const char *path,
                        struct error *err)
{
    bool is_sqlite = len == HEADER_BYTES && memcmp(head, magic, sizeof magic) == 0 &&
                     is_page_size((uint32_t)(head[AT_PAGE_SIZE] << 8 | head[AT_PAGE_SIZE + 1]));
    uint32_t application = is_sqlite ? number_at(head + AT_APPLICATION) : 0;
    bool is_new = len == 0 || (is_sqlite && application == 0 && number_at(head + AT_PAGES) <= 1);
    if (is_new && has_wal)
        return 0;
    if (is_new && len > 0)
        return error_set(err, ERR_FORMAT,
                         "%s is empty: when it is the copy of a recording that was "
                         "not ended, its %s-wal is missing (`record stop` makes one file of both)",
                         path, path);
    if (application != RECORDING_APPLICATION_ID)
        return error_set(err, ERR_FORMAT, "%s is not a recording of beamtop", path);
    return recording_version_check(path, number_at(head + AT_VERSION), err);
}

/* ---- what lies beside it */

enum beside { BESIDE_NOTHING, BESIDE_FILE, BESIDE_OTHER };

static enum beside look_beside(const char *path, const char *end, bool *is_empty)
{
    struct stat st;
    char *name = alloc_printf("%s%s", path, end);
    bool there = lstat(name, &st) == 0;
    free(name);
    *is_empty = there && st.st_size == 0;
    return !there ? BESIDE_NOTHING : S_ISREG(st.st_mode) ? BESIDE_FILE : BESIDE_OTHER;
}

static int check_beside(const char *path, bool *has_wal, struct error *err)
{
    static const char *const ends[] = {"-wal", "-shm"};
    bool is_empty;
    if (look_beside(path, "-journal", &is_empty) != BESIDE_NOTHING)
        return error_set(err, ERR_FORMAT,
                         "%s-journal lies beside it: a recording never has a journal. "
                         "Opening both would change or remove files; copy only %s to read it",
                         path, path);
    for (size_t i = 0; i < ARRAY_LEN(ends); i++) {
        enum beside beside = look_beside(path, ends[i], &is_empty);
        if (beside == BESIDE_OTHER)
            return error_set(err, ERR_FORMAT, "%s%s is not a regular file: copy only %s to read it",
                             path, ends[i], path);
        if (i == 0)
            *has_wal = beside == BESIDE_FILE && !is_empty;
    }
    return 0;
}

/* Whether any connection of SQLite, of this process too, has the file open: each has a lock
 * on it. */
static bool is_in_use(int fd)
{
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    return fcntl(fd, F_OFD_GETLK, &lock) != 0 || lock.l_type != F_UNLCK;
}

/* ---- opening it */

/*
 * In use: with the locks and the shared memory that its recorder has. With what a killed recorder
 * left in FILE-wal: that is looked through in memory of ours, and stays where it is. Else nothing
 * but the file itself is ever looked at. */
static const struct way {
    const char *vfs, *query, *pragma;
} in_use = {NULL, "?mode=ro", ""},
  left_behind = {"unix-none", "?mode=ro", "PRAGMA locking_mode = EXCLUSIVE;"},
  alone = {NULL, "?mode=ro&immutable=1", ""};

static void put_uri(struct buf *out, const char *path, const char *query)
{
    static const char plain[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-";
    buf_puts(out, *path == '/' ? "file://" : "file:./");
    for (; *path; path++) {
        if (strchr(plain, *path))
            buf_put(out, path, 1);
        else
            buf_printf(out, "%%%02X", (unsigned)(uint8_t)*path);
    }
    buf_puts(out, query);
}

/* What a query of ours does; the pragmas are those of this file and of recording.c. */
static int allow_reading(void *arg, int action, const char *a, const char *b, const char *c,
                         const char *d)
{
    (void)arg;
    (void)a;
    (void)b;
    (void)c;
    (void)d;
    return action == SQLITE_SELECT || action == SQLITE_READ || action == SQLITE_FUNCTION ||
                   action == SQLITE_PRAGMA
               ? SQLITE_OK
               : SQLITE_DENY;
}

/* For all of this use: what one query cannot take in, the next cannot either. */
static int on_progress(void *arg)
{
    struct recording_file *f = arg;
    f->steps += LIMIT_RECORDING_PROGRESS_STEPS;
    f->overran = f->overran || f->steps > f->most_steps;
    return f->overran;
}

static void guard_db(struct recording_file *f)
{
    static const struct {
        int what, most;
    } limits[] = {
        {SQLITE_LIMIT_LENGTH, (int)LIMIT_RECORDING_ROW_BYTES},
        {SQLITE_LIMIT_SQL_LENGTH, 64 * 1024},
        {SQLITE_LIMIT_COLUMN, 500},
        {SQLITE_LIMIT_EXPR_DEPTH, 50},
        {SQLITE_LIMIT_COMPOUND_SELECT, 4},
        {SQLITE_LIMIT_FUNCTION_ARG, 8},
        {SQLITE_LIMIT_ATTACHED, 0},
        {SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 100},
        {SQLITE_LIMIT_VARIABLE_NUMBER, 16},
        {SQLITE_LIMIT_TRIGGER_DEPTH, 1},
        {SQLITE_LIMIT_WORKER_THREADS, 0},
    };
    static const struct {
        int what, on;
    } configs[] = {
        {SQLITE_DBCONFIG_DEFENSIVE, 1},        {SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0},
        {SQLITE_DBCONFIG_ENABLE_TRIGGER, 0},   {SQLITE_DBCONFIG_ENABLE_VIEW, 0},
        {SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1},
    };
    for (size_t i = 0; i < ARRAY_LEN(limits); i++)
        sqlite3_limit(f->db, limits[i].what, limits[i].most);
    for (size_t i = 0; i < ARRAY_LEN(configs); i++)
        sqlite3_db_config(f->db, configs[i].what, configs[i].on, (int *)NULL);
    sqlite3_set_authorizer(f->db, allow_reading, NULL);
    sqlite3_progress_handler(f->db, LIMIT_RECORDING_PROGRESS_STEPS, on_progress, f);
    /* Another program that closes the file has it to itself for a moment. */
    sqlite3_busy_timeout(f->db, LIMIT_RECORDING_BUSY_MS);
}

static int open_db(struct recording_file *f, const struct way *way, struct error *err)
{
    struct buf uri;
    buf_init(&uri, 0);
    put_uri(&uri, f->path, way->query);
    int rc =
        sqlite3_open_v2(buf_cstr(&uri), &f->db,
                        SQLITE_OPEN_READONLY | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX, way->vfs);
    buf_clear(&uri);
    if (rc != SQLITE_OK)
        return db_fail(f->db, err, f->path);
    guard_db(f);
    if (db_exec(f->db, way->pragma, err) != 0 ||
        db_exec(f->db, "PRAGMA cell_size_check = ON; PRAGMA mmap_size = 0; PRAGMA query_only = ON",
                err) != 0)
        return (int)err->code;
    return 0;
}

void recording_file_begin(struct recording_file *f)
{
    struct stat file, wal;
    if (f->fd < 0)
        return;
    char *name = alloc_printf("%s-wal", f->path);
    f->bytes = fstat(f->fd, &file) == 0 ? (int64_t)file.st_size : 0;
    f->bytes += stat(name, &wal) == 0 && wal.st_size > 0 ? (int64_t)wal.st_size : 0;
    f->most_steps = LIMIT_RECORDING_STEPS + LIMIT_RECORDING_STEPS_PER_BYTE * (uint64_t)f->bytes;
    f->steps = 0;
    f->overran = false;
    free(name);
}

static int open_named(struct recording_file *f, const char *path, struct error *err)
{
    uint8_t head[HEADER_BYTES];
    struct stat st;
    bool has_wal = false;
    *f = (struct recording_file){.fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)};
    if (f->fd < 0)
        return error_set(err, ERR_NOT_FOUND, "%s cannot be read: %s%s", path, strerror(errno),
                         errno == ENOENT && strchr(path, '@')
                             ? ". A node is recorded first: beamtop record NODE -o FILE"
                             : "");
    if (fstat(f->fd, &st) != 0 || !S_ISREG(st.st_mode))
        return error_set(err, ERR_FORMAT, "%s is not a regular file", path);
    ssize_t len = pread(f->fd, head, sizeof head, 0);
    if (len < 0)
        return error_set(err, ERR_NOT_FOUND, "%s cannot be read: %s", path, strerror(errno));
    if (check_beside(path, &has_wal, err) != 0 ||
        check_header(head, (size_t)len, has_wal, path, err) != 0)
        return (int)err->code;
    f->path = alloc_strdup(path);
    recording_file_begin(f);
    const struct way *way = is_in_use(f->fd) ? &in_use : has_wal ? &left_behind : &alone;
    return open_db(f, way, err);
}

/* SQLite follows a link, and looks beside what it names: so must we. */
int recording_file_open(struct recording_file *f, const char *path, struct error *err)
{
    struct stat st;
    char *real = lstat(path, &st) == 0 && S_ISLNK(st.st_mode) ? realpath(path, NULL) : NULL;
    int rc = open_named(f, real ? real : path, err);
    free(real);
    return rc;
}

void recording_file_close(struct recording_file *f)
{
    if (f->db)
        sqlite3_close(f->db);
    /* Not before: a process that closes any descriptor of a file gives up its locks on it. */
    if (f->fd >= 0)
        close(f->fd);
    free(f->path);
    *f = (struct recording_file){.fd = -1};
}
