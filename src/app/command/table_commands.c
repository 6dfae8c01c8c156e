/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The batch commands of answers that are one table. */
#include <stdio.h>
#include <string.h>

#include "app/cli/commands.h"
#include "app/cli/tell.h"
#include "app/source/replay.h"
#include "beamtop/base/text.h"
#include "beamtop/model/detail.h"
#include "beamtop/model/model.h"
#include "beamtop/model/table.h"
#include "printing.h"

static int show_table(const struct cli_options *o, const struct app_env *env,
                      struct sink_options options, struct printing *p)
{
    struct error err = {0};
    bool rates = false;
    const struct want want = {.needs = QUESTION_BIT(sink_question(p->kind, &rates))};
    if (printing_arrange(&options, o, p->kind, &err) != 0)
        return tell_error(&err);
    return printing_run(o, env, &want, &options, true, p);
}

int command_table(const struct cli_options *o, const struct app_env *env)
{
    struct printing p = {.kind = sink_kind_find(o->command)};
    return show_table(o, env, printing_options(o, env), &p);
}

/* ---- terms */

/* The rows of one kind of terms. */
static int choose_kind(const struct field_list *list, const char *what,
                       struct sink_options *options, struct error *err)
{
    static const char *const kinds[] = {"persistent", "atoms", "modules", "timers"};
    for (size_t i = 0; what && i < ARRAY_LEN(kinds); i++)
        if (strcmp(what, kinds[i]) == 0) {
            options->where = field_find(list, slice_of("kind"));
            options->only = slice_of(kinds[i]);
            return 0;
        }
    return what ? error_set(err, ERR_USAGE,
                            "--what: “%s” is none of persistent, atoms, modules, timers", what)
                : 0;
}

static int show_old_code(const struct cli_options *o, const struct app_env *env)
{
    struct want want = {.needs = NEED(OLD_CODE)};
    const struct sink_options options = printing_options(o, env);
    struct printing p = {.kind = sink_kind_find("old_code")};
    struct error err = {0};
    if (!*o->old_module || strlen(o->old_module) >= sizeof want.module)
        (void)error_set(&err, ERR_USAGE,
                        "--old: give a module, as `terms --what modules` prints it");
    else if (o->what || o->by || o->table_sort || o->top_given)
        (void)error_set(&err, ERR_USAGE, "--what, --by, --sort and --top are of many terms");
    if (err.code != ERR_NONE)
        return tell_error(&err);
    snprintf(want.module, sizeof want.module, "%s", o->old_module);
    return printing_run(o, env, &want, &options, false, &p);
}

int command_terms(const struct cli_options *o, const struct app_env *env)
{
    struct printing p = {.kind = sink_kind_find(o->command)};
    struct sink_options options = printing_options(o, env);
    struct error err = {0};
    if (o->old_module)
        return show_old_code(o, env);
    if (choose_kind(sink_table(p.kind), o->what, &options, &err) != 0)
        return tell_error(&err);
    return show_table(o, env, options, &p);
}

/* ---- holders */

struct looking {
    struct printing printing; /* the first */
    int64_t looked_at;        /* processes */
};

/* The first look at a large node takes several answers. */
static bool pass_partial(void *arg, const struct model *m)
{
    struct looking *l = arg;
    const struct table_detail *table = model_answer(m, QUESTION_HOLDERS);
    const struct system_sample *system = model_system(m);
    char looked_at[32], all[32];
    int64_t n = 0;
    for (size_t i = 0; table && i < table->n_rows; i++)
        n += ((const struct holders_row *)table->rows)[i].processes;
    if (!table || !table->partial || !system || n <= l->looked_at)
        return false;
    l->looked_at = n;
    tell_line("%s of %s processes looked at", text_integer(looked_at, sizeof looked_at, n),
              text_integer(all, sizeof all, system->processes));
    return true;
}

int command_holders(const struct cli_options *o, const struct app_env *env)
{
    struct looking l = {.printing = {.kind = sink_kind_find(o->command),
                                     .passes = replay_is_file(o->target) ? NULL : pass_partial}};
    return show_table(o, env, printing_options(o, env), &l.printing);
}

/* ---- tables */

static int check_mnesia(const struct model *m, struct error *err)
{
    const struct table_detail *t = model_mnesia(m);
    if (!t || t->n_rows > 0 || t->partial)
        return 0;
    return error_set(err, ERR_NOT_FOUND, "Mnesia does not run on the node");
}

static int show_mnesia(const struct cli_options *o, const struct app_env *env)
{
    const struct want want = {.needs = NEED(MNESIA)};
    const struct sink_options options = printing_options(o, env);
    struct printing p = {.kind = sink_kind_find("mnesia"), .check = check_mnesia};
    return printing_run(o, env, &want, &options, true, &p);
}

static int check_raft(const struct model *m, struct error *err)
{
    const struct table_detail *t = model_raft(m);
    if (!t || t->n_rows > 0 || t->partial)
        return 0;
    return error_set(err, ERR_NOT_FOUND, "the node has no Raft group of the library ra");
}

static int show_raft(const struct cli_options *o, const struct app_env *env)
{
    const struct want want = {.needs = NEED(RAFT)};
    const struct sink_options options = printing_options(o, env);
    struct printing p = {.kind = sink_kind_find("raft"), .check = check_raft};
    return printing_run(o, env, &want, &options, true, &p);
}

static int check_table(const struct model *m, struct error *err)
{
    const struct table_detail *t = model_one_table(m);
    const struct one_table_row *row = t && t->n_rows > 0 ? t->rows : NULL;
    if (!row || row->exists)
        return 0;
    return error_set(err, ERR_NOT_FOUND, "the node has no ETS table %.*s", (int)row->id.len,
                     row->id.s);
}

int command_tables(const struct cli_options *o, const struct app_env *env)
{
    const bool keys = o->keys > 0;
    struct want want = {.needs = keys ? NEED(TABLE_KEYS) : NEED(ONE_TABLE), .keys = (int)o->keys};
    struct sink_options options = printing_options(o, env);
    struct error err = {0};
    if (!o->table && !keys)
        return o->mnesia ? show_mnesia(o, env)
               : o->raft ? show_raft(o, env)
                         : command_table(o, env);
    if (!o->table)
        (void)error_set(&err, ERR_USAGE, "--keys needs a table: add --table NAME");
    else if (!*o->table || strlen(o->table) >= sizeof want.table)
        (void)error_set(&err, ERR_USAGE, "--table: give a name, or #Ref<…> as `tables` prints it");
    else if (o->by || o->table_sort || o->top_given)
        (void)error_set(&err, ERR_USAGE, "--by, --sort and --top are of many tables");
    if (err.code != ERR_NONE)
        return tell_error(&err);
    snprintf(want.table, sizeof want.table, "%s", o->table);
    struct printing p = {.kind = sink_kind_find(keys ? "table_keys" : "one_table"),
                         .check = keys ? NULL : check_table};
    return printing_run(o, env, &want, &options, !keys, &p);
}
