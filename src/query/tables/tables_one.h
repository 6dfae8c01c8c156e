/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One ETS table, by what a user calls it: its name, or #Ref<…> as the node prints it. */
#ifndef BEAMTOP_QUERY_TABLES_ONE_H
#define BEAMTOP_QUERY_TABLES_ONE_H

#include "beamtop/base/buf.h"
#include "query/stepped/stepped.h"

/* A name as UTF-8, or a reference as text. */
#define TABLE_TEXT_BYTES LIMIT_ATOM_BYTES

struct table_id {
    char text[TABLE_TEXT_BYTES + 1];
    struct buf term; /* as the node has it; empty: not known there */
};

/* text: a binary. false: it is of another form, or too long. */
bool table_take_text(struct table_id *id, struct slice text);
/* The ask for its term: a name makes no atom on the node, and one that it does not know fails. */
void table_ask_id(const struct table_id *id, struct run_calls *calls);
/* values: NULL where it failed. */
void table_take_id(struct table_id *id, const struct slice *values, size_t n);
struct slice table_term(const struct table_id *id);
/* ets:info(Table, Item) */
void table_add_info(const struct table_id *id, struct run_calls *calls, const char *item);

/* The question `one_table`: all about it but its objects. */
extern const struct stepped one_table_question;
/* The question `mnesia`: it, where it runs (tables_mnesia.c). */
extern const struct stepped mnesia_question;
/* The question `table_keys`: its first keys, on request. */
extern const struct stepped table_keys_question;

#endif
