/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "yields.h"

#include <stdlib.h>

#include "beamtop/base/alloc.h"
#include "beamtop/base/arena.h"
#include "beamtop/model/samples.h"

enum {
    PROCESSES = 20,
    LOOKS = 25, /* of a question … */
    APART_MS = 40,
    RANK_EVERY = 10, /* questions */
    DEADLINE_MS = 10000,
    FAILURES = 3, /* in a row: a process in a long BIF or NIF keeps a look waiting */
};

struct yields {
    struct session_port port;
    struct yields_options o;
    struct sampled *sums;
    void (*ended)(void *arg, const struct error *why);
    void *arg;
    uint64_t began_ns, due_ns;
    bool waits, stopping, over;
    unsigned asked, failed; /* questions; those that failed since one did not */
    struct error cut;
    double cost_s;
};

static void end_yields(struct yields *y, const struct error *why)
{
    if (y->over)
        return;
    y->over = true;
    y->port.drop(y->port.ctx, y);
    if (why && sampled_count(y->sums) > 0) {
        y->cut = *why;
        why = NULL;
    }
    y->ended(y->arg, why);
}

static double ran_s(const struct yields *y)
{
    return (double)(y->port.now_ns(y->port.ctx) - y->began_ns) / 1e9;
}

static void add_yields(struct yields *y, const struct yield_stacks *answer)
{
    struct sample_frame frames[LIMIT_SAMPLE_FRAMES];
    for (size_t i = 0; i < answer->n; i++) {
        const struct yield_stack *s = answer->stacks + i;
        const size_t roots = y->o.root.len > 0, most = LIMIT_SAMPLE_FRAMES - roots;
        const size_t n = s->n < most ? s->n : most;
        frames[0] = (struct sample_frame){.kind = FRAME_ERLANG, .name = y->o.root};
        for (size_t k = 0; k < n; k++)
            frames[roots + n - 1 - k] =
                (struct sample_frame){.kind = FRAME_ERLANG, .name = s->functions[k]};
        sampled_add(y->sums, frames, roots + n, &s->pid, s->samples, (double)s->reductions);
    }
}

/* The next question waits until the cost limit pays for this one. */
static void on_yields_answer(void *arg, const struct answer *answer)
{
    struct yields *y = arg;
    struct arena arena;
    struct yield_stacks stacks;
    struct error err = answer->err;
    const double paid = y->o.budget > 0 ? answer->target_us / 1e6 / (y->o.budget / 2) : 0;
    y->waits = false;
    y->cost_s += answer->target_us / 1e6;
    y->due_ns += (uint64_t)(paid * 1e9);
    arena_init(&arena);
    if (answer->value &&
        yield_stacks_decode(&stacks, &arena, answer->value, answer->len, &err) == 0)
        add_yields(y, &stacks);
    arena_clear(&arena);
    y->failed = err.code == ERR_NONE ? 0 : y->failed + 1;
    if (y->failed == FAILURES)
        end_yields(y, &err);
    else if (y->o.for_s > 0 && ran_s(y) >= y->o.for_s)
        end_yields(y, NULL);
}

static void ask_yields(struct yields *y)
{
    struct error err = {0};
    struct builder *b = builder_new();
    double looks = LOOKS;
    if (y->o.for_s > 0 && (y->o.for_s - ran_s(y)) * 1000 < LOOKS * APART_MS)
        looks = (y->o.for_s - ran_s(y)) * 1000 / APART_MS;
    build_map(b, 4);
    build_atom(b, "most");
    build_int(b, PROCESSES);
    build_atom(b, "looks");
    build_int(b, looks < 1 ? 1 : (int64_t)looks);
    build_atom(b, "ms");
    build_int(b, APART_MS);
    build_atom(b, "rank");
    build_bool(b, y->asked % RANK_EVERY == 0);
    y->asked++;
    y->waits = true;
    y->due_ns = y->port.now_ns(y->port.ctx);
    if (y->port.ask(y->port.ctx, QUESTION_STACKS, b, DEADLINE_MS, on_yields_answer, y, &err) != 0)
        end_yields(y, &err);
    builder_free(b);
}

struct yields *yields_start(const struct session_port *port, const struct yields_options *o,
                            struct sampled *sums, void (*ended)(void *arg, const struct error *why),
                            void *arg)
{
    struct yields *y = alloc_zero(1, sizeof *y);
    *y = (struct yields){.port = *port, .o = *o, .sums = sums, .ended = ended, .arg = arg};
    y->began_ns = port->now_ns(port->ctx);
    return y;
}

void yields_turn(struct yields *y)
{
    if (y->over)
        return;
    const bool over = y->o.for_s > 0 && ran_s(y) >= y->o.for_s;
    if (y->stopping || (over && !y->waits))
        end_yields(y, NULL);
    if (!y->over && !y->waits && y->port.now_ns(y->port.ctx) >= y->due_ns)
        ask_yields(y);
}

void yields_stop(struct yields *y)
{
    y->stopping = true;
}

void yields_lost(struct yields *y, const struct error *why)
{
    end_yields(y, why);
}

void yields_free(struct yields *y)
{
    if (y && !y->over)
        y->port.drop(y->port.ctx, y);
    free(y);
}

const char *yields_cut(const struct yields *y)
{
    return y->cut.code != ERR_NONE ? y->cut.text : NULL;
}

double yields_cost_s(const struct yields *y)
{
    return y->cost_s;
}
