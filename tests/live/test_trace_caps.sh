#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# The caps of traces, on real nodes under full load and over a slow link. See trace_caps.erl.
exec sh "$(dirname "$0")/on_releases.sh" trace_caps traces trace_kills proxy
