#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# ETS tables of real nodes: sizes are those that the node says itself, attributes those that tables were
# made with; what grows has a rate, many tables of a process are added up, and nothing is left. The load is
# tables_load.erl.
# shellcheck disable=SC1091,SC2154,SC2317
set -u
. "$(dirname "$0")/../tap.sh"

load=tables_load
. "$(dirname "$0")/releases.sh"

tables() {
    "$beamtop" tables "$node" --timeout 60 --cookie-file "$work/cookie" --format json "$@" >"$work/out" \
        2>"$work/err" </dev/null || { cat "$work/err"; return 1; }
}

# row NAME FILTER: of the last tick.
row() {
    holds ".[-1].rows[] | select(.name == \"$1\") | $2"
}

rows_are_those_of_the_node() {
    order numbers && tables || return 1
    jq -n -e --slurpfile out "$work/out" --slurpfile sizes "$dir/sizes" '
        [$sizes[0][] as $s | $out[-1].rows[] | select(.name == $s.name)
         | . as $row | $s | to_entries | all(.value == $row[.key])] == [true, true]' >/dev/null || {
        cat "$dir/sizes" "$work/out"
        return 1
    }
    row tables_large '.id == "tables_large" and .owner_name == "tables_owner" and .type == "set"
        and .protection == "public" and .key_position == 1 and .heir != null and (.fixed | not)
        and (.compressed | not) and (.memory_older | not) and .tables == 1' &&
        row tables_fixed '(.id | startswith("#Ref<")) and .type == "bag" and .protection == "protected"
        and .key_position == 2 and .heir == null and .fixed and .compressed' &&
        holds '.[-1]["ETS tables"].partial | not' && is_clean
}

counters_by_scheduler() {
    tables && row tables_spread '.decentralized_counters and .objects == 500 and .type == "ordered_set"'
}

growth() {
    order numbers && tables -n 1 || return 1
    (sleep 1.2 && : >"$dir/grow") &
    tables -n 4 -i 1 || return 1
    wait $!
    holds 'any(.[].rows[]; .name == "tables_large" and .objects_per_s > 0 and .memory_bytes_per_s > 0)' &&
        holds 'all(.[].rows[]; .name != "tables_fixed" or .objects_per_s == 0)'
}

# The one before had nothing in it.
made_again() {
    tables -n 1 && row tables_again '.objects == 0 and (.tid | startswith("#Ref<"))' || return 1
    : >"$work/out"
    tables -n 5 -i 1 &
    wait_until 120 test -s "$work/out" && order again && wait $! || return 1
    holds '[.[].rows[] | select(.name == "tables_again")] | (map(.tid) | unique | length) == 2
        and .[-1].objects == 1000 and all(.objects_per_s == 0 or .objects_per_s == null)'
}

many_are_added_up() {
    order many && tables --by owner_name --sort tables --top 2 || return 1
    holds '.[-1].rows | length == 2 and .[0].owner_name == "tables_cache" and .[0].tables == 3000
        and .[0].objects == 3000 and .[0].memory_bytes > 3000 * 500' && tables || return 1
    holds '[.[-1].rows[] | select(.name == "tables_session") | .tables] | add == 3000 and length <= 1001' &&
        is_clean
}

differ rows_are_those_of_the_node counters_by_scheduler
same growth made_again many_are_added_up
run_on_releases
