/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "header_first.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "beamtop/base/attr.h"
#include "beamtop/base/text.h"
#include "beamtop/model/outside.h"
#include "header_nodes.h"

#define ITEMS 24 /* more than there are */
struct item {
    char text[200];
    enum style style;
    int rank; /* the highest leaves first */
    bool right;
};
struct items {
    struct item all[ITEMS];
    int n;
};

static void drop_highest(struct items *l)
{
    int worst = 0;
    for (int i = 1; i < l->n; i++)
        if (l->all[i].rank >= l->all[worst].rank)
            worst = i;
    memmove(&l->all[worst], &l->all[worst + 1], (size_t)(l->n - worst - 1) * sizeof l->all[0]);
    l->n--;
}

static void add_item(struct items *l, int rank, bool right, enum style style, const char *fmt, ...)
    ATTR_PRINTF(5, 6);
static void add_item(struct items *l, int rank, bool right, enum style style, const char *fmt, ...)
{
    if (l->n == ITEMS)
        drop_highest(l);
    struct item *item = &l->all[l->n++];
    item->style = style;
    item->rank = rank;
    item->right = right;
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(item->text, sizeof item->text, fmt, ap);
    va_end(ap);
}

/* From here on a late scheduler is shown. */
#define LATE_MS 200

static void add_late(struct items *l, const struct system_sample *s)
{
    char wait[48], id[32] = "";
    if (!s || s->late_ms < LATE_MS)
        return;
    if (s->late_scheduler >= 0)
        snprintf(id, sizeof id, " %lld", (long long)s->late_scheduler);
    text_duration(wait, sizeof wait, (double)s->late_ms / 1000);
    add_item(l, 1, false, STYLE_WARN, "scheduler%s late: %s", id, wait);
}

static void add_node_item(struct items *l, const struct model *m)
{
    const struct node_info *node = model_node(m);
    const struct system_sample *s = model_system(m);
    if (!node) {
        add_item(l, 0, false, STYLE_TITLE, "beamtop");
        return;
    }
    char up[48];
    add_item(l, 0, false, STYLE_TITLE, "%.*s", (int)node->name.len, node->name.s);
    if (*model_way(m) != '\0')
        add_item(l, 4, false, STYLE_DIM, "%s", model_way(m));
    add_item(l, 5, false, STYLE_VALUE, "OTP %.*s", (int)node->otp.len, node->otp.s);
    add_item(l, 8, false, STYLE_DIM, "ERTS %.*s", (int)node->erts.len, node->erts.s);
    add_late(l, s);
    if (node->elixir.len)
        add_item(l, 9, false, STYLE_DIM, "Elixir %.*s", (int)node->elixir.len, node->elixir.s);
    add_item(l, 7, false, STYLE_VALUE, "%lld schedulers", (long long)node->schedulers_online);
    if (s && s->uptime_ms >= 0) {
        text_duration(up, sizeof up, floor((double)s->uptime_ms / 1000));
        add_item(l, 6, false, STYLE_VALUE, "up %s", up);
    }
}

static const char *link_words(enum link_state link, enum style *style)
{
    *style = STYLE_WARN;
    switch (link) {
    case LINK_CONNECTING:
        return "○ connecting";
    case LINK_LIVE:
        *style = STYLE_OK;
        return "● live";
    case LINK_STALE:
        return "◌ no answer";
    case LINK_LOST:
        *style = STYLE_ALARM;
        return "× lost";
    case LINK_CLOSED:
        *style = STYLE_ALARM;
        return "× closed";
    }
    return "";
}

/* Where in a recording, and how fast it goes by. */
static void add_place(struct items *l, const struct recorded_position *p, bool paused)
{
    char speed[32] = "";
    enum style style = paused || p->at_end ? STYLE_WARN : STYLE_OK;
    if (p->speed > 0)
        snprintf(speed, sizeof speed, " %.3g×", p->speed);
    add_item(l, 0, true, style, "%s%s",
             p->speed > 0 && !paused && !p->at_end ? "▶ replay" : "‖ replay", speed);
    add_item(l, 1, true, STYLE_VALUE, "tick %lld/%lld", (long long)p->tick, (long long)p->ticks);
    if (p->gap)
        add_item(l, 2, true, STYLE_WARN, "after a gap");
    if (p->at_end && p->speed > 0)
        add_item(l, 3, true, STYLE_WARN, "the end");
    if (p->mark[0] != '\0')
        add_item(l, 4, true, STYLE_VALUE, "mark %.60s", p->mark);
}

#define REASON_COLUMNS 60

/* How many bytes of a reason are shown: the clauses that there is room for, and the first in any
 * case. The log has all of it. */
static int reason_len(const char *reason, size_t len)
{
    size_t shown = len;
    while (text_width(reason, shown) > REASON_COLUMNS) {
        size_t clause = shown;
        while (clause > 0 && strncmp(reason + clause - 1, ": ", 2) != 0)
            clause--;
        if (clause == 0)
            break;
        shown = clause - 1;
    }
    return (int)shown;
}

/* "REASON; next try in 4 s": when it goes on matters more than why it stopped. */
static void add_reason(struct items *l, enum style style, const char *why)
{
    const char *next = strstr(why, LINK_NEXT_TRY);
    add_item(l, 2, true, style, "%.*s", reason_len(why, next ? (size_t)(next - why) : strlen(why)),
             why);
    if (next)
        add_item(l, 1, true, style, "%s", next + 2);
}

/* What holds the node, where its VM is looked at from outside. */
static void add_verdict(struct items *l, const struct model *m)
{
    const struct outside *o = model_outside(m);
    const struct node_info *node = model_node(m);
    struct outside_line verdict;
    if (!o || !node || !slice_is(node->name, o->node))
        return;
    outside_verdict(o, &verdict);
    add_item(l, 1, true, STYLE_ALARM, "%.*s", reason_len(verdict.text, strlen(verdict.text)),
             verdict.text);
}

static void add_link(struct items *l, const struct model *m, const struct header_state *state)
{
    const char *why = "";
    enum style style;
    enum link_state link = model_link(m, &why);
    const char *words = link_words(link, &style);
    if (link == LINK_CONNECTING && isnan(state->frozen_s))
        words = "○ no node chosen";
    char since[48] = "";
    if (link != LINK_LIVE && state->frozen_s > 0) {
        text_duration(since, sizeof since, floor(state->frozen_s));
        add_item(l, 0, true, style, "%s for %s", words, since);
    } else if (link == LINK_LIVE && state->paused) {
        add_item(l, 0, true, STYLE_WARN, "‖ paused");
    } else {
        add_item(l, 0, true, style, "%s", words);
    }
    if (link != LINK_LIVE && why && *why)
        add_reason(l, style, why);
    if (link == LINK_STALE || link == LINK_LOST)
        add_verdict(l, m);
}

/* A running recording matters as much as the connection; both have long reasons. */
static void add_recording(struct items *l, const struct header_recording *r)
{
    char text[48];
    if (!r || r->state == RECORDING_NONE)
        return;
    if (r->state == RECORDING_STARTS) {
        add_item(l, 0, true, STYLE_WARN, "○ rec starts");
        return;
    }
    text_duration(text, sizeof text, floor(r->running_s));
    if (r->state == RECORDING_STOPS)
        add_item(l, 0, true, STYLE_WARN, "○ rec stops");
    else
        add_item(l, 0, true, *r->problem ? STYLE_WARN : STYLE_OK, "%s rec %s",
                 *r->problem ? "◌" : "●", text);
    if (*r->problem)
        add_item(l, 1, true, STYLE_WARN, "%s", r->problem);
    char ticks[48];
    text_bytes(text, sizeof text, r->bytes);
    add_item(l, 4, true, STYLE_VALUE, "%s ticks, %s", text_integer(ticks, sizeof ticks, r->ticks),
             text);
}

/* Ticks further apart than that are rare: one wants to know how long to wait. */
#define RARE_S 5.0

static void add_next(struct items *l, const struct interval_info *interval,
                     const struct header_state *state)
{
    char text[48];
    if (!(interval->real_s >= RARE_S) || state->paused || !(state->next_s > 0))
        return;
    add_item(l, 2, true, STYLE_VALUE, "next in %s",
             text_duration(text, sizeof text, ceil(state->next_s)));
}

static void add_cost(struct items *l, const struct model *m, const struct header_state *state)
{
    struct interval_info interval = model_interval(m);
    const struct tick_cost *cost = model_cost(m);
    char text[48];
    text_duration(text, sizeof text, interval.real_s);
    /* Else only the questions asked apart from a list are spaced out. */
    if (interval.why && *interval.why && interval.real_s > interval.asked_s) {
        char budget[32];
        text_percent_set(budget, sizeof budget, interval.budget);
        add_item(l, 1, true, STYLE_WARN, "every %s (cost limit %s)", text, budget);
    } else if (interval.real_s > 0) {
        add_item(l, 3, true, STYLE_VALUE,
                 interval.idle && model_link(m, NULL) == LINK_LIVE ? "every %s (idle)" : "every %s",
                 text);
    }
    add_next(l, &interval, state);
    if (!cost || (model_recorded(m) && isnan(cost->target_us)))
        return; /* replaying costs the node nothing */
    text_duration(text, sizeof text, cost->target_us / 1e6);
    add_item(l, 2, true, STYLE_VALUE, "cost %s", text);
    text_percent(text, sizeof text, cost->share);
    add_item(l, 2, true, STYLE_VALUE, "%s", text);
    text_bytes(text, sizeof text, cost->bytes);
    add_item(l, 4, true, STYLE_VALUE, "%s", text);
}

static void add_one(struct items *l, const struct model *m, const struct header_state *state)
{
    add_node_item(l, m);
    if (model_recorded(m))
        add_place(l, model_recorded(m), state->paused);
    else
        add_link(l, m, state);
    add_recording(l, state->recording);
    if (header_is_live(m))
        add_cost(l, m, state);
}

static void add_nodes(struct items *l, const struct table_detail *nodes, bool paused)
{
    struct nodes_counts n;
    char text[48];
    header_count_nodes(&n, nodes);
    const long long all = n.answer + n.connecting + n.silent + n.recorded;
    add_item(l, 0, false, STYLE_TITLE, "%lld node%s", all, all == 1 ? "" : "s");
    if (n.recorded > 0)
        add_item(l, 1, false, STYLE_VALUE, "%lld recorded", (long long)n.recorded);
    else
        add_item(l, 1, false, STYLE_VALUE, "%lld answering", (long long)n.answer);
    if (n.silent > 0)
        add_item(l, 0, false, STYLE_ERROR, "%lld not %s", (long long)n.silent,
                 n.recorded > 0 ? "recorded" : "answering");
    if (n.connecting > 0)
        add_item(l, 2, false, STYLE_WARN, "%lld connecting", (long long)n.connecting);
    if (paused)
        add_item(l, 0, true, STYLE_WARN, "‖ paused");
    if (!isnan(n.cost_share))
        add_item(l, 3, true, STYLE_VALUE, "highest cost %s",
                 text_percent(text, sizeof text, n.cost_share));
}

static int items_columns(const struct items *l)
{
    int columns = 1;
    for (int i = 0; i < l->n; i++)
        columns += text_columns(l->all[i].text) + HEADER_GAP;
    return columns;
}

void header_draw_first(const struct model *m, const struct header_state *state, struct canvas *c,
                       struct rect r)
{
    struct items l = {0};
    bool live = header_is_live(m);
    const struct table_detail *nodes = header_nodes(m, state);
    if (nodes)
        add_nodes(&l, nodes, state->paused);
    else
        add_one(&l, m, state);
    if (state->clock && *state->clock)
        add_item(&l, 7, true, STYLE_DIM, "%s", state->clock);
    while (l.n > 2 && items_columns(&l) > r.columns)
        drop_highest(&l);
    int at = 1, right = r.columns - 1;
    for (int i = 0; i < l.n; i++)
        if (l.all[i].right)
            right -= text_columns(l.all[i].text) + HEADER_GAP;
    right += HEADER_GAP;
    for (int i = 0; i < l.n; i++) {
        int *place = l.all[i].right ? &right : &at;
        bool stale = !live && !nodes && !l.all[i].right && i > 0;
        canvas_puts(c, r, 0, *place, stale ? STYLE_STALE : l.all[i].style, l.all[i].text);
        *place += text_columns(l.all[i].text) + HEADER_GAP;
    }
}
