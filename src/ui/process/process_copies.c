/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is asked of a process only by a key: its messages, its state, a garbage collection. */
#include "view_process.h"

#include <string.h>

#include "beamtop/base/attr.h"
#include "beamtop/base/known.h"
#include "beamtop/base/text.h"

static const struct {
    enum action action;
    enum question question;
} copies[] = {
    {ACTION_MAILBOX, QUESTION_MAILBOX},
    {ACTION_STATE, QUESTION_STATE},
    {ACTION_COLLECT, QUESTION_COLLECT},
};
_Static_assert(ARRAY_LEN(copies) == COPIES, "one answer for each");

static bool is_mine(const struct process *p, const struct model *m, const struct etf_pid *of)
{
    const struct process_detail *d = view_process_detail(&p->link, m);
    return p->link.kind == TARGET_PROCESS ? pid_same(of, &p->link.pid)
                                          : d && (!d->gone || d->kept) && pid_same(of, &d->row.pid);
}

/* Whether the view has a panel for it; not answered: it waits. An answer to another view's question
   came in place of one that was refused. */
static bool was_asked(const struct process *p, const struct model *m, enum question question,
                      bool *answered)
{
    for (size_t i = 0; i < COPIES; i++) {
        if (copies[i].question != question)
            continue;
        *answered = model_round(m, question) > p->round[i];
        return p->asked[i] && (!*answered || is_mine(p, m, &model_answer_of(m, question)->pid));
    }
    return false;
}

/* Of what was asked of this process; whether its answer is there. */
static bool put_copy_head(struct view_page *page, const char *title, const struct process *p,
                          const struct model *m, enum question question)
{
    bool answered;
    if (!was_asked(p, m, question, &answered))
        return false;
    page_heading(page, title);
    page_line(page);
    if (!answered)
        page_puts(page, STYLE_DIM, "  asked; waiting for the answer");
    return answered;
}

void process_ask(void *state, enum action what, const struct model *m)
{
    struct process *p = state;
    for (size_t i = 0; i < COPIES; i++) {
        if (copies[i].action != what)
            continue;
        p->asked[i] = true;
        p->round[i] = model_round(m, copies[i].question);
    }
}

/* Questions of a lost connection get no answer, and the answers of a node that has restarted are
 * gone. */
void process_forget_lost(struct process *p, const struct model *m)
{
    for (size_t i = 0; i < COPIES; i++) {
        const bool answered = model_round(m, copies[i].question) > p->round[i];
        if (answered ? !model_answer(m, copies[i].question) : model_link(m, NULL) == LINK_LOST)
            p->asked[i] = false;
    }
}

static void to_agree(struct view_page *page)
{
    page_text(page, STYLE_WARN, "  Parts that share memory there are copied once for each use,");
    page_text(page, STYLE_WARN, "  so the copy can be much larger than the process: size unknown.");
    page_text(page, STYLE_WARN, "  Answer y to read anyway.");
}

/* Messages that cannot be read can be traced as they arrive. */
static void advise_to_trace(struct view_page *page, const struct model *m)
{
    const struct node_info *node = model_node(m);
    const struct slice name = node ? node->name : slice_of("NODE");
    char key[64], pid[40];
    page_line(page);
    page_printf(page, STYLE_NORMAL, "  %s traces its next messages. From a shell:",
                page_key(page, CONTEXT_DOC, ACTION_TRACE_ROW, key, sizeof key));
    page_line(page);
    page_printf(page, STYLE_NORMAL, "  beamtop trace %.*s receive --procs '%s'", (int)name.len,
                name.s, pid_text(pid, sizeof pid, &model_answer_of(m, QUESTION_MAILBOX)->pid));
}

static void put_mailbox(struct view_page *page, const struct process *p, const struct model *m)
{
    char n[32], size[32];
    const struct mailbox_detail *box = model_mailbox(m);
    if (!put_copy_head(page, "Mailbox", p, m, QUESTION_MAILBOX))
        return;
    text_integer(n, sizeof n, box->len);
    text_bytes(size, sizeof size, known_or_nan(box->memory_bytes));
    switch (box->status) {
    case MAILBOX_GONE:
        page_puts(page, STYLE_DIM, "  the process has ended");
        return;
    case MAILBOX_REFUSED:
        page_printf(page, STYLE_ALARM, "  not read: %s messages, the process has %s.", n, size);
        page_text(page, STYLE_ALARM, "  Limits: 50,000 messages, 16 MiB.");
        advise_to_trace(page, m);
        return;
    case MAILBOX_ASK:
        page_printf(page, STYLE_WARN,
                    "  %s messages, the process has %s. Reading copies all of them.", n, size);
        to_agree(page);
        return;
    case MAILBOX_OK:
        if (box->len == 0)
            page_puts(page, STYLE_DIM, "  empty");
        else
            page_printf(page, STYLE_DIM, "  the first %zu of %s", box->n_messages, n);
        break;
    }
    for (size_t i = 0; i < box->n_messages; i++) {
        page_line(page);
        page_right(page, STYLE_DIM, 12,
                   text_bytes(size, sizeof size, (double)box->messages[i].bytes));
        page_puts(page, STYLE_NORMAL, "  ");
        page_slice(page, STYLE_NORMAL, box->messages[i].text);
    }
}

static void put_freed(struct view_page *page, const char *what, int64_t before, int64_t after)
{
    char from[32], to[32], freed[32];
    page_label(page, what, LABEL);
    page_printf(page, STYLE_VALUE, "%s", text_bytes(from, sizeof from, (double)before));
    page_printf(page, STYLE_DIM, " before, %s after, %s freed",
                text_bytes(to, sizeof to, (double)after),
                text_bytes(freed, sizeof freed, (double)before - (double)after));
}

static void collect_panel(struct view_page *page, const struct process *p, const struct model *m)
{
    char heap[32], pause[32];
    const struct collect_detail *c = model_collect(m);
    if (!put_copy_head(page, "Garbage collection on request", p, m, QUESTION_COLLECT))
        return;
    switch (c->status) {
    case COLLECT_GONE:
        page_puts(page, STYLE_DIM, "  the process has ended");
        break;
    case COLLECT_LATE:
        page_puts(page, STYLE_WARN,
                  "  not done in 5 s: it does not yield, is suspended, or still collects");
        break;
    case COLLECT_REFUSED:
        page_printf(page, STYLE_WARN,
                    "  refused: its heaps have %s, and its max_heap_size of %s might end it",
                    text_bytes(heap, sizeof heap, (double)c->before.heap_bytes),
                    text_bytes(pause, sizeof pause, (double)c->limit_bytes));
        break;
    case COLLECT_ASK:
        page_printf(page, STYLE_WARN,
                    "  Its heaps have %s: it would stop for up to about %s. Answer y to collect.",
                    text_bytes(heap, sizeof heap, (double)c->before.heap_bytes),
                    text_duration(pause, sizeof pause, collect_pause_s(&c->before)));
        break;
    case COLLECT_DONE:
        page_printf(page, STYLE_DIM, "  done in %s",
                    text_duration(pause, sizeof pause, (double)c->us / 1e6));
        put_freed(page, "memory", c->before.memory_bytes, c->after.memory_bytes);
        put_freed(page, "heaps", c->before.heap_bytes, c->after.heap_bytes);
        put_freed(page, "binaries", c->before.binary_bytes, c->after.binary_bytes);
        break;
    }
}

/* Long text over several lines, broken at line ends and at the width. */
static void put_flowing(struct view_page *page, struct slice text, int columns)
{
    const char *at = text.s;
    size_t left = text.len;
    int room = columns > 12 ? columns - 4 : 8;
    while (left > 0) {
        const char *end = memchr(at, '\n', left);
        size_t line = end ? (size_t)(end - at) : left, used;
        size_t part = text_prefix(at, line, (size_t)room, &used);
        if (part == 0)
            part = line; /* wider than the room: shown cut */
        page_text(page, STYLE_NORMAL, "  ");
        page_put(page, STYLE_NORMAL, at, part);
        part += end && part == line ? 1 : 0;
        at += part;
        left -= part;
    }
}

static void state_panel(struct view_page *page, const struct process *p, const struct model *m,
                        int columns)
{
    char size[32];
    const struct state_detail *s = model_state(m);
    if (!put_copy_head(page, "State", p, m, QUESTION_STATE))
        return;
    switch (s->status) {
    case STATE_GONE:
        page_puts(page, STYLE_DIM, "  the process has ended");
        return;
    case STATE_ASK:
        page_printf(page, STYLE_WARN, "  The process has %s. Reading copies its state.",
                    text_bytes(size, sizeof size, (double)s->bytes));
        to_agree(page);
        return;
    case STATE_NONE:
        page_puts(page, STYLE_WARN, "  not read: ");
        page_slice(page, STYLE_NORMAL, s->text);
        return;
    case STATE_OK:
        page_printf(page, STYLE_DIM, "  %s", text_bytes(size, sizeof size, (double)s->bytes));
        put_flowing(page, s->text, columns);
        return;
    }
}

void process_copies(struct view_page *page, const struct process *p, const struct model *m,
                    int columns)
{
    put_mailbox(page, p, m);
    state_panel(page, p, m, columns);
    collect_panel(page, p, m);
}
