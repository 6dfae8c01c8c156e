/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "views.h"

#include <math.h>
#include <stdio.h>

#include "beamtop/base/text.h"

#define CELL 36 /* columns of one scheduler: id, bar, use, queue */
#define BAR 14
#define WINDOW 900

static const char *const kind_titles[] = {
    [SCHEDULER_NORMAL] = "Normal",
    [SCHEDULER_DIRTY_CPU] = "Dirty CPU",
    [SCHEDULER_DIRTY_IO] = "Dirty I/O",
};

/* What stands over the schedulers of one kind. */
struct spread {
    size_t n, known, idle;
    double sum, low, high;
    int64_t queued, longest;
};

static struct spread spread_of(const struct system_sample *s, enum scheduler_kind kind)
{
    struct spread a = {.low = NAN, .high = NAN, .longest = -1};
    for (size_t i = 0; i < s->n_schedulers; i++) {
        const struct scheduler *one = &s->schedulers[i];
        if (one->kind != kind)
            continue;
        a.n++;
        if (one->queue_len > a.longest)
            a.longest = one->queue_len;
        if (one->queue_len > 0)
            a.queued += one->queue_len;
        if (isnan(one->use))
            continue;
        a.known++;
        a.sum += one->use;
        a.idle += one->use < 0.005;
        a.low = a.known == 1 || one->use < a.low ? one->use : a.low;
        a.high = a.known == 1 || one->use > a.high ? one->use : a.high;
    }
    return a;
}

static void put_kind_heading(struct view_page *page, const struct spread *a,
                             enum scheduler_kind kind, const struct node_info *node)
{
    char text[32];
    page_heading(page, kind_titles[kind]);
    page_printf(page, STYLE_DIM, "  %zu", a->n);
    int64_t online = !node                         ? -1
                     : kind == SCHEDULER_NORMAL    ? node->schedulers_online
                     : kind == SCHEDULER_DIRTY_CPU ? node->dirty_cpu_online
                                                   : -1;
    if (online >= 0 && (size_t)online != a->n)
        page_printf(page, STYLE_WARN, ", %lld online", (long long)online);
    if (a->known > 0) {
        page_printf(page, STYLE_VALUE, ", utilisation %s",
                    text_percent(text, sizeof text, a->sum / (double)a->known));
        if (a->known > 1) {
            page_printf(page, STYLE_NORMAL, " (%s", text_percent(text, sizeof text, a->low));
            page_printf(page, STYLE_NORMAL, " to %s)", text_percent(text, sizeof text, a->high));
            page_printf(page, STYLE_NORMAL, ", %zu idle", a->idle);
        }
    }
    if (kind == SCHEDULER_NORMAL)
        page_printf(page, STYLE_NORMAL, ", %s queued", text_integer(text, sizeof text, a->queued));
    else if (a->longest >= 0)
        page_printf(page, STYLE_NORMAL, ", shared run queue %s",
                    text_integer(text, sizeof text, a->longest));
}

/* Uneven load: one is full while another has room. */
static void put_imbalance(struct view_page *page, const struct spread *a)
{
    double mean = a->known ? a->sum / (double)a->known : NAN;
    if (a->known < 2 || !(a->high > 0.9 && a->low < 0.2 && mean > 0.3))
        return;
    page_text(page, STYLE_WARN,
              "  uneven: some are full while others have little to do (compaction of load, or "
              "processes that do not migrate)");
}

static void put_scheduler(struct view_page *page, const struct scheduler *s, bool queue)
{
    char text[32];
    page_printf(page, STYLE_LABEL, "%6lld ", (long long)s->id);
    page_bar(page, BAR, s->use);
    page_right(page,
               s->use > 0.95  ? STYLE_ALARM
               : s->use > 0.8 ? STYLE_WARN
                              : STYLE_VALUE,
               8, text_percent(text, sizeof text, s->use));
    if (queue && s->queue_len >= 0)
        page_right(page, s->queue_len > 0 ? STYLE_RISING : STYLE_DIM, 5,
                   text_count(text, sizeof text, (double)s->queue_len));
}

/* Folded into as many columns as there is room for, read downwards. */
static void put_columns(struct view_page *page, const struct system_sample *s,
                        enum scheduler_kind kind, size_t n, int columns)
{
    const struct scheduler **all =
        arena_alloc(&page->arena, (n ? n : 1) * sizeof(struct scheduler *));
    size_t at = 0, across = columns / CELL > 1 ? (size_t)(columns / CELL) : 1;
    for (size_t i = 0; i < s->n_schedulers && at < n; i++)
        if (s->schedulers[i].kind == kind)
            all[at++] = &s->schedulers[i];
    size_t down = (n + across - 1) / across;
    if (across > 1 && n <= 4)
        down = n; /* so few stand below one another */
    for (size_t row = 0; row < down; row++) {
        page_line(page);
        for (size_t i = row, column = 0; i < n; i += down, column++) {
            if (column > 0)
                page_tab(page, (int)column * CELL);
            put_scheduler(page, all[i], kind == SCHEDULER_NORMAL);
        }
    }
}

static void put_history_lines(struct view_page *page, const struct model *m, int columns)
{
    static const struct {
        const char *name;
        enum history_line line;
        bool share;
    } lines[] = {{"run queue", HISTORY_RUN_QUEUE, false},
                 {"normal", HISTORY_USE_NORMAL, true},
                 {"dirty CPU", HISTORY_USE_DIRTY_CPU, true},
                 {"dirty I/O", HISTORY_USE_DIRTY_IO, true}};
    int width = columns - 30;
    page_heading(page, "History");
    page_printf(page, STYLE_DIM, "  over %d minutes", WINDOW / 60);
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        const struct ring *ring = model_history(m, lines[i].line);
        char text[32];
        page_label(page, lines[i].name, 12);
        double now = ring->len ? ring_at(ring, 0) : NAN;
        page_right(page, STYLE_VALUE, 8,
                   lines[i].share ? text_percent(text, sizeof text, now)
                                  : text_count(text, sizeof text, now));
        page_puts(page, STYLE_NORMAL, "  ");
        page_spark(page, ring, width > 120 ? 120 : width, WINDOW, lines[i].share ? 1.0 : NAN);
    }
}

static void schedulers_page(void *state, const struct model *m, struct view_page *page)
{
    const struct system_sample *s = model_system(m);
    (void)state;
    if (!s) {
        page_missing(page, m, "scheduler utilisation");
        return;
    }
    snprintf(page->summary, sizeof page->summary, "run queue %lld, longest %lld",
             (long long)s->run_queue, (long long)s->run_queue_highest);
    put_history_lines(page, m, page->pane_columns);
    for (int kind = SCHEDULER_NORMAL; kind <= SCHEDULER_DIRTY_IO; kind++) {
        struct spread a = spread_of(s, (enum scheduler_kind)kind);
        if (a.n == 0)
            continue;
        put_kind_heading(page, &a, (enum scheduler_kind)kind, model_node(m));
        if (kind == SCHEDULER_NORMAL)
            put_imbalance(page, &a);
        put_columns(page, s, (enum scheduler_kind)kind, a.n, page->pane_columns);
    }
    if (s->n_schedulers == 0) {
        page_text(page, STYLE_DIM, "  Scheduler utilisation: from the next tick on.");
    }
}

static const struct view_hint schedulers_hints[] = {
    {ACTION_PAGE_DOWN, "more"}, {ACTION_BACK, "back"}, {.does = NULL}};

const struct view_ops view_schedulers = {
    .name = "schedulers",
    .title = "Schedulers",
    .key = '4',
    .help = "Utilisation of every scheduler, run queues, imbalance.",
    .kind = VIEW_DOC,
    .no_processes = true,
    .needs = NEED(SYSTEM),
    .page = schedulers_page,
    .hints = schedulers_hints,
};
