/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "way_masters.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "way_child.h"
#include "way_remains.h"

#define EXIT_MS 800u     /* for `ssh -O exit`, then for those that it ends */
#define KILL_TURNS 4     /* of them, with their children */
#define LOG_BYTES 65536L /* of a log: more is skipped */

void way_masters_init(struct way_masters *m, const char *runtime_dir)
{
    *m = (struct way_masters){.runtime_dir = runtime_dir};
    way_remains_clear(runtime_dir);
}

static int make_dir(struct way_masters *m, struct error *err)
{
    if ((*m->dir && way_remains_has_dir(m->dir)) ||
        way_remains_make_dir(m->dir, sizeof m->dir, m->runtime_dir))
        return 0;
    return error_set(err, ERR_SYSTEM,
                     "no private directory for ssh's sockets can be made in XDG_RUNTIME_DIR or "
                     "/tmp: set XDG_RUNTIME_DIR to a directory of yours that others cannot write, "
                     "with a path of at most 64 bytes");
}

static struct way_master *find(struct way_masters *m, const struct way_url *url)
{
    for (size_t i = 0; i < WAY_MASTERS; i++)
        if (m->all[i].is_used && way_url_is_beside(&m->all[i].url, url))
            return &m->all[i];
    return NULL;
}

static void fill(struct way_stop *stop, const struct way_master *master)
{
    const bool is_ours = master && !master->is_users;
    stop->control = is_ours ? master->control : NULL;
    stop->log = is_ours ? master->log : NULL;
}

static void empty(struct way_master *master)
{
    (void)unlink(master->control);
    (void)unlink(master->log);
    *master = (struct way_master){0};
}

/* The one of the host; a new one if there is none; NULL: there are too many. */
static struct way_master *take(struct way_masters *m, const struct way_url *url)
{
    struct way_master *master = find(m, url);
    for (size_t i = 0; i < WAY_MASTERS && !master; i++) {
        if (m->all[i].is_used)
            continue;
        master = &m->all[i];
        *master = (struct way_master){.is_used = true, .url = *url};
    }
    return master;
}

int way_masters_add(struct way_masters *m, struct way_stop *stop, struct error *err)
{
    const int rc = make_dir(m, err);
    struct way_master *master = rc == 0 ? take(m, stop->url) : NULL;
    if (rc != 0)
        return rc;
    if (!master)
        return error_set(err, ERR_LIMIT, "more than %d hosts by SSH", WAY_MASTERS);
    const size_t i = (size_t)(master - m->all);
    snprintf(master->control, sizeof master->control, "%s/%zu", m->dir, i);
    snprintf(master->log, sizeof master->log, "%s/%zu.log", m->dir, i);
    fill(stop, master);
    return 0;
}

void way_masters_find(struct way_masters *m, struct way_stop *stop, bool ready)
{
    const struct way_master *master = find(m, stop->url);
    fill(stop, master && (master->ready || !ready) ? master : NULL);
}

void way_masters_ready(struct way_masters *m, const struct way_stop *stop, bool is_users)
{
    struct way_master *master = take(m, stop->url);
    if (!master)
        return; /* its streams log in one by one */
    master->ready = true;
    master->is_users = is_users;
    master->rests_till_ms = 0;
}

void way_masters_fail(struct way_masters *m, const struct way_stop *stop, uint64_t rests_till_ms,
                      const struct error *why)
{
    struct way_master *master = find(m, stop->url);
    if (master)
        empty(master);
    master = rests_till_ms > 0 ? take(m, stop->url) : NULL;
    if (!master)
        return;
    master->rests_till_ms = rests_till_ms;
    master->why = *why;
}

bool way_masters_rests(struct way_masters *m, const struct way_stop *stop, uint64_t now_ms,
                       struct error *why)
{
    const struct way_master *master = find(m, stop->url);
    if (!master || now_ms >= master->rests_till_ms)
        return false;
    *why = master->why;
    return true;
}

void way_masters_doubt(struct way_masters *m, const struct way_stop *stop)
{
    struct way_master *master = find(m, stop->url);
    if (master && master->is_users)
        empty(master);
}

bool way_masters_lost(struct way_masters *m, const struct way_stop *stop)
{
    struct way_master *master = find(m, stop->url);
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    if (!master || !master->ready || master->is_users)
        return false;
    snprintf(to.sun_path, sizeof to.sun_path, "%s", master->control);
    const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return false;
    const bool lost = connect(fd, (const struct sockaddr *)&to, sizeof to) != 0 &&
                      (errno == ECONNREFUSED || errno == ENOENT);
    close(fd);
    master->ready = !lost;
    return lost;
}

bool way_masters_serves(struct way_masters *m, const struct way_stop *stop)
{
    struct way_master *master = find(m, stop->url);
    if (!master || !master->ready)
        return false;
    if (!way_masters_lost(m, stop))
        return true;
    empty(master); /* its socket would keep another from listening there */
    return false;
}

int way_masters_log(struct way_masters *m, const struct way_stop *stop, off_t *from)
{
    const struct way_master *master = find(m, stop->url);
    struct stat st;
    const int fd =
        master && *master->log ? open(master->log, O_RDONLY | O_CLOEXEC | O_NOFOLLOW) : -1;
    if (fd < 0)
        return -1;
    if (fstat(fd, &st) == 0) {
        if (st.st_size - *from > LOG_BYTES)
            *from = st.st_size - LOG_BYTES;
        (void)lseek(fd, *from, SEEK_SET);
        *from = st.st_size;
    }
    return fd;
}

/* ---- the end */

static void kill_children(void)
{
    char path[64];
    long pid;
    snprintf(path, sizeof path, "/proc/self/task/%ld/children", (long)getpid());
    FILE *file = fopen(path, "re");
    while (file && fscanf(file, "%ld", &pid) == 1)
        if (pid > 1)
            (void)kill((pid_t)pid, SIGKILL);
    if (file)
        fclose(file);
}

static void ask_to_end(const struct way_master *master)
{
    struct way_words words = {0};
    const struct way_stop stop = {.url = &master->url, .control = master->control};
    way_put_master_end(&words, &stop);
    way_spawn_unheard(&words);
}

void way_masters_end(struct way_masters *m)
{
    for (size_t i = 0; i < WAY_MASTERS; i++)
        if (m->all[i].ready && !m->all[i].is_users)
            ask_to_end(&m->all[i]);
    bool ended = way_remains_reap(EXIT_MS);
    for (unsigned i = 0; !ended && i < KILL_TURNS; i++) { /* what one leaves is a child, too */
        kill_children();
        ended = way_remains_reap(EXIT_MS / KILL_TURNS);
    }
    for (size_t i = 0; i < WAY_MASTERS; i++)
        if (m->all[i].is_used)
            empty(&m->all[i]);
    if (*m->dir)
        (void)rmdir(m->dir);
}
