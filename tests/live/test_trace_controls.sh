#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# What can be done to a trace, and what its patterns tell, against real nodes. See trace_controls.erl.
exec sh "$(dirname "$0")/on_releases.sh" differ trace_controls traces
