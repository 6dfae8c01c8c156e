/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Load by application: shares of the node's reductions by owner. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "beamtop/base/attr.h"
#include "beamtop/base/known.h"
#include "beamtop/base/text.h"
#include "beamtop/model/fields.h"
#include "beamtop/model/owners.h"
#include "ui/widgets/rows.h"
#include "views.h"

/* The node ranks so many processes; the others are the rest. */
#define RANKED 200

enum { OWNER, KIND, BAR = 7 }; /* columns that are made here */

#define BY(by_word)                                                                                \
    {                                                                                              \
        .word = (by_word), .fields = &load_fields, .sort = "share"                                 \
    }
/* In the order of enum owner_by. */
static const struct rows_of owners_rows[] = {BY("application"), BY("supervisor"), BY("module"),
                                             BY("name"),        BY("label"),      BY("kin"),
                                             BY("kind")};

static void owners_want(const void *state, int rows, struct want *want)
{
    const struct rows *s = state;
    struct want mine = {.needs = NEED(SCAN)};
    if (s->by == OWNER_APPLICATION)
        mine.needs |= NEED(APPS);
    mine.scan.sort_key = "reductions_per_s";
    mine.scan.by_delta = true;
    mine.scan.rows = rows > RANKED ? rows : RANKED;
    mine.scan.items =
        ITEM_BIT(ID) | ITEM_BIT(REDUCTIONS) | ITEM_BIT(MESSAGE_QUEUE_LEN) | ITEM_BIT(MEMORY);
    if (s->by == OWNER_SUPERVISOR || s->by == OWNER_KIN)
        mine.scan.items |= ITEM_BIT(SUPERVISOR);
    want_merge(want, &mine);
}

static struct view_row *add_row(struct view_page *page, const struct rows *s, const struct owner *o)
{
    struct view_row *row = rows_add(s, page, o);
    const char *kind = proc_kind_name(o->kind);
    char bar[16 * 3 + 1] = "";
    const int cells = isnan(o->share) ? 0 : (int)(o->share * 16 + 0.5);
    for (int i = 0; i < cells && i < 16; i++)
        strcat(bar, page->ascii ? "#" : "█");
    page_cell_printf(page, row, KIND, STYLE_MARK, "%s", kind);
    page_cell_printf(page, row, BAR, STYLE_GRAPH, "%s", bar);
    return row;
}

static void add_owner(struct view_page *page, const struct rows *s, const struct owner *o)
{
    struct view_row *row = add_row(page, s, o);
    row->id = text_identity(o->name.s, o->name.len);
    if (s->by == OWNER_APPLICATION)
        link_name(&row->link, TARGET_APP, o->name);
    else if (o->processes > 1)
        row->link = (struct view_link){.kind = TARGET_KIN, .id = row->id};
    else
        link_process(&row->link, &o->first->pid, o->first->name);
}

/* ---- the processes of an owner, below it */

static void add_owners_process(struct view_page *page, const struct rows *s,
                               const struct owners *owners, const struct proc_row *proc)
{
    const struct owner alone = owner_alone(owners, proc);
    struct view_row *row = add_row(page, s, &alone);
    char pid[40];
    pid_text(pid, sizeof pid, &proc->pid);
    row->indent = 2;
    row->id = pid_identity(&proc->pid);
    link_process(&row->link, &proc->pid, proc->name);
    page_cell_printf(page, row, OWNER, STYLE_PID, "%s%s%.*s", pid, proc->label.len > 0 ? " " : "",
                     (int)proc->label.len, proc->label.s);
    page_cell(page, row, KIND, STYLE_MARK, "", 0);
}

static void open_owner(struct view_page *page, const struct rows *s, const struct proc_scan *scan,
                       const struct owners *owners)
{
    const size_t n = page->n_rows, at = page_opened(page, s->opened);
    if (at == n)
        return;
    page->in_place = true;
    for (size_t i = 0; i < scan->n_rows; i++) {
        const struct proc_row *proc = &scan->rows[i];
        const struct slice name = owner_of((enum owner_by)s->by, proc, &page->arena);
        if (!proc->own && text_identity(name.s, name.len) == s->opened)
            add_owners_process(page, s, owners, proc);
    }
    page_sort_below(page, n, at);
}

/* Last, whatever the order: it is not an owner. */
static void add_rest(struct view_page *page, const struct rows *s, const struct owners *owners)
{
    const struct owner rest = {.processes = owners->rest_processes,
                               .share = owners->rest_share,
                               .reductions_per_s = NAN,
                               .memory_bytes = NAN,
                               .message_queue_len = NAN};
    struct view_row *row = add_row(page, s, &rest);
    row->id = 1;
    page_cell_printf(page, row, OWNER, STYLE_DIM, "the rest");
    page_cell(page, row, KIND, STYLE_MARK, "", 0);
}

static const struct table_detail *apps_of(const struct rows *s, const struct model *m)
{
    const struct proc_scan *scan = model_scan(m);
    bool filtered = scan && scan->filtered; /* then only the scan knows which processes count */
    return s->by == OWNER_APPLICATION && !filtered ? model_apps(m) : NULL;
}

static void summarise_owners(struct view_page *page, const struct rows *s,
                             const struct proc_scan *scan, size_t n)
{
    char ranked[32], all[32], owners[32];
    text_integer(owners, sizeof owners, (int64_t)n);
    if (!scan) {
        snprintf(page->summary, sizeof page->summary, "by %s: %s", s->of[s->by].word, owners);
        return;
    }
    snprintf(page->summary, sizeof page->summary, "by %s: %s, of the top %s%s of %s processes",
             s->of[s->by].word, owners, text_integer(ranked, sizeof ranked, (int64_t)scan->n_rows),
             scan->filtered ? " that match" : "", text_integer(all, sizeof all, scan->total));
}

static void owners_page(void *state, const struct model *m, struct view_page *page)
{
    struct rows *s = state;
    const struct proc_scan *scan = model_scan(m);
    const struct table_detail *apps = apps_of(s, m);
    struct owners owners;
    rows_begin(s, page, NULL);
    page->order[0] = '\0'; /* the summary says by what */
    if (!scan && !apps) {
        view_missing_scan(page, m);
        return;
    }
    if (apps)
        owners_of_apps(&owners, &page->arena, apps, scan, 0);
    else
        owners_of_scan(&owners, &page->arena, scan, (enum owner_by)s->by, 0);
    for (size_t i = 0; i < owners.len; i++)
        add_owner(page, s, &owners.items[i]);
    page_sort(page);
    if (s->by != OWNER_APPLICATION && s->opened != 0)
        open_owner(page, s, scan, &owners);
    summarise_owners(page, s, apps ? NULL : scan, owners.len);
    snprintf(page->empty, sizeof page->empty, "No process that works has a %s.", s->of[s->by].word);
    if (owners.len > 0 || owners.has_shares)
        add_rest(page, s, &owners);
}

static const struct view_act owners_acts[] = {
    {ACTION_BY, .run = rows_by},
    {.action = ACTION_FOLD, .folds = true, .run = rows_fold},
    {.run = NULL}};

static const struct view_hint owners_hints[] = {
    {ACTION_ENTER, "open"},
    {ACTION_BY, "by"},
    {ACTION_BACK, "back"},
    {.does = NULL},
};

const struct view_ops view_owners = {
    .name = "load",
    .title = "Load",
    .alias = "owners",
    .key = 'W',
    .help = "Shares of the node's reductions by application, supervisor, module, name, label, kin "
            "or kind of process.",
    .kind = VIEW_TABLE,
    .filters_on_target = true,
    .state_bytes = sizeof(struct rows),
    .rows = owners_rows,
    .n_rows = ARRAY_LEN(owners_rows),
    .want = owners_want,
    .page = owners_page,
    .sort = rows_sort,
    .hints = owners_hints,
    .acts = owners_acts,
};
