/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "fleet_hosts.h"

#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "beamtop/base/alloc.h"
#include "beamtop/link/epmd.h"
#include "beamtop/link/name.h"
#include "fleet_internal.h"

#define HOSTS_MOST 16
#define HOST_MS 2000u

struct host {
    struct fleet_hosts *all;
    char name[LIMIT_NODE_NAME_BYTES + 1];
    struct lookup *lookup;
    struct epmd_query *query;
};

struct fleet_hosts {
    uv_loop_t *loop;
    uint16_t epmd_port;
    struct host hosts[HOSTS_MOST];
    size_t n;
    struct fleet_names names;
};

/* Whoever registers there has chosen the name. */
static void add_name(struct host *host, const char *alive)
{
    char text[2 * LIMIT_NODE_NAME_BYTES + 4];
    struct name name;
    struct error ignored = {0};
    snprintf(text, sizeof text, "%s@%s", alive, host->name);
    if (host->all->names.n < FLEET_MOST && name_parse(&name, text, "", &ignored) == 0)
        fleet_names_put(&host->all->names, name.full);
}

static void on_host_names(void *arg, const struct epmd_answer *answer)
{
    struct host *host = arg;
    host->query = NULL;
    for (size_t i = 0; answer->failure == EPMD_OK && i < answer->count; i++)
        add_name(host, answer->names[i].alive);
}

static void on_host_found(void *arg, const struct address *addresses, size_t count,
                          const struct error *err)
{
    struct host *host = arg;
    struct error ignored = {0};
    (void)err;
    host->lookup = NULL;
    if (count == 0)
        return;
    struct sockaddr_storage address = addresses[0].sa;
    const uint16_t port = htons(host->all->epmd_port);
    if (address.ss_family == AF_INET6)
        ((struct sockaddr_in6 *)(void *)&address)->sin6_port = port;
    else
        ((struct sockaddr_in *)(void *)&address)->sin_port = port;
    (void)epmd_ask(&host->query, host->all->loop, (const struct sockaddr *)&address, NULL, HOST_MS,
                   on_host_names, host, &ignored);
}

/* Names of this host are known without it. */
static bool is_asked_for(const struct fleet_hosts *h, const char *name, const char *this_host)
{
    bool is_new = !name_host_is_here(name, this_host);
    for (size_t i = 0; is_new && i < h->n; i++)
        is_new = strcmp(h->hosts[i].name, name) != 0;
    return is_new && h->n < HOSTS_MOST;
}

static void ask_host(struct fleet_hosts *h, const char *name)
{
    struct host *host = &h->hosts[h->n++];
    struct error ignored = {0};
    host->all = h;
    snprintf(host->name, sizeof host->name, "%s", name);
    (void)lookup_start(&host->lookup, h->loop, name, HOST_MS, on_host_found, host, &ignored);
}

struct fleet_hosts *fleet_hosts_ask(const struct fleet *f, uv_loop_t *loop, uint16_t epmd_port)
{
    struct fleet_hosts *h = alloc_zero(1, sizeof *h);
    char here[LIMIT_NODE_NAME_BYTES + 1];
    name_this_host(here, sizeof here);
    h->loop = loop;
    h->epmd_port = epmd_port ? epmd_port : EPMD_PORT;
    for (size_t i = 0; i < f->n && h->n < HOSTS_MOST; i++) {
        const struct member *m = f->members[i];
        const char *at = strchr(m->name, '@');
        if (at && !m->resolves && !m->removed && is_asked_for(h, at + 1, here))
            ask_host(h, at + 1);
    }
    return h;
}

const struct fleet_names *fleet_hosts_names(const struct fleet_hosts *h)
{
    return &h->names;
}

void fleet_hosts_close(struct fleet_hosts *h)
{
    if (!h)
        return;
    for (size_t i = 0; i < h->n; i++) {
        lookup_cancel(h->hosts[i].lookup);
        epmd_cancel(h->hosts[i].query);
    }
    fleet_names_clear(&h->names);
    free(h);
}
