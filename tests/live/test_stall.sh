#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# All dirty I/O schedulers of a node wait for a disk: what needs no file is known all the same, one read
# of ours waits at most, and all is known again when the disk is back. The load is stall_load.erl.
# shellcheck disable=SC1091,SC2034,SC2154,SC2317
set -u
. "$(dirname "$0")/../tap.sh"

ERL_FLAGS='+SDio 2'
export ERL_FLAGS
load=stall_load
. "$(dirname "$0")/releases.sh"

asks() {
    "$beamtop" "$@" --format json --timeout 30 --cookie-file "$work/cookie" >"$work/out" 2>"$work/err" </dev/null
    ends_with 0 $?
}

resident() { asks top "$node" -n 2 -i 0.25 -R 1 && holds ".[-1].system.rss_bytes $1"; }

stalls() {
    mkfifo "$dir/fifo1" "$dir/fifo2" && order stall && wait_until 60 resident '== null'
}

answers() {
    asks top "$node" -n 3 -i 0.25 -R 1 && holds 'length == 3 and all(.[]; .system.processes > 10)' || return 1
    asks info "$node" && asks memory "$node" && holds '.[0].kind != ""'
}

# Of all that asked before the first left a read that waits, the others none.
is_back() {
    for fifo in "$dir/fifo1" "$dir/fifo2"; do
        timeout 30 tee "$fifo" </dev/null || return 1
    done
    wait_until 60 resident '> 0' && is_clean
}

goes_on_beside_a_stalled_disk() { wait_until 60 resident '> 0' && stalls && answers && is_back; }

differ goes_on_beside_a_stalled_disk
run_on_releases
