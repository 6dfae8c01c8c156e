/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a process is, as its name or initial call shows, instead of only "proc_lib" or "gen_server".
 * Pure. */
#ifndef BEAMTOP_MODEL_KIND_H
#define BEAMTOP_MODEL_KIND_H

#include "beamtop/model/snapshot.h"

enum proc_kind {
    KIND_NONE,   /* nothing special */
    KIND_LOGGER, /* a handler of logger, Elixir's Logger, lager */
    KIND_CODE_SERVER,
    KIND_POOL, /* hands out workers: poolboy, DBConnection's pool, hackney's … */
    KIND_DB_CONNECTION,
    KIND_SOCKET_SERVER, /* ranch, cowboy, gen_tcp acceptors */
    KIND_SUPERVISOR,
    KIND_DISTRIBUTION,  /* net_kernel, rex, erts_dist senders */
    KIND_METRICS,       /* telemetry, prometheus, folsom, exometer */
    KIND_DIRTY_SIGNALS, /* the VM's own: takes signals to processes that run dirty, see owners.h */
    PROC_KINDS,
};

enum proc_kind proc_kind(const struct proc_row *row);
const char *proc_kind_name(enum proc_kind kind); /* "logger"; "" for KIND_NONE */

#endif
