#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Processes that are large in one way are asked for at a bounded cost. See large.erl.
exec sh "$(dirname "$0")/on_releases.sh" large
