/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Whose cookie goes where: VMs that claim another's home, another's name, or no name at all. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <arpa/inet.h>
#include <ei.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "node.h"
#include "run.h"
#include "../temporary.h"

#define NOBODY 65534u
#define DAEMON 1u
#define PATIENT " -t 30"

static char dir[64];
static uint16_t epmd_port;
static pid_t epmd;

/* ---- a VM that is none: this program again, as another user and with another command line */

#define VM "beam.smp"

/* With the short name of this host. */
static int full_name(char *out, size_t size, const char *alive)
{
    char host[200] = "";
    gethostname(host, sizeof host - 1);
    host[strcspn(host, ".")] = '\0';
    return snprintf(out, size, "%s@%s", alive, host);
}

/* Takes one connection through the handshake up to our digest, and says what came. */
static void pretend(int listener, const char *alive)
{
    static const uint8_t status[] = {0, 3, 's', 'o', 'k'};
    uint8_t challenge[320] = {0, 0, 'N', 0x0d, 0x0f, 0xff, 0xbd, 0x60, 0x04, 0x7f, 0xbd};
    uint8_t in[600];
    char full[300];
    int len = full_name(full, sizeof full, alive);
    int fd = accept(listener, NULL, NULL);
    uint64_t flags = UINT64_C(0xd07df7fbd);
    for (int i = 0; i < 8; i++) {
        challenge[3 + i] = (uint8_t)(flags >> (56 - 8 * i));
    }
    challenge[0] = (uint8_t)((19 + len) >> 8);
    challenge[1] = (uint8_t)(19 + len);
    challenge[18] = 1;
    challenge[20] = (uint8_t)len;
    memcpy(challenge + 21, full, (size_t)len);
    puts("connected");
    fflush(stdout);
    if (recv(fd, in, 2, MSG_WAITALL) == 2 &&
        recv(fd, in + 2, (size_t)(in[0] << 8 | in[1]), MSG_WAITALL) > 0) {
        puts("name");
        fflush(stdout);
        (void)!write(fd, status, sizeof status);
        (void)!write(fd, challenge, (size_t)(21 + len));
        ssize_t n = recv(fd, in, 3, MSG_WAITALL);
        puts(n == 3 && in[2] == 'r' ? "digest" : "nothing");
    } else {
        puts("nothing");
    }
    fflush(stdout);
    close(fd);
}

static int act_as_vm(char **argv)
{
    struct sockaddr_in sa = {.sin_family = AF_INET};
    socklen_t len = sizeof sa;
    ei_cnode ec;
    struct in_addr here = {.s_addr = htonl(INADDR_LOOPBACK)};
    char host[] = "127.0.0.1";
    /* Its command line may lie, or say nothing of what epmd is told. */
    const char *alive = getenv("AS") ? getenv("AS") : argv[2];
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    signal(SIGPIPE, SIG_IGN);
    ei_init();
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    sa.sin_addr = here;
    if (bind(fd, (struct sockaddr *)&sa, sizeof sa) != 0 || listen(fd, 4) != 0) {
        return 1;
    }
    getsockname(fd, (struct sockaddr *)&sa, &len);
    char full[300];
    full_name(full, sizeof full, alive);
    ei_connect_xinit(&ec, host, (char *)(uintptr_t)alive, full, &here, "x", 1);
    if (*alive != '\0' && ei_publish(&ec, ntohs(sa.sin_port)) < 0) {
        return 1;
    }
    puts("ready");
    fflush(stdout);
    for (;;) {
        if (*alive == '\0') {
            pause();
        }
        pretend(fd, alive);
    }
}

struct vm {
    pid_t pid;
    FILE *out;
};

static const char *vm_says(struct vm *vm, char line[64])
{
    struct pollfd p = {.fd = fileno(vm->out), .events = POLLIN};
    if (poll(&p, 1, 30000) != 1 || !fgets(line, 64, vm->out)) {
        return "";
    }
    line[strcspn(line, "\n")] = '\0';
    return line;
}

/* As `-sname claimed`, and in epmd as `alive`; "": not there. */
static void vm_start(struct vm *vm, uid_t uid, const char *home, const char *claimed,
                     const char *alive)
{
    int out[2];
    char line[64], home_variable[200], port[40], as[40];
    snprintf(home_variable, sizeof home_variable, "HOME=%s/%s", dir, home);
    snprintf(port, sizeof port, "ERL_EPMD_PORT=%u", epmd_port);
    snprintf(as, sizeof as, "AS=%s", alive);
    assert_int_equal(pipe2(out, O_CLOEXEC), 0);
    vm->pid = fork();
    if (vm->pid == 0) {
        char *argv[] = {(char *)(uintptr_t)VM, (char *)(uintptr_t) "-sname",
                        (char *)(uintptr_t)claimed, NULL};
        char *env[] = {home_variable, port, as, NULL};
        char self[4096];
        ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
        self[n > 0 ? n : 0] = '\0';
        int exe = open(self, O_RDONLY); /* the build may be where that user cannot go */
        dup2(out[1], 1);
        if (setgid(uid) != 0 || setuid(uid) != 0) {
            _exit(1);
        }
        fexecve(exe, argv, env);
        _exit(1);
    }
    close(out[1]);
    vm->out = fdopen(out[0], "r");
    assert_string_equal(vm_says(vm, line), "ready");
    setvbuf(vm->out, NULL, _IONBF, 0);
}

static void vm_stop(struct vm *vm)
{
    node_kill(vm->pid);
    fclose(vm->out);
}

/* ---- homes */

static void put_cookie(const char *home, const char *text, uid_t owner)
{
    char path[200];
    snprintf(path, sizeof path, "%s/%s", dir, home);
    mkdir(path, 0755);
    snprintf(path, sizeof path, "%s/%s/.erlang.cookie", dir, home);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
    assert_int_equal(chown(path, owner, (gid_t)-1), 0);
    assert_int_equal(chmod(path, 0400), 0);
}

static void put_link(const char *home, bool hard)
{
    char path[200], target[200];
    snprintf(path, sizeof path, "%s/%s", dir, home);
    mkdir(path, 0755);
    snprintf(path, sizeof path, "%s/%s/.erlang.cookie", dir, home);
    snprintf(target, sizeof target, "%s/root/.erlang.cookie", dir);
    assert_int_equal(hard ? link(target, path) : symlink(target, path), 0);
}

static int start_all(void **state)
{
    (void)state;
    umask(022);
    if (getuid() != 0) {
        return 0;
    }
    if (!temporary_dir(dir, sizeof dir, "cookies") || chmod(dir, 0755) != 0) {
        return -1;
    }
    put_cookie("root", "rootscookie", 0);
    put_cookie("nobody", "nobodyscookie", NOBODY);
    put_cookie("daemon", "daemonscookie", DAEMON);
    put_link("symbolic", false);
    put_link("hard", true);
    put_cookie("none", "x", 0);
    epmd = node_epmd_start(&epmd_port);
    return epmd != 0 ? 0 : -1;
}

static int stop_all(void **state)
{
    char command[128];
    (void)state;
    if (getuid() != 0) {
        return 0;
    }
    node_kill(epmd);
    snprintf(command, sizeof command, "rm -r '%s'", dir);
    return system(command);
}

static void need_root(void)
{
    if (getuid() != 0) {
        print_message("only root can be other users\n");
        skip();
    }
}

/* ---- what beamtop sends */

static void info(struct run *r, const char *name, const char *home, const char *more)
{
    char variable[200];
    snprintf(variable, sizeof variable, "HOME=%s/%s", dir, home);
    const char *env[] = {variable, NULL};
    run_program(r, env, "info %s" PATIENT " --host 127.0.0.1 --epmd-port %u %s", name, epmd_port,
                more);
}

static void test_links_to_roots_cookie(void **state)
{
    static const char *const homes[] = {"symbolic", "hard"};
    (void)state;
    need_root();
    for (size_t i = 0; i < 2; i++) {
        struct vm vm;
        struct run r;
        char line[64];
        vm_start(&vm, NOBODY, homes[i], "trap", "trap");
        info(&r, "trap", "empty", "");
        run_expect_error(&r, 3, "--cookie-file");
        run_clear(&r);
        /* Nor as the one at home. */
        info(&r, "trap", "root", "");
        run_expect_error(&r, 3, "belongs to user nobody");
        assert_non_null(strstr(r.err, "--cookie-file"));
        assert_null(strstr(r.err, "rootscookie"));
        run_clear(&r);
        assert_string_equal(vm_says(&vm, line), "connected");
        assert_string_equal(vm_says(&vm, line), "nothing");
        vm_stop(&vm);
    }
}

/* Whoever names a cookie for a node wants it sent. */
static void test_named_cookies_are_sent(void **state)
{
    struct vm vm;
    struct run r;
    char line[64], more[200];
    (void)state;
    need_root();
    vm_start(&vm, NOBODY, "symbolic", "trap", "trap");
    snprintf(more, sizeof more, "--cookie-file %s/root/.erlang.cookie", dir);
    info(&r, "trap", "root", more);
    assert_int_equal(r.exit_code, 3);
    run_clear(&r);
    assert_string_equal(vm_says(&vm, line), "connected");
    assert_string_equal(vm_says(&vm, line), "name");
    assert_string_equal(vm_says(&vm, line), "digest");
    vm_stop(&vm);
}

static void test_own_cookie_is_sent(void **state)
{
    struct vm vm;
    struct run r;
    char line[64];
    (void)state;
    need_root();
    vm_start(&vm, NOBODY, "nobody", "plain", "plain");
    info(&r, "plain", "root", "");
    assert_int_equal(r.exit_code, 3);
    run_clear(&r);
    assert_string_equal(vm_says(&vm, line), "connected");
    assert_string_equal(vm_says(&vm, line), "name");
    assert_string_equal(vm_says(&vm, line), "digest");
    vm_stop(&vm);
}

/* The name is of a VM of one user, the port of another's. */
static void test_name_of_another_user(void **state)
{
    struct vm victim, trap;
    struct run r;
    char line[64];
    (void)state;
    need_root();
    vm_start(&victim, DAEMON, "daemon", "shop", "");
    vm_start(&trap, NOBODY, "missing", "other", "shop");
    info(&r, "shop", "empty", "");
    run_expect_error(&r, 3, "--cookie-file");
    assert_non_null(strstr(r.err, "belongs to user nobody"));
    run_clear(&r);
    assert_string_equal(vm_says(&trap, line), "connected");
    assert_string_equal(vm_says(&trap, line), "nothing");
    vm_stop(&trap);
    vm_stop(&victim);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_links_to_roots_cookie),
        cmocka_unit_test(test_named_cookies_are_sent),
        cmocka_unit_test(test_own_cookie_is_sent),
        cmocka_unit_test(test_name_of_another_user),
    };
    if (argc > 2 && strcmp(argv[0], VM) == 0) {
        return act_as_vm(argv);
    }
    signal(SIGPIPE, SIG_IGN);
    return cmocka_run_group_tests_name("cookies", tests, start_all, stop_all);
}
