/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Recordings of a node that never was: numbers as a test wants them, through the recorder. */
#ifndef TESTS_STORE_MADE_H
#define TESTS_STORE_MADE_H

#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#include "../../temporary.h"
#include "beamtop/base/buf.h"
#include "made_samples.h"
#include "made_spans.h"
#include "take.h"

#define MADE_PROCESSES 24
#define MADE_CALLS 16
#define MADE_FACTS 16
#define MADE_CPUS(mono_us, wait_us, steal, throttled)                                              \
    "{\"mono_us\":" mono_us ",\"schedulers\":2,\"run_us\":" mono_us ",\"wait_us\":" wait_us        \
    ",\"host_ticks\":" mono_us ",\"steal_ticks\":" steal ",\"periods\":" mono_us                   \
    ",\"throttled_periods\":" throttled "}"
#define MADE_ANSWERS 8
#define MADE_STACKS 8
#define MADE_RUNS 4

struct made_process {
    const char *pid, *name, *call, *app, *current; /* name: "undefined" for none */
    double share;
    double queue, queue_step, memory, memory_step;
};

struct made_call {
    const char *module, *function;
    int64_t arity, calls; /* in a window of a second */
};

/* A run of the sampler; all samples in Erlang code unless there are classes. */
struct made_samples {
    int tick; /* 0: the second */
    bool at_yields, took_no_time;
    struct made_stack stacks[MADE_STACKS];
    int64_t classes[SAMPLE_CLASSES];
};

/* One tick a second; what grows has a step a tick. 2 schedulers are online. */
struct made {
    const char *label;
    const char *otp, *erts; /* NULL: 25, 13.1.5 */
    int ticks;
    int restarts_at; /* the tick at which the node's clocks begin again; 0: none */
    double run_queue, longest, use,
        noise;     /* noise: added at every second tick, to shares and use */
    unsigned seed; /* of what differs between two recordings of one load */
    double jitter; /* how much of each number that is, at most; 0: nothing */
    double reductions_per_s, gcs_per_s, gc_words_per_s;
    double own_per_s; /* reductions of beamtop among them; 0: not told */
    double total, total_step, of_processes, of_processes_step, binary, binary_step, ets, ets_step;
    double rss; /* 0: 260 MB */
    double processes, processes_step, atoms, atoms_step;
    double ports_step, tables, tables_step, code_step;
    int level_from; /* the tick from which on counts stay; 0: none */
    struct {
        const char *key, *json; /* NULL: none; # stands for its number */
        int from, step;
    } rising; /* a fact at each tick */
    struct made_process busy[MADE_PROCESSES];
    int n_busy;
    int second_from;              /* the first tick at which the second of them is seen */
    int second_away, second_back; /* and those between which it is not */
    int late_ms, late_every;      /* at every so many-th tick a scheduler is so late; 0: never */
    int blocked_from, blocked_to; /* ticks at which both dirty I/O schedulers are; 0: none */
    int scan_every;               /* at so many-th ticks there are rows of them; 0: at each */
    int scan_until;               /* and at none after that one; 0: until the end */
    bool churn;                   /* 10 more, others at each tick */
    const char *funs;             /* <<"the label">> of those that run one; NULL: they have none */
    struct made_call calls[MADE_CALLS];
    int n_calls;
    int64_t other_calls; /* of functions that are not told */
    double calls_noise;  /* a share of them: added in every second window */
    int windows;         /* at most; 0: one a tick, but for the first */
    struct {
        const char *key, *json;
        int tick; /* 0: the first */
    } facts[MADE_FACTS];
    int n_facts;
    struct {
        enum answer_kind kind; /* with a term: at the first tick */
        const char *term;
        bool other;
    } answers[MADE_ANSWERS];
    struct made_samples runs[MADE_RUNS];
    int n_runs;
    struct made_requests requests; /* captured at tick 2 */
};

static const char *made_node_mode = "embedded";

/* A factor about 1, the same for the same seed, tick and place. */
static double made_about(const struct made *w, int tick, unsigned place)
{
    uint32_t x = w->seed * 2654435761u ^ (uint32_t)tick * 40503u ^ place * 2246822519u;
    for (int i = 0; i < 3; i++) {
        x ^= x >> 15;
        x *= 2246822519u;
    }
    x ^= x >> 13;
    return 1 + w->jitter * ((double)x / 2147483648.0 - 1);
}

/* A counter's value: what was added at each tick varies. */
static double made_sum(const struct made *w, int tick, double per_s, unsigned place)
{
    double sum = 0;
    for (int i = 1; i <= tick; i++)
        sum += per_s * made_about(w, i, place);
    return sum;
}

static long long made_mono(const struct made *w, int tick)
{
    bool again = w->restarts_at > 0 && tick >= w->restarts_at;
    return -576460000000000000LL + (again ? tick - w->restarts_at : tick) * 1000000000LL;
}

/* Seconds up to a tick in which the dirty I/O schedulers were. */
static int made_blocked(const struct made *w, int tick)
{
    int seconds = 0;
    for (int i = 1; i <= tick; i++)
        seconds += i >= w->blocked_from && i <= w->blocked_to;
    return seconds;
}

static void made_system(struct recorder *r, struct model *m, const struct made *w, int tick)
{
    struct buf b;
    double about = made_about(w, tick, 1);
    int last = w->level_from > 0 && tick > w->level_from ? w->level_from : tick;
    int t = last - 1, longest = (int)(w->longest * about);
    int other = (int)((w->run_queue - w->longest) * about);
    long long active = 0;
    for (int i = 1; i <= tick; i++)
        active +=
            (long long)(fmin(1, w->use * made_about(w, i, 2) + (i % 2 ? w->noise : -w->noise)) *
                        1e6);
    buf_init(&b, 0);
    buf_printf(&b, "{system, %lld, %lld, %d, {%.0f, %.0f, 500, 400, 50, 40, %.0f, %.0f, %.0f}, ",
               made_mono(w, tick), 1700000000000000LL + tick * 1000000LL, tick * 1000,
               w->total + t * w->total_step, w->of_processes + t * w->of_processes_step,
               w->binary + t * w->binary_step, 20 + t * w->code_step, w->ets + t * w->ets_step);
    bool blocked = tick >= w->blocked_from && tick <= w->blocked_to;
    buf_printf(&b, "{%.0f, %.0f, %.0f, %.0f}, {%d, [%d,%d,0,%d]}, {%.0f, 10, %.0f, %.0f, 40, 50",
               w->processes + t * w->processes_step, 20 + t * w->ports_step,
               w->atoms + t * w->atoms_step, w->tables + t * w->tables_step, longest + other,
               longest, other, blocked ? 3 : 0, tick * w->reductions_per_s,
               made_sum(w, tick, w->gcs_per_s, 3), made_sum(w, tick, w->gc_words_per_s, 4));
    if (w->own_per_s > 0)
        buf_printf(&b, ", %.0f", tick * w->own_per_s);
    buf_puts(&b, "}, [");
    long long dirty_io = made_blocked(w, tick) * 1000000LL;
    for (int i = 1; i <= 6; i++)
        buf_printf(&b, "%s{%d,%lld,%lld}", i > 1 ? "," : "", i,
                   i <= 2   ? active
                   : i <= 4 ? 0
                            : dirty_io,
                   tick * 1000000LL);
    bool late = w->late_every > 0 && tick % w->late_every == 0;
    buf_printf(&b, "], {%.0f, 3000000000}, {%d, [%s]}}", w->rss > 0 ? w->rss : 260e6,
               late ? w->late_ms : 2, late ? "2" : "");
    take(r, m, ANSWER_SYSTEM, buf_cstr(&b));
    buf_clear(&b);
}

static void made_row(struct buf *b, const struct made *w, const struct made_process *p, int tick,
                     const char *pid, bool first)
{
    unsigned place =
        100 + (unsigned)strlen(pid) + (unsigned char)pid[3] * 7u + (unsigned char)pid[4];
    double share = p->share + (tick % 2 ? w->noise : -w->noise) * p->share;
    double queue = p->queue * made_about(w, tick, place) +
                   (tick - 1) * p->queue_step * (1 + (made_about(w, tick, place) - 1) / 4);
    share *= 1 + (made_about(w, tick, place + 1) - 1) / 4;
    long long delta = (long long)(share * w->reductions_per_s);
    const char *label = w->funs && strcmp(p->call, "erlang,apply,2") == 0 ? w->funs : "undefined";
    buf_printf(b,
               "%s{%s, %lld, %lld, {{%s, {%s}, %s, %s, {proc_lib,init_p,5}}, %lld, %.0f, "
               "%.0f, {%s}}}",
               first ? "" : ",", pid, delta, delta, p->name, p->call, label, p->app,
               (long long)tick * 1000000000, queue, p->memory + (tick - 1) * p->memory_step,
               p->current);
}

static void made_scan(struct recorder *r, struct model *m, const struct made *w, int tick)
{
    static const struct made_process brief = {
        "", "undefined", "shop_task,init,1", "shop", "gen_server,loop,7", 0.01, 0, 0, 1000, 0};
    struct buf b;
    buf_init(&b, 0);
    buf_printf(&b, "{scan, %lld, 1000000000, 1234, 50, 50, 2, [", made_mono(w, tick));
    for (int i = 0; i < w->n_busy; i++)
        if (i != 1 ||
            (tick >= w->second_from && (tick <= w->second_away || tick >= w->second_back)))
            made_row(&b, w, &w->busy[i], tick, w->busy[i].pid, i == 0);
    for (int i = 0; w->churn && i < 10; i++) {
        char pid[32];
        snprintf(pid, sizeof pid, "<0.%d.0>", 1000 + tick * 10 + i);
        made_row(&b, w, &brief, tick, pid, w->n_busy == 0 && i == 0);
    }
    buf_puts(&b, "], []}");
    take(r, m, ANSWER_SCAN, buf_cstr(&b));
    buf_clear(&b);
}

static void made_window(struct recorder *r, const struct made *w, int tick)
{
    struct calls_function calls[MADE_CALLS];
    struct calls_window window = {.wall_us = 1700000000000000LL + tick * 1000000LL,
                                  .interval_us = 1000000,
                                  .functions = (uint64_t)w->n_calls,
                                  .rows = calls,
                                  .n_rows = (size_t)w->n_calls};
    for (int i = 0; i < w->n_calls; i++) {
        const struct made_call *c = &w->calls[i];
        double noise = (tick % 2 ? w->calls_noise : -w->calls_noise) * (double)c->calls;
        noise += (made_about(w, tick, 10 + (unsigned)i) - 1) / 4 * (double)c->calls;
        calls[i] = counted_call(c->module, c->function, (int)c->arity, c->calls + (int64_t)noise,
                                -1, -1, NAN);
        window.calls += calls[i].calls;
    }
    window.calls += (uint64_t)w->other_calls;
    window.calls_per_s = (double)window.calls;
    if (w->n_calls > 0 && (w->windows == 0 || tick <= w->windows + 1))
        recorder_calls(r, &window, false);
}

static void made_samples(struct recorder *r, const struct made_samples *of)
{
    size_t n = 0;
    int64_t classes = 0;
    while (n < MADE_STACKS && of->stacks[n].letters)
        n++;
    struct stacks *s = made_stacks(of->stacks, n);
    struct samples_summary run = made_run(s);
    run.at_yields = of->at_yields;
    run.seconds = of->took_no_time ? 0 : run.seconds;
    for (int i = 0; i < SAMPLE_CLASSES; i++)
        classes += of->classes[i];
    if (classes > 0)
        memcpy(run.classes, of->classes, sizeof run.classes);
    recorder_samples(r, &run);
    stacks_free(s);
}

static void made_requests(struct recorder *r, const struct made_requests *of)
{
    struct spans_run *run = made_requests_run(of);
    if (of->n > 0)
        recorder_spans(r, run);
    spans_run_free(run);
}

static void made_rising(struct recorder *r, const struct made *w, int tick)
{
    struct buf b;
    int last = w->level_from > 0 && tick > w->level_from ? w->level_from : tick;
    buf_init(&b, 0);
    for (const char *s = w->rising.json; *s; s++)
        if (*s == '#')
            buf_printf(&b, "%d", w->rising.from + last * w->rising.step);
        else
            buf_printf(&b, "%c", *s);
    recorder_fact(r, w->rising.key, buf_cstr(&b));
    buf_clear(&b);
}

/* other: of a version that this one does not know. */
static void made_answer(struct recorder *r, struct model *m, enum answer_kind kind,
                        const char *text, bool other)
{
    if (text && !other)
        take(r, m, kind, text);
    if (!text || !other)
        return;
    struct term t = term_of(text);
    recorder_answer(r, question_name((enum question)kind), t.bytes + 1, t.len - 1, NULL);
    term_free(&t);
}

static void made_tick(struct recorder *r, struct model *m, const struct made *w, int tick)
{
    struct error err = {0};
    char node[512];
    snprintf(node, sizeof node,
             "{node, 'mq1@host', <<\"%s\">>, <<\"%s\">>, <<\"jit\">>, 8, 2, 2, 2, 1, 2, "
             "{262144, 65536, 1048576, 8192}, <<\"unix/linux 6.1.0\">>, <<\"4711\">>, "
             "1700000000000000, 60, %s, <<>>, 2}",
             w->otp ? w->otp : "25", w->erts ? w->erts : "13.1.5", made_node_mode);
    if (tick == 1)
        take(r, m, ANSWER_NODE, node);
    for (int i = 0; tick == 1 && i < MADE_ANSWERS; i++)
        made_answer(r, m, w->answers[i].kind, w->answers[i].term, w->answers[i].other);
    for (int i = 0; i < w->n_facts; i++)
        if (tick == (w->facts[i].tick ? w->facts[i].tick : 1))
            recorder_fact(r, w->facts[i].key, w->facts[i].json);
    for (int i = 0; i < w->n_runs; i++)
        if (tick == (w->runs[i].tick ? w->runs[i].tick : 2))
            made_samples(r, &w->runs[i]);
    if (tick == 2)
        made_requests(r, &w->requests);
    if (w->rising.key)
        made_rising(r, w, tick);
    made_system(r, m, w, tick);
    if ((w->n_busy > 0 || w->churn) && (w->scan_every == 0 || tick % w->scan_every == 0) &&
        (w->scan_until == 0 || tick <= w->scan_until))
        made_scan(r, m, w, tick);
    if (tick > 1)
        made_window(r, w, tick);
    model_set_cost(m, &(struct tick_cost){.target_us = 5000, .bytes = 4096, .share = 0.005});
    if (recorder_tick(r, m, 1700000000000000LL + tick * 1000000LL, &err) != 0) {
        fprintf(stderr, "tick %d: %s\n", tick, err.text);
        abort();
    }
}

/* ":memory:": none is written. */
static inline struct recorder *made_recorder(const char *path, const struct made *w)
{
    struct error err = {0};
    struct recorder *r = NULL;
    struct model *m = model_new();
    const struct recorder_options options = {
        .node = "mq1@host", .label = w->label, .interval_s = 1};
    if (recorder_open(&r, path, &options, &err) != 0) {
        fprintf(stderr, "%s\n", err.text);
        abort();
    }
    for (int i = 1; i <= w->ticks; i++)
        made_tick(r, m, w, i);
    model_free(m);
    return r;
}

static inline void made_write(const char *path, const struct made *w)
{
    struct error err = {0};
    if (recorder_close(made_recorder(path, w), "stopped", &err) != 0) {
        fprintf(stderr, "%s\n", err.text);
        abort();
    }
}

static void made_unlink(const char *path)
{
    static const char *const ends[] = {"", "-wal", "-shm"};
    char name[128];
    for (size_t i = 0; i < 3; i++) {
        snprintf(name, sizeof name, "%s%s", path, ends[i]);
        unlink(name);
    }
}

/* A file that is gone from its directory when the test has it open. */
static inline struct recording *made_open(const struct made *w)
{
    struct error err = {0};
    char dir[64], path[80];
    struct recording *out = NULL;
    if (!temporary_dir(dir, sizeof dir, "made"))
        abort();
    snprintf(path, sizeof path, "%s/a.btr", dir);
    made_write(path, w);
    if (recording_open(&out, path, &err) != 0) {
        fprintf(stderr, "%s\n", err.text);
        abort();
    }
    made_unlink(path);
    rmdir(dir);
    return out;
}

/* A gateway that is well: async logger, registry in ETS, a repository with its share of writes. */
/* clang-format off */
static const struct made made_healthy = {
    .label = "healthy", .ticks = 13, .run_queue = 1, .longest = 1, .use = 0.6, .noise = 0.02,
    .reductions_per_s = 20e6, .gcs_per_s = 2000, .gc_words_per_s = 2e6,
    .total = 200e6, .of_processes = 60e6, .binary = 40e6, .ets = 10e6,
    .processes = 900, .atoms = 20000, .tables = 12,
    .busy = {
        {"<0.41.0>", "undefined", "gateway,init,1", "gateway", "gateway,serve,2", 0.30, 0, 0, 1e6,
         0},
        {"<0.42.0>", "undefined", "gateway,init,1", "gateway", "gateway,serve,2", 0.30, 0, 0, 1e6,
         0},
        {"<0.43.0>", "logger_std_h_default", "logger_olp,init,1", "kernel", "gen_server,loop,7",
         0.02,
         0, 0, 5e4, 0},
        {"<0.44.0>", "code_server", "code_server,init,1", "kernel", "code_server,loop,1", 0.001, 0,
         0,
         5e4, 0},
    },
    .n_busy = 4,
    .calls = {
        {"Elixir.Gateway.Stage", "call", 2, 1380},
        {"ets", "lookup", 2, 900},
        {"gateway_registry", "get", 1, 870},
        {"Elixir.Gateway.Repo", "all", 2, 870},
        {"Elixir.Gateway.Repo", "insert", 2, 130},
        {"Elixir.Gateway.Repo", "prepare_query", 3, 870},
        {"Elixir.Gateway.Repo", "default_options", 1, 1000},
    },
    .n_calls = 7,
    .facts = {
        {"logger", "{\"handlers\":[{\"id\":\"default\",\"module\":\"logger_std_h\","
                   "\"mode\":\"async\",\"sync_mode_qlen\":200,"
                   "\"drop_mode_qlen\":200,\"flush_qlen\":1000}]}", 0},
        {"distribution",
         "{\"busy_limit_bytes\":1048576,\"nodes\":[{\"node\":\"b@h\",\"queue_bytes\":0}]}", 0},
        {"allocators", "{\"allocators\":[{\"name\":\"binary_alloc\",\"blocks_bytes\":40000000,"
                       "\"carriers_bytes\":50000000}]}", 0},
        {"binaries", "{\"bytes\":40000000,\"holders\":[{\"pid\":\"<0.41.0>\",\"bytes\":1000000,"
                     "\"binaries\":10}]}", 0},
        {"cpus", MADE_CPUS("0", "0", "0", "0"), 0},
        {"cpus", MADE_CPUS("100000000", "5000000", "0", "0"), 2},
        {"monitors", "{\"processes\":[]}", 0},
        {"waited_for", "{\"deadlocks\":[],\"processes\":[]}", 0},
        {"closed_sockets", "{\"owners\":[]}", 0},
        {"mnesia", "{\"cut_nodes\":null}", 0},
        {"growth", "{\"over_s\":12,\"spawned_per_s\":40,\"spawned_lately_per_s\":40,"
                   "\"sockets\":{\"count\":10}}", 0},
    },
    .n_facts = 11,
    .runs = {
        {.stacks = {{"plm", 700}, {"plhc", 80}, {"pg", 120}, {"pln", 60}, {"", 40}},
         .classes = {[SAMPLE_ERLANG] = 700, [SAMPLE_BIF] = 80, [SAMPLE_GC] = 120,
                     [SAMPLE_NIF] = 60, [SAMPLE_SCHEDULER] = 40}},
    },
    .n_runs = 1,
    .requests = {.n = 12, .own = 11, .served = 9},
};
/* clang-format on */

#endif
