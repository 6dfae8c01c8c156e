#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Traces over a link of 10 kB/s, on real nodes. See trace_slow.erl.
exec sh "$(dirname "$0")/on_releases.sh" differ trace_slow traces trace_kills proxy
