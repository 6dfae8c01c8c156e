#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# The questions about a trace that change nothing on the target, against real nodes: what they find,
# and what others armed there. See preflights.erl.
exec sh "$(dirname "$0")/on_releases.sh" preflights
