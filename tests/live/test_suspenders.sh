#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Who suspends a process of a real node: found by its own word, also where it runs; on a large node beamtop
# says how many it has asked; and nothing is left. The load is suspenders_load.erl.
# shellcheck disable=SC1091,SC2154,SC2317
set -u
. "$(dirname "$0")/../tap.sh"

load=suspenders_load
. "$(dirname "$0")/releases.sh"

# held WORDS…: held_process, as JSON, or as the words say.
held() {
    "$beamtop" process "$node" held_process --timeout 60 --cookie-file "$work/cookie" --format json "$@" \
        >"$work/out" 2>"$work/err" </dev/null || { cat "$work/err"; return 1; }
}

it_is_named() {
    held || return 1
    holds '.[0].suspended_by | .processes > 20 and .processes_read == .processes
        and (.items | length == 1 and .[0].name == "holding_process" and .[0].times == 1
            and (.[0].pid | startswith("<0.")))' &&
        holds '.[0].process.status == "suspended"' || return 1
    held --format text && says '^suspended by  *<0[.0-9]*>  holding_process$' && is_clean
}

one_that_runs_is_found() {
    order two && held || return 1
    holds '[.[0].suspended_by.items[] | [.name, .times]] | sort
        == [["busy_process", 2], ["holding_process", 1]]' && is_clean
}

a_large_node_is_read_in_part() {
    order free && held && holds '.[0].suspended_by == null and .[0].process.status != "suspended"' || return 1
    order many && held || return 1
    holds '.[0].suspended_by | .items == [] and .processes > 25000 and .processes_read <= 20000
        and .processes_read > 15000' && holds '.[0].cost.target_us < 6000000' || return 1
    jq -s -c '[.[0].cost, .[0].suspended_by]' "$work/out" | sed 's/^/# /' >"$work/remark"
    held --format text && says '^suspended by  *not found among [12][0-9],[0-9]* of 25,[0-9]* processes$' &&
        is_clean
}

differ it_is_named one_that_runs_is_found
same a_large_node_is_read_in_part
run_on_releases
