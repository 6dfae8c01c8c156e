/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The rule over loggers: by what they do themselves, and by what their callers wait for. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/rules/rules_internal.h"

#define LOGGER_SHARE 0.10  /* of the reductions */
#define LOGGER_CORES 0.005 /* some hundred lines a second: less is idle, whatever its share */
#define ASYNC_CORES 0.10   /* of a logger that blocks no caller */
#define WAITS_SHARE 0.20   /* of the samples of busy or waiting processes */
#define OFTEN 0.8          /* of sync_mode_qlen, on average: the queue moves about it */
#define WAITS_SAMPLES 5.0  /* that wait for the logger: fewer are chance */
#define WAITS_MEAN 0.05 /* callers that wait at any moment: fewer wait for nothing that matters */

enum log_mode { LOG_UNKNOWN, LOG_ASYNC, LOG_SYNC, LOG_OVERLOADED, LOG_IN_CALLERS };

/* That of Elixir before 1.15: it hands over to a process, by thresholds of the application
 * `logger`. */
static bool is_elixirs(const json_t *handler)
{
    return strcmp(fact_text(handler, "module"), "Elixir.Logger.Handler") == 0;
}

/* A handler that is asynchronous only up to a few messages is not, under a load that fills it. */
static enum log_mode mode_of(const json_t *fact, const json_t *handler,
                             const struct period_process *p)
{
    const json_t *elixir = json_object_get(fact, "elixir");
    const char *mode = fact_text(handler, "mode");
    double sync = fact_number(handler, "sync_mode_qlen"),
           drop = fact_number(handler, "drop_mode_qlen");
    if (is_elixirs(handler)) {
        sync = fact_number(elixir, "sync_threshold");
        drop = fact_number(elixir, "discard_threshold");
    }
    if (*mode == '\0' && isnan(sync))
        return is_elixirs(handler) || *fact_text(handler, "process") ? LOG_UNKNOWN : LOG_IN_CALLERS;
    if (sync == 0 || strcmp(mode, "sync") == 0)
        return LOG_SYNC;
    if (p && !isnan(sync) && sync < drop && p->queue_mean >= OFTEN * sync)
        return LOG_OVERLOADED;
    return LOG_ASYNC;
}

/* As it is typed: without separators. */
static const char *setting_text(struct judge *j, const json_t *of, const char *key)
{
    double n = fact_number(of, key);
    return isnan(n) ? "unknown" : judge_text(j, "%.0f", n);
}

static void tell_handler(struct judge *j, struct finding *f, const json_t *fact, const json_t *h)
{
    const json_t *elixir = json_object_get(fact, "elixir");
    double sync = fact_number(elixir, "sync_threshold");
    if (is_elixirs(h) && !isnan(sync)) {
        judge_evidence(j, f, "sync_threshold", sync, "",
                       "handler %s (%s) of Elixir %s: sync_threshold %s, discard_threshold %s",
                       fact_text(h, "id"), fact_text(h, "module"), fact_text(elixir, "version"),
                       setting_text(j, elixir, "sync_threshold"),
                       setting_text(j, elixir, "discard_threshold"));
        return;
    }
    if (isnan(fact_number(h, "sync_mode_qlen"))) {
        judge_evidence(j, f, "handler", NAN, "", "handler %s (%s): %s", fact_text(h, "id"),
                       fact_text(h, "module"),
                       *fact_text(h, "process")
                           ? judge_text(j, "process %s, settings unknown", fact_text(h, "process"))
                           : "it has no process, as far as is known");
        return;
    }
    judge_evidence(j, f, "sync_mode_qlen", fact_number(h, "sync_mode_qlen"), "",
                   "handler %s (%s): mode %s, sync_mode_qlen %s, drop_mode_qlen %s, flush_qlen %s",
                   fact_text(h, "id"), fact_text(h, "module"),
                   *fact_text(h, "mode") ? fact_text(h, "mode") : "unknown",
                   setting_text(j, h, "sync_mode_qlen"), setting_text(j, h, "drop_mode_qlen"),
                   setting_text(j, h, "flush_qlen"));
}

static void tell_handlers(struct judge *j, struct finding *f, const json_t *fact)
{
    const json_t *each;
    size_t i;
    json_array_foreach (json_object_get(fact, "handlers"), i, each)
        if (i < 5)
            tell_handler(j, f, fact, each);
}

/* drop_mode_qlen as sync_mode_qlen: no caller waits; above it messages are dropped, and said
 * to be. */
static const char *setting_of(struct judge *j, const json_t *fact, const json_t *h,
                              enum log_mode mode)
{
    if (is_elixirs(h)) {
        double discard = fact_number(json_object_get(fact, "elixir"), "discard_threshold");
        discard = discard > 0 ? discard : 500;
        return judge_text(j,
                          "Make it asynchronous: Logger.configure(sync_threshold: %.0f), and "
                          "config :logger, sync_threshold: %.0f. Callers then never wait. Above "
                          "%.0f messages (discard_threshold) it drops messages and reports it",
                          discard, discard, discard);
    }
    double drop = fact_number(h, "drop_mode_qlen");
    const char *id = judge_atom(j, slice_of(fact_text(h, "id")));
    drop = drop > 0 ? drop : 200;
    if (mode == LOG_IN_CALLERS)
        return judge_text(j,
                          "Replace handler %s (module %s), which works in the process that logs, "
                          "by logger_std_h, or let it send events to a separate process",
                          id, fact_text(h, "module"));
    const char *module = fact_text(h, "module");
    bool otp = strcmp(module, "logger_std_h") == 0 || strcmp(module, "logger_disk_log_h") == 0;
    return judge_text(
        j,
        "Make it asynchronous: logger:update_handler_config(%s, config, #{sync_mode_qlen => %.0f, "
        "drop_mode_qlen => %.0f})%s. Callers then never wait. Above %.0f messages it drops "
        "messages and reports it",
        id, drop, drop,
        otp ? "; in Elixir: config :logger, :default_handler, config: [sync_mode_qlen: …]"
            : judge_text(j, ", as far as its module %s takes these settings", module),
        drop);
}

/* The handler whose process is p, else the one that makes its callers wait most. */
static const json_t *worst_handler(const json_t *fact, const struct period_process *p,
                                   enum log_mode *mode)
{
    const json_t *worst = NULL, *h;
    size_t i;
    *mode = LOG_UNKNOWN;
    json_array_foreach (json_object_get(fact, "handlers"), i, h) {
        enum log_mode m = mode_of(fact, h, p);
        if (p && *fact_text(h, "process") && slice_is(p->name, fact_text(h, "process"))) {
            *mode = m;
            return h;
        }
        if (m > *mode || !worst) {
            worst = h;
            *mode = m;
        }
    }
    return worst;
}

/* ---- what callers wait for */

/* Samples of the period, of processes that did something shortly before
 * (docs/queries.md, `leaders`). */
struct waits {
    double logger, calls, running, moments;
};

static struct waits waits_at(const struct judge *j, int64_t tick)
{
    const json_t *fact = judge_fact_at(j, "waits", tick);
    return (struct waits){fact_number(fact, "logger"), fact_number(fact, "calls"),
                          fact_number(fact, "running"), fact_number(fact, "moments")};
}

/* The counts only rise, until the helper on the node restarts. */
static struct waits waits_of(const struct judge *j)
{
    struct waits now = waits_at(j, j->to), before = waits_at(j, j->from);
    if (!(before.moments <= now.moments))
        return now;
    return (struct waits){now.logger - before.logger, now.calls - before.calls,
                          now.running - before.running, now.moments - before.moments};
}

/* The share of callers' time that the logger takes, but for waits in other calls, which may be of
 * others; NaN: unknown, or so little that it is chance. */
static double waiting_share(struct waits w)
{
    if (!(w.logger >= WAITS_SAMPLES && w.logger >= WAITS_MEAN * w.moments))
        return NAN;
    return w.logger / (w.logger + w.running);
}

/* Of all samples: where callers mostly wait for something else, less is not their trouble. */
#define WAITS_OF_ALL 0.05

static bool waits_much(struct waits w)
{
    return w.logger >= WAITS_OF_ALL * (w.logger + w.running + w.calls);
}

/* ---- the finding */

static const char *const log_states[] = {
    [LOG_UNKNOWN] = "is busy, in an unknown mode",
    [LOG_ASYNC] = "is busy",
    [LOG_SYNC] = "is synchronous and blocks its callers",
    [LOG_OVERLOADED] = "is synchronous under this load and blocks its callers",
    [LOG_IN_CALLERS] = "works in its callers",
};

static const char *logger_name(struct judge *j, const struct period_process *p, const json_t *h)
{
    if (p)
        return judge_process(j, p);
    return h && *fact_text(h, "id") ? judge_text(j, "handler %s", fact_text(h, "id")) : "default";
}

static void tell_logger(struct judge *j, struct finding *f, const struct period_process *p,
                        struct waits w)
{
    if (p)
        judge_evidence(j, f, "message_queue_len", p->queue_mean, "",
                       "message queue of %s: mean %.1f, max %.0f", judge_process(j, p),
                       p->queue_mean, p->queue_max);
    if (w.logger > 0)
        judge_evidence(j, f, "waits", w.logger, "",
                       "waiting for the logger: %.0f of %.0f samples of busy processes (left out: "
                       "%.0f that wait in other calls)",
                       w.logger, w.logger + w.running, w.calls);
    for (size_t i = 0, said = 0; i < j->n_processes && said < 5; i++) {
        if (!judge_is_kin(j, &j->processes[i], "logger"))
            continue;
        said++;
        judge_evidence(j, f, "kin", j->processes[i].share, "share", "%s: %s of reductions",
                       judge_process(j, &j->processes[i]), judge_percent(j, j->processes[i].share));
    }
}

static void find_logger(struct judge *j, double share, double spread, struct waits w, bool waits,
                        bool works)
{
    const struct period_process *p = NULL;
    enum log_mode mode;
    const json_t *fact = judge_fact_at(j, "logger", j->to);
    size_t i;
    for (i = 0; i < j->n_processes && !p; i++)
        p = slice_is(j->processes[i].kind, "logger") ? &j->processes[i] : NULL;
    const json_t *h = worst_handler(fact, p, &mode);
    if (waits && mode <= LOG_ASYNC)
        mode = LOG_OVERLOADED; /* callers are seen to wait, whatever the settings say */
    bool idle = judge_cores(j, share) < (works ? ASYNC_CORES : INFINITY);
    if (mode == LOG_OVERLOADED && (idle ? judge_may_follow(j) : judge_may_starve(j))) {
        mode = LOG_ASYNC; /* without a CPU it cannot keep up */
        waits = false;
    }
    if (mode <= LOG_ASYNC && idle)
        return;
    const bool acts = mode > LOG_ASYNC && (works || waits_much(w));
    struct finding *f =
        judge_find(j, acts ? FINDING_ACT : FINDING_LOOK, waits ? waiting_share(w) : share,
                   waits ? WAITS_SHARE : LOGGER_SHARE);
    f->impact = share;
    f->title = waits ? judge_text(j, "Logger %s blocks its callers: %s of their time%s",
                                  logger_name(j, p, h), judge_percent(j, waiting_share(w)),
                                  w.calls > w.logger + w.running ? " outside other calls" : "")
                     : judge_text(j, "Logger %s %s: %s of reductions", logger_name(j, p, h),
                                  log_states[mode], judge_percent(j, share));
    f->action = mode > LOG_ASYNC && h
                    ? setting_of(j, fact, h, mode)
                    : "Log less in the hot path: lazy messages (funs), levels per module, sampling";
    f->ruled_out_if = "The share falls in the next period: a burst of errors that is over";
    judge_about(f, p ? judge_slice(j, p->pid) : "", CAUSE_KNOWN);
    f->subject = p ? f->subject : "logger";
    judge_share(j, f, share, spread);
    tell_logger(j, f, p, w);
    tell_handlers(j, f, fact);
}

void judge_logger(struct judge *j)
{
    double spread, late, share = judge_kind(j, "logger", &spread, &late);
    struct waits w = waits_of(j);
    bool waits = waiting_share(w) >= judge_limit(j, WAITS_SHARE);
    bool works = judge_lasts(share, late, judge_limit(j, LOGGER_SHARE)) &&
                 !(judge_cores(j, share) < LOGGER_CORES);
    if (waits || works)
        find_logger(j, share, spread, w, waits, works);
}
