/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which process is meant, and what actions do with it. */
#include <stdio.h>
#include <string.h>

#include "beamtop/base/limits.h"
#include "beamtop/model/detail.h"
#include "beamtop/trace/log.h"
#include "beamtop/trace/procs.h"
#include "screen_act.h"
#include "ui/widgets/page.h"

bool link_has_pid(const struct view_link *link)
{
    return link->pid.id != 0 || link->pid.serial != 0;
}

struct view_link act_link_of_word(const struct view_ops *ops, const char *typed)
{
    bool app = view_opens(ops, TARGET_APP);
    struct view_link link = {.kind = app ? TARGET_APP : TARGET_NAME};
    char word[sizeof link.name];
    size_t len = strlen(typed);
    while (len > 0 && typed[len - 1] == ' ')
        len--;
    snprintf(word, sizeof word, "%.*s", (int)len, typed);
    if (app)
        snprintf(link.name, sizeof link.name, "%s", word);
    else if (procs_read_one(word, &link.pid, link.name, sizeof link.name))
        link.kind = TARGET_PROCESS;
    return link;
}

bool screen_process(const struct screen *s, const struct model *m, struct view_link *link)
{
    const struct pane_entry *e = pane_top(panes_focused(s->panes));
    if (!view_opens(e->ops, TARGET_PROCESS))
        return false;
    /* What was answered last may be of the process shown before. */
    const struct process_detail *p = view_process_detail(&e->link, m);
    *link = e->link;
    if (p && (!p->gone || p->kept)) {
        link->kind = TARGET_PROCESS;
        link->pid = p->row.pid;
    }
    if (link->kind != TARGET_PROCESS)
        link->kind = TARGET_NONE;
    return true;
}

bool act_process_meant(const struct act *a, struct view_link *link)
{
    if (screen_process(a->s, a->m, link))
        return link->kind == TARGET_PROCESS;
    *link = pane_link(a->pane);
    if (link->kind == TARGET_EVENT && link_has_pid(link))
        link->kind = TARGET_PROCESS;
    if ((link->kind == TARGET_REQUEST || link->kind == TARGET_SPAN) && link_has_pid(link))
        *link = (struct view_link){.kind = TARGET_PROCESS, .pid = link->pid};
    return link->kind == TARGET_PROCESS;
}

static int no_process(const struct act *a)
{
    if (view_opens(a->e->ops, TARGET_PROCESS) && a->e->link.kind == TARGET_NAME)
        return error_set(a->err, ERR_USAGE, "%s is not known yet: press again when it is shown",
                         a->e->link.name);
    return error_set(a->err, ERR_USAGE, "put the cursor on a process");
}

/* The process of an event of several nodes is one of its node, which is opened. */
static bool is_elsewhere(struct act *a, struct view_link *link)
{
    const struct view_link at = pane_link(a->pane);
    const struct trace_log *log = at.kind == TARGET_EVENT ? model_trace(a->m) : NULL;
    const struct trace_event *e = log ? trace_log_find(log, at.id) : NULL;
    char node[LIMIT_NODE_NAME_BYTES + 1];
    if (!e || e->node.len == 0 || e->node.len >= sizeof node)
        return false;
    snprintf(node, sizeof node, "%.*s", (int)e->node.len, e->node.s);
    screen_ask(a->s, REQUEST_NODE, NULL, node);
    *link = (struct view_link){.kind = TARGET_PROCESS, .pid = e->pid};
    return true;
}

int act_process(struct act *a)
{
    const struct view_ops *ops = view_opening(TARGET_PROCESS);
    struct view_link link;
    if (*a->arg) {
        link = act_link_of_word(ops, a->arg);
        return act_open(a, ops, &link);
    }
    if (a->e->ops == ops && a->e->link.kind != TARGET_NONE)
        return 1;
    if (!is_elsewhere(a, &link) && !act_process_meant(a, &link))
        link = a->s->last_process;
    if (link.kind == TARGET_NONE)
        return error_set(a->err, ERR_USAGE,
                         "put the cursor on a process, or type its name: :process NAME or PID");
    return act_open(a, ops, &link);
}

int act_follow(struct act *a)
{
    struct view_link link;
    if (!act_process_meant(a, &link))
        return no_process(a);
    const struct view_ops *ops = view_shown_by(ACTION_FOLLOW);
    if (a->e->ops != ops) {
        int status = act_open(a, ops, NULL);
        if (status < 0)
            return status;
    }
    struct pane_entry *top = pane_top(a->pane);
    top->ops->open(top->state, &link, a->err);
    act_refresh(a);
    return 1;
}

int act_ask_process(struct act *a)
{
    static const enum screen_request_kind kinds[ACTIONS] = {[ACTION_MAILBOX] = REQUEST_MAILBOX,
                                                            [ACTION_STATE] = REQUEST_STATE,
                                                            [ACTION_COLLECT] = REQUEST_COLLECT};
    const struct view_ops *ops = view_opening(TARGET_PROCESS);
    struct view_link link;
    if (!act_process_meant(a, &link))
        return no_process(a);
    if (a->e->ops != ops) {
        int status = act_open(a, ops, &link);
        if (status < 0)
            return status;
    }
    struct pane_entry *e = pane_top(a->pane);
    ops->ask(e->state, (enum action)a->n, a->m);
    e->dirty = true;
    char pid[48];
    screen_ask(a->s, kinds[a->n], &link.pid, pid_text(pid, sizeof pid, &link.pid));
    return 1;
}
