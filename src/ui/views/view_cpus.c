/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Scheduler threads as the operating system counts them: a scheduler that is busy by the VM's count
 * while it waits for a CPU is the one to look at. */
#include "views.h"

#include <math.h>
#include <stdio.h>

#include "beamtop/base/text.h"

#define ACCOUNT_LABEL 28 /* columns of a type of threads */
#define LABEL 17         /* columns of a scheduler's id and kind */

static const char *const kind_names[] = {
    [SCHEDULER_NORMAL] = "normal",
    [SCHEDULER_DIRTY_CPU] = "dirty CPU",
    [SCHEDULER_DIRTY_IO] = "dirty I/O",
};

static const struct {
    const char *title;
    int width;
} titles[] = {{"UTIL", 7},    {"RUN", 7}, {"WAIT CPU", 9}, {"FORCED/s", 9},
              {"YIELD/s", 8}, {"CPU", 5}, {"MOVES", 6},    {"BOUND", 6}};

/* Microstate accounting costs time on the node: the cost is shown before it is switched on. */
enum accounting { OFF, ASKED, ON };
struct cpus {
    enum accounting accounting;
};

static int cpus_account(void *state, const struct view_call *call)
{
    struct cpus *s = state;
    (void)call;
    s->accounting = s->accounting == OFF ? ASKED : s->accounting == ASKED ? ON : OFF;
    return 0;
}

static const struct view_act cpus_acts[] = {
    {.action = ACTION_MSACC, .run = cpus_account},
    {.run = NULL},
};

static void cpus_want(const void *state, int rows, struct want *want)
{
    (void)rows;
    if (((const struct cpus *)state)->accounting == ON)
        want->needs |= NEED(MSACC);
    want->needs |= NEED(THREADS) | NEED(SYSTEM);
}

static void put_label(struct view_page *page, const char *label, enum style style, const char *text)
{
    page_printf(page, STYLE_LABEL, "  %s ", label);
    page_puts(page, style, text);
}

/* Any shortage means that the host, not the VM, limits the schedulers. */
static enum style shortage_style(double share)
{
    return share > 0.2 ? STYLE_ALARM : share > 0.05 ? STYLE_WARN : STYLE_VALUE;
}

static void put_cpus_heading(struct view_page *page, const struct threads_detail *t,
                             const struct node_info *node)
{
    char text[32];
    page_heading(page, "CPUs");
    if (node)
        put_label(page, "of the host", STYLE_VALUE, text_integer(text, sizeof text, node->cpus));
    put_label(page, "allowed", STYLE_VALUE, text_integer(text, sizeof text, t->allowed_cpus));
    page_printf(page, STYLE_DIM, " (%.*s)", (int)t->allowed.len, t->allowed.s);
    put_label(page, "steal", shortage_style(t->steal), text_percent(text, sizeof text, t->steal));
    page_line(page);
    if (isnan(t->quota_cpus)) {
        put_label(page, "cgroup quota", STYLE_DIM, "none found");
    } else {
        snprintf(text, sizeof text, "%.2f CPUs", t->quota_cpus);
        put_label(page, "cgroup quota", STYLE_VALUE, text);
        put_label(page, "throttled", shortage_style(t->throttled),
                  text_percent(text, sizeof text, t->throttled));
        page_printf(page, STYLE_DIM, " of periods, %s/s",
                    text_duration(text, sizeof text, t->throttled_per_s));
    }
    put_label(page, "bind type", STYLE_VALUE, "");
    page_slice(page, STYLE_VALUE, t->bind_type);
}

static void column_titles(struct view_page *page)
{
    page_heading(page, "Schedulers");
    page_tab(page, LABEL);
    for (size_t i = 0; i < ARRAY_LEN(titles); i++)
        page_right(page, STYLE_LABEL, titles[i].width, titles[i].title);
}

static void put_cpu(struct view_page *page, int column, int64_t cpu)
{
    char text[32];
    page_right(page, cpu < 0 ? STYLE_DIM : STYLE_VALUE, titles[column].width,
               cpu < 0 ? "-" : text_integer(text, sizeof text, cpu));
}

static void put_thread(struct view_page *page, const struct scheduler_thread *r)
{
    char text[32];
    int at = 0;
    page_line(page);
    page_printf(page, STYLE_LABEL, "%5lld %s", (long long)r->id, kind_names[r->kind]);
    page_tab(page, LABEL);
    const double shares[] = {r->use, r->run, r->wait};
    for (; at < 3; at++)
        page_right(page, at == 2 ? shortage_style(r->wait) : STYLE_VALUE, titles[at].width,
                   text_percent(text, sizeof text, shares[at]));
    const double rates[] = {r->involuntary_per_s, r->voluntary_per_s};
    for (; at < 5; at++)
        page_right(page, STYLE_NORMAL, titles[at].width,
                   text_count(text, sizeof text, rates[at - 3]));
    put_cpu(page, 5, r->cpu);
    page_right(page, STYLE_NORMAL, titles[6].width, text_integer(text, sizeof text, r->migrations));
    put_cpu(page, 7, r->bound);
}

/* Dirty schedulers that did nothing are only counted. */
static bool is_idle(const struct scheduler_thread *r)
{
    return r->kind != SCHEDULER_NORMAL && !(r->run >= 0.0005) && !(r->wait >= 0.0005);
}

/* ---- microstate accounting */

static const struct {
    const char *title;
    enum msacc_state state;
} states[] = {
    {"EMULATOR", MSACC_EMULATOR}, {"GC", MSACC_GC},       {"PORT", MSACC_PORT},  {"AUX", MSACC_AUX},
    {"CHECK IO", MSACC_CHECK_IO}, {"OTHER", MSACC_OTHER}, {"SLEEP", MSACC_SLEEP}};
#define STATE_WIDTH 9

static void put_states(struct view_page *page, const struct msacc_detail *a)
{
    char text[32];
    for (size_t s = 0; s < ARRAY_LEN(states); s++)
        page_right(page, STYLE_LABEL, STATE_WIDTH, states[s].title);
    for (size_t i = 0; i < a->n_types; i++) {
        page_line(page);
        page_printf(page, STYLE_LABEL, "%5lld %.*s", (long long)a->rows[i].threads,
                    (int)a->rows[i].type.len, a->rows[i].type.s);
        page_tab(page, ACCOUNT_LABEL);
        for (size_t s = 0; s < ARRAY_LEN(states); s++)
            page_right(page, STYLE_VALUE, STATE_WIDTH,
                       text_percent(text, sizeof text, a->rows[i].share[states[s].state]));
    }
    page_line(page);
    if (a->switched_off)
        page_puts(page, STYLE_WARN, "  it has been switched off: shares are of the time before");
    else if (a->on_before)
        page_puts(page, STYLE_DIM, "  it was on before, and stays on");
    else
        page_printf(page, STYLE_DIM,
                    "  %s switches it off. Dirty GC is under OTHER, a dirty NIF under EMULATOR",
                    page_key(page, CONTEXT_DOC, ACTION_MSACC, text, sizeof text));
}

static void put_accounting(struct view_page *page, const struct cpus *s, const struct model *m)
{
    const struct msacc_detail *a = model_msacc(m);
    char key[64];
    page_heading(page, "Microstates");
    page_tab(page, ACCOUNT_LABEL);
    if (model_recorded(m) && !a)
        page_puts(page, STYLE_DIM, "not recorded");
    else if (s->accounting == ON && a)
        put_states(page, a);
    else if (s->accounting == ON)
        page_puts(page, STYLE_DIM, "waiting for the node's answer");
    else if (s->accounting == ASKED)
        page_printf(
            page, STYLE_WARN,
            "takes up to 28%% of the time of processes that only send messages. %s again: on",
            page_key(page, CONTEXT_DOC, ACTION_MSACC, key, sizeof key));
    else
        page_printf(page, STYLE_DIM, "off. %s: what each type of thread does (emulator, GC, I/O …)",
                    page_key(page, CONTEXT_DOC, ACTION_MSACC, key, sizeof key));
}

static void cpus_page(void *state, const struct model *m, struct view_page *page)
{
    const struct threads_detail *t = model_threads(m);
    size_t idle = 0;
    if (!t) {
        page_missing(page, m, "CPU time of the schedulers");
        return;
    }
    if (t->n_rows == 0) {
        const struct system_sample *s = model_system(m);
        snprintf(page->empty, sizeof page->empty, "%s",
                 s && s->run_queue_dirty_io > 0
                     ? "Unknown: the node's dirty I/O schedulers, which read /proc, are not free."
                     : "The node read no scheduler threads in /proc/self/task: it does not run on "
                       "Linux, or the read took longer than 1 s.");
        return;
    }
    put_cpus_heading(page, t, model_node(m));
    column_titles(page);
    for (size_t i = 0; i < t->n_rows; i++) {
        if (is_idle(&t->rows[i]))
            idle++;
        else
            put_thread(page, &t->rows[i]);
    }
    page_line(page);
    if (idle > 0)
        page_printf(page, STYLE_DIM, "  %zu dirty schedulers did nothing", idle);
    put_accounting(page, state, m);
    snprintf(page->summary, sizeof page->summary, "%zu scheduler threads", t->n_rows);
}

static const struct view_hint cpus_hints[] = {{ACTION_MSACC, "microstates"},
                                              {ACTION_PAGE_DOWN, "more"},
                                              {ACTION_BACK, "back"},
                                              {.does = NULL}};

const struct view_ops view_cpus = {
    .name = "cpus",
    .title = "CPUs",
    .key = 'K',
    .help = "CPU time of each scheduler thread, its waits for a CPU, steal and cgroup quota.",
    .kind = VIEW_DOC,
    .no_processes = true,
    .state_bytes = sizeof(struct cpus),
    .acts = cpus_acts,
    .want = cpus_want,
    .page = cpus_page,
    .hints = cpus_hints,
};
