/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "who_leaders.h"

#include "query/native/values.h"

#define LEADERS_MOST 1000

struct who_leader {
    struct etf_pid pid;
    struct slice application; /* a term */
};

void who_leaders_init(struct who_leaders *l)
{
    *l = (struct who_leaders){0};
    arena_init(&l->arena);
}

void who_leaders_clear(struct who_leaders *l)
{
    arena_clear(&l->arena);
    l->n = 0;
}

/* [Application, Leader] */
static void take_leader(struct who_leaders *l, struct cursor *c, const struct who_node *node)
{
    struct cursor_list list;
    struct slice application, leader;
    struct who_leader *to = &l->all[l->n];
    if (!cursor_list(c, &list) || list.count != 2 || !cursor_raw(c, &application) ||
        !cursor_raw(c, &leader) || who_atom_of(application).len == 0 ||
        !who_read_pid(leader, node, &to->pid))
        return;
    to->application = slice_keep(&l->arena, application);
    l->n++;
}

void who_leaders_take(struct who_leaders *l, struct slice value, const struct who_node *node,
                      double *us)
{
    struct slice pairs;
    *us = 0;
    who_leaders_clear(l);
    if (who_read_values(value, &pairs, 1, us))
        who_leaders_keep(l, pairs, node);
}

void who_leaders_keep(struct who_leaders *l, struct slice pairs, const struct who_node *node)
{
    struct cursor c = values_cursor(pairs), pair;
    struct cursor_list list;
    who_leaders_clear(l);
    if (!cursor_list(&c, &list) || list.string || list.count > LEADERS_MOST)
        return;
    l->all = arena_alloc(&l->arena, list.count * sizeof *l->all);
    for (size_t i = 0; i < list.count && cursor_apart(&c, &pair); i++)
        take_leader(l, &pair, node);
}

struct slice who_leaders_at(const struct who_leaders *l, size_t i)
{
    return l->all[i].application;
}

/* The last one of a leader counts. */
struct slice who_leaders_find(const struct who_leaders *l, const struct etf_pid *leader)
{
    for (size_t i = l->n; i > 0; i--)
        if (pid_same(&l->all[i - 1].pid, leader))
            return l->all[i - 1].application;
    return (struct slice){0};
}
