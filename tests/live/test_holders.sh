#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# What processes of real nodes hold: sums are those that the node says itself, also of small parts of large
# binaries; growth, long message queues, one that always runs, and a large node within the cost limit. The
# load is holders_load.erl.
# shellcheck disable=SC1091,SC2154,SC2317
set -u
. "$(dirname "$0")/../tap.sh"

load=holders_load
. "$(dirname "$0")/releases.sh"

holders() {
    "$beamtop" holders "$node" --timeout 60 --cookie-file "$work/cookie" --format json "$@" >"$work/out" \
        2>"$work/err" </dev/null || { cat "$work/err"; return 1; }
}

# row COLUMN TEXT FILTER: of the last tick.
row() {
    holds ".[-1].rows[] | select(.$1 == \"$2\") | $3"
}

sums_are_those_of_the_node() {
    order numbers && holders --sort binary_bytes || return 1
    sums=$(cat "$dir/sums")
    holds '.[-1].holders.partial | not' && holds '.[-1].rows[0].initial_call == "holders_load:ref/1"' &&
        row initial_call holders_load:ref/1 "$sums as \$is | .processes == 400 and .memory_bytes == \$is.ref_memory
            and .binaries == \$is.ref_binaries and .binary_bytes >= \$is.ref_bytes
            and .binary_bytes < 1.01 * \$is.ref_bytes and .heap_bytes < .memory_bytes and .uncounted == 0
            and (.memory_older | not) and .largest != null and .largest_bytes > 100000" &&
        row initial_call holders_load:keep/1 "$sums as \$is | .processes == 20 and .memory_bytes == \$is.keep_memory
            and .binary_bytes == 0 and .reductions_per_s == 0" &&
        row initial_call holders_load:tie/1 '.links == 50 and .monitors == 50 and .largest_name == "holders_tied"'
}

other_sums() {
    holders --by function --sort processes --top 3 || return 1
    holds '.[-1].rows | length == 3' && row function holders_load:hold/1 '.processes == 421' &&
        holders --by application && row application kernel '.processes > 10' &&
        holders --by supervisor && row supervisor kernel_sup '.processes > 5 and .memory_bytes > 10000' &&
        holders --by id && row id 'holders_load:ref/1 in holders_load:hold/1' '.processes == 400' && is_clean
}

has_first() { jq -s -e 'length > 0' "$work/grown" >/dev/null 2>&1; }
has_grown() {
    jq -s -e '.[-1].rows | any(.initial_call == "holders_load:keep/1" and .memory_growth_bytes > 1000000
            and .processes_growth == 0)
        and any(.initial_call == "holders_load:ref/1" and .processes_growth == -10
            and .binary_growth_bytes <= -1000000)' "$work/grown" >/dev/null 2>&1
}
growth() {
    "$beamtop" holders "$node" --cookie-file "$work/cookie" --format json -i 1 -n 300 >"$work/grown" 2>"$work/err" \
        </dev/null &
    growing=$!
    wait_until 300 has_first && order grow && wait_until 300 has_grown
    code=$?
    kill "$growing"
    wait "$growing" 2>/dev/null
    [ "$code" -eq 0 ] || { cat "$work/err"; tail -n 40 "$work/grown"; return 1; }
}

a_long_queue() {
    order queue && holders || return 1
    row initial_call holders_load:long/0 '.message_queue_len == 2000000 and .memory_bytes >= 80000000'
}

one_that_runs() {
    order spin && holders || return 1
    row initial_call holders_load:spin/0 '.processes == 1 and .reductions_per_s > 1000000' && order calm
}

a_large_node() {
    order many && holders -n 2 || return 1
    row initial_call holders_load:wait/0 '.processes == 20050 and .memory_bytes > 20050 * 2000' &&
        holds 'all(.[]; .holders.partial | not) and .[-1].cost.share < 0.03' &&
        told 'of .* processes looked at' && is_clean
}

differ sums_are_those_of_the_node
same other_sums growth a_long_queue one_that_runs a_large_node
run_on_releases
