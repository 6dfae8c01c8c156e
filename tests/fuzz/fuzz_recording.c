/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A damaged recording. The input is a list of damages (see `damage`) that are done to a small valid
 * file, which is made once: bytes, pages, the length, the value of a cell, the term of an answer.
 * It is then opened, read with every function of the reader, and its answers are given to
 * a model. */
#include <math.h>
#include <sqlite3.h>
#include <unistd.h>
#include <zlib.h>

#include "beamtop/base/attr.h"
#include "beamtop/recording/recording.h"
#include "fuzz.h"
#include "read_all.h"
#include "whole.h"

enum { HEAD = 4, PAGE = 4096, WAL_AT = 18, DAMAGES_MOST = 64, CELLS_MOST = 512 };
enum { DAMAGE_BYTES, DAMAGE_LENGTH, DAMAGE_PAGE, DAMAGE_CELL, DAMAGE_TERM, DAMAGES };

static struct {
    char path[64];
    uint8_t *bytes; /* of the valid file */
    size_t len;
    char *cells[CELLS_MOST]; /* statements that set a column */
    size_t n_cells;
} base;

/* ---- The valid file */

/* A statement for each column of each table. */
static void list_cells(void)
{
    sqlite3 *db = NULL;
    sqlite3_stmt *s = NULL;
    FUZZ_REQUIRE(sqlite3_open(base.path, &db) == SQLITE_OK);
    FUZZ_REQUIRE(sqlite3_prepare_v2(db,
                                    "SELECT m.name, c.name FROM sqlite_master m,"
                                    " pragma_table_info(m.name) c WHERE m.type = 'table'",
                                    -1, &s, NULL) == SQLITE_OK);
    while (sqlite3_step(s) == SQLITE_ROW && base.n_cells < CELLS_MOST)
        base.cells[base.n_cells++] =
            sqlite3_mprintf("UPDATE OR IGNORE \"%w\" SET \"%w\" = ?", sqlite3_column_text(s, 0),
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
    /* In memory where that is possible: the file is written for every input. */
    const char *dir = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
    snprintf(base.path, sizeof base.path, "%s/beamtop-fuzz-%ld.btr", dir, (long)getpid());
    unlink(base.path); /* of one that was killed */
    whole_write(base.path);
    FILE *f = fopen(base.path, "rb");
    FUZZ_REQUIRE(f && fseek(f, 0, SEEK_END) == 0);
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
    case 0:
        sqlite3_bind_int64(s, 1, n);
        break;
    case 1:
        sqlite3_bind_double(s, 1, d);
        break;
    case 2:
        sqlite3_bind_text(s, 1, (const char *)p + 1, (int)len - 1, SQLITE_TRANSIENT);
        break;
    default:
        sqlite3_bind_blob(s, 1, p + 1, (int)len - 1, SQLITE_TRANSIENT);
        break;
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
    FUZZ_REQUIRE(out && len > 0);
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
    FUZZ_REQUIRE(f && fwrite(image->bytes, 1, image->len, f) == image->len);
    FUZZ_REQUIRE(fclose(f) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct image image;
    struct recording *r = NULL;
    struct error err = {0};
    if (!base.bytes)
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
