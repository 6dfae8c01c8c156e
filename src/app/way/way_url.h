/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Where a node is that TCP from here does not reach, as one word of a command line:
 *
 *   ssh://[USER@]HOST[:PORT][/NODE]
 *   docker://CONTAINER[/NODE]
 *   podman://CONTAINER[/NODE]
 *   k8s://NAMESPACE/POD[/CONTAINER][/NODE@]
 *   k8s://CONTEXT/NAMESPACE/POD/[CONTAINER][/NODE@]
 *
 * In a pod's URL the last part is a node where it has an @. %XX stands for a byte. Its parts become
 * arguments of other programs: each has the characters that it may have, none begins with a dash,
 * and none means anything to a shell. Pure; any thread. */
#ifndef BEAMTOP_APP_WAY_WAY_URL_H
#define BEAMTOP_APP_WAY_WAY_URL_H

#include <stdbool.h>
#include <stdint.h>

#include "beamtop/base/buf.h"
#include "beamtop/base/error.h"
#include "beamtop/base/limits.h"

/* Bytes of a URL. A list of nodes has names and URLs side by side. */
#define WAY_URL_BYTES LIMIT_NODE_NAME_BYTES

enum way_scheme { WAY_SSH, WAY_DOCKER, WAY_PODMAN, WAY_K8S, WAY_SCHEMES };

struct way_url {
    enum way_scheme scheme;
    char user[128];                                /* ssh; "": as ssh's configuration says */
    char host[256];                                /* the host, the container, or the pod */
    uint16_t port;                                 /* of ssh; 0: as its configuration says */
    char context[256], space[256], container[256]; /* of Kubernetes; "": kubectl's defaults */
    char node[LIMIT_NODE_NAME_BYTES + 1];          /* "name" or "name@host"; "": not given */
};

bool way_is_url(const char *text); /* it begins with letters and "://" */
/* ERR_USAGE says which part cannot be one, and how the URL is written. */
int way_url_parse(struct way_url *out, const char *text, struct error *err);
/* Both are of one host, container or pod, and one user there. */
bool way_url_is_beside(const struct way_url *a, const struct way_url *b);
/* The URL of another node at the same place; node NULL or "": of none. */
void way_url_put(struct buf *out, const struct way_url *url, const char *node);

/* "ssh://", for completion. */
extern const char *const way_schemes[WAY_SCHEMES];

#endif
