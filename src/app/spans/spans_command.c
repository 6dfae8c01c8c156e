/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `beamtop spans`: a capture of causal spans without a screen, until it is verified that nothing is
 * left. */
#include <stdio.h>

#include "app/cli/commands.h"
#include "app/cli/error_at.h"
#include "app/cli/output.h"
#include "app/cli/tell.h"
#include "app/command/batch.h"
#include "app/fleet/fleet.h"
#include "app/source/replay.h"
#include "beamtop/base/text.h"
#include "beamtop/model/detail.h"
#include "beamtop/output/spans_sink.h"
#include "beamtop/trace/spans.h"
#include "beside.h"
#include "side.h"
#include "spans_file.h"
#include "spans_fleet.h"
#include "spans_tell.h"

#define TICK_MS 50u
#define SIDE_MS 30000u /* longer than the capture, which waits for it, and stops it */
#define LINGER_MS                                                                                  \
    20000u              /* so long a capture that has ended waits for its side: what the side asks \
                           last may take 15 s */
#define SILENT_MS 1000u /* from then on it says so */

struct capturing {
    const struct cli_options *options;
    const struct app_env *env;
    struct batch *run;        /* from open_session on */
    struct side *side;        /* NULL: none */
    struct beside *beside;    /* a sampler; NULL: none */
    struct spans_run *joined; /* what both nodes have; NULL: not yet, or one has */
    bool reported;
    uint64_t ended_ms; /* since then the side is waited for; 0: not yet */
    unsigned signals;  /* that came before that */
    bool waits;        /* it said that it waits for the side */
    uint64_t version;  /* that progress was shown of */
};

static const struct spans_run *run_of(const struct capturing *t)
{
    return t->joined ? t->joined : spans_session_run(t->run->session);
}

/* ---- events of the session */

static void tell_spans_estimate(struct capturing *t, const struct spans_run *run)
{
    char called[40] = "";
    if (t->reported || run->status.phase < SESSION_ASKING)
        return;
    t->reported = true;
    if (run->called > 0)
        snprintf(called, sizeof called, " and %llu within", (unsigned long long)run->called);
    if (run->calls_per_s >= 0)
        tell_line("%llu root function%s%s, about %.0f calls/s: checking them costs %s%.2g%% of a "
                  "core%s%s",
                  (unsigned long long)run->functions, run->functions == 1 ? "" : "s", called,
                  run->calls_per_s, run->load < 0.001 ? "below " : "about ",
                  run->load < 0.001 ? 0.1 : run->load * 100,
                  run->others[0] ? "; set by others: " : "", run->others);
    if (run->full)
        tell_line("full mode: a sender waits for a receiver that runs a long BIF or NIF when it "
                  "first takes part");
    if (run->no_payloads)
        tell_line("without payloads: while it captures, each call of a gen_server or gen_statem "
                  "costs about 2 µs more");
}

static void tell_how_far(struct capturing *t, const struct spans_run *run)
{
    if (!t->env->err_tty || run->status.phase != SESSION_RUNNING || t->version == run->version)
        return;
    t->version = run->version;
    t->run->shown_progress = true;
    tell_progress(
        "%u of %u roots, %u not returned yet, %llu events, %.0f of %.0f s (Ctrl-C stops it)",
        run->roots, run->roots_asked, run->open, (unsigned long long)run->events, run->seconds,
        run->for_s);
}

static void prepare_sides(struct capturing *t);

/* What the other node has goes where it belongs. */
static void join_side(struct capturing *t)
{
    const struct spans_run *side = side_run(t->side);
    if (!side || side->status.check.unarmed || side->status.phase == SESSION_FAILED)
        return;
    t->joined = spans_session_take(t->run->session);
    spans_run_join(t->joined, &side, 1);
}

/* The first thing that went wrong, here or there. */
static struct error trouble_of(const struct capturing *t)
{
    struct error err = batch_trouble(t->run);
    if (err.code == ERR_NONE && t->side)
        err = *side_error(t->side);
    if (err.code == ERR_NONE && t->side && !side_is_over(t->side))
        error_set(&err, ERR_TIMEOUT, "%s does not end its side in time: what it had sent is shown",
                  t->options->with);
    return err;
}

static void end_captured_run(void *arg)
{
    struct capturing *t = arg;
    if (t->run->rt.ended) /* by what the other side said to its end */
        return;
    const bool armed = !spans_session_run(t->run->session)->status.check.unarmed;
    const struct error err = trouble_of(t);
    if (t->side && armed)
        join_side(t);
    if (t->beside && armed)
        beside_give(t->beside, run_of(t));
    const struct spans_run *run = run_of(t), *side = t->side ? side_run(t->side) : NULL;
    if (t->run->shown_progress)
        tell_progress("%s", "");
    if (armed)
        spans_tell_capture(run, t->options, t->env);
    spans_tell_left(run, "the node", t->options);
    if (side)
        spans_tell_left(side, side->node, t->options);
    batch_end(t->run, &err);
}

/* Whether both are at their end. The other side is asked to come to it, and waited for a moment, or
 * until Ctrl-C. */
static bool capture_is_over(void *arg)
{
    struct capturing *t = arg;
    const struct spans_run *run = run_of(t);
    const uint64_t now = uv_now(&t->run->rt.loop);
    if ((!t->side && !t->beside) || run->end == SPANS_END_LOST)
        return true;
    if (t->ended_ms == 0) {
        t->ended_ms = now;
        t->signals = t->run->signals;
        if (t->side)
            side_stop(t->side);
        if (t->beside)
            beside_stop(t->beside);
    }
    const bool side = !t->side || side_is_over(t->side);
    if (!side && !t->waits && now - t->ended_ms >= SILENT_MS) {
        t->waits = true;
        tell_line("waiting for %s to end its side (Ctrl-C: what it had sent is shown now)",
                  t->options->with);
    }
    return (side && (!t->beside || beside_is_over(t->beside))) || now - t->ended_ms >= LINGER_MS ||
           t->run->signals != t->signals;
}

static void spans_changed(void *arg)
{
    tell_spans_estimate(arg, run_of(arg));
    tell_how_far(arg, run_of(arg));
}

/* Others are asked before it begins, where it waits for them. */
static bool spans_ask(void *arg)
{
    struct capturing *t = arg;
    const bool agreed =
        !t->options->dry_run && (!run_of(t)->expensive || t->options->request.force);
    if (agreed)
        prepare_sides(t);
    return agreed;
}

/* ---- the other side */

/* Without it nothing begins; what has begun goes on. */
static void on_other_side(void *arg)
{
    struct capturing *t = arg;
    if (t->run->rt.ended || !t->run->session || t->joined)
        return;
    const enum session_phase phase = session_status(t->run->session)->phase;
    const struct error *why = side_error(t->side);
    if (side_is_over(t->side) && phase < SESSION_ARMING) {
        if (why->code == ERR_NONE)
            error_set(&t->run->rt.err, ERR_TARGET, "%s: its side ended before the capture began",
                      t->options->with);
        session_stop(t->run->session);
    } else if (side_is_over(t->side) && phase < SESSION_ENDING && why->code != ERR_NONE) {
        tell_line("%s; the other node's goes on", why->text);
    }
    batch_session_changed(t->run);
}

static int open_other_side(struct capturing *t, struct error *err)
{
    const unsigned for_ms = t->options->request.for_ms;
    const struct side_setup setup = {
        .options = t->options,
        .env = t->env,
        .loop = &t->run->rt.loop,
        .node = t->options->with,
        .origin = session_port(t->run->session)->node,
        .for_ms = for_ms < SPANS_MOST_MS - SIDE_MS ? for_ms + SIDE_MS : SPANS_MOST_MS,
        .events = t->options->request.events,
        .on_change = on_other_side,
        .arg = t,
    };
    return side_open(&t->side, &setup, err);
}

/* ---- a sampler beside it */

/* Without it nothing begins; what has begun goes on. */
static void on_sampler_change(void *arg)
{
    struct capturing *t = arg;
    if (t->run->rt.ended || !t->run->session)
        return;
    const enum session_phase phase = session_status(t->run->session)->phase;
    const struct error *why = beside_error(t->beside);
    if (beside_is_over(t->beside) && why->code != ERR_NONE && phase < SESSION_ARMING) {
        t->run->rt.err = *why;
        session_stop(t->run->session);
    } else if (beside_is_over(t->beside) && why->code != ERR_NONE && phase < SESSION_ENDING) {
        tell_line("%s; the capture goes on", why->text);
    }
    batch_session_changed(t->run);
}

static int open_sampler(struct capturing *t, struct error *err)
{
    const struct local_wanted vm = {.target = session_port(t->run->session)->node,
                                    .os_pid = node_os_pid(model_node(t->run->model)),
                                    .cli = t->options,
                                    .env = t->env};
    return beside_open(&t->beside, &t->run->rt.loop, &vm, (unsigned)t->options->hz,
                       on_sampler_change, t, err);
}

/* The node may be captured: now others are asked, and then the capture begins. */
static void prepare_sides(struct capturing *t)
{
    struct error err = {0};
    if ((t->options->with && !t->side && open_other_side(t, &err) != 0) ||
        (t->options->samples && !t->beside && open_sampler(t, &err) != 0))
        runtime_end(&t->run->rt, exit_code_of_error(err.code), &err);
    else if ((!t->side || side_captures(t->side)) && (!t->beside || beside_has_begun(t->beside)))
        session_confirm(t->run->session);
}

static void turn_sides(void *arg)
{
    struct capturing *t = arg;
    if (t->side)
        side_turn(t->side);
    if (t->ended_ms > 0)
        batch_session_changed(t->run); /* it may have waited long enough */
}

/* What the first node has is shown, whatever becomes of it. */
static void close_side(void *arg, const struct error *why)
{
    struct capturing *t = arg;
    (void)why;
    if (t->ended_ms > 0 && !t->joined && !t->run->rt.ended)
        end_captured_run(t);
    side_close(t->side);
    t->side = NULL;
    beside_close(t->beside);
    t->beside = NULL;
}

/* ---- the session */

static int open_captured_run(void *arg, struct batch *run, const struct session_port *port,
                             struct error *err)
{
    static const struct session_handlers handlers = {.on_change = batch_session_changed};
    struct capturing *t = arg;
    const struct cli_options *o = t->options;
    t->run = run;
    const struct spans_capture what = {
        .patterns = o->rest,
        .n_patterns = o->n_rest,
        .request = o->request,
        .dry_run = o->dry_run,
        .hold = o->with || o->samples,
    };
    if (o->with && o->dry_run)
        tell_line("a dry run does not ask %s", o->with);
    return spans_open(&run->session, &what, port, &handlers, run, NULL, NULL, err);
}

/* ---- the words */

/* Errors come before any connection. */
static int check_spans_words(const struct cli_options *o)
{
    if (o->at) {
        tell_line("--at needs a recording's FILE instead of NODE");
        return EXIT_USAGE;
    }
    if (error_at_patterns(o->rest, o->n_rest, o->request.syntax, spans_pattern_check) !=
            EXIT_DONE ||
        error_at_patterns(&o->request.calls, o->request.calls ? 1 : 0, o->request.syntax,
                          spans_pattern_check) != EXIT_DONE)
        return EXIT_USAGE;
    if ((o->n_rest == 0) == !o->request.process) {
        tell_line("spans needs a PATTERN, calls that begin a request, or --process WHO");
        return EXIT_USAGE;
    }
    if (error_at_procs(o->request.process) != EXIT_DONE ||
        error_at_procs(o->request.procs) != EXIT_DONE)
        return EXIT_USAGE;
    if (o->with && (o->request.full || o->request.no_payloads)) {
        tell_line("--with follows requests in light mode, by messages: leave out %s",
                  o->request.full ? "--full" : "--no-payloads");
        return EXIT_USAGE;
    }
    if (o->with && replay_is_file(o->with)) {
        tell_line("%s is a recording: --with takes a live node", o->with);
        return EXIT_USAGE;
    }
    return EXIT_DONE;
}

/* Of several nodes. */
static int check_several_words(const struct cli_options *o)
{
    const char *other = o->with                  ? "--with"
                        : o->samples             ? "--samples"
                        : o->request.full        ? "--full"
                        : o->request.no_payloads ? "--no-payloads"
                        : o->request.process     ? "--process"
                                                 : NULL;
    if (!other)
        return EXIT_DONE;
    tell_line("over several nodes spans follows requests of a pattern, in light mode: leave out %s",
              other);
    return EXIT_USAGE;
}

int command_spans(const struct cli_options *o, const struct app_env *env)
{
    struct capturing t = {.options = o, .env = env};
    const bool several = fleet_is_asked(o);
    if (replay_is_file(o->target)) /* its name may have a comma */
        return spans_file(o, env);
    int code = check_spans_words(o);
    if (code == EXIT_DONE && several)
        code = check_several_words(o);
    if (code == EXIT_DONE && !several && o->partial) {
        tell_line("--partial is for several nodes: beamtop spans NODE,NODE PATTERN…");
        code = EXIT_USAGE;
    }
    if (code != EXIT_DONE)
        return code;
    if (several)
        return output_check(spans_fleet(o, env));
    const struct batch_job job = {.options = o,
                                  .env = env,
                                  .open = open_captured_run,
                                  .changed = spans_changed,
                                  .asking = spans_ask,
                                  .is_over = capture_is_over,
                                  .ended = end_captured_run,
                                  .turn_ms = TICK_MS,
                                  .turn = turn_sides,
                                  .lost = close_side,
                                  .arg = &t};
    const int ended_with = batch_run(&job);
    spans_run_free(t.joined);
    return output_check(ended_with);
}
