/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "way_remains.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "beamtop/base/attr.h"
#include "beamtop/base/clock.h"
#include "way_child.h"

#define DIR_BYTES 64u /* a socket's path has 108, and ssh adds some to it */
#define DIR_TRIES 3   /* another process may have removed a new one before it was locked */
#define DIR_PREFIX "beamtop-"
#define LOOK_MS 5          /* between looks at children that end */
#define CLEAR_MS 1000u     /* for all that was left */
#define ENTRIES_MOST 10000 /* of a directory that anyone may fill */

#define RANDOM_SIX                                                                                 \
    "XX"                                                                                           \
    "XX"                                                                                           \
    "XX" /* for mkdtemp() */

/* No other user can replace a directory in it; the owner of one can, whatever its mode is. */
static bool is_safe(const char *dir)
{
    struct stat st;
    return dir && dir[0] == '/' && strlen(dir) <= DIR_BYTES &&
           !strpbrk(dir, "%$ ") /* ssh expands these */ && stat(dir, &st) == 0 &&
           (st.st_uid == geteuid() || st.st_uid == 0) &&
           ((st.st_mode & S_ISVTX) != 0 ||
            (st.st_uid == geteuid() && (st.st_mode & (S_IWGRP | S_IWOTH)) == 0));
}

/* Its lock is held until this process ends; children do not inherit it. */
static bool lock(const char *dir)
{
    struct stat st;
    const int fd = open(dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return false;
    if ((flock(fd, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) && stat(dir, &st) == 0)
        return true;
    close(fd);
    return false;
}

bool way_remains_make_dir(char *out, size_t size, const char *runtime_dir)
{
    const char *places[] = {runtime_dir, "/tmp"};
    for (size_t i = 0; i < ARRAY_LEN(places); i++)
        for (int try = 0; is_safe(places[i]) && try < DIR_TRIES; try++) {
            snprintf(out, size, "%.64s/" DIR_PREFIX RANDOM_SIX, places[i]);
            if (mkdtemp(out) && lock(out))
                return true;
        }
    *out = '\0';
    return false;
}

bool way_remains_has_dir(const char *dir)
{
    struct stat st;
    return lstat(dir, &st) == 0 && S_ISDIR(st.st_mode) && st.st_uid == geteuid() &&
           (st.st_mode & 0777) == 0700;
}

bool way_remains_reap(unsigned ms)
{
    const struct timespec look = {.tv_nsec = LOOK_MS * 1000000L};
    const uint64_t end_ns = clock_mono_ns() + (uint64_t)ms * 1000000u;
    for (;;) {
        const pid_t pid = waitpid(-1, NULL, WNOHANG);
        if (pid < 0 && errno == ECHILD)
            return true;
        if (pid <= 0) {
            if (clock_mono_ns() >= end_ns)
                return false;
            nanosleep(&look, NULL);
        }
    }
}

/* ---- what others have left */

static void stop_master(const char *control)
{
    struct way_words words = {0};
    const struct way_url any = {.scheme = WAY_SSH, .host = "any"};
    const struct way_stop stop = {.url = &any, .control = control};
    way_put_master_stop(&words, &stop);
    way_spawn_unheard(&words);
}

static bool is_socket(int dir, const char *name)
{
    struct stat st;
    return fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISSOCK(st.st_mode);
}

/* Of masters whose process is gone, ssh leaves nothing but the socket. */
static void clear_dir(DIR *dir, const char *path, bool stops)
{
    const struct dirent *entry;
    rewinddir(dir);
    while ((entry = readdir(dir))) {
        char control[512];
        if (entry->d_name[0] == '.')
            continue;
        snprintf(control, sizeof control, "%.200s/%.255s", path, entry->d_name);
        if (!stops)
            (void)unlinkat(dirfd(dir), entry->d_name, 0);
        else if (is_socket(dirfd(dir), entry->d_name))
            stop_master(control);
    }
}

/* A directory of this user's that nothing else can be, and no process holds. */
static DIR *open_left(int parent, const char *name)
{
    struct stat st;
    const int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return NULL;
    DIR *dir = NULL;
    if (fstat(fd, &st) == 0 && st.st_uid == geteuid() && (st.st_mode & 07777) == S_IRWXU &&
        flock(fd, LOCK_EX | LOCK_NB) == 0)
        dir = fdopendir(fd);
    if (!dir)
        close(fd);
    return dir;
}

static void clear_left(int parent, const char *parent_path, const char *name)
{
    char path[512];
    DIR *dir = open_left(parent, name);
    if (!dir)
        return;
    snprintf(path, sizeof path, "%.64s/%.255s", parent_path, name);
    clear_dir(dir, path, true);
    (void)way_remains_reap(CLEAR_MS);
    clear_dir(dir, path, false);
    (void)unlinkat(parent, name, AT_REMOVEDIR);
    closedir(dir);
}

void way_remains_clear(const char *runtime_dir)
{
    const char *place = is_safe(runtime_dir) ? runtime_dir : "/tmp";
    const uint64_t end_ns = clock_mono_ns() + CLEAR_MS * 1000000ull;
    const struct dirent *entry;
    DIR *parent = opendir(place);
    for (int n = 0; parent && n < ENTRIES_MOST && (entry = readdir(parent)); n++)
        if (strncmp(entry->d_name, DIR_PREFIX, strlen(DIR_PREFIX)) == 0 &&
            strlen(entry->d_name) == strlen(DIR_PREFIX RANDOM_SIX) && clock_mono_ns() < end_ns)
            clear_left(dirfd(parent), place, entry->d_name);
    if (parent)
        closedir(parent);
}
