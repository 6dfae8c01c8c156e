/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A recorder's socket and who asks it, in one loop: answers, marks, the end, silence
 * and absence. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "../../test.h"
#include "app/recorder/record_client.h"
#include "app/recorder/record_control.h"
#include "../../temporary.h"

struct world {
    uv_loop_t loop;
    char dir[64];
    struct app_env env;
    struct record_control *control;
    char paths[LIMIT_RECORD_PEERS][RECORD_SOCKET_BYTES];
    size_t n;
    char mark[64];
    int stops, answers;
    char reply[256], error[256];
    enum err code;
};

static void put_status(void *arg, struct buf *out)
{
    (void)arg;
    buf_puts(out, "{\"node\":\"a@b\"}");
}

static void on_mark(void *arg, const char *text)
{
    struct world *w = arg;
    snprintf(w->mark, sizeof w->mark, "%s", text);
}

/* What a recorder does when its file is whole: its process ends, and with it every connection. */
static void on_stop(void *arg)
{
    struct world *w = arg;
    w->stops++;
}

static void on_reply(void *arg, const char *reply, const struct error *err)
{
    struct world *w = arg;
    w->answers++;
    snprintf(w->reply, sizeof w->reply, "%s", reply);
    w->code = err ? err->code : ERR_NONE;
    snprintf(w->error, sizeof w->error, "%.255s", err ? err->text : "");
}

static int set_up(void **state)
{
    static const struct record_control_handlers handlers = {put_status, on_mark, on_stop};
    struct world *w = calloc(1, sizeof *w);
    struct error err = {0};
    uv_loop_init(&w->loop);
    assert_true(temporary_dir(w->dir, sizeof w->dir, "client"));
    w->env.xdg_state_home = w->dir;
    assert_int_equal(record_sockets_list(w->paths, &w->n, &w->env, &err), 0);
    assert_int_equal(w->n, 0);
    assert_int_equal(access(w->dir, F_OK), 0);
    assert_int_equal(record_control_open(&w->control, &w->loop, &w->env, &handlers, w, &err), 0);
    assert_int_equal(record_sockets_list(w->paths, &w->n, &w->env, &err), 0);
    assert_int_equal(w->n, 1);
    *state = w;
    return 0;
}

static int tear_down(void **state)
{
    struct world *w = *state;
    char path[128];
    record_control_close(w->control);
    uv_run(&w->loop, UV_RUN_DEFAULT);
    assert_int_equal(uv_loop_close(&w->loop), 0);
    for (int i = 0; i < 3; i++) {
        static const char *const below[] = {"/beamtop/run", "/beamtop", ""};
        snprintf(path, sizeof path, "%s%s", w->dir, below[i]);
        assert_int_equal(rmdir(path), 0);
    }
    free(w);
    return 0;
}

/* The listening socket does not hold the loop; what is asked does. */
static void ask(struct world *w, const char *line)
{
    w->answers = 0;
    assert_non_null(record_client_ask(&w->loop, w->paths[0], line, on_reply, w));
    assert_int_equal(w->answers, 0);
    uv_run(&w->loop, UV_RUN_DEFAULT);
    assert_int_equal(w->answers, 1);
}

TEST_WITH(test_answers, set_up, tear_down)
{
    struct world *w = *state;
    ask(w, "status");
    assert_int_equal(w->code, ERR_NONE);
    assert_string_equal(w->reply, "{\"node\":\"a@b\"}\n");
    ask(w, "mark déploy 1.2");
    assert_string_equal(w->reply, "{\"ok\":true}\n");
    assert_string_equal(w->mark, "déploy 1.2");
    ask(w, "sing");
    assert_string_equal(w->reply, "{\"ok\":false}\n");
    assert_int_equal(w->stops, 0);
}

TEST_WITH(test_two_at_once, set_up, tear_down)
{
    struct world *w = *state;
    record_client_ask(&w->loop, w->paths[0], "status", on_reply, w);
    record_client_ask(&w->loop, w->paths[0], "mark x", on_reply, w);
    uv_run(&w->loop, UV_RUN_DEFAULT);
    assert_int_equal(w->answers, 2);
}

TEST_WITH(test_cancelled, set_up, tear_down)
{
    struct world *w = *state;
    struct record_client *at_once = record_client_ask(&w->loop, w->paths[0], "status", on_reply, w);
    record_client_cancel(at_once);
    struct record_client *later = record_client_ask(&w->loop, w->paths[0], "status", on_reply, w);
    uv_run(&w->loop, UV_RUN_NOWAIT);
    if (w->answers == 0)
        record_client_cancel(later);
    uv_run(&w->loop, UV_RUN_DEFAULT);
    assert_true(w->answers <= 1);
    record_client_cancel(NULL);
}

/* A stop is answered at once, and over only when the recorder is: here never, so it
 * is cancelled. */
TEST_WITH(test_stop_waits, set_up, tear_down)
{
    struct world *w = *state;
    struct record_client *c = record_client_ask(&w->loop, w->paths[0], "stop", on_reply, w);
    for (int i = 0; i < 15000 && w->stops == 0; i++) {
        uv_run(&w->loop, UV_RUN_NOWAIT);
        usleep(1000);
    }
    for (int i = 0; i < 20; i++)
        uv_run(&w->loop, UV_RUN_NOWAIT);
    assert_int_equal(w->stops, 1);
    assert_int_equal(w->answers, 0);
    record_client_cancel(c);
}

TEST_WITH(test_nobody, set_up, tear_down)
{
    struct world *w = *state;
    char path[RECORD_SOCKET_BYTES];
    memcpy(path, w->paths[0], sizeof path);
    record_control_close(w->control);
    w->control = NULL;
    ask(w, "status");
    assert_int_equal(w->code, ERR_NOT_FOUND);
    /* As after a kill: the name is there, and nobody listens. */
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    memcpy(address.sun_path, path, sizeof path);
    assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof address), 0);
    close(fd);
    ask(w, "status");
    assert_int_equal(w->code, ERR_NOT_FOUND);
    unlink(path);
}

static void address_of(const struct world *w, struct sockaddr_un *address)
{
    *address = (struct sockaddr_un){.sun_family = AF_UNIX};
    memcpy(address->sun_path, w->paths[0], strlen(w->paths[0]) + 1);
}

/* As a recorder of a process that is not there. */
static int listen_silently(struct world *w, int backlog)
{
    struct sockaddr_un address;
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    snprintf(w->paths[0], RECORD_SOCKET_BYTES, "%s/record-4194999.sock", w->dir);
    address_of(w, &address);
    assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof address), 0);
    assert_int_equal(listen(fd, backlog), 0);
    return fd;
}

/* One that listens and never answers: a screen goes on, and says so after three seconds. */
TEST_WITH(test_silent, set_up, tear_down)
{
    struct world *w = *state;
    int fd = listen_silently(w, 1);
    ask(w, "status");
    assert_int_equal(w->code, ERR_TIMEOUT);
    assert_non_null(strstr(w->error, "recorder process 4194999 does not answer"));
    assert_non_null(strstr(w->error, "kill 4194999"));
    close(fd);
    unlink(w->paths[0]);
}

/* As many wait for it as may: that is not one that is gone, nor does anybody wait for ever. */
TEST_WITH(test_silent_and_full, set_up, tear_down)
{
    struct world *w = *state;
    struct sockaddr_un address;
    struct error err = {0};
    struct buf reply;
    int waiting[8], n = 0;
    int fd = listen_silently(w, 0);
    address_of(w, &address);
    while (n < 8) {
        waiting[n] = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);
        if (connect(waiting[n++], (struct sockaddr *)&address, sizeof address) != 0)
            break;
    }
    assert_int_equal(errno, EAGAIN);
    ask(w, "status");
    assert_int_equal(w->code, ERR_TIMEOUT);
    buf_init(&reply, 0);
    assert_int_equal(record_peer_ask(w->paths[0], "status", &reply, &err), ERR_TIMEOUT);
    assert_non_null(strstr(err.text, "does not answer"));
    buf_clear(&reply);
    while (n > 0)
        close(waiting[--n]);
    close(fd);
    unlink(w->paths[0]);
}

/* Where others may put sockets nothing is asked. */
TEST_WITH(test_open_directory, set_up, tear_down)
{
    struct world *w = *state;
    struct error err = {0};
    char path[128];
    snprintf(path, sizeof path, "%s/beamtop/run", w->dir);
    assert_int_equal(chmod(path, 0777), 0);
    assert_int_equal(record_sockets_list(w->paths, &w->n, &w->env, &err), ERR_REFUSED);
    assert_int_equal(w->n, 0);
    assert_int_equal(chmod(path, 0700), 0);
}

static int begin(void **state)
{
    (void)state;
    signal(SIGPIPE, SIG_IGN);
    return 0;
}
TESTS_WITH(begin, NULL);
