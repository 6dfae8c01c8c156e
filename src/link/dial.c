/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "internal.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "beamtop/base/alloc.h"
#include "beamtop/base/buf.h"
#include "beamtop/base/clock.h"
#include "beamtop/link/epmd.h"
#include "epmd_way.h"
#include "link/proc.h"
#include "link/sockets/listener.h"
#include "link/tls/known.h"

#define DEFAULT_TIMEOUT_MS 5000
#define NAMES_SHOWN 12 /* of those that epmd knows, in the text of an error */

struct dial {
    uv_loop_t *loop;
    struct handshake hs;
    struct lookup *lookup;
    struct epmd_query *query;
    struct epmd_way_query *way_query;
    struct tls_source *tls_source; /* held */
    struct tls_load *tls_load;
    uv_work_t work;
    bool working;
    bool cancelled;
    char dial_host[LIMIT_NODE_NAME_BYTES + 1];
    bool is_this_host;
    uint16_t epmd_port;
    struct error no_cookie;  /* ERR_NONE: there is one */
    size_t asking;           /* the address whose epmd is asked */
    struct conn_local local; /* what is used of it is set to 0 */
    char local_address[INET6_ADDRSTRLEN];
    void (*done)(void *arg, const struct dial_result *result);
    void *arg;
};

static unsigned ms_left(const struct dial *d)
{
    uint64_t now = clock_mono_ns();
    uint64_t end = d->hs.deadline_mono_ns;
    return now >= end ? 0 : (unsigned)((end - now) / 1000000u);
}

static void dial_free(struct dial *d)
{
    cookie_wipe(&d->hs.cookie);
    tls_context_drop(d->hs.tls_context);
    tls_source_drop(d->tls_source);
    close(d->hs.cancel_fd);
    way_drop(d->hs.way);
    free(d);
}

static void finish_dial(struct dial *d)
{
    struct dial_result r = {.stream = d->hs.stream,
                            .tls = d->hs.tls,
                            .claim = d->hs.claim,
                            .why = d->hs.why,
                            .err = d->hs.err,
                            .handshake = &d->hs};
    if (r.stream.fd >= 0)
        tls_remember(d->hs.target.full, d->hs.tls != NULL);
    d->done(d->arg, &r);
    dial_free(d);
}

static void finish_failed(struct dial *d, enum conn_failure why, const struct error *err)
{
    d->hs.stream.fd = -1;
    claim_drop(&d->hs.claim);
    d->hs.why = why;
    d->hs.err = *err;
    finish_dial(d);
}

/* ---- the handshake, on a worker */

static void run_handshake(uv_work_t *work)
{
    struct dial *d = work->data;
    handshake_run(&d->hs);
}

static void after_handshake(uv_work_t *work, int status)
{
    struct dial *d = work->data;
    d->working = false;
    if (d->cancelled) {
        tls_session_free(d->hs.tls);
        if (status == 0)
            way_end(d->hs.way, &d->hs.stream);
        claim_drop(&d->hs.claim);
        dial_free(d);
    } else {
        finish_dial(d);
    }
}

static void start_worker(struct dial *d)
{
    d->work.data = d;
    d->working = true;
    int rc = uv_queue_work(d->loop, &d->work, run_handshake, after_handshake);
    if (rc != 0) {
        struct error err = {0};
        d->working = false;
        error_set(&err, ERR_SYSTEM, "no worker for the handshake: %s", uv_strerror(rc));
        finish_failed(d, CONN_FAILED_SYSTEM, &err);
    }
}

/* ---- certificates, before it */

/* Whether the node asks for them is not known yet. */
static void on_certificates(void *arg, struct tls_context *context, const struct error *err)
{
    struct dial *d = arg;
    d->tls_load = NULL;
    d->hs.tls_context = context;
    if (err->code != ERR_NONE && d->tls_source->is_found)
        snprintf(d->hs.tls_note, sizeof d->hs.tls_note,
                 "The node's own TLS options are not used: %.200s", err->text);
    else if (*tls_context_note(context))
        snprintf(d->hs.tls_note, sizeof d->hs.tls_note,
                 "Of the node's own TLS options beamtop does not use %.160s",
                 tls_context_note(context));
    else
        d->hs.tls_error = *err;
    start_worker(d);
}

static void start_handshake(struct dial *d)
{
    struct error err = {0};
    if (d->no_cookie.code != ERR_NONE)
        finish_failed(d, CONN_FAILED_NO_COOKIE, &d->no_cookie);
    else if (!d->tls_source)
        start_worker(d);
    else if (tls_load_start(&d->tls_load, d->loop, d->tls_source, ms_left(d) / 2, on_certificates,
                            d, &err) != 0)
        on_certificates(d, NULL, &err);
}

/* ---- epmd */

static void set_port(struct address *a, uint16_t port)
{
    if (a->sa.ss_family == AF_INET6)
        ((struct sockaddr_in6 *)&a->sa)->sin6_port = htons(port);
    else
        ((struct sockaddr_in *)&a->sa)->sin_port = htons(port);
}

static void ask_epmd(struct dial *d);

/* A node of this host may listen on the loopback only, whatever our name resolves to. */
static void add_loopback(struct handshake *hs)
{
    struct sockaddr_in in = {.sin_family = AF_INET};
    in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    for (size_t i = 0; i < hs->address_count; i++) {
        const struct sockaddr_in *have = (const struct sockaddr_in *)&hs->addresses[i].sa;
        if (have->sin_family == AF_INET && have->sin_addr.s_addr == in.sin_addr.s_addr)
            return;
    }
    if (hs->address_count < DIAL_ADDRESSES) {
        struct address *a = &hs->addresses[hs->address_count++];
        memcpy(&a->sa, &in, sizeof in);
        a->len = sizeof in;
    }
}

/* An address in digits, and the loopback where a node of this host may listen only. */
static void use_local_addresses(struct dial *d)
{
    struct handshake *hs = &d->hs;
    struct sockaddr_in6 six = {.sin6_family = AF_INET6};
    struct sockaddr_in four = {.sin_family = AF_INET};
    hs->address_count = d->asking = 0;
    if (inet_pton(AF_INET6, d->local_address, &six.sin6_addr) == 1) {
        hs->addresses[hs->address_count].len = sizeof six;
        memcpy(&hs->addresses[hs->address_count++].sa, &six, sizeof six);
    } else if (inet_pton(AF_INET, d->local_address, &four.sin_addr) == 1) {
        hs->addresses[hs->address_count].len = sizeof four;
        memcpy(&hs->addresses[hs->address_count++].sa, &four, sizeof four);
    }
    add_loopback(hs);
}

/* The way to a VM of this host: by its epmd, then by the port at which it listens. False: none is
   left. */
static bool go_local(struct dial *d)
{
    struct conn_local *local = &d->local;
    if (local->epmd_port == d->epmd_port)
        local->epmd_port = 0;
    if (local->epmd_port == 0 && local->port == 0)
        return false;
    use_local_addresses(d);
    if (local->epmd_port != 0) {
        d->epmd_port = local->epmd_port;
        local->epmd_port = 0;
        ask_epmd(d);
    } else {
        d->hs.port = local->port;
        local->port = 0;
        start_handshake(d);
    }
    return true;
}

/* ---- a VM that is meant by its OS pid */

struct owned {
    struct listening *all; /* of its user */
    size_t count;
    uint16_t port;
    bool is_shown; /* a socket of the process was seen */
};

static bool is_at_port(void *arg, uint64_t inode)
{
    struct owned *o = arg;
    o->is_shown = true;
    for (size_t i = 0; i < o->count; i++)
        if (o->all[i].port == o->port && (inode == 0 || o->all[i].inode == inode))
            return true;
    return false;
}

/* Anybody may claim its name in epmd. Where its descriptors are hidden, its user's sockets count;
 * once it has ended, the name does. */
static bool may_listen(const struct conn_local *local, uint16_t port)
{
    char path[64];
    struct owned o = {.all = alloc_zero(LIMIT_LISTENING, sizeof *o.all), .port = port};
    snprintf(path, sizeof path, "/proc/%lld", (long long)local->os_pid);
    o.count = listener_list(o.all, LIMIT_LISTENING, "/proc", local->uid);
    const bool listens = proc_first_socket("/proc", (pid_t)local->os_pid, is_at_port, &o) >= 0 ||
                         (!o.is_shown && is_at_port(&o, 0)) || access(path, F_OK) != 0;
    free(o.all);
    return listens;
}

static void refuse_port(struct dial *d, uint16_t port)
{
    struct error err = {0};
    error_set(&err, ERR_CONNECT,
              "epmd on port %u has port %u for %.255s, but OS process %lld does not listen there: "
              "beamtop did not send the cookie. Give the port of that process with --port",
              d->epmd_port, port, d->hs.target.full, (long long)d->local.os_pid);
    finish_failed(d, CONN_FAILED_OTHER_USER, &err);
}

/* ---- epmd's answers */

static void put_known_names(struct buf *out, const struct epmd_answer *a)
{
    for (size_t i = 0; i < a->count && i < NAMES_SHOWN; i++)
        buf_printf(out, "%s%s", i > 0 ? ", " : "", a->names[i].alive);
    if (a->count > NAMES_SHOWN)
        buf_printf(out, " and %zu more", a->count - NAMES_SHOWN);
}

static void on_known_names(void *arg, const struct epmd_answer *a)
{
    struct dial *d = arg;
    struct error err = {0};
    struct buf names;
    d->query = NULL;
    d->way_query = NULL;
    buf_init(&names, 0);
    put_known_names(&names, a);
    if (d->local.os_pid > 0) {
        error_set(&err, ERR_CONNECT,
                  "%.255s runs here as OS process %lld, but epmd on port %u does not know it, and "
                  "no port of it was found: it listens at none, or runs as another user. Give it "
                  "with --port, or that of its epmd with --epmd-port",
                  d->hs.target.full, (long long)d->local.os_pid, d->epmd_port);
    } else if (a->failure == EPMD_OK && a->count > 0) {
        error_set(&err, ERR_CONNECT, "no node %.255s: epmd on host %.255s knows: %s",
                  d->hs.target.full, d->dial_host, buf_cstr(&names));
    } else {
        error_set(&err, ERR_CONNECT,
                  "no node %.255s: epmd on host %.255s knows no node%s: probably it was started "
                  "without -name and -sname",
                  d->hs.target.full, d->dial_host,
                  a->failure == EPMD_OK ? " at all" : " of that name");
    }
    buf_clear(&names);
    finish_failed(d, CONN_FAILED_NO_NAME, &err);
}

static void ask_known_names(struct dial *d)
{
    struct error err = {0};
    const struct sockaddr *sa = (const struct sockaddr *)&d->hs.addresses[d->asking].sa;
    int rc = d->hs.way
                 ? epmd_way_ask(&d->way_query, d->loop, d->hs.way, d->hs.way_address, d->epmd_port,
                                NULL, ms_left(d), on_known_names, d, &err)
                 : epmd_ask(&d->query, d->loop, sa, NULL, ms_left(d), on_known_names, d, &err);
    if (rc != 0) {
        struct epmd_answer none = {.failure = EPMD_UNREACHABLE};
        on_known_names(d, &none);
    }
}

static enum conn_failure epmd_failure_here(enum epmd_failure f)
{
    switch (f) {
    case EPMD_UNREACHABLE:
        return CONN_FAILED_NO_EPMD;
    case EPMD_SILENT:
        return CONN_FAILED_EPMD_SILENT;
    case EPMD_NO_NAME:
        return CONN_FAILED_NO_NAME;
    case EPMD_NO_WAY:
        return CONN_FAILED_WAY;
    case EPMD_OK:
    case EPMD_NOT_EPMD:
        break;
    }
    return CONN_FAILED_NOT_EPMD;
}

static void use_address(struct dial *d, size_t index)
{
    struct address chosen = d->hs.addresses[index];
    memmove(&d->hs.addresses[1], &d->hs.addresses[0], index * sizeof chosen);
    d->hs.addresses[0] = chosen;
}

/* Tries the next address, or ends with the error of the last one. */
static void epmd_failed(struct dial *d, enum conn_failure why, const struct error *err)
{
    if (d->asking + 1 < d->hs.address_count && ms_left(d) > 0) {
        d->asking++;
        ask_epmd(d);
    } else if (!go_local(d)) {
        finish_failed(d, why, err);
    }
}

static void on_port(void *arg, const struct epmd_answer *a)
{
    struct dial *d = arg;
    d->query = NULL;
    d->way_query = NULL;
    const bool is_there = a->failure == EPMD_OK;
    if (is_there && d->local.is_meant && !may_listen(&d->local, a->port)) {
        if (!go_local(d))
            refuse_port(d, a->port);
    } else if (is_there) {
        d->hs.port = a->port;
        if (!d->hs.way)
            use_address(d, d->asking);
        start_handshake(d);
    } else if (a->failure == EPMD_NO_NAME) {
        if (!go_local(d))
            ask_known_names(d);
    } else {
        epmd_failed(d, epmd_failure_here(a->failure), &a->err);
    }
}

static void ask_epmd(struct dial *d)
{
    struct error err = {0};
    struct address *a = &d->hs.addresses[d->asking];
    const unsigned ways = d->local.port != 0; /* tried after epmd, and given time too */
    unsigned share = ms_left(d) / ((unsigned)(d->hs.address_count - d->asking) + ways);
    set_port(a, d->epmd_port);
    int rc = epmd_ask(&d->query, d->loop, (const struct sockaddr *)&a->sa, d->hs.target.alive,
                      share, on_port, d, &err);
    if (rc != 0)
        epmd_failed(d, CONN_FAILED_NO_EPMD, &err);
}

/* ---- the host */

static void on_addresses(void *arg, const struct address *addresses, size_t count,
                         const struct error *err)
{
    struct dial *d = arg;
    d->lookup = NULL;
    d->hs.address_count = count < DIAL_ADDRESSES ? count : DIAL_ADDRESSES;
    if (count > 0)
        memcpy(d->hs.addresses, addresses, d->hs.address_count * sizeof *addresses);
    if (d->is_this_host)
        add_loopback(&d->hs);
    if (d->hs.address_count == 0) {
        if (!go_local(d))
            finish_failed(d, err->code == ERR_TIMEOUT ? CONN_FAILED_LOOKUP : CONN_FAILED_HOST, err);
    } else if (d->hs.port != 0) {
        start_handshake(d);
    } else {
        ask_epmd(d);
    }
}

static bool same_host(const char *a, const char *b)
{
    size_t n = strcspn(b, ".");
    return strcmp(a, b) == 0 || (strlen(a) == n && strncmp(a, b, n) == 0);
}

static int prepare_dial(struct dial *d, const struct conn_options *o, struct error *err)
{
    struct handshake *hs = &d->hs;
    name_host_or_this(hs->this_host, sizeof hs->this_host, o->this_host);
    int rc = name_parse(&hs->target, o->target, hs->this_host, err);
    if (rc == 0 && !o->cookie && !o->no_cookie)
        rc = error_set(err, ERR_USAGE, "no cookie was given");
    if (!o->cookie && o->no_cookie)
        error_set(&d->no_cookie, ERR_NOT_FOUND, "%s", o->no_cookie);
    if (rc == 0 && o->cookie) {
        bool given = o->cookie_origin != COOKIE_NONE;
        rc = cookie_set(&hs->cookie, o->cookie, strlen(o->cookie),
                        given ? o->cookie_origin : COOKIE_OPTION, err);
        hs->cookie.uid = o->cookie_uid;
    }
    if (rc != 0)
        return rc;
    snprintf(d->dial_host, sizeof d->dial_host, "%s",
             o->dial_host ? o->dial_host : hs->target.host);
    d->is_this_host = same_host(d->dial_host, hs->this_host);
    d->epmd_port = o->epmd_port != 0 ? o->epmd_port : EPMD_PORT;
    hs->port = o->port;
    if (o->any_host)
        hs->target.host_given = false;
    d->local = o->local;
    snprintf(d->local_address, sizeof d->local_address, "%s",
             o->local.address ? o->local.address : "");
    hs->timeout_ms = o->timeout_ms != 0 ? o->timeout_ms : DEFAULT_TIMEOUT_MS;
    hs->deadline_mono_ns = clock_mono_ns() + (uint64_t)hs->timeout_ms * 1000000u;
    hs->claim = -1;
    hs->tls_use = o->tls;
    d->tls_source = o->tls != TLS_NEVER ? tls_source_hold(o->tls_source) : NULL;
    hs->by_tls = o->tls == TLS_ALWAYS || (o->tls == TLS_FIND_OUT && tls_is_known(hs->target.full));
    return 0;
}

static void no_work(uv_work_t *work)
{
    (void)work;
}

static void after_no_work(uv_work_t *work, int status)
{
    struct dial *d = work->data;
    (void)status;
    d->working = false;
    if (d->cancelled)
        dial_free(d);
    else
        start_handshake(d);
}

/* By a way the far side looks its host up. `done` waits for the loop in any case. */
static int start_by_way(struct dial *d, struct conn_way *way, bool other_address, struct error *err)
{
    d->hs.way = way_take(way);
    d->hs.way_address = other_address ? d->dial_host : NULL;
    d->local = (struct conn_local){0};
    if (d->hs.port == 0)
        return epmd_way_ask(&d->way_query, d->loop, way, d->hs.way_address, d->epmd_port,
                            d->hs.target.alive, ms_left(d), on_port, d, err);
    d->work.data = d;
    d->working = true;
    return uv_queue_work(d->loop, &d->work, no_work, after_no_work);
}

int dial_start(struct dial **out, uv_loop_t *loop, const struct conn_options *options,
               void (*done)(void *arg, const struct dial_result *result), void *arg,
               struct error *err)
{
    struct dial *d = alloc_zero(1, sizeof *d);
    *out = NULL;
    d->loop = loop;
    d->done = done;
    d->arg = arg;
    d->hs.stream.fd = -1;
    d->hs.cancel_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (d->hs.cancel_fd < 0) {
        int e = errno;
        free(d);
        return error_set_errno(err, e, "no event descriptor for the connection");
    }
    int rc = prepare_dial(d, options, err);
    if (rc == 0 && options->way)
        rc = start_by_way(d, options->way, options->dial_host != NULL, err);
    else if (rc == 0)
        rc = lookup_start(&d->lookup, loop, d->dial_host,
                          d->local.port != 0 ? d->hs.timeout_ms / 2 : d->hs.timeout_ms,
                          on_addresses, d, err);
    if (rc != 0) {
        dial_free(d);
        return rc;
    }
    *out = d;
    return 0;
}

void dial_cancel(struct dial *d)
{
    if (!d)
        return;
    d->cancelled = true;
    lookup_cancel(d->lookup);
    epmd_cancel(d->query);
    epmd_way_cancel(d->way_query);
    tls_load_cancel(d->tls_load);
    if (!d->working) {
        dial_free(d);
    } else if (uv_cancel((uv_req_t *)&d->work) != 0) {
        uint64_t one = 1;
        ssize_t n = write(d->hs.cancel_fd, &one, sizeof one);
        (void)n; /* a write to an event descriptor at 0 never blocks */
    }
}
