#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Traces against real nodes, played by an Erlang node. See traces.erl and trace_controls.erl.
exec sh "$(dirname "$0")/on_releases.sh" traces trace_controls
