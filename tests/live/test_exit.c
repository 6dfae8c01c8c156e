/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Every way to end has its exit code and its words, within the deadline: words on stderr, nothing
 * on stdout; and the cookie is nowhere to
 * be seen. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "beamtop/base/attr.h"
#include "../temporary.h"
#include "node.h"
#include "run.h"

#define COOKIE "quite-a-secret-cookie"
/* Longer than we wait: what ends before has not waited for it. */
#define PATIENT " --timeout 600 "

struct target {
    struct node node;
    pid_t epmd;
    uint16_t epmd_port;
};

static void start_target(struct target *t)
{
    const struct node_options o = {
        .name = "exits@127.0.0.1", .long_name = true, .cookie = COOKIE, .epmd_port = t->epmd_port};
    assert_int_equal(node_start(&t->node, &o), 0);
}

static int set_up(void **state)
{
    struct target *t = calloc(1, sizeof *t);
    t->epmd = node_epmd_start(&t->epmd_port);
    start_target(t);
    *state = t;
    return 0;
}

static int tear_down(void **state)
{
    struct target *t = *state;
    node_stop(&t->node);
    node_kill(t->epmd);
    free(t);
    return 0;
}

/* ---- 1, 2, 3: each with words on stderr, without the cookie */

/* What is not reached says so, and does not wait for PATIENT. */
static void test_refusals(void **state)
{
    struct target *t = *state;
    uint16_t nobody = 0, epmd = t->epmd_port;
    int closed = node_closed_port(&nobody);
    const struct {
        const char *args;
        unsigned port; /* put behind them; 0: none */
        int exit_code;
        const char *words;
    } cases[] = {
        {"top", 0, 2, "usage: beamtop top NODE"},
        {"top a@b --cookei=" COOKIE, 0, 2, "there is no option --cookei"},
        {"top a@b -n -1", 0, 2, "--ticks"},
        {"top a@b --format svg", 0, 2, "beamtop capture"},
        {"info a@b --sort memory", 0, 2, "not an option of"},
        {"top a@127.0.0.1 --cookie " COOKIE " --sort nothing", 0, 2, "“nothing”"},
        {"top a@127.0.0.1 --cookie " COOKIE " --columns pid,nothing", 0, 2,
         "no column \"nothing\""},
        {"top a@127.0.0.1 --cookie " COOKIE " --filter ab(c", 0, 2, "at column 5"},
        {"top a@127.0.0.1 --cookie " COOKIE " --filter app=ab(c", 0, 2, "at column 9"},
        {"top a@b@c --cookie " COOKIE, 0, 2, "a@b@c"},
        /* Who mistypes the name of a recording hears of files, not of nodes. */
        {"top not-there.btr", 0, 2, "No such file or directory"},
        {"info ./not-there", 0, 2, "No such file or directory"},
        {"calls a@127.0.0.1-1.btr", 0, 2, "No such file or directory"},
        {"trace not-there.btr", 0, 2, "No such file or directory"},
        {"record not-there.btr -o /proc/nonexistent/a.btr", 0, 2, "No such file or directory"},
        {"record stop another@127.0.0.1", 0, 2, "takes no argument"},
        {"record status another@127.0.0.1", 0, 2, "takes no argument"},
        {"top none@127.0.0.1 --cookie " COOKIE " --epmd-port", nobody, 3, "epmd"},
        {"top exits@127.0.0.1 --cookie wrong" PATIENT "--epmd-port", epmd, 3, "cookie"},
        {"top exits@127.0.0.1 --cookie-file /proc/nonexistent/cookie", 0, 1,
         "/proc/nonexistent/cookie"},
        {"process exits@127.0.0.1 nobody --cookie " COOKIE PATIENT "--epmd-port", epmd, 1,
         "no such process"},
        {"process exits@127.0.0.1 <0.9999.0> --cookie " COOKIE PATIENT "--epmd-port", epmd, 1,
         "no such process"},
        /* A pid that no release can have is not sent as one: the node would log it and hang up. */
        {"process exits@127.0.0.1 <0.268435456.0> --cookie " COOKIE PATIENT "--epmd-port", epmd, 1,
         "no such process"},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct run r;
        char port[16] = "";
        if (cases[i].port > 0)
            snprintf(port, sizeof port, "%u", cases[i].port);
        run_program(&r, NULL, "%s %s", cases[i].args, port);
        run_expect_error(&r, cases[i].exit_code, cases[i].words);
        assert_null(strstr(r.err, COOKIE));
        run_clear(&r);
    }
    close(closed);
}

/* A port that takes connections and says nothing. */
static int silent_listener(uint16_t *port)
{
    struct sockaddr_in sa = {.sin_family = AF_INET};
    socklen_t len = sizeof sa;
    sa.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&sa, sizeof sa), 0);
    assert_int_equal(listen(fd, 16), 0);
    getsockname(fd, (struct sockaddr *)&sa, &len);
    *port = ntohs(sa.sin_port);
    return fd;
}

static void expect_no_answer(const char *option, uint16_t port, const char *words)
{
    struct run r;
    run_program(&r, NULL, "top exits@127.0.0.1 --cookie " COOKIE " --timeout 1 %s %u", option,
                port);
    run_expect_error(&r, 3, words);
    assert_null(strstr(r.err, COOKIE));
    run_clear(&r);
}

/* Who takes a connection and says nothing: a port, a node that stands. */
static void test_silence(void **state)
{
    struct target *t = *state;
    uint16_t silent = 0;
    int listener = silent_listener(&silent);
    expect_no_answer("--port", silent, "does not answer within 1.0 s");
    close(listener);
    node_freeze(&t->node);
    expect_no_answer("--epmd-port", t->epmd_port, "the VM is frozen");
    node_thaw(&t->node);
}

/* ---- cookies and names */

static bool shown_in_process_list(pid_t pid, const char *text)
{
    char path[64], line[8192];
    snprintf(path, sizeof path, "/proc/%d/cmdline", (int)pid);
    FILE *f = fopen(path, "r");
    size_t len = f ? fread(line, 1, sizeof line - 1, f) : 0;
    if (f)
        fclose(f);
    return memmem(line, len, text, strlen(text)) != NULL;
}

/* In the process list while it runs; and 4 when the node is lost. */
static void test_cookie_is_hidden_and_loss(void **state)
{
    struct target *t = *state;
    struct run r;
    run_start(&r, NULL,
              "top exits@127.0.0.1 -n 0 -i 0.25 --cookie other --cookie=" COOKIE PATIENT
              "--epmd-port %u --format json",
              t->epmd_port);
    for (int line = 0; line < 2; line++) {
        assert_int_equal(run_line(&r, 30000), 0);
        assert_null(strstr(r.out, COOKIE));
    }
    assert_true(shown_in_process_list(r.pid, "exits@127.0.0.1"));
    assert_false(shown_in_process_list(r.pid, COOKIE));
    assert_false(shown_in_process_list(r.pid, "other"));
    node_stop(&t->node);
    run_wait(&r, 30000);
    run_expect(&r, 4);
    assert_int_equal(strncmp(r.err, "beamtop: ", 9), 0);
    run_clear(&r);
    start_target(t);
}

static void write_cookie(const char *path, const char *text)
{
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
    chmod(path, 0600);
}

/* --cookie-file, BEAMTOP_COOKIE, --cookie, ~/.erlang.cookie: the first one given counts. */
static void test_cookie_precedence(void **state)
{
    struct target *t = *state;
    char dir[48], good[64], bad[64], home[80], dot[80];
    assert_true(temporary_dir(dir, sizeof dir, "exit"));
    snprintf(good, sizeof good, "%s/good", dir);
    snprintf(bad, sizeof bad, "%s/bad", dir);
    snprintf(dot, sizeof dot, "%s/.erlang.cookie", dir);
    snprintf(home, sizeof home, "HOME=%s", dir);
    write_cookie(good, COOKIE "\n");
    write_cookie(bad, "wrong");
    write_cookie(dot, COOKIE);
    const struct {
        const char *file, *env, *option;
        int exit_code;
    } cases[] = {
        {good, "BEAMTOP_COOKIE=wrong", "wrong", 0},
        {bad, "BEAMTOP_COOKIE=" COOKIE, COOKIE, 3},
        {NULL, "BEAMTOP_COOKIE=" COOKIE, "wrong", 0},
        {NULL, NULL, "wrong", 3},
        {NULL, NULL, NULL, 0},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const char *env[] = {home, cases[i].env, NULL};
        struct run r;
        run_program(&r, env, "info exits@127.0.0.1" PATIENT "--epmd-port %u %s %s %s %s",
                    t->epmd_port, cases[i].file ? "--cookie-file" : "",
                    cases[i].file ? cases[i].file : "", cases[i].option ? "--cookie" : "",
                    cases[i].option ? cases[i].option : "");
        if (r.exit_code != cases[i].exit_code)
            fail_msg("case %zu: exit code %d: %.500s", i, r.exit_code, r.err);
        assert_null(strstr(r.err, COOKIE));
        run_clear(&r);
    }
    unlink(good);
    unlink(bad);
    unlink(dot);
    rmdir(dir);
}

/* A word about the node's own name exactly when another was asked for. */
static void test_spellings(void **state)
{
    static const char *const names[] = {"exits", "exits@localhost"};
    struct target *t = *state;
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        struct run r;
        run_program(&r, NULL, "schedulers %s --cookie " COOKIE PATIENT "--epmd-port %u -i 0.25",
                    names[i], t->epmd_port);
        assert_int_equal(r.exit_code, 0);
        bool another = strchr(names[i], '@') != NULL;
        if (another == run_is_quiet(&r) || (another && !strstr(r.err, "calls itself")))
            fail_msg("%s: %.2000s", names[i], r.err);
        run_clear(&r);
    }
}

/* Atoms live as long as the node: names that a user gives add none. The node may load a module of
   its own meanwhile, once: atoms of ours would come each time. */
static void test_atoms(void **state)
{
    struct target *t = *state;
    char before[64] = "", now[64] = "before";
    for (int i = 0; i < 5 && strcmp(now, before) != 0; i++) {
        struct run r;
        node_await_alone(&t->node); /* the name of ours is free again */
        memcpy(before, now, sizeof now);
        run_program(&r, NULL,
                    "process exits@127.0.0.1 gone_%d --cookie " COOKIE PATIENT "--epmd-port %u", i,
                    t->epmd_port);
        run_expect_error(&r, 1, "no such process");
        run_clear(&r);
        node_eval(&t->node, "erlang:system_info(atom_count).", now, sizeof now);
    }
    assert_string_equal(now, before);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cookie_is_hidden_and_loss), /* starts another node */
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_silence),
        cmocka_unit_test(test_cookie_precedence),
        cmocka_unit_test(test_spellings),
        cmocka_unit_test(test_atoms),
    };
    if (node_has_nothing_to_test())
        return 0;
    return cmocka_run_group_tests_name("exit", tests, set_up, tear_down);
}
