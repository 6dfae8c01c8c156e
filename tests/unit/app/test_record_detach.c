/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A recorder's log is a file of its own and nothing else; what it leaves behind when
 * it detaches. */
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "../../test.h"
#include "app/recorder/record_detach.h"
#include "../../temporary.h"

struct place {
    char dir[64], log[96], other[96];
};

static void place_make(struct place *p)
{
    assert_true(temporary_dir(p->dir, sizeof p->dir, "detach"));
    snprintf(p->log, sizeof p->log, "%s/a.btr.log", p->dir);
    snprintf(p->other, sizeof p->other, "%s/other", p->dir);
}

static void place_clear(const struct place *p)
{
    unlink(p->log);
    unlink(p->other);
    assert_int_equal(rmdir(p->dir), 0);
}

static void put(const char *path, const char *text)
{
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    assert_int_equal(fclose(f), 0);
}

static void assert_refused(const char *path, const char *says)
{
    struct error err = {0};
    struct record_log log;
    assert_int_equal(record_log_open(&log, path, &err), ERR_USAGE);
    if (!strstr(err.text, says))
        fail_msg("%s", err.text);
}

TEST(test_a_log_is_a_file_of_its_own)
{
    struct error err = {0};
    struct record_log log;
    struct stat st;
    struct place p;
    place_make(&p);
    assert_int_equal(symlink(p.other, p.log), 0); /* where there is nothing yet */
    assert_refused(p.log, "is a link");
    assert_int_not_equal(access(p.other, F_OK), 0);
    unlink(p.log);
    put(p.other, "precious");
    assert_int_equal(symlink(p.other, p.log), 0);
    assert_refused(p.log, "is a link");
    unlink(p.log);
    assert_int_equal(link(p.other, p.log), 0);
    assert_refused(p.log, "has another name too");
    unlink(p.log);
    assert_int_equal(mkfifo(p.log, 0600), 0); /* nobody reads it: an open would wait for ever */
    assert_refused(p.log, "is not a regular file");
    int reader = open(p.log, O_RDONLY | O_NONBLOCK);
    assert_refused(p.log, "is not a regular file");
    close(reader);
    unlink(p.log);
    assert_int_equal(mkdir(p.log, 0700), 0);
    assert_refused(p.log, "is not a regular file");
    rmdir(p.log);
    assert_int_equal(record_log_open(&log, p.log, &err), 0);
    assert_true(log.is_new);
    assert_int_equal(fstat(log.fd, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
    close(log.fd);
    put(p.log, "earlier\n");
    assert_int_equal(record_log_open(&log, p.log, &err), 0);
    assert_false(log.is_new);
    close(log.fd);
    place_clear(&p);
}

/* How many are open beside the one that looks. */
static int open_descriptors(void)
{
    int n = -1;
    DIR *dir = opendir("/proc/self/fd");
    while (dir && readdir(dir))
        n++;
    closedir(dir);
    return n - 2; /* . and .. */
}

static int detached(const struct place *p, const int pipes[2])
{
    char where[128];
    struct error err = {0};
    struct record_log log;
    if (record_log_open(&log, p->log, &err) != 0 || !record_detach(log.fd, pipes[1]))
        return 1;
    if (!getcwd(where, sizeof where) || strcmp(where, "/") != 0)
        return 2;
    if (getsid(0) != getpid())
        return 3;
    if (open_descriptors() != 4 || write(pipes[1], "x", 1) != 1)
        return 4;
    return write(2, "told\n", 5) == 5 ? 0 : 5;
}

TEST(test_what_a_recorder_leaves_behind)
{
    struct place p;
    int pipes[2], status = 0;
    char said[16] = "";
    place_make(&p);
    for (int i = 0; i < 20; i++)
        assert_true(open("/dev/null", O_RDONLY) >=
                    0); /* inherited: without CLOEXEC, on both sides of the pipe */
    assert_int_equal(pipe(pipes), 0);
    for (int i = 0; i < 20; i++)
        assert_true(open("/dev/null", O_RDONLY) >= 0);
    pid_t pid = fork();
    if (pid == 0)
        _exit(detached(&p, pipes));
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
    assert_int_equal(read(pipes[0], said, sizeof said), 1);
    FILE *f = fopen(p.log, "r");
    assert_non_null(f);
    assert_non_null(fgets(said, sizeof said, f));
    fclose(f);
    assert_string_equal(said, "told\n");
    place_clear(&p);
}
