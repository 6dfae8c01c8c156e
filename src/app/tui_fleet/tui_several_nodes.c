/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which of the nodes on the screen a trace is of. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "beamtop/base/alloc.h"
#include "beamtop/model/detail.h"
#include "tui_several.h"

void several_forget(struct several_nodes *nodes)
{
    free(nodes->names);
    *nodes = (struct several_nodes){0};
}

static void copy_nodes(struct several_nodes *to, const struct several_nodes *from)
{
    several_forget(to);
    *to = *from;
    to->names = alloc_zero(from->n + 1, sizeof *to->names);
    memcpy(to->names, from->names, from->n * sizeof *to->names);
}

/* A name that DNS resolves is not one of a node. */
static void add_node(struct tui_several_trace *s, struct slice name)
{
    struct several_nodes *to = &s->meant;
    char text[sizeof *to->names];
    snprintf(text, sizeof text, "%.*s", (int)name.len, name.len > 0 ? name.s : "");
    if (name.len == 0 || name.len >= sizeof text || fleet_is_meant(text))
        return;
    to->names = alloc_grow(to->names, to->n, sizeof *to->names);
    memcpy(to->names[to->n++], text, sizeof text);
}

/* Rows that add up several have no node. */
static bool add_shown(struct tui_several_trace *s, bool marked, const char *which)
{
    const size_t n = screen_rows(s->tui->screen, marked, NULL, 0);
    struct view_link *links = alloc_zero(n + 1, sizeof *links);
    (void)screen_rows(s->tui->screen, marked, links, n);
    for (size_t i = 0; i < n; i++)
        if (links[i].kind == TARGET_NODE)
            add_node(s, slice_of(links[i].name));
    free(links);
    s->meant.which = which;
    return s->meant.n > 0;
}

static void add_rows(struct tui_several_trace *s)
{
    const struct table_detail *table = model_answer(s->tui->model, QUESTION_FLEET);
    const struct fleet_row *rows = table ? table->rows : NULL;
    for (size_t i = 0; rows && i < table->n_rows; i++)
        add_node(s, rows[i].node);
}

size_t several_choose(struct tui_several_trace *s)
{
    const bool in_rows = strcmp(screen_view(s->tui->screen), "fleet") == 0;
    if (s->traced.n > 0 && !in_rows) {
        copy_nodes(&s->meant, &s->traced);
        return s->meant.n;
    }
    several_forget(&s->meant);
    if (in_rows && (add_shown(s, true, "marked ") || *s->tui->filter_text)) {
        if (s->meant.n == 0) /* none where the filter shows no node */
            (void)add_shown(s, false, "shown ");
        return s->meant.n;
    }
    s->meant.which = "all ";
    add_rows(s);
    return s->meant.n;
}

void several_keep(struct tui_several_trace *s)
{
    copy_nodes(&s->traced, &s->meant);
}

bool several_means(const struct tui_several_trace *s, const char *name)
{
    for (size_t i = 0; i < s->meant.n; i++)
        if (strcmp(s->meant.names[i], name) == 0)
            return true;
    return false;
}

struct live *several_live(const struct tui_several_trace *s, const struct live *now)
{
    const struct fleet *f = tui_fleet(s->tui);
    struct live *answers = NULL, *up = NULL;
    struct session_port port;
    for (size_t i = 0; f && i < fleet_size(f); i++) {
        struct live *live = fleet_live(f, i);
        if (!several_means(s, fleet_name(f, i)) || !fleet_port(f, i, &port))
            continue;
        up = up ? up : live;
        if (fleet_answers(f, i) && (!answers || live == now))
            answers = live;
    }
    return answers ? answers : up;
}
