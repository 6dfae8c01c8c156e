/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "beamtop/local/sampler.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "beamtop/base/alloc.h"
#include "beamtop/base/attr.h"
#include "beamtop/base/clock.h"
#include "beamtop/base/arena.h"
#include "beamtop/base/files.h"
#include "beamtop/local/images.h"
#include "beamtop/local/records.h"
#include "namer.h"
#include "perf.h"
#include "beamtop/local/rights.h"
#include "stack.h"
#include "beamtop/local/vm.h"
#include "local/image/image_name.h"

enum {
    WAIT_MS = 250,   /* between writes of what was sampled */
    LOOK_MS = 1000,  /* between looks for new threads and code */
    LIST_LOOKS = 10, /* looks after which threads are listed though there are as many as before */
    LIBRARIES_READ = 20, /* times that libraries are read again, 20 ms each */
    CPUS_MAX = 1024,
    SLOW_NAMES = 5, /* that are given up after 10 ms of CPU time each */
};

struct sampler;

struct sampled_thread {
    struct thread thread;
    struct thread_times began; /* when it was added */
};

struct reader {
    struct sampler *sampler;
    struct perf_ring ring;
    pthread_t thread;
    struct stack stack;
    bool runs, pinned, real_time;
};

struct sampler {
    const struct sampler_options *o;
    struct vm *vm;
    struct reader *readers;
    int n_readers;
    struct sampled_thread *threads; /* that were announced, in that order */
    size_t n_threads;
    uint64_t lost;
    pthread_mutex_t lock; /* guards all fields below, and the VM's tables */
    struct namer *namer;
    struct buf out;
    sem_t pinned;   /* one for each reader that runs */
    int ends;       /* an eventfd for the readers */
    nlink_t listed; /* links of /proc/PID/task when threads were listed */
    unsigned looks, libraries_read;
    bool noted_refused, noted_libraries, vm_ended;
    unsigned slow_names; /* slow names still accepted; of the thread that writes */
    int fd, pidfd;       /* output; of the VM, -1: none */
};

/* ---- one sample */

static uint32_t thread_of(const struct sampler *s, pid_t tid)
{
    for (size_t i = 0; i < s->n_threads; i++)
        if (s->threads[i].thread.tid == tid)
            return (uint32_t)i;
    return UINT32_MAX;
}

static void take_perf_sample(struct reader *reader, const struct perf_sample *sample)
{
    struct sampler *s = reader->sampler;
    pthread_mutex_lock(&s->lock);
    const uint32_t thread = thread_of(s, sample->tid);
    s->lost += sample->lost;
    if (s->out.len >= LIMIT_SAMPLER_QUEUE_BYTES)
        s->lost++;
    else if (thread != UINT32_MAX) {
        const enum thread_kind kind = s->threads[thread].thread.kind;
        const struct stack_world w = {machine_of_host(), vm_jit(s->vm), vm_images(s->vm),
                                      vm_memory(s->vm)};
        stack_of(&reader->stack, &w, sample, kind == THREAD_SCHEDULER,
                 kind == THREAD_DIRTY_CPU || kind == THREAD_DIRTY_IO);
        struct sample named = {.mono_ns = sample->mono_ns,
                               .tid = sample->tid,
                               .cpu = (int32_t)sample->cpu,
                               .thread = thread};
        namer_sample(s->namer, s->vm, &reader->stack, &named, &s->out);
    }
    pthread_mutex_unlock(&s->lock);
}

/* ---- readers */

/* Sets whether this thread runs before all others on its CPU. */
static bool run_first(bool yes)
{
    const struct sched_param param = {.sched_priority = yes ? 1 : 0};
    return pthread_setschedparam(pthread_self(), yes ? SCHED_FIFO : SCHED_OTHER, &param) == 0;
}

static void pin_reader(struct reader *r)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET((size_t)r->ring.cpu, &set);
    r->pinned = pthread_setaffinity_np(pthread_self(), sizeof set, &set) == 0;
    r->real_time = run_first(true) || sched_getscheduler(0) == SCHED_FIFO;
}

static void *read_ring(void *arg)
{
    struct reader *r = arg;
    struct perf_sample sample;
    while (perf_ring_wait(&r->ring, r->sampler->ends))
        while (perf_next(&r->ring, &sample))
            take_perf_sample(r, &sample);
    return NULL;
}

/* Begins pinned and, where it is allowed, before all others on its CPU. */
static void *reader_begins(void *arg)
{
    struct reader *r = arg;
    pin_reader(r);
    sem_post(&r->sampler->pinned);
    pthread_mutex_lock(&r->sampler->lock); /* held until all is set up */
    perf_ring_start(&r->ring);
    pthread_mutex_unlock(&r->sampler->lock);
    return read_ring(r);
}

/* ---- threads of the VM */

static bool is_wanted_thread(const struct sampler_options *o, const struct thread *t)
{
    if (o->tid > 0)
        return t->tid == o->tid;
    return (o->kinds == 0 || o->kinds & (1u << t->kind)) &&
           (o->number == 0 || t->number == o->number);
}

static int add_thread(struct sampler *s, const struct thread *t, struct error *err)
{
    for (int i = 0; i < s->n_readers; i++)
        if (perf_ring_add(&s->readers[i].ring, t->tid, s->o->hz, err) != 0) {
            while (i-- > 0)
                perf_ring_drop(&s->readers[i].ring);
            return err->code;
        }
    s->threads = alloc_resize(s->threads, s->n_threads + 1, sizeof *s->threads);
    struct sampled_thread *added = s->threads + s->n_threads++;
    added->thread = *t;
    thread_times_read(&added->began, s->o->pid, t->tid); /* zero where it cannot be read */
    record_put_thread(&s->out, t);
    return 0;
}

/* A directory has a link for each thread, so that counting them is one call. */
static bool threads_changed(struct sampler *s)
{
    char path[48];
    struct stat st;
    snprintf(path, sizeof path, "/proc/%d/task", (int)s->o->pid);
    if (stat(path, &st) != 0 || (st.st_nlink == s->listed && s->looks++ % LIST_LOOKS != 0))
        return false;
    s->listed = st.st_nlink;
    return true;
}

static int no_such_thread(const struct sampler_options *o, struct error *err)
{
    if (o->tid > 0)
        return error_set(err, ERR_NOT_FOUND,
                         "the VM has no thread %d: `beamtop sample %d` lists those that ran, by "
                         "kind and number",
                         (int)o->tid, (int)o->pid);
    if (o->number > 0)
        return error_set(err, ERR_NOT_FOUND, "the VM has no scheduler %u", o->number);
    return error_set(err, ERR_NOT_FOUND, "the VM has no thread of that kind");
}

/* Adds the threads that are not known yet. Those that a limit refuses are noted once. */
static int add_threads(struct sampler *s, struct error *err)
{
    struct thread *all = NULL;
    size_t n = 0, refused = 0;
    struct error first = {0};
    if (threads_list(&all, &n, s->o->pid, err) != 0)
        return err->code;
    for (size_t i = 0; i < n && s->n_threads < LIMIT_THREADS; i++) {
        struct error why = {0};
        if (!is_wanted_thread(s->o, all + i) || thread_of(s, all[i].tid) != UINT32_MAX)
            continue;
        if (add_thread(s, all + i, &why) != 0 && why.code != ERR_NOT_FOUND && refused++ == 0)
            first = why;
    }
    free(all);
    if (s->n_threads == 0)
        return first.code ? error_set(err, first.code, "%s", first.text)
                          : no_such_thread(s->o, err);
    if (refused > 0 && !s->noted_refused) {
        s->noted_refused = true;
        char text[sizeof first.text + 64];
        snprintf(text, sizeof text, "%zu threads are not sampled: %s", refused, first.text);
        record_put_note(&s->out, text);
    }
    return 0;
}

/* ---- its life */

struct naming {
    struct arena names; /* of one write */
    unsigned *slow;
};

static struct slice demangle_symbol(void *arg, struct slice name)
{
    struct naming *n = arg;
    return image_demangle(&n->names, arena_strndup(&n->names, name.s, name.len), n->slow);
}

/* Outside the lock: however long a name takes, the readers read on. */
static void take_out_records(struct sampler *s, struct buf *out)
{
    struct naming naming = {.slow = &s->slow_names};
    pthread_mutex_lock(&s->lock);
    struct buf records = s->out;
    buf_init(&s->out, 0);
    pthread_mutex_unlock(&s->lock);
    arena_init(&naming.names);
    buf_init(out, 0);
    record_put_renamed(out, &records, demangle_symbol, &naming);
    arena_clear(&naming.names);
    buf_clear(&records);
}

static bool write_records(struct sampler *s)
{
    struct buf out;
    take_out_records(s, &out);
    size_t at = 0;
    while (at < out.len) {
        ssize_t n = write(s->fd, out.data + at, out.len - at);
        if (n < 0 && errno != EINTR)
            break;
        at += n > 0 ? (size_t)n : 0;
    }
    bool whole = at == out.len;
    buf_clear(&out);
    return whole;
}

/* True when the parent has gone or asks for the end, or the VM has ended. */
static bool is_over(struct sampler *s, int ms)
{
    struct pollfd p[] = {{.fd = STDIN_FILENO, .events = POLLIN},
                         {.fd = s->pidfd, .events = POLLIN}};
    char c;
    if (poll(p, ARRAY_LEN(p), ms) <= 0)
        return false;
    if (p[1].revents != 0) {
        pthread_mutex_lock(&s->lock);
        record_put_note(&s->out, "the VM has ended");
        s->vm_ended = true;
        pthread_mutex_unlock(&s->lock);
        return true;
    }
    return p[0].revents != 0 && read(STDIN_FILENO, &c, 1) <= 0;
}

static uint64_t own_cpu_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_nsec / 1000;
}

/* Reads the list of compiled code again where it has changed: outside the lock, 2 ms. */
static void refresh_code(struct sampler *s)
{
    struct jit *now = NULL;
    if (!vm_read_again(s->vm, &now))
        return;
    pthread_mutex_lock(&s->lock);
    struct jit *before = vm_exchange(s->vm, now);
    namer_forget(s->namer);
    pthread_mutex_unlock(&s->lock);
    jit_free(before);
}

/* After a sample in code of a file that is not known: reads the files that are mapped now, outside
 * the lock. Only the user of the VM may open them by now. */
static void read_libraries(struct sampler *s)
{
    struct images *now = NULL;
    struct error err = {0};
    if (s->noted_libraries || !images_changed(vm_images(s->vm)))
        return;
    if (s->libraries_read++ < LIBRARIES_READ && images_open(&now, s->o->pid, &err) == 0) {
        images_parse(now, vm_memory(s->vm));
        pthread_mutex_lock(&s->lock);
        now = vm_exchange_images(s->vm, now);
        namer_forget(s->namer);
        pthread_mutex_unlock(&s->lock);
    } else {
        s->noted_libraries = true;
        pthread_mutex_lock(&s->lock);
        record_put_note(&s->out, "libraries were loaded since the start: sample again to see "
                                 "names in them");
        pthread_mutex_unlock(&s->lock);
    }
    images_free(now);
}

/* Once a second: threads, libraries and code that are new. */
static void look_for_new(struct sampler *s)
{
    struct error err = {0};
    pthread_mutex_lock(&s->lock);
    if (threads_changed(s))
        add_threads(s, &err);
    const bool unknown = namer_met_unknown(s->namer);
    pthread_mutex_unlock(&s->lock);
    if (unknown)
        read_libraries(s);
    refresh_code(s);
}

/* Milliseconds until the end or the next look, the sooner. */
static int wait_ms(uint64_t ends)
{
    const uint64_t now = clock_mono_ns(), left = now < ends ? (ends - now) / 1000000 + 1 : 0;
    return left < WAIT_MS ? (int)left : WAIT_MS;
}

static void run_sampler(struct sampler *s)
{
    const uint64_t began = clock_mono_ns();
    const uint64_t ends = s->o->for_s > 0 ? began + (uint64_t)(s->o->for_s * 1e9) : UINT64_MAX;
    uint64_t looked = began;
    while (!is_over(s, wait_ms(ends))) {
        const uint64_t now = clock_mono_ns();
        if (now >= ends)
            break;
        if (now - looked >= LOOK_MS * UINT64_C(1000000)) {
            looked = now;
            look_for_new(s);
        }
        if (!write_records(s))
            break;
    }
    const uint64_t one = 1;
    if (write(s->ends, &one, sizeof one) < 0)
        return; /* not of an eventfd whose count is 0 */
    for (int i = 0; i < s->n_readers; i++)
        if (s->readers[i].runs)
            pthread_join(s->readers[i].thread, NULL);
    for (int i = 0; i < s->n_readers; i++)
        s->lost += s->readers[i].ring.lost;
    struct record_end end = {
        .lost = s->lost, .cpu_us = own_cpu_us(), .wall_us = (clock_mono_ns() - began) / 1000};
    if (s->vm_ended) /* the CPU times of its threads went with it */
        end.target_us = end.kernel_us = RECORD_UNKNOWN;
    for (size_t i = 0; !s->vm_ended && i < s->n_threads; i++) {
        const struct thread_times *began_at = &s->threads[i].began;
        struct thread_times t;
        if (thread_times_read(&t, s->o->pid, s->threads[i].thread.tid) != 0 ||
            t.cpu_us < began_at->cpu_us || t.kernel_us < began_at->kernel_us)
            continue;
        uint64_t kernel = t.kernel_us - began_at->kernel_us, all = t.cpu_us - began_at->cpu_us;
        end.kernel_us += kernel;
        end.target_us += all > kernel ? all - kernel : 0;
    }
    record_put_end(&s->out, &end);
    write_records(s);
}

static void fill_begin_record(const struct sampler *s, uint64_t began, struct record_begin *out)
{
    vm_describe(s->vm, out);
    out->cpus = (uint32_t)s->n_readers;
    out->threads = (uint32_t)s->n_threads;
    out->pinned = out->real_time = true;
    for (int i = 0; i < s->n_readers; i++) {
        out->pinned &= s->readers[i].pinned;
        out->real_time &= s->readers[i].real_time;
    }
    out->setup_us = (clock_mono_ns() - began) / 1000;
}

/* Threads can take all descriptors: leaves some for files that are opened after them. */
#define SPARE_FILES 16
static int add_threads_with_spare(struct sampler *s, struct error *err)
{
    int spare[SPARE_FILES];
    for (size_t i = 0; i < ARRAY_LEN(spare); i++)
        spare[i] = dup(STDIN_FILENO);
    int rc = add_threads(s, err);
    for (size_t i = 0; i < ARRAY_LEN(spare); i++)
        if (spare[i] >= 0)
            close(spare[i]);
    return rc;
}

/* A failure comes before any reader runs. */
static int begin_sampling(struct sampler *s, struct error *err)
{
    const uint64_t began = clock_mono_ns();
    long cpus = sysconf(_SC_NPROCESSORS_CONF);
    s->n_readers = cpus < 1 ? 1 : cpus > CPUS_MAX ? CPUS_MAX : (int)cpus;
    s->readers = alloc_zero((size_t)s->n_readers, sizeof *s->readers);
    for (int i = 0; i < s->n_readers; i++) {
        perf_ring_init(&s->readers[i].ring, i);
        s->readers[i].sampler = s;
    }
    struct rights_user user;
    files_raise(ULONG_MAX); /* one for each thread on each CPU */
    if (rights_read(&user, s->o->pid, err) != 0 || vm_open(&s->vm, s->o->pid, err) != 0 ||
        add_threads_with_spare(s, err) != 0)
        return err->code;
    /* Readers inherit this thread's priority, which the user may not be permitted to set. */
    run_first(true);
    if (rights_become(&user, s->o->pid, err) != 0)
        return err->code;
    struct buf threads = s->out; /* put behind RECORD_BEGIN */
    buf_init(&s->out, 0);
    for (int i = 0; i < s->n_readers; i++)
        s->readers[i].runs =
            pthread_create(&s->readers[i].thread, NULL, reader_begins, s->readers + i) == 0;
    run_first(false);
    for (int i = 0; i < s->n_readers; i++)
        while (s->readers[i].runs && sem_wait(&s->pinned) != 0)
            continue;
    vm_parse(s->vm);
    struct record_begin b = {0};
    fill_begin_record(s, began, &b);
    record_put_begin(&s->out, &b);
    buf_put(&s->out, threads.data, threads.len);
    if (b.functions == 0)
        record_put_note(&s->out, vm_why_no_code(s->vm));
    if (machine_of_host()->doubt)
        record_put_note(&s->out, machine_of_host()->doubt);
    buf_clear(&threads);
    return 0;
}

int sampler_run(const struct sampler_options *o, int out_fd)
{
    struct sampler s = {
        .o = o, .fd = out_fd, .slow_names = SLOW_NAMES, .lock = PTHREAD_MUTEX_INITIALIZER};
    struct error err = {0};
    signal(SIGPIPE, SIG_IGN);
    signal(SIGINT, SIG_IGN); /* from the terminal: the parent ends the sampler by its input */
    signal(SIGHUP, SIG_IGN);
    signal(SIGTERM, SIG_IGN); /* of the process group, or of a service manager */
    s.pidfd = (int)syscall(SYS_pidfd_open, o->pid, 0);
    s.ends = eventfd(0, EFD_CLOEXEC);
    s.namer = namer_new(o->lines, o->addresses);
    buf_init(&s.out, 0);
    sem_init(&s.pinned, 0, 0);
    pthread_mutex_lock(&s.lock);
    if (s.ends < 0)
        error_set_errno(&err, errno, "no descriptor to end the readers by");
    const bool begun = s.ends >= 0 && begin_sampling(&s, &err) == 0;
    pthread_mutex_unlock(&s.lock);
    if (begun) {
        run_sampler(&s);
    } else {
        buf_reset(&s.out);
        record_put_failed(&s.out, &err);
        write_records(&s);
    }
    for (int i = 0; i < s.n_readers; i++)
        perf_ring_close(&s.readers[i].ring);
    free(s.readers);
    free(s.threads);
    buf_clear(&s.out);
    namer_free(s.namer);
    vm_close(s.vm);
    if (s.pidfd >= 0)
        close(s.pidfd);
    if (s.ends >= 0)
        close(s.ends);
    return begun ? 0 : 1;
}
