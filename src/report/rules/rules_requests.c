/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rules over captured causal spans: what the critical paths of requests go through. */
#include <math.h>
#include <string.h>

#include "report/rules/requests.h"
#include "report/rules/rules_internal.h"

#define LEAST_ROOTS 10 /* of a function, that have returned */
#define WAIT_SHARE 0.5
#define QUEUED_MUCH 0.5 /* of the time for that process */
#define FUNCTIONS_JUDGED 5
#define OPERATIONS_NAMED 3

/* The cause of a wait: a process, or a function at which the request itself waits. */
struct culprit {
    struct slice name;
    bool is_function;
    double ns, queued_ns;
};

/* The cause of a part; empty: the request's own work, or a process without a name. */
static struct slice culprit_of(const struct request_part *part)
{
    if (part->own)
        return part->kind == SPAN_STEP_WAIT ? part->at : (struct slice){0};
    return slice_is(part->process, "unnamed") ? part->operation : part->process;
}

/* The parts are sorted by size. A cause of half of the time is among the first: the others are
 * smaller, even together. */
static struct culprit find_culprit(const struct requests_of *of)
{
    struct culprit most = {0};
    for (size_t i = 0; i < of->n_parts && i < 100; i++) {
        struct culprit c = {.name = culprit_of(&of->parts[i]), .is_function = of->parts[i].own};
        if (c.name.len == 0)
            continue;
        for (size_t k = 0; k < of->n_parts; k++) {
            const struct request_part *part = &of->parts[k];
            if (part->own != c.is_function || !slice_equal(culprit_of(part), c.name))
                continue;
            c.ns += part->ns;
            c.queued_ns += part->kind == SPAN_STEP_QUEUED ? part->ns : 0;
        }
        most = c.ns > most.ns ? c : most;
    }
    return most;
}

static void name_operations(struct judge *j, struct finding *f, const struct requests_of *of,
                            const struct culprit *c)
{
    size_t named = 0;
    for (size_t i = 0; i < of->n_parts && named < OPERATIONS_NAMED; i++) {
        const struct request_part *part = &of->parts[i];
        const double share = part->ns / of->ns;
        if (share < 0.05 || part->own || !slice_equal(culprit_of(part), c->name))
            continue;
        named++;
        const char *operation = judge_slice(j, part->operation), *at = judge_slice(j, part->at);
        judge_evidence(j, f, span_step_key(part->kind), share, "share",
                       "%s%s%s%s%s: %s, %s a request", operation, *operation ? ", " : "",
                       span_step_key(part->kind), *at ? " " : "", at, judge_percent(j, share),
                       judge_duration(j, part->ns / (double)of->n_durations / 1e9));
    }
}

static const char *action_of(struct judge *j, const struct culprit *c, const char *name)
{
    if (c->is_function)
        return judge_text(j,
                          "Find what is behind %s: a timer, a socket or a port (beamtop trace NODE "
                          "%s). Make it shorter, or start it earlier",
                          name, name);
    if (c->queued_ns >= QUEUED_MUCH * c->ns)
        return judge_text(j,
                          "Requests stand in the message queue of %s: split its work across "
                          "processes, or let callers read from ETS",
                          name);
    return judge_text(j,
                      "Shorten what %s does for these operations, or call it less often per "
                      "request. What it waits for itself is in the same critical path",
                      name);
}

/* The confidence: by how far it is above the limit, and by how many requests there are. */
static double request_confidence(double share, double roots)
{
    return (0.55 + 0.4 * fmin((share - WAIT_SHARE) / WAIT_SHARE, 1)) *
           (0.6 + 0.4 * fmin(roots / 50, 1));
}

static void judge_function_of(struct judge *j, const struct requests_of *of)
{
    const struct culprit c = find_culprit(of);
    const double n = (double)of->n_durations, share = c.ns / of->ns;
    if (!(share >= judge_limit(j, WAIT_SHARE)))
        return;
    const char *name = judge_slice(j, c.name), *request = judge_slice(j, of->operation);
    for (size_t i = 0; i < j->out->len; i++) /* a root function that waits longer has the finding */
        if (j->out->items[i].rule == j->rule->info.key &&
            strcmp(j->out->items[i].subject, name) == 0)
            return;
    struct finding *f = judge_find(j, FINDING_LOOK, share, WAIT_SHARE);
    f->confidence = request_confidence(share, n);
    f->subject = name;
    f->title = judge_text(j, "Requests of %s mostly wait %s %s: %s of their time", request,
                          c.is_function ? "in" : "for", name, judge_percent(j, share));
    judge_evidence(j, f, "share", share, "share",
                   "%s of %s, the mean of %s requests (critical path; median %s, p99 %s)",
                   judge_percent(j, share), judge_duration(j, of->ns / n / 1e9), judge_number(j, n),
                   judge_duration(j, requests_quantile(of, 0.5) / 1e9),
                   judge_duration(j, requests_quantile(of, 0.99) / 1e9));
    name_operations(j, f, of, &c);
    f->action = action_of(j, &c, name);
    f->ruled_out_if = judge_text(
        j,
        "A later capture of %s, with more requests, has a share below 50%%: these were not typical",
        request);
}

void judge_request_wait(struct judge *j)
{
    const struct requests *q = j->requests;
    int64_t most = 0;
    for (size_t i = 0; i < q->n; i++)
        most = (int64_t)q->list[i].n_durations > most ? (int64_t)q->list[i].n_durations : most;
    if (most < LEAST_ROOTS) {
        judge_unknown(j, "only %lld requests of one function have returned, %d are needed",
                      (long long)most, LEAST_ROOTS);
        return;
    }
    for (size_t i = 0, judged = 0; i < q->n && judged < FUNCTIONS_JUDGED; i++)
        if (q->list[i].n_durations >= LEAST_ROOTS) {
            judged++;
            judge_function_of(j, &q->list[i]);
        }
}
