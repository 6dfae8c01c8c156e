/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One sample: as an event of `perf script`, and as the stack of a thread. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "beamtop/base/text.h"
#include "samples.h"

static const struct sample_frame *of_stacks(const void *ctx, uint32_t id)
{
    return stacks_frame_at(ctx, id);
}

struct sample_frames sample_frames_of(const struct stacks *s)
{
    return (struct sample_frames){of_stacks, s};
}

static const struct sample_frame *frame_at(const struct sample_frames *frames, uint32_t id)
{
    static const struct sample_frame none = {.kind = FRAME_UNKNOWN, .name = {"[unknown]", 9}};
    const struct sample_frame *f = frames->at(frames->ctx, id);
    return f ? f : &none;
}

char *samples_pid(const struct sample *sample, char *to)
{
    to[0] = '\0';
    if (sample->pid_number > 0)
        snprintf(to, SAMPLES_PID_BYTES, "<0.%" PRIu64 ".%" PRIu64 ">", sample->pid_number,
                 sample->pid_serial);
    return to;
}

/* ---- perf script */

/* Safe, with `by` in place of each of these signs. */
static void put_without(struct buf *out, struct slice text, const char *signs, char by)
{
    size_t from = out->len;
    text_put_safe(out, text.s, text.len, false);
    for (size_t i = from; i < out->len; i++)
        if (strchr(signs, out->data[i]))
            out->data[i] = (uint8_t)by;
}

/* Readers split the line at spaces and want two characters at least. */
static void put_comm(struct buf *out, const char *thread_name)
{
    const struct slice name = slice_of(thread_name);
    put_without(out, name.len > 1 ? name : slice_of("beam"), " ", '_');
}

static void put_object(struct buf *out, const struct sample_frame *f)
{
    if (f->object.len > 0)
        put_without(out, f->object, "()", '_');
    else
        buf_puts(out, f->kind == FRAME_ERLANG || f->kind == FRAME_SHARED ? "[JIT]" : "[unknown]");
}

void samples_perf_script(struct buf *out, const char *thread_name, int pid,
                         const struct sample *sample, const struct sample_frames *frames)
{
    put_comm(out, thread_name);
    buf_printf(out, " %d/%" PRId32 " [%03" PRId32 "] %" PRIu64 ".%06" PRIu64 ": 1 cpu-clock:\n",
               pid, sample->tid, sample->cpu, sample->mono_ns / 1000000000,
               sample->mono_ns % 1000000000 / 1000);
    for (size_t i = sample->n_frames; i-- > 0;) {
        const struct sample_frame *f = frame_at(frames, sample->frames[i]);
        buf_printf(out, "\t%16" PRIx64 " ", sample->addresses ? sample->addresses[i] : 0);
        /* a line whose function begins with a parenthesis is passed over, and after a semicolon
           there would be another frame */
        if (f->name.len > 0 && f->name.s[0] == '(')
            buf_put_u8(out, '_');
        put_without(out, f->name, ";", ':');
        buf_puts(out, " (");
        put_object(out, f);
        buf_puts(out, ")\n");
    }
    buf_put_u8(out, '\n');
}

/* ---- the stack of a thread */

static void put_safe(struct buf *out, struct slice text, bool ascii)
{
    text_put_safe(out, text.s, text.len, ascii);
}

void samples_place(struct buf *out, const struct sample_frame *f, bool ascii)
{
    char place[FRAME_PLACE_BYTES];
    if (frame_place(place, sizeof place, f)[0] == '\0')
        return;
    buf_puts(out, f->file.len > 0 ? " at " : " from ");
    put_safe(out, slice_of(place), ascii);
}

static void put_flags(struct buf *out, const struct sample *sample)
{
    static const struct {
        unsigned flag;
        const char *words;
    } flags[] = {
        {SAMPLE_TRUNCATED, "truncated: the stack is deeper than what was copied"},
        {SAMPLE_MOVED_ON, "moved on: the thread ran while its Erlang stack was read"},
        {SAMPLE_UNRESOLVED, "unresolved: native frames could not be followed to Erlang code"},
    };
    for (size_t i = 0; i < ARRAY_LEN(flags); i++)
        if (sample->flags & flags[i].flag)
            buf_printf(out, "    %s\n", flags[i].words);
}

void stack_text(struct buf *out, const struct thread_stack *stack,
                const struct sample_frames *frames, bool ascii)
{
    char pid[SAMPLES_PID_BYTES];
    if (out->len > 0)
        buf_put_u8(out, '\n');
    put_safe(out, stack->thread, ascii);
    if (stack->sample && stack->sample->pid_number > 0)
        buf_printf(out, "  %s", samples_pid(stack->sample, pid));
    if (stack->name.len > 0) {
        buf_puts(out, "  ");
        put_safe(out, stack->name, ascii);
    }
    buf_put_u8(out, '\n');
    if (stack->why.len > 0) {
        buf_puts(out, "    ");
        put_safe(out, stack->why, ascii);
        buf_put_u8(out, '\n');
    }
    if (!stack->sample)
        return;
    for (size_t i = 0; i < stack->sample->n_frames; i++) {
        const struct sample_frame *f =
            frame_at(frames, stack->sample->frames[stack->sample->n_frames - 1 - i]);
        buf_printf(out, "#%-3zu", i);
        put_safe(out, f->name, ascii);
        samples_place(out, f, ascii);
        buf_put_u8(out, '\n');
    }
    put_flags(out, stack->sample);
}
