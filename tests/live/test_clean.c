/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * After beamtop has gone, however it went, the target is as it was: no process, flag, monitor,
 * module, atom (after the first connect) or log line of ours. 200 ends at random moments over all
 * releases; in the quick check 46 over two. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "beamtop/base/attr.h"
#include "beamtop/base/clock.h"
#include "beamtop/base/limits.h"
#include "node.h"

#define ROUNDS 15 /* a release: SIGKILL, SIGTERM, SIGINT beside each other */
#define QUICK_ROUNDS 6
#define FROZEN_ENDS 5 /* a release: SIGSTOP until the net tick ends the link, SIGKILL */
#define NET_TICK_S 4
#define ENDS_WITHIN_MS 30000
/* The time in which the target answers us at least once each PAUSE_MS: where the machine stands
   still it does not pass. */
#define CLEAN_WITHIN_MS 5000u
#define PAUSE_MS 10u
/* net_ticktime and a quarter, or the target's own seconds for a handshake, and time for
 * the machine */
#define GIVEN_UP_WITHIN_MS 30000u
#define HOLD_MS 30000u /* until what has ended is forgotten */

/* What must be the same before and after. The process that answers is part of it both times. */
static const char probe[] =
    "{erlang:system_info(process_count), erlang:system_info(atom_count), "
    "length(code:all_loaded()), erlang:statistics(scheduler_wall_time), nodes(connected), "
    "[P || P <- processes(), {monitors, Ms} <- [process_info(P, monitors)], "
    "{process, Q} <- Ms, is_pid(Q), node(Q) =/= node()], "
    "erlang:system_info(system_monitor), erlang:trace_info(new, flags)}.";

static void sleep_ms(unsigned ms)
{
    struct timespec t = {(time_t)(ms / 1000), (long)(ms % 1000) * 1000000};
    nanosleep(&t, NULL);
}

struct target {
    struct node node;
    pid_t epmd;
    uint16_t epmd_port;
    char log[800];
    char before[8192];
    const char *beamtop;
};

/* Starts `beamtop top` on the target. */
static pid_t start_beamtop(const struct target *t, const char *ticks)
{
    char port[16];
    snprintf(port, sizeof port, "%u", t->epmd_port);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid > 0)
        return pid;
    int null = open("/dev/null", O_RDWR);
    dup2(null, 0);
    dup2(null, 1);
    dup2(null, 2);
    execl(t->beamtop, "beamtop", "top", t->node.name, "--cookie", "secret", "--epmd-port", port,
          "--timeout", "30", "-i", "0.25", "--budget", "100", "-n", ticks, "--format", "json",
          (char *)NULL);
    _exit(127);
}

/* What a program does that does not end. */
static void tell_state(pid_t pid)
{
    char command[400];
    snprintf(command, sizeof command,
             "exec >&2; grep -E '^(State|Sig|Shd)' /proc/%ld/status; for t in /proc/%ld/task/*; do "
             "cat \"$t/comm\" \"$t/wchan\"; echo; cat \"$t/syscall\"; done; ls -l /proc/%ld/fd",
             (long)pid, (long)pid, (long)pid);
    if (system(command) != 0)
        print_message("nothing can be said of process %ld\n", (long)pid);
}

/* What the node has of programs that are connected: a question without an answer is seen there. */
static void tell_node(struct target *t)
{
    static const char ours[] =
        "{nodes(hidden), [{P, process_info(P, [initial_call, current_stacktrace, status, messages,"
        " links, reductions])} || P <- processes(), {dictionary, D} <- [process_info(P, "
        "dictionary)],"
        " element(1, proplists:get_value('$initial_call', D, {none})) =:= beamtop]}.";
    static char said[65536];
    if (node_eval(&t->node, ours, said, sizeof said) == 0)
        print_message("the node has: %s\n", said);
}

/* Waits for its end, for which there is such a reason. */
static int wait_for(struct target *t, pid_t pid, const char *why)
{
    int status = 0;
    uint64_t limit = clock_mono_ns() + ENDS_WITHIN_MS * UINT64_C(1000000);
    while (waitpid(pid, &status, WNOHANG) == 0) {
        if (clock_mono_ns() > limit) {
            tell_state(pid);
            tell_node(t);
            kill(pid, SIGKILL);
            fail_msg("a program did not end within %d ms: %s", ENDS_WITHIN_MS, why);
        }
        sleep_ms(2);
    }
    return status;
}

/* Asks until the answer is as before; fails with what differs after the limit. */
static void expect_clean(struct target *t, unsigned within_ms, const char *what)
{
    char now[sizeof t->before];
    for (unsigned waited_ms = 0; waited_ms <= within_ms; waited_ms += PAUSE_MS) {
        assert_int_equal(node_eval(&t->node, probe, now, sizeof now), 0);
        if (strcmp(now, t->before) == 0)
            return;
        sleep_ms(PAUSE_MS);
    }
    fail_msg("%s leaves something\nbefore: %s\nafter:  %s", what, t->before, now);
}

static long log_size(const struct target *t)
{
    struct stat s;
    return stat(t->log, &s) == 0 ? (long)s.st_size : 0;
}

static void begin(struct target *t, const char *release)
{
    static char root[512];
    char handler[512], ticktime[16], seen_from_node[64];
    *t = (struct target){.beamtop = getenv("BEAMTOP")};
    if (!node_find_root(release, root, sizeof root))
        skip();
    snprintf(seen_from_node, sizeof seen_from_node, "/tmp/beamtop-test-clean-%ld.log",
             (long)getpid());
    snprintf(t->log, sizeof t->log, "%s%s", root, seen_from_node);
    unlink(t->log);
    snprintf(handler, sizeof handler, "[{handler,default,logger_std_h,#{config=>#{file=>\"%s\"}}}]",
             seen_from_node);
    snprintf(ticktime, sizeof ticktime, "%d", NET_TICK_S);
    t->epmd = node_epmd_start(&t->epmd_port);
    const struct node_options options = {
        .root = root,
        .name = "clean@127.0.0.1",
        .long_name = true,
        .epmd_port = t->epmd_port,
        .flags = {"-kernel", "logger", handler, "-kernel", "net_ticktime", ticktime},
    };
    assert_int_equal(node_start(&t->node, &options), 0);
}

static void end(struct target *t)
{
    node_stop(&t->node);
    node_kill(t->epmd);
    unlink(t->log);
}

/* Some at once, each at a moment of its own: as they connect, while they are asked, or later. */
static void test_ends(struct target *t)
{
    static const int signals[] = {SIGKILL, SIGTERM, SIGINT};
    pid_t pids[ARRAY_LEN(signals)];
    const char *check = getenv("BEAMTOP_CHECK");
    int rounds = check && *check ? ROUNDS : QUICK_ROUNDS;
    for (int i = 0; i < rounds; i++) {
        unsigned after_ms = 0;
        char what[64];
        for (size_t k = 0; k < ARRAY_LEN(pids); k++)
            pids[k] = start_beamtop(t, "0");
        for (size_t k = 0; k < ARRAY_LEN(pids); k++) {
            unsigned pause_ms = (unsigned)rand() % 300;
            sleep_ms(pause_ms);
            after_ms += pause_ms;
            kill(pids[(k + (size_t)i) % ARRAY_LEN(pids)], signals[k]);
        }
        for (size_t k = 0; k < ARRAY_LEN(pids); k++)
            wait_for(t, pids[k], "a signal");
        snprintf(what, sizeof what, "round %d of signals, %u ms long,", i, after_ms);
        expect_clean(t, CLEAN_WITHIN_MS, what);
    }
}

/* A frozen beamtop holds its connection until the target's own net tick ends it. */
static void test_frozen_ends(struct target *t)
{
    pid_t pids[FROZEN_ENDS];
    for (int i = 0; i < FROZEN_ENDS; i++) {
        pids[i] = start_beamtop(t, "0");
        sleep_ms((unsigned)(100 + rand() % 200));
        kill(pids[i], SIGSTOP);
    }
    expect_clean(t, GIVEN_UP_WITHIN_MS, "SIGSTOP");
    for (int i = 0; i < FROZEN_ENDS; i++) {
        kill(pids[i], SIGKILL);
        wait_for(t, pids[i], "killed while frozen");
    }
}

/* Each name of the pool, so that its atom is there: as many at once as there are. */
static void use_all_names(struct target *t)
{
    pid_t pool[LIMIT_NAME_POOL];
    char connected[16];
    for (size_t i = 0; i < ARRAY_LEN(pool); i++)
        pool[i] = start_beamtop(t, "0");
    snprintf(connected, sizeof connected, "%zu", ARRAY_LEN(pool));
    node_await(&t->node, "length(nodes(hidden)).", connected);
    for (size_t i = 0; i < ARRAY_LEN(pool); i++)
        kill(pool[i], SIGTERM);
    for (size_t i = 0; i < ARRAY_LEN(pool); i++)
        wait_for(t, pool[i], "SIGTERM beside others");
}

/* Nobody is connected, and the same is told twice: nothing of what has ended is on its way out. */
static void note_before(struct target *t)
{
    char again[sizeof t->before];
    uint64_t limit = clock_mono_ns() + HOLD_MS * UINT64_C(1000000);
    node_await_alone(&t->node);
    do {
        assert_int_equal(node_eval(&t->node, probe, t->before, sizeof t->before), 0);
        sleep_ms(300);
        assert_int_equal(node_eval(&t->node, probe, again, sizeof again), 0);
    } while (strcmp(again, t->before) != 0 && clock_mono_ns() < limit);
    assert_string_equal(again, t->before);
}

static void test_release(void **state)
{
    struct target t;
    char ignored[64];
    begin(&t, *state);
    /* The first connect costs the atoms of our expressions, names and pool; once. */
    for (int i = 0; i < 2; i++) {
        int status = wait_for(&t, start_beamtop(&t, "2"), "two ticks");
        assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    }
    use_all_names(&t);
    note_before(&t);
    long log_before = log_size(&t);

    test_ends(&t);
    test_frozen_ends(&t);

    assert_int_equal(log_size(&t), log_before);
    /* The log is one that catches lines. */
    node_eval(&t.node, "logger:error(\"control\").", ignored, sizeof ignored);
    for (int i = 0; i < 300 && log_size(&t) <= log_before; i++)
        sleep_ms(100);
    assert_true(log_size(&t) > log_before);
    end(&t);
}

int main(void)
{
    /* What runs in the background ignores it, and a program that has just begun would, too: also in
     * the moment before a child of ours could say otherwise. */
    signal(SIGINT, SIG_DFL);
    unsigned seed = (unsigned)clock_wall_us();
    srand(seed);
    print_message("seed %u\n", seed);
    return node_run_on_releases("clean", test_release);
}
