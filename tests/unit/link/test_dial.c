/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A VM that is meant by its OS pid, where epmd has another process's port for its name. The VM is
 * this process; a child is epmd and that other process. */
#include <arpa/inet.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <uv.h>

#include "../../test.h"
#include "beamtop/link/conn.h"
#include "beamtop/link/epmd.h"

#define BOUND_MS 120000

static int listen_somewhere(uint16_t *port)
{
    struct sockaddr_in in = {.sin_family = AF_INET};
    socklen_t len = sizeof in;
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    assert_int_equal(bind(fd, (const struct sockaddr *)&in, sizeof in), 0);
    assert_int_equal(listen(fd, 16), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&in, &len), 0);
    *port = ntohs(in.sin_port);
    return fd;
}

struct other {
    pid_t pid;
    int visits; /* a byte for each connection to it */
    uint16_t epmd_port;
};

static void answer_as_epmd(int fd, uint16_t port)
{
    char asked[256];
    const char answer[] = {
        'w', 0, (char)(port >> 8), (char)(port & 255), 'M', 0, 0, 5, 0, 5, 0, 1, 'n', 0, 0};
    if (read(fd, asked, sizeof asked) > 0 && write(fd, answer, sizeof answer) < 0)
        _exit(1);
}

static _Noreturn void be_another(int out, uint16_t vm_port, bool is_honest)
{
    uint16_t ports[2];
    struct pollfd fds[2];
    for (int i = 0; i < 2; i++)
        fds[i] = (struct pollfd){.fd = listen_somewhere(&ports[i]), .events = POLLIN};
    if (write(out, &ports[0], sizeof ports[0]) != sizeof ports[0])
        _exit(1);
    while (poll(fds, 2, BOUND_MS) > 0) {
        for (int i = 0; i < 2; i++) {
            const int fd = fds[i].revents != 0 ? accept(fds[i].fd, NULL, NULL) : -1;
            if (fd >= 0 && i == 0)
                answer_as_epmd(fd, is_honest ? vm_port : ports[1]);
            else if (fd >= 0 && write(out, "x", 1) != 1)
                _exit(1);
            if (fd >= 0)
                close(fd);
        }
    }
    _exit(0);
}

static void start_other(struct other *o, uint16_t vm_port, bool is_honest)
{
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    o->pid = fork();
    assert_true(o->pid >= 0);
    if (o->pid == 0)
        be_another(ends[1], vm_port, is_honest);
    close(ends[1]);
    o->visits = ends[0];
    assert_int_equal(read(o->visits, &o->epmd_port, sizeof o->epmd_port), sizeof o->epmd_port);
}

/* How often it was connected to. */
static unsigned end_other(struct other *o)
{
    char byte;
    unsigned n = 0;
    kill(o->pid, SIGKILL);
    assert_int_equal(waitpid(o->pid, NULL, 0), o->pid);
    while (read(o->visits, &byte, 1) == 1)
        n++;
    close(o->visits);
    return n;
}

struct vm {
    uv_poll_t poll;
    int fd;
    unsigned visits;
    bool down;
    enum conn_failure why;
};

static void hang_up(uv_poll_t *poll, int status, int events)
{
    struct vm *vm = poll->data;
    const int fd = accept(vm->fd, NULL, NULL);
    assert_int_equal(status, 0);
    assert_int_equal(events, UV_READABLE);
    vm->visits++;
    close(fd);
}

static void see_down(struct conn *c, void *arg, enum conn_failure why, const struct error *err)
{
    struct vm *vm = arg;
    vm->down = true;
    vm->why = why;
    print_message("# %s\n", err->text);
    conn_close(c, NULL, NULL);
    uv_close((uv_handle_t *)&vm->poll, NULL);
}

static void try_to_connect(struct vm *vm, const struct conn_options *o)
{
    static const struct conn_handlers handlers = {.on_down = see_down};
    uv_loop_t loop;
    struct conn *c;
    struct error err = {0};
    assert_int_equal(uv_loop_init(&loop), 0);
    vm->poll.data = vm;
    assert_int_equal(uv_poll_init(&loop, &vm->poll, vm->fd), 0);
    assert_int_equal(uv_poll_start(&vm->poll, UV_READABLE, hang_up), 0);
    assert_int_equal(conn_open(&c, &loop, o, &handlers, vm, &err), 0);
    uv_run(&loop, UV_RUN_DEFAULT);
    assert_int_equal(uv_loop_close(&loop), 0);
    assert_true(vm->down);
}

TEST(test_a_name_that_another_process_has_in_epmd)
{
    static const struct {
        const char *name;
        bool is_meant, is_honest, knows_port, reaches_vm, reaches_other;
    } cases[] = {
        {"by name", false, false, true, false, true},
        {"by pid", true, false, true, true, false},
        {"by pid, no port of it is known", true, false, false, false, false},
        {"by pid, epmd is right", true, true, false, true, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct vm vm = {0};
        struct other other;
        uint16_t port;
        print_message("# %s\n", cases[i].name);
        vm.fd = listen_somewhere(&port);
        start_other(&other, port, cases[i].is_honest);
        const struct conn_options o = {.target = "n@127.0.0.1",
                                       .epmd_port = other.epmd_port,
                                       .cookie = "c",
                                       .this_host = "127.0.0.1",
                                       .local = {.os_pid = getpid(),
                                                 .uid = geteuid(),
                                                 .is_meant = cases[i].is_meant,
                                                 .port = cases[i].knows_port ? port : 0},
                                       .timeout_ms = BOUND_MS};
        try_to_connect(&vm, &o);
        assert_int_equal(end_other(&other) > 0, cases[i].reaches_other);
        assert_int_equal(vm.visits > 0, cases[i].reaches_vm);
        assert_int_equal(vm.why == CONN_FAILED_OTHER_USER,
                         !cases[i].reaches_other && !cases[i].reaches_vm);
        close(vm.fd);
    }
}
