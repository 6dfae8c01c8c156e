/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "record_retry.h"

#include <ctype.h>
#include <stdio.h>

#include "beamtop/base/text.h"

#define LEAST_S 1.0
#define MOST_S 600.0

static const char *behind_number(const char *s)
{
    while (isdigit((unsigned char)*s))
        s++;
    return s;
}

/* The same text but for its numbers: loads and counts differ each time. */
static bool same_reason(const char *a, const char *b)
{
    while (*a && *b) {
        bool digits = isdigit((unsigned char)*a) && isdigit((unsigned char)*b);
        if (!digits && *a != *b)
            return false;
        a = digits ? behind_number(a) : a + 1;
        b = digits ? behind_number(b) : b + 1;
    }
    return *a == *b;
}

/* every_s longer than MOST_S stays as it is. */
static double wait_after(double wait_s, double every_s)
{
    double first_s = every_s > LEAST_S ? every_s : LEAST_S;
    double most_s = first_s > MOST_S ? first_s : MOST_S;
    double next_s = wait_s > 0 ? 2 * wait_s : first_s;
    return next_s > most_s ? most_s : next_s;
}

bool record_retry_refused(struct record_retry *r, const char *why, double every_s, uint64_t now_ns)
{
    bool is_new = !same_reason(r->why, why);
    r->wait_s = wait_after(r->wait_s, every_s);
    r->due_ns = now_ns + (uint64_t)(r->wait_s * 1e9);
    snprintf(r->why, sizeof r->why, "%s", why);
    return is_new;
}

void record_retry_gives_up(struct record_retry *r, const char *why)
{
    snprintf(r->why, sizeof r->why, "%s", why);
}

char *record_retry_text(char *out, size_t size, const struct record_retry *r, const char *what,
                        bool again)
{
    char wait[32];
    if (again)
        snprintf(out, size, "%s: %s; tried again in %s, then less often", what, r->why,
                 text_duration(wait, sizeof wait, r->wait_s));
    else
        snprintf(out, size, "%s: %s", what, r->why);
    return out;
}

bool record_retry_works(struct record_retry *r)
{
    bool was_refused = r->why[0] != '\0';
    *r = (struct record_retry){0};
    return was_refused;
}

void record_retry_soon(struct record_retry *r)
{
    r->due_ns = 0;
    r->wait_s = 0;
}

bool record_retry_is_due(const struct record_retry *r, uint64_t now_ns)
{
    return now_ns >= r->due_ns;
}
