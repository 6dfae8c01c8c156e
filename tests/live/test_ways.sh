#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# A node of few processes is scanned natively, and by the keeper where an item is counted over a list:
# both say the same of a node that stands still, byte for byte. The load is idle_load.erl.
# shellcheck disable=SC1091,SC2034,SC2154,SC2317
set -u
. "$(dirname "$0")/../tap.sh"

load=idle_load
. "$(dirname "$0")/releases.sh"

items=pid,name,application,initial_call,label,supervisor,reductions,memory_bytes,memory_older
items=$items,memory_age_s,total_heap_bytes,heap_bytes,stack_bytes,message_queue_len,current_function
items=$items,status,priority,minor_gcs,fullsweep_after,trap_exit,message_queue_data,dictionary_len

# looks WAY COLUMNS WORDS…: the rows of the second tick. Each read of a process is a reduction of its, and
# one that answers by a signal runs just then.
looks() {
    way=$1
    columns=$2
    shift 2
    patient asks_top --columns "$columns" "$@" || { cat "$work/err"; return 1; }
    jq -cs '.[-1].rows | map(del(.links, .reductions) | .status |= sub("running|runnable"; "waiting"))' \
        "$work/out" >"$work/$way"
}
asks_top() {
    "$beamtop" top "$node" --cookie-file "$work/cookie" --timeout 60 --format json -n 2 -i 0.5 --rows 1000 "$@" \
        >"$work/out" 2>"$work/err" </dev/null
}

# Those that stood still: what they are before the keeper's look is what they are after it.
same_rows() {
    looks before "$items" "$@" && looks keeper "$items,links" "$@" && looks after "$items" "$@" || return 1
    jq -ne --slurpfile a "$work/before" --slurpfile k "$work/keeper" --slurpfile b "$work/after" '
        [$a[0][] | select(. as $row | $b[0] | index($row))] as $still |
        [$k[0][] | select(.pid as $pid | $still | any(.pid == $pid))] as $keeper |
        ($still | length) >= 30 and $still == $keeper' >/dev/null && return
    for way in before keeper after; do
        jq -c '.[]' "$work/$way" >"$work/$way.rows"
    done
    diff "$work/before.rows" "$work/keeper.rows" | cut -c1-600 | head -n 20
    return 1
}

by_queue() { one_of 5 same_rows --sort message_queue_len; }
by_queue_upwards() { one_of 5 same_rows --sort message_queue_len --reverse; }

# On a node that stands still hardly anybody else works, also while the keeper starts. What is under way
# at a tick belongs to the next.
own_work_is_reported() { one_of 5 most_work_is_own; }
most_work_is_own() {
    patient asks_top --columns "$items,links" || { cat "$work/err"; return 1; }
    jq -se '.[0].system | .own_reductions_per_s > 0.7 * .reductions_per_s' "$work/out" >/dev/null ||
        { jq -cs '.[0].system' "$work/out"; return 1; }
}

# Who passes it, and who they are.
by_filter() {
    for filter in 'app=kernel' 'sup' 'erlang:apply' 'fn=gen_server:loop' 'name=^rex$' 'nothing'; do
        one_of 5 same_who "$filter" || return 1
    done
}
same_who() {
    for columns in "$items" "$items,links"; do
        patient asks_top --columns "$columns" --filter "$1" || { cat "$work/err"; return 1; }
        jq -cs '.[-1].rows | map([.pid, .name, .initial_call, .label, .application, .supervisor]) | sort' \
            "$work/out" >"$work/${columns##*,}"
    done
    cmp "$work/dictionary_len" "$work/links"
}

beamtops_own_are_told() { counts_own "$items" && counts_own "$items,links"; }
counts_own() {
    asks_top --own --columns "$1" || return 1
    jq -se '.[-1] | .scan.own >= 2 and ([.rows[] | select(.initial_call == "beamtop:keeper/0")]
        | length) >= 2' "$work/out" >/dev/null || { jq -cs '.[-1].scan' "$work/out"; return 1; }
}

differ by_queue by_queue_upwards by_filter beamtops_own_are_told own_work_is_reported
run_on_releases
