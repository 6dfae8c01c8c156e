/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a connection carries: asks the process `blast` of a node for binaries, and prints MB/s and
 * its own CPU time. The node is one of tls.sh.
 * usage: link NODE EPMD_PORT COOKIE COUNT BYTES [CACERT CERT KEY] */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <uv.h>

#include "beamtop/base/clock.h"
#include "beamtop/etf/build.h"
#include "beamtop/link/conn.h"

#define LIMIT_MS 60000

struct blast {
    uv_timer_t limit;
    uint64_t from_ns, bytes;
    clock_t cpu;
    long count, size, seen;
};

static int fail(const struct error *err)
{
    fprintf(stderr, "link: %s\n", err->text);
    exit(1);
}

static void on_limit(uv_timer_t *limit)
{
    const struct error err = {.text = "not all came within a minute"};
    (void)limit;
    fail(&err);
}

static void on_down(struct conn *c, void *arg, enum conn_failure why, const struct error *err)
{
    (void)c;
    (void)arg;
    (void)why;
    fail(err);
}

/* {Pid, Count, Bytes} */
static void on_up(struct conn *c, void *arg)
{
    struct blast *b = arg;
    struct builder *ask = builder_new();
    struct error err = {0};
    size_t len = 0;
    build_tuple(ask, 3);
    build_pid(ask, conn_own_node(c), conn_self(c));
    build_int(ask, b->count);
    build_int(ask, b->size);
    const uint8_t *payload = builder_bytes(ask, &len);
    b->cpu = clock();
    b->from_ns = clock_mono_ns();
    if (conn_send_name(c, "blast", payload, len, &err) != 0)
        fail(&err);
    builder_free(ask);
}

static void on_message(struct conn *c, void *arg, const struct conn_message *m)
{
    struct blast *b = arg;
    b->bytes += m->len;
    if (++b->seen < b->count)
        return;
    const double s = (double)(clock_mono_ns() - b->from_ns) / 1e9;
    printf("%.0f %.0f\n", (double)b->bytes / 1e6 / s,
           (double)(clock() - b->cpu) * 1000 / CLOCKS_PER_SEC);
    uv_close((uv_handle_t *)&b->limit, NULL);
    conn_close(c, NULL, NULL);
}

int main(int argc, char **argv)
{
    static const struct conn_handlers handlers = {
        .on_up = on_up, .on_message = on_message, .on_down = on_down};
    struct blast b = {0};
    struct conn *c = NULL;
    struct error err = {0};
    uv_loop_t loop;
    if (argc != 6 && argc != 9)
        return 2;
    const struct tls_files files = {
        .cacert = argc == 9 ? argv[6] : NULL, .cert = argv[argc - 2], .key = argv[argc - 1]};
    const struct conn_options options = {.target = argv[1],
                                         .epmd_port = (uint16_t)atoi(argv[2]),
                                         .cookie = argv[3],
                                         .tls = argc == 9 ? TLS_ALWAYS : TLS_NEVER,
                                         .tls_source = argc == 9 ? tls_source_files(&files) : NULL,
                                         .timeout_ms = LIMIT_MS};
    b.count = atol(argv[4]);
    b.size = atol(argv[5]);
    signal(SIGPIPE, SIG_IGN);
    uv_loop_init(&loop);
    uv_timer_init(&loop, &b.limit);
    uv_timer_start(&b.limit, on_limit, LIMIT_MS, 0);
    if (conn_global_init(&err) != 0 || conn_open(&c, &loop, &options, &handlers, &b, &err) != 0)
        fail(&err);
    uv_run(&loop, UV_RUN_DEFAULT);
    tls_source_drop(options.tls_source);
    return uv_loop_close(&loop) == 0 ? 0 : 1;
}
