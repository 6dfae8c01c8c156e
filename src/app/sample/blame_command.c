/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * `beamtop blame`: which Erlang functions are behind a native function, a library, a BIF or code
 * that the JIT shares. For each stack: from the leaf the first frame of that name, then the first
 * Erlang function above it. */
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/cli/commands.h"
#include "app/cli/output.h"
#include "app/cli/tell.h"
#include "beamtop/base/alloc.h"
#include "beamtop/base/attr.h"
#include "beamtop/base/text.h"
#include "beamtop/model/frame_group.h"
#include "beamtop/output/samples_sink.h"
#include "sample_run.h"

struct blame {
    const char *function;            /* as it was asked for */
    const struct frame_group *group; /* of that name; NULL: none */
    const struct stacks *stacks;
    double *callers;       /* weight by frame; [frames]: no Erlang function above it */
    double found;          /* weight of the stacks in which it stands */
    struct stacks *behind; /* those stacks */
};

static bool is_meant(const void *arg, const struct sample_frame *f)
{
    const struct blame *b = arg;
    if (b->group)
        return frame_group_has(b->group, f);
    return frame_text_matches(f->name, b->function) || frame_text_matches(f->object, b->function) ||
           frame_text_matches(slice_without(f->name, "global::"), b->function);
}

/* ---- what is printed */

struct caller {
    const struct sample_frame *frame; /* NULL: none above it */
    double weight;
};

static int by_caller_weight(const void *a, const void *b)
{
    const struct caller *x = a, *y = b;
    if (x->weight < y->weight || x->weight > y->weight)
        return x->weight > y->weight ? -1 : 1;
    return !x->frame || !y->frame ? !x->frame - !y->frame
                                  : slice_order(x->frame->name, y->frame->name);
}

static struct caller *blamed_callers(const struct blame *b, size_t *n)
{
    const size_t frames = stacks_frames(b->stacks);
    struct caller *callers = alloc_zero(frames + 1, sizeof *callers);
    *n = 0;
    for (size_t i = 0; i <= frames; i++)
        if (b->callers[i] > 0)
            callers[(*n)++] = (struct caller){
                i < frames ? stacks_frame_at(b->stacks, (uint32_t)i) : NULL, b->callers[i]};
    qsort(callers, *n, sizeof *callers, by_caller_weight);
    return callers;
}

static void put_blame_text(const struct blame *b, const struct samples_summary *run, size_t rows,
                           bool ascii, struct buf *out)
{
    size_t n = 0;
    struct caller *callers = blamed_callers(b, &n);
    const double all = run->samples > 0 ? (double)run->samples : 1;
    buf_puts(out, b->function);
    buf_printf(out, ": in %.0f of %lld samples (%.1f%%)\n", b->found, (long long)run->samples,
               b->found / all * 100);
    if (n > 0)
        buf_printf(out, "\n  SHARE        CALLER\n");
    for (size_t i = 0; i < n && i < rows; i++) {
        const double share = callers[i].weight / b->found;
        buf_printf(out, "%6.1f%% %s%-5.1f ", share * 100, ascii ? "+-" : "±",
                   sample_error(share, b->found) * 100);
        if (callers[i].frame)
            text_put_safe(out, callers[i].frame->name.s, callers[i].frame->name.len, ascii);
        else
            buf_puts(out, "(no Erlang function: the VM's own work, or the stack is not complete)");
        buf_puts(out, "\n");
    }
    if (n > rows)
        buf_printf(out, "        %zu callers more (--top)\n", n - rows);
    free(callers);
}

static void put_blame_json(const struct blame *b, const struct samples_summary *run,
                           struct buf *out)
{
    size_t n = 0;
    struct caller *callers = blamed_callers(b, &n);
    json_t *list = json_array();
    struct buf name;
    buf_init(&name, 0);
    for (size_t i = 0; i < n; i++) {
        buf_reset(&name);
        if (callers[i].frame)
            text_put_safe(&name, callers[i].frame->name.s, callers[i].frame->name.len, false);
        const double share = callers[i].weight / b->found;
        json_array_append_new(list, json_pack("{s:s?, s:I, s:f, s:f}", "function",
                                              callers[i].frame ? buf_cstr(&name) : NULL, "samples",
                                              (json_int_t)callers[i].weight, "share", share,
                                              "share_error", sample_error(share, b->found)));
    }
    buf_reset(&name);
    text_put_safe(&name, b->function, strlen(b->function), false);
    json_t *root =
        json_pack("{s:s, s:s, s:I, s:I, s:I, s:o}", "schema", "beamtop.blame/1", "function",
                  buf_cstr(&name), "samples", (json_int_t)run->samples, "matched",
                  (json_int_t)b->found, "lost", (json_int_t)run->lost, "callers", list);
    char *text = json_dumps(root, JSON_COMPACT);
    if (!text)
        alloc_fail();
    buf_puts(out, text);
    buf_puts(out, "\n");
    free(text);
    json_decref(root);
    buf_clear(&name);
    free(callers);
}

static int put_blame_folded(const struct blame *b, const struct samples_summary *run)
{
    struct error err = {0};
    struct sink_output output = {.writer = sink_writer_of(stdout)};
    struct samples_summary behind = *run;
    const struct samples_options options = {.format = SAMPLES_FOLDED};
    behind.stacks = b->behind;
    samples_put(&output, &behind, &options, &err);
    return EXIT_DONE;
}

static int put_blame(struct sample_run *t)
{
    const struct samples_summary *run = &t->summary;
    struct buf text;
    struct blame b = {.function = t->options->rest[0],
                      .group = frame_group_find(t->options->rest[0]),
                      .stacks = run->stacks,
                      .callers = alloc_zero(stacks_frames(run->stacks) + 1, sizeof *b.callers),
                      .behind = stacks_new()};
    b.found = frames_weight(b.stacks, is_meant, &b, b.callers, b.behind);
    buf_init(&text, 0);
    int code = EXIT_DONE;
    if (t->options->stacks || t->options->format == FORMAT_FOLDED)
        code = put_blame_folded(&b, run);
    else if (t->options->format == FORMAT_JSON)
        put_blame_json(&b, run, &text);
    else
        put_blame_text(&b, run, (size_t)t->options->top, t->options->ascii || !t->env->utf8, &text);
    if (code == EXIT_DONE)
        code = output_put(&text);
    if (b.found <= 0 && run->samples > 0)
        tell_line("%s is in no stack%s", b.function,
                  t->begin.symbols ? "; `beamtop sample` lists what is"
                                   : ": this VM has no symbol table, so name a BIF, a library, or "
                                     "shared code such as call_light_bif_shared");
    buf_clear(&text);
    free(b.callers);
    stacks_free(b.behind);
    return code;
}

int command_blame(const struct cli_options *o, const struct app_env *env)
{
    struct sample_run t = {.options = o, .env = env};
    struct error err = {0};
    if (o->rest[0][0] == '\0')
        error_set(&err, ERR_USAGE, "blame needs a function, a library, a BIF or a group");
    if (err.code != ERR_NONE || sample_run_options(&t, &err) != 0)
        return tell_error(&err);
    return sample_run(&t, put_blame);
}
