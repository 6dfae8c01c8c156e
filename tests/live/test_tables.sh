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
    while_it_looks grow 'any(.[].rows[]; .name == "tables_large" and .objects_per_s > 0
        and .memory_bytes_per_s > 0)' tables &&
        holds 'all(.[].rows[]; .name != "tables_fixed" or .objects_per_s == 0)'
}

# The one before had nothing in it.
made_again() {
    tables -n 1 && row tables_again '.objects == 0 and (.tid | startswith("#Ref<"))' || return 1
    while_it_looks again '[.[].rows[] | select(.name == "tables_again")] | (map(.tid) | unique | length) == 2
        and .[-1].objects == 1000' tables &&
        holds '[.[].rows[] | select(.name == "tables_again")] | (map(.tid) | unique | length) == 2
        and .[-1].objects == 1000 and all(.objects_per_s == 0 or .objects_per_s == null)'
}

one_table() {
    tables --table tables_fixed -n 1 && { echo "an unnamed table has been found by its name"; return 1; }
    tables -n 1 || return 1
    ref=$(jq -r -s '.[-1].rows[] | select(.name == "tables_fixed") | .id' "$work/out")
    tables --table "$ref" && holds '.[-1].rows | length == 1 and (.[0] | .exists and .name == "tables_fixed"
        and .tid == .id and .owner_name == "tables_owner" and .type == "bag" and .key_position == 2
        and .objects == 1 and .fixed and .fixed_ms > 0 and .fixers == 1 and .fixer == .owner
        and .copies == null and .memory_bytes_per_s == 0)' || return 1
    tables --table tables_large -n 1 && holds '.[-1].rows[0] | .heir_name == "tables_heir"
        and .words_per_object > 20 and .decentralized_counters == false' && is_clean
}

# A name that the node does not know makes no atom there.
no_such_table() {
    tables --table tables_never_made && return 1
    told 'the node has no ETS table tables_never_made' || return 1
    tables -n 1 && atoms=$(jq -s '.[-1].system.atoms' "$work/out")
    tables --table tables_not_made_either && return 1
    tables --table '#Ref<0.9.9.9>' && return 1
    tables --table '#Ref<0.4294967295.4294967295.4294967295>' && return 1
    tables -n 1 && holds ".[-1].system.atoms == $atoms" && is_clean
}

keys() {
    tables --table tables_keys --keys 100 && holds '.[-1].rows | map(.key) | unique == ([range(1; 38)
        | "{user,\(.)}"] | sort)' && tables --table tables_keys --keys 5 || return 1
    holds '.[-1].rows | length == 5' || return 1
    tables --table tables_private --keys 5 && return 1
    told 'private: the node lets only its owner read it' || return 1
    tables -n 1 || return 1
    ref=$(jq -r -s '.[-1].rows[] | select(.name == "tables_fixed") | .id' "$work/out")
    tables --table "$ref" --keys 5 && return 1
    told 'is fixed' && tables --table tables_again --keys 5 && is_clean
}

files() {
    tables -n 1 && row tables_dets '.type == "dets" and .owner != null and .memory_bytes == null' &&
        row tables_log '.type == "disk_log" and .owner != null and .tables == null' && is_clean
}

# Its locks are read while a transaction waits for one.
mnesia() {
    if ! tables --mnesia 2>"$work/err"; then
        told 'Mnesia does not run' || return 1
        echo "# release $1 has no Mnesia: not tried" >"$work/remark"
        return 0
    fi
    holds '.[-1].rows[0] | .status == "running" and .running_nodes == 1 and .schema_nodes == 1
        and .down_nodes == null and .held_locks > 0 and .waiting_locks == 1 and .commits > 0
        and .commits_per_s == 0 and .log_writes_left > 0 and (.version | test("^[0-9.]+$"))' || return 1
    tables -n 1 && row tables_people '.copies == "disc_copies" and .copy_nodes == 1 and .active_nodes == 1' &&
        row tables_archive '.type == "dets"' && row tables_large '.copies == null' || return 1
    tables --table tables_people -n 1 && holds '.[-1].rows[0] | .copies == "disc_copies"
        and (.copy_nodes | startswith("tables_load")) and .active_nodes == .copy_nodes
        and (.indexes | contains("#Ref<"))' && is_clean
}

many_are_added_up() {
    order many && tables --by owner_name --sort tables --top 2 || return 1
    holds '.[-1].rows | length == 2 and .[0].owner_name == "tables_cache" and .[0].tables == 3000
        and .[0].objects == 3000 and .[0].memory_bytes > 3000 * 500' && tables || return 1
    holds '[.[-1].rows[] | select(.name == "tables_session") | .tables] | add == 3000 and length <= 1001' &&
        is_clean
}

differ rows_are_those_of_the_node counters_by_scheduler one_table no_such_table keys files mnesia
same growth made_again many_are_added_up
run_on_releases
