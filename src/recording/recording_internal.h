/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the files of the reader share. */
#ifndef BEAMTOP_RECORDING_RECORDING_INTERNAL_H
#define BEAMTOP_RECORDING_RECORDING_INTERNAL_H

#include "beamtop/base/arena.h"
#include "beamtop/base/buf.h"
#include "recent.h"
#include "recording_file.h"
#include "tables.h"

/* What a file is at, by the changes that others and this connection have made. */
struct file_state {
    int64_t version, changes;
};

/* What was summed of the period that was asked for last, as long as the file does not change. */
struct period_cache {
    int64_t from, to; /* -1: none */
    struct file_state of;
    struct known_stats {
        bool known;
        struct period_stats value;
    } * stats; /* as numbers are listed; NULL: none yet */
    struct known_owners {
        const struct period_owner *list; /* NULL: not known */
        size_t n;
    } owners[OWNER_KIN + 1];
    struct arena arena;
};

/* Marks are asked for at each tick that is shown, and may be many: read again when the file has
 * changed. */
struct mark_cache {
    bool is_known;
    struct file_state of;
    struct buf marks;
    struct arena arena; /* their texts */
};

struct recording {
    sqlite3 *db;                 /* NULL: of a recorder in memory that has none */
    const struct recent *recent; /* of a recorder in memory: what it keeps beside the db */
    struct recording_file file;  /* of db, where it is not a recorder's connection */
    bool is_checked;             /* its pages are known to be sound */
    struct error failed;         /* the first of this use: nothing more is read */
    struct recording_info info;
    struct arena arena;  /* texts of info */
    struct arena result; /* what was handed out last */
    struct buf term;     /* the answer that is handed out */
    struct period_cache cache;
    struct mark_cache marks;
};

/* Prepares a question with its numbers, as many as it has (NULL: they come later). NULL: reading
 * failed, or the file has no such table or column. */
#define NUMBERS(...) ((const int64_t[]){__VA_ARGS__})
sqlite3_stmt *recording_ask(struct recording *r, const char *sql, const int64_t *numbers);
/* The same with a text, behind the numbers. */
sqlite3_stmt *recording_ask_text(struct recording *r, const char *sql, const int64_t *numbers,
                                 const char *text);
/* Asks again. */
void recording_ask_again(sqlite3_stmt *s, const int64_t *numbers);
/* The rows of a table, for tables_read(): `rest` of the question stands behind the table's name. */
sqlite3_stmt *recording_select(struct recording *r, enum recording_table table, const char *rest,
                               const int64_t *numbers);
/* NAME_find(): the value with that key; `count`: there is none. */
#define FIND_KEY(name, type, count)                                                                \
    static enum type name##_find(struct slice key)                                                 \
    {                                                                                              \
        unsigned k = 0;                                                                            \
        while (k < (unsigned)(count) && !slice_is(key, name((enum type)k)))                        \
            k++;                                                                                   \
        return (enum type)k;                                                                       \
    }
/* Whether there is another row; a failure is the end of rows, too, and recording_failed()
 * has it. Of NULL there is none. */
bool recording_row(struct recording *r, sqlite3_stmt *s);
/* What was read cannot be: nothing more is read in this use. */
void recording_refuse(struct recording *r, const char *why);
/* One number, as db_int(); arg: its `?`. */
int64_t recording_int(struct recording *r, const char *sql, int64_t arg, int64_t otherwise);
/* A copy that is handed out: until the next question. */
struct slice recording_keep(struct recording *r, struct slice text);
/* The text of that id, by a statement of recording_text_sql; "": there is none. */
extern const char recording_text_sql[];
struct slice recording_text(struct recording *r, sqlite3_stmt *texts, int64_t id,
                            struct arena *arena);

bool recording_has_column(struct recording *r, const char *table, const char *name);
/* The column of `system` with that key, under its old name in recordings of 0.1.0; NULL: none. */
const char *recording_system_column(struct recording *r, const char *key);

/*
 * A tick counts in means as long as its interval, in seconds: the first one is short, and has what
 * it cost the node to read our questions; those of an idle node are far apart. The statement is of
 * recording_seconds_sql. */
extern const char recording_seconds_sql[];
double recording_seconds(struct recording *r, sqlite3_stmt *intervals, int64_t tick);

/* The number that a statement says of the ticks of a period, 0 where there is none. That of
 * recording_period_sql is recording_period_s(), prepared once for many periods. */
extern const char recording_period_sql[];
double recording_of_period(struct recording *r, sqlite3_stmt *s, int64_t from, int64_t to);

/* Whether it is the same still; sets it. */
bool recording_is_at(struct recording *r, struct file_state *state);
struct period_cache *period_cache_of(struct recording *r, int64_t from, int64_t to);
void period_cache_clear(struct period_cache *c); /* to one of nothing */

/* The events of a trace, in order; each row until the next. Ends at the first failure of put. */
typedef int event_row_fn(void *arg, const struct event_row *row, struct error *err);
int recording_trace_lines(struct recording *r, int64_t trace, event_row_fn *put, void *arg,
                          struct error *err);
/* A list of texts as JSON, kept in the arena. */
struct slice trace_texts_json(struct arena *arena, const struct slice *items, size_t n);

#endif
