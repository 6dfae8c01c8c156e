/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "beamtop/link/discover.h"

#include <fcntl.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "beamtop/base/alloc.h"
#include "beamtop/base/attr.h"
#include "beamtop/link/name.h"
#include "discover_look.h"
#include "link/internal.h"
#include "link/proc.h"

#define ERTS_TO_OTP 12 /* erts 11 came with OTP 23, 13 with 25 … 17 with 29 */

/* What the command line of an emulator contains; borrowed from it. */
struct beam_args {
    const char *name;
    const char *sname;
    const char *cookie;
    const char *proto_dist;
    const char *root;
    const char *bindir;
    const char *boot;
    const char *progname;
    const char *extra; /* the first word for the program that runs in it */
    uint16_t port;     /* the one that it is to listen at; 0: not given, as are the next */
    uint16_t port_min, port_max;
};

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static bool is_emulator(const char *argv0)
{
    const char *base = base_name(argv0);
    return strcmp(base, "beam") == 0 || strncmp(base, "beam.", 5) == 0;
}

static uint16_t port_of(const char *text)
{
    char *end = NULL;
    const long port = strtol(text, &end, 10);
    return *end == '\0' && port > 0 && port <= UINT16_MAX ? (uint16_t)port : 0;
}

/* ---- the command line */

static void take_flag(struct beam_args *a, const char *flag, const char *value, const char *second)
{
    const struct {
        const char *flag;
        const char **where;
    } flags[] = {
        {"-name", &a->name},         {"-sname", &a->sname},   {"-proto_dist", &a->proto_dist},
        {"-root", &a->root},         {"-bindir", &a->bindir}, {"-boot", &a->boot},
        {"-progname", &a->progname},
    };
    for (size_t i = 0; i < ARRAY_LEN(flags); i++)
        if (strcmp(flag, flags[i].flag) == 0 && !*flags[i].where)
            *flags[i].where = value;
    /* With two values the cookie is one for another node. */
    if (strcmp(flag, "-setcookie") == 0 && !a->cookie && !second)
        a->cookie = value;
}

/* A word and the number after it, also within the list of an application's parameters. */
static void take_port(struct beam_args *a, const char *word, const char *value)
{
    const struct {
        const char *word;
        uint16_t *where;
    } words[] = {
        {"-erl_epmd_port", &a->port},
        {"erl_epmd_node_listen_port", &a->port},
        {"inet_dist_listen_min", &a->port_min},
        {"inet_dist_listen_max", &a->port_max},
    };
    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        if (strcmp(word, words[i].word) == 0)
            *words[i].where = port_of(value);
}

/* The value at `at`, or NULL when that is the next flag. */
static const char *as_value(const char *at)
{
    return at && at[0] != '-' ? at : NULL;
}

static void parse_args(const struct proc_strings *cmdline, struct beam_args *a)
{
    const char *at = proc_strings_next(cmdline, NULL);
    *a = (struct beam_args){0};
    while ((at = proc_strings_next(cmdline, at))) {
        const char *value = as_value(proc_strings_next(cmdline, at));
        if (strcmp(at, "-extra") == 0) {
            a->extra = value;
            return;
        }
        if (value)
            take_port(a, at, value);
        if (at[0] == '-' && value)
            take_flag(a, at, value, as_value(proc_strings_next(cmdline, value)));
    }
}

/* ---- what kind of node */

static void set_node(struct discover_vm *vm, const struct beam_args *a, const char *vm_host)
{
    char host[LIMIT_NODE_NAME_BYTES + 1];
    const char *text = a->name ? a->name : a->sname;
    struct name name;
    struct error ignored = {0};
    snprintf(vm->dist_protocol, sizeof vm->dist_protocol, "%s",
             a->proto_dist ? a->proto_dist : "inet_tcp");
    if (!text)
        return;
    snprintf(host, sizeof host, "%s", vm_host);
    if (!a->name)
        host[strcspn(host, ".")] = '\0';
    if (name_parse(&name, text, host, &ignored) == 0) {
        vm->form = a->name ? DISCOVER_LONG : DISCOVER_SHORT;
        memcpy(vm->node, name.full, sizeof vm->node);
    }
}

/* The host name that the VM sees is its own in a container. */
static void set_contained_node(const struct proc *p, struct discover_vm *vm,
                               const struct beam_args *a)
{
    char host[LIMIT_NODE_NAME_BYTES + 1];
    const char *text = a->name ? a->name : a->sname;
    if (!text || strchr(text, '@') || !proc_link_differs(p, "ns/uts", "self"))
        return;
    proc_read_public(p, "/etc/hostname", host, sizeof host);
    host[strcspn(host, " \t\r\n")] = '\0';
    if (host[0] != '\0')
        set_node(vm, a, host);
}

/* A port by itself is a range of one. */
static void set_ports(struct discover_vm *vm, const struct beam_args *a)
{
    vm->port_min = a->port != 0 ? a->port : a->port_min;
    vm->port_max = a->port != 0 ? a->port : a->port_max;
}

static void set_command(struct discover_vm *vm, const struct beam_args *a)
{
    const char *text = a->progname ? a->progname : "beam";
    if (a->extra)
        text = a->extra;
    else if (a->boot && strncmp(base_name(a->boot), "start", 5) != 0 &&
             strcmp(base_name(a->boot), "no_dot_erlang") != 0)
        text = a->boot;
    snprintf(vm->command, sizeof vm->command, "%s", base_name(text));
}

/* ---- its release */

/* "…/erts-13.1.5/bin" -> 25; 0 unknown. */
static int release_of_path(const char *path)
{
    const char *at = path ? strstr(path, "erts-") : NULL;
    int major = at ? atoi(at + strlen("erts-")) : 0;
    return major > 0 && major < 1000 ? major + ERTS_TO_OTP : 0;
}

static void set_otp(struct discover_vm *vm, const struct beam_args *a, const char *argv0)
{
    int otp = release_of_path(a->bindir);
    if (otp == 0)
        otp = release_of_path(argv0);
    if (otp != 0)
        snprintf(vm->otp, sizeof vm->otp, "%d", otp);
}

static void set_otp_version(const struct proc *p, struct discover_vm *vm, const struct beam_args *a)
{
    char path[4096];
    char text[32] = "";
    const int otp = atoi(vm->otp);
    if (otp == 0)
        return;
    snprintf(path, sizeof path, "%.4000s/releases/%d/OTP_VERSION", a->root ? a->root : "", otp);
    proc_read_public(p, path, text, sizeof text);
    text[strspn(text, "0123456789.")] = '\0';
    if (atoi(text) == otp)
        memcpy(vm->otp, text, sizeof vm->otp);
}

/* ---- its owner and the cookie */

/* Another root directory has other users behind the same uids, but for root. In another user
 * namespace the uid is one of here. */
static void set_user(const struct proc *p, struct discover_vm *vm)
{
    struct passwd entry;
    struct passwd *found = NULL;
    char text[4096];
    const bool is_other =
        vm->uid != 0 && !vm->other_users && proc_inode_differs(p, "root/.", "self");
    if (!is_other && getpwuid_r(vm->uid, &entry, text, sizeof text, &found) == 0 && found)
        snprintf(vm->user, sizeof vm->user, "%s", found->pw_name);
}

/* The value of a variable of the VM's environment, or NULL. */
static const char *find_variable(const struct proc_strings *variables, const char *name)
{
    size_t len = strlen(name);
    for (const char *at = proc_strings_next(variables, NULL); at;
         at = proc_strings_next(variables, at))
        if (strncmp(at, name, len) == 0 && at[len] == '=')
            return at + len + 1;
    return NULL;
}

static bool owner_home(const struct proc_strings *variables, const struct discover_vm *vm,
                       char *out, size_t size)
{
    struct passwd entry;
    struct passwd *found = NULL;
    char text[4096];
    const char *home = find_variable(variables, "HOME");
    bool have = home && home[0] == '/';
    snprintf(out, size, "%s", have ? home : "");
    if (!have && getpwuid_r(vm->uid, &entry, text, sizeof text, &found) == 0 && found) {
        snprintf(out, size, "%s", found->pw_dir);
        have = true;
    }
    return have;
}

/*
 * Only a file of the VM's own user counts, and one that no other user can read, as the VM itself
 * asks for: whoever starts a VM chooses where its home is and what links lead to from there. */
static bool read_cookie_inside(const struct proc *p, struct discover_vm *vm, const char *path)
{
    struct stat st;
    struct error ignored = {0};
    int fd = proc_open_inside(p, path);
    if (fd < 0)
        return false;
    bool ok = fstat(fd, &st) == 0 && st.st_uid == vm->uid &&
              (st.st_mode & (S_IRWXG | S_IRWXO)) == 0 &&
              cookie_read_fd(&vm->cookie, fd, path, &ignored) == 0;
    close(fd);
    return ok;
}

static bool read_home_cookie(const struct proc *p, struct discover_vm *vm,
                             const struct proc_strings *variables)
{
    static const char *const files[] = {".erlang.cookie", ".config/erlang/.erlang.cookie"};
    char home[3000];
    char path[4096];
    if (!owner_home(variables, vm, home, sizeof home))
        return false;
    for (size_t i = 0; i < ARRAY_LEN(files); i++) {
        snprintf(path, sizeof path, "%s/%s", home, files[i]);
        if (read_cookie_inside(p, vm, path))
            return true;
    }
    return false;
}

static void set_cookie(const struct proc *p, struct discover_vm *vm, const struct beam_args *a,
                       const struct proc_strings *variables)
{
    struct error ignored = {0};
    if (!vm->one_user)
        return;
    if (a->cookie) {
        if (cookie_set(&vm->cookie, a->cookie, strlen(a->cookie), COOKIE_DISCOVERED, &ignored) == 0)
            vm->cookie_from = DISCOVER_COOKIE_ARGUMENT;
        return;
    }
    if (read_home_cookie(p, vm, variables)) {
        vm->cookie.origin = COOKIE_DISCOVERED;
        vm->cookie_from = DISCOVER_COOKIE_OWNER_HOME;
        return;
    }
    const char *release = find_variable(variables, "RELEASE_COOKIE");
    if (release &&
        cookie_set(&vm->cookie, release, strlen(release), COOKIE_DISCOVERED, &ignored) == 0)
        vm->cookie_from = DISCOVER_COOKIE_ENVIRONMENT;
}

/* What its environment says: which epmd it asks, and where its home is. */
static void set_surroundings(const struct proc *p, struct discover_vm *vm,
                             const struct beam_args *a)
{
    struct proc_strings variables = {0};
    if (proc_read_strings(p, "environ", &variables)) {
        const char *port = find_variable(&variables, "ERL_EPMD_PORT");
        vm->epmd_port = port ? port_of(port) : EPMD_PORT;
    }
    set_cookie(p, vm, a, &variables);
    proc_strings_clear(&variables);
}

/* ---- its numbers */

static void set_numbers(const struct discover_look *l, const struct proc *p, struct discover_vm *vm)
{
    char text[8192];
    unsigned long long value = 0;
    vm->uptime_s = -1;
    (void)proc_user(p, &vm->uid, &vm->one_user);
    if (proc_read(p->dir, "statm", text, sizeof text) > 0 && sscanf(text, "%*u %llu", &value) == 1)
        vm->rss_bytes = value * (unsigned long long)sysconf(_SC_PAGESIZE);
    vm->started = proc_started(p);
    if (l->uptime_s >= 0 && vm->started != 0) {
        const double age_s = l->uptime_s - (double)vm->started / (double)sysconf(_SC_CLK_TCK);
        vm->uptime_s = age_s > 0 ? age_s : 0;
    }
}

/* ---- all of it */

/* The kernel answers these by itself, whatever the VM's files and users come from. */
static void set_known(const struct discover_look *l, const struct proc *p, struct discover_vm *vm,
                      const struct beam_args *a, const char *argv0)
{
    set_numbers(l, p, vm);
    snprintf(vm->user, sizeof vm->user, "%lu", (unsigned long)vm->uid);
    vm->other_users = proc_file_differs(p, "uid_map", "self");
    vm->other_root = proc_link_differs(p, "root", "self") || proc_link_differs(p, "ns/mnt", "self");
    vm->other_network = proc_other_network(p);
    set_node(vm, a, l->this_host);
    set_command(vm, a);
    set_otp(vm, a, argv0);
    set_ports(vm, a);
}

static void add_vm(const struct discover_look *l, const struct proc *p,
                   const struct proc_strings *cmdline, pid_t pid, bool within)
{
    struct beam_args args;
    struct discover_vm vm = {.pid = pid};
    parse_args(cmdline, &args);
    set_known(l, p, &vm, &args, cmdline->bytes);
    if (within) {
        set_user(p, &vm);
        set_contained_node(p, &vm, &args);
        set_otp_version(p, &vm, &args);
        set_surroundings(p, &vm, &args);
    }
    l->found(l->arg, &vm);
    cookie_wipe(&vm.cookie);
}

static bool look(const struct discover_look *l, pid_t pid, bool within)
{
    struct proc p;
    struct proc_strings cmdline = {0};
    if (proc_open_pid(&p, l->tree, pid) != 0)
        return false;
    bool is_vm = proc_read_strings(&p, "cmdline", &cmdline) && is_emulator(cmdline.bytes);
    if (is_vm && l->found)
        add_vm(l, &p, &cmdline, pid, within);
    proc_strings_clear(&cmdline);
    proc_close(&p);
    return is_vm;
}

bool discover_look(const struct discover_look *l, pid_t pid)
{
    return look(l, pid, false);
}

bool discover_look_within(const struct discover_look *l, pid_t pid)
{
    return look(l, pid, true);
}

bool discover_has_name(pid_t pid)
{
    char path[32], name[32];
    snprintf(path, sizeof path, "/proc/%d/comm", (int)pid);
    return proc_read(AT_FDCWD, path, name, sizeof name) > 0 && strncmp(name, "beam.", 5) == 0;
}

bool discover_is_vm(pid_t pid, uint64_t started)
{
    const struct discover_look l = {.tree = "/proc"};
    struct proc p;
    const bool is_it =
        proc_open_pid(&p, l.tree, pid) == 0 && (started == 0 || proc_started(&p) == started);
    proc_close(&p);
    return is_it && (discover_has_name(pid) || discover_look(&l, pid));
}
