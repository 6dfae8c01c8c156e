/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Load by application: shares of the node's reductions by owner. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "beamtop/base/attr.h"
#include "beamtop/base/known.h"
#include "beamtop/base/text.h"
#include "beamtop/model/owners.h"
#include "views.h"

/* So many processes are looked at; what they leave is the rest. */
#define RANKED 200

enum { OWNER, KIND, PROCESSES, SHARE, REDS, MEMORY, QUEUE, BAR };

static const struct view_column owner_columns[] = {
    [OWNER] = {"owner", "OWNER", 30, false, true, true, "who: see the order above"},
    [KIND] = {"kind", "KIND", 13, false, false, true, "what its processes are recognised as"},
    [PROCESSES] = {"processes", "PROCS", 8, true, false, true, "processes of it that were ranked"},
    [SHARE] = {"share", "SHARE", 7, true, false, true,
               "of the reductions but beamtop's and the VM's for dirty signals"},
    [REDS] = {"reductions_per_s", "RED/s", 7, true, false, true, "reductions per second"},
    [MEMORY] = {"memory_bytes", "MEMORY", 9, true, false, true, "of its processes"},
    [QUEUE] = {"message_queue_len", "MSGQ", 8, true, false, true, "queue length of its processes"},
    [BAR] = {"bar", "", 16, false, false, false, "its share as a bar"},
};

struct owners_view {
    enum owner_by by;
    int sort;
    bool ascending;
    uint64_t opened; /* the row whose processes are below it; 0: none */
};

static void owners_init(void *state)
{
    ((struct owners_view *)state)->sort = SHARE;
}

static void owners_want(const void *state, int rows, struct want *want)
{
    const struct owners_view *s = state;
    struct want mine = {.needs = NEED_SCAN};
    if (s->by == OWNER_APPLICATION)
        mine.needs |= NEED_APPS;
    mine.scan.sort_key = "reductions_per_s";
    mine.scan.by_delta = true;
    mine.scan.rows = rows > RANKED ? rows : RANKED;
    mine.scan.items = UINT32_C(1) << ITEM_ID | UINT32_C(1) << ITEM_REDUCTIONS |
                      UINT32_C(1) << ITEM_MESSAGE_QUEUE_LEN | UINT32_C(1) << ITEM_MEMORY;
    if (s->by == OWNER_SUPERVISOR || s->by == OWNER_KIN)
        mine.scan.items |= UINT32_C(1) << ITEM_SUPERVISOR;
    want_merge(want, &mine);
}

static double number(const struct owner *o, int column)
{
    switch (column) {
    case PROCESSES:
        return known_or_nan(o->processes);
    case SHARE:
        return o->share;
    case REDS:
        return o->reductions_per_s;
    case MEMORY:
        return o->memory_bytes;
    case QUEUE:
        return o->message_queue_len;
    default:
        return NAN; /* text */
    }
}

static void put_bar(struct view_page *page, struct view_row *row, double share)
{
    char bar[16 * 3 + 1] = "";
    int cells = isnan(share) ? 0 : (int)(share * 16 + 0.5);
    for (int i = 0; i < cells && i < 16; i++)
        strcat(bar, page->ascii ? "#" : "█");
    page_cell_printf(page, row, BAR, STYLE_GRAPH, "%s", bar);
}

static void put_numbers(struct view_page *page, struct view_row *row, const struct owner *o)
{
    char text[32];
    page_cell_printf(page, row, PROCESSES, STYLE_NORMAL, "%s",
                     text_integer(text, sizeof text, o->processes));
    page_cell_printf(page, row, SHARE, STYLE_NORMAL, "%s",
                     text_percent(text, sizeof text, o->share));
    put_bar(page, row, o->share);
    page_cell_printf(page, row, REDS, STYLE_NORMAL, "%s",
                     text_count(text, sizeof text, o->reductions_per_s));
    page_cell_printf(page, row, MEMORY, STYLE_NORMAL, "%s",
                     text_bytes(text, sizeof text, o->memory_bytes));
    page_cell_printf(page, row, QUEUE, o->message_queue_len > 0 ? STYLE_NORMAL : STYLE_DIM, "%s",
                     text_count(text, sizeof text, o->message_queue_len));
}

static void add_owner(struct view_page *page, const struct owners_view *s, const struct owner *o)
{
    struct view_row *row = page_row(page);
    const char *kind = proc_kind_name(o->kind);
    row->id = text_identity(o->name.s, o->name.len);
    row->key = number(o, s->sort);
    if (s->by == OWNER_APPLICATION)
        link_name(&row->link, TARGET_APP, o->name);
    else if (o->processes > 1)
        row->link = (struct view_link){.kind = TARGET_KIN, .id = row->id};
    else
        link_process(&row->link, &o->first->pid, o->first->name);
    page_cell(page, row, OWNER, STYLE_NAME, o->name.s, o->name.len);
    page_cell(page, row, KIND, STYLE_MARK, kind, strlen(kind));
    put_numbers(page, row, o);
}

/* ---- the processes of an owner, below it */

static void add_process(struct view_page *page, const struct owners_view *s,
                        const struct owners *owners, const struct proc_row *proc)
{
    const struct owner alone = owner_alone(owners, proc);
    struct view_row *row = page_row(page);
    char pid[40];
    pid_text(pid, sizeof pid, &proc->pid);
    row->indent = 2;
    row->id = pid_identity(&proc->pid);
    row->key = number(&alone, s->sort);
    link_process(&row->link, &proc->pid, proc->name);
    page_cell_printf(page, row, OWNER, STYLE_PID, "%s%s%.*s", pid, proc->label.len > 0 ? " " : "",
                     (int)proc->label.len, proc->label.s);
    put_numbers(page, row, &alone);
}

static void open_owner(struct view_page *page, const struct owners_view *s,
                       const struct proc_scan *scan, const struct owners *owners)
{
    const size_t n = page->n_rows, at = page_opened(page, s->opened);
    if (at == n)
        return;
    page->in_place = true;
    for (size_t i = 0; i < scan->n_rows; i++) {
        const struct proc_row *proc = &scan->rows[i];
        const struct slice name = owner_of(s->by, proc, &page->arena);
        if (!proc->own && text_identity(name.s, name.len) == s->opened)
            add_process(page, s, owners, proc);
    }
    page_sort_below(page, n, at);
}

/* Last, whatever the order: it is not an owner. */
static void add_rest(struct view_page *page, const struct owners *owners)
{
    const struct owner rest = {.processes = owners->rest_processes,
                               .share = owners->rest_share,
                               .reductions_per_s = NAN,
                               .memory_bytes = NAN,
                               .message_queue_len = NAN};
    struct view_row *row = page_row(page);
    row->id = 1;
    page_cell_printf(page, row, OWNER, STYLE_DIM, "the rest");
    put_numbers(page, row, &rest);
}

static const struct apps_detail *apps_of(const struct owners_view *s, const struct model *m)
{
    const struct proc_scan *scan = model_scan(m);
    bool filtered = scan && scan->filtered; /* then only the scan knows which processes count */
    return s->by == OWNER_APPLICATION && !filtered ? model_apps(m) : NULL;
}

static void summarise(struct view_page *page, const struct owners_view *s,
                      const struct proc_scan *scan, size_t n)
{
    char ranked[32], all[32], owners[32];
    text_integer(owners, sizeof owners, (int64_t)n);
    if (!scan) {
        snprintf(page->summary, sizeof page->summary, "by %s: %s", owner_by_key(s->by), owners);
        return;
    }
    snprintf(page->summary, sizeof page->summary, "by %s: %s, of the top %s%s of %s processes",
             owner_by_key(s->by), owners,
             text_integer(ranked, sizeof ranked, (int64_t)scan->n_rows),
             scan->filtered ? " that match" : "", text_integer(all, sizeof all, scan->total));
}

static void owners_page(void *state, const struct model *m, int rows, int columns,
                        struct view_page *page)
{
    const struct owners_view *s = state;
    const struct proc_scan *scan = model_scan(m);
    const struct apps_detail *apps = apps_of(s, m);
    struct owners owners;
    (void)rows;
    (void)columns;
    page_columns(page, owner_columns, ARRAY_LEN(owner_columns));
    page->sort_column = s->sort;
    page->sort_descending = !s->ascending;
    if (!scan && !apps) {
        view_missing_scan(page, m);
        return;
    }
    if (apps)
        owners_of_apps(&owners, &page->arena, apps, scan, 0);
    else
        owners_of_scan(&owners, &page->arena, scan, s->by, 0);
    for (size_t i = 0; i < owners.len; i++)
        add_owner(page, s, &owners.items[i]);
    page_sort(page);
    if (s->by != OWNER_APPLICATION && s->opened != 0)
        open_owner(page, s, scan, &owners);
    summarise(page, s, apps ? NULL : scan, owners.len);
    snprintf(page->empty, sizeof page->empty, "No process that works has a %s.",
             owner_by_key(s->by));
    if (owners.len > 0 || owners.has_shares)
        add_rest(page, &owners);
}

static void owners_sort(void *state, const char *key, int direction)
{
    struct owners_view *s = state;
    for (int i = 0; i < (int)ARRAY_LEN(owner_columns); i++) {
        if (!owner_columns[i].sortable || strcmp(owner_columns[i].key, key) != 0)
            continue;
        bool text = i == OWNER || i == KIND;
        s->ascending = direction ? direction < 0 : i == s->sort ? !s->ascending : text;
        s->sort = i;
    }
}

static int owners_by(void *state, const struct view_link *at, const char *arg, struct error *err)
{
    struct owners_view *s = state;
    (void)at;
    if (!*arg)
        s->by = (s->by + 1) % OWNER_SORTS;
    else if (!owner_by_find(arg, &s->by))
        return error_set(err, ERR_USAGE,
                         "owners are an application, supervisor, module, name, "
                         "label, kin or kind, not \"%s\"",
                         arg);
    s->opened = 0;
    return 0;
}

static int owners_open(void *state, const struct view_link *at, const char *arg, struct error *err)
{
    struct owners_view *s = state;
    (void)arg;
    return link_fold(at, &s->opened, err);
}

static const struct view_act owners_acts[] = {
    {ACTION_BY, .run = owners_by}, {ACTION_FOLD, true, owners_open}, {.run = NULL}};

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
    .state_bytes = sizeof(struct owners_view),
    .init = owners_init,
    .want = owners_want,
    .page = owners_page,
    .sort = owners_sort,
    .hints = owners_hints,
    .acts = owners_acts,
};
