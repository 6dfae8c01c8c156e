/* Rules over who does the work: the logger, mailboxes, single processes, short lives, the code server. */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rules_internal.h"

/* The share of what was recognised as that kind, by whichever way it was recognised best. */
static double kind_share(const struct judge *j, const char *kind, double *spread)
{
    double most = 0, processes = 0;
    *spread = NAN;
    for (int sort = 0; sort < OWNER_SORTS; sort++) {
        double sum = 0, squares = 0;
        for (size_t i = 0; i < j->owners[sort].n; i++) {
            const struct span_owner *o = &j->owners[sort].items[i];
            if (!judge_is(o->kind, kind))
                continue;
            sum += o->share;
            squares += o->share_stddev * o->share_stddev;
        }
        if (sum <= most)
            continue;
        most = sum;
        *spread = sqrt(squares);
    }
    for (size_t i = 0; i < j->n_processes; i++)
        if (judge_is(j->processes[i].kind, kind))
            processes += j->processes[i].share;
    return fmax(most, processes);
}

static const struct span_process *leader_of_kind(const struct judge *j, const char *kind)
{
    for (size_t i = 0; i < j->n_processes; i++)
        if (judge_is(j->processes[i].kind, kind))
            return &j->processes[i];
    return NULL;
}

/* Cores' worth of work that a share of the reductions is; NaN when that is not known. */
static double cores_of(const struct judge *j, double share)
{
    return share * judge_stats(j, "scheduler_use").mean * j->schedulers;
}

/* ---- logger */

#define LOGGER_SHARE 0.10

enum log_mode { LOG_UNKNOWN, LOG_ASYNC, LOG_SYNC, LOG_OVERLOADED, LOG_IN_CALLERS };

/* That of Elixir before 1.15: it hands over to a process, by thresholds of the application `logger`. */
static bool is_elixirs(const json_t *handler)
{
    return strcmp(fact_text(handler, "module"), "Elixir.Logger.Handler") == 0;
}

/* A handler that is asynchronous only up to a few messages is not, under a load that fills it. */
static enum log_mode mode_of(const json_t *fact, const json_t *handler, const struct span_process *p)
{
    const json_t *elixir = json_object_get(fact, "elixir");
    const char *mode = fact_text(handler, "mode");
    double sync = fact_number(handler, "sync_mode_qlen"), drop = fact_number(handler, "drop_mode_qlen");
    if (is_elixirs(handler)) {
        sync = fact_number(elixir, "sync_threshold");
        drop = fact_number(elixir, "discard_threshold");
    }
    if (*mode == '\0' && isnan(sync))
        return is_elixirs(handler) || *fact_text(handler, "process") ? LOG_UNKNOWN : LOG_IN_CALLERS;
    if (sync == 0 || strcmp(mode, "sync") == 0)
        return LOG_SYNC;
    if (p && !isnan(sync) && sync < drop && p->queue_max >= sync)
        return LOG_OVERLOADED;
    return LOG_ASYNC;
}

static void tell_handler(struct judge *j, struct finding *f, const json_t *fact, const json_t *h)
{
    const json_t *elixir = json_object_get(fact, "elixir");
    double sync = fact_number(elixir, "sync_threshold");
    if (is_elixirs(h) && !isnan(sync)) {
        judge_evidence(j, f, "sync_threshold", sync, "",
                       "handler %s (%s) of Elixir %s: sync_threshold %.0f, discard_threshold %.0f",
                       fact_text(h, "id"), fact_text(h, "module"), fact_text(elixir, "version"), sync,
                       fact_number(elixir, "discard_threshold"));
        return;
    }
    if (isnan(fact_number(h, "sync_mode_qlen"))) {
        judge_evidence(j, f, "handler", NAN, "", "handler %s (%s): %s", fact_text(h, "id"),
                       fact_text(h, "module"),
                       *fact_text(h, "process") ? judge_text(j, "process %s, settings not known",
                                                             fact_text(h, "process"))
                                                : "no process of its own is known");
        return;
    }
    judge_evidence(j, f, "sync_mode_qlen", fact_number(h, "sync_mode_qlen"), "",
                   "handler %s (%s): mode %s, sync_mode_qlen %.0f, drop_mode_qlen %.0f, flush_qlen %.0f",
                   fact_text(h, "id"), fact_text(h, "module"),
                   *fact_text(h, "mode") ? fact_text(h, "mode") : "of its callers",
                   fact_number(h, "sync_mode_qlen"), fact_number(h, "drop_mode_qlen"),
                   fact_number(h, "flush_qlen"));
}

/* As it is spelled in Erlang. */
static const char *atom(struct judge *j, const char *name)
{
    bool plain = *name >= 'a' && *name <= 'z';
    for (const char *s = name; *s; s++)
        plain = plain && (isalnum((unsigned char)*s) || *s == '_' || *s == '@');
    return plain ? judge_text(j, "%s", name) : judge_text(j, "'%s'", name);
}

/* drop_mode_qlen as sync_mode_qlen: no caller waits; above it messages are dropped, and said to be. */
static const char *setting_of(struct judge *j, const json_t *fact, const json_t *h, enum log_mode mode)
{
    if (is_elixirs(h)) {
        double discard = fact_number(json_object_get(fact, "elixir"), "discard_threshold");
        discard = discard > 0 ? discard : 500;
        return judge_text(j, "Make it asynchronous: Logger.configure(sync_threshold: %.0f), and config "
                             ":logger, sync_threshold: %.0f. Callers then never wait, and above %.0f "
                             "messages (discard_threshold) it drops and says so", discard, discard, discard);
    }
    double drop = fact_number(h, "drop_mode_qlen");
    const char *id = atom(j, fact_text(h, "id"));
    drop = drop > 0 ? drop : 200;
    if (mode == LOG_IN_CALLERS)
        return judge_text(j, "The handler %s (module %s) works in the process that logs: replace it by "
                             "logger_std_h, or let it pass events on to a process of its own", id,
                          fact_text(h, "module"));
    const char *module = fact_text(h, "module");
    bool otp = strcmp(module, "logger_std_h") == 0 || strcmp(module, "logger_disk_log_h") == 0;
    return judge_text(j, "Make it asynchronous: logger:update_handler_config(%s, config, "
                         "#{sync_mode_qlen => %.0f, drop_mode_qlen => %.0f})%s. Callers then never wait, and "
                         "above %.0f messages it drops and says so", id, drop, drop,
                      otp ? "; in Elixir: config :logger, :default_handler, config: [sync_mode_qlen: …]"
                          : judge_text(j, ", as far as its module %s takes these settings", module), drop);
}

/* Whose process leads; where that is none's, the one that makes its callers wait most. */
static const json_t *worst_handler(const json_t *fact, const struct span_process *p,
                                   enum log_mode *mode)
{
    const json_t *worst = NULL, *h;
    size_t i;
    *mode = LOG_UNKNOWN;
    json_array_foreach(json_object_get(fact, "handlers"), i, h) {
        enum log_mode m = mode_of(fact, h, p);
        if (p && *fact_text(h, "process") && judge_is(p->name, fact_text(h, "process"))) {
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

static const char *const log_titles[] = {
    [LOG_UNKNOWN] = "The logger works much, in a mode that was not recorded",
    [LOG_ASYNC] = "The logger works much, in a process of its own",
    [LOG_SYNC] = "The logger is synchronous and makes its callers wait",
    [LOG_OVERLOADED] = "The logger is synchronous under this load and makes its callers wait",
    [LOG_IN_CALLERS] = "A log handler works in its callers' time",
};

void judge_logger(struct judge *j)
{
    double spread, share = kind_share(j, "logger", &spread);
    const struct span_process *p = leader_of_kind(j, "logger");
    enum log_mode mode;
    if (share < LOGGER_SHARE)
        return;
    const char *text = recording_fact(j->recording, "logger", j->to);
    json_t *fact = text ? json_loads(text, 0, NULL) : NULL;
    const json_t *h = worst_handler(fact, p, &mode), *each;
    size_t i;
    struct finding *f = judge_find(j, mode > LOG_ASYNC ? FINDING_ACT : FINDING_LOOK,
                                   judge_sure(j, share, LOGGER_SHARE));
    f->effort = EFFORT_SETTING;
    f->impact = share;
    f->title = judge_text(j, "%s: %s of the work", log_titles[mode],
                          judge_percent(j, share));
    f->action = mode > LOG_ASYNC
                    ? setting_of(j, fact, h, mode)
                    : "Log less in the hot path: lazy messages (funs), levels per module, sampling";
    f->refute = "A burst of errors that is over: the share then falls in the next span. A higher log level "
                "that does not lower the share speaks for the synchronous handler, not for the number of "
                "messages";
    f->subject = p ? judge_slice(j, p->pid) : "logger";
    judge_evidence(j, f, "share", share, "share", "%s of the work, ± %s between ticks",
                   judge_percent(j, share), judge_percent(j, spread));
    if (p)
        judge_evidence(j, f, "message_queue_len", p->queue_mean, "", "%s: %.1f messages waiting, most %.0f",
                       judge_slice(j, judge_process_name(p)), p->queue_mean, p->queue_max);
    json_array_foreach(json_object_get(fact, "handlers"), i, each) {
        if (i < 5)
            tell_handler(j, f, fact, each);
    }
    json_decref(fact);
}

/* ---- mailboxes */

#define MAILBOX_GROWTH 100.0 /* messages in the span */
#define MAILBOX_ACT 10000.0  /* waiting at the end */

#define ASLEEP_TICKS 3
#define ASLEEP_REDUCTIONS 50.0  /* a second, at most: what questions of process_info cost it */
#define SPINNING_REDUCTIONS 1e5 /* a second, at least */

static bool sleeps_on(const struct span_process *p)
{
    return p->asleep >= ASLEEP_TICKS && p->asleep_reductions_per_s < ASLEEP_REDUCTIONS;
}

static bool mailbox_grows(const struct judge *j, const struct span_process *p)
{
    return !sleeps_on(p) && p->ticks * 10 >= j->turnover.ticks * 6 && p->ticks >= 3 && p->queue_fit >= 0.8 &&
           p->queue_last - p->queue_first >= MAILBOX_GROWTH;
}

static void tell_process(struct judge *j, struct finding *f, const struct span_process *p)
{
    f->impact = p->share;
    f->subject = judge_slice(j, p->pid);
    judge_evidence(j, f, "process", p->share, "share", "%s %s, started as %s, of %s: %s of all reductions",
                   judge_slice(j, p->pid), judge_slice(j, judge_process_name(p)),
                   judge_slice(j, p->initial_call),
                   p->application.len ? judge_slice(j, p->application) : "no application",
                   judge_percent(j, p->share));
    if (p->current_function.len > 0)
        judge_evidence(j, f, "current_function", NAN, "", "seen mostly in %s",
                       judge_slice(j, p->current_function));
}

void judge_mailbox(struct judge *j)
{
    size_t said = 0;
    for (size_t i = 0; i < j->n_processes && said < 5; i++) {
        const struct span_process *p = &j->processes[i];
        double grown = p->queue_last - p->queue_first;
        if (!mailbox_grows(j, p))
            continue;
        said++;
        struct finding *f = judge_find(j, p->queue_last >= MAILBOX_ACT ? FINDING_ACT : FINDING_LOOK,
                                       judge_sure(j, grown, MAILBOX_GROWTH));
        f->effort = EFFORT_LARGE;
        f->title = judge_text(j, "The mailbox of %s grows: %.0f messages more in the span, %.0f at last",
                              judge_slice(j, judge_process_name(p)), grown, p->queue_last);
        f->action = "Let senders wait (call in place of cast), shed load before it, or spread its work "
                    "over several processes; look at the function where it is seen mostly";
        f->refute = "A mailbox that is emptied in batches: it falls to nothing now and then";
        judge_evidence(j, f, "message_queue_len", p->queue_last, "", "%.0f messages at first, %.0f at last, "
                       "%+.1f a tick, a line fits with %.2f of 1", p->queue_first, p->queue_last,
                       p->queue_slope, p->queue_fit);
        tell_process(j, f, p);
    }
}

/* ---- one process for many callers */

#define WAITING 5.0 /* messages on average */

void judge_serialised(struct judge *j)
{
    size_t said = 0;
    for (size_t i = 0; i < j->n_processes && said < 5; i++) {
        const struct span_process *p = &j->processes[i];
        double cores = cores_of(j, p->share);
        if (p->ticks * 10 < j->turnover.ticks * 8 || p->queue_min < 1 || p->queue_mean < WAITING ||
            mailbox_grows(j, p) || sleeps_on(p) || judge_is(p->kind, "logger"))
            continue;
        said++;
        bool full = cores >= 0.8 && p->queue_mean >= 4 * WAITING;
        struct finding *f = judge_find(j, full ? FINDING_ACT : FINDING_LOOK,
                                       judge_sure(j, p->queue_mean, WAITING));
        f->effort = EFFORT_LARGE;
        f->title = judge_text(j, "%s serialises its callers: %.1f messages wait for it at any time",
                              judge_slice(j, judge_process_name(p)), p->queue_mean);
        f->action = "Let callers read without it (ETS with read_concurrency, persistent_term), or spread "
                    "its work over several processes by key (partitions, a pool)";
        f->refute = "Messages that nobody waits for: then they are a backlog, not callers";
        judge_evidence(j, f, "message_queue_len", p->queue_mean, "", "messages waiting: mean %.1f, least "
                       "%.0f, most %.0f", p->queue_mean, p->queue_min, p->queue_max);
        tell_process(j, f, p);
        if (!isnan(cores))
            judge_evidence(j, f, "cores", cores, "", "it works as much as %.2f of the one core that a "
                           "process can use", cores);
    }
}

/* ---- asleep with messages */

static const char *waiting_text(struct judge *j, const struct span_process *p)
{
    bool one = p->queue_last < 2;
    return judge_text(j, "%.0f message%s wait%s", p->queue_last, one ? "" : "s", one ? "s" : "");
}

/* "15.2.7.6" against {15, 2, 7, 6}; a number that is not there is 0. */
static int compare_version(const char *s, const int to[4])
{
    for (int i = 0; i < 4; i++) {
        char *end;
        long n = strtol(s, &end, 10);
        if (n != to[i])
            return n < to[i] ? -1 : 1;
        s = *end == '.' ? end + 1 : end;
    }
    return 0;
}

/* Known to lose the wake-up of a process that hibernates: OTP 27 and 28 before these (GH-10651). */
static bool loses_wakeups(const char *erts)
{
    static const struct {
        int first[4], mended[4];
    } lines[] = {
        {{15, 0, 0, 0}, {15, 2, 7, 6}},
        {{16, 0, 0, 0}, {16, 2, 1, 0}},
    };
    for (size_t i = 0; i < ARRAY_LEN(lines); i++)
        if (compare_version(erts, lines[i].first) >= 0 && compare_version(erts, lines[i].mended) < 0)
            return true;
    return false;
}

static void find_sleeping(struct judge *j, const struct span_process *p)
{
    const char *erts = fact_text(j->node, "erts");
    bool known = loses_wakeups(erts);
    struct finding *f = judge_find(j, known ? FINDING_ACT : FINDING_LOOK,
                                   judge_sure(j, (double)p->asleep, ASLEEP_TICKS));
    f->effort = EFFORT_SMALL;
    f->title = judge_text(j, "%s sleeps in hibernation while %s for it",
                          judge_slice(j, judge_process_name(p)), waiting_text(j, p));
    f->action = known ? "Send it any message, which wakes it (sys:get_state/1 for a behaviour), and update "
                        "OTP to 27.3.4.8, 28.3.2 or later: before, the VM can lose the wake-up of a process "
                        "with a large heap that hibernates (GH-10651)"
                : *erts ? "Send it any message to wake it (sys:get_state/1 for a behaviour). This release is "
                          "not among those that are known to lose wake-ups (OTP 27 before 27.3.4.8, 28 "
                          "before 28.3.2)"
                        : "Send it any message to wake it (sys:get_state/1 for a behaviour). Which release "
                          "this is was not recorded: OTP 27 before 27.3.4.8 and 28 before 28.3.2 are known "
                          "to lose wake-ups";
    f->refute = "A queue that falls, or reductions, at the next look: it is waking, or is of priority low "
                "and waits for a scheduler. A status `suspended`: then erlang:suspend_process/1 holds it";
    judge_evidence(j, f, "message_queue_len", p->queue_last, "", "%s, at its last %lld looks one "
                   "at least", waiting_text(j, p), (long long)p->asleep);
    judge_evidence(j, f, "reductions_per_s", p->asleep_reductions_per_s, "per_s", "%.0f reductions in a "
                   "second, of questions about it", p->asleep_reductions_per_s);
    if (*erts)
        judge_evidence(j, f, "erts", NAN, "", "OTP %s, erts %s", fact_text(j->node, "otp"), erts);
    tell_process(j, f, p);
}

static void find_spinning(struct judge *j, const struct span_process *p)
{
    struct finding *f = judge_find(j, FINDING_LOOK,
                                   judge_sure(j, p->asleep_reductions_per_s, SPINNING_REDUCTIONS));
    f->effort = EFFORT_SMALL;
    f->title = judge_text(j, "%s hibernates again and again while %s for it",
                          judge_slice(j, judge_process_name(p)), waiting_text(j, p));
    f->action = "Resume it (sys:resume/1) if it was suspended (sys:suspend/1) in its sleep: each message that "
                "waits then wakes it for nothing. Otherwise let it hibernate only when it is idle "
                "(hibernate_after), not after each message";
    f->refute = "Messages that it takes one by one and a sleep that is meant: then it costs work only";
    judge_evidence(j, f, "message_queue_len", p->queue_last, "", "%s, at its last %lld looks one "
                   "at least", waiting_text(j, p), (long long)p->asleep);
    judge_evidence(j, f, "reductions_per_s", p->asleep_reductions_per_s, "per_s", "%s reductions in a "
                   "second", judge_count(j, p->asleep_reductions_per_s));
    tell_process(j, f, p);
}

void judge_asleep(struct judge *j)
{
    size_t said = 0;
    for (size_t i = 0; i < j->n_processes && said < 5; i++) {
        const struct span_process *p = &j->processes[i];
        bool spins = p->asleep >= ASLEEP_TICKS && p->asleep_reductions_per_s >= SPINNING_REDUCTIONS;
        said += spins || sleeps_on(p);
        if (spins)
            find_spinning(j, p);
        else if (sleeps_on(p))
            find_sleeping(j, p);
    }
}

/* ---- churn */

static double calls_per_s(const struct judge *j, const char *module, const char *function)
{
    double calls = 0;
    for (size_t i = 0; i < j->n_calls; i++)
        if (judge_is(j->calls[i].module, module) && judge_begins(j->calls[i].function, function))
            calls += (double)j->calls[i].calls;
    return j->sums.ns > 0 ? calls * 1e9 / (double)j->sums.ns : (double)NAN;
}

void judge_churn(struct judge *j)
{
    const struct span_turnover *t = &j->turnover;
    if (t->ticks < 5) {
        judge_unknown(j, "processes were recorded at fewer than 5 ticks");
        return;
    }
    double a_tick = (double)t->rows / (double)t->ticks;
    double once = (double)t->pids_seen_once / (double)t->pids;
    double new_a_tick = (double)t->pids_seen_once / (double)t->ticks;
    if (once < 0.8 || new_a_tick < 0.5 * a_tick || new_a_tick < 5)
        return;
    double spawns = calls_per_s(j, "proc_lib", "init_p");
    struct finding *f = judge_find(j, FINDING_LOOK, judge_sure(j, new_a_tick, 0.5 * a_tick));
    f->effort = EFFORT_LARGE;
    f->title = judge_text(j, "%s of the processes among the busiest were seen once only",
                          judge_percent(j, once));
    f->action = "A process for each request is right; one for each small step is not: do such steps in "
                "the caller, or keep workers";
    f->refute = "A busiest list that changes by chance on an idle node: then all shares are small";
    judge_evidence(j, f, "seen_once", once, "share", "%lld of %lld processes were seen at one tick only",
                   (long long)t->pids_seen_once, (long long)t->pids);
    judge_evidence(j, f, "new_per_tick", new_a_tick, "", "%.0f of the %.0f at a tick", new_a_tick, a_tick);
    if (spawns > 0)
        judge_evidence(j, f, "spawns", spawns, "per_s", "%.0f processes started by proc_lib in a second",
                       spawns);
}

/* ---- code server */

#define CODE_SHARE 0.02

void judge_code_server(struct judge *j)
{
    double spread, share = kind_share(j, "code_server", &spread);
    const char *mode = fact_text(j->node, "code_mode");
    double missing = calls_per_s(j, "error_handler", "undefined_function");
    if (share < CODE_SHARE)
        return;
    bool act = share >= 2 * CODE_SHARE && strcmp(mode, "interactive") == 0;
    struct finding *f = judge_find(j, act ? FINDING_ACT : FINDING_LOOK,
                                   judge_sure(j, share, CODE_SHARE));
    f->effort = EFFORT_SETTING;
    f->impact = share;
    f->title = judge_text(j, "The code server takes %s of the work", judge_percent(j, share));
    f->action = "Find which module is asked for and is not there (trace code_server:call/1 or "
                "error_handler:undefined_function/3), then load it or stop asking; start releases with "
                "-mode embedded";
    f->refute = "A node that has just started, or an upgrade that was going on";
    f->subject = "code_server";
    judge_evidence(j, f, "share", share, "share", "%s of the work, ± %s between ticks",
                   judge_percent(j, share), judge_percent(j, spread));
    judge_evidence(j, f, "code_mode", NAN, "", "code is loaded in %s mode", *mode ? mode : "unknown");
    if (missing > 0)
        judge_evidence(j, f, "undefined_function", missing, "per_s", "%.0f calls of undefined functions in "
                       "a second", missing);
}
