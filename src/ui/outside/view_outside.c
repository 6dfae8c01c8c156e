/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A VM as its host sees it: it is not asked, so this view stays when it does not answer. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "beamtop/base/attr.h"
#include "beamtop/base/text.h"
#include "beamtop/model/outside.h"
#include "ui/views/views.h"

#define LABEL 14 /* columns of a label, and between */
#define NAME 26  /* … of a thread's name */
#define STATE 22
#define SHARE 9

static enum style style_of(enum outside_mark mark)
{
    static const enum style styles[] = {[OUTSIDE_PLAIN] = STYLE_VALUE,
                                        [OUTSIDE_DIM] = STYLE_DIM,
                                        [OUTSIDE_WARN] = STYLE_WARN,
                                        [OUTSIDE_ALARM] = STYLE_ALARM};
    return styles[mark];
}

/* A long text goes on in the next lines, below its start. */
static void put_wrapped(struct view_page *page, enum style style, const char *text)
{
    const int columns = page->pane_columns > LABEL + 20 ? page->pane_columns - LABEL - 2 : 60;
    size_t next = 0;
    for (size_t left = strlen(text); left > 0; text += next, left -= next) {
        const size_t part = text_break(text, left, (size_t)columns, &next);
        page_put(page, style, text, part);
        if (next < left) {
            page_line(page);
            page_tab(page, LABEL);
        }
    }
}

static void put_line(struct view_page *page, const struct outside_line *line)
{
    page_label(page, line->label, LABEL);
    put_wrapped(page, style_of(line->mark), line->text);
    if (line->next[0] == '\0')
        return;
    page_label(page, "next", LABEL);
    page_puts(page, STYLE_NAME, line->next);
}

static void put_vm(struct view_page *page, const struct outside *o)
{
    page_label(page, "OS process", LABEL);
    page_printf(page, STYLE_PID, "%" PRId64, o->os_pid);
    if (o->node[0] != '\0')
        page_printf(page, STYLE_NAME, "  %s", o->node);
    if (o->command[0] != '\0')
        page_printf(page, STYLE_NORMAL, "  %s", o->command);
    if (o->user[0] != '\0')
        page_printf(page, STYLE_DIM, "  user %s", o->user);
    if (o->otp[0] != '\0')
        page_printf(page, STYLE_DIM, "  OTP %s", o->otp);
    if (o->trouble[0] == '\0')
        return;
    page_label(page, "connection", LABEL);
    put_wrapped(page, STYLE_WARN, o->trouble);
}

static void put_share(struct view_page *page, double share)
{
    char text[32];
    page_right(page, share >= 0.9 ? STYLE_WARN : STYLE_VALUE, SHARE,
               text_percent(text, sizeof text, share));
}

static void put_thread(struct view_page *page, const struct outside_thread *t)
{
    page_line(page);
    page_printf(page, STYLE_LABEL, "%s", t->name);
    page_tab(page, NAME);
    page_puts(page, strchr("DTtZX", t->state) ? STYLE_WARN : STYLE_NORMAL,
              outside_state_word(t->state));
    page_tab(page, NAME + STATE);
    put_share(page, t->cpu);
    put_share(page, t->ready);
    page_printf(page, STYLE_DIM, "  %s", t->waits_in);
}

static void put_threads(struct view_page *page, const struct outside *o)
{
    size_t left = 0;
    page_heading(page, "Threads");
    page_tab(page, NAME);
    page_puts(page, STYLE_LABEL, "STATE");
    page_tab(page, NAME + STATE);
    page_right(page, STYLE_LABEL, SHARE, "CPU");
    page_right(page, STYLE_LABEL, SHARE, "NO CPU");
    page_puts(page, STYLE_LABEL, "  WAITS IN");
    for (size_t i = 0; i < o->n_threads; i++) {
        if (outside_thread_counts(&o->threads[i]))
            put_thread(page, &o->threads[i]);
        else
            left++;
    }
    if (left > 0) {
        page_line(page);
        page_printf(page, STYLE_DIM, "%zu other threads sleep", left);
    }
}

static void put_stack(struct view_page *page, const struct outside_stack *s)
{
    page_line(page);
    page_printf(page, STYLE_LABEL, "%s", s->thread);
    page_printf(page, STYLE_PID, "  %s", s->process);
    for (size_t i = 0; i < s->n_frames; i++) {
        page_line(page);
        page_printf(page, STYLE_FUNCTION, "  %s", s->frames[i].text);
        page_printf(page, STYLE_DIM, "  %s", s->frames[i].place);
    }
    if (s->more > 0) {
        page_line(page);
        page_printf(page, STYLE_DIM, "  %zu more", s->more);
    }
}

static void outside_page(void *state, const struct model *m, struct view_page *page)
{
    struct outside_line lines[OUTSIDE_LINES];
    const struct outside *o = model_outside(m);
    (void)state;
    if (!o) {
        snprintf(page->empty, sizeof page->empty,
                 "No VM is looked at from outside. Type :outside, for this node where it is on "
                 "this host, or :outside OSPID.");
        return;
    }
    const size_t n = outside_lines(o, lines);
    put_vm(page, o);
    for (size_t i = 0; i < n; i++)
        put_line(page, &lines[i]);
    if (o->n_threads > 0 && !o->ended)
        put_threads(page, o);
    if (o->n_stacks > 0)
        page_heading(page, "Stacks");
    for (size_t i = 0; i < o->n_stacks; i++)
        put_stack(page, &o->stacks[i]);
    snprintf(page->summary, sizeof page->summary, "the VM is not asked%s",
             o->n_stacks > 0 ? "; 19 samples per second of CPU time" : ": no cost on the node");
}

static const struct view_hint outside_hints[] = {
    {ACTION_PICK_NODE, "nodes"}, {ACTION_BACK, "back"}, {.does = NULL}};

const struct view_ops view_outside = {
    .name = "outside",
    .title = "Outside",
    .help = "A VM of this host as the host sees it, also when it does not answer.",
    .kind = VIEW_DOC,
    .shown_by = ACTION_OUTSIDE,
    .no_processes = true,
    .own_facts = true,
    .hints = outside_hints,
    .page = outside_page,
};
