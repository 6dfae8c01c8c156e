/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rules over what processes leave behind and no type of memory shows: timers, monitors, links,
 * sockets. Their numbers come from facts, read every ten seconds or less often. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "report/rules/rules_internal.h"

#define EACH_HALF 0.25 /* of the growth: half of it is even */

/* ---- a number of a fact, three times */

static struct counted counted_of(struct judge *j, const char *fact,
                                 double (*read)(const json_t *fact, const void *arg),
                                 const void *arg)
{
    double at[3];
    int64_t ticks[3];
    for (int i = 0; i < 3; i++) {
        ticks[i] = j->from + (j->to - j->from) * (i + 1) / 3;
        const json_t *value = judge_fact_at(j, fact, ticks[i]);
        at[i] = value ? read(value, arg) : (double)NAN;
    }
    return (struct counted){at[0], at[1], at[2], at[2] - at[0],
                            recording_period_s(j->recording, ticks[0], ticks[2])};
}

/* Margins: what comes at once, or levels off, does not rise. */
static bool counts_rise(const struct judge *j, const struct counted *r, double limit, bool named)
{
    return j->duration_s >= JUDGE_TREND_S && judge_holds(j, j->duration_s, named) &&
           r->grown >= limit && r->half - r->first >= EACH_HALF * r->grown &&
           r->last - r->half >= EACH_HALF * r->grown;
}

/* By how many they have grown; 0: they have not. */
static double more_processes(const struct judge *j)
{
    struct trend t = judge_trend(j, "processes");
    return isnan(t.last) ? 0 : fmax(0, t.last - t.first);
}

/* A tenth of what there was, and twice as many as there are more processes: each may have one, and
   the two are not counted at one moment. */
static double limit_of(const struct judge *j, double least, double first)
{
    return judge_limit(j, fmax(least, 0.1 * first) + 2 * more_processes(j));
}

static const char *amount_text(struct judge *j, bool by_bytes, double n)
{
    return by_bytes ? judge_bytes(j, n) : judge_number(j, n);
}

static void tell_counted(struct judge *j, struct finding *f, const char *key, const char *name,
                         const struct counted *n, bool bytes)
{
    judge_evidence(j, f, key, n->last, "", "%s: %s, %s, %s (after 1/3, 2/3 and at the end)", name,
                   amount_text(j, bytes, n->first), amount_text(j, bytes, n->half),
                   amount_text(j, bytes, n->last));
}

static void tell_more_processes(struct judge *j, struct finding *f)
{
    judge_evidence(j, f, "more_processes", more_processes(j), "", "more processes in %s: %s",
                   judge_period(j), judge_number(j, more_processes(j)));
}

/* ---- timers */

#define TIMERS_LEAST 1000.0

static double kept_number(const json_t *growth, const void *key)
{
    return fact_number(json_object_get(growth, "kept"), key);
}

struct timers judge_timers(struct judge *j)
{
    struct timers t = {.n = counted_of(j, "growth", kept_number, "timers"),
                       .bytes = counted_of(j, "growth", kept_number, "timer_bytes")};
    t.limit = limit_of(j, TIMERS_LEAST, t.n.first);
    t.rise = counts_rise(j, &t.n, t.limit, false);
    return t;
}

void judge_timer_growth(struct judge *j)
{
    const struct timers t = judge_timers(j);
    const struct counted n = t.n, bytes = t.bytes;
    if (isnan(n.last))
        (void)judge_fact(j, "growth");
    if (!t.rise)
        return;
    struct finding *f = judge_find(j, FINDING_LOOK, n.grown, t.limit);
    f->title = judge_text(j, "Timers are accumulating: +%s in %s, now %s", judge_number(j, n.grown),
                          judge_seconds(j, n.over_s), judge_number(j, n.last));
    f->action =
        "Find who starts them (beamtop calls NODE 'erlang:start_timer/3' 'erlang:send_after/3') "
        "and cancel each when its reason is gone (erlang:cancel_timer/1), or start one for many";
    f->ruled_out_if =
        "The number of timers levels off: each runs out, as those of a cache (10 min)";
    f->subject = "timers";
    f->trace = "erlang:start_timer -> caller & erlang:send_after -> caller";
    judge_cause(f, "timers", CAUSE_KNOWN);
    tell_counted(j, f, "timers", "timers", &n, false);
    judge_evidence(j, f, "timer_bytes", bytes.last, "bytes",
                   "their memory, which is in no process: +%s, now %s, and their messages",
                   judge_bytes(j, bytes.grown), judge_bytes(j, bytes.last));
    tell_more_processes(j, f);
}

/* ---- monitors and links */

#define TIES_LEAST 1000.0

static const struct tie {
    const char *key, *title, *name, *action, *trace;
    bool is_of_it; /* the pattern: its pid is to follow */
} ties[] = {
    {"monitors", "keeps monitors that stay", "monitors",
     "Demonitor what is no longer waited for (erlang:demonitor(Ref, [flush])), and monitor each "
     "process once",
     "erlang:monitor/2 --procs ", true},
    {"monitored_by", "is monitored more and more", "monitors of others on it",
     "Find who monitors it (beamtop process NODE PID, monitored by), and demonitor after each use",
     "erlang:monitor/2 -> caller", false},
    {"links", "keeps links that stay", "links",
     "Unlink what is no longer needed, or close it: ports and processes of other nodes count too",
     "erlang:link/1 --procs ", true},
    /* Too many to count them: by their memory. */
    {"bytes", "grows beside its heaps (monitors or links)", "memory beside its heaps",
     "Demonitor or unlink what is no longer needed (erlang:demonitor(Ref, [flush])), and monitor "
     "each process once",
     "erlang:monitor/2 --procs ", true},
};

/* A row by bytes has the words of what the process has most, where that is known. */
#define BY_BYTES (ARRAY_LEN(ties) - 1)
#define TIE_BYTES 64.0 /* the least that one takes on either side */
#define BYTES_LEAST (1024.0 * 1024)

static double ties_limit(const struct judge *j, bool by_bytes, double first)
{
    if (by_bytes)
        return judge_limit(j, fmax(BYTES_LEAST, 0.1 * first) + 2 * TIE_BYTES * more_processes(j));
    return limit_of(j, TIES_LEAST, first);
}

struct tied {
    const char *pid, *key;
};

static double tied_of(const json_t *fact, const void *arg)
{
    const struct tied *t = arg;
    return fact_number(fact_process(fact, slice_of(t->pid)), t->key);
}

/* Of what the process has most. */
static const struct tie *tie_of(const json_t *row)
{
    const char *mostly = fact_text(row, "mostly");
    for (size_t k = 0; k < BY_BYTES; k++)
        if (strcmp(ties[k].key, mostly) == 0)
            return &ties[k];
    return &ties[BY_BYTES];
}

struct found {
    const json_t *row; /* NULL: none */
    const struct tie *tie;
    bool by_bytes;
    struct counted n;
};

static void find_ties(struct judge *j, const struct found *found)
{
    const json_t *row = found->row;
    const struct tie *tie = found->tie;
    const struct counted *n = &found->n;
    const bool by_bytes = found->by_bytes;
    const double limit = ties_limit(j, by_bytes, n->first);
    struct finding *f = judge_find(j, FINDING_LOOK, n->grown, limit);
    const char *pid = judge_text(j, "%s", fact_text(row, "pid"));
    struct tied heaps = {pid, "bytes"};
    struct counted bytes = counted_of(j, "monitors", tied_of, &heaps);
    f->title = judge_text(j, "%s %s: +%s in %s, now %s", judge_process_of(j, row), tie->title,
                          amount_text(j, by_bytes, n->grown), judge_seconds(j, n->over_s),
                          amount_text(j, by_bytes, n->last));
    f->action = tie->action;
    f->ruled_out_if = "The number levels off with the clients (view process, 10 min)";
    f->trace = judge_text(j, "%s%s", tie->trace, tie->is_of_it ? pid : "");
    judge_about(f, pid, CAUSE_KNOWN);
    tell_counted(j, f, by_bytes ? "bytes" : tie->key, by_bytes ? ties[BY_BYTES].name : tie->name, n,
                 by_bytes);
    if (!by_bytes)
        judge_evidence(j, f, "bytes", bytes.last, "bytes",
                       "its memory beside its heaps: +%s, now %s", judge_bytes(j, bytes.grown),
                       judge_bytes(j, bytes.last));
    tell_more_processes(j, f);
}

/* Who monitors is said before who is monitored, and the larger growth first. */
static bool says_more(const struct found *a, const struct found *b)
{
    const double more = a->n.grown / (a->by_bytes ? TIE_BYTES : 1);
    return !b->row || a->tie < b->tie ||
           (a->tie == b->tie && more > b->n.grown / (b->by_bytes ? TIE_BYTES : 1));
}

void judge_monitor_growth(struct judge *j)
{
    const json_t *fact = judge_fact(j, "monitors"), *row;
    struct found most = {0};
    size_t i;
    json_array_foreach (json_object_get(fact, "processes"), i, row)
        for (size_t k = 0; k < ARRAY_LEN(ties); k++) {
            struct tied tied = {fact_text(row, "pid"), ties[k].key};
            struct found f = {.row = row,
                              .tie = k == BY_BYTES ? tie_of(row) : &ties[k],
                              .by_bytes = k == BY_BYTES,
                              .n = counted_of(j, "monitors", tied_of, &tied)};
            bool is_counted = f.by_bytes && !isnan(fact_number(row, "monitors"));
            if (!is_counted && counts_rise(j, &f.n, ties_limit(j, f.by_bytes, f.n.first), true) &&
                says_more(&f, &most))
                most = f;
        }
    if (most.row)
        find_ties(j, &most);
}

/* ---- sockets of the module socket */

static double sockets_number(const json_t *growth, const void *key)
{
    return fact_number(json_object_get(growth, "sockets"), key);
}

/* The owner of most open sockets; which of them are new is not known. */
static const char *socket_owner(struct judge *j, const json_t *owns, struct finding *f)
{
    const json_t *owner = json_object_get(owns, "owner");
    double seen = fact_number(owns, "seen"), sampled = fact_number(owns, "sampled");
    if (!*fact_text(owner, "pid") || !(seen >= 3 && seen >= sampled / 2))
        return "";
    const char *name = judge_process_of(j, owner);
    f->process = judge_text(j, "%s", fact_text(owner, "pid"));
    judge_evidence(j, f, "owner", seen, "", "owner: %s has %.0f of %.0f sampled", name, seen,
                   sampled);
    return name;
}

void judge_socket_growth(struct judge *j)
{
    struct counted n = counted_of(j, "growth", sockets_number, "count");
    double limit = judge_limit(j, fmax(50, 0.1 * n.first));
    const json_t *fact = judge_fact(j, "growth");
    if (!counts_rise(j, &n, limit, true))
        return;
    struct finding *f = judge_find(j, FINDING_LOOK, n.grown, limit);
    f->confidence *= 0.8;
    tell_counted(j, f, "sockets", "sockets", &n, false);
    const char *owner = socket_owner(j, json_object_get(fact, "sockets"), f);
    f->title = *owner ? judge_text(j, "%s opens sockets (module socket) that stay: +%s in %s",
                                   owner, judge_number(j, n.grown), judge_seconds(j, n.over_s))
                      : judge_text(j, "Sockets (module socket) are accumulating: +%s in %s",
                                   judge_number(j, n.grown), judge_seconds(j, n.over_s));
    f->action = "Close sockets when their work is done; set idle timeouts. List them: "
                "socket:which_sockets()";
    f->ruled_out_if = "The number of sockets levels off with the clients (10 min)";
    if (*owner)
        judge_about(f, f->process, CAUSE_KNOWN);
    f->subject = "sockets";
}
