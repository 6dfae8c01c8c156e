#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# A million processes: applications add up to all of them, and a sort by memory ends. It takes 3 GB and
# minutes, so only where BEAMTOP_MILLION is set; on one release, or those of BEAMTOP_RELEASES.
# shellcheck disable=SC1091,SC2154,SC2317,SC3045
set -u
. "$(dirname "$0")/../tap.sh"
[ -n "${BEAMTOP_MILLION:-}" ] || skip_all "BEAMTOP_MILLION is not set: it takes 3 GB"

BEAMTOP_RELEASES=${BEAMTOP_RELEASES:-25}
load=million_load
ERL_FLAGS="+P 2000000"
export ERL_FLAGS
. "$(dirname "$0")/releases.sh"
# For the node: sanitizers reserve more.
ulimit -S -v 12000000

beam() {
    command=$1
    shift
    (ulimit -S -v unlimited; exec "$beamtop" "$command" "$node" "$@" --timeout 60 --cookie-file "$work/cookie") \
        >"$work/out" 2>"$work/err"
}

# `tells WHAT`: prints what the last one cost.
tells() {
    jq -r --arg what "$1" '"# \($what): \(.cost.target_us / 1e6) s of the node, \(.system.processes) processes"' \
        "$work/out" >"$work/remark"
}

applications_add_up_to_all() {
    beam apps --format json || { cat "$work/err"; return 1; }
    tells apps
    holds '.[0] | (.applications.partial | not) and ([.rows[].processes] | add) >= 1000000'
}

a_sort_by_memory_ends() {
    beam top --sort memory_bytes --rows 5 -n 2 --format json || { cat "$work/err"; return 1; }
    tells "a sort by memory"
    grep -q 'processes: the first answer takes several seconds' "$work/err" &&
        holds 'length == 2 and all(.[]; .scan.total >= 1000000 and (.rows | length) == 5)' &&
        holds 'all(.[]; [.rows[].memory_bytes] | . == (sort | reverse))' &&
        told 'every 20 s: costs the node'
}

differ applications_add_up_to_all a_sort_by_memory_ends
run_on_releases
