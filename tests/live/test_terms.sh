#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Persistent terms, atoms, modules and timers of real nodes: numbers are those that the node says itself, a
# value that has no end without sharing is unknown and holds up nobody, atoms that come are named, old code is
# seen, and nothing is left. The load is terms_load.erl.
# shellcheck disable=SC1091,SC2016,SC2154,SC2317
set -u
. "$(dirname "$0")/../tap.sh"

load=terms_load
. "$(dirname "$0")/releases.sh"

terms() {
    "$beamtop" terms "$node" --timeout 60 --cookie-file "$work/cookie" --format json "$@" >"$work/out" \
        2>"$work/err" </dev/null || { cat "$work/err"; return 1; }
}

# sums FILTER: of the last tick by kind, beside what the node said, as $node.
sums() {
    jq -n -e --slurpfile out "$work/out" --slurpfile sizes "$dir/sizes" "
        \$sizes[0] as \$node | [\$out[-1].rows[] | {key: .kind, value: .}] | from_entries | $1" >/dev/null || {
        cat "$dir/sizes" "$work/out"
        return 1
    }
}

sums_are_those_of_the_node() {
    terms --by kind && order numbers || return 1
    sums '.persistent.count == $node.persistent and .persistent.memory_bytes == $node.memory
        and .atoms.count <= $node.atoms and .atoms.count > $node.atoms - 500
        and .atoms.limit == $node.limit and .modules.count > 50 and .modules.count <= $node.modules
        and .modules.memory_bytes > 1000000 and .timers.count >= 2000 and .timers.count < 2100' && is_clean
}

# Of a value without end: after parts of 50 ms, each in a question. No module is loaded for it.
expect_values() {
    terms --what persistent -n 10 -i 1 && order numbers || return 1
    jq -n -e --slurpfile out "$work/out" --slurpfile sizes "$dir/sizes" '
        [$out[-1].rows[] | {key: .name, value: .unshared_bytes}] | from_entries
        | $sizes[0].debug == '"$1"' and .["{terms_load,list}"] == $sizes[0].list
        and has("{terms_load,shared}") and .["{terms_load,shared}"] == null
        and .["{terms_load, ...} of 2 elements"] > 0' >/dev/null || {
        cat "$work/out"
        return 1
    }
    holds "all(.[].rows[]; .kind == \"persistent\" and .external_format != $1)" && holds 'all(.[]; .cost.target_us < 4000000)' && is_clean
}

values_are_measured() { expect_values false && order debug && expect_values true; }

atoms_are_named() {
    while_it_looks grow 'any(.[].rows[]; .limit > 0 and .count_per_s > 5)
        and any(.[-1].rows[]; .name | startswith("terms_leak_"))' terms --what atoms &&
        holds '[.[-1].rows[] | select(.name | startswith("terms_leak_"))] | length > 30' && is_clean
}

modules_have_applications_and_old_code() {
    terms --what modules || return 1
    holds 'any(.[-1].rows[]; .name == "lists" and .application == "stdlib" and .memory_bytes > 10000
        and .old_bytes == 0)' &&
        holds 'any(.[-1].rows[]; .name == "terms_old" and .old_bytes > 100)' && is_clean
}

# By what is on their stacks; one with a stack that is too large is not checked.
who_runs_old_code() {
    terms --old terms_old || return 1
    holds '.[0].rows | length == 2 and (.[0] | .has_old_code and .id == "all" and .count == 1 and .processes > 20
        and .processes_read == .processes - 1) and (.[1] | .name == "terms_waiter" and .count == 1)' || return 1
    terms --old lists || return 1
    holds '.[0].rows | length == 1 and .[0].has_old_code == false and .[0].count == 0' || return 1
    terms --old terms_no_such_module || return 1
    holds '.[0].rows[0].has_old_code == false' && is_clean
}

# Names of atoms may be made of what users send.
a_recording_has_no_names_of_atoms() {
    rm -f "$work/file"
    order grow || return 1
    "$beamtop" record "$node" --timeout 60 --cookie-file "$work/cookie" --for 5s -o "$work/file" \
        >"$work/out" 2>&1 </dev/null || { cat "$work/out"; return 1; }
    "$beamtop" terms "$work/file" -n 1 --format json >"$work/out" 2>"$work/err" || { cat "$work/err"; return 1; }
    holds '[.[0].rows[] | select(.kind == "atoms")] | length == 51 and map(select(.name != null)) == [.[0]]' &&
        holds 'any(.[0].rows[]; .name == "{terms_load,list}" and .count == 1)' && is_clean
}

many_do_not_hurt() {
    order many && order numbers && terms -n 2 -i 5 || return 1
    holds 'any(.[-1].rows[]; .name == "all but the first 1,000; memory of all" and .count > 99000)' || return 1
    holds 'map(.rows[]) | all(.kind != "timers" or (.count > 1000000 and .count < 1003000))' &&
        holds '[.[-1].rows[] | select(.kind == "persistent")] | length == 1001 and (map(.count) | add) > 100000' || return 1
    jq -s -c '[.[].cost]' "$work/out" | sed 's/^/# /' >"$work/remark"
    is_clean
}

differ sums_are_those_of_the_node values_are_measured atoms_are_named
differ modules_have_applications_and_old_code who_runs_old_code
same a_recording_has_no_names_of_atoms many_do_not_hurt
run_on_releases
