/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "way_logins.h"

#include <stdio.h>
#include <string.h>

#include "beamtop/base/clock.h"

#define REST_MS 60000u /* after a login that needs a person */
#define ANSWER_MS 300u /* of an asker's time, for the answer */
#define MOST_LOGINS 8  /* beside each other: sshd drops some from ten on (MaxStartups) */

static uint64_t now_ms(void)
{
    return clock_mono_ns() / 1000000u;
}

static void grant(struct way_child *c)
{
    c->waits = false;
    if (c->ask.kind == WAY_ASKS_STREAM) {
        c->starts = true;
        return;
    }
    way_child_say_open(c, -1);
    way_child_close(c);
    c->has_exited = true;
}

static bool waits_for(const struct way_child *c, const struct way_child *login)
{
    return c->waits && !c->has_exited && way_url_is_beside(&c->url, &login->url);
}

static bool is_login(const struct way_child *c)
{
    return c->ask.kind == WAY_LOGS_IN && !c->has_exited;
}

static bool is_under_way(const struct way_children *all, const struct way_child *c)
{
    for (size_t i = 0; i < all->n; i++)
        if (is_login(all->all[i]) && way_url_is_beside(&all->all[i]->url, &c->url))
            return true;
    return false;
}

static size_t count_logins(const struct way_children *all)
{
    size_t n = 0;
    for (size_t i = 0; i < all->n; i++)
        n += is_login(all->all[i]);
    return n;
}

static void finish(struct way_masters *m, struct way_children *all, struct way_child *login,
                   enum conn_failure why, const struct error *err);

/* ---- the programs of a login */

static struct way_stop stop_of(const struct way_child *login)
{
    return (struct way_stop){.url = &login->url,
                             .terminal = login->ask.terminal != 0,
                             .timeout_s = (login->ask.timeout_ms + 999) / 1000};
}

static void spawn(struct way_masters *m, struct way_children *all, struct way_child *login,
                  void (*put)(struct way_words *, const struct way_stop *),
                  const struct way_stop *stop)
{
    struct way_words words = {0};
    struct error err = {0};
    put(&words, stop);
    const int rc = way_spawn(&login->pid, words.all, -1, NULL, &login->errors,
                             WAY_OUTLIVES | (stop->terminal && !login->checks ? WAY_IN_FRONT : 0));
    if (rc != 0) {
        way_spawn_explain(rc, words.all[0], &err);
        finish(m, all, login, CONN_FAILED_WAY, &err);
    }
    way_words_clear(&words);
}

static void start_master(struct way_masters *m, struct way_children *all, struct way_child *login)
{
    struct way_stop stop = stop_of(login);
    struct error err = {0};
    login->checks = false;
    login->has_exited = false;
    way_child_forget(login);
    if (way_masters_add(m, &stop, &err) != 0)
        finish(m, all, login, CONN_FAILED_WAY, &err);
    else
        spawn(m, all, login, way_put_master, &stop);
}

static void start_login(struct way_masters *m, struct way_children *all, const struct way_child *by)
{
    struct way_child *login = way_children_add(all, &by->ask, -1);
    if (!login)
        return; /* the asker's time ends it */
    login->ask.kind = WAY_LOGS_IN;
    login->url = by->url;
    login->checks = true;
    const unsigned ms = by->ask.timeout_ms;
    if (!by->ask.terminal) /* a person may take any time */
        login->end_ms = now_ms() + (ms > 3 * ANSWER_MS ? ms - ANSWER_MS : ms);
    const struct way_stop stop = stop_of(login);
    spawn(m, all, login, way_put_check, &stop);
}

/* ---- what they say to a person */

static bool asks_person(const struct way_child *c)
{
    return is_login(c) && c->ask.terminal && !c->checks;
}

bool way_logins_ask(const struct way_children *all)
{
    for (size_t i = 0; i < all->n; i++)
        if (asks_person(all->all[i]))
            return true;
    return false;
}

/* The last lines that have come since it was called, as many as a message holds; "": none. */
static void take_lines(struct way_child *login, char out[WAY_TEXT_BYTES])
{
    const size_t come = login->said_all - login->told;
    const size_t n = come < login->said_len ? come : login->said_len;
    const char *from = login->said + login->said_len - n;
    const char *end = memrchr(from, '\n', n);
    out[0] = '\0';
    if (!end)
        return; /* the rest of a line may come */
    login->told += come - n + (size_t)(end + 1 - from);
    if (end - from >= WAY_TEXT_BYTES)
        from = end - WAY_TEXT_BYTES + 1;
    snprintf(out, WAY_TEXT_BYTES, "%.*s", (int)(end - from), from);
}

void way_logins_tell(struct way_masters *m, struct way_children *all)
{
    for (size_t i = 0; i < all->n; i++) {
        struct way_child *login = all->all[i];
        struct error words = {0};
        char text[WAY_TEXT_BYTES];
        if (!asks_person(login))
            continue;
        const struct way_stop stop = stop_of(login);
        int log = way_masters_log(m, &stop, &login->log_from);
        way_child_read(login, &log);
        take_lines(login, text);
        error_set(&words, ERR_CONNECT, "%s", text);
        for (size_t k = 0; *text && k < all->n; k++)
            if (waits_for(all->all[k], login) && all->all[k]->ask.terminal)
                way_child_say(all->all[k], WAY_SAYS_WORDS, CONN_FAILED_WAY, false, &words, -1);
    }
}

/* ---- their ends */

static void fail_login(struct way_masters *m, struct way_children *all, struct way_child *login)
{
    static const struct way_method ssh = {.scheme = WAY_SSH, .name = "ssh to"};
    struct way_stop stop = stop_of(login);
    enum conn_failure why = CONN_FAILED_WAY;
    struct error err = {0};
    bool another;
    int log = way_masters_log(m, &stop, &login->log_from);
    way_child_read(login, &log);
    if (login->was_asked && login->said_len == 0)
        error_set(&err, ERR_TIMEOUT,
                  "ssh to %s: no login in %.3g s: the host, or one on the way to it, does not "
                  "answer. Try --timeout 20",
                  login->url.host, login->ask.timeout_ms / 1000.0);
    else
        way_explain_said(&ssh, &login->url, login->said, &why, &another, &err);
    finish(m, all, login, why, &err);
}

/* A terminal's ask that has waited for a login without one is tried there. */
static void finish(struct way_masters *m, struct way_children *all, struct way_child *login,
                   enum conn_failure why, const struct error *err)
{
    const struct way_stop stop = stop_of(login);
    const bool prompts = !login->ask.terminal && way_may_prompt(login->said);
    const struct way_child *terminal = NULL;
    login->has_exited = true;
    way_masters_fail(m, &stop, prompts ? now_ms() + REST_MS : 0, err);
    for (size_t i = 0; i < all->n; i++) {
        struct way_child *c = all->all[i];
        if (waits_for(c, login) && prompts && c->ask.terminal)
            terminal = c;
        else if (waits_for(c, login))
            way_child_fail(c, why, prompts, err);
    }
    if (terminal)
        start_login(m, all, terminal);
}

void way_logins_ended(struct way_masters *m, struct way_children *all, struct way_child *login)
{
    const struct way_stop stop = stop_of(login);
    if (login->checks && login->exit_status != 0 && !login->was_asked) {
        start_master(m, all, login);
        return;
    }
    if (login->exit_status != 0) {
        fail_login(m, all, login);
        return;
    }
    way_masters_ready(m, &stop, login->checks);
    for (size_t i = 0; i < all->n; i++)
        if (waits_for(all->all[i], login))
            grant(all->all[i]);
}

void way_logins_want(struct way_masters *m, struct way_children *all, struct way_child *c)
{
    const struct way_stop stop = {.url = &c->url};
    struct error err = {0};
    if (way_masters_serves(m, &stop)) {
        grant(c);
    } else if (!c->ask.terminal && way_masters_rests(m, &stop, now_ms(), &err)) {
        way_child_fail(c, CONN_FAILED_WAY, true, &err);
    } else {
        c->waits = true;
        if (c->ask.terminal && !is_under_way(all, c))
            start_login(m, all, c);
    }
}

void way_logins_go_on(struct way_masters *m, struct way_children *all)
{
    const size_t n = all->n; /* others come behind these */
    for (size_t i = 0; i < n && count_logins(all) < MOST_LOGINS; i++) {
        const struct way_child *c = all->all[i];
        if (c->waits && !c->has_exited && !is_under_way(all, c))
            start_login(m, all, c);
    }
}
