#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# System events of real nodes: each kind is seen, too many of one are cut off, another tool's system
# monitor stays, a recording has them, and nothing is left after any end. The load is events_load.erl.
# shellcheck disable=SC1091,SC2034,SC2154,SC2317
set -u
. "$(dirname "$0")/../tap.sh"

load=events_load
. "$(dirname "$0")/releases.sh"

# watch ARGUMENT…: $work/out has what came; exec, so that $! is the program.
watch() {
    exec "$beamtop" events "$node" --timeout 60 --cookie-file "$work/cookie" --format json "$@" \
        >"$work/out" 2>"$work/err" </dev/null
}

is_set() {
    order audit || return 1
    if [ "$otp" -ge 28 ]; then
        grep -q '{sessions,[12]}' "$dir/left"
    else
        grep -q '{system_monitor,{<' "$dir/left"
    fi
}

# start_watch ARGUMENT…: events are watched for, the program is $armed.
start_watch() {
    : >"$work/out"
    [ -z "${armed:-}" ] || kill -KILL "$armed" 2>/dev/null
    until_armed "$work/err" is_set watch "$@"
}

end_watch() {
    kill -INT "$armed"
    wait "$armed"
    ends_with 0 $? && is_clean
}

# came EVENT NAME FILTER: such an event is in the output; NAME is a regex.
came() {
    jq -s -e --arg event "$1" --arg name "$2" \
        "any(.[]; .event == \$event and (.name // \"\" | test(\"^(\" + \$name + \")\$\")) and ($3))" "$work/out" >/dev/null 2>&1
}

will_come() {
    wait_until 120 came "$@" || { echo "no $1 of $2:"; grep "$1" "$work/out" | tail -5; return 1; }
}

each_kind_is_seen() {
    start_watch --long-gc 1 --long-schedule 10 --large-heap 262144 --queue 50 --time 10m || return 1
    for name in gc busy port queue; do order $name || return 1; done
    will_come large_heap events_gc '.words > 262144' || return 1
    will_come long_gc events_gc '.ms >= 1 and .words > 0' || return 1
    will_come long_schedule events_busy '.ms >= 10 and (.out | startswith("events_load:"))' || return 1
    will_come busy_port 'events_(one|two|three)' '(.port | startswith("#Port<")) and .peer == "tcp_inet"' || return 1
    [ "$otp" -lt 27 ] || will_come long_message_queue events_queue '.state == "long"' || return 1
    end_watch && holds '.[-1] | .ended == "stopped" and .verification.clean and .missed == 0'
}

a_busy_connection_is_seen() {
    start_watch --no-long-gc --no-long-schedule --no-large-heap --time 10m || return 1
    order dist || return 1
    will_come busy_dist_port events_dist '(.port | startswith("#Port<")) and
        (.peer | startswith("events_peer"))'
    seen=$?
    order undist && end_watch && return "$seen"
}

# It has its list, and waits.
has_collected() {
    "$beamtop" process "$node" events_gc --timeout 60 --cookie-file "$work/cookie" --format json 2>/dev/null </dev/null |
        jq -e '.process.status == "waiting" and .process.memory_bytes > 40000000' >/dev/null
}
groups_are_added_up() {
    start_watch --large-heap 262144 --no-long-gc --no-long-schedule --by process --time 10m || return 1
    order gc && wait_until 120 has_collected || return 1
    sleep 1
    end_watch && holds 'any(.[]; .key == "events_gc" and .large_heap > 3 and .long_gc == 0
        and .max_words > 1000000)'
}

# Some ten thousand a second; without it the others go on. Nothing else is set that a busy host makes
# come: it could be what comes most.
was_cut_off() {
    jq -s -e 'any(.[]; .event == "large_heap" and .state == "off" and .limit == 524288)' \
        "$work/out" >/dev/null 2>&1
}
is_tried_again() {
    jq -s -e 'any(.[]; .event == "large_heap" and .state == "on" and .limit == 524288)' \
        "$work/out" >/dev/null 2>&1
}
a_flood_is_cut_off() {
    start_watch --large-heap 262144 --no-long-gc --no-long-schedule --time 10m || return 1
    order flood || return 1
    wait_until 120 was_cut_off || { tail -5 "$work/out"; return 1; }
    order port && will_come busy_port 'events_(one|two|three)' true || return 1
    wait_until 120 is_tried_again || { tail -5 "$work/out"; return 1; }
    order calm && end_watch || return 1
    holds '.[-1] | .missed > 0 and .seen - .missed < 10000'
}

# Before OTP 28 no system monitor is set where no event is left: it was not taken.
the_only_one_is_cut_off() {
    start_watch --large-heap 262144 --no-long-gc --no-long-schedule --no-queue --no-busy-port \
        --no-busy-dist-port --time 10m || return 1
    order flood || return 1
    wait_until 120 was_cut_off || { tail -5 "$work/out"; return 1; }
    order calm
    wait_until 120 is_tried_again || { tail -5 "$work/out"; return 1; }
    end_watch
}

# Its own system monitor is as it was.
its_own_stays() {
    order look || return 1
    grep -q '{long_gc,4711}' "$dir/monitor" || { cat "$dir/monitor"; return 1; }
}
another_is_refused() {
    order take || return 1
    ( watch --time 1s )
    ends_with 5 $? && told 'events_owner.*long_gc,4711' && its_own_stays && order give && is_clean
}
another_stays() {
    order take || return 1
    ( watch --time 1s )
    ends_with 0 $? && its_own_stays && order give && is_clean
}

both_are_shown_as_active() {
    order take || return 1
    [ "$otp" -lt 28 ] || { start_watch --time 10m --no-queue || return 1; }
    "$beamtop" armed "$node" --timeout 60 --cookie-file "$work/cookie" --format json \
        >"$work/armed" 2>&1 || { cat "$work/armed"; return 1; }
    jq -s -e 'any(.[].rows[]; .what == "monitor" and (.text | test("long_gc,4711")) and .beamtop == false)' \
        "$work/armed" >/dev/null || { cat "$work/armed"; return 1; }
    order give || return 1
    [ "$otp" -ge 28 ] || return 0
    end_watch || return 1
    jq -s -e 'any(.[].rows[]; .what == "monitor" and .where == "trace:system" and .beamtop
        and (.text | test("large_heap,8000000")))' "$work/armed" >/dev/null ||
        { cat "$work/armed"; return 1; }
}

# What was set is off; processes may stay with a connection.
is_off() {
    order audit && ! grep -q 'system_monitor\|sessions\|events_name' "$dir/left"
}
ends_of_all_kinds() {
    for signal in KILL TERM KILL STOP; do
        : >"$work/out"
        ( watch --long-gc 1 --time 10m ) &
        armed=$!
        case $signal in
            KILL) sleep "0.$(($(date +%N | cut -c1-1) + 0))" ;;
            *) wait_until 60 is_set || return 1 ;;
        esac
        kill -"$signal" "$armed"
        [ "$signal" != STOP ] || {
            wait_until 60 is_off || { cat "$dir/left"; kill -KILL "$armed"; return 1; }
            kill -KILL "$armed"
        }
        wait "$armed" 2>/dev/null
        is_clean || return 1
    done
}

# The node cuts the connection, or somebody kills the process that holds it all.
ends_by_others() {
    for way in cut kill; do
        start_watch --time 10m || return 1
        order $way || return 1
        wait_until 60 has_ended "$armed" || { cat "$work/out" "$work/err"; return 1; }
        ! wait "$armed" || { echo "no error at its end"; return 1; }
        is_clean || return 1
    done
}

# ---- in a recording

file=$work/events.btr
export XDG_STATE_HOME="$work/state"

# record_events: the recorder is $armed. It is $! only where the shell has become the program.
record_events() {
    exec "$beamtop" record "$node" --timeout 60 --cookie-file "$work/cookie" --no-config -i 1 \
        -o "$file" --system-events --long-gc 1 --long-schedule 10 --large-heap 262144 --queue 50 \
        "$@" >"$work/out" 2>"$work/err" </dev/null
}

# prints ARGUMENT…: what the recording has so far.
prints() { "$beamtop" events "$file" "$@" >"$work/out" 2>"$work/told" </dev/null; }
recorded() { prints --format json && came "$@"; }
is_recorded() {
    wait_until 60 recorded "$@" || { cat "$work/err" "$work/told"; tail -5 "$work/out"; return 1; }
}

starts_recording() {
    rm -f "$file" "$file"-*
    until_armed "$work/err" is_set record_events "$@"
}

a_recording_has_them() {
    starts_recording || return 1
    for name in gc busy queue; do order $name || return 1; done
    is_recorded large_heap events_gc '.words > 262144' || return 1
    is_recorded long_schedule events_busy '.ms >= 10 and (.out | startswith("events_load:"))' ||
        return 1
    [ "$otp" -lt 27 ] || is_recorded long_message_queue events_queue '.state == "long"' || return 1
    jq -s -e '.[-1].ended == "running"' "$work/out" >/dev/null || { tail -1 "$work/out"; return 1; }
    kill -INT "$armed"
    wait "$armed"
    ends_with 0 $? && is_clean && prints --format json || return 1
    holds '.[-1] | .schema == "beamtop.events_end/1" and .ended == "stopped" and
        .verification.clean and .limits.large_heap == 262144 and .missed == 0 and .seen > 1' ||
        return 1
    prints --by process && says '^events_gc' || return 1
    prints --format csv && says ',large_heap,<' || return 1
    "$beamtop" export "$file" system_events >"$work/out" 2>"$work/told" &&
        says '^[0-9]+,[^,]+,1,large_heap,<[0-9.]+>,events_gc,' || return 1
    "$beamtop" report "$file" >"$work/out" 2>"$work/told" && says 'System events' &&
        says 'events_gc' || return 1
    "$beamtop" report "$file" --format json >"$work/out" 2>"$work/told" &&
        holds '.[0].system_events | .seen > 1 and .missed == 0 and
            any(.processes[]; .key == "events_gc" and .large_heap > 0)'
}

a_killed_recorder_leaves_nothing() {
    starts_recording || return 1
    order gc && is_recorded large_heap events_gc true || return 1
    kill -KILL "$armed"
    wait "$armed" 2>/dev/null
    is_clean && prints --format json && holds '.[-1].ended == "running"' && came large_heap events_gc true
}

# On the row of its process in the timeline of a capture of spans.
is_beside() {
    "$beamtop" spans "$file" --format trace-event >"$work/out" 2>"$work/told" </dev/null &&
        jq -e '.traceEvents | any(.[]; .ph == "X" and .cat == "root") and
            (map(select(.ph == "X" and .cat == "root") | .tid) as $rows | any(.[]; .ph == "i" and
                .name == "large_heap" and .args.name == "events_caller" and
                (.args.value | test("words")) and .ts >= 0 and (.tid | IN($rows[]))))' \
            "$work/out" >/dev/null 2>&1
}
spans_have_them_beside() {
    order request || return 1
    starts_recording --spans 'events_load:serve/0' --spans-every 5 || return 1
    wait_until 90 is_beside || { cat "$work/err" "$work/told"; tail -c 2000 "$work/out"; return 1; }
    kill -INT "$armed"
    wait "$armed"
    ends_with 0 $? && is_clean
}

is_full() { grep -q 'system-event-cap' "$work/err"; }
is_set_or_full() { is_set || is_full; }
the_cap_is_of_the_recording() {
    rm -f "$file" "$file"-* "$work/err"
    until_armed "$work/err" is_set_or_full record_events --system-event-cap 3 --no-long-gc --no-long-schedule \
        --no-busy-port || return 1
    for _ in 1 2 3 4; do order gc || return 1; done
    wait_until 60 is_full || { cat "$work/err"; return 1; }
    is_off || { cat "$dir/left"; return 1; }
    kill -INT "$armed"
    wait "$armed"
    ends_with 0 $? && is_clean && prints --format json &&
        holds '([.[] | select(.event)] | length) == 3 and .[-1].ended == "events"'
}


before 28 another_is_refused
since 28 another_stays
differ each_kind_is_seen a_busy_connection_is_seen groups_are_added_up a_flood_is_cut_off the_only_one_is_cut_off
differ another_is_refused another_stays both_are_shown_as_active ends_of_all_kinds ends_by_others
differ a_recording_has_them a_killed_recorder_leaves_nothing
differ spans_have_them_beside the_cap_is_of_the_recording
run_on_releases
