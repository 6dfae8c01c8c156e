#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# A scheduler that does not yield, on a real node: the header goes on with what is
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

# For minutes, and as long at a time as it takes on the machine as it is then: begun again for each try.
is_stuck() { order stuck; }

# The comparison ends now and then, so a tick may find all schedulers. What is late is null in one and
# the rest is known; after it is back the whole wait is reported.
the_rest_is_known() { one_of 20 a_tick_is_late; }
a_tick_is_late() {
    is_stuck && beam schedulers "$node" -n 4 --interval 0.5 --format json &&
        holds 'all(.[]; .system.processes > 0 and .system.run_queue != null and .system.rss_bytes > 0)
            and any(.[]; .system.memory_total_bytes == null and .system.late_ms >= 200)
            and any(.[]; .system.late_scheduler == 2)'
}

the_header_says_who() { one_of 90 a_header_says_who; }
a_header_says_who() {
    is_stuck && beam capture "$node" --size 120x30 --no-config && says 'scheduler.* late: '
}

has_finding() {
    "$beamtop" report "$work/late.btr" --format json >"$work/out" 2>"$work/report" &&
        jq -e '.findings[] | select(.rule == "late_scheduler") | .title |
            test("^(Scheduler 2|A scheduler) did not yield for ")' "$work/out" >/dev/null
}

a_recording_finds_it() {
    is_stuck || return 1
    rm -f "$work/late.btr"
    "$beamtop" record "$node" --timeout 60 --cookie-file "$work/cookie" -o "$work/late.btr" --interval 0.5 \
        --budget 100 --for 200s >"$work/text" 2>"$work/err" &
    recording=$!
    wait_long 120 has_finding
    kill -INT "$recording"
    wait "$recording"
    has_finding && return
    echo "no finding in:"
    cat "$work/report"
    jq -c '.ticks, .findings, .not_evaluated, .system.late_ms' "$work/out"
    return 1
}

# What comes before the flags waits for the end of a comparison: the next one begins a moment later.
# Beside other programs one may be over too soon; on a busy machine another scheduler may be late, too,
# and be reported. The load ends after minutes, which many tries may take.
a_trace_of_all_is_refused() { one_of 60 a_trace_is_refused && told 'would stop the whole node' && is_clean; }
a_trace_is_refused() {
    order stuck_always || return 1
    beam trace "$node" 'late_load:tick(_)' --events 1 --time 60s
    ends_with 5 $? && told 'scheduler [1-3] did not answer for 500 ms'
}

one_of_a_process_is_not() {
    is_stuck || return 1
    beam trace "$node" 'late_load:tick(_)' --events 2 --time 60s --procs late_paced
    ends_with 0 $? && says 'late_load:tick' && is_clean
}

# When it yields again.
all_is_known() {
    beam schedulers "$node" --format json && holds '.[-1].system | .memory_total_bytes > 0 and .late_ms != null'
}

nothing_waits_any_more() {
    order free || return 1
    one_of 20 all_is_known || return 1
    patient beam trace "$node" 'late_load:tick(_)' --events 2 --time 60s
    ends_with 0 $? && is_clean
}

same the_rest_is_known the_header_says_who a_recording_finds_it \
    a_trace_of_all_is_refused one_of_a_process_is_not nothing_waits_any_more
run_on_releases
