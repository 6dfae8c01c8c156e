/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The cookie of a node in a pod, read there: who may run a command in the container may read it. It
 * comes over the stream that kubectl carries, and is in no argument. Blocks, before there is a
 * screen. */
#ifndef BEAMTOP_APP_POD_POD_COOKIE_H
#define BEAMTOP_APP_POD_POD_COOKIE_H

#include "app/cli/cli.h"
#include "app/way/way_url.h"
#include "beamtop/link/cookie.h"

#define POD_COOKIE_LINE "beamtop: cookie "

/* No other one was given for all nodes. */
bool pod_cookie_is_sought(const struct cli_options *o, const struct app_env *env);
/*
 * Of the URL's node: from the command line of its VM, the .erlang.cookie in its home, or
 * RELEASE_COOKIE of its environment. False: none was found, or no command runs there. */
bool pod_cookie(struct cookie *out, const struct way_url *url, unsigned timeout_ms);

#endif
