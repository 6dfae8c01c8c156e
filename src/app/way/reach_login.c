/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "reach_login.h"

#include <stdlib.h>

#include "beamtop/base/alloc.h"
#include "beamtop/base/clock.h"

#define GOES_ON_MS 1000u
#define ANSWER_MS 1000u /* beyond the time of a login, for its error */

static int wait_ms(const struct reach_login *l, uint64_t since_ns, unsigned timeout_ms)
{
    const uint64_t spent_ms = (clock_mono_ns() - since_ns) / 1000000u;
    const uint64_t all_ms = l->is_needed ? timeout_ms + ANSWER_MS : GOES_ON_MS;
    return all_ms > spent_ms ? (int)(all_ms - spent_ms) : 0;
}

static void ask_person(struct reach *w, struct reach_login *l, unsigned timeout_ms)
{
    int login;
    bool prompts;
    l->err = (struct error){0};
    l->rc = reach_login_start(w, l->url, REACH_ASKS_PERSON, timeout_ms, &login, &l->err);
    if (l->rc == 0)
        l->rc = reach_login_end(login, -1, &prompts, &l->err);
}

void reach_login_all(struct reach *w, struct reach_login *all, size_t n, bool can_ask,
                     unsigned timeout_ms)
{
    int *logins = alloc_zero(n, sizeof *logins);
    bool *prompts = alloc_zero(n, sizeof *prompts);
    const uint64_t since_ns = clock_mono_ns();
    for (size_t i = 0; i < n; i++)
        all[i].rc = reach_login_start(w, all[i].url, REACH_ASKS_NOBODY, timeout_ms, &logins[i],
                                      &all[i].err);
    for (size_t i = 0; i < n; i++) {
        struct reach_login *l = &all[i];
        if (l->rc != 0)
            continue;
        l->rc = reach_login_end(logins[i], wait_ms(l, since_ns, timeout_ms), &prompts[i], &l->err);
        if (l->rc == ERR_TIMEOUT && !l->is_needed)
            l->rc = 0;
    }
    for (size_t i = 0; i < n; i++)
        if (all[i].rc != 0 && prompts[i] && can_ask)
            ask_person(w, &all[i], timeout_ms);
    free(prompts);
    free(logins);
}

int reach_login_again(struct reach *w, unsigned timeout_ms, struct error *err)
{
    struct reach_login *all = NULL;
    const char *url;
    size_t n = 0;
    int rc = 0;
    for (; (url = reach_ssh_place(w, n)); n++) {
        all = alloc_grow(all, n, sizeof *all);
        all[n] = (struct reach_login){.url = url, .is_needed = true};
    }
    reach_login_all(w, all, n, true, timeout_ms);
    for (size_t i = 0; i < n && rc == 0; i++)
        if (all[i].rc != 0) {
            rc = all[i].rc;
            *err = all[i].err;
        }
    free(all);
    return rc != 0 ? rc : (int)n;
}
