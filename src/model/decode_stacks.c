/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Stacks that a node has of its processes: {stacks, MonoNs, Ns, Looks, Processes, [Stack]}; and who
   these processes are: {who, [{Pid, Identity | gone}]}. */
#include "internal.h"

#include "beamtop/base/limits.h"
#include "beamtop/model/process_name.h"
#include "beamtop/model/samples.h"

#define STACKS_MOST 2000 /* of an answer: 20 processes, 25 looks */
#define LOOKS_MOST 1000
#define REDUCTIONS_MOST (INT64_C(1) << 53)
#define WHO_MOST 100     /* processes of a question */
#define FRAMES_MOST 1024 /* of a stack: erlang:system_flag(backtrace_depth, N) has no limit */

/* {Pid, Looks, Reductions, [{M, F, A}]} */
static bool decode_stack(struct decoder *d, struct yield_stack *s)
{
    struct cursor_list list;
    struct slice *functions = NULL;
    if (!cursor_tuple_of(&d->c, 4) || !cursor_pid(&d->c, &s->pid, NULL) ||
        !cursor_int64(&d->c, &s->samples) || !cursor_int64(&d->c, &s->reductions) ||
        ((s->samples <= 0 || s->samples > LOOKS_MOST || s->reductions <= 0 ||
          s->reductions > REDUCTIONS_MOST) &&
         !cursor_fail(&d->c, "a stack that worked")) ||
        !decode_list(d, &list, FRAMES_MOST, sizeof *functions, &functions))
        return false;
    for (size_t i = 0; i < list.count; i++)
        if (!decode_mfa(d, functions + i))
            return false;
    s->functions = functions;
    s->n = list.count;
    return cursor_list_end(&d->c, &list);
}

int yield_stacks_decode(struct yield_stacks *out, struct arena *arena, const uint8_t *term,
                        size_t len, struct error *err)
{
    struct decoder d;
    struct cursor_list list;
    struct yield_stack *stacks = NULL;
    uint64_t mono = 0;
    int64_t ns = 0;
    decoder_init(&d, arena, term, len);
    *out = (struct yield_stacks){0};
    if (cursor_tuple_of(&d.c, 6) && cursor_atom_is(&d.c, "stacks") && decode_mono(&d, &mono) &&
        cursor_int64(&d.c, &ns) && cursor_int64(&d.c, &out->looks) &&
        cursor_int64(&d.c, &out->processes) && (ns >= 0 || cursor_fail(&d.c, "a span of time")) &&
        decode_list(&d, &list, STACKS_MOST, sizeof *stacks, &stacks)) {
        for (size_t i = 0; i < list.count && decode_stack(&d, stacks + i); i++)
            out->n = i + 1;
        cursor_list_end(&d.c, &list);
    }
    out->seconds = (double)ns / 1e9;
    out->stacks = stacks;
    return decoder_end(&d, "stacks", err);
}

static bool decode_process_who(struct decoder *d, struct process_who *who)
{
    struct proc_row row;
    proc_row_clear(&row);
    who->name = (struct slice){"", 0};
    if (!cursor_tuple_of(&d->c, 2) || !cursor_pid(&d->c, &who->pid, NULL))
        return false;
    if (cursor_peek_atom(&d->c, "gone"))
        return cursor_skip(&d->c);
    if (!decode_identity(d, &row))
        return false;
    const struct process_names names = {
        .name = row.name, .label = row.label, .initial_call = row.initial_call};
    who->name = process_name(&names);
    return true;
}

int process_who_decode(const struct process_who **out, size_t *n, struct arena *arena,
                       const uint8_t *term, size_t len, struct error *err)
{
    struct decoder d;
    struct cursor_list list;
    struct process_who *who = NULL;
    decoder_init(&d, arena, term, len);
    *n = 0;
    if (cursor_tuple_of(&d.c, 2) && cursor_atom_is(&d.c, "who") &&
        decode_list(&d, &list, WHO_MOST, sizeof *who, &who)) {
        while (*n < list.count && decode_process_who(&d, who + *n))
            ++*n;
        cursor_list_end(&d.c, &list);
    }
    *out = who;
    return decoder_end(&d, "who", err);
}
