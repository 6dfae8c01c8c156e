#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Traces in recordings of real nodes: all calls are in the file, values only when they
# are asked for, the ends of trace and recording do not disturb each other, what was refused comes when the
# reason is gone, and the node is clean after.
# The load is record_load.erl.
# shellcheck disable=SC1091,SC2154,SC2317
set -u
. "$(dirname "$0")/../tap.sh"

load=record_load
. "$(dirname "$0")/releases.sh"
XDG_STATE_HOME=$work/state
export XDG_STATE_HOME
secret=hunter2-x9q

# ---- a recording

# Of nothing jq says that it is so.
status_holds() { "$beamtop" record status --format json | jq -s -e "length == 1 and (.[0] | $1)" >/dev/null; }

# begins WORDS…: in the background, to $file, until its first tick; a slow machine does not stretch its
# ticks. What a test before has left is ended.
begins() {
    "$beamtop" record status --format json | jq .pid | xargs -r kill
    number=$((${number:-0} + 1))
    file=$work/$number.btr
    "$beamtop" record start "$node" --cookie-file "$work/cookie" --timeout 30 --no-config -o "$file" -i 1 -b 100 "$@"
}

# comes FILTER: true of its status before long.
comes() { wait_long 120 status_holds "$1" || { cat "$file.log"; return 1; }; }

# starts WORDS…: until a trace is armed.
starts() { begins "$@" && comes '.traces >= 1'; }

# Whenever that is, between two traces too.
stops() {
    if "$beamtop" record stop >/dev/null && is_clean && ! grep -q 'not verified' "$file.log"; then return 0; fi
    cat "$file.log"
    return 1
}

# What `beamtop trace` prints of it. One that was refused, as on a busy machine where a scheduler is
# late, was tried again: its end is left out.
prints() {
    "$beamtop" trace "$file" "$@" >"$work/printed" 2>"$work/err"
    printed=$?
    grep -v '"kind":"end".*"reason":"failed"' "$work/printed" >"$work/out"
    return "$printed"
}

ended='(.[-1].kind == "end") and .[-1].verification.done and .[-1].verification.clean'
calls='[.[] | select(.kind == "call")] | length'
returns='([.[] | select(.kind == "return" and .mfa == "record_load:served/2")] | length)'
exceptions='([.[] | select(.kind == "exception" and .class == "error")] | length)'
# A machine that is busy with other things makes a trace miss some; the first window of 16 is there.
# Where no more is known than how many it may have missed, it says so.
all_of() { echo "((.shown + .missed == $1) or (.missed_at_most and .shown + .missed > $1))"; }

sql() { sqlite3 "$file" "$1"; }

has_the_secret() { cat "$file"* | grep -q -a -e "$secret"; }

# ---- what is recorded

has_all_calls_and_no_values() {
    starts --trace 'record_load:served/2 -> return' 'record_load:denied/1 -> return' --events 200 --trace-time 2m &&
        order work && order work && stops && prints --format json --ascii || return 1
    holds "$ended" || { grep '"kind":"end"' "$work/printed" | cut -c1-500; return 1; }
    holds "($calls) as \$n | .[-1].counters | .shown == \$n and $(all_of 100)" &&
        holds "$returns == .[-1].patterns[0].shown and $exceptions == .[-1].patterns[1].shown" &&
        holds '.[-1] | .reason == "stopped" and .counters.shown >= 16' &&
        holds '.[-1].patterns | map(.calls) == [80, 20] and all(.[]; .p99_us > 0)' &&
        holds 'all(.[:-1][]; .args == null and .result == null and .wall_us > 1500000000000000)' &&
        ! has_the_secret && prints && says '^% record_load:served/2 -> \(not recorded\)$' &&
        says '^% verified after .*: nothing left on the node'
}

has_shapes_when_redacted() {
    starts --trace 'record_load:served/2 -> return & receive({order, _})' --redact --events 200 --trace-time 2m &&
        order work && stops && prints || return 1
    says '^% record_load:served\(integer, binary:11\)$' && says ' -> \{atom, integer, binary:11\}$' &&
        says '^% <<< \{atom, binary:11\}$' && ! has_the_secret
}

goes_on_when_the_trace_has_ended() {
    starts --trace 'record_load:served/2' --events 5 --every 1s --trace-time 2m && order work || return 1
    comes '.traces >= 2' && order work && stops && prints --format json || return 1
    holds '[.[] | select(.kind == "end") | .reason] | .[0] == "events" and length >= 2' &&
        holds '[.[] | select(.kind == "end") | .counters.shown] | .[0] == 5 and .[1] == 5' &&
        [ "$(sql "SELECT value FROM meta WHERE key = 'end'")" = stopped ] &&
        [ "$(sql 'SELECT count(*) FROM trace WHERE clean = 1')" -ge 2 ]
}

is_whole_when_killed() {
    starts --trace 'record_load:served/2' --events 200 --trace-time 2m && order work && ticks_pass || return 1
    pid=$("$beamtop" record status --format json | jq .pid)
    kill -9 "$pid" || return 1
    events=$(sql "SELECT count(*) FROM event WHERE kind = 'call'")
    is_clean && [ "$(sql 'PRAGMA integrity_check')" = ok ] && prints --format json &&
        [ "$events" -ge 16 ] && holds "$calls == $events" && holds 'all(.[]; .kind == "call" or .kind == "lost")' &&
        told 'ends before the trace [0-9]+ does'
}

# Until what came so far is in the file.
ticks_pass() {
    ticks=$("$beamtop" record status --format json | jq .ticks)
    comes ".ticks >= $ticks + 2"
}

tells_what_is_not_traced_and_goes_on() {
    number=$((number + 1))
    file=$work/$number.btr
    "$beamtop" record "$node" --cookie-file "$work/cookie" --timeout 30 --no-config -o "$file" -i 1 -b 100 --for 300s \
        --trace 'record_load:nothing/9' >"$work/out" 2>"$work/err" &
    recorder=$!
    comes '.ticks >= 2' && wait_until 90 grep -q 'not traced' "$work/err" && "$beamtop" record stop >/dev/null
    wait "$recorder"
    ends_with 1 $? && told 'not traced' && is_clean || return 1
    # One that was late before, and was tried again, has an end of another kind.
    found=$(sql "SELECT (SELECT max(id) > 1 FROM tick) AND count(*) > 0 FROM trace WHERE reason = 'failed'")
    [ "$found" = 1 ] || { sql 'SELECT * FROM trace'; return 1; }
    "$beamtop" record "$node" --cookie-file "$work/cookie" --timeout 30 --no-config -o "$file.2" --trace 'record_load:(' \
        >"$work/out" 2>"$work/err"
    ends_with 2 $? && [ ! -e "$file.2" ]
}

# Below OTP 27 one after the other. The next trace may have begun when it is stopped.
counts_calls_too_and_has_values_when_asked_for() {
    starts --trace 'record_load:served/2 -> return' --values --events 40 --trace-time 2m \
        --calls record_load --window 500ms --every 2s && order work || return 1
    comes '.windows >= 1' && stops && prints --format json || return 1
    holds "[.[] | select(.kind == \"end\")][0] | .verification.clean and (.counters | $(all_of 40))" ||
        { grep -e '"kind":"end"' -e '"kind":"lost"' "$work/printed" | cut -c1-700; cat "$work/err" "$file.log"; return 1; }
    "$beamtop" calls "$file" --format json >"$work/out" && holds '.[0].schema == "beamtop.calls/2"' || return 1
    prints && says "^% record_load:served\\(1, <<\"$secret\">>\\)\$" && has_the_secret &&
        [ "$(sql "SELECT value FROM meta WHERE key = 'values'")" = 1 ]
}

# Each has a trace session there, and neither is what the other has left.
ends_clean_while_calls_are_counted() {
    starts --trace 'record_load:served/2' --events 5 --trace-time 2m --calls record_load --window 45s --every 46s &&
        wait_until 90 counts_calls || return 1
    if order work && wait_until 90 trace_has_ended && counts_calls && stops &&
        [ "$(sql 'SELECT min(clean) FROM trace')" = 1 ]; then return 0; fi
    sql 'SELECT reason, ending FROM trace'
    shows_the_log
}
counts_calls() { order audit && grep -q '{name,<' "$dir/left" && status_holds '.windows == 0'; }
trace_has_ended() { [ "$(sql "SELECT count(*) FROM trace WHERE reason = 'events'")" -ge 1 ]; }

# ends_while_silent COMMAND…: while the node does not run; the trace has its end all the same.
ends_while_silent() {
    starts --trace 'record_load:served/2' --events 200 --trace-time 2m && order work || return 1
    kill -STOP "$node_pid"
    "$@" >/dev/null
    ended=$?
    kill -CONT "$node_pid"
    [ "$ended" = 0 ] && prints --format json && is_clean &&
        holds '.[-1].kind == "end" and (.[-1].verification | (.done | not) and .text != "")'
}

is_gone_when_signalled() { ! kill "$1" 2>/dev/null; }
signals() { wait_until 60 is_gone_when_signalled "$("$beamtop" record status --format json | jq .pid)"; }

# The second signal.
ends_without_a_proof() {
    if ends_while_silent signals && grep -q 'stopped again before' "$file.log"; then return 0; fi
    shows_the_log
}

ends_when_the_proof_is_late() {
    if ends_while_silent "$beamtop" record stop && holds '.[-1].reason == "stopped"' &&
        grep -q 'not verified what is left' "$file.log"; then return 0; fi
    shows_the_log
}

# Screens look for recorders by the name that the node gives itself.
is_told_by_the_name_of_its_node() {
    own=$node
    node=${own%@*}@localhost
    begins && comes ".node == \"$own\"" && stops
    told=$?
    node=$own
    return "$told"
}

# ---- what is refused for a while

# logged TEXT: so many lines of it, but for a late scheduler of a busy machine.
logged() { grep -e "$1" "$file.log" | grep -c -v 'did not answer for'; }

shows_the_log() {
    cat "$file.log"
    return 1
}

# On a busy machine a scheduler may not answer in time.
is_refused_by_nobody() { ! grep -e "$refused" "$file.log" | grep -q -v 'did not answer for'; }

has_come() { status_holds ".$key > $1 and .calls_refused + .trace_refused == \"\""; }

# Reported once, however often it is tried; what was asked for comes when that is gone.
is_refused_once_and_begins_when_it_may() {
    wait_until 90 grep -q "$refused: .*; tried again in" "$file.log" && comes '.ticks >= 4' &&
        status_holds ".$key == 0 and .calls_refused + .trace_refused != \"\"" && order own && wait_until 90 has_come 0 &&
        [ "$(logged "$refused")" = 1 ] && [ "$(logged "$works")" -ge 1 ]
}

# waits_for KEY WORDS…: of a status. Somebody else's breakpoint is in the way before OTP 27.
waits_for() {
    key=$1
    shift
    order foreign && begins "$@" --every 500ms || return 1
    if [ "$otp" -lt 27 ]; then
        is_refused_once_and_begins_when_it_may || shows_the_log
    else
        wait_until 90 has_come 0 && order own && is_refused_by_nobody && return 0
        shows_the_log
    fi
}

counts_once_nobody_else_is_there() {
    refused='calls are not counted' works='calls are counted now'
    waits_for windows --calls record_load --window 200ms || return 1
    [ "$otp" -ge 27 ] || is_refused_again_and_goes_on || shows_the_log || return 1
    stops
}

is_refused_again_and_goes_on() {
    order foreign && comes '.calls_refused != ""' || return 1
    seen=$("$beamtop" record status --format json | jq .windows)
    order own && wait_until 90 has_come "$seen" && [ "$(logged "$works")" -ge 2 ]
}

traces_once_nobody_else_is_there() {
    refused='not traced' works='traced now'
    waits_for traces --trace 'record_load:served/2' --events 200 --trace-time 500ms && stops || return 1
    [ "$otp" -ge 27 ] || [ "$(sql "SELECT count(*) FROM trace WHERE reason = 'failed'")" -ge 1 ]
}

command -v sqlite3 >/dev/null || skip_all "no sqlite3 here"
since 27 ends_clean_while_calls_are_counted
differ counts_calls_too_and_has_values_when_asked_for ends_clean_while_calls_are_counted \
    counts_once_nobody_else_is_there traces_once_nobody_else_is_there
same has_all_calls_and_no_values is_whole_when_killed ends_without_a_proof
once has_shapes_when_redacted goes_on_when_the_trace_has_ended tells_what_is_not_traced_and_goes_on \
    is_told_by_the_name_of_its_node
# The proof has twenty seconds.
[ "${BEAMTOP_CHECK:-}" != all ] || once ends_when_the_proof_is_late
run_on_releases
