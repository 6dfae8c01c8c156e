#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Causal spans on real nodes of every release: requests with known answers (spans_load.erl), the
# number of roots, refusals, and that nothing is left, not even a token that would emit.
# Of times only the least is held: on a busy machine everything may take longer.
# shellcheck disable=SC1091,SC2154,SC2317
set -u
. "$(dirname "$0")/../tap.sh"

load=spans_load
. "$(dirname "$0")/releases.sh"
. "$(dirname "$0")/spans.sh"

# Keys are as in docs/json.md; µs. took(MS): it lasted at least so long; ms: one ms is for clocks.
# shellcheck disable=SC2016
prelude='
def took($ms): .duration_us >= ($ms - 1) * 1000;
def sums: if .self_us == null or .off_cpu_us == null then true
    else ((.self_us + .wait_us + .unattributed_us + .off_cpu_us - .duration_us) | fabs) < 2 end;
def child($kind): [.children[] | select(.kind == $kind)];
def wait($kind): [.waits[] | select(.kind == $kind)];
def every_root(f): (.roots | length) > 0 and all(.roots[]; sums and f);
'

# capture_of PATTERN CASE N [OPTION…]: calls of the pattern, while the case is called.
capture_of() {
    pattern=$1
    case=$2
    n=$3
    shift 3
    order "loop_$case" || return 1
    spans "$pattern" --roots "$n" --time 60s --force "$@"
    code=$?
    order stop || return 1
    ends_with 0 "$code" && is_clean
}

# capture CASE N [OPTION…]: calls of root/1 with the case.
capture() {
    of=$1
    shift
    capture_of "spans_load:root($of)" "$of" "$@"
}

shows() {
    jq -e "$prelude $1" "$work/out" >/dev/null || {
        echo "does not hold: $1"
        jq -c 'del(.roots, .parts), .roots[0]' "$work/out" | cut -c1-3000
        jq -c '.roots[] | [.outcome, .duration_us, (.children[] | [.kind, .operation, .name, .outcome, .duration_us])]' \
            "$work/out"
        return 1
    }
}

ended_by_roots='.ended_by == "roots" and .roots_open == 0 and .dropped.leaked == 0'

chain() {
    shows "$ended_by_roots and every_root(took(58) and .outcome == \"ok\"
        and .operation == \"spans_load:root/1\" and (.children | length) == 1
        and (wait(\"call\") | length) == 1 and wait(\"call\")[0].pid == .children[0].pid
        and (.children[0] | .kind == \"call\" and .name == \"b\" and .operation == \"chain\"
             and .outcome == \"ok\" and took(50)
             and (.children | length) == 1 and wait(\"call\")[0].name == \"c\"
             and (.children[0] | .name == \"c\" and .operation == \"leaf\" and .outcome == \"ok\"
                  and took(35) and .children == [])))"
}

a_chain_in_light_mode() {
    capture chain 3 || return 1
    chain && shows 'all(.roots[]; .unattributed_us == null and .off_cpu_us == null)
        and .events <= .roots_taken * (8 + 5)'
}

a_chain_in_full_mode() {
    capture chain 3 --full || return 1
    chain && shows 'all(.roots[].children[0].children[0]; wait("WAITING")
        | any(.at == "timer:sleep/1" and .duration_us >= 14000))'
}

waits_as_frames() {
    capture chain 2 --full --raw-waits --format folded || return 1
    says '^spans_load:root/1;WAITING\(gen:do_call/4\) for b [0-9]{5,}$' &&
        says '^spans_load:root/1;call b;WAITING\(gen:do_call/4\) for c [0-9]{5,}$' &&
        says '^spans_load:root/1;call b;call c;WAITING\(timer:sleep/1\) [0-9]{5,}$'
}

tasks() {
    capture task 2 --full || return 1
    shows "$ended_by_roots"' and every_root(took(34) and .outcome == "ok"
        and (child("task") | length) == 3 and (wait("call") | length) == 3
        and ([child("task")[] | .duration_us] | sort | .[0] >= 11000 and .[1] >= 21000 and .[2] >= 31000)
        and ([child("task")[].pid] - [wait("call")[].pid]) == [])'
}

a_callee_that_crashes() {
    capture crash 2 --full || return 1
    shows "$ended_by_roots"' and every_root(.outcome == "ok"
        and (child("call") | length == 1 and (.[0] | .outcome == "exit" and .reason == "boom" and took(5)))
        and any(wait("call")[]; .outcome == "exit" and .at == "boom"))'
}

# On a busy machine the last late answers come after the capture has waited for them.
a_timeout() {
    for try in 1 2 3 4 5; do
        capture timeout 4 --full || return 1
        shows 'every_root(took(24) and any(wait("call")[]; .outcome == "timeout" and .duration_us >= 19000)
            and (child("call")[0] | .outcome != "ok" and (.outcome != "late" or took(50))))' || return 1
        shows 'any(.roots[]; child("call")[0].outcome == "late")' && return 0
    done
    return 1
}

a_pool_with_an_untraced_holder() {
    capture pool 2 || return 1
    shows "$ended_by_roots"' and every_root(.outcome == "ok"
        and ([child("call")[] | .operation] | sort) == ["busy", "checkout"]
        and ([child("cast")[] | .operation]) == ["checkin"]
        and (child("call")[] | select(.operation == "busy") | .name == "w" and took(10)))'
}

a_cast_runs_beside() {
    capture cast 2 || return 1
    shows "$ended_by_roots"' and every_root(took(5)
        and (child("cast") | length == 1 and .[0].name == "c" and .[0].ended_at_least)
        and (child("call") | length == 1 and .[0].name == "b" and (.[0] | took(2))))'
}

another_process_replies() {
    capture defer 2 || return 1
    shows "$ended_by_roots"' and every_root(took(9)
        and (child("call")[0] | .outcome == "elsewhere" and .name == "b"
             and (child("message")[0] | .name == "replier" and took(8)))
        and (wait("call")[0] | .outcome == "ok" and .duration_us >= 7000))'
}

calls_to_nobody() {
    capture noproc 2 || return 1
    shows "$ended_by_roots"' and every_root(took(4) and child("call") == [])'
}

a_state_machine() {
    capture statem 2 || return 1
    shows "$ended_by_roots"' and every_root(took(10)
        and (child("call") | length == 1 and .[0].name == "machine" and .[0].outcome == "ok"))'
}

a_root_that_raises() {
    capture raise 2 || return 1
    shows "$ended_by_roots"' and every_root(took(10) and .outcome == "timeout" and .reason == "timeout")'
}

# of_process CASE WHO N [OPTION…]: what it does is captured of this process.
of_process() {
    case=$1
    who=$2
    n=$3
    shift 3
    order "loop_$case" || return 1
    spans --process "$who" --roots "$n" --time 60s "$@"
    code=$?
    order stop || return 1
    ends_with 0 "$code" && is_clean
}

# The first root may begin in the midst of a request.
works='(.roots |= (sort_by(.started_at) | .[1:])) | every_root(took(7) and .name == "front" and .operation == null and .outcome == "ok"
    and (.ended_at_least | not)
    and ([child("call")[] | [.name, .operation, .outcome]] == [["b", "busy", "ok"], ["b", "busy", "ok"]])
    and (child("cast") | length == 1 and .[0].name == "c")
    and ([wait("call")[] | .duration_us] | length == 2 and add >= 5000))'

a_process_as_root() {
    of_process front front 3 || return 1
    shows "$ended_by_roots and .roots_taken == 3 and .events <= 3 * 14 and ($works)"
}

a_process_as_root_in_full_mode() {
    of_process front front 2 --full || return 1
    shows "$ended_by_roots and .roots_taken == 2 and ($works)"
}

one_request_of_three() {
    of_process front front 2 --every 3 || return 1
    shows "$ended_by_roots and .roots_taken == 2 and ($works)"
}

# The end of its work is not seen: the next request shows that it was before.
a_process_that_does_not_reply() {
    of_process pump pump 3 || return 1
    shows '.ended_by == "roots" and .roots_taken == 3 and every_root(took(3) and .name == "pump"
        and .outcome == "unknown" and .ended_at_least
        and (child("call") | length == 1 and .[0].name == "b" and .[0].outcome == "ok"))'
}

functions_that_come_before_their_root() {
    : >"$dir/overtake"
    spans 'spans_load:root(nobody)' --calls 'spans_load:busy(_)' --roots 1 --time 60s --force
    ends_with 0 $? && is_clean &&
        shows '.ended_by == "roots" and .stale == 0 and every_root(took(12) and (.children | length) == 1
            and (.children[0] | .kind == "call" and .name == "c" and (.children | length) == 1
                and (.children[0] | .kind == "function" and .operation == "spans_load:busy/1"
                    and .outcome == "ok" and took(6))))'
}

no_such_process() {
    spans --process no_such_name --time 1s
    ends_with 1 $? && told 'no process is registered as no_such_name' && is_clean || return 1
    spans 'spans_load:root(_)' --process b
    ends_with 2 $? && told 'PATTERN' || return 1
    spans --process app:kernel --time 1s
    ends_with 2 $? && told 'processes fit' && is_clean
}

# Beyond a cap edges are counted only.
one_of_many_receivers() {
    capture fan 2 || return 1
    shows '.skipped_fanout >= 20 and .skipped == .skipped_fanout
        and every_root(child("spawn") | length == 20)'
}

many_levels() {
    capture deep 2 || return 1
    shows 'def depth: 1 + ([.children[] | depth] | max // 0);
        .skipped_depth >= 2 and .skipped == .skipped_depth and every_root(depth == 17)'
}

many_processes() {
    capture many 2 || return 1
    shows 'def spans: 1 + ([.children[] | spans] | add // 0);
        .skipped_participants >= 52 and .skipped == .skipped_participants
        and every_root(spans == 50)'
}

# Who was refused is not let in by what it gets next.
many_processes_twice() {
    capture twice 2 || return 1
    shows '.skipped_participants >= 80 and .skipped == .skipped_participants
        and every_root([recurse(.children[]).pid] | unique | length == 50)'
}

# One process: those of its first root go on while the second one runs, and take no places of it. It
# has spawned so many that the VM gives its messages the same serial. Of those that go on one may be
# asked (c) when the second root has begun.
roots_of_one_process() {
    capture_of 'spans_load:root(crowd) & spans_load:root(calm)' crowd 6 || return 1
    shows 'every_root([recurse(.children[]).pid] | unique | length <= 51)
        and ([.roots[] | select(child("spawn") | length == 10 and all(.[]; .children == []))]
             | length) == 3'
}

# Of the root's process, whose dictionary is read by key: not before OTP 26.2. On a busy machine the
# reader may get no turn while a root runs, which is said.
mine='(.callers | length == 3 and .[1].name == "b" and .[2].name == "c")
    and .opentelemetry == {trace_id: "4bf92f3577b34da6a3ce929d0e0e4736", span_id: "00f067aa0ba902b7"}'
who_called_a_root() {
    case $1 in
    23 | 25)
        spans 'spans_load:root(called)' --roots 1 --time 1s --force --context
        ends_with 5 $? && told 'needs OTP 26.2' && is_clean
        ;;
    *)
        capture called 5 --context || return 1
        shows "$ended_by_roots and any(.roots[]; $mine) and every_root((.children | length) == 1
            and ((.callers == null and .opentelemetry == null) or ($mine)))" || return 1
        capture called 1 || return 1
        shows 'every_root(.callers == null and .opentelemetry == null)' || return 1
        capture chain 5 --context --full || return 1
        shows 'any(.roots[]; .callers == [])
            and every_root((.callers == null or .callers == []) and .opentelemetry == null)' || return 1
        # Of one that is over soon it is its own, or not read.
        capture_of 'spans_load:root(called) & spans_load:root(other)' called 20 --context || return 1
        shows "any(.roots[]; $mine) and "'every_root(.callers == null or .opentelemetry.trace_id ==
            (if child("call")[0].operation == "busy" then "4bf92f3577b34da6a3ce929d0e0e4736"
             else "00000000000000000000000000000001" end))' || return 1
        # What is too large ends the helper that reads, and not the capture.
        capture_of 'spans_load:root(heavy) & spans_load:root(called)' heavy 10 --context || return 1
        shows "(.roots | length) == 10 and any(.roots[]; .callers == null) and any(.roots[]; $mine)"
        ;;
    esac
}

# A process goes on with the token of a root that is over.
tokens_of_requests_that_are_over() {
    for seconds in 3 12 48; do
        order loop_stale || return 1
        spans 'spans_load:root(stale)' --roots 1000 --time "${seconds}s" --force
        code=$?
        order stop || return 1
        ends_with 0 "$code" && is_clean || return 1
        ! jq -e '.clearings >= 1 or .stale >= 200' "$work/out" >/dev/null || break
    done
    case $1 in
    25) shows '.clearings == 0 and .skipped == 0 and .dropped.leaked == 0' || return 1 ;;
    *) shows '.stale >= 200 and .clearings >= 1 and .skipped == 0 and .dropped.leaked <= 4 * .clearings' || return 1 ;;
    esac
    shows '.events <= 7 * .roots_taken
        and all(.roots[]; (child("call") | length) <= 1)' && no_token_emits "$1"
}

# Counted and sampled by the VM: callers that race may make it one more or less.
roots_are_counted() {
    order loop_hot || return 1
    spans 'spans_load:hot()' --roots 50 --every 100 --time 60s --force
    code=$?
    order stop || return 1
    ends_with 0 "$code" && is_clean || return 1
    shows '.roots_taken >= 49 and .roots_taken <= 51 and .ended_by == "roots"
        and .events <= .roots_taken * 9
        and all(.roots[]; (.children | length) == 1 and .children[0].name == "b")'
}

guards_choose() {
    order loop_chain || return 1
    spans 'spans_load:root(C) when C =:= cast' --roots 1 --time 1s --force
    code=$?
    order stop || return 1
    ends_with 0 "$code" && is_clean && shows '.ended_by == "time" and .roots == []'
}

# On OTP 25 tokens are not cleared: they go with the next requests, and requests go on.
no_token_emits() {
    case $1 in
    25) emits_nothing 100 ;;
    *) emits_nothing 1 ;;
    esac
}

another_system_tracer_is_left_alone() {
    order system_tracer || return 1
    spans 'spans_load:root(_)' --time 1s
    code=$?
    system_tracer_stood || return 1
    ends_with 5 "$code" && told 'another tool is tracing sequentially' && is_clean
}

traces() {
    "$beamtop" trace "$node" "$@" --timeout 60 --cookie-file "$work/cookie" --format json \
        >"$work/traced" 2>"$work/traced.err" </dev/null
}
captures_now() { order audit && grep -q system_tracer "$dir/left"; }
has_events() { [ "$(grep -c spans_load "$work/traced")" -ge "$1" ]; }
beside() { grep -q 'another beamtop traces this node' "$1" || { cat "$1"; return 1; }; }

# One control word, one owner: the trace is refused, the capture goes on to its end.
a_capture_beside_which_a_trace_is_refused() {
    order loop_cast || return 1
    spans 'spans_load:root(_)' --roots 1000 --time 120s --force &
    capturing=$!
    wait_until 60 captures_now || { cat "$work/err"; kill "$capturing"; return 1; }
    traces 'spans_load:root/1' --events 1 --time 20s
    code=$?
    kept=$(order audit && cat "$dir/left")
    kill "$(pgrep -P "$capturing")"
    wait "$capturing"
    order stop || return 1
    beside "$work/traced.err" || return 1
    [ "$code" = 5 ] || { echo "exit code $code of the trace"; return 1; }
    case $kept in *system_tracer*) ;; *) echo "armed after it: $kept"; return 1 ;; esac
    is_clean && shows '.ended_by == "stopped" and (.roots | length) > 0
        and any(.roots[].children[]; .name == "b" and .outcome == "ok")'
}

a_trace_beside_which_a_capture_is_refused() {
    order loop_cast || return 1
    traces 'spans_load:root/1 -> return' --events 10000 --time 120s &
    tracing=$!
    wait_until 60 has_events 4 || { cat "$work/traced.err"; kill "$tracing"; return 1; }
    spans 'spans_load:root(_)' --time 1s --force
    code=$?
    events=$(grep -c spans_load "$work/traced")
    wait_until 60 has_events "$((events + 4))"
    goes_on=$?
    kill "$(pgrep -P "$tracing")"
    wait "$tracing"
    order stop || return 1
    ends_with 5 "$code" && beside "$work/err" || return 1
    [ "$goes_on" = 0 ] || { echo "no event after $events"; cat "$work/traced.err"; return 1; }
    is_clean
}

# Any one or two of beamtop's processes on the node may end, also while it sets what it needs.
nothing_is_left_after_deaths() {
    order loop_chain || return 1
    for how in armed arming armed arming armed arming; do
        : >"$dir/kill_$how"
        spans 'spans_load:root(_)' --roots 1000 --time 3s --force --procs all
        code=$?
        wait_until 60 test ! -f "$dir/kill_$how" || { echo "not killed: $how"; return 1; }
        [ "$code" != 2 ] || { cat "$work/err"; return 1; }
        is_clean || { echo "after a death while $how"; return 1; }
        no_token_emits "$1" || { echo "after a death while $how"; return 1; }
    done
    order stop
}

# On OTP 25 the VM ends when tokens are cleared while any process waits for a queue's length.
a_node_whose_queues_are_watched_lives() {
    order watch || return 1
    order loop_cast || return 1
    for _ in 1 2 3 4 5; do
        spans 'spans_load:root(cast)' --roots 3 --time 20s --force
        ends_with 0 $? || return 1
    done
    order stop && order no_watch && is_clean
}

a_token_of_an_application_is_left_alone() {
    for token in token own_token; do
        order "$token" || return 1
        spans 'spans_load:root(_)' --time 1s
        code=$?
        order has_token || return 1
        [ "$(cat "$dir/said")" = true ] || { echo "its token was cleared: $token"; return 1; }
        order no_token || return 1
        is_clean || return 1
        # Where tokens are not cleared, one that looks like an earlier capture's does not refuse it.
        case $1:$token in
        25:own_token) ends_with 0 "$code" || return 1 ;;
        *) ends_with 5 "$code" && told 'sequential trace token' || return 1 ;;
        esac
    done
}

a_recording_keeps_captures() {
    order loop_cast || return 1
    for seconds in 6 24 96; do
        rm -f "$work/kept"
        "$beamtop" record "$node" --timeout 60 --cookie-file "$work/cookie" --for "${seconds}s" --interval 1s \
            --spans 'spans_load:root(cast)' --spans-every 60s --force -o "$work/kept" \
            >"$work/out" 2>"$work/err" </dev/null
        code=$?
        "$beamtop" report "$work/kept" >"$work/out" 2>>"$work/err"
        if [ $code != 0 ] || grep -q '^ *spans_load:root/1 .* ok$' "$work/out"; then break; fi
    done
    order stop || return 1
    ends_with 0 "$code" && is_clean && says 'Where requests wait' && says '^ *spans_load:root/1 .* ok$'
}

not_there() {
    spans 'spans_load:no_such_function(_)' --time 1s
    ends_with 1 $? && told 'no root function' && is_clean
}

# What a request does on a CPU is seen in its spans: the spinning function of a root, and of a callee.
samples_in_spans() {
    capture chain 20 --samples --hz 999
    code=$?
    if grep -qE 'perf_event_open|cannot be read|without elfutils' "$work/err"; then
        echo "# not tried: $(head -n 1 "$work/err")" >"$work/remark"
        return 0
    fi
    [ $code = 0 ] || return 1
    if [ "$otp" -lt 25 ]; then
        told 'no JIT' && shows 'all(.. | objects | select(has("waits")); .samples == [])'
        return
    fi
    told 'samples of processes are of these spans, within' &&
        shows '[.roots[], .roots[].children[]] | all(.[]; .samples != null) and
            ([.[].samples[].stack[] | select(test("^spans_load:(until|burn)/"))] | length > 0)'
}

differ samples_in_spans a_chain_in_light_mode a_chain_in_full_mode waits_as_frames tasks \
    a_callee_that_crashes a_timeout a_pool_with_an_untraced_holder a_cast_runs_beside \
    another_process_replies calls_to_nobody a_state_machine a_root_that_raises roots_are_counted \
    guards_choose another_system_tracer_is_left_alone a_capture_beside_which_a_trace_is_refused \
    a_trace_beside_which_a_capture_is_refused nothing_is_left_after_deaths a_process_as_root \
    a_process_as_root_in_full_mode one_request_of_three a_process_that_does_not_reply \
    no_such_process functions_that_come_before_their_root one_of_many_receivers many_levels \
    many_processes many_processes_twice roots_of_one_process who_called_a_root \
    tokens_of_requests_that_are_over a_node_whose_queues_are_watched_lives \
    a_token_of_an_application_is_left_alone a_recording_keeps_captures not_there no_token_emits
run_on_releases
