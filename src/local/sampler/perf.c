/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "perf.h"

#include <assert.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "beamtop/base/alloc.h"
#include "beamtop/base/attr.h"

/* A sample is 8.4 KiB: a ring holds seven, and is drained at each. More pages are refused to users
 * (perf_event_mlock_kb). */
enum { RING_PAGES = 16 };

/* What an errno of perf_event_open means, and what lifts it. */
static const char *explain_errno(int errnum)
{
    switch (errnum) {
    case EACCES:
    case EPERM:
        return "the kernel refuses it (kernel.perf_event_paranoid, or a container's seccomp): run "
               "beamtop as root or with CAP_PERFMON, or on the host";
    case EMFILE:
        return "too many open files for each thread on each CPU: raise the limit (ulimit -n), or "
               "sample fewer threads";
    case ENOENT:
    case EOPNOTSUPP:
    case ENOSYS:
        return "this kernel has no CPU clock events";
    case EINVAL:
        return "the kernel takes fewer samples a second (kernel.perf_event_max_sample_rate): lower "
               "--hz";
    default:
        return "";
    }
}

/* An event of that thread on the CPU of the ring; -1 with errno. */
static int open_perf_event(const struct perf_ring *r, struct perf_event_attr *a, pid_t tid)
{
    a->size = sizeof *a;
    a->type = PERF_TYPE_SOFTWARE;
    a->exclude_kernel = a->exclude_hv = a->use_clockid = 1;
    a->wakeup_events = 1;
    a->clockid = CLOCK_MONOTONIC;
    return (int)syscall(SYS_perf_event_open, a, tid, r->cpu, -1, PERF_FLAG_FD_CLOEXEC);
}

static int fail_perf_open(int why, struct error *err)
{
    return error_set_errno(err, why, "no samples: %s; perf_event_open", explain_errno(why));
}

void perf_ring_init(struct perf_ring *r, int cpu)
{
    *r = (struct perf_ring){.cpu = cpu, .first = -1};
}

void perf_ring_close(struct perf_ring *r)
{
    if (r->mapped)
        munmap(r->mapped, r->size + (size_t)sysconf(_SC_PAGESIZE));
    if (r->first >= 0)
        close(r->first);
    for (size_t i = 0; i < r->n_events; i++)
        close(r->events[i]);
    free(r->events);
    free(r->record);
    perf_ring_init(r, r->cpu);
}

/* The ring is that of an event of our own thread, which counts nothing: it stays when threads of
 * the VM end, whose events would wake a reader for ever. 1: there is no such CPU now. */
static int open_ring(struct perf_ring *r, struct error *err)
{
    struct perf_event_attr a = {.config = PERF_COUNT_SW_DUMMY};
    const int fd = open_perf_event(r, &a, 0);
    if (fd < 0)
        return errno == ENODEV ? 1 : fail_perf_open(errno, err);
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    void *mapped = mmap(NULL, (RING_PAGES + 1) * page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (mapped == MAP_FAILED) {
        error_set_errno(err, errno,
                        "no memory for samples (kernel.perf_event_mlock_kb, ulimit -l)");
        close(fd);
        return err->code;
    }
    r->mapped = mapped;
    r->size = RING_PAGES * page;
    r->first = fd;
    r->record = alloc_zero(r->size, 1);
    return 0;
}

int perf_ring_add(struct perf_ring *r, pid_t tid, unsigned hz, struct error *err)
{
    const struct machine *machine = machine_of_host();
    if (!machine)
        return error_set(err, ERR_REFUSED,
                         "no samples: they are taken only on x86-64 and aarch64, and this beamtop "
                         "is for another architecture");
    struct perf_event_attr a = {
        .config = PERF_COUNT_SW_CPU_CLOCK,
        .freq = 1,
        .sample_freq = hz,
        .sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU |
                       PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER,
        .sample_regs_user = machine->perf_registers,
        .sample_stack_user = PERF_STACK_BYTES,
        .disabled = 1,
    };
    const int opened = r->first < 0 ? open_ring(r, err) : 0;
    if (opened != 0)
        return opened < 0 ? opened : 0;
    const int fd = open_perf_event(r, &a, tid);
    if (fd < 0 && errno == ESRCH)
        return error_set(err, ERR_NOT_FOUND, "thread %d is gone", (int)tid);
    if (fd < 0)
        return fail_perf_open(errno, err);
    if (ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, r->first) != 0) {
        error_set_errno(err, errno, "samples of two threads in one ring");
        close(fd);
        return err->code;
    }
    r->events = alloc_grow(r->events, r->n_events, sizeof *r->events);
    r->events[r->n_events++] = fd;
    if (r->runs)
        ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
    return 0;
}

void perf_ring_drop(struct perf_ring *r)
{
    if (r->n_events > 0)
        close(r->events[--r->n_events]);
}

void perf_ring_start(struct perf_ring *r)
{
    r->runs = true;
    for (size_t i = 0; i < r->n_events; i++)
        ioctl(r->events[i], PERF_EVENT_IOC_ENABLE, 0);
}

bool perf_ring_wait(const struct perf_ring *r, int end_fd)
{
    struct pollfd p[] = {{.fd = r->first, .events = POLLIN}, {.fd = end_fd, .events = POLLIN}};
    while (poll(p, ARRAY_LEN(p), -1) < 0 && errno == EINTR)
        continue;
    return p[1].revents == 0;
}

/* Takes a field off a record; false: it is shorter. */
static bool take_field(const uint8_t **at, size_t *left, void *out, size_t len)
{
    if (*left < len)
        return false;
    memcpy(out, *at, len);
    *at += len;
    *left -= len;
    return true;
}

static bool read_sample(const uint8_t *at, size_t left, struct perf_sample *out)
{
    uint32_t ids[2], cpu[2];
    uint64_t abi = 0, size = 0, used = 0;
    if (!take_field(&at, &left, ids, sizeof ids) ||
        !take_field(&at, &left, &out->mono_ns, sizeof out->mono_ns) ||
        !take_field(&at, &left, cpu, sizeof cpu) || !take_field(&at, &left, &abi, sizeof abi))
        return false;
    out->tid = (pid_t)ids[1];
    out->cpu = cpu[0];
    const struct machine *machine = machine_of_host();
    for (size_t i = 0; abi != 0 && i < machine->n_registers; i++) {
        const uint8_t number = machine->perf_order[i];
        if (!take_field(&at, &left, &out->registers.value[number], sizeof(uint64_t)))
            return false;
        out->registers.known |= UINT64_C(1) << number;
    }
    if (!take_field(&at, &left, &size, sizeof size) || size > left)
        return false;
    if (size == 0)
        return true;
    out->stack = at;
    at += size;
    left -= size;
    if (!take_field(&at, &left, &used, sizeof used))
        return false;
    out->stack_len = used <= size ? (size_t)used : 0;
    return true;
}

/* Copies the next record out of the ring, in which it may wrap. */
static bool next_record(struct perf_ring *r, struct perf_event_header *header)
{
    struct perf_event_mmap_page *page = r->mapped;
    const uint8_t *data = (const uint8_t *)r->mapped + sysconf(_SC_PAGESIZE);
    uint64_t head = __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE), tail = page->data_tail;
    if (head == tail)
        return false;
    assert((r->size & (r->size - 1)) == 0);
    for (size_t i = 0; i < sizeof *header; i++)
        ((uint8_t *)header)[i] = data[(tail + i) & (r->size - 1)];
    size_t len = header->size, from = (size_t)tail & (r->size - 1);
    size_t first = len < r->size - from ? len : r->size - from;
    memcpy(r->record, data + from, first);
    memcpy(r->record + first, data, len - first);
    __atomic_store_n(&page->data_tail, tail + (len > sizeof *header ? len : sizeof *header),
                     __ATOMIC_RELEASE);
    return true;
}

bool perf_next(struct perf_ring *r, struct perf_sample *out)
{
    struct perf_event_header header;
    while (r->mapped && next_record(r, &header)) {
        const uint8_t *at = r->record + sizeof header;
        size_t left = header.size > sizeof header ? header.size - sizeof header : 0;
        uint64_t lost[2];
        if (header.type == PERF_RECORD_LOST && take_field(&at, &left, lost, sizeof lost))
            r->lost += lost[1];
        *out = (struct perf_sample){0};
        if (header.type != PERF_RECORD_SAMPLE || !read_sample(at, left, out))
            continue;
        out->lost = r->lost;
        r->lost = 0;
        return true;
    }
    return false;
}
