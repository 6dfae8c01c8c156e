/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "way_child.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "beamtop/base/alloc.h"
#include "beamtop/base/spawn.h"

#define PIPE_BYTES 65536u

static void close_fd(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

static int open_pipe(int fds[2])
{
    if (pipe2(fds, O_CLOEXEC) != 0)
        return errno;
    return fcntl(fds[0], F_SETFL, O_NONBLOCK) == 0 ? 0 : errno;
}

int way_spawn(pid_t *pid, char *const *words, int in, int *out, int *errors, unsigned how)
{
    int said[2] = {-1, -1}, printed[2] = {-1, -1};
    int rc = open_pipe(said);
    if (rc == 0 && out)
        rc = open_pipe(printed);
    if (rc == 0)
        rc = spawn_start(pid, &(struct spawn){.words = words,
                                              .in = in,
                                              .out = out ? printed[1] : in,
                                              .errors = said[1],
                                              .own_group = !(how & WAY_IN_FRONT),
                                              .outlives = (how & WAY_OUTLIVES) != 0});
    close_fd(&said[1]);
    close_fd(&printed[1]);
    if (rc != 0) {
        close_fd(&said[0]);
        close_fd(&printed[0]);
        return rc;
    }
    *errors = said[0];
    if (out)
        *out = printed[0];
    return 0;
}

void way_spawn_unheard(struct way_words *words)
{
    pid_t pid;
    int errors = -1;
    if (way_spawn(&pid, words->all, -1, NULL, &errors, WAY_OUTLIVES) == 0)
        close(errors);
    way_words_clear(words);
}

void way_spawn_explain(int errnum, const char *program, struct error *err)
{
    if (errnum == ENOENT)
        error_set(err, ERR_CONNECT, "there is no %s on this host: install it, or add it to PATH",
                  program);
    else
        error_set_errno(err, errnum, "%s cannot be started", program);
}

static void keep_last(char *kept, size_t size, size_t *len, const char *bytes, size_t n)
{
    if (n > size - 1) {
        bytes += n - (size - 1);
        n = size - 1;
    }
    const size_t room = size - 1 - *len;
    if (n > room) {
        memmove(kept, kept + (n - room), *len - (n - room));
        *len -= n - room;
    }
    for (size_t i = 0; i < n; i++) /* it is text from here on */
        kept[(*len)++] = bytes[i] != '\0' ? bytes[i] : '?';
    kept[*len] = '\0';
}

size_t way_read_last(char *kept, size_t size, size_t *len, int *fd)
{
    char bytes[1024];
    size_t all = 0;
    /* All that a pipe holds, since the reason comes last. */
    for (size_t turns = 0; *fd >= 0 && turns < 2 * PIPE_BYTES / sizeof bytes; turns++) {
        const ssize_t n = read(*fd, bytes, sizeof bytes);
        if (n > 0) {
            keep_last(kept, size, len, bytes, (size_t)n);
            all += (size_t)n;
        } else if (n == 0 || (errno != EINTR && errno != EAGAIN)) {
            close_fd(fd);
        } else if (errno == EAGAIN) {
            break;
        }
    }
    return all;
}

void way_child_read(struct way_child *c, int *fd)
{
    c->said_all += way_read_last(c->said, sizeof c->said, &c->said_len, fd);
}

static void hear(void *arg, const char *bytes, size_t n)
{
    struct way_child *c = arg;
    keep_last(c->said, sizeof c->said, &c->said_len, bytes, n);
    c->said_all += n;
}

void way_child_carry(struct way_child *c)
{
    way_carry(&c->carry, &c->out, c->theirs, hear, c);
}

void way_child_forget(struct way_child *c)
{
    c->said_len = c->said_all = c->told = 0;
    c->said[0] = '\0';
}

void way_child_close(struct way_child *c)
{
    close_fd(&c->status);
    close_fd(&c->errors);
    close_fd(&c->out);
    close_fd(&c->ours);
    close_fd(&c->theirs);
}

/* ---- all of them */

struct way_child *way_children_add(struct way_children *all, const struct way_ask *ask, int status)
{
    if (all->n == WAY_CHILDREN)
        return NULL;
    struct way_child *c = alloc_zero(1, sizeof *c);
    c->ask = *ask;
    c->ask.url[sizeof c->ask.url - 1] = c->ask.address[sizeof c->ask.address - 1] = '\0';
    c->status = status;
    c->errors = c->out = c->ours = c->theirs = -1;
    all->all[all->n++] = c;
    return c;
}

void way_children_forget_ended(struct way_children *all)
{
    size_t kept = 0;
    for (size_t i = 0; i < all->n; i++) {
        if (all->all[i]->has_exited) {
            way_child_close(all->all[i]);
            free(all->all[i]);
        } else {
            all->all[kept++] = all->all[i];
        }
    }
    all->n = kept;
}

/* ---- answers */

void way_child_say(struct way_child *c, enum way_state state, enum conn_failure why, bool prompts,
                   const struct error *err, int fd)
{
    struct way_say message = {.state = state, .why = why, .prompts = prompts};
    if (err)
        snprintf(message.text, sizeof message.text, "%.*s", (int)sizeof message.text - 1,
                 err->text);
    if (c->status >= 0)
        (void)way_wire_send(c->status, &message, sizeof message, fd);
}

void way_child_say_open(struct way_child *c, int fd)
{
    c->is_open = true;
    way_child_say(c, WAY_SAYS_OPEN, CONN_FAILED_WAY, false, NULL, fd);
}

void way_child_fail(struct way_child *c, enum conn_failure why, bool prompts,
                    const struct error *err)
{
    way_child_say(c, WAY_SAYS_FAILED, why, prompts, err, -1);
    way_child_close(c);
    c->has_exited = true;
}

void way_child_fail_start(struct way_child *c, int errnum, const char *program)
{
    struct error err = {0};
    way_spawn_explain(errnum, program, &err);
    way_child_fail(c, CONN_FAILED_WAY, false, &err);
}
