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

#include <arpa/inet.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "beamtop/base/attr.h"
#include "beamtop/base/clock.h"
#include "beamtop/base/limits.h"
#include "../temporary.h"
#include "node.h"
#include "run.h"

#define COOKIE "quite-a-secret-cookie"
#define ROUNDS 18 /* of AT_ONCE */
#define AT_ONCE 6
#define NO_CONNECTION_MS 25000 /* below PATIENT: what cannot be reached says so at once */
#define PATIENT " --timeout 30 "

struct target {
    struct node node;
    pid_t epmd;
    uint16_t epmd_port;
};

static void start_target(struct target *t, const char *name, bool long_name)
{
    const struct node_options o = {
        .name = name,
        .long_name = long_name,
        .cookie = COOKIE,
        .epmd_port = t->epmd_port,
        .flags = {"-kernel", "net_ticktime", "4"},
    };
    assert_int_equal(node_start(&t->node, &o), 0);
}

static int set_up(void **state)
{
    struct target *t = calloc(1, sizeof *t);
    t->epmd = node_epmd_start(&t->epmd_port);
    start_target(t, "exits@127.0.0.1", true);
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

/* ---- 2: usage */

static void test_usage(void **state)
{
    static const struct {
        const char *args, *words;
    } cases[] = {
        {"top", "usage: beamtop top NODE"},
        {"top a@b c", "unexpected argument “c”"},
        {"process a@b", "usage: beamtop process"},
        {"top a@b --no-such-option", "there is no option --no-such-option"},
        {"top a@b --cookei=" COOKIE, "there is no option --cookei"},
        {"top a@b -n", "-n needs a value"},
        {"top a@b -n -1", "--ticks"},
        {"top a@b -i 0.1", "is not between 0.25 and 3600"},
        {"top a@b --format yaml", "is not a format"},
        {"top a@b --format svg", "beamtop capture"},
        {"info a@b --sort memory", "not an option of"},
        {"top a@127.0.0.1 --cookie " COOKIE " --sort nothing", "“nothing”"},
        {"top a@127.0.0.1 --cookie " COOKIE " --columns pid,nothing", "no column \"nothing\""},
        {"top a@127.0.0.1 --cookie " COOKIE " --filter ab(c", "at column 5"},
        {"top a@127.0.0.1 --cookie " COOKIE " --filter app=ab(c", "at column 9"},
        {"top a@b@c --cookie " COOKIE, "a@b@c"},
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct run r;
        run_program(&r, NULL, "%s", cases[i].args);
        run_expect_error(&r, 2, cases[i].words);
        assert_null(strstr(r.err, COOKIE));
        run_clear(&r);
    }
}

/* ---- 3: no connection */

static void expect_no_connection(const char *args, const char *words)
{
    struct run r;
    run_program(&r, NULL, "top %s", args);
    run_expect_error(&r, 3, words);
    assert_null(strstr(r.err, COOKIE));
    if (r.ms > NO_CONNECTION_MS)
        fail_msg("%s: %u ms", args, r.ms);
    run_clear(&r);
}

static void test_no_connection(void **state)
{
    struct target *t = *state;
    char args[400];
    uint16_t silent = 0, nobody = 0;
    int listener = silent_listener(&silent), closed = node_closed_port(&nobody);
    const struct {
        const char *args;
        unsigned port; /* put behind them */
        const char *words;
    } cases[] = {
        {"exits@127.0.0.1 --cookie " COOKIE " --epmd-port", nobody, "epmd"},
        {"other@127.0.0.1 --cookie " COOKIE PATIENT "--epmd-port", t->epmd_port, "exits"},
        {"exits@127.0.0.1 --cookie wrong" PATIENT "--epmd-port", t->epmd_port, "cookie"},
        {"exits@127.0.0.1 --cookie " COOKIE " --port", nobody, "refuses"},
        {"exits@127.0.0.1 --cookie " COOKIE " --timeout 1 --port", silent,
         "does not answer within 1.0 s"},
        {"exits@127.0.0.1 --cookie " COOKIE " --timeout 1 --epmd-port", silent, "epmd"},
        {"exits@no-such-host.invalid --cookie " COOKIE " --timeout 1 --epmd-port", t->epmd_port,
         "no-such-host.invalid"},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        snprintf(args, sizeof args, "%s %u", cases[i].args, cases[i].port);
        expect_no_connection(args, cases[i].words);
    }
    close(listener);
    close(closed);

    node_freeze(&t->node);
    snprintf(args, sizeof args, "exits@127.0.0.1 --cookie " COOKIE " --timeout 1 --epmd-port %u",
             t->epmd_port);
    expect_no_connection(args, "frozen");
    node_thaw(&t->node);

    node_expect(&t->node, "net_kernel:allow(['nobody@127.0.0.1']).", "ok");
    snprintf(args, sizeof args, "exits@127.0.0.1 --cookie " COOKIE PATIENT "--epmd-port %u",
             t->epmd_port);
    expect_no_connection(args, "allow");
    node_stop(&t->node);
    start_target(t, "exits@127.0.0.1", true);
}

/* ---- 1, 4 */

static void test_failed(void **state)
{
    struct target *t = *state;
    struct run r;
    run_program(&r, NULL, "process exits@127.0.0.1 nobody --cookie " COOKIE " --epmd-port %u",
                t->epmd_port);
    run_expect_error(&r, 1, "no such process");
    run_clear(&r);
    /* A pid that the release cannot have is not sent as one: the node would log it and hang up. */
    run_program(&r, NULL,
                "process exits@127.0.0.1 <0.268435456.0> --cookie " COOKIE " --epmd-port %u",
                t->epmd_port);
    run_expect_error(&r, 1, "no such process");
    run_clear(&r);
    run_program(&r, NULL, "top exits@127.0.0.1 --cookie-file /nonexistent/cookie");
    run_expect_error(&r, 1, "/nonexistent/cookie");
    run_clear(&r);
}

/* Who mistypes the name of a recording hears of files, not of nodes. */
static void test_no_file(void **state)
{
    static const char *const words[] = {"top not-there.btr", "info ./not-there",
                                        "calls a@127.0.0.1-1.btr", "trace not-there.btr",
                                        "record not-there.btr -o /nonexistent/a.btr"};
    (void)state;
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        struct run r;
        run_program(&r, NULL, "%s", words[i]);
        run_expect_error(&r, 2, "No such file or directory");
        run_clear(&r);
    }
}

static void test_lost(void **state)
{
    struct target *t = *state;
    struct run r;
    run_start(&r, NULL,
              "top exits@127.0.0.1 -n 0 -i 0.25 --cookie " COOKIE " --epmd-port %u --format json",
              t->epmd_port);
    assert_int_equal(run_line(&r, 30000), 0);
    node_stop(&t->node);
    run_wait(&r, 30000);
    run_expect(&r, 4);
    assert_int_equal(strncmp(r.err, "beamtop: ", 9), 0);
    run_clear(&r);
    start_target(t, "exits@127.0.0.1", true);
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

static void test_cookie_is_hidden(void **state)
{
    struct target *t = *state;
    struct run r;
    run_start(&r, NULL,
              "top exits@127.0.0.1 -n 0 -i 0.25 --cookie other --cookie=" COOKIE
              " --epmd-port %u --format json",
              t->epmd_port);
    assert_int_equal(run_line(&r, 30000), 0);
    assert_true(shown_in_process_list(r.pid, "exits@127.0.0.1"));
    assert_false(shown_in_process_list(r.pid, COOKIE));
    assert_false(shown_in_process_list(r.pid, "other"));
    assert_null(strstr(r.out, COOKIE));
    assert_int_equal(run_line(&r, 30000), 0);
    assert_null(strstr(r.out, COOKIE));
    run_close_out(&r);
    run_wait(&r, 30000);
    run_expect(&r, 0);
    run_clear(&r);
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
        {NULL, "BEAMTOP_COOKIE=wrong", COOKIE, 3},
        {NULL, NULL, COOKIE, 0},
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

/* Exit code 0, and a word about the node's own name exactly when another was asked for. */
static void expect_opened(const struct run *r, const char *asked, const char *name)
{
    bool same = strcmp(asked, name) == 0 || !strchr(asked, '@');
    if (r->exit_code != 0)
        fail_msg("%s: exit code %d: %.2000s", asked, r->exit_code, r->err);
    if (same != run_is_quiet(r) || (!same && !strstr(r->err, "calls itself")))
        fail_msg("%s, which is %s: %.2000s", asked, name, r->err);
}

static void test_spellings(void **state)
{
    struct target *t = *state;
    struct target s = {.epmd_port = t->epmd_port};
    char names[4][300];
    start_target(&s, "short", false);
    snprintf(names[0], sizeof names[0], "%s", s.node.name);
    snprintf(names[1], sizeof names[1], "short");
    snprintf(names[2], sizeof names[2], "short@localhost");
    snprintf(names[3], sizeof names[3], "short@127.0.0.1");
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        struct run r;
        run_program(&r, NULL, "schedulers %s --cookie " COOKIE " --epmd-port %u -i 0.25", names[i],
                    t->epmd_port);
        expect_opened(&r, names[i], s.node.name);
        run_clear(&r);
    }
    node_stop(&s.node);
    static const char *const others[] = {"exits", "exits@localhost"};
    for (size_t i = 0; i < ARRAY_LEN(others); i++) {
        struct run r;
        run_program(&r, NULL, "schedulers %s --cookie " COOKIE " --epmd-port %u -i 0.25", others[i],
                    t->epmd_port);
        expect_opened(&r, others[i], t->node.name);
        run_clear(&r);
    }
}

/* As many at once as there are names of ours: each is an atom there from now on. */
static void use_all_names(struct target *t)
{
    struct run runs[LIMIT_NAME_POOL];
    node_await_alone(&t->node);
    for (size_t k = 0; k < ARRAY_LEN(runs); k++) {
        run_start(&runs[k], NULL,
                  "top exits@127.0.0.1 -n 0 -i 1 --format json --cookie " COOKIE PATIENT
                  "--epmd-port %u",
                  t->epmd_port);
        assert_int_equal(run_line(&runs[k], 60000), 0);
    }
    for (size_t k = 0; k < ARRAY_LEN(runs); k++)
        run_clear(&runs[k]);
    node_await_alone(&t->node);
}

static void connect_often(struct target *t, int round)
{
    for (int i = 0; i < ROUNDS; i++) {
        struct run runs[AT_ONCE];
        for (size_t k = 0; k < ARRAY_LEN(runs); k++)
            run_start(&runs[k], NULL,
                      "process exits@127.0.0.1 gone%d_%d_%zu --cookie " COOKIE PATIENT
                      "--epmd-port %u",
                      round, i, k, t->epmd_port);
        for (size_t k = 0; k < ARRAY_LEN(runs); k++) {
            run_wait(&runs[k], 60000);
            run_expect_error(&runs[k], 1, "no such process");
            run_clear(&runs[k]);
        }
        node_await_alone(&t->node);
    }
}

/* Atoms live as long as the node: after the first connects no other adds any. The node may load a
   module of its own meanwhile, once: atoms of ours would come each time. */
static void test_atoms(void **state)
{
    struct target *t = *state;
    char before[64] = "", now[64] = "";
    uint64_t start_ns = clock_mono_ns();
    struct run first;
    run_program(&first, NULL,
                "process exits@127.0.0.1 gone --cookie " COOKIE PATIENT "--epmd-port %u",
                t->epmd_port);
    run_expect_error(&first, 1, "no such process");
    run_clear(&first);
    use_all_names(t);
    for (int round = 0; round < 3 && (round == 0 || strcmp(now, before) != 0); round++) {
        node_eval(&t->node, "erlang:system_info(atom_count).", before, sizeof before);
        connect_often(t, round);
        node_eval(&t->node, "erlang:system_info(atom_count).", now, sizeof now);
    }
    print_message("%d connects in %u ms\n", ROUNDS * AT_ONCE,
                  (unsigned)((clock_mono_ns() - start_ns) / 1000000u));
    assert_string_equal(now, before);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_usage),
        cmocka_unit_test(test_no_connection),
        cmocka_unit_test(test_failed),
        cmocka_unit_test(test_no_file),
        cmocka_unit_test(test_lost),
        cmocka_unit_test(test_cookie_is_hidden),
        cmocka_unit_test(test_cookie_precedence),
        cmocka_unit_test(test_spellings),
        cmocka_unit_test(test_atoms),
    };
    if (!getenv("BEAMTOP") || !node_available(NULL)) {
        puts("1..0 # SKIP needs BEAMTOP (the program) and an Erlang on this machine");
        return 77;
    }
    if (getenv("BEAMTOP_TEST_ONLY"))
        cmocka_set_test_filter(getenv("BEAMTOP_TEST_ONLY"));
    return cmocka_run_group_tests_name("exit", tests, set_up, tear_down);
}
