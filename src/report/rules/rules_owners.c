/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rules over who does the work: message queues, single processes, short lives, the code server. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/rules/rules_internal.h"

/* ---- message queues */

#define MAILBOX_GROWTH 100.0 /* messages in the period */
#define MAILBOX_ACT 10000.0  /* waiting at the end */
#define LEAST_TICKS 8        /* of a process; a burst is shorter */

#define ASLEEP_TICKS 3
#define ASLEEP_REDUCTIONS 50.0  /* per second, at most: of answers to process_info */
#define SPINNING_REDUCTIONS 1e5 /* per second, at least */

static bool sleeps_on(const struct period_process *p)
{
    return p->asleep >= ASLEEP_TICKS && p->asleep_reductions_per_s < ASLEEP_REDUCTIONS;
}

/* Rows of a node with many processes come seldom. A burst, and what comes while a node starts, does
 * not leave so many messages for so long, and as many at the end. Two ticks may both be between a
 * batch and its end, unless it did too little to handle so many. */
static const struct {
    int64_t ticks;
    double seconds, messages; /* between the first and the last; at each */
    bool idle;
} few_ticks[] = {{3, 30, 1e4, false}, {2, 20, 1e5, true}};
#define KEEPS 0.9      /* of its first length: it is not being emptied */
#define FEW_FIT 0.95   /* of a line through so few ticks */
#define FEW_GROWN 0.25 /* of its first length */

/* A message takes one reduction at least. */
static bool cannot_have_emptied(const struct judge *j, const struct period_process *p)
{
    return p->reductions_per_s * j->duration_s < p->queue_min;
}

/* One that does little has a row only now and then; of one that works its queue was unknown. */
static bool is_huge(const struct judge *j, const struct period_process *p)
{
    const bool idle = cannot_have_emptied(j, p);
    const bool keeps = p->at_end && p->queue_last >= KEEPS * p->queue_first &&
                       (idle || p->ticks * 10 >= p->ticks_since * 8);
    for (size_t i = 0; i < ARRAY_LEN(few_ticks); i++)
        if (keeps && p->ticks >= few_ticks[i].ticks && p->seen_s >= few_ticks[i].seconds &&
            p->queue_min >= few_ticks[i].messages && (idle || !few_ticks[i].idle))
            return true;
    return false;
}

static bool is_huge_and_grows(const struct judge *j, const struct period_process *p)
{
    return is_huge(j, p) && p->queue_fit >= FEW_FIT &&
           p->queue_last >= (1 + FEW_GROWN) * p->queue_first;
}

/* A queue that is emptied now and then has a low point in the second half. */
static bool mailbox_grows(const struct judge *j, const struct period_process *p)
{
    const struct period_process *late = judge_late(j, p);
    const bool enough = p->ticks >= LEAST_TICKS;
    double grown = p->queue_last - p->queue_first;
    return late && !sleeps_on(p) && p->ticks * 10 >= j->turnover.ticks * 6 &&
           (enough ? p->queue_fit >= judge_limit(j, 0.8) : is_huge_and_grows(j, p)) &&
           grown >= judge_limit(j, MAILBOX_GROWTH) && late->queue_min >= p->queue_first + grown / 4;
}

static void tell_process(struct judge *j, struct finding *f, const struct period_process *p,
                         enum cause_rank rank)
{
    f->impact = p->share;
    judge_about(f, judge_slice(j, p->pid), rank);
    judge_evidence(j, f, "process", p->share, "share",
                   "%s, started as %s, of %s: %s of all reductions", judge_process(j, p),
                   judge_slice(j, p->initial_call),
                   p->application.len ? judge_slice(j, p->application) : "no application",
                   judge_percent(j, p->share));
    judge_tell_function(j, f, p);
}

/* Functions that wait without handling messages, and what to do about them. */
static const struct {
    const char *function, *title, *action, *ruled_out_if;
} waits[] = {
    {"gen:do_call/", "waits for the answer to a call",
     "Open it: its monitors have the process that it called. Two that call each other wait until a "
     "timeout: let one of them reply later (noreply, reply/2)",
     "The process that it called is slow, and answers"},
    {"sys:suspend_loop", "is suspended",
     "Resume it (sys:resume/1): it was suspended (sys:suspend/1), by an upgrade or by hand, and "
     "handles no message until then",
     "An upgrade is running (release_handler), and resumes it"},
};

#define WAITS_IN_CALL 0
#define SUSPENDED 1

static bool waits_in(const struct period_process *p, size_t i)
{
    return slice_begins(p->current_function, waits[i].function);
}

/* The process that p called, as the node reported it; name NULL: unknown. */
struct callee {
    const char *name, *command; /* "db on other@host"; what shows that process */
};

static struct callee callee_of(struct judge *j, const struct period_process *p)
{
    json_t *row;
    size_t i;
    json_array_foreach (json_object_get(j->kin, "callers"), i, row) {
        const char *name = fact_text(row, "waits_for"), *node = fact_text(row, "node");
        const char *called = fact_text(row, "called");
        if (!slice_is(p->pid, fact_text(row, "pid")) || !*name)
            continue;
        return (struct callee){*node ? judge_text(j, "%s on %s", name, node)
                                     : judge_text(j, "%s", name),
                               judge_text(j, "beamtop process %s '%s'", *node ? node : "NODE",
                                          *called ? called : name)};
    }
    return (struct callee){NULL, NULL};
}

static const char *wait_title(struct judge *j, const struct period_process *p)
{
    if (waits_in(p, WAITS_IN_CALL)) {
        const struct callee callee = callee_of(j, p);
        if (callee.name)
            return judge_text(j, "waits for an answer of %s", callee.name);
    }
    for (size_t i = 0; i < ARRAY_LEN(waits); i++)
        if (waits_in(p, i))
            return waits[i].title;
    return NULL;
}

/* The callee answers slowly, or not at all: then p has no reductions but those of process_info. */
static void advise_on_call(struct judge *j, struct finding *f, const struct period_process *p)
{
    const struct callee callee = callee_of(j, p);
    const bool answers = p->reductions_per_s >= ASLEEP_REDUCTIONS;
    const char *see = callee.name
                          ? judge_text(j, "See what %s does (%s)", callee.name, callee.command)
                          : "Open it: its monitors have the process that it called";
    f->action =
        answers ? judge_text(j,
                             "%s. Each message waits for its answer: make it answer sooner, or let "
                             "several processes (a pool) call it, each for one message",
                             see)
                : judge_text(j,
                             "%s. It was called and has not answered. Two that call each other "
                             "wait until a timeout: let one of them reply later (noreply, reply/2)",
                             see);
    if (answers)
        f->ruled_out_if = "The process that it called answers at once: it is called very often";
}

static bool advise_on_wait(struct judge *j, struct finding *f, const struct period_process *p)
{
    for (size_t i = 0; i < ARRAY_LEN(waits); i++) {
        if (!waits_in(p, i))
            continue;
        f->action = waits[i].action;
        f->ruled_out_if = waits[i].ruled_out_if;
        if (i == WAITS_IN_CALL)
            advise_on_call(j, f, p);
        return true;
    }
    return false;
}

/* A longer queue cannot be read (query/q/mailbox.erl); its next messages can be traced. */
#define MAILBOX_READ 50000.0
#define MAILBOX_READ_BYTES (16.0 * 1024 * 1024)

static bool is_too_long_to_read(const struct period_process *p)
{
    return p->queue_last > MAILBOX_READ || p->memory_last > MAILBOX_READ_BYTES;
}

static void advise_on_queue(struct judge *j, struct finding *f, const struct period_process *p)
{
    if (advise_on_wait(j, f, p))
        return;
    f->action = "Add back-pressure (call instead of cast), shed load upstream, or split the work "
                "across processes. The evidence has the function it is mostly in";
    if (is_too_long_to_read(p))
        f->action = judge_text(
            j,
            "See what comes: beamtop trace NODE receive --procs '%s'. Then add back-pressure (call "
            "instead of cast), shed load upstream, or split the work across processes",
            judge_slice(j, p->pid));
    f->ruled_out_if = "The queue drops to 0 between batches";
}

/* A process without a CPU cannot keep up. */
static enum finding_severity one_less(enum finding_severity severity)
{
    return severity == FINDING_ACT ? FINDING_LOOK : FINDING_NOTE;
}

static void tell_starved(struct judge *j, struct finding *f)
{
    bool comes;
    for (size_t i = 0; i < j->out->len; i++)
        if (finding_has_rule(&j->out->items[i], "starved")) {
            judge_evidence(j, f, "starved", NAN, "", "it follows at least in part: %s",
                           j->out->items[i].title);
            return;
        }
    judge_tell_without_cpu(j, f, judge_without_cpu(j, &comes));
}

void judge_mailbox(struct judge *j)
{
    size_t said = 0;
    for (size_t i = 0; i < j->n_processes && said < 5; i++) {
        const struct period_process *p = &j->processes[i];
        double grown = p->queue_last - p->queue_first;
        if (!mailbox_grows(j, p) || !judge_holds(j, p->seen_s, true))
            continue;
        said++;
        const char *wait = wait_title(j, p);
        enum finding_severity severity = p->queue_last >= MAILBOX_ACT ? FINDING_ACT : FINDING_LOOK;
        const bool starves = !wait && judge_starves(j);
        struct finding *f =
            judge_find(j, starves ? one_less(severity) : severity, grown, MAILBOX_GROWTH);
        const char *now = judge_text(j, "+%s in %s, now %s", judge_number(j, grown),
                                     judge_period(j), judge_number(j, p->queue_last));
        f->title =
            wait ? judge_text(j, "%s %s, its message queue is growing: %s", judge_process(j, p),
                              wait, now)
                 : judge_text(j, "Message queue of %s is growing: %s", judge_process(j, p), now);
        advise_on_queue(j, f, p);
        judge_evidence(j, f, "message_queue_len", p->queue_last, "",
                       "message queue: from %s to %s, %+.1f/s (linear trend, r = %.2f)",
                       judge_number(j, p->queue_first), judge_number(j, p->queue_last),
                       p->queue_slope, p->queue_fit);
        if (starves)
            tell_starved(j, f);
        tell_process(j, f, p, CAUSE_QUEUE);
    }
}

/* ---- one process for many callers */

#define WAITING 5.0 /* messages on average */
#define ALWAYS 0.8  /* of the ticks with a message in its queue */
#define CERTAIN 2.0 /* standard errors that the mean is above the limit */

/* The lower bound of the mean, so that a value at the limit is not found in one recording and
 * missed in the next. */
static double least_mean(const struct period_process *p)
{
    return p->queue_mean - CERTAIN * p->queue_stddev / sqrt((double)p->ticks);
}

static bool is_bottleneck(const struct judge *j, const struct period_process *p)
{
    return (is_huge(j, p) || (p->ticks >= LEAST_TICKS && judge_stays(j, p))) &&
           (double)p->queued >= judge_limit(j, ALWAYS) * (double)p->ticks &&
           least_mean(p) >= judge_limit(j, WAITING) && !mailbox_grows(j, p) && !sleeps_on(p) &&
           !slice_is(p->kind, "logger") && !judge_is_kin(j, p, "logger");
}

#define IDLE_CORES 0.01

/* The queue did not change, and the process used hardly any CPU time. */
static bool handles_nothing(const struct period_process *p, double cores)
{
    return p->queue_max - p->queue_min < 1 && !isnan(cores) && cores < IDLE_CORES;
}

/* Found with any number of messages: no other process handles them. */
static bool is_suspended(const struct judge *j, const struct period_process *p)
{
    return p->ticks >= LEAST_TICKS && judge_stays(j, p) && p->queue_min >= 1 &&
           waits_in(p, SUSPENDED) && !mailbox_grows(j, p) && judge_cores(j, p->share) < IDLE_CORES;
}

#define CALLS_CORES 0.3 /* of a process that mostly waits for answers, at most */

/* The process handles its queue as fast as another one answers. */
static bool waits_for_another(const struct period_process *p, double cores)
{
    return waits_in(p, WAITS_IN_CALL) && cores < CALLS_CORES;
}

static void title_of_queue(struct judge *j, struct finding *f, const struct period_process *p,
                           bool stands_still)
{
    const double cores = judge_cores(j, p->share);
    if ((stands_still || waits_for_another(p, cores)) && advise_on_wait(j, f, p)) {
        const double n = stands_still ? p->queue_last : round(p->queue_mean);
        f->title = judge_text(j, "%s %s, with %s message%s queued%s", judge_process(j, p),
                              wait_title(j, p), judge_number(j, n), n < 2 ? "" : "s",
                              stands_still ? "" : " on average");
        return;
    }
    if (stands_still) {
        f->title = judge_text(j, "%s does not handle its %s messages", judge_process(j, p),
                              judge_number(j, p->queue_last));
        f->action = "Read what it waits for (its stack) and what is queued (its mailbox): a "
                    "receive skips messages that none of its patterns matches";
        if (is_too_long_to_read(p))
            f->action = judge_text(
                j,
                "Read what it waits for (its stack), and see what comes: beamtop trace NODE "
                "receive --procs '%s'. A receive skips messages that none of its patterns matches",
                judge_slice(j, p->pid));
        f->ruled_out_if = "As many messages come as it handles, between two ticks";
        return;
    }
    char mean[40];
    snprintf(mean, sizeof mean, "%.1f", p->queue_mean);
    f->title = judge_text(j, "%s is a bottleneck: its queue %s empties (mean %s)",
                          judge_process(j, p), p->queue_min < 1 ? "rarely" : "never",
                          p->queue_mean < 100 ? mean : judge_number(j, p->queue_mean));
    f->action = "Let callers read without it (ETS with read_concurrency, persistent_term), or "
                "split its work by key across processes (partitions, a pool)";
    f->ruled_out_if = "Nobody waits for these messages: they are a backlog of casts";
}

void judge_serialised(struct judge *j)
{
    size_t said = 0;
    for (size_t i = 0; i < j->n_processes && said < 5; i++) {
        const struct period_process *p = &j->processes[i];
        double cores = judge_cores(j, p->share);
        bool suspended = is_suspended(j, p);
        if (!suspended && !is_bottleneck(j, p))
            continue;
        said++;
        bool full = cores >= 0.8 && p->queue_mean >= 4 * WAITING;
        bool stands = suspended || handles_nothing(p, cores);
        const bool starves = !stands && judge_starves(j);
        enum finding_severity severity = full ? FINDING_ACT : FINDING_LOOK;
        struct finding *f =
            judge_find(j, starves ? one_less(severity) : severity, p->queue_mean, WAITING);
        title_of_queue(j, f, p, stands);
        judge_evidence(j, f, "message_queue_len", p->queue_mean, "",
                       "message queue: mean %.1f, min %.0f, max %.0f", p->queue_mean, p->queue_min,
                       p->queue_max);
        if (starves)
            tell_starved(j, f);
        tell_process(j, f, p, CAUSE_QUEUE);
        if (!isnan(cores))
            judge_evidence(j, f, "cores", cores, "",
                           "its work: %.2f of the 1 core that a process can use", cores);
    }
}

/* ---- asleep with messages */

static const char *waiting_text(struct judge *j, const struct period_process *p)
{
    bool one = p->queue_last < 2;
    return judge_text(j, "%s message%s", judge_number(j, p->queue_last), one ? "" : "s");
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
        if (compare_version(erts, lines[i].first) >= 0 &&
            compare_version(erts, lines[i].mended) < 0)
            return true;
    return false;
}

static void tell_queued(struct judge *j, struct finding *f, const struct period_process *p)
{
    judge_evidence(j, f, "message_queue_len", p->queue_last, "",
                   "message queue: %s, 1 at least at its last %lld ticks", waiting_text(j, p),
                   (long long)p->asleep);
}

static void find_sleeping(struct judge *j, const struct period_process *p)
{
    const char *erts = fact_text(j->node, "erts");
    bool known = loses_wakeups(erts);
    struct finding *f =
        judge_find(j, known ? FINDING_ACT : FINDING_LOOK, (double)p->asleep, ASLEEP_TICKS);
    f->title = judge_text(j, "%s hibernates with %s queued: probably a lost wake-up",
                          judge_process(j, p), waiting_text(j, p));
    f->action = known   ? "Send it any message to wake it, and update OTP to 27.3.4.8, 28.3.2 or "
                          "later. Earlier VMs can lose the wake-up of a hibernating process with a "
                          "large heap (GH-10651)"
                : *erts ? "Send it any message to wake it. This release is not among those known "
                          "to lose wake-ups (OTP 27 before 27.3.4.8, 28 before 28.3.2)"
                        : "Send it any message to wake it. The release was not recorded: OTP 27 "
                          "before 27.3.4.8 and 28 before 28.3.2 are known to lose wake-ups";
    f->ruled_out_if = "At the next tick its queue is shorter or it has reductions: it is waking, "
                      "or has low priority and waits for a scheduler. Its status is `suspended`: "
                      "erlang:suspend_process/1 holds it";
    tell_queued(j, f, p);
    judge_evidence(j, f, "reductions_per_s", p->asleep_reductions_per_s, "per_s",
                   "reductions: %.0f per second, of questions about it",
                   p->asleep_reductions_per_s);
    if (*erts)
        judge_evidence(j, f, "erts", NAN, "", "OTP %s, erts %s", fact_text(j->node, "otp"), erts);
    tell_process(j, f, p, CAUSE_KNOWN);
}

static void find_spinning(struct judge *j, const struct period_process *p)
{
    struct finding *f =
        judge_find(j, FINDING_LOOK, p->asleep_reductions_per_s, SPINNING_REDUCTIONS);
    f->title = judge_text(j, "%s hibernates again and again with %s queued", judge_process(j, p),
                          waiting_text(j, p));
    f->action = "Resume it (sys:resume/1) if it was suspended (sys:suspend/1) while it hibernated: "
                "each queued message then wakes it for nothing. Otherwise let it hibernate only "
                "when it is idle (hibernate_after)";
    f->ruled_out_if = "It handles its messages one by one and hibernates in between on purpose";
    tell_queued(j, f, p);
    judge_evidence(j, f, "reductions_per_s", p->asleep_reductions_per_s, "per_s",
                   "reductions: %s per second", judge_number(j, p->asleep_reductions_per_s));
    tell_process(j, f, p, CAUSE_KNOWN);
}

void judge_asleep(struct judge *j)
{
    size_t said = 0;
    for (size_t i = 0; i < j->n_processes && said < 5; i++) {
        const struct period_process *p = &j->processes[i];
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
        if (slice_is(j->calls[i].module, module) && slice_begins(j->calls[i].function, function))
            calls += (double)j->calls[i].calls;
    return j->sums.ns > 0 ? calls * 1e9 / (double)j->sums.ns : (double)NAN;
}

/* The most frequent initial call of the processes seen at one tick. */
static struct slice most_of_the_brief(const struct judge *j)
{
    struct slice most = {"", 0};
    int64_t votes = 0;
    for (size_t i = 0; i < j->n_processes; i++) {
        const struct period_process *p = &j->processes[i];
        if (p->ticks > 1 || p->initial_call.len == 0)
            continue;
        bool same = slice_equal(p->initial_call, most);
        most = votes == 0 ? p->initial_call : most;
        votes += same || votes == 0 ? 1 : -1;
    }
    return most;
}

#define SPAWNS_KNOWN_S 60.0 /* by then the node has reported the number, where it can */

/* False when the recording shows that fewer processes end in a tick: rows that differ at each
 * tick can also be of long-lived processes, more than the list holds. */
static bool may_end(struct judge *j, double new_a_tick)
{
    const json_t *fact = judge_fact_at(j, "growth", j->to);
    double tick_s = j->duration_s / fmax(1, (double)j->ticks - 1);
    double spawned = fact_number(fact, "spawned_per_s") * tick_s; /* NaN: not recorded */
    struct trend count = judge_trend(j, "processes");
    double stay = count.steady ? (count.last - count.first) / fmax(1, (double)j->ticks - 1) : 0;
    if (isnan(spawned) && j->duration_s < SPAWNS_KNOWN_S)
        return false;
    return stay < new_a_tick / 2 && !(spawned - fmax(0, stay) < new_a_tick / 2);
}

/* A process for each request is how systems are built: worth knowing, nothing to change. */
void judge_churn(struct judge *j)
{
    const struct period_turnover *t = &j->turnover;
    if (t->ticks < 5) {
        judge_unknown(j, "processes were recorded at fewer than 5 ticks");
        return;
    }
    double a_tick = (double)t->rows / (double)t->ticks;
    double once = (double)t->pids_seen_once / (double)t->pids;
    double new_a_tick = (double)t->pids_seen_once / (double)t->ticks;
    if (once < judge_limit(j, 0.8) || new_a_tick < judge_limit(j, 0.5) * a_tick || new_a_tick < 5 ||
        !may_end(j, new_a_tick))
        return;
    struct slice call = most_of_the_brief(j);
    double spawns = calls_per_s(j, "proc_lib", "init_p");
    struct finding *f = judge_find(j, FINDING_NOTE, new_a_tick, 0.5 * a_tick);
    judge_cause(f, "spawns", CAUSE_LOAD);
    f->title = judge_text(j, "%s processes are short-lived: %s of top processes are seen once",
                          call.len > 0 ? judge_slice(j, call) : "Most", judge_percent(j, once));
    f->action = "Keep a process for each request. Move small steps into the caller, or keep "
                "workers for them";
    f->ruled_out_if =
        "All shares are small: on an idle node the order of the top processes is chance";
    judge_evidence(j, f, "seen_once", once, "share",
                   "seen at one tick only: %lld of %lld processes", (long long)t->pids_seen_once,
                   (long long)t->pids);
    judge_evidence(j, f, "new_per_tick", new_a_tick, "", "new processes: %.0f of %.0f per tick",
                   new_a_tick, a_tick);
    if (spawns > 0)
        judge_evidence(j, f, "spawns", spawns, "per_s", "started by proc_lib: %s per second",
                       judge_number(j, spawns));
}

/* ---- code server */

#define CODE_SHARE 0.02
#define CODE_CORES 0.02 /* less is idle, whatever its share */

void judge_code_server(struct judge *j)
{
    double spread, late, share = judge_kind(j, "code_server", &spread, &late);
    const char *mode = fact_text(j->node, "code_mode");
    double missing = calls_per_s(j, "error_handler", "undefined_function");
    if (!judge_lasts(share, late, judge_limit(j, CODE_SHARE)) || judge_cores(j, share) < CODE_CORES)
        return;
    bool act = share >= 2 * CODE_SHARE && strcmp(mode, "interactive") == 0;
    struct finding *f = judge_find(j, act ? FINDING_ACT : FINDING_LOOK, share, CODE_SHARE);
    f->impact = share;
    f->title = judge_text(j, "code_server is busy: %s of reductions", judge_percent(j, share));
    f->action = "Find the missing module (trace error_handler:undefined_function/3), then load it "
                "or stop calling it. Start releases with -mode embedded";
    f->ruled_out_if = "The node has just started, or is being upgraded";
    f->trace = "error_handler:undefined_function/3";
    for (size_t i = 0; i < j->n_processes; i++)
        if (slice_is(j->processes[i].kind, "code_server"))
            judge_about(f, judge_slice(j, j->processes[i].pid), CAUSE_KNOWN);
    f->subject = "code_server";
    judge_share(j, f, share, spread);
    judge_evidence(j, f, "code_mode", NAN, "", "code loading: %s mode", *mode ? mode : "unknown");
    if (missing > 0)
        judge_evidence(j, f, "undefined_function", missing, "per_s",
                       "calls of undefined functions: %s per second", judge_number(j, missing));
}
