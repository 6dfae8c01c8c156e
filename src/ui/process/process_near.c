/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What other answers say of the process, as far as they have been asked for: which processes it
 * waits for and which wait for it; its ETS tables, ports and sockets. */
#include "view_process.h"

#include <math.h>
#include <stdio.h>

#include "beamtop/base/attr.h"
#include "beamtop/base/known.h"
#include "beamtop/base/text.h"
#include "beamtop/model/suspenders.h"
#include "beamtop/model/waits.h"

#define SHOWN 5 /* of each list */

/* Where the answer is not of now. */
static void put_heading(struct view_page *page, const struct model *m, const char *title,
                        const struct table_detail *t)
{
    const struct system_sample *now = model_system(m);
    const double ago_s =
        now && now->mono_ns > t->mono_ns ? (double)(now->mono_ns - t->mono_ns) / 1e9 : 0;
    char text[120], ago[32];
    if (ago_s < 2)
        snprintf(text, sizeof text, "%.80s", title);
    else
        snprintf(text, sizeof text, "%.80s  %s ago", title,
                 text_duration(ago, sizeof ago, floor(ago_s)));
    page_heading(page, text);
}

static void put_more(struct view_page *page, int64_t n)
{
    char text[32];
    if (n <= SHOWN)
        return;
    page_line(page);
    page_printf(page, STYLE_DIM, "  and %s more", text_integer(text, sizeof text, n - SHOWN));
}

/* ---- waits */

static void put_waiter(struct view_page *page, const struct waits_row *w)
{
    struct view_line *line = page_line(page);
    char text[40];
    link_process(&line->link, &w->pid, w->name);
    page_puts(page, STYLE_NORMAL, "  ");
    page_puts(page, STYLE_PID, pid_text(text, sizeof text, &w->pid));
    page_tab(page, LABEL + 2);
    page_slice(page, STYLE_NAME, page_name(page, waits_name(&page->arena, w, false)));
    page_puts(page, STYLE_DIM, "  ");
    page_slice(page, STYLE_MARK, w->kind);
    page_puts(page, STYLE_DIM, "  ");
    page_slice(page, STYLE_FUNCTION, page_name(page, w->caller.len > 0 ? w->caller : w->function));
}

static void put_target(struct view_page *page, const struct waits_graph *g, size_t i)
{
    const struct waits_row *w = &g->rows[i];
    struct view_line *line = page_line(page);
    char text[40];
    page_puts(page, STYLE_LABEL, "  waits for");
    page_tab(page, LABEL + 2);
    if (w->has_for) {
        link_process(&line->link, &w->for_pid, w->for_name);
        page_puts(page, STYLE_PID, pid_text(text, sizeof text, &w->for_pid));
        page_puts(page, STYLE_NORMAL, " ");
    }
    if (g->to[i] < g->n)
        page_slice(page, STYLE_NAME,
                   page_name(page, waits_name(&page->arena, &g->rows[g->to[i]], false)));
    else
        page_slice(page, STYLE_NAME, page_name(page, w->for_name.len > 0 ? w->for_name : w->node));
    if (!w->has_for && w->for_name.len > 0 && w->node.len > 0) { /* a pid or name of there */
        page_puts(page, STYLE_DIM, " on ");
        page_slice(page, STYLE_NAME, page_name(page, w->node));
    }
    if (!w->has_for && w->for_name.len == 0 && w->node.len == 0 && w->among > 1)
        page_printf(page, STYLE_DIM, "one of %lld that it monitors", (long long)w->among);
    else if (!w->has_for && w->for_name.len == 0 && w->node.len == 0)
        page_puts(page, STYLE_DIM, "unknown");
    page_puts(page, STYLE_DIM, "  in ");
    page_slice(page, STYLE_MARK, w->kind);
    if (w->seen_s > 0)
        page_printf(page, STYLE_DIM, ", observed for %s",
                    text_duration(text, sizeof text, w->seen_s));
    if (w->deadlock > 0)
        page_puts(page, STYLE_ALARM, "  deadlock");
}

static void put_waits(struct view_page *page, const struct model *m, const struct etf_pid *pid)
{
    const struct table_detail *t = model_waits(m);
    struct waits_graph g;
    char title[60], n[32];
    size_t i = 0, shown = 0;
    if (!t)
        return;
    waits_graph_make(&g, &page->arena, t->rows, t->n_rows);
    while (i < g.n && !pid_same(&g.rows[i].pid, pid))
        i++;
    if (i == g.n || (g.rows[i].waiters == 0 && g.rows[i].kind.len == 0))
        return;
    put_heading(page, m, "Waits", t);
    if (g.rows[i].kind.len > 0 && !g.rows[i].suspended)
        put_target(page, &g, i);
    if (g.rows[i].suspended)
        page_text(page, STYLE_WARN, "  suspended by sys:suspend/1");
    if (g.rows[i].waiters == 0)
        return;
    snprintf(title, sizeof title, "  waited for by %s",
             text_integer(n, sizeof n, g.rows[i].waiters));
    page_text(page, STYLE_LABEL, title);
    if (g.rows[i].behind > g.rows[i].waiters)
        page_printf(page, STYLE_DIM, ", with those behind them %s",
                    text_integer(n, sizeof n, g.rows[i].behind));
    for (size_t k = g.first[i]; k < g.n && shown < SHOWN; k = g.next[k], shown++)
        put_waiter(page, &g.rows[k]);
    put_more(page, g.rows[i].waiters);
}

/* ---- who suspends it */

static void put_suspenders(struct view_page *page, const struct model *m, const struct etf_pid *pid)
{
    const struct table_detail *t = model_suspenders(m);
    const struct suspenders_row *rows = suspenders_of(t, pid);
    char text[96];
    for (size_t i = 0; rows && i < t->n_rows; i++) {
        if (i == 0)
            put_heading(page, m, "Suspended by", t);
        if (!rows[i].has_by) {
            page_line(page);
            page_printf(page, STYLE_WARN, "  %s", suspenders_none(text, sizeof text, &rows[i]));
            continue;
        }
        link_process(&page_line(page)->link, &rows[i].by, rows[i].by_name);
        page_puts(page, STYLE_NORMAL, "  ");
        page_puts(page, STYLE_PID, pid_text(text, sizeof text, &rows[i].by));
        page_tab(page, LABEL + 2);
        page_slice(page, STYLE_NAME, page_name(page, rows[i].by_name));
        if (rows[i].times > 1)
            page_printf(page, STYLE_DIM, "  %lld times", (long long)rows[i].times);
    }
}

/* ---- what it owns */

static void put_owned_name(struct view_page *page, struct slice name, struct slice id)
{
    page_line(page);
    page_puts(page, STYLE_NORMAL, "  ");
    page_slice(page, STYLE_NAME, page_name(page, name.len > 0 ? name : id));
    page_tab(page, 40);
}

static void put_tables(struct view_page *page, const struct model *m, const struct etf_pid *pid)
{
    const struct table_detail *t = model_tables(m);
    const struct tables_row *rows = t ? t->rows : NULL;
    int64_t n = 0, shown = 0;
    double bytes = (double)NAN; /* not known of any */
    bool is_least = false;
    char title[80], count[32], size[32];
    for (size_t i = 0; t && i < t->n_rows; i++)
        if (rows[i].has_owner && pid_same(&rows[i].owner, pid) && rows[i].tables > 0) {
            n = known_plus(n, rows[i].tables);
            if (rows[i].memory_bytes >= 0)
                bytes = (isnan(bytes) ? 0 : bytes) + (double)rows[i].memory_bytes;
            else
                is_least = true;
        }
    if (n == 0)
        return;
    snprintf(title, sizeof title, "ETS tables  %s, %s%s", text_integer(count, sizeof count, n),
             is_least && !isnan(bytes) ? "at least " : "", text_bytes(size, sizeof size, bytes));
    put_heading(page, m, title, t);
    for (size_t i = 0; i < t->n_rows && shown < SHOWN; i++) {
        if (!rows[i].has_owner || !pid_same(&rows[i].owner, pid))
            continue;
        put_owned_name(page, rows[i].name, rows[i].id);
        page_right(page, STYLE_VALUE, 12,
                   text_bytes(size, sizeof size, known_or_nan(rows[i].memory_bytes)));
        page_printf(page, STYLE_DIM, "  %s objects",
                    text_count(count, sizeof count, known_or_nan(rows[i].objects)));
        shown = known_plus(shown, rows[i].tables > 1 ? rows[i].tables : 1);
    }
    put_more(page, n > shown ? n - shown + SHOWN : 0);
}

static void put_ports(struct view_page *page, const struct model *m, const struct etf_pid *pid)
{
    const struct table_detail *t = model_ports(m);
    const struct ports_row *rows = t ? t->rows : NULL;
    int64_t n = 0, shown = 0;
    char title[80], count[32];
    for (size_t i = 0; t && i < t->n_rows; i++)
        if (rows[i].has_owner && pid_same(&rows[i].owner, pid))
            n = known_plus(n, rows[i].ports > 0 ? rows[i].ports : 0);
    if (n == 0)
        return;
    snprintf(title, sizeof title, "Ports and sockets  %s", text_integer(count, sizeof count, n));
    put_heading(page, m, title, t);
    for (size_t i = 0; i < t->n_rows && shown < SHOWN; i++) {
        if (!rows[i].has_owner || !pid_same(&rows[i].owner, pid))
            continue;
        put_owned_name(page, rows[i].id, rows[i].id);
        page_slice(page, STYLE_MARK, rows[i].kind);
        page_puts(page, STYLE_DIM, "  ");
        page_slice(page, STYLE_NORMAL, rows[i].remote.len > 0 ? rows[i].remote : rows[i].local);
        page_puts(page, STYLE_DIM, "  ");
        page_slice(page, STYLE_DIM, rows[i].state);
        shown = known_plus(shown, rows[i].ports > 1 ? rows[i].ports : 1);
    }
    put_more(page, n > shown ? n - shown + SHOWN : 0);
}

/* ---- timers */

void process_timers(struct view_page *page, const struct model *m)
{
    const struct table_detail *t = model_terms(m);
    const struct terms_row *rows = t ? t->rows : NULL;
    int64_t n = -1;
    char text[32];
    for (size_t i = 0; t && i < t->n_rows; i++)
        if (slice_is(rows[i].kind, "timers"))
            n = rows[i].count;
    page_label(page, "timers", LABEL);
    page_puts(page, STYLE_DIM, "unknown: the VM does not say whose a timer is");
    if (n >= 0)
        page_printf(page, STYLE_DIM, "; %s in all", text_integer(text, sizeof text, n));
}

void process_near(struct view_page *page, const struct model *m, const struct etf_pid *pid)
{
    put_suspenders(page, m, pid);
    put_waits(page, m, pid);
    put_tables(page, m, pid);
    put_ports(page, m, pid);
}
