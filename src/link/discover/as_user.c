/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fsuid, fsgid and groups are a thread's, as the kernel has them; libc's setgroups() would set
 * those of all threads. A fsuid that is not 0 takes the capabilities over files, too. */
#include "as_user.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/fsuid.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define NO_ID ((uid_t)-1) /* setfsuid() changes nothing, and says what is set */

/* Whether the process may write a core is cleared by a change of fsuid: a core with another user's
 * rights would give that user our memory. So the last thread that gives its rights back restores
 * it, and one that hangs in between keeps it cleared. */
static struct {
    pthread_mutex_t lock;
    unsigned threads; /* with another user's rights */
    int dumpable;     /* before the first of them, as prctl() has it */
} process = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void change_user(uid_t uid, gid_t gid)
{
    pthread_mutex_lock(&process.lock);
    if (process.threads++ == 0)
        process.dumpable = prctl(PR_GET_DUMPABLE, 0, 0, 0, 0);
    (void)setfsgid(gid);
    (void)setfsuid(uid);
    pthread_mutex_unlock(&process.lock);
}

static void change_back(void)
{
    pthread_mutex_lock(&process.lock);
    (void)setfsuid(geteuid());
    (void)setfsgid(getegid());
    if (--process.threads == 0 && process.dumpable == 1)
        (void)prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
    pthread_mutex_unlock(&process.lock);
}

static int set_groups(const gid_t *groups, int count)
{
    return syscall(SYS_setgroups, count, groups) == 0 ? 0 : errno;
}

static const char *find_field(const char *status, const char *field)
{
    const char *at = strstr(status, field);
    return at ? at + strlen(field) : NULL;
}

/* The last of four: of files. */
static bool read_group(const char *status, gid_t *out)
{
    const char *at = find_field(status, "\nGid:");
    for (int i = 0; at && i < 4; i++) {
        char *end = NULL;
        *out = (gid_t)strtoul(at, &end, 10);
        at = end != at ? end : NULL;
    }
    return at != NULL;
}

static int read_groups(const char *status, gid_t *out)
{
    const char *at = find_field(status, "\nGroups:");
    int n = 0;
    for (; at && n < AS_USER_GROUPS; n++) {
        char *end = NULL;
        at += strspn(at, " \t");
        if (*at < '0' || *at > '9')
            break;
        out[n] = (gid_t)strtoul(at, &end, 10);
        at = end;
    }
    return n;
}

static bool is_set(uid_t uid, gid_t gid)
{
    return (uid_t)setfsuid(NO_ID) == uid && (gid_t)setfsgid(NO_ID) == gid;
}

int as_user_begin(struct as_user *u, uid_t uid, const char *status)
{
    gid_t groups[AS_USER_GROUPS], gid = 0;
    *u = (struct as_user){0};
    if (uid == geteuid())
        return 0;
    if (!read_group(status, &gid))
        return EPERM;
    u->count = getgroups(AS_USER_GROUPS, u->groups);
    int rc = u->count < 0 ? errno : set_groups(groups, read_groups(status, groups));
    if (rc != 0)
        return rc;
    change_user(uid, gid);
    u->is_other = true;
    if (is_set(uid, gid))
        return 0;
    as_user_end(u);
    return EPERM;
}

void as_user_end(struct as_user *u)
{
    if (!u->is_other)
        return;
    change_back();
    (void)set_groups(u->groups, u->count);
    u->is_other = false;
}
