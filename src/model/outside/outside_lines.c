/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "beamtop/base/attr.h"
#include "beamtop/base/text.h"
#include "beamtop/model/outside.h"

#define BUSY 0.9        /* of a CPU: a scheduler that does nothing else */
#define LACKING 0.3     /* of the time: a scheduler that the host has no CPU for */
#define FULL_SHARE 0.95 /* of a limit: of memory, of descriptors */

const char *outside_state_word(char state)
{
    static const struct {
        char state;
        const char *word;
    } words[] = {{'R', "running"}, {'S', "sleeping"}, {'D', "blocked in the kernel"},
                 {'T', "stopped"}, {'t', "traced"},   {'Z', "ended"},
                 {'X', "ended"},   {'I', "idle"}};
    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        if (words[i].state == state)
            return words[i].word;
    return "unknown";
}

bool outside_thread_counts(const struct outside_thread *t)
{
    return t->is_scheduler || t->cpu >= 0.005 || !strchr("SI?", t->state);
}

/* ---- what the VM does */

static size_t count_threads(const struct outside *o, char state, const struct outside_thread **one)
{
    size_t n = 0;
    for (size_t i = 0; i < o->n_threads; i++)
        if (o->threads[i].state == state) {
            *one = &o->threads[i];
            n++;
        }
    return n;
}

/* busy: that have work all the time, whether or not the host has a CPU for it; lacking: that wait
 * for one. */
static void count_schedulers(const struct outside *o, size_t *all, size_t *busy, size_t *lacking)
{
    *all = *busy = *lacking = 0;
    for (size_t i = 0; i < o->n_threads; i++) {
        const struct outside_thread *t = &o->threads[i];
        *all += t->is_scheduler;
        *busy += t->is_scheduler && t->cpu + t->ready >= BUSY;
        *lacking += t->is_scheduler && t->ready >= LACKING;
    }
}

static void say(struct outside_line *out, enum outside_mark mark, const char *fmt, ...)
    ATTR_PRINTF(3, 4);
static void say(struct outside_line *out, enum outside_mark mark, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    vsnprintf(out->text, sizeof out->text, fmt, args);
    va_end(args);
    out->mark = mark;
}

static void say_next(struct outside_line *out, const char *command, int64_t pid)
{
    snprintf(out->next, sizeof out->next, "%s %lld", command, (long long)pid);
}

/* A number of 0 is that of one in another PID namespace. */
static void put_other(char *out, size_t size, int64_t pid)
{
    if (pid > 0)
        snprintf(out, size, "OS process %lld", (long long)pid);
    else
        snprintf(out, size, "in another PID namespace");
}

static bool is_full(const struct outside *o)
{
    return o->limit_bytes > 0 && (double)o->limit_used_bytes >= FULL_SHARE * (double)o->limit_bytes;
}

static bool knows_descriptors(const struct outside *o)
{
    return o->descriptors > 0 && o->descriptor_limit > 0;
}

static bool lacks_descriptors(const struct outside *o)
{
    return knows_descriptors(o) &&
           (double)o->descriptors >= FULL_SHARE * (double)o->descriptor_limit;
}

/* A node has a socket for others, where its sockets are known. */
static bool is_closed(const struct outside *o)
{
    return o->node[0] != '\0' && o->n_sockets == 0 && o->why_no_sockets[0] == '\0';
}

#define WAITS_FOR_MEMORY "mem_cgroup_oom_synchronize"

static bool waits_for_memory(const struct outside *o)
{
    for (size_t i = 0; i < o->n_threads; i++)
        if (strcmp(o->threads[i].waits_in, WAITS_FOR_MEMORY) == 0)
            return true;
    return false;
}

/* What a thread waits for, by the function of the kernel. */
static const char *waits_for(const char *function)
{
    static const struct {
        const char *function, *words;
    } known[] = {
        {WAITS_FOR_MEMORY, ": its cgroup has no memory left"},
        {"mem_cgroup_handle_over_high", ": its cgroup is above memory.high"},
        {"__mem_cgroup_handle_over_high", ": its cgroup is above memory.high"},
        {"kernel_clone", ": a child that it started by vfork() has not begun its program"},
        {"percpu_rwsem_wait", ": probably a frozen file system"},
        {"request_wait_answer", ": a FUSE file system does not answer"},
        {"fuse_get_req", ": a FUSE file system does not answer"},
        {"rpc_wait_bit_killable", ": an NFS server does not answer"},
        {"io_schedule", ": a disk is slow"},
        {"balance_dirty_pages", ": a disk is slow"},
    };
    for (size_t i = 0; i < ARRAY_LEN(known); i++)
        if (strcmp(function, known[i].function) == 0)
            return known[i].words;
    return "";
}

/* What keeps all of it from running. */
static bool say_held(const struct outside *o, struct outside_line *out)
{
    char since[32], who[48];
    if (o->ended) {
        say(out, OUTSIDE_ALARM, "ended: there is no OS process %lld any more",
            (long long)o->os_pid);
        snprintf(out->next, sizeof out->next, "beamtop nodes");
    } else if (o->late_s > 0) {
        say(out, OUTSIDE_ALARM,
            "unknown: /proc has not answered for %s: its memory or a disk is probably blocked",
            text_duration(since, sizeof since, o->late_s));
    } else if (o->state == 'Z' || o->state == 'X') {
        put_other(who, sizeof who, o->parent);
        say(out, OUTSIDE_ALARM, "zombie: the VM has ended, but its parent (%s) has not noticed",
            who);
        if (o->parent > 0)
            say_next(out, "ps -fp", o->parent);
    } else if (o->state == 'T') {
        say(out, OUTSIDE_ALARM, "stopped by a signal (SIGSTOP or SIGTSTP): nothing in it runs");
        say_next(out, "kill -CONT", o->os_pid);
    } else if (o->state == 't') {
        put_other(who, sizeof who, o->tracer);
        say(out, OUTSIDE_ALARM, "stopped by a debugger (%s): nothing in it runs", who);
        if (o->tracer > 0)
            say_next(out, "ps -fp", o->tracer);
    } else if (o->frozen) {
        say(out, OUTSIDE_ALARM,
            "frozen by its cgroup: nothing in it runs until `docker unpause` or `systemctl thaw`");
        snprintf(out->next, sizeof out->next, "%s", o->thaw);
    } else {
        return false;
    }
    return true;
}

static void say_dumping(const struct outside *o, struct outside_line *out)
{
    char period[32];
    if (o->dump_per_s == 0 && o->dump_regular) {
        say(out, OUTSIDE_ALARM,
            "crashed: its crash dump has not grown for %s: the disk is probably slow or full",
            text_duration(period, sizeof period, o->period_s));
        say_next(out, "beamtop outside", o->os_pid);
    } else if (o->dump_per_s == 0) {
        say(out, OUTSIDE_ALARM,
            "crashed: its crash dump does not grow (a FIFO: its reader is slow, or there is none)");
        say_next(out, "kill -KILL", o->os_pid);
    } else {
        say(out, OUTSIDE_ALARM, "crashed: it writes a crash dump, and ends when that is complete");
    }
}

/* What keeps it from taking connections. */
static bool say_lacking(const struct outside *o, struct outside_line *out)
{
    char open[32], limit[32];
    if (is_full(o) && waits_for_memory(o)) {
        say(out, OUTSIDE_ALARM,
            "memory is at the limit of its cgroup, where the kernel kills nothing: a thread waits "
            "until the limit is raised");
        snprintf(out->next, sizeof out->next, "cat /proc/%lld/cgroup", (long long)o->os_pid);
    } else if (is_full(o)) {
        say(out, OUTSIDE_ALARM,
            "memory is at the limit of its cgroup: the kernel may be busy "
            "reclaiming, or about to kill it");
        say_next(out, "beamtop pstack --all", o->os_pid);
    } else if (lacks_descriptors(o)) {
        say(out, OUTSIDE_ALARM,
            "%s of %s descriptors are open: it probably takes no connection, and opens no file",
            text_integer(open, sizeof open, o->descriptors),
            text_integer(limit, sizeof limit, o->descriptor_limit));
        snprintf(out->next, sizeof out->next, "ls -l /proc/%lld/fd", (long long)o->os_pid);
    } else if (o->tracer > 0) {
        say(out, OUTSIDE_WARN,
            "traced by OS process %lld (strace or a debugger): it stops at each of its events",
            (long long)o->tracer);
        say_next(out, "ps -fp", o->tracer);
    } else {
        return false;
    }
    return true;
}

static void say_running(const struct outside *o, struct outside_line *out)
{
    char cpu[32];
    text_percent(cpu, sizeof cpu, o->cpu);
    if (isnan(o->cpu))
        say(out, OUTSIDE_PLAIN, "%s", outside_state_word(o->state));
    else if (is_closed(o))
        say(out, OUTSIDE_WARN,
            "it takes %s of a CPU, and listens at no port: it starts, or its distribution has "
            "stopped (its log says why)",
            cpu);
    else
        say(out, OUTSIDE_PLAIN, "it runs, and takes %s of a CPU", cpu);
}

void outside_verdict(const struct outside *o, struct outside_line *out)
{
    const struct outside_thread *blocked = NULL;
    size_t schedulers, busy, lacking;
    *out = (struct outside_line){.label = "state"};
    if (say_held(o, out))
        return;
    if (o->dump == OUTSIDE_DUMP_WRITING) {
        say_dumping(o, out);
        return;
    }
    if (say_lacking(o, out))
        return;
    count_schedulers(o, &schedulers, &busy, &lacking);
    const size_t n = count_threads(o, 'D', &blocked);
    if (n > 0)
        say(out, OUTSIDE_WARN, "%zu of %zu threads %s blocked in the kernel%s%s%s", n, o->n_threads,
            n == 1 ? "is" : "are", blocked->waits_in[0] ? ", in " : "", blocked->waits_in,
            waits_for(blocked->waits_in));
    else if (busy > 0)
        say(out, OUTSIDE_WARN, "%zu of %zu schedulers %s busy all the time%s", busy, schedulers,
            busy == 1 ? "is" : "are", lacking > 0 ? ", and the host has no CPU for them" : "");
    else
        say_running(o, out);
    say_next(out, n > 0 || busy == 0 ? "beamtop pstack --all" : "beamtop pstack", o->os_pid);
}

/* ---- the other lines */

static struct outside_line cpu_line(const struct outside *o)
{
    struct outside_line out = {.label = "CPU"};
    char all[32], kernel[32], period[32], up[32];
    if (isnan(o->cpu))
        say(&out, OUTSIDE_DIM, "unknown");
    else
        say(&out, OUTSIDE_PLAIN, "%s of a CPU, %s in the kernel, over %s; up %s",
            text_percent(all, sizeof all, o->cpu), text_percent(kernel, sizeof kernel, o->kernel),
            text_duration(period, sizeof period, o->period_s),
            text_duration(up, sizeof up, floor(o->uptime_s)));
    return out;
}

static struct outside_line memory_line(const struct outside *o)
{
    struct outside_line out = {.label = "memory"};
    char resident[32], peak[32], swap[32];
    if (o->resident_bytes < 0) {
        say(&out, OUTSIDE_DIM, "none: the OS process has given it back");
        return out;
    }
    say(&out, OUTSIDE_PLAIN, "%s resident, %s at its peak, %s in swap",
        text_bytes(resident, sizeof resident, (double)o->resident_bytes),
        text_bytes(peak, sizeof peak, o->peak_bytes < 0 ? (double)NAN : (double)o->peak_bytes),
        text_bytes(swap, sizeof swap, o->swap_bytes < 0 ? (double)NAN : (double)o->swap_bytes));
    return out;
}

static struct outside_line limit_line(const struct outside *o)
{
    struct outside_line out = {.label = "limit"};
    char used[32], limit[32], share[32];
    if (o->limit_bytes < 0)
        say(&out, OUTSIDE_DIM, "no memory limit of a cgroup was found");
    else
        say(&out, is_full(o) ? OUTSIDE_ALARM : OUTSIDE_PLAIN, "%s of %s (%s) in its cgroup",
            text_bytes(used, sizeof used, (double)o->limit_used_bytes),
            text_bytes(limit, sizeof limit, (double)o->limit_bytes),
            text_percent(share, sizeof share,
                         (double)o->limit_used_bytes / (double)o->limit_bytes));
    return out;
}

static struct outside_line dump_line(const struct outside *o)
{
    struct outside_line out = {.label = "crash dump"};
    char size[32], rate[32];
    if (o->dump == OUTSIDE_DUMP_UNKNOWN) {
        say(&out, OUTSIDE_DIM, "unknown: %s", o->why_no_sockets);
    } else if (o->dump == OUTSIDE_DUMP_NONE) {
        say(&out, OUTSIDE_DIM, "none is being written");
    } else if (o->dump_regular) {
        say(&out, OUTSIDE_WARN, "%s so far, growing by %s per second: %s",
            text_bytes(size, sizeof size, (double)o->dump_bytes),
            text_bytes(rate, sizeof rate, o->dump_per_s), o->dump_path);
    } else {
        say(&out, OUTSIDE_WARN, "into a FIFO, %s per second: %s",
            text_bytes(rate, sizeof rate, o->dump_per_s), o->dump_path);
    }
    return out;
}

static struct outside_line sockets_line(const struct outside *o)
{
    struct outside_line out = {.label = "listens at"};
    size_t used = 0;
    if (o->why_no_sockets[0] != '\0') {
        say(&out, OUTSIDE_DIM, "unknown: %s", o->why_no_sockets);
        return out;
    }
    if (o->n_sockets == 0)
        say(&out, OUTSIDE_WARN, "nothing: no node can connect to it");
    for (size_t i = 0; i < o->n_sockets && used + 60 < sizeof out.text; i++)
        used += (size_t)snprintf(out.text + used, sizeof out.text - used,
                                 strchr(o->sockets[i].address, ':') ? "%s[%s]:%lld" : "%s%s:%lld",
                                 i > 0 ? ", " : "", o->sockets[i].address,
                                 (long long)o->sockets[i].port);
    return out;
}

static struct outside_line descriptors_line(const struct outside *o)
{
    struct outside_line out = {.label = "descriptors"};
    char open[32], limit[32];
    say(&out, lacks_descriptors(o) ? OUTSIDE_ALARM : OUTSIDE_PLAIN, "%s of %s are open",
        text_integer(open, sizeof open, o->descriptors),
        text_integer(limit, sizeof limit, o->descriptor_limit));
    return out;
}

static struct outside_line threads_line(const struct outside *o)
{
    struct outside_line out = {.label = "threads"};
    say(&out, OUTSIDE_WARN, "%zu of %zu were read in time, schedulers before others", o->n_threads,
        o->n_threads + o->threads_left);
    return out;
}

static struct outside_line stacks_line(const struct outside *o)
{
    struct outside_line out = {.label = "stacks"};
    if (o->why_no_stacks[0] != '\0')
        say(&out, OUTSIDE_DIM, "unknown: %s", o->why_no_stacks);
    else if (o->n_stacks == 0)
        say(&out, OUTSIDE_DIM, "no %s ran in that time",
            o->only_schedulers ? "scheduler" : "thread");
    else
        say(&out, OUTSIDE_PLAIN, "%zu thread%s ran%s", o->n_stacks, o->n_stacks == 1 ? "" : "s",
            o->only_schedulers ? "; of so many threads only schedulers are sampled" : "");
    return out;
}

size_t outside_lines(const struct outside *o, struct outside_line out[OUTSIDE_LINES])
{
    size_t n = 0;
    outside_verdict(o, &out[n++]);
    if (o->ended || o->state == '?') /* it was not read yet */
        return n;
    out[n++] = cpu_line(o);
    out[n++] = memory_line(o);
    out[n++] = limit_line(o);
    out[n++] = dump_line(o);
    out[n++] = sockets_line(o);
    if (knows_descriptors(o))
        out[n++] = descriptors_line(o);
    out[n++] = stacks_line(o);
    if (o->threads_left > 0)
        out[n++] = threads_line(o);
    return n;
}
