/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Erlang term text to bytes: the forms that io:format("~w") prints for terms without funs. Used for
 * the constant abstract forms of query/ and for terms given by the user or a test. */
#ifndef BEAMTOP_ETF_PARSE_H
#define BEAMTOP_ETF_PARSE_H

#include <stddef.h>

#include "beamtop/base/error.h"
#include "beamtop/etf/build.h"

/*
 * Appends the term in text to b. Atoms (quoted too), integers (with base and underscores, within 64
 * bits), floats, characters, strings, <<"binaries">> and <<1,2,3>>, lists with tails, tuples, maps,
 * pids <0.1.2> (as of `node`; NULL refuses them). ERR_USAGE names line and column. */
int etf_parse(struct builder *b, const char *text, size_t len, const char *node, struct error *err);

/* "<0.41.0>", "0.41.0" or "41" to a pid. Returns 0 or -1. */
int etf_parse_pid(const char *text, struct etf_pid *pid);

#endif
