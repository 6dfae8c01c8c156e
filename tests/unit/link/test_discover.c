/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Discovery over a tree that is made like /proc. */

#include <fcntl.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../test.h"
#include "beamtop/link/discover.h"
#include "../../temporary.h"

#define HOST "vm.example.org"

struct fake {
    const char *pid;
    const char *args; /* '|' between the strings */
    const char *home; /* HOME in environ; NULL: no environ to read */
    const char *root; /* directory under the tree that is its root */
    const char *net;
    const char *expected; /* one line, see describe(); NULL: not listed */
};

#define MIXED "23" /* it runs as two users */

#define ROOT_ARGS                                                                                  \
    "|--|-root|/usr/lib/erlang|-bindir|/usr/lib/erlang/erts-13.1.5/bin|-progname|erl|--|-home|"    \
    "/root|--"

static const struct fake fakes[] = {
    {"10", "/usr/lib/erlang/erts-13.1.5/bin/beam.smp" ROOT_ARGS "|-sname|shop|-setcookie|ARG",
     "/home/shop", "host", "net:[1]", "shop@vm short argument:ARG otp=25.2.3 inet_tcp erl"},
    {"11", "/usr/lib/erlang/erts-13.1.5/bin/beam.smp" ROOT_ARGS "|-name|long@10.0.0.1",
     "/home/shop", "host", "net:[1]", "long@10.0.0.1 long home:HOMECOOKIE otp=25.2.3 inet_tcp erl"},
    {"12",
     "/app/erts-15.0/bin/beam.smp|-Bd|--|-root|/app|-bindir|/app/erts-15.0/bin|-boot|"
     "/app/releases/1.0/web|-name|web|-proto_dist|inet_tls|-setcookie|other@x|OTHER",
     "/nohome", "box", "net:[2]", "web@" HOST " long none otp=27 inet_tls web root net"},
    {"13", "beam.smp|-root|/usr/lib/erlang|-progname|erl|-extra|/usr/bin/mix|-sname|no", "/nohome",
     "host", "net:[1]", " plain none otp= inet_tcp mix"},
    {"14", "/usr/bin/python3|beam.py|-sname|no", "/nohome", "host", "net:[1]", NULL},
    {"15", "beamtop|-sname|no", "/nohome", "host", "net:[1]", NULL},
    {"16",
     "/x/erts-11.1/bin/beam.smp|-root|/x|-bindir|/x/erts-11.1/bin|-progname|erl|-sname|"
     "bad name|-setcookie",
     "/home/linked", "host", "net:[1]", " plain none otp=23 inet_tcp erl"},
    {"17", "/x/erts-17.1/bin/beam.debug.smp|-sname|s@box|-name", NULL, "host", "net:[1]",
     "s@box short none otp=29 inet_tcp beam"},
    {"18", "beam.smp|-sname|shared", "/home/shared", "host", "net:[1]",
     "shared@vm short none otp= inet_tcp beam"},
    {"19", "beam.smp|-sname|foreign", "/home/foreign", "host", "net:[1]",
     "foreign@vm short none otp= inet_tcp beam"},
    {"20", "beam.smp|-sname|inside", "/home/inside", "host", "net:[1]",
     "inside@vm short home:HOMECOOKIE otp= inet_tcp beam"},
    {"21", "beam.smp|-sname|twins", "/home/shop", "host", "net:[1]",
     "twins@vm short home:HOMECOOKIE otp= inet_tcp beam"},
    {"22", "beam.smp|-sname|twins|-setcookie|OTHER", "/home/shop", "host", "net:[1]",
     "twins@vm short argument:OTHER otp= inet_tcp beam"},
    {MIXED, "beam.smp|-sname|mixed|-setcookie|ARG", "/home/shop", "host", "net:[1]",
     "mixed@vm short none otp= inet_tcp beam"},
    {"24", "beam.smp|-sname|own", "/home/none", "host", "net:[1]",
     "own@vm short none otp= inet_tcp beam"},
    {"25", "beam.smp|-sname|ranged|-kernel|inet_dist_listen_min|4008|inet_dist_listen_max|4009",
     "/home/none", "host", "net:[1]", "ranged@vm short none otp= inet_tcp beam"},
    {"26", "beam.smp|-sname|fixed|-erl_epmd_port|4010", "/home/none", "host", "net:[1]",
     "fixed@vm short none otp= inet_tcp beam"},
    {"27", "beam.smp|-sname|piped", "/home/piped", "host", "net:[1]",
     "piped@vm short none otp= inet_tcp beam"},
    {"28", "beam.smp|-sname|released", "/home/none", "host", "net:[1]",
     "released@vm short environment:RELEASED otp= inet_tcp beam"},
    {"29", "beam.smp|-sname|homely", "/home/shop", "host", "net:[1]",
     "homely@vm short home:HOMECOOKIE otp= inet_tcp beam"},
    {"30", "beam.smp|-sname|argued|-setcookie|ARG", "/home/none", "host", "net:[1]",
     "argued@vm short argument:ARG otp= inet_tcp beam"},
};

/* The last one in environ. */
static const struct {
    const char *pid, *name, *value;
} variables[] = {{"24", "ERL_EPMD_PORT", "4711"},
                 {"26", "ERL_EPMD_PORT", "0x"},
                 {"28", "RELEASE_COOKIE", "RELEASED"},
                 {"29", "RELEASE_COOKIE", "RELEASED"},
                 {"30", "RELEASE_COOKIE", "RELEASED"}};

static char tree[64];

static void make_dir(const char *path)
{
    char full[512];
    snprintf(full, sizeof full, "%s/%s", tree, path);
    for (char *at = full + strlen(tree) + 1; *at != '\0'; at++) {
        if (*at == '/') {
            *at = '\0';
            mkdir(full, 0700);
            *at = '/';
        }
    }
    mkdir(full, 0700);
}

static void make_file(const char *path, const char *text, size_t len)
{
    char full[512];
    snprintf(full, sizeof full, "%s/%s", tree, path);
    FILE *f = fopen(full, "w");
    assert_non_null(f);
    assert_int_equal(fwrite(text, 1, len, f), len);
    fclose(f);
}

static void make_link(const char *path, const char *target)
{
    char full[512];
    snprintf(full, sizeof full, "%s/%s", tree, path);
    assert_int_equal(symlink(target, full), 0);
}

static void make_pipe(const char *path)
{
    char full[512];
    snprintf(full, sizeof full, "%s/%s", tree, path);
    assert_int_equal(mkfifo(full, 0600), 0);
}

static void make_status(const char *pid, unsigned real, unsigned uid)
{
    char path[256], text[256];
    snprintf(path, sizeof path, "%s/status", pid);
    snprintf(text, sizeof text, "Name:\tbeam\nUid:\t%u\t%u\t%u\t%u\nGid:\t%u\t%u\t%u\t%u\n", real,
             uid, uid, uid, real, uid, uid, uid);
    make_file(path, text, strlen(text));
}

static void make_process(const struct fake *f)
{
    char path[256];
    char text[1024];
    size_t len = strlen(f->args) + 1;
    snprintf(path, sizeof path, "%s/ns", f->pid);
    make_dir(path);
    memcpy(text, f->args, len);
    for (size_t i = 0; i < len; i++) {
        text[i] = text[i] == '|' ? '\0' : text[i];
    }
    snprintf(path, sizeof path, "%s/cmdline", f->pid);
    make_file(path, text, len);
    if (f->home) {
        snprintf(path, sizeof path, "%s/environ", f->pid);
        snprintf(text, sizeof text, "A=1%cHOME=%s%cB=2", '\0', f->home, '\0');
        size_t used = 4 + 5 + strlen(f->home) + 1 + 4;
        for (size_t i = 0; i < sizeof variables / sizeof variables[0]; i++)
            if (strcmp(f->pid, variables[i].pid) == 0)
                used += (size_t)snprintf(text + used, sizeof text - used, "%s=%s",
                                         variables[i].name, variables[i].value);
        make_file(path, text, used);
    }
    make_status(f->pid, getuid() + (strcmp(f->pid, MIXED) == 0 ? 1 : 0), getuid());
    snprintf(path, sizeof path, "%s/statm", f->pid);
    make_file(path, "1000 500 1", 10);
    snprintf(path, sizeof path, "%s/stat", f->pid);
    snprintf(text, sizeof text, "%s (a) (b) S 1 1 1 0 -1 0 0 0 0 0 1 1 0 0 20 0 1 0 %ld 5 5",
             f->pid, 1000 * sysconf(_SC_CLK_TCK));
    make_file(path, text, strlen(text));
    snprintf(path, sizeof path, "%s/root", f->pid);
    snprintf(text, sizeof text, "../roots/%s", f->root);
    make_link(path, text);
    snprintf(path, sizeof path, "%s/ns/net", f->pid);
    make_link(path, f->net);
}

/* A file that nobody else can read, in a home. */
static void make_cookie(const char *home, const char *text, mode_t mode, uid_t uid)
{
    char path[256], full[512];
    snprintf(path, sizeof path, "roots/host/home/%s", home);
    make_dir(path);
    snprintf(path, sizeof path, "roots/host/home/%s/.erlang.cookie", home);
    make_file(path, text, strlen(text));
    snprintf(full, sizeof full, "%s/%s", tree, path);
    assert_int_equal(chmod(full, mode), 0);
    if (uid != getuid() && chown(full, uid, (gid_t)-1) != 0) {
        assert_int_equal(unlink(full), 0); /* only root can give it away: no file is none as well */
    }
}

/* Who listens: port 4005 is pid 13's, 4006 another user's, 4007 pid 22's, 4008 and 4009 pid 24's
   and 25's. */
static void make_sockets(void)
{
    static const char *const two[] = {"24", "25"};
    char path[64];
    char text[2048];
    unsigned uid = getuid();
    make_dir("net");
    make_dir("13/fd");
    make_dir("22/fd");
    make_link("13/fd/3", "socket:[777]");
    make_link("13/fd/4", "socket:[778]");
    make_link("22/fd/9", "socket:[779]");
    for (size_t i = 0; i < 2; i++) {
        snprintf(path, sizeof path, "%s/fd", two[i]);
        make_dir(path);
        snprintf(path, sizeof path, "%s/fd/12", two[i]);
        make_link(path, "socket:[780]");
        snprintf(path, sizeof path, "%s/fd/9", two[i]);
        make_link(path, "socket:[781]");
        snprintf(path, sizeof path, "%s/fd/8", two[i]);
        make_link(path, i == 0 ? "/dev/null" : "socket:[782]");
    }
    int len =
        snprintf(text, sizeof text,
                 "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt uid\n"
                 "   0: 00000000:0FA5 00000000:0000 0A 00000000:00000000 00:00000000 00000000 "
                 "%5u        0 777 1 0 100 0 0 10 0\n"
                 "   1: 00000000:0FA6 00000000:0000 0A 00000000:00000000 00:00000000 00000000 "
                 "%5u        0 778 1 0 100 0 0 10 0\n"
                 "   2: 0100007F:0FA7 0100007F:9999 01 00000000:00000000 00:00000000 00000000 "
                 "%5u        0 777 1 0 100 0 0 10 0\n"
                 "   4: 00000000:0FA8 00000000:0000 0A 00000000:00000000 00:00000000 00000000 "
                 "%5u        0 780 1 0 100 0 0 10 0\n"
                 "   5: 0200007F:0FA9 00000000:0000 0A 00000000:00000000 00:00000000 00000000 "
                 "%5u        0 781 1 0 100 0 0 10 0\n"
                 "   6: 00000000:0FAB 00000000:0000 0A 00000000:00000000 00:00000000 00000000 "
                 "%5u        0 782 1 0 100 0 0 10 0\n"
                 "rubbish\n\n   3: 0100\n",
                 uid, uid + 1, uid, uid, uid, uid);
    make_file("net/tcp", text, (size_t)len);
    len = snprintf(
        text, sizeof text,
        "  sl  local_address rem_address st\n"
        "   0: 00000000000000000000000000000000:0FA7 00000000000000000000000000000000:0000 0A "
        "00000000:00000000 00:00000000 00000000 %5u        0 779 1 0 100 0 0 10 0\n",
        uid);
    make_file("net/tcp6", text, (size_t)len);
}

static int make_tree(void **state)
{
    (void)state;
    umask(022);
    if (!temporary_dir(tree, sizeof tree, "discover")) {
        return -1;
    }
    make_dir("roots/host/home/shop");
    make_dir("roots/host/home/linked");
    make_dir("roots/host/usr/lib/erlang/releases/25");
    make_dir("roots/box/app");
    make_cookie("shop", "HOMECOOKIE", 0400, getuid());
    make_cookie("shared", "GROUPCOOKIE", 0440, getuid());
    make_cookie("foreign", "FOREIGNCOOKIE", 0400, getuid() + 1);
    make_dir("roots/host/home/inside");
    make_link("roots/host/home/inside/.erlang.cookie", "../shop/.erlang.cookie");
    make_file("roots/host/usr/lib/erlang/releases/25/OTP_VERSION", "25.2.3\n", 7);
    make_file("secret", "NOTACOOKIE", 10);
    make_link("roots/host/home/linked/.erlang.cookie", "../../../../secret");
    make_dir("roots/host/home/piped");
    make_pipe("roots/host/home/piped/.erlang.cookie");
    make_dir("self/ns");
    make_link("self/ns/net", "net:[1]");
    make_link("self/root", "../roots/host");
    make_file("uptime", "5000.5 1.0\n", 11);
    for (size_t i = 0; i < sizeof fakes / sizeof fakes[0]; i++) {
        make_process(&fakes[i]);
    }
    make_sockets();
    return 0;
}

static int remove_tree(void **state)
{
    (void)state;
    char command[128];
    snprintf(command, sizeof command, "rm -r '%s'", tree);
    return system(command);
}

static void describe(const struct discover_vm *vm, char *out, size_t size)
{
    static const char *const forms[] = {"plain", "short", "long", "unknown"};
    static const char *const cookies[] = {"none", "argument:", "home:", "environment:"};
    snprintf(out, size, "%s %s %s%s otp=%s %s %s%s%s", vm->node, forms[vm->form],
             cookies[vm->cookie_from], vm->cookie.text, vm->otp, vm->dist_protocol, vm->command,
             vm->other_root && vm->otp[1] == '7' ? " root" : "", vm->other_network ? " net" : "");
}

static const struct discover_vm *find(const struct discover_list *list, const char *pid)
{
    for (size_t i = 0; i < list->count; i++) {
        if (list->vms[i].pid == atoi(pid)) {
            return &list->vms[i];
        }
    }
    return NULL;
}

static void scan(struct discover_list *list)
{
    struct error err = {0};
    struct discover_options o = {.proc_root = tree, .this_host = HOST};
    assert_int_equal(discover_scan(list, &o, &err), 0);
}

TEST(test_scan)
{
    struct discover_list list;
    size_t expected = 0;
    scan(&list);
    for (size_t i = 0; i < sizeof fakes / sizeof fakes[0]; i++) {
        const struct discover_vm *vm = find(&list, fakes[i].pid);
        char text[2048];
        print_message("# %s\n", fakes[i].pid);
        if (!fakes[i].expected) {
            assert_null(vm);
            continue;
        }
        expected++;
        assert_non_null(vm);
        describe(vm, text, sizeof text);
        assert_string_equal(text, fakes[i].expected);
        assert_int_equal(vm->uid, getuid());
        assert_int_equal(vm->rss_bytes, 500 * sysconf(_SC_PAGESIZE));
        assert_true(vm->uptime_s > 4000.4 && vm->uptime_s < 4000.6);
    }
    assert_int_equal(list.count, expected);
    assert_false(list.truncated);
    discover_clear(&list);
}

/* S: it waits. */
static char state_of(pid_t pid)
{
    char path[64], state = '?';
    snprintf(path, sizeof path, "/proc/%ld/stat", (long)pid);
    FILE *f = fopen(path, "re");
    assert_non_null(f);
    assert_int_equal(fscanf(f, "%*d (%*[^)]) %c", &state), 1);
    fclose(f);
    return state;
}

/* Who opens one end of a pipe wakes up who waits at the other. */
TEST(test_opens_no_pipe)
{
    struct discover_list list;
    char path[256];
    snprintf(path, sizeof path, "%s/roots/host/home/piped/.erlang.cookie", tree);
    const pid_t writer = fork();
    assert_true(writer >= 0);
    if (writer == 0)
        _exit(open(path, O_WRONLY | O_CLOEXEC) < 0);
    while (state_of(writer) != 'S' && state_of(writer) != 'Z')
        usleep(1000);
    scan(&list);
    const char after = state_of(writer);
    discover_clear(&list);
    kill(writer, SIGKILL);
    waitpid(writer, NULL, 0);
    assert_int_equal(after, 'S');
}

static const struct discover_options join_options = {.proc_root = tree, .this_host = "vm"};

TEST(test_join)
{
    static const struct epmd_name names[] = {{"shop", 4001}, {"ghost", 4002}, {"web", 4003}};
    struct discover_list list;
    scan(&list);
    size_t before = list.count;
    discover_join(&list, names, 3, &join_options);
    assert_int_equal(list.count, before + 2);
    const struct discover_vm *known = find(&list, "10"), *elsewhere = find(&list, "12");
    if (!known || !elsewhere) {
        fail_msg("the scanned VMs are not in the list");
        return;
    }
    assert_true(known->in_epmd);
    assert_int_equal(known->port, 4001);
    /* In another network namespace: its epmd is not the one that was asked. */
    assert_false(elsewhere->in_epmd);
    const struct discover_vm *ghost = find(&list, "0");
    if (!ghost) {
        fail_msg("what only epmd knows is not in the list");
        return;
    }
    assert_string_equal(ghost->node, "ghost@vm");
    assert_int_equal(ghost->form, DISCOVER_UNKNOWN);
    for (size_t i = 1; i < list.count; i++) {
        bool earlier = list.vms[i - 1].node[0] != '\0';
        bool later = list.vms[i].node[0] != '\0';
        assert_true(earlier || !later);
        if (earlier && later) {
            assert_true(strcmp(list.vms[i - 1].node, list.vms[i].node) <= 0);
        }
    }
    discover_clear(&list);
    assert_null(list.vms);
}

/* What command lines do not tell, ports do. */
TEST(test_join_by_port)
{
    static const struct epmd_name names[] = {
        {"late", 4005}, {"later", 4005}, {"elsewhere", 4006}, {"twins", 4007}};
    struct discover_list list;
    scan(&list);
    size_t before = list.count;
    discover_join(&list, names, 4, &join_options);
    assert_int_equal(list.count, before + 2);
    const struct discover_vm *late = find(&list, "13");
    const struct discover_vm *first = find(&list, "21"), *second = find(&list, "22");
    if (!late || !first || !second) {
        fail_msg("the scanned VMs are not in the list");
        return;
    }
    assert_string_equal(late->node, "late@vm");
    assert_int_equal(late->form, DISCOVER_UNKNOWN);
    assert_int_equal(late->port, 4005);
    assert_true(second->in_epmd && !first->in_epmd);
    discover_clear(&list);
}

/* A VM with an epmd of its own: its environment, flags and sockets say where it is. */
TEST(test_ports)
{
    static const struct {
        const char *pid;
        uint16_t epmd, port;
        const char *address;
    } rows[] = {
        {"24", 4711, 4009, "127.0.0.2"}, /* of two, that of the lower descriptor */
        {"25", EPMD_PORT, 4009, "127.0.0.2"},
        {"26", 0, 4010, ""},
        {"22", EPMD_PORT, 4007, "::1"},
        {"13", EPMD_PORT, 0, ""}, /* not a node */
        {"17", 0, 0, ""},         /* its environment is not readable */
        {"12", EPMD_PORT, 0, ""}, /* another network */
    };
    static const struct epmd_name names[] = {{"own", 4001}};
    struct discover_options here = join_options;
    struct discover_list list;
    scan(&list);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct discover_vm *vm = &list.vms[find(&list, rows[i].pid) - list.vms];
        print_message("# %s\n", rows[i].pid);
        discover_port(vm, &join_options);
        assert_int_equal(vm->epmd_port, rows[i].epmd);
        assert_int_equal(vm->port, rows[i].port);
        assert_string_equal(vm->address, rows[i].address);
    }
    here.epmd_port = EPMD_PORT; /* what that knows is another node of the name */
    discover_join(&list, names, 1, &here);
    assert_false(find(&list, "24")->in_epmd);
    discover_clear(&list);
}

TEST(test_join_to_nothing)
{
    static const struct epmd_name names[] = {{"ghost", 4002}, {"bad name", 1}};
    struct discover_list list = {0};
    discover_join(&list, names, 2, &join_options);
    assert_int_equal(list.count, 1);
    discover_clear(&list);
}

TEST(test_no_tree)
{
    struct discover_list list;
    struct error err = {0};
    struct discover_options o = {.proc_root = "/proc/nonexistent", .this_host = HOST};
    assert_int_equal(discover_scan(&list, &o, &err), ERR_SYSTEM);
    assert_int_equal(list.count, 0);
    discover_clear(&list);
}

/* Neither a user's 300 processes nor 300 names in epmd hide what others run. */
TEST(test_bound_by_user)
{
    enum { MANY = 300, OTHERS = 5, FIRST = 1000, ANOTHER = 4711 };
    struct epmd_name names[MANY];
    struct discover_list list;
    size_t others = 0, unknown = 0;
    char pid[16], kept[sizeof tree];
    memcpy(kept, tree, sizeof kept);
    make_dir("many");
    snprintf(tree + strlen(tree), sizeof tree - strlen(tree), "/many");
    for (int i = 0; i < MANY + OTHERS; i++) {
        char path[64];
        snprintf(pid, sizeof pid, "%d", FIRST + i);
        make_dir(pid);
        snprintf(path, sizeof path, "%s/cmdline", pid);
        make_file(path, "beam.smp", 9);
        const unsigned uid = i % 61 == 60 ? ANOTHER : getuid();
        make_status(pid, uid, uid);
    }
    scan(&list);
    assert_int_equal(list.count, LIMIT_DISCOVER_VMS);
    assert_true(list.truncated);
    for (size_t i = 0; i < MANY; i++) {
        names[i] = (struct epmd_name){.port = 1};
        snprintf(names[i].alive, sizeof names[i].alive, "n%zu", i);
    }
    discover_join(&list, names, MANY, &join_options);
    for (size_t i = 0; i < list.count; i++) {
        others += list.vms[i].uid == ANOTHER;
        unknown += list.vms[i].pid == 0;
    }
    assert_int_equal(list.count, LIMIT_DISCOVER_VMS);
    assert_int_equal(others, OTHERS);
    assert_in_range(unknown, 100, 150);
    discover_clear(&list);
    memcpy(tree, kept, sizeof kept);
}

/* Who has 300 uids in a user namespace hides nobody else. */
TEST(test_bound_by_user_namespace)
{
    enum { MANY = 320, FIRST = 1000, EACH = 16, FIRST_UID = 100000 };
    static const char ours[] = "0 0 4294967295\n", theirs[] = "0 100000 65536\n";
    struct discover_list list;
    size_t others = 0;
    char pid[16], path[64], kept[sizeof tree];
    memcpy(kept, tree, sizeof kept);
    make_dir("spaces");
    snprintf(tree + strlen(tree), sizeof tree - strlen(tree), "/spaces");
    make_dir("self");
    make_file("self/uid_map", ours, sizeof ours - 1);
    for (int i = 0; i < MANY; i++) {
        const bool is_ours = i % EACH == 0;
        snprintf(pid, sizeof pid, "%d", FIRST + i);
        make_dir(pid);
        snprintf(path, sizeof path, "%s/cmdline", pid);
        make_file(path, "beam.smp", 9);
        snprintf(path, sizeof path, "%s/uid_map", pid);
        make_file(path, is_ours ? ours : theirs, strlen(is_ours ? ours : theirs));
        make_status(pid, (unsigned)(FIRST_UID + i), (unsigned)(FIRST_UID + i));
    }
    scan(&list);
    for (size_t i = 0; i < list.count; i++)
        others += !list.vms[i].other_users;
    assert_int_equal(list.count, LIMIT_DISCOVER_VMS);
    assert_int_equal(others, MANY / EACH);
    discover_clear(&list);
    memcpy(tree, kept, sizeof kept);
}

static void make_user(const char *pid, unsigned uid, const char *root, const char *uid_map)
{
    char path[64];
    make_dir(pid);
    make_status(pid, uid, uid);
    snprintf(path, sizeof path, "%s/cmdline", pid);
    make_file(path, "beam.smp", 9);
    snprintf(path, sizeof path, "%s/root", pid);
    make_link(path, root);
    snprintf(path, sizeof path, "%s/uid_map", pid);
    make_file(path, uid_map, strlen(uid_map));
}

/* A name of this host's passwd says nothing of a uid behind another root directory. */
TEST(test_user)
{
    static const struct row {
        const char *name, *pid, *root, *uid_map;
        bool is_root, named;
    } rows[] = {
        {"this root", "100", "here", "ours", false, true},
        {"another root", "101", "there", "ours", false, false},
        {"root in another root", "102", "there", "ours", true, true},
        {"a user's namespace", "103", "there", "theirs", false, true},
        {"an unreadable root", "104", "nowhere", "ours", false, true},
    };
    struct passwd *other = NULL;
    struct discover_list list;
    char kept[sizeof tree], uid[16];
    while ((other = getpwent()) && other->pw_uid == 0)
        ;
    assert_non_null(other);
    memcpy(kept, tree, sizeof kept);
    make_dir("users");
    snprintf(tree + strlen(tree), sizeof tree - strlen(tree), "/users");
    make_dir("here");
    make_dir("there");
    make_user("self", 0, "../here", "ours");
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        char root[64];
        snprintf(root, sizeof root, "../%s", rows[i].root);
        make_user(rows[i].pid, rows[i].is_root ? 0 : other->pw_uid, root, rows[i].uid_map);
    }
    scan(&list);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        const struct discover_vm *vm = find(&list, rows[i].pid);
        print_message("# %s\n", rows[i].name);
        assert_non_null(vm);
        snprintf(uid, sizeof uid, "%u", (unsigned)other->pw_uid);
        assert_string_equal(vm->user, !rows[i].named    ? uid
                                      : rows[i].is_root ? "root"
                                                        : other->pw_name);
    }
    endpwent();
    discover_clear(&list);
    memcpy(tree, kept, sizeof kept);
}

#define ID "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

static void make_place(const char *pid, const char *file, const char *text, const char *mounts)
{
    char path[64];
    snprintf(path, sizeof path, "%s/%s", pid, file);
    make_file(path, text, strlen(text));
    snprintf(path, sizeof path, "%s/ns/mnt", pid);
    make_link(path, mounts);
}

/* Those in the mount namespace of a process that the container's id is written at. */
TEST(test_keep_container)
{
    static const struct {
        pid_t first;
        const char *id, *kept;
    } cases[] = {
        {10, ID, "10 11 "}, {12, ID, "12 "}, {10, "other", ""},
        {13, ID, ""},       {26, ID, ""},    {9999, ID, ""},
    };
    make_place("10", "cgroup", "0::/docker/" ID "\n", "mnt:[10]");
    make_place("11", "cgroup", "0::/docker/" ID "/below\n", "mnt:[10]");
    make_place("12", "mountinfo", "1 2 0:1 /containers/" ID "/hosts /etc/hosts\n", "mnt:[12]");
    make_place("13", "cgroup", "0::/\n", "mnt:[10]");
    make_file("26/cgroup", "0::/docker/" ID "\n", strlen("0::/docker/" ID "\n"));
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct discover_options o = {.proc_root = tree};
        struct discover_list list;
        struct error err = {0};
        char kept[64] = "";
        scan(&list);
        for (size_t k = 0; k < list.count; k++) /* another process by now */
            list.vms[k].started += list.vms[k].pid == 13;
        const int rc = discover_keep_container(&list, &o, cases[i].first, cases[i].id, &err);
        for (size_t k = 0; k < list.count; k++)
            snprintf(kept + strlen(kept), sizeof kept - strlen(kept), "%d ", list.vms[k].pid);
        print_message("# %d: %s\n", cases[i].first, kept);
        assert_int_equal(list.count, strlen(cases[i].kept) / 3);
        for (const char *at = cases[i].kept; *at != '\0'; at += 3) {
            const char pid[] = {at[0], at[1], ' ', '\0'};
            assert_non_null(strstr(kept, pid));
        }
        assert_int_equal(rc, list.count > 0 ? 0 : ERR_NOT_FOUND);
        discover_clear(&list);
    }
}

static void take_list(void *arg, struct discover_list *list)
{
    struct discover_list *out = arg;
    *out = *list;
}

static void take_none(void *arg, struct discover_list *list)
{
    (void)arg;
    (void)list;
    fail();
}

/* Stopped at once, its thread may still run: `done` is not called, and nothing is lost. */
TEST(test_stop)
{
    struct error err = {0};
    struct discover_options o = {.proc_root = tree, .this_host = HOST, .epmd_port = 1};
    struct discover *search = NULL;
    uv_loop_t loop;
    uv_loop_init(&loop);
    assert_int_equal(discover_start(&search, &loop, &o, take_none, NULL, &err), 0);
    discover_stop(search);
    discover_stop(NULL);
    uv_run(&loop, UV_RUN_DEFAULT);
    assert_int_equal(uv_loop_close(&loop), 0);
}

/* Nobody listens at port 1 of the loopback: the processes are still listed. */
TEST(test_start_without_epmd)
{
    struct discover_list list = {0};
    struct error err = {0};
    struct discover_options o = {.proc_root = tree, .this_host = HOST, .epmd_port = 1};
    struct discover *search = NULL;
    uv_loop_t loop;
    uv_loop_init(&loop);
    assert_int_equal(discover_start(&search, &loop, &o, take_list, &list, &err), 0);
    uv_run(&loop, UV_RUN_DEFAULT);
    assert_true(list.epmd_asked);
    assert_int_equal(list.epmd, EPMD_UNREACHABLE);
    size_t expected = 0;
    for (size_t i = 0; i < sizeof fakes / sizeof fakes[0]; i++)
        expected += fakes[i].expected != NULL;
    assert_int_equal(list.count, expected);
    discover_clear(&list);
    assert_int_equal(uv_loop_close(&loop), 0);
}

/* What a scan has found is taken, and /proc is not read again. */
TEST(test_start_with_found)
{
    struct discover_list list = {0}, found = {0};
    struct error err = {0};
    const struct discover_options scanned = {.proc_root = tree, .this_host = HOST};
    assert_int_equal(discover_scan(&found, &scanned, &err), 0);
    const size_t expected = found.count;
    struct discover_options o = {
        .proc_root = "/nowhere", .this_host = HOST, .epmd_port = 1, .found = &found};
    struct discover *search = NULL;
    uv_loop_t loop;
    uv_loop_init(&loop);
    assert_int_equal(discover_start(&search, &loop, &o, take_list, &list, &err), 0);
    assert_null(found.vms);
    uv_run(&loop, UV_RUN_DEFAULT);
    assert_true(list.epmd_asked);
    assert_int_equal(list.count, expected);
    discover_clear(&list);
    assert_int_equal(uv_loop_close(&loop), 0);
}

TESTS_WITH(make_tree, remove_tree);
