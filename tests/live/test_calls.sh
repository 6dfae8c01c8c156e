#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Counting calls, against real nodes of each release: exact counts and times, and nothing left. See
# calls_live.erl.
exec sh "$(dirname "$0")/on_releases.sh" calls_live
