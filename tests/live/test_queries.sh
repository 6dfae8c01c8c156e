#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# The expressions that are evaluated on a target, against real nodes. See queries.erl.
exec sh "$(dirname "$0")/on_releases.sh" queries
