/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Clocks of several nodes, by messages between them. First how much faster each one runs, then how
 * far it is ahead: a message from i to j says that j is ahead of i by what lies between the times
 * of the two at most. The least of these sums along any way from i to j bound the two for good
 * (shortest ways, by Floyd and Warshall); a value within the bounds to all that are placed leaves
 * one for each that is not. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "join.h"

/* A bound for how far a clock is ahead, in ns, so many s after its first event. */
struct bound {
    double s, ns;
};
struct bounds {
    struct bound *most, *least;
    size_t n_most, n_least;
};

struct joining {
    struct party *parties;
    size_t n;
    const struct passed *messages;
    size_t n_messages;
    const struct spans_joined *known;
};

#define MOST_SLOPE 1e6 /* ns a second: drifts of more than a thousandth are not looked for */

/* Bounded, so that no sum of times overflows. */
static int64_t ns_of(double ns)
{
    return (int64_t)fmax(-0x1p61, fmin(0x1p61, ns));
}

/* A time by a clock that runs as the first one's. */
static int64_t evened_time(const struct party *p, int64_t at)
{
    return at - ns_of(((double)at - (double)p->since) / 1e9 * p->slope);
}

int64_t join_time(const struct party *p, int64_t at)
{
    return evened_time(p, at) - ns_of(p->ahead);
}

/* ---- how fast they run */

/* The distance between the bounds along a line of this slope, and its middle at s = 0. As a
   function of the slope it is concave. */
static double room_along(const struct bounds *b, double slope)
{
    double most = INFINITY, least = -INFINITY;
    for (size_t i = 0; i < b->n_most; i++)
        most = fmin(most, b->most[i].ns - slope * b->most[i].s);
    for (size_t i = 0; i < b->n_least; i++)
        least = fmax(least, b->least[i].ns - slope * b->least[i].s);
    return most - least;
}

/* The slope with the most room, by thirds. */
static double best_slope(const struct bounds *b)
{
    double from = -MOST_SLOPE, to = MOST_SLOPE;
    for (int i = 0; i < 60; i++) {
        const double third = (to - from) / 3;
        if (room_along(b, from + third) < room_along(b, to - third))
            from += third;
        else
            to -= third;
    }
    return (from + to) / 2;
}

/* What messages between the two say of the second one's clock. */
static void find_bounds(struct bounds *b, const struct joining *j, uint32_t known, uint32_t of)
{
    const struct party *p = &j->parties[of];
    b->n_most = b->n_least = 0;
    for (size_t i = 0; i < j->n_messages; i++) {
        const struct passed *m = &j->messages[i];
        const bool there = m->from == known && m->to == of;
        if (!there && !(m->from == of && m->to == known))
            continue;
        const int64_t at = there ? m->taken : m->sent;
        const int64_t here = evened_time(&j->parties[known], there ? m->sent : m->taken);
        const struct bound bound = {((double)at - (double)p->since) / 1e9, (double)(at - here)};
        if (there)
            b->most[b->n_most++] = bound;
        else
            b->least[b->n_least++] = bound;
    }
}

static void settle_slope(struct party *p, const struct bounds *b)
{
    const double slope = best_slope(b);
    if (room_along(b, slope) > 2 * fmax(room_along(b, 0), 0))
        p->slope = slope;
    p->sloped = true;
}

/* From one that is settled to the next, where messages go both ways. */
static void settle_slopes(const struct joining *j)
{
    struct bounds b = {0};
    b.most = alloc_zero(j->n_messages + 1, sizeof *b.most);
    b.least = alloc_zero(j->n_messages + 1, sizeof *b.least);
    for (size_t found = 1; found > 0;) {
        found = 0;
        for (uint32_t k = 0; k < j->n; k++)
            for (uint32_t i = 0; j->parties[k].sloped && i < j->n; i++) {
                if (j->parties[i].sloped)
                    continue;
                find_bounds(&b, j, k, i);
                if (b.n_most == 0 || b.n_least == 0)
                    continue;
                settle_slope(&j->parties[i], &b);
                found++;
            }
    }
    free(b.most);
    free(b.least);
}

/* ---- how far they are ahead */

/* ahead[i * n + j]: by so much at most the j-th is ahead of the i-th. */
static void find_direct(const struct joining *j, double *ahead)
{
    for (size_t i = 0; i < j->n * j->n; i++)
        ahead[i] = i % (j->n + 1) == 0 ? 0 : INFINITY;
    for (size_t i = 0; i < j->n_messages; i++) {
        const struct passed *m = &j->messages[i];
        const int64_t sent = evened_time(&j->parties[m->from], m->sent);
        double *at = &ahead[m->from * j->n + m->to];
        *at = fmin(*at, (double)(evened_time(&j->parties[m->to], m->taken) - sent));
    }
}

/* By all ways. False: they contradict. */
static bool find_shortest(double *ahead, size_t n)
{
    for (size_t k = 0; k < n; k++)
        for (size_t i = 0; i < n * n; i++)
            ahead[i] = fmin(ahead[i], ahead[i / n * n + k] + ahead[k * n + i % n]);
    for (size_t i = 0; i < n; i++)
        if (ahead[i * (n + 1)] < 0)
            return false;
    return true;
}

/* Where no message bounds a direction. */
static void bound_unknown(const struct joining *j, double *ahead)
{
    for (size_t i = 1; i < j->n; i++) {
        const struct spans_clock *known = &j->known[i - 1].clock;
        if (isinf(ahead[i]))
            ahead[i] = (double)known->most_ns;
        if (isinf(ahead[i * j->n]))
            ahead[i * j->n] = -(double)known->least_ns;
    }
}

/* Bounds of one that is not placed, by those that are. */
static void find_range(const struct joining *j, const double *ahead, size_t of, double *least,
                       double *most)
{
    *least = -INFINITY;
    *most = INFINITY;
    for (size_t k = 0; k < j->n; k++) {
        const struct party *p = &j->parties[k];
        if (!p->placed)
            continue;
        *least = fmax(*least, p->ahead - ahead[of * j->n + k]);
        *most = fmin(*most, p->ahead + ahead[k * j->n + of]);
    }
}

static void place_party(const struct joining *j, const double *ahead, size_t of)
{
    struct party *p = &j->parties[of];
    double least, most;
    find_range(j, ahead, of, &least, &most);
    p->ahead = least + (most - least) / 2;
    p->within = most < least ? -1 : fmax(ahead[of] - p->ahead, p->ahead + ahead[of * j->n]);
    p->placed = true;
}

/* Those that are known best come first. */
static void place_parties(const struct joining *j, const double *ahead)
{
    for (size_t left = j->n - 1; left > 0; left--) {
        size_t best = 0;
        double room = INFINITY, least, most;
        for (size_t i = 1; i < j->n; i++) {
            if (j->parties[i].placed)
                continue;
            find_range(j, ahead, i, &least, &most);
            if (best == 0 || most - least < room) {
                room = most - least;
                best = i;
            }
        }
        place_party(j, ahead, best);
    }
}

void join_clocks(struct party *parties, size_t n, const struct passed *messages, size_t n_messages,
                 const struct spans_joined *known)
{
    const struct joining j = {parties, n, messages, n_messages, known};
    double *ahead = alloc_zero(n * n, sizeof *ahead);
    parties[0].sloped = parties[0].placed = true;
    settle_slopes(&j);
    find_direct(&j, ahead);
    const bool fits = find_shortest(ahead, n);
    if (!fits) /* who does not fit is seen where it is placed */
        find_direct(&j, ahead);
    bound_unknown(&j, ahead);
    if (fits && !find_shortest(ahead, n)) {
        find_direct(&j, ahead);
        bound_unknown(&j, ahead);
    }
    place_parties(&j, ahead);
    free(ahead);
}
