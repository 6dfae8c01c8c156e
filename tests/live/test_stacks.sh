#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# One process in time on real nodes: known calls (stacks_load.erl), waits, their
# nesting; and that nothing is left. Of times only the least is held: on a busy machine everything
# may take longer; where calls were skipped, what holds of all holds of one.
# shellcheck disable=SC1091,SC2154,SC2317
set -u
. "$(dirname "$0")/../tap.sh"

load=stacks_load
. "$(dirname "$0")/releases.sh"

# Keys are as in docs/json.md; µs.
# shellcheck disable=SC2016
prelude='
def took($ms): .duration_us >= ($ms - 1) * 1000;
def rows: . as $all
    | (reduce .timeline[] as $r ({}; .[($r.parent // "none") | tostring] += [$r])) as $in
    | [.timeline | to_entries[] | (.value + {inside: ($in[.key | tostring] // [])})
        | .around = if .parent == null then null else $all.timeline[.parent] end];
def named($f): select(.kind == "call" and .function == "stacks_load:" + $f);
def done($f): [rows[] | named($f) | select(.outcome != "open" and .outcome != "lost")];
def each($f; p): (.gaps == 0) as $whole | done($f)
    | length > 0 and (if $whole then all(.[]; p) else any(.[]; p) end);
def usual($f; value): [done($f)[] | value] | sort | .[(length - 1) / 2 | floor];
def below($f): [.inside[] | named($f)];
def waits: [.inside[] | select(.kind == "WAITING")];
def function($f): .functions[] | select(.function == "stacks_load:" + $f);
'

# stacks ARGUMENT…
stacks() {
    "$beamtop" stacks "$node" "$@" --timeout 60 --cookie-file "$work/cookie" >"$work/out" \
        2>"$work/err" </dev/null
}

shows() {
    jq -e "$prelude $1" "$work/out" >/dev/null || {
        echo "does not hold: $1"
        cat "$work/err"
        jq -c 'del(.timeline, .functions)' "$work/out"
        jq -c '.functions[], .timeline[] | del(.[] | nulls)' "$work/out" | head -n 150 | cut -c1-300
        return 1
    }
}

# watch CASE ARGUMENT…: while `subject` does CASE.
watch() {
    case=$1
    shift
    order "loop_$case" || return 1
    patient stacks "$@" --format "${format:-json}" --force
    code=$?
    order stop || return 1
    ends_with 0 "$code" && is_clean
}

known='stacks_load:/^(outer|inner|leaf|sleeps|asks|raises|caught|tail|tail_end|down)$/'

# Facts of the calls of `all`. Those that begin with usually_ a load may hide; of the others none, where
# the trace is whole and has each of the calls.
the_trace_is_whole() {
    shows '.ended_by == "time" and .name == "subject" and .first == false and .duration_us < 600000000'
}
calls_nest() {
    shows 'each("outer/1"; .outcome == "returned" and took(60)
            and (below("inner/1") | length) == 2 and .own_us < .duration_us - 29000
            and all(below("inner/1")[]; took(15)))
        and each("inner/1"; below("leaf/0") | length == 1 and (.[0] | took(5)))
        and (function("outer/1") | .total_us >= 59000)'
}
# A sleep of 60 ms is waiting for timer:sleep/1, and nothing of it own time; the time runs from before the
# process waits: where the host takes the core in between, it waits for less, or not at all.
a_sleep_is_a_call() { shows 'each("sleeps/0"; took(65))'; }
usually_a_sleep_waits() {
    shows 'each("sleeps/0"; .off_known
            and any(waits[]; .function == "timer:sleep/1" and .total_us > 0 and .times == 1))
        and usual("sleeps/0"; .waiting_us) >= 59000
        and (function("sleeps/0") | .waiting_us >= 59000)'
}
# 40 ms for a message, and 30 for a server.
a_call_of_a_server_is_a_call() { shows 'each("asks/0"; took(70))'; }
# shellcheck disable=SC2016
usually_a_call_of_a_server_waits() {
    shows 'each("asks/0"; any(waits[]; .function == "stacks_load:asks/0" and .total_us > 0)
            and any(waits[]; .function | startswith("gen:")))
        and usual("asks/0"; .waiting_us) >= 68000
        and usual("asks/0"; [waits[] | select(.function == "stacks_load:asks/0") | .total_us]
            | add) >= 39000
        and usual("asks/0"; [waits[] | select(.function | startswith("gen:")) | .total_us]
            | add) >= 29000'
}
exceptions_are_told() {
    shows 'each("caught/1"; .outcome == "exception" and (.reason | startswith("error: boom"))
            and took(2))
        and each("raises/0"; .outcome == "returned" and (below("caught/1") | length) == 1)
        and (function("caught/1") | .exceptions == .calls - .open)'
}
# A tail call stands in its caller: both end at the same time, if nobody takes the core in between.
tail_calls_stand_in_their_caller() {
    shows 'each("tail_end/0"; .depth >= 4 and .around.function == "stacks_load:tail/1"
        and .around.offset_us + .around.duration_us - .offset_us - .duration_us > -1)'
}
usually_tail_calls_end_with_their_caller() {
    shows 'each("tail_end/0";
        .around.offset_us + .around.duration_us - .offset_us - .duration_us | fabs < 5000)'
}
# shellcheck disable=SC2016
recursion_is_counted_once() {
    shows '([done("down/1")[] | .depth] | max) == 5
        and ([rows[] | named("down/1") | select(.depth == 0) | .duration_us] | add) as $outermost
        | (function("down/1") | .calls >= 6 and .own_us <= .total_us + 1
            and (.total_us - $outermost | fabs) < 1)'
}

# watched FACTS CASE ARGUMENT…: again for longer where calls were skipped, or the trace broke off, since
# the node got little of a core, or where too little was seen in that time, until each fact was seen. In
# no whole trace may one fail that no load hides.
watched() {
    facts=$1
    shift
    unseen=$facts
    for seconds in 1 2 4 8 16 32; do
        wrong=
        { watch "$@" --for "${seconds}s" && seen; } >"$work/watched" 2>&1
        [ -z "$wrong" ] || { echo "wrong in a whole trace:$wrong"; break; }
        [ -n "$unseen" ] || return 0
    done
    cat "$work/watched"
    return 1
}

# Leaves in `unseen` those that have held in no trace yet, and in `wrong` those that must.
seen() {
    not_seen=
    whole=1
    shows '.gaps == 0 and .ended_by == "time"' && shows "$all_calls" || whole=0
    for fact in $facts; do
        if "$fact"; then
            continue
        fi
        case " $unseen " in *" $fact "*) not_seen="$not_seen $fact" ;; esac
        case $whole$fact in 0* | 1usually_*) ;; *) wrong="$wrong $fact" ;; esac
    done
    unseen=$not_seen
}

# As many times off CPU are known as there may be events.
# shellcheck disable=SC2016
known_calls() {
    all_calls='. as $all | all("outer/1", "sleeps/0", "asks/0", "raises/0", "caught/1", "tail_end/0", "down/1"; . as $f
        | $all | done($f) | length > 0)'
    watched "the_trace_is_whole calls_nest a_sleep_is_a_call usually_a_sleep_waits a_call_of_a_server_is_a_call
        usually_a_call_of_a_server_waits exceptions_are_told tail_calls_stand_in_their_caller
        usually_tail_calls_end_with_their_caller recursion_is_counted_once" \
        all subject "$known" --events 10000 --rate 5000
}

# Also while others run.
it_never_waits() { shows 'each("burn/1"; took(300) and .waiting_us == 0)'; }
usually_its_time_is_that_of_whom_it_calls() { shows 'each("computes/0"; .own_us < 50000)'; }
# shellcheck disable=SC2016
a_busy_process_does_not_wait() {
    all_calls='. as $all | all("burn/1", "computes/0"; . as $f | $all | done($f) | length > 0)'
    watched 'it_never_waits usually_its_time_is_that_of_whom_it_calls' computes subject 'stacks_load:/^(computes|burn)$/'
}

# Nothing of the VM says that it does not run: it did not before, and does not after.
# How it stood at the start is an answer of the node, which may come late.
a_process_that_only_waits() {
    for seconds in 1 5 25; do
        stacks subject --for "${seconds}s" --format json
        ends_with 0 $? && is_clean || return 1
        shows ".waiting_us > 700000 and (.timeline | length > 0)" >/dev/null && return 0
    done
    shows ".waiting_us > 700000 and (.timeline | length > 0)"
}

# Without a pattern: the functions of the modules that it is in.
a_process_alone() {
    watch recurses subject --for 60s --events 60 &&
        shows '.patterns == null and (done("down/1") | length) > 0
            and all(.functions[]; .function | startswith("stacks_load:"))'
}

# A process that ends ends the trace, and all of its call is there.
a_pattern_alone_takes_the_first() {
    watch fresh 'stacks_load:sleeps()' --for 60s || return 1
    # Waits are known from when it was followed, which is after the call began.
    # shellcheck disable=SC2016
    shows '.followed_from_us as $late | .first and .ended_by == "gone" and (.pid | startswith("<0."))
        and .calls == 1 and each("sleeps/0"; took(65) and .waiting_us + $late >= 40000)'
}

# More calls than the cap and the rate: gaps are said, the cap holds.
a_hot_function_is_capped() {
    watch hot subject 'stacks_load:hot/0' 'stacks_load:tiny/1' --for 60s --events 100 --rate 50 ||
        return 1
    shows '.ended_by == "events" and .calls == 100 and .gaps > 0 and .dropped == 0'
}

nobody_calls() {
    patient stacks 'stacks_load:recurses/0' --for 1s --format json
    ends_with 0 $? && is_clean && shows '.pid == null and .calls == 0 and .ended_by == "time"'
}

# prints FORMAT: of calls and waits.
prints() {
    format=$1
    watch sleeps subject "$known" --for 60s --events 10
    printed=$?
    format=
    return "$printed"
}

# A speedscope file by the schema and the rules that it cannot say.
formats() {
    prints text && says '^ *\+.* stacks_load:sleeps/0' && says 'WAITING timer:sleep/1' &&
        says 'CALLS +OWN +TOTAL' && told 'nothing left on the node' &&
        prints folded && says '^stacks_load:sleeps/0;WAITING\(timer:sleep/1\) [0-9]+$' &&
        prints speedscope && jq -e '.profiles[0].events | length >= 2' "$work/out" >/dev/null || return 1
    if python3 -c 'import jsonschema' 2>/dev/null; then
        PYTHONDONTWRITEBYTECODE=1 python3 -W ignore "$BEAMTOP_SRCDIR/tests/schema/check.py" \
            "$BEAMTOP_SRCDIR/tests/schema" speedscope "$work/out"
    else
        echo '# not checked against the schema: no python3-jsonschema here' >"$work/remark"
    fi
}

errors_are_refused() {
    stacks nobody_is_registered --for 1s
    ends_with 1 $? && told 'no process is registered' || return 1
    stacks 'stacks_load:nothing_such(_)' --for 1s
    ends_with 1 $? && told 'nothing to trace' || return 1
    stacks 'stacks_load:_ -> count' --for 1s
    ends_with 2 $? || return 1
    is_clean
}

# Each call of a loop that does not return would leave its frame on the stack of the server.
loops_of_otp_are_left_out() {
    stacks global_name_server --for 1s --format json
    code=$?
    if [ "$1" -lt 26 ]; then
        ends_with 1 "$code" && told 'its modules are not known' || return 1
    else
        ends_with 0 "$code" &&
            shows '[.functions[].function | select(startswith("gen_server:"))] == []' || return 1
    fi
    is_clean
}

# The end of beamtop itself: the node clears it.
nothing_is_left_after_a_kill() {
    order loop_nested || return 1
    : >"$work/err" # what was said before must not be taken for this
    "$beamtop" stacks "$node" subject --for 60s --force --timeout 60 --cookie-file "$work/cookie" \
        >"$work/out" 2>"$work/err" </dev/null &
    pid=$!
    wait_until 60 grep -q 'of one process' "$work/err" || { cat "$work/err"; return 1; }
    kill -9 "$pid"
    wait "$pid" 2>/dev/null
    order stop || return 1
    is_clean
}

differ known_calls a_busy_process_does_not_wait a_pattern_alone_takes_the_first loops_of_otp_are_left_out nothing_is_left_after_a_kill
same a_process_that_only_waits a_process_alone a_hot_function_is_capped nobody_calls
once formats errors_are_refused
run_on_releases
