/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A program in a terminal of its own: when its first totals and its first full screen are there,
 * how long a key takes to show, what it costs its own machine.
 *
 * usage: pty [-k KEYS] [-t SECONDS] [-s PID] [-p PATTERN -w WORD] PROGRAM [ARGUMENT…]
 *   -k  send so many Down and Up keys, one at a time, and wait for the first byte after each
 *   -t  then let it run so long and read its CPU time before and after
 *   -p  trace this, some times one after the other: from Enter until WORD, that only an event has,
 *       is drawn
 *   -s  stop this process (SIGSTOP) after the first screen, let it go on at the end
 *
 * Prints a line "NAME VALUE" for each figure. A screen is full when ten pids of processes are on
 * it. */
#include <errno.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define COLUMNS 120
#define ROWS 40
#define PIDS_OF_A_FULL_SCREEN 10
#define START_LIMIT_MS 20000
#define KEY_LIMIT_MS 1000
#define KEYS_MAX 10000
/* Silence that tells that the last key's drawing is over. */
#define QUIET_MS 25

#define TRACES 9
#define TRACE_LIMIT_MS 5000

struct options {
    int keys;
    const char *pattern, *word;
    int seconds;
    pid_t stop;
};

struct terminal {
    int fd;
    pid_t pid;
    double start_ms;
};

static double now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

/* Bytes read within the time, 0 at its end, -1 when the program has gone. */
static ssize_t read_within(int fd, char *to, size_t size, double ms)
{
    struct pollfd p = {.fd = fd, .events = POLLIN};
    double end = now_ms() + ms;
    for (;;) {
        double left = end - now_ms();
        int n = poll(&p, 1, left > 0 ? (int)(left + 0.999) : 0);
        if (n == 0)
            return 0;
        if (n < 0 && errno == EINTR)
            continue;
        ssize_t got = read(fd, to, size);
        return got > 0 ? got : -1;
    }
}

static bool start(struct terminal *t, char **command)
{
    struct winsize size = {.ws_row = ROWS, .ws_col = COLUMNS};
    t->start_ms = now_ms();
    t->pid = forkpty(&t->fd, NULL, NULL, &size);
    if (t->pid < 0)
        return false;
    if (t->pid == 0) {
        setenv("TERM", "xterm-256color", 1);
        execvp(command[0], command);
        _exit(127);
    }
    return true;
}

/* Counts "<0.DIGIT"; `state` is how much of it the bytes before ended with. */
static int count_pids(const char *bytes, size_t len, int *state)
{
    static const char head[] = "<0.";
    int found = 0;
    for (size_t i = 0; i < len; i++) {
        char c = bytes[i];
        if (*state == 3 && c >= '0' && c <= '9') {
            found++;
            *state = 0;
        } else if (*state < 3 && c == head[*state]) {
            (*state)++;
        } else {
            *state = c == '<';
        }
    }
    return found;
}

/* The unit of a size ("MiB"): the header has its totals. `last` is the byte before these. */
static bool has_unit(const char *bytes, size_t len, char *last)
{
    bool found = false;
    for (size_t i = 0; i < len && !found; i++) {
        found = *last == 'i' && bytes[i] == 'B';
        *last = bytes[i];
    }
    return found;
}

static bool first_screen(struct terminal *t)
{
    char bytes[65536], last = '\0';
    int pids = 0, state = 0;
    bool any = false, totals = false;
    while (now_ms() - t->start_ms < START_LIMIT_MS) {
        ssize_t n = read_within(t->fd, bytes, sizeof bytes, 1000);
        if (n < 0)
            return false;
        if (n > 0 && !any)
            printf("first_byte_ms %.1f\n", now_ms() - t->start_ms);
        any = any || n > 0;
        if (!totals && has_unit(bytes, (size_t)n, &last)) {
            totals = true;
            printf("totals_ms %.1f\n", now_ms() - t->start_ms);
        }
        pids += count_pids(bytes, (size_t)n, &state);
        if (pids >= PIDS_OF_A_FULL_SCREEN) {
            printf("first_screen_ms %.1f\n", now_ms() - t->start_ms);
            return true;
        }
    }
    return false;
}

static void drain(const struct terminal *t, double ms)
{
    char bytes[65536];
    double end = now_ms() + ms;
    while (now_ms() < end && read_within(t->fd, bytes, sizeof bytes, end - now_ms()) > 0)
        continue;
}

/* Reads until nothing has come for a while. */
static void settle(const struct terminal *t)
{
    char bytes[65536];
    while (read_within(t->fd, bytes, sizeof bytes, QUIET_MS) > 0)
        continue;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void press_keys(const struct terminal *t, int keys)
{
    static double took[KEYS_MAX];
    char bytes[65536];
    int count = 0, lost = 0;
    for (int i = 0; i < keys && i < KEYS_MAX; i++) {
        settle(t);
        double at = now_ms();
        if (write(t->fd, i % 2 ? "\033[A" : "\033[B", 3) != 3)
            break;
        if (read_within(t->fd, bytes, sizeof bytes, KEY_LIMIT_MS) > 0)
            took[count++] = now_ms() - at;
        else
            lost++;
    }
    qsort(took, (size_t)count, sizeof *took, compare);
    printf("keys %d\nkeys_lost %d\n", count, lost);
    if (count > 0)
        printf("key_p50_ms %.2f\nkey_p99_ms %.2f\nkey_max_ms %.2f\n", took[count / 2],
               took[count * 99 / 100], took[count - 1]);
}

/* Time until the word is drawn, or -1. A word in two reads is not missed: the end of one
 * is kept. */
static double wait_word(const struct terminal *t, const char *word)
{
    static char bytes[65536];
    size_t kept = 0, len = strlen(word);
    double at = now_ms();
    while (now_ms() - at < TRACE_LIMIT_MS) {
        ssize_t n = read_within(t->fd, bytes + kept, sizeof bytes - kept, 100);
        if (n < 0)
            return -1;
        size_t have = kept + (size_t)n;
        if (memmem(bytes, have, word, len))
            return now_ms() - at;
        kept = have < len ? have : len - 1;
        memmove(bytes, bytes + have - kept, kept);
    }
    return -1;
}

static void press(const struct terminal *t, const char *keys, double then_ms)
{
    if (write(t->fd, keys, strlen(keys)) == (ssize_t)strlen(keys))
        drain(t, then_ms);
}

static void trace(const struct terminal *t, const struct options *o)
{
    double took[TRACES];
    int count = 0;
    for (int i = 0; i < TRACES; i++) {
        press(t, "t", 200);
        press(t, o->pattern, 700); /* what it matches has been told */
        press(t, "\r", 0);
        double ms = wait_word(t, o->word);
        if (ms >= 0)
            took[count++] = ms;
        press(t, "x", 1500); /* its end is verified */
    }
    qsort(took, (size_t)count, sizeof *took, compare);
    printf("traces %d\n", count);
    if (count > 0)
        printf("first_event_p50_ms %.1f\nfirst_event_max_ms %.1f\n", took[count / 2],
               took[count - 1]);
}

/* User and system time of the program, in ms. */
static double cpu_ms(pid_t pid)
{
    char path[64], line[1024];
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    FILE *f = fopen(path, "r");
    unsigned long user = 0, sys = 0;
    if (f && fgets(line, sizeof line, f)) {
        const char *after = strrchr(line, ')');
        if (!after || sscanf(after, ") %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu", &user,
                             &sys) != 2)
            user = sys = 0;
    }
    if (f)
        fclose(f);
    return (double)(user + sys) * 1e3 / (double)sysconf(_SC_CLK_TCK);
}

static void print_memory(pid_t pid)
{
    char path[64], line[256];
    long kib = 0;
    snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
    FILE *f = fopen(path, "r");
    while (f && fgets(line, sizeof line, f))
        if (sscanf(line, "VmHWM: %ld", &kib) == 1)
            printf("peak_kib %ld\n", kib);
        else if (sscanf(line, "VmRSS: %ld", &kib) == 1)
            printf("resident_kib %ld\n", kib);
    if (f)
        fclose(f);
}

static void run_for(const struct terminal *t, int seconds)
{
    double cpu = cpu_ms(t->pid), at = now_ms();
    drain(t, seconds * 1e3);
    printf("cpu_percent %.2f\n", (cpu_ms(t->pid) - cpu) / (now_ms() - at) * 100);
}

static void end(struct terminal *t)
{
    if (write(t->fd, "q", 1) == 1)
        drain(t, 1000);
    kill(t->pid, SIGKILL);
    waitpid(t->pid, NULL, 0);
    close(t->fd);
}

int main(int argc, char **argv)
{
    struct options o = {0};
    struct terminal t = {0};
    int c;
    while ((c = getopt(argc, argv, "+k:t:s:p:w:")) != -1) {
        if (c == 'k')
            o.keys = atoi(optarg);
        else if (c == 't')
            o.seconds = atoi(optarg);
        else if (c == 'p')
            o.pattern = optarg;
        else if (c == 'w')
            o.word = optarg;
        else if (c == 's')
            o.stop = atoi(optarg);
        else
            return 2;
    }
    if (optind >= argc || !start(&t, argv + optind))
        return 2;
    bool ok = first_screen(&t);
    if (ok) {
        drain(&t, 2000);
        if (o.stop > 1)
            kill(o.stop, SIGSTOP);
        if (o.keys > 0)
            press_keys(&t, o.keys);
        if (o.pattern && o.word)
            trace(&t, &o);
        if (o.seconds > 0)
            run_for(&t, o.seconds);
        print_memory(t.pid);
        if (o.stop > 1)
            kill(o.stop, SIGCONT);
    }
    end(&t);
    return ok ? 0 : 1;
}
