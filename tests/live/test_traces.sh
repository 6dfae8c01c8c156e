#!/bin/sh
# Traces against real nodes, played by an Erlang node. See traces.erl.
exec sh "$(dirname "$0")/on_releases.sh" traces
