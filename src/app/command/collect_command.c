/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * `heapsample NODE --gc PID`: the price of a garbage collection, consent, the collection, and what
 * it freed. On a terminal the question is asked while no connection is open, so that it may take
 * its time: then the node is asked a second time. */
#include "app/cli/commands.h"

#include <stdio.h>

#include "app/cli/tell.h"
#include "app/live/encode.h"
#include "app/live/live.h"
#include "app/source/source.h"
#include "batch.h"
#include "beamtop/base/limits.h"
#include "beamtop/base/text.h"
#include "beamtop/model/detail.h"

struct collecting {
    const struct cli_options *options;
    struct batch *batch;
    bool agreed;
    struct collect_detail answer; /* the last one */
};

static int ask_collect(struct collecting *c, struct error *err);

static void print_price(const struct collecting *c)
{
    char memory[32], heap[32], binaries[32], pause[32];
    const struct collect_sizes *s = &c->answer.before;
    tell_line("%s has %s: heaps of %s, which stop it for up to about %s, and refer to %s of "
              "binaries",
              c->options->collect, text_bytes(memory, sizeof memory, (double)s->memory_bytes),
              text_bytes(heap, sizeof heap, (double)s->heap_bytes),
              text_duration(pause, sizeof pause, collect_pause_s(s)),
              text_bytes(binaries, sizeof binaries, (double)s->binary_bytes));
}

static void print_change(const char *what, int64_t before, int64_t after)
{
    char from[32], to[32], freed[32];
    printf("%-10s%12s before%12s after%12s freed\n", what,
           text_bytes(from, sizeof from, (double)before), text_bytes(to, sizeof to, (double)after),
           text_bytes(freed, sizeof freed, (double)before - (double)after));
}

static void print_done(const struct collecting *c)
{
    const struct collect_detail *a = &c->answer;
    char took[32];
    if (c->options->format == FORMAT_JSON) {
        printf("{\"schema\":\"beamtop.collect/1\",\"took_us\":%lld", (long long)a->us);
        const struct {
            const char *name;
            const struct collect_sizes *sizes;
        } parts[] = {{"before", &a->before}, {"after", &a->after}};
        for (size_t i = 0; i < ARRAY_LEN(parts); i++)
            printf(",\"%s\":{\"memory_bytes\":%lld,\"heap_bytes\":%lld,\"binary_bytes\":%lld}",
                   parts[i].name, (long long)parts[i].sizes->memory_bytes,
                   (long long)parts[i].sizes->heap_bytes, (long long)parts[i].sizes->binary_bytes);
        puts("}");
        return;
    }
    printf("collected in %s\n", text_duration(took, sizeof took, (double)a->us / 1e6));
    print_change("memory", a->before.memory_bytes, a->after.memory_bytes);
    print_change("heaps", a->before.heap_bytes, a->after.heap_bytes);
    print_change("binaries", a->before.binary_bytes, a->after.binary_bytes);
}

static void take_price(struct collecting *c)
{
    struct error err = {0};
    print_price(c);
    c->agreed = c->options->yes;
    if (!c->agreed || ask_collect(c, &err) != 0)
        batch_end(c->batch, &err);
}

static void on_collect_answer(void *arg, const struct answer *answer)
{
    static const struct {
        enum err code;
        const char *text;
    } failures[] = {
        [COLLECT_LATE] = {ERR_TIMEOUT, "the process has not collected in 5 s: it does not yield, "
                                       "is suspended, or still collects"},
        [COLLECT_REFUSED] = {ERR_REFUSED, "not collected: a collection counts both heaps, and the "
                                          "process may be ended by its max_heap_size"},
        [COLLECT_GONE] = {ERR_NOT_FOUND, "there is no such process on the node"},
    };
    struct collecting *c = arg;
    struct error err = answer->err;
    struct model *m = c->batch->model;
    if (err.code == ERR_NONE)
        (void)model_take(m, QUESTION_COLLECT, answer->value, answer->len, NULL, 0, &err);
    if (err.code != ERR_NONE) {
        batch_end(c->batch, &err);
        return;
    }
    c->answer = *model_collect(m);
    if (c->answer.status == COLLECT_ASK) {
        take_price(c);
        return;
    }
    if (c->answer.status == COLLECT_DONE)
        print_done(c);
    else
        error_set(&err, failures[c->answer.status].code, "%s", failures[c->answer.status].text);
    batch_end(c->batch, &err);
}

static int ask_collect(struct collecting *c, struct error *err)
{
    struct live *live = source_live(c->batch->source);
    struct builder *b = encode_collect(NULL, c->options->collect, c->agreed);
    int rc = live_ask(live, QUESTION_COLLECT, b, COLLECT_DEADLINE_MS, on_collect_answer, c, err);
    builder_free(b);
    return rc;
}

static int open_collecting(void *arg, struct batch *b, const struct session_port *port,
                           struct error *err)
{
    struct collecting *c = arg;
    (void)port;
    c->batch = b;
    return ask_collect(c, err);
}

static int collect_once(struct collecting *c, const struct app_env *env)
{
    const struct batch_job job = {.options = c->options,
                                  .env = env,
                                  .ticks = 1,
                                  .open = open_collecting,
                                  .turn_ms = 1000,
                                  .arg = c};
    return batch_run(&job);
}

static bool user_says_yes(void)
{
    char line[16] = "";
    fputs("Collect its garbage? (y/N) ", stderr);
    return fgets(line, sizeof line, stdin) && (line[0] == 'y' || line[0] == 'Y');
}

int collect_run(const struct cli_options *o, const struct app_env *env)
{
    struct collecting c = {.options = o, .answer = {.status = COLLECT_GONE}};
    int code = collect_once(&c, env);
    if (code != EXIT_DONE || c.answer.status != COLLECT_ASK)
        return code;
    if (!env->in_tty || !env->err_tty) {
        tell_line("not collected: add --yes");
        return EXIT_REFUSED;
    }
    if (!user_says_yes()) {
        tell_line("not collected");
        return EXIT_REFUSED;
    }
    c.agreed = true;
    return collect_once(&c, env);
}
