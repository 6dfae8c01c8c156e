#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Unplanned ends of captures of spans, on real nodes. See trace_kills.erl. BEAMTOP_KILLS: how often
# each kind of end is tried; BEAMTOP_KILLS_S: how long all of it may take.
BEAMTOP_LIVE_S=${BEAMTOP_KILLS_S:-2400}
[ "${BEAMTOP_CHECK:-}" = all ] && kills=10 || kills=2
export BEAMTOP_LIVE_S
exec sh "$(dirname "$0")/on_releases.sh" trace_kills proxy -- "${BEAMTOP_KILLS:-$kills}" spans
