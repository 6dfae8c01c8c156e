/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "node.h"

#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define START_MS 180000
#define EVAL_MS 120000
#define AWAIT_MS 60000
#define EPMD_TRIES 10
#define EPMD_MS 30000
#define MARK "=> "

/* Reads expressions from stdin, a line each, and prints their values behind a mark. */
static const char loop[] =
    "spawn(fun() -> io:setopts([{encoding,unicode}]), io:format(\"~n=> ~w~n\", [node()]), "
    "(fun F() -> case io:get_line(\"\") of L when is_list(L) -> "
    "V = try {ok, T, _} = erl_scan:string(L), {ok, E} = erl_parse:parse_exprs(T), "
    "{value, R, _} = erl_eval:exprs(E, []), R catch C:X -> {'EXIT', C, X} end, "
    "io:format(\"~n=> ~w~n\", [V]), F(); _ -> halt(0) end end)() end).";

/* So that the log of one that hangs says how far it came. */
__attribute__((constructor)) static void print_each_line(void)
{
    setvbuf(stdout, NULL, _IOLBF, 0);
}

static long long now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (long long)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

bool node_available(const char *root)
{
    static const char *const paths[] = {"/usr/bin/erl", "/usr/local/bin/erl"};
    char path[4096];
    if (root && *root && geteuid() != 0) {
        return false;
    }
    for (size_t i = 0; i < 2; i++) {
        snprintf(path, sizeof path, "%s%s", root ? root : "", paths[i]);
        if (access(path, F_OK) == 0) {
            return true;
        }
    }
    return false;
}

const char *const node_releases[NODE_RELEASES] = {"23", "25", "27", "29"};

static bool is_chosen(const char *release, const char *quick)
{
    const char *chosen = getenv("BEAMTOP_RELEASES"), *check = getenv("BEAMTOP_CHECK");
    if (chosen && *chosen)
        return strstr(chosen, release) != NULL;
    return (check && *check) || strstr(quick, release) != NULL;
}

bool node_is_chosen(const char *release)
{
    return is_chosen(release, "23 29");
}

bool node_is_chosen_once(const char *release)
{
    return is_chosen(release, "25");
}

bool node_has_nothing_to_test(void)
{
    bool nothing = !getenv("BEAMTOP") || !node_available(NULL);
    if (nothing)
        puts("1..0 # SKIP needs BEAMTOP (the program) and an Erlang on this machine");
    return nothing;
}

int node_run_on_releases(const char *group, CMUnitTestFunction test)
{
    struct CMUnitTest tests[NODE_RELEASES];
    char names[NODE_RELEASES][16];
    size_t n = 0;
    if (node_has_nothing_to_test())
        return 0;
    for (size_t i = 0; i < NODE_RELEASES; i++) {
        if (!node_is_chosen(node_releases[i]))
            continue;
        snprintf(names[n], sizeof names[n], "OTP %s", node_releases[i]);
        tests[n] =
            (struct CMUnitTest){names[n], test, NULL, NULL, (void *)(uintptr_t)node_releases[i]};
        n++;
    }
    return _cmocka_run_group_tests(group, tests, n, NULL, NULL);
}

bool node_find_root(const char *release, char *root, size_t size)
{
    const char *cache = getenv("BEAMTOP_CACHE");
    root[0] = '\0';
    if (strcmp(release, "25") != 0)
        snprintf(root, size, "%s/otp-%s", cache ? cache : "/var/cache/beamtop", release);
    if (node_available(root))
        return true;
    print_message("OTP %s is not here\n", release);
    return false;
}

int node_closed_port(uint16_t *port)
{
    struct sockaddr_in sa = {.sin_family = AF_INET};
    socklen_t len = sizeof sa;
    sa.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    bind(fd, (struct sockaddr *)&sa, sizeof sa);
    getsockname(fd, (struct sockaddr *)&sa, &len);
    *port = ntohs(sa.sin_port);
    return fd;
}

static bool listens(uint16_t port)
{
    struct sockaddr_in sa = {.sin_family = AF_INET, .sin_port = htons(port)};
    sa.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    bool ok = connect(fd, (struct sockaddr *)&sa, sizeof sa) == 0;
    close(fd);
    return ok;
}

/* In the child: dies with the test. */
static void follow_parent(pid_t parent)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) {
        _exit(127);
    }
}

static void pause_ms(long ms)
{
    struct timespec t = {ms / 1000, ms % 1000 * 1000000};
    nanosleep(&t, NULL);
}

/* Whether epmd listens; it ends by itself when the port is somebody else's. */
static bool epmd_is_up(pid_t pid, uint16_t port)
{
    for (long long end = now_ms() + EPMD_MS; now_ms() < end; pause_ms(5)) {
        bool up = listens(port);
        if (waitpid(pid, NULL, WNOHANG) == pid) {
            return false;
        }
        if (up) {
            pause_ms(20); /* it looks for another one first, which may be who listens */
            return waitpid(pid, NULL, WNOHANG) == 0;
        }
    }
    node_kill(pid);
    return false;
}

pid_t node_epmd_start(uint16_t *port)
{
    pid_t parent = getpid();
    for (int i = 0; i < EPMD_TRIES; i++) {
        char text[16];
        close(node_closed_port(port)); /* now free, unless somebody else is quicker */
        snprintf(text, sizeof text, "%u", *port);
        pid_t pid = fork();
        if (pid == 0) {
            follow_parent(parent);
            execlp("epmd", "epmd", "-port", text, (char *)NULL);
            _exit(127);
        }
        if (pid > 0 && epmd_is_up(pid, *port)) {
            return pid;
        }
    }
    return 0;
}

void node_kill(pid_t pid)
{
    if (pid > 0) {
        kill(pid, SIGKILL);
        waitpid(pid, NULL, 0);
    }
}

static void run_erl(const struct node_options *o)
{
    char port[16];
    char *args[40];
    size_t n = 0;
    const char *head[] = {"erl",
                          "-noshell",
                          "-start_epmd",
                          "false",
                          o->long_name ? "-name" : "-sname",
                          o->name,
                          "-setcookie",
                          o->cookie ? o->cookie : "secret"};
    snprintf(port, sizeof port, "%u", o->epmd_port);
    setenv("ERL_EPMD_PORT", port, 1);
    setenv("HOME", "/root", 0);
    if (o->root && *o->root && (chroot(o->root) != 0 || chdir("/") != 0)) {
        _exit(126);
    }
    for (size_t i = 0; i < sizeof head / sizeof head[0]; i++) {
        args[n++] = (char *)(uintptr_t)head[i];
    }
    for (size_t i = 0; i < 16 && o->flags[i]; i++) {
        args[n++] = (char *)(uintptr_t)o->flags[i];
    }
    args[n++] = (char *)(uintptr_t) "-eval";
    args[n++] = (char *)(uintptr_t)loop;
    args[n] = NULL;
    execvp("erl", args);
    _exit(127);
}

/* Takes one whole line out of what is pending. */
static bool take_line(struct node *n, char *out, size_t size)
{
    char *nl = memchr(n->pending, '\n', n->pending_len);
    if (!nl) {
        return false;
    }
    size_t len = (size_t)(nl - n->pending);
    size_t copied = len < size - 1 ? len : size - 1;
    memcpy(out, n->pending, copied);
    out[copied] = '\0';
    n->pending_len -= len + 1;
    memmove(n->pending, nl + 1, n->pending_len);
    return true;
}

/* The next marked line, without its mark. */
static int read_value(struct node *n, char *out, size_t size, long long timeout_ms)
{
    char line[sizeof n->pending];
    long long end = now_ms() + timeout_ms;
    for (;;) {
        while (take_line(n, line, sizeof line)) {
            if (strncmp(line, MARK, sizeof MARK - 1) == 0) {
                snprintf(out, size, "%s", line + sizeof MARK - 1);
                return 0;
            }
        }
        if (n->pending_len == sizeof n->pending) {
            n->pending_len = 0; /* one endless line of somebody's log */
        }
        long long left = end - now_ms();
        struct pollfd p = {.fd = n->out, .events = POLLIN};
        if (left <= 0 || poll(&p, 1, (int)left) <= 0) {
            return -1;
        }
        ssize_t got = read(n->out, n->pending + n->pending_len, sizeof n->pending - n->pending_len);
        if (got <= 0) {
            return -1;
        }
        n->pending_len += (size_t)got;
    }
}

int node_start(struct node *n, const struct node_options *o)
{
    int to[2];
    int from[2];
    pid_t parent = getpid();
    *n = (struct node){0};
    if (pipe(to) != 0 || pipe(from) != 0) {
        return -1;
    }
    n->pid = fork();
    if (n->pid == 0) {
        follow_parent(parent);
        dup2(to[0], 0);
        dup2(from[1], 1);
        for (int fd = 3; fd < 256; fd++) {
            close(fd);
        }
        run_erl(o);
    }
    close(to[0]);
    close(from[1]);
    n->in = to[1];
    n->out = from[0];
    if (read_value(n, n->name, sizeof n->name, START_MS) != 0) {
        fprintf(stderr, "node %s did not start\n", o->name);
        node_stop(n);
        return -1;
    }
    size_t len = strlen(n->name);
    if (len >= 2 && n->name[0] == '\'') { /* as an atom is printed */
        memmove(n->name, n->name + 1, len - 2);
        n->name[len - 2] = '\0';
    }
    return 0;
}

int node_ask(struct node *n, const char *expressions)
{
    size_t len = strlen(expressions);
    if (write(n->in, expressions, len) != (ssize_t)len || write(n->in, "\n", 1) != 1) {
        return -1;
    }
    return 0;
}

bool node_has_said(const struct node *n)
{
    struct pollfd p = {.fd = n->out, .events = POLLIN};
    return n->pending_len > 0 || poll(&p, 1, 0) > 0;
}

int node_answer(struct node *n, char *out, size_t size)
{
    return read_value(n, out, size, EVAL_MS);
}

int node_eval(struct node *n, const char *expressions, char *out, size_t size)
{
    return node_ask(n, expressions) == 0 ? node_answer(n, out, size) : -1;
}

void node_expect(struct node *n, const char *expressions, const char *expected)
{
    char value[4096];
    assert_int_equal(node_eval(n, expressions, value, sizeof value), 0);
    assert_string_equal(value, expected);
}

void node_await(struct node *n, const char *expressions, const char *expected)
{
    char value[4096] = "";
    for (long long end = now_ms() + AWAIT_MS;; pause_ms(10)) {
        assert_int_equal(node_eval(n, expressions, value, sizeof value), 0);
        if (strcmp(value, expected) == 0) {
            return;
        }
        if (now_ms() > end) {
            fail_msg("%.1000s stays %.2000s", expressions, value);
        }
    }
}

/* net_kernel's own table has those too that are on their way up or down. */
void node_await_alone(struct node *n)
{
    node_await(n, "{nodes(connected), ets:info(sys_dist, size)}.", "{[],0}");
}

void node_freeze(struct node *n)
{
    int status = 0;
    assert_int_equal(kill(n->pid, SIGSTOP), 0);
    assert_int_equal(waitpid(n->pid, &status, WUNTRACED), n->pid);
    assert_true(WIFSTOPPED(status));
}

void node_thaw(struct node *n)
{
    assert_int_equal(kill(n->pid, SIGCONT), 0);
}

void node_stop(struct node *n)
{
    if (n->pid > 0) {
        node_kill(n->pid);
        close(n->in);
        close(n->out);
        n->pid = 0;
    }
}
