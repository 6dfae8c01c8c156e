/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What kubectl says of a pod, and what may be done there: each is one run of it, within a time.
 * Blocks: main's thread, before there is a screen. What is read comes from the cluster: text. */
#ifndef BEAMTOP_APP_POD_POD_H
#define BEAMTOP_APP_POD_POD_H

#include "app/way/way_run.h"

#define POD_CONTAINERS 32 /* more are not read */

enum pod_kind { POD_REGULAR, POD_INIT, POD_EPHEMERAL };

struct pod_container {
    char name[64];
    char reason[64]; /* why it does not run; "" */
    enum pod_kind kind;
    bool runs, is_ready;
};

struct pod {
    char phase[32];             /* "Running", "Pending" … */
    char reason[64];            /* "Evicted" …; "" */
    bool is_ending;             /* it was deleted, and its containers may run still */
    char default_container[64]; /* the one that kubectl takes */
    struct pod_container containers[POD_CONTAINERS];
    size_t n;
};

/* ERR_CONNECT: kubectl has failed, in the words of a way (way_explain_said()). */
int pod_read(struct pod *out, const struct way_url *url, unsigned timeout_ms, struct error *err);
/* Of what pod_read() has read; pure. */
void pod_parse(struct pod *out, const char *printed);
/* The one that the URL means; NULL: it has none such. */
const struct pod_container *pod_find(const struct pod *pod, const char *name);

/* `kubectl auth can-i`: 1 yes, 0 no; ERR_CONNECT …: not known. */
int pod_may(const struct way_url *url, const char *verb, const char *subresource,
            unsigned timeout_ms, struct error *err);

/* What carries a stream in the container of a URL: "socat", "bash" or "nc"; "": none of them.
   ERR_CONNECT: no command runs there. */
int pod_relay(char out[16], const struct way_url *url, unsigned timeout_ms, struct error *err);

#endif
