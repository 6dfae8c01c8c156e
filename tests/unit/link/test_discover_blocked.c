/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Discovery where a file system hangs: what does not depend on it is found, and the rest is
 * counted. */
#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../temporary.h"
#include "../../test.h"
#include "beamtop/link/discover.h"

#define MANY 24 /* VMs that hang: more than a scan has threads */

static char tree[64];

static const char *path_of(char out[256], const char *name)
{
    snprintf(out, 256, "%s/%s", tree, name);
    return out;
}

static void make_vm(const char *pid, const char *node)
{
    char path[256], args[256], name[64];
    const int n = snprintf(args, sizeof args, "/x/erts-13.1/bin/beam.smp%c-root%c/x%c-sname%c%s", 0,
                           0, 0, 0, node);
    assert_int_equal(mkdir(path_of(path, pid), 0700), 0);
    snprintf(name, sizeof name, "%s/cmdline", pid);
    FILE *f = fopen(path_of(path, name), "w");
    assert_non_null(f);
    assert_int_equal(fwrite(args, 1, (size_t)n + 1, f), n + 1);
    fclose(f);
}

/* A file system that never answers, until it is closed; -1: it cannot be made here. */
static int hang(const char *name)
{
    char path[256], options[96];
    const int fd = open("/dev/fuse", O_RDWR | O_CLOEXEC);
    snprintf(options, sizeof options, "fd=%d,rootmode=40000,user_id=0,group_id=0", fd);
    assert_int_equal(mkdir(path_of(path, name), 0700), 0);
    if (fd >= 0 && mount("hung", path, "fuse", 0, options) == 0)
        return fd;
    if (fd >= 0)
        close(fd);
    return -1;
}

static char *number_of(char out[16], int i)
{
    snprintf(out, 16, "%d", 100 + i);
    return out;
}

static int make_tree(void **state)
{
    char path[256], hung[256], number[16], name[32];
    (void)state;
    if (!temporary_dir(tree, sizeof tree, "blocked"))
        return -1;
    make_vm("11", "fine@vm");
    make_vm("13", "hung@vm");
    for (int i = 0; i < MANY; i++) {
        snprintf(name, sizeof name, "%s/root", number_of(number, i));
        make_vm(number, "many@vm");
        assert_int_equal(symlink(path_of(hung, "many"), path_of(path, name)), 0);
    }
    return symlink(path_of(hung, "hung"), path_of(path, "13/root"));
}

static void remove_vm(const char *number)
{
    static const char *const names[] = {"cmdline", "root", ""};
    char path[256], name[32];
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        snprintf(name, sizeof name, "%s/%s", number, names[i]);
        (void)remove(path_of(path, name));
    }
}

static int remove_tree(void **state)
{
    static const char *const dirs[] = {"12", "14", "hung", "many", ""};
    char path[256], number[16];
    (void)state;
    remove_vm("11");
    remove_vm("13");
    for (int i = 0; i < MANY; i++)
        remove_vm(number_of(number, i));
    for (size_t i = 0; i < ARRAY_LEN(dirs); i++) {
        (void)umount2(path_of(path, dirs[i]), MNT_DETACH);
        (void)rmdir(path);
    }
    return 0;
}

static const struct discover_vm *find(const struct discover_list *list, const char *node)
{
    for (size_t i = 0; i < list->count; i++)
        if (strcmp(list->vms[i].node, node) == 0)
            return &list->vms[i];
    return NULL;
}

static void scan(struct discover_list *list)
{
    const struct discover_options options = {.proc_root = tree, .this_host = "vm"};
    struct error err = {0};
    assert_int_equal(discover_scan(list, &options, &err), 0);
}

static bool may_mount(void)
{
    return unshare(CLONE_NEWNS) == 0 && mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0;
}

/* The process 12 is in one, and the files of VM 13. */
TEST(test_hung_file_systems)
{
    struct discover_list list = {0};
    if (!may_mount())
        skip();
    const int process = hang("12"), files = hang("hung");
    if (process < 0 || files < 0)
        skip();
    scan(&list);
    close(process);
    close(files);
    const struct discover_vm *hung = find(&list, "hung@vm");
    assert_int_equal(list.unread, 2);
    assert_true(list.blocked == 12 || list.blocked == 13);
    assert_non_null(find(&list, "fine@vm"));
    assert_non_null(hung);
    assert_string_equal(hung->otp, "25");
    discover_clear(&list);
}

static size_t scan_only(struct discover_list *list, pid_t pid)
{
    const struct discover_options options = {.proc_root = tree, .this_host = "vm", .only = pid};
    struct error err = {0};
    assert_int_equal(discover_scan(list, &options, &err), 0);
    const size_t found = list->count;
    discover_clear(list);
    return found;
}

/* Of one process only: others are not looked at, and one that hangs is left behind. */
TEST(test_one_process)
{
    struct discover_list list = {0};
    struct error err = {0};
    assert_int_equal(scan_only(&list, 11), 1);
    assert_int_equal(scan_only(&list, 10), 0);
    if (!may_mount())
        skip();
    const int process = hang("14");
    if (process < 0)
        skip();
    const struct discover_options options = {.proc_root = tree, .this_host = "vm", .only = 14};
    assert_int_equal(discover_scan(&list, &options, &err), 0);
    close(process);
    assert_int_equal(list.count, 0);
    assert_int_equal(list.unread, 1);
    assert_int_equal(list.blocked, 14);
    discover_clear(&list);
}

/* All have the names that their command lines say, however few of their files answer. */
TEST(test_many_that_hang)
{
    struct discover_list list = {0};
    size_t named = 0;
    if (!may_mount())
        skip();
    const int files = hang("many");
    if (files < 0)
        skip();
    scan(&list);
    close(files);
    for (size_t i = 0; i < list.count; i++)
        named += strcmp(list.vms[i].node, "many@vm") == 0;
    assert_int_equal(named, MANY);
    assert_non_null(find(&list, "fine@vm"));
    assert_in_range(list.unread, 1, MANY + 2);
    discover_clear(&list);
}

TESTS_WITH(make_tree, remove_tree);
