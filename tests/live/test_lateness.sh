#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# A scheduler that does not yield, on real nodes of every release: the header goes on with what is
# known, lateness is reported and becomes a finding, a trace of all processes is refused and one of a
# chosen process is not, and nothing is left. The load is late_load.erl.
# shellcheck disable=SC1091,SC2154,SC2317
set -u
. "$(dirname "$0")/../tap.sh"

load=late_load
# A connection outlives a node that is held up. Three schedulers: one that does not yield leaves two.
ERL_FLAGS="+S 3:3 +sbt u +sbwt none -kernel net_ticktime 300"
export ERL_FLAGS
. "$(dirname "$0")/releases.sh"

beam() {
    command=$1
    shift
    "$beamtop" "$command" "$@" --timeout 60 --cookie-file "$work/cookie" >"$work/out" 2>"$work/err"
}

# ---- while every scheduler yields

nothing_is_late() {
    beam schedulers "$node" -n 3 --interval 0.5 --format json || { cat "$work/err"; return 1; }
    holds 'all(.[]; .system.memory_total_bytes > 0 and .system.late_ms != null)'
}

# ---- while one does not

# For minutes, and as long at a time as it takes on the machine as it is then: begun again before each
# test that needs it, and each try.
is_stuck() { order stuck; }

# The comparison ends now and then, so a tick may find all schedulers. What is late is null in one and
# the rest is known; after it is back the whole wait is reported.
the_rest_is_known() {
    tries=20
    while [ "$tries" -gt 0 ]; do
        tries=$((tries - 1))
        is_stuck || return 1
        beam schedulers "$node" -n 4 --interval 0.5 --format json || { cat "$work/err"; return 1; }
        holds 'all(.[]; .system.processes > 0 and .system.run_queue != null and .system.rss_bytes > 0)' || return 1
        jq -s -e 'any(.[]; .system.memory_total_bytes == null and .system.late_ms >= 200)
                  and any(.[]; .system.late_scheduler == 2)' "$work/out" >/dev/null && return 0
    done
    echo "no tick with a late answer:"
    cat "$work/out"
    return 1
}

the_header_says_who() {
    tries=90
    while [ "$tries" -gt 0 ]; do
        tries=$((tries - 1))
        is_stuck || return 1
        beam capture "$node" --size 120x30 --no-config || { cat "$work/err"; return 1; }
        grep -q 'scheduler.* late: ' "$work/out" && return 0
    done
    says 'scheduler.* late: '
}

# A tick has a scan, which waits for the process that does not yield: how many ticks there are depends
# on the machine.
a_recording_finds_it() {
    for seconds in 8 20 60; do
        is_stuck || return 1
        rm -f "$work/late.btr"
        beam record "$node" -o "$work/late.btr" --interval 0.5 --budget 100 \
            --for "${seconds}s" || { cat "$work/err"; return 1; }
        "$beamtop" report "$work/late.btr" --format json >"$work/out" 2>"$work/err" || { cat "$work/err"; return 1; }
        jq -e '.findings[] | select(.rule == "late_scheduler") | .title |
               test("^(Scheduler 2|A scheduler) did not yield for ")' "$work/out" >/dev/null && return 0
    done
    echo "no finding in:"
    jq -c '.ticks, .findings, .not_evaluated, .system.late_ms' "$work/out"
    return 1
}

# What comes before the flags waits for the end of a comparison: the next one begins a moment later.
# Beside other programs one may be over too soon.
a_trace_of_all_is_refused() {
    tries=60
    while [ "$tries" -gt 0 ]; do
        tries=$((tries - 1))
        # It ends after minutes, which many tries may take.
        order stuck_always || return 1
        beam trace "$node" 'late_load:tick(_)' --events 1 --time 60s
        code=$?
        # On a busy machine another one may be late, too, and be reported.
        if grep -q 'scheduler [1-3] did not answer for 500 ms' "$work/err"; then
            ends_with 5 "$code" && told 'would stop the whole node' && is_clean
            return
        fi
        echo "not refused; exit code $code:"
        cat "$work/err" "$work/out"
    done
    return 1
}

one_of_a_process_is_not() {
    is_stuck || return 1
    beam trace "$node" 'late_load:tick(_)' --events 2 --time 60s --procs late_paced
    ends_with 0 $? && says 'late_load:tick' && is_clean
}

# ---- when it yields again

nothing_waits_any_more() {
    order free || return 1
    tries=20
    while [ "$tries" -gt 0 ]; do
        tries=$((tries - 1))
        beam schedulers "$node" -n 2 --interval 0.5 --format json || { cat "$work/err"; return 1; }
        jq -s -e '.[-1].system | .memory_total_bytes > 0' "$work/out" >/dev/null && break
    done
    beam trace "$node" 'late_load:tick(_)' --events 2 --time 60s
    ends_with 0 $? && is_clean
}

differ nothing_is_late is_stuck the_rest_is_known the_header_says_who a_recording_finds_it \
    a_trace_of_all_is_refused one_of_a_process_is_not nothing_waits_any_more
run_on_releases
