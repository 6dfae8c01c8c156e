/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which files of a VM are read for its certificates: over a tree that is made like /proc. */
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../temporary.h"
#include "../../test.h"
#include "beamtop/link/discover.h"
#include "link/discover/as_user.h"

#define OTHER_UID 12345
#define OTHER_GID 12346U

static char tree[64];

static const char *in_tree(const char *path)
{
    static char full[512];
    snprintf(full, sizeof full, "%s/%s", tree, path);
    return full;
}

static void make_file(const char *path, const char *text, size_t len)
{
    FILE *f = fopen(in_tree(path), "w");
    assert_non_null(f);
    assert_int_equal(fwrite(text, 1, len, f), len);
    fclose(f);
}

static void make_text(const char *path, const char *text)
{
    make_file(path, text, strlen(text));
}

/* args: '|' between the strings. */
static void make_vm_of(const char *args, uid_t real, uid_t uid, unsigned real_gid)
{
    char text[1024];
    const size_t len = strlen(args) + 1;
    memcpy(text, args, len);
    for (size_t i = 0; i < len; i++)
        text[i] = text[i] == '|' ? '\0' : text[i];
    make_file("7/cmdline", text, len);
    snprintf(text, sizeof text,
             "Name:\tbeam\nUid:\t%u\t%u\t%u\t%u\nGid:\t%u\t%u\t%u\t%u\nGroups:\t%u %u \n",
             (unsigned)real, (unsigned)uid, (unsigned)uid, (unsigned)uid, real_gid, OTHER_GID,
             OTHER_GID, OTHER_GID, OTHER_GID + 1, 7U);
    make_text("7/status", text);
}

static void make_vm(const char *args, uid_t real, uid_t uid)
{
    make_vm_of(args, real, uid, OTHER_GID);
}

static int make_tree(void **state)
{
    (void)state;
    assert_true(temporary_dir(tree, sizeof tree, "tls"));
    assert_int_equal(mkdir(in_tree("7"), 0700), 0);
    assert_int_equal(mkdir(in_tree("inside"), 0755), 0);
    assert_int_equal(symlink("../inside", in_tree("7/root")), 0);
    assert_int_equal(symlink("/inside", in_tree("7/cwd")), 0);
    assert_int_equal(mkfifo(in_tree("inside/pipe"), 0600), 0);
    make_text("outside", "[].");
    assert_int_equal(symlink("../../outside", in_tree("inside/leads_out")), 0);
    make_text("inside/empty", "");
    make_text("inside/nothing", "[].");
    make_text("inside/called", "[{client, [{certfile, f:g()}]}].");
    make_text("inside/inline", "[{client, [{cert, <<1>>}]}].");
    make_text("inside/lost", "[{client, [{certfile, \"/gone.pem\"}]}].");
    make_text("inside/not_pem", "[{client, [{certfile, \"/nothing\"}]}].");
    return 0;
}

/* What keeps the certificates from being read; "": nothing. */
static const char *reason(uid_t uid)
{
    static struct error err;
    const struct discover_options o = {.proc_root = tree};
    const struct discover_vm vm = {.pid = 7, .uid = uid};
    struct tls_context *c = NULL;
    struct tls_source *source = discover_tls(&vm, &o);
    err = (struct error){0};
    const int rc = source->class->load(source, &c, &err);
    assert_null(c);
    tls_source_drop(source);
    assert_true((rc == 0) == (err.text[0] == '\0'));
    return err.text;
}

TEST(test_what_is_refused)
{
    static const struct {
        const char *args, *part;
    } cases[] = {
        {"beam.smp|-proto_dist|inet_tls", ""},
        {"beam.smp|-ssl_dist_optfile|/nothing", ""},
        {"beam.smp|-extra|-ssl_dist_optfile|/called", ""},
        {"beam.smp|-ssl_dist_optfile|/called", "/called: it is an Erlang expression"},
        {"beam.smp|-ssl_dist_optfile|/inline", "its certificates: no usable certificate"},
        {"beam.smp|-ssl_dist_optfile|/lost", "/gone.pem cannot be read"},
        {"beam.smp|-ssl_dist_optfile|/pipe", "/pipe cannot be read"},
        {"beam.smp|-ssl_dist_optfile|/leads_out", "/leads_out cannot be read"},
        {"beam.smp|-ssl_dist_optfile|/empty", "/empty is empty"},
        {"beam.smp|-ssl_dist_optfile|relative", "relative cannot be read"},
        {"beam.smp|-ssl_dist_opt|client_certfile|/gone.pem|client_keyfile|/k", "/gone.pem cannot"},
        {"beam.smp|-ssl_dist_opt|server_certfile|/gone.pem", "/gone.pem cannot be read"},
        {"beam.smp|-ssl_dist_optfile|/not_pem", "its certificates: no usable certificate"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const bool needs_tls = strncmp(cases[i].part, "its certificates", 16) == 0;
        make_vm(cases[i].args, getuid(), getuid());
        const char *got = reason(getuid());
        print_message("# %s: %s\n", cases[i].args, got);
        if (needs_tls && !tls_available())
            assert_non_null(strstr(got, "without OpenSSL"));
        else
            assert_true(cases[i].part[0] ? strstr(got, cases[i].part) != NULL : got[0] == '\0');
    }
}

/* Another user than that of the VM, root included, gets what the VM's may read. */
TEST(test_whose_files)
{
    make_vm("beam.smp|-ssl_dist_optfile|/nothing", getuid(), OTHER_UID);
    assert_non_null(strstr(reason(OTHER_UID), "several users"));
    make_vm("beam.smp|-ssl_dist_optfile|/nothing", OTHER_UID, OTHER_UID);
    assert_non_null(strstr(reason(getuid()), "several users"));
    make_vm_of("beam.smp|-ssl_dist_optfile|/nothing", OTHER_UID, OTHER_UID, OTHER_GID + 2);
    assert_non_null(strstr(reason(OTHER_UID), "or groups"));
    if (getuid() != 0) {
        print_message("# only root can take the rights of another user\n");
        make_vm("beam.smp|-ssl_dist_optfile|/nothing", OTHER_UID, OTHER_UID);
        assert_non_null(strstr(reason(OTHER_UID), "lacks CAP_SETUID"));
        return;
    }
    make_text("inside/secret", "[].");
    make_vm("beam.smp|-ssl_dist_optfile|/secret", OTHER_UID, OTHER_UID);
    assert_int_equal(chmod(in_tree("inside/secret"), 0600), 0);
    assert_non_null(strstr(reason(OTHER_UID), "/secret cannot be read by the node's user: Perm"));
    assert_int_equal(chown(in_tree("inside/secret"), OTHER_UID, (gid_t)-1), 0);
    assert_string_equal(reason(OTHER_UID), "");
    assert_int_equal(chown(in_tree("inside/secret"), 0, OTHER_GID), 0);
    assert_int_equal(chmod(in_tree("inside/secret"), 0640), 0);
    assert_string_equal(reason(OTHER_UID), ""); /* as its group */
    assert_int_equal(chown(in_tree("inside/secret"), 0, OTHER_GID + 1), 0);
    assert_string_equal(reason(OTHER_UID), ""); /* as one of its other groups */
    assert_int_equal(chown(in_tree("inside/secret"), 0, OTHER_GID + 2), 0);
    assert_non_null(strstr(reason(OTHER_UID), "cannot be read by the node's user"));
    FILE *own = fopen(in_tree("inside/secret"), "r"); /* the rights are ours again */
    assert_non_null(own);
    fclose(own);
}

struct guest {
    sem_t is_other, leave;
    int rc;
};

static void *visit(void *arg)
{
    struct guest *g = arg;
    struct as_user rights;
    g->rc = as_user_begin(&rights, OTHER_UID, "\nGid:\t1\t1\t1\t1\nGroups:\t1 \n");
    sem_post(&g->is_other);
    sem_wait(&g->leave);
    as_user_end(&rights);
    return NULL;
}

static bool writes_cores(void)
{
    return prctl(PR_GET_DUMPABLE, 0, 0, 0, 0) == 1;
}

/* The one that came first leaves first, between the other's begin and end. */
TEST(test_two_threads_as_another_user)
{
    struct guest guests[2];
    pthread_t threads[2];
    if (getuid() != 0) {
        print_message("# only root can take the rights of another user\n");
        return;
    }
    assert_int_equal(prctl(PR_SET_DUMPABLE, 1, 0, 0, 0), 0);
    for (size_t i = 0; i < 2; i++) {
        sem_init(&guests[i].is_other, 0, 0);
        sem_init(&guests[i].leave, 0, 0);
        assert_int_equal(pthread_create(&threads[i], NULL, visit, &guests[i]), 0);
        sem_wait(&guests[i].is_other);
        assert_int_equal(guests[i].rc, 0);
    }
    assert_false(writes_cores());
    for (size_t i = 0; i < 2; i++) {
        sem_post(&guests[i].leave);
        pthread_join(threads[i], NULL);
        assert_int_equal(writes_cores(), i == 1);
        sem_destroy(&guests[i].is_other);
        sem_destroy(&guests[i].leave);
    }
}

static int remove_tree(void **state)
{
    (void)state;
    char command[128];
    snprintf(command, sizeof command, "rm -rf '%s'", tree);
    return system(command);
}

TESTS_WITH(make_tree, remove_tree);
