/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "container.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <uv.h>

#include "beamtop/base/alloc.h"
#include "beamtop/base/clock.h"
#include "beamtop/link/inside.h"
#include "way_methods.h"
#include "way_run.h"

#define ID_DIGITS 64u
#define FRESH_NS 5000000000u /* so long an answer serves */

struct inspected {
    char id[ID_DIGITS + 1];
    pid_t first; /* 0: it does not run */
};

struct container_answer {
    uv_mutex_t lock;
    uint64_t at_ns; /* 0: there is none */
    struct way_url of;
    struct inspected container;
    struct error err; /* of code ERR_NONE: it is there */
};

/* ---- the last answer */

struct container_answer *container_answer_new(void)
{
    struct container_answer *a = alloc_zero(1, sizeof *a);
    if (uv_mutex_init(&a->lock) != 0)
        alloc_fail();
    return a;
}

void container_answer_free(struct container_answer *a)
{
    if (!a)
        return;
    uv_mutex_destroy(&a->lock);
    free(a);
}

void container_answer_retry(struct container_answer *a)
{
    if (!a)
        return;
    uv_mutex_lock(&a->lock);
    if (a->err.code != ERR_NONE)
        a->at_ns = 0;
    uv_mutex_unlock(&a->lock);
}

static bool recall(struct container_answer *a, const struct way_url *url, struct inspected *out,
                   struct error *err)
{
    if (!a)
        return false;
    uv_mutex_lock(&a->lock);
    const bool serves =
        a->at_ns != 0 && clock_mono_ns() - a->at_ns < FRESH_NS && way_url_is_beside(&a->of, url);
    if (serves) {
        *out = a->container;
        *err = a->err;
    }
    uv_mutex_unlock(&a->lock);
    return serves;
}

static void keep(struct container_answer *a, const struct way_url *url,
                 const struct inspected *container, const struct error *err)
{
    if (!a)
        return;
    uv_mutex_lock(&a->lock);
    a->at_ns = clock_mono_ns();
    a->of = *url;
    a->container = *container;
    a->err = *err;
    uv_mutex_unlock(&a->lock);
}

/* ---- the engine's program */

static bool read_inspected(struct inspected *out, const char *text)
{
    char *end = NULL;
    if (strspn(text, "0123456789abcdef") != ID_DIGITS || text[ID_DIGITS] != ' ' ||
        !isdigit((unsigned char)text[ID_DIGITS + 1]))
        return false;
    errno = 0;
    const long first = strtol(text + ID_DIGITS + 1, &end, 10);
    if (errno != 0 || first > INT_MAX || strcmp(end, "\n") != 0)
        return false;
    memcpy(out->id, text, ID_DIGITS);
    out->id[ID_DIGITS] = '\0';
    out->first = (pid_t)first;
    return true;
}

static int judge(struct inspected *out, const struct way_url *url, const struct way_ran *ran,
                 struct error *err)
{
    const struct way_method *m = way_method(url->scheme, 0);
    const char *engine = way_engine(url->scheme);
    if (ran->code != 0)
        return way_fail_said(m->name, url, ran->said, err);
    if (!read_inspected(out, ran->printed))
        return error_set(err, ERR_CONNECT,
                         "%s %s: `%s inspect` printed something other than an id and an OS pid",
                         m->name, url->host, engine);
    return out->first != 0
               ? 0
               : error_set(err, ERR_CONNECT, "%s %s: it does not run. `%s start %s` starts it",
                           m->name, url->host, engine, url->host);
}

static int inspect(struct inspected *out, const struct way_url *url, struct container_answer *last,
                   unsigned timeout_ms, int cancel_fd, struct error *err)
{
    struct way_ran ran;
    struct way_words words = {0};
    *out = (struct inspected){0};
    if (recall(last, url, out, err))
        return (int)err->code;
    way_put_inspect(&words, url);
    const int rc = way_run_aside(&words, timeout_ms, cancel_fd, &ran, err);
    if (rc == ERR_TIMEOUT)
        err->code = ERR_CONNECT;
    if (rc != 0)
        return (int)err->code;
    (void)judge(out, url, &ran, err);
    keep(last, url, out, err);
    return (int)err->code;
}

/* ---- its VMs */

int container_find(struct discover_list *out, const struct way_url *url,
                   struct container_answer *last, unsigned timeout_ms, int cancel_fd,
                   struct error *err)
{
    const struct discover_options options = {0};
    struct inspected container;
    int rc = inspect(&container, url, last, timeout_ms, cancel_fd, err);
    if (rc == 0)
        rc = discover_scan(out, &options, err);
    if (rc != 0)
        return rc;
    rc = discover_keep_container(out, &options, container.first, container.id, err);
    for (size_t i = 0; i < out->count; i++)
        discover_port(&out->vms[i], &options);
    if (rc != 0)
        discover_clear(out);
    return rc;
}

static int fail_choice(const struct discover_list *list, const struct way_url *url,
                       struct error *err)
{
    struct buf urls;
    buf_init(&urls, 0);
    for (size_t i = 0; i < list->count; i++) {
        char alive[LIMIT_NODE_NAME_BYTES + 1];
        snprintf(alive, sizeof alive, "%.*s", (int)strcspn(list->vms[i].node, "@"),
                 list->vms[i].node);
        buf_puts(&urls, urls.len > 0 ? ", " : "");
        if (*alive)
            way_url_put(&urls, url, alive);
        else
            buf_printf(&urls, "OS process %d", (int)list->vms[i].pid);
    }
    error_set(err, ERR_USAGE, "%s %s has %zu VM%s, %s: %s", way_method(url->scheme, 0)->name,
              url->host, list->count, list->count == 1 ? "" : "s",
              *url->node ? "and none is that node" : "give one", buf_cstr(&urls));
    buf_clear(&urls);
    return ERR_USAGE;
}

static bool is_meant(const struct discover_vm *vm, const char *node)
{
    return discover_is_called(vm, node) && (!strchr(node, '@') || strcmp(vm->node, node) == 0);
}

/* One that got its name after its start may be the node. */
const struct discover_vm *container_choose(const struct discover_list *list,
                                           const struct way_url *url, struct error *err)
{
    const struct discover_vm *found[2] = {NULL, NULL}; /* by its name, without one */
    size_t n[2] = {0, 0};
    for (size_t i = 0; i < list->count; i++) {
        const struct discover_vm *vm = &list->vms[i];
        const size_t unnamed = vm->node[0] == '\0';
        if (*url->node && !unnamed && !is_meant(vm, url->node))
            continue;
        found[unnamed] = vm;
        n[unnamed]++;
    }
    if (n[0] == 1)
        return found[0];
    if (n[0] == 0 && n[1] == 1)
        return found[1];
    (void)fail_choice(list, url, err);
    return NULL;
}

int container_find_vm(struct discover_vm *out, const struct way_url *url,
                      struct container_answer *last, unsigned timeout_ms, struct error *err)
{
    struct discover_list list = {0};
    const int rc = container_find(&list, url, last, timeout_ms, -1, err);
    if (rc != 0)
        return rc;
    const struct discover_vm *vm = container_choose(&list, url, err);
    if (vm) {
        *out = *vm;
        cookie_wipe(&out->cookie);
    }
    discover_clear(&list);
    return vm ? 0 : (int)err->code;
}

bool container_is_here(const char *text, struct container_answer *last, unsigned timeout_ms,
                       struct error *why)
{
    struct discover_list list = {0};
    struct way_url url;
    if (way_url_parse(&url, text, why) != 0 || !way_engine(url.scheme))
        return false;
    const int rc = container_find(&list, &url, last, timeout_ms, -1, why);
    if (rc == 0)
        discover_clear(&list);
    return rc != ERR_NOT_FOUND && rc != ERR_REFUSED;
}

/* ---- the way */

struct container_way {
    struct conn_way way; /* first */
    struct way_url url;
    pid_t pid; /* of the VM, and when that started */
    uint64_t started;
    uint16_t named, port; /* what the connection takes for the VM's port, and what is */
    char tree[32], text[300];
};

static void set_vm(struct container_way *w, const struct discover_vm *vm)
{
    w->pid = vm->pid;
    w->started = vm->started;
    w->port = vm->port;
    snprintf(w->tree, sizeof w->tree, "/proc/%d", (int)vm->pid);
}

/* 0, an errno value of the waiting, or a negative enum err. */
static int find_again(struct container_way *w, const struct way_request *request, struct error *err)
{
    const uint64_t end_ns = clock_mono_ns() + (uint64_t)request->timeout_ms * 1000000u;
    struct discover_list list = {0};
    int rc = container_find(&list, &w->url, NULL, request->timeout_ms, request->cancel_fd, err);
    if (rc != 0)
        return clock_mono_ns() >= end_ns ? ETIMEDOUT : rc;
    const struct discover_vm *vm = container_choose(&list, &w->url, err);
    if (vm)
        set_vm(w, vm);
    discover_clear(&list);
    return vm ? 0 : (int)err->code;
}

static int open_in_container(struct conn_way *way, const struct way_request *request,
                             struct way_stream *out, enum conn_failure *why, struct error *err)
{
    struct container_way *w = (struct container_way *)(void *)way;
    struct way_request there = *request;
    const bool listens = w->named == 0 || w->port != 0; /* one that has begun may not yet */
    int rc = listens && discover_is_vm(w->pid, w->started) ? 0 : find_again(w, request, err);
    if (rc < 0) {
        *why = CONN_FAILED_WAY;
        err->code = ERR_CONNECT;
        return ERR_CONNECT;
    }
    if (rc > 0)
        return rc;
    if (w->named != 0 && request->port == w->named)
        there.port = w->port;
    if (there.port == 0)
        return ECONNREFUSED;
    struct conn_way *inside = inside_way(w->pid, w->started, NULL);
    rc = inside->class->open(inside, &there, out, why, err);
    way_drop(inside);
    return rc;
}

static void release_container(struct conn_way *way)
{
    free(way);
}

struct conn_way *container_way(const struct way_url *url, const struct discover_vm *vm)
{
    static const struct conn_way_class class = {.open = open_in_container,
                                                .release = release_container};
    struct container_way *w = alloc_zero(1, sizeof *w);
    way_init(&w->way, &class);
    w->url = *url;
    w->named = vm->port;
    set_vm(w, vm);
    snprintf(w->text, sizeof w->text, "the namespaces of %s", url->host);
    w->way.proc_tree = w->tree;
    w->way.text = w->text;
    return &w->way;
}
