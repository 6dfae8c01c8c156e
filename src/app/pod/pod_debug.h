/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The last way into a pod: an ephemeral container, by `kubectl debug`, of an image that carries
 * streams. It cannot be removed until the pod ends, so a person is asked first. Main's thread,
 * before there is a screen. */
#ifndef BEAMTOP_APP_POD_POD_DEBUG_H
#define BEAMTOP_APP_POD_POD_DEBUG_H

#include "app/cli/cli.h"
#include "app/way/way_url.h"

/*
 * With an image (--debug-image, BEAMTOP_DEBUG_IMAGE), and where neither the container nor a
 * forwarded port will do (which needs a cookie of this host): the URL's container becomes one of
 * ours that runs, or a new one, once it runs. Else the URL stays. ERR_REFUSED: nobody agreed;
 * ERR_CONNECT, ERR_TIMEOUT: why there is none. */
int pod_debug_prepare(struct way_url *url, const struct cli_options *o, const struct app_env *env,
                      struct error *err);

#endif
