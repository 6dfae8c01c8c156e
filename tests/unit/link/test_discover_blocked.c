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

#define TURNS 15 /* on a busy host a scan may be late for all */

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

static int make_tree(void **state)
{
    char path[256], hung[256];
    (void)state;
    if (!temporary_dir(tree, sizeof tree, "blocked"))
        return -1;
    make_vm("11", "fine@vm");
    make_vm("13", "hung@vm");
    return symlink(path_of(hung, "hung"), path_of(path, "13/root"));
}

static int remove_tree(void **state)
{
    static const char *const names[] = {"11/cmdline", "13/cmdline", "13/root"};
    static const char *const dirs[] = {"11", "12", "13", "hung", ""};
    char path[256];
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        (void)unlink(path_of(path, names[i]));
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

static bool is_bounded(void)
{
    const struct discover_options options = {.proc_root = tree, .this_host = "vm"};
    struct discover_list list = {0};
    struct error err = {0};
    assert_int_equal(discover_scan(&list, &options, &err), 0);
    const struct discover_vm *hung = find(&list, "hung@vm");
    const bool ok = list.unread == 2 && (list.blocked == 12 || list.blocked == 13) &&
                    find(&list, "fine@vm") && hung && strcmp(hung->otp, "25") == 0;
    discover_clear(&list);
    return ok;
}

/* The process 12 is in one, and the files of VM 13. */
TEST(test_hung_file_systems)
{
    bool ok = false;
    if (unshare(CLONE_NEWNS) != 0 || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0)
        skip();
    const int process = hang("12"), files = hang("hung");
    if (process < 0 || files < 0)
        skip();
    for (int i = 0; !ok && i < TURNS; i++)
        ok = is_bounded();
    close(process);
    close(files);
    assert_true(ok);
}

TESTS_WITH(make_tree, remove_tree);
