#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Calls counted on real nodes of several releases at once: exact sums with their spread, set on all or on
# none, what a lost node has counted is in no sum, and nothing is left wherever it is cut off. The load is
# calls_load.erl.
# shellcheck disable=SC1091,SC2154,SC2317
set -u
. "$(dirname "$0")/../tap.sh"

load=calls_load
. "$(dirname "$0")/releases.sh"
. "$(dirname "$0")/several.sh"

calls() {
    counted=$1
    shift
    "$beamtop" calls "$counted" "$@" --cookie-file "$work/cookie" --timeout 60 >"$work/out" 2>"$work/err"
}

# counts WORDS…: in place of the shell that calls it.
counts() {
    exec "$beamtop" calls "$names" "$@" --cookie-file "$work/cookie" --timeout 60 >"$work/out" 2>"$work/err"
}
is_counted() { grep -q 'nodes\{0,1\} \(is\|are\) counted' "$work/err" 2>/dev/null; }

# arms WORDS…: a window stands on each node, as it says.
arms() {
    rm -f "$work/err"
    until_armed "$work/err" is_counted counts --for 40s --force "$@" && all_order counting
}

all_order() {
    for dir in $dirs; do order "$1" || return 1; done
}
# stops CODE
stops() {
    kill -INT "$armed"
    wait "$armed"
    ends_with "$1" $?
}

# ---- what it shows

adds_up_exactly() {
    arms --format json || return 1
    all_order go && dir=$last_dir && order go && stops 0 || return 1
    holds "length == 1 and .[0].nodes_counted == $count and all(.[0].nodes[]; .counted and .why == null)" &&
        holds "$leaf | .calls == 12345 * $((count + 1)) and .calls_unlisted == 0 and .nodes_listed == $count
            and .most_node == \"$last\" and (.nodes[] | select(.node == \"$last\") | .calls) == 24690
            and ([.nodes[].calls] | add) == .calls and .least_per_s <= .most_per_s" &&
        holds '.[0] | ([.nodes[].calls] | add) == .calls and ([.applications[].calls] | add) == .calls' && all_clean
}
leaf='.[0].functions[] | select(.function == "leaf")'

times_each_node() {
    calls "$names" calls_load --for 300ms --time --by-node
    ends_with 0 $? && says '^FUNCTION .*NODES .*LEAST/s .*A CALL .*MOST' &&
        says "^calls_load:mark/1 .* $count " && says "^calls_load:mark/1  *$last " &&
        told "nothing left on $last" && all_clean
}

writes_other_forms() {
    calls "$names" calls_load --for 300ms --format csv
    ends_with 0 $? && says '^wall_us,node,window' && says "$last,1,.*,mark,1," || return 1
    calls "$names" calls_load --for 300ms --format folded --by-node
    ends_with 0 $? && says "^$last;.*calls_load;mark/1 [0-9]+$" && all_clean
}

follows_windows() {
    rm -f "$work/err"
    until_armed "$work/err" is_counted counts calls_load --for 200ms --every 500ms --format json || return 1
    wait_until 120 has_two_windows || return 1
    kill -TERM "$armed"
    wait "$armed"
    ends_with 143 $? && holds "map(.window) == [range(1; length + 1)] and all(.[:2][]; .nodes_counted == $count)" &&
        all_clean
}
has_two_windows() { [ "$(grep -c . "$work/out")" -ge 2 ]; }

# Nodes whose windows take longer, as with more functions, are not left behind.
opens_windows_together() {
    calls "$names" _:_ --for 50ms --windows 12 --format json
    ends_with 0 $? && holds "length == 12 and all(.[]; .nodes_counted == $count)" && all_clean
}

# ---- all or none

sets_all_or_none() {
    calls "$names,nobody$$@127.0.0.1" calls_load --for 300ms
    ends_with 3 $? && told 'nobody.*no node' && [ ! -s "$work/out" ] || return 1
    calls "$names,nobody$$@127.0.0.1" calls_load --for 300ms --partial --format json
    ends_with 0 $? && told 'nobody.* is left out' && holds ".[0].nodes_counted == $count and .[0].nodes_asked > $count" ||
        return 1
    calls "$names" calls_load:nothing --for 300ms
    ends_with 1 $? && told 'no such function' && [ ! -s "$work/out" ] || return 1
    calls "$last,${last%@*}@localhost" calls_load
    ends_with 2 $? && told 'the same node' || return 1
    calls "$last" calls_load --by-node
    ends_with 2 $? && told 'for several nodes' || return 1
    calls "$names" --dry-run
    ends_with 0 $? && told 'counting costs' && [ ! -s "$work/out" ] && all_clean
}

# Before sessions another tool's breakpoint refuses one node: then none is counted, or the others.
one_refuses() {
    first=${names%%,*}
    dir=${dirs# }
    dir=${dir%% *}
    first_otp=${dir##*-}
    [ "$first_otp" -lt 27 ] || return 0
    order foreign || return 1
    calls "$names" calls_load --for 300ms
    refused=$?
    calls "$names" calls_load --for 300ms --partial --format json
    partly=$?
    order alone
    ends_with 5 "$refused" && told "$first.*breakpoint on calls_load:mark/1" || return 1
    ends_with "$([ "$count" -gt 1 ] && echo 0 || echo 5)" "$partly" && all_clean
}

# ---- how it ends

# What was called there is in no sum, and the row of the node says so.
one_is_lost() {
    arms --format json || return 1
    all_order go
    end_last
    wait_until 120 lacks_one && stops 4 || return 1
    told "$last: " &&
        holds "$leaf | .calls == 12345 * $((count - 1))" &&
        holds ".[0].nodes[] | select(.node == \"$last\") | (.counted | not) and (.why | test(\"not verified\"))" ||
        return 1
    start_last && all_clean
}
lacks_one() { grep -q "$last: " "$work/err"; }

a_kill_leaves_nothing() {
    for words in '' '--time'; do
        # shellcheck disable=SC2086
        arms $words || return 1
        kill -9 "$armed"
        wait "$armed" 2>/dev/null
        all_clean || return 1
    done
}

run_on_several adds_up_exactly times_each_node writes_other_forms follows_windows \
    opens_windows_together sets_all_or_none one_refuses one_is_lost a_kill_leaves_nothing
