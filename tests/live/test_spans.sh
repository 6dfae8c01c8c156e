#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Causal spans on real nodes: requests with known answers (spans_load.erl), the number of roots,
# refusals, and that nothing is left, not even a token that would emit.
# Of times only the least is held: on a busy machine everything may take longer.
# shellcheck disable=SC1091,SC2154,SC2317
set -u
. "$(dirname "$0")/../tap.sh"

load=spans_load
. "$(dirname "$0")/releases.sh"
. "$(dirname "$0")/spans.sh"

# captures_requests [OPTION…]: each of them twice.
captures_requests() {
    capture_of 'spans_load:/^(chain|task|crash|timeout|pool|cast|defer|noproc|statem|raise)$/' requests \
        --roots 20 "$@" && shows "$ended_by_roots"
}

# What both modes know.
requests_are_known() {
    shows 'each("chain"; took(58) and .outcome == "ok" and (.children | length) == 1
            and (wait("call") | length) == 1 and wait("call")[0].pid == .children[0].pid
            and (.children[0] | .kind == "call" and .name == "b" and .operation == "chain"
                 and .outcome == "ok" and took(50)
                 and (.children | length) == 1 and wait("call")[0].name == "c"
                 and (.children[0] | .name == "c" and .operation == "leaf" and .outcome == "ok"
                      and took(35) and .children == [])))' &&
        shows 'each("task"; took(34) and .outcome == "ok"
            and (child("task") | length) == 3 and (wait("call") | length) == 3
            and ([child("task")[] | .duration_us] | sort | .[0] >= 11000 and .[1] >= 21000 and .[2] >= 31000)
            and ([child("task")[].pid] - [wait("call")[].pid]) == [])' &&
        shows 'each("cast"; took(5) and (child("cast") | length == 1 and .[0].name == "c")
            and (child("call") | length == 1 and .[0].name == "b" and (.[0] | took(2))))' &&
        shows 'each("defer"; took(9)
            and (child("call")[0] | .outcome == "elsewhere" and .name == "b"
                 and (child("message")[0] | .name == "replier" and took(8)))
            and (wait("call")[0] | .outcome == "ok") and (.off_cpu_us != null or wait("call")[0].duration_us >= 7000))' &&
        shows 'each("noproc"; took(4) and child("call") == [])' &&
        shows 'each("statem"; took(10)
            and (child("call") | length == 1 and .[0].name == "machine" and .[0].outcome == "ok"))' &&
        shows 'each("raise"; took(10) and .outcome == "timeout" and .reason == "timeout")'
}

# After a reply without the token what is called next may be lost (docs/spans.md): pool.
light_mode() {
    settles 5 light_mode_knows
}

light_mode_knows() {
    captures_requests && requests_are_known &&
        shows 'each("pool"; .outcome == "ok"
            and ([child("call")[] | .operation] | sort) == ["busy", "checkout"]
            and ([child("cast")[] | .operation]) == ["checkin"]
            and (child("call")[] | select(.operation == "busy") | .name == "w" and took(10)))' &&
        shows 'all(.roots[]; .unattributed_us == null and .off_cpu_us == null and .callers == null
                and .opentelemetry == null)
            and each("cast"; child("cast")[0].ended_at_least) and .events <= .roots_taken * (8 + 5)'
}

# Of a root's process, whose dictionary is read by key: not before OTP 26.2. On a busy machine the
# reader may get no turn while a root runs, which is said.
mine='(.callers | length == 3 and .[1].name == "b" and .[2].name == "c")
    and .opentelemetry == {trace_id: "4bf92f3577b34da6a3ce929d0e0e4736", span_id: "00f067aa0ba902b7"}'
not_read='.callers == null and .opentelemetry == null'

# A wait begins when the process gives its scheduler up: where the host stops the scheduler before, it is
# shorter, or none. And the last late answers may come after the capture has waited for them.
full_mode() {
    context=--context
    [ "$otp" -ge 27 ] || context=
    settles 5 full_mode_knows
}

full_mode_knows() {
    # shellcheck disable=SC2086 # none, where it is empty
    captures_requests --full $context &&
        shows 'any(.roots[]; .operation == "spans_load:timeout/0" and child("call")[0].outcome == "late")' &&
        requests_are_known &&
        shows 'each("chain"; .children[0].children[0] | wait("WAITING")
            | any(.at == "timer:sleep/1" and .duration_us >= 14000))' &&
        shows 'each("crash"; .outcome == "ok"
            and (child("call") | length == 1 and (.[0] | .outcome == "exit" and .reason == "boom" and took(5)))
            and any(wait("call")[]; .outcome == "exit" and .at == "boom"))' &&
        shows 'each("timeout"; took(24) and any(wait("call")[]; .outcome == "timeout" and .duration_us >= 19000)
            and (child("call")[0] | .outcome != "ok" and (.outcome != "late" or took(50))))' &&
        shows "each(\"cast\"; ($not_read) or ($mine))
            and each(\"chain\"; .opentelemetry == null and (.callers == null or .callers == []))"
}

# Neither is explained by another process. On a busy machine what is asked may come too late.
waits_of_its_own() {
    capture_of 'spans_load:waits' waits --roots 4 --full &&
        shows "$ended_by_roots" && shows 'every_root(took(60)) and any(.roots[];
            [wait("WAITING")[] | select(.at == "spans_load:waits/0" and .duration_us >= 28000)] != []
            and [wait("WAITING")[] | select(.at == "spans_load:own/0" and .duration_us >= 28000)] != [])'
}

a_wait_of_its_own_is_no_preemption() {
    settles 5 waits_of_its_own
}

who_called_a_root() {
    if [ "$otp" -lt 27 ]; then
        spans 'spans_load:root(called)' --roots 1 --time 1s --force --context
        ends_with 5 $? && told 'needs OTP 26.2' && is_clean
        return
    fi
    # Of one that is over soon it is its own, or not read.
    capture_of 'spans_load:/^(called|other|chain)$/' context --roots 12 --context || return 1
    shows "$ended_by_roots and any(.roots[]; .callers == [])" &&
        shows "any(.roots[]; $mine) and each(\"called\"; ($not_read) or ($mine))" &&
        shows 'each("other"; .callers == null or
            .opentelemetry.trace_id == "00000000000000000000000000000001")' || return 1
    settles 5 a_large_one_is_not_read
}

# What is too large ends the helper that reads, and not the capture. On a busy machine the next one may
# come too late for all others.
a_large_one_is_not_read() {
    capture_of 'spans_load:/^(heavy|called)$/' heavy --roots 6 --context || return 1
    shows "(.roots | length) == 6 and any(.roots[]; .callers == null) and any(.roots[]; $mine)"
}

# of_process CASE WHO N [OPTION…]: what it does is captured of this process.
of_process() {
    order "loop_$1" || return 1
    who=$2
    n=$3
    shift 3
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
    of_process front front 3 --every 2 || return 1
    shows "$ended_by_roots and .roots_taken == 3 and .events <= 3 * 14 and ($works)"
}

a_process_as_root_in_full_mode() {
    settles 5 a_full_process_is_known
}

a_full_process_is_known() {
    of_process front front 2 --full || return 1
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

# Beyond a cap edges are counted only, of receivers, levels and processes. Who was refused is not let
# in by what it gets next (twice). Of one process those of its first root (crowd) go on while the
# second one (calm) runs, and take no places of it: it has spawned so many that the VM gives its
# messages the same serial. Of those that go on one may be asked (c) when the second has begun.
# As many as are asked for are there when their root ends after 100 ms, where both schedulers run.
caps_of_a_request() { settles 5 caps_hold; }

caps_hold() {
    capture_of 'spans_load:/^(fan|deep|many|twice|crowd|calm)$/' capped --roots 12 || return 1
    shows 'def spans: 1 + ([.children[] | spans] | add // 0);
        def depth: 1 + ([.children[] | depth] | max // 0);
        def pids: [recurse(.children[]).pid] | unique | length;
        .skipped_fanout >= 20 and .skipped_depth >= 2 and .skipped_participants >= 132
        and .skipped == .skipped_fanout + .skipped_depth + .skipped_participants
        and each("fan"; child("spawn") | length == 20) and each("deep"; depth == 17)
        and each("many"; spans == 50) and each("twice"; pids == 50) and each("crowd"; pids <= 51)
        and each("calm"; pids <= 51 and (child("spawn") | length == 10 and all(.[]; .children == [])))'
}

# A process goes on with the token of a root that is over. What is late is kept on the node until the
# capture knows that the request is over: how much depends on who has the processor, and it is little.
tokens_of_requests_that_are_over() {
    many='.clearings >= 1 and .stale >= 200'
    [ "$otp" != 25 ] || many='.clearings == 0 and .stale >= 200'
    for roots in 3 12 48; do
        capture stale "$roots" || return 1
        ! jq -e "$many" "$work/out" >/dev/null || break
    done
    # Less than 1,000 a second, where the node has little of a core: none is cleared.
    few='.clearings == 0 and .stale >= 200 and .stale < 1000 * .seconds'
    shows "(($many) or ($few)) and .skipped == 0 and .events <= 6 * .roots_taken + .stale / 10
        and all(.roots[]; (child(\"call\") | length) <= 1)" || return 1
    if jq -e "$few" "$work/out" >/dev/null; then
        echo "# too few stale tokens to be cleared" >>"$work/remark"
        emits_nothing 100
    else
        no_token_emits
    fi
}

# Counted and sampled by the VM: callers that race may make it one more or less.
roots_are_counted() {
    capture_of 'spans_load:hot()' hot --roots 50 --every 100 || return 1
    shows '.roots_taken >= 49 and .roots_taken <= 51 and .ended_by == "roots"
        and .events <= .roots_taken * 9
        and all(.roots[]; (.children | length) == 1 and .children[0].name == "b")'
}

# On OTP 25 tokens are not cleared: they go with the next requests, and requests go on.
no_token_emits() {
    case $otp in
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
    exec "$beamtop" trace "$node" "$@" --timeout 60 --cookie-file "$work/cookie" --format json \
        >"$work/traced" 2>"$work/traced.err" </dev/null
}
captures_now() { order audit && grep -q system_tracer "$dir/left"; }
has_events() { [ "$(grep -c spans_load "$work/traced")" -ge "${1:-4}" ]; }
beside() { grep -q 'another beamtop traces this node' "$1" || { cat "$1"; return 1; }; }

# One control word, one owner: the trace is refused, the capture goes on to its end.
a_capture_beside_which_a_trace_is_refused() {
    order loop_cast || return 1
    spans 'spans_load:root(_)' --roots 1000 --every 10 --time 120s --force &
    capturing=$!
    wait_until 120 captures_now || { cat "$work/err"; kill "$capturing"; return 1; }
    (traces 'spans_load:root/1' --events 1 --time 20s)
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
    : >"$work/traced"
    until_armed "$work/traced.err" has_events \
        traces 'spans_load:root/1 -> return' --events 10000 --time 120s || return 1
    spans 'spans_load:root(_)' --time 1s --force
    code=$?
    events=$(grep -c spans_load "$work/traced")
    wait_until 60 has_events "$((events + 4))"
    goes_on=$?
    kill "$armed"
    wait "$armed"
    order stop || return 1
    ends_with 5 "$code" && beside "$work/err" || return 1
    [ "$goes_on" = 0 ] || { echo "no event after $events"; cat "$work/traced.err"; return 1; }
    is_clean
}

# Any one or two of beamtop's processes on the node may end, also while it sets what it needs.
nothing_is_left_after_deaths() {
    nothing_is_left_after kill_armed kill_arming kill_arming kill_in_turn kill_in_turn -- --procs all
}

# On OTP 25 the VM ends when tokens are cleared while any process waits for a queue's length.
a_node_whose_queues_are_watched_lives() {
    order watch || return 1
    capture cast 2 && capture cast 2 && capture cast 2
    lives=$?
    order no_watch && [ "$lives" = 0 ]
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
        case $otp:$token in
        25:own_token) ends_with 0 "$code" || return 1 ;;
        *) ends_with 5 "$code" && told 'sequential trace token' || return 1 ;;
        esac
    done
}

# Of a capture that ends by its time, or with the recording, a root may be open.
reports_the_request() {
    "$beamtop" report "$work/kept" >"$work/out" 2>>"$work/err"
    grep -qE '^ *spans_load:root/1 .* ok(, [0-9]+ open)?$' "$work/out"
}

reports_a_failure() {
    "$beamtop" report "$work/kept" >"$work/out" 2>>"$work/err"
    grep -q 'of [0-9]* captures failed: another tool is tracing sequentially' "$work/out"
}

# The first ones fail, as another tool has the system tracer: that is reported too.
a_recording_keeps_captures() {
    order system_tracer && order loop_cast || return 1
    rm -f "$work/kept"
    "$beamtop" record "$node" --timeout 60 --cookie-file "$work/cookie" --for 300s --interval 1s \
        --spans 'spans_load:root(cast)' --spans-every 2s --force -o "$work/kept" \
        >"$work/text" 2>"$work/err" </dev/null &
    recording=$!
    wait_long 120 reports_a_failure
    reported=$?
    order no_system_tracer
    wait_long 120 reports_the_request
    kill -INT "$recording"
    wait "$recording"
    code=$?
    order stop || return 1
    if [ "$reported" != 0 ] || ! reports_the_request; then
        echo "not reported ($reported) in:" && cat "$work/out"
        return 1
    fi
    ends_with 0 "$code" && says 'of [0-9]* captures failed: ' && is_clean &&
        says 'Where requests wait'
}

what_is_not_there() {
    refused 1 'no process is registered as no_such_name' --process no_such_name --time 1s &&
        refused 2 'PATTERN' 'spans_load:root(_)' --process b &&
        refused 2 'processes fit' --process app:kernel --time 1s &&
        refused 1 'no root function' 'spans_load:no_such_function(_)' --time 1s && is_clean
}

# What a request does on a CPU is seen in its spans: the spinning function of a root, and of a callee.
samples_in_spans() {
    capture chain 20 --samples --hz 999
    code=$?
    if grep -qE 'perf_event_open|cannot be read|without elfutils' "$work/err"; then
        not_tried "$(head -n 1 "$work/err")"
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

differ samples_in_spans light_mode full_mode a_wait_of_its_own_is_no_preemption \
    roots_are_counted a_process_as_root a_process_as_root_in_full_mode who_called_a_root nothing_is_left_after_deaths \
    tokens_of_requests_that_are_over a_token_of_an_application_is_left_alone
# OTP 25 clears no tokens.
[ "${BEAMTOP_CHECK:-}" = all ] || same tokens_of_requests_that_are_over a_token_of_an_application_is_left_alone
same a_node_whose_queues_are_watched_lives caps_of_a_request a_process_that_does_not_reply \
    functions_that_come_before_their_root another_system_tracer_is_left_alone \
    a_capture_beside_which_a_trace_is_refused a_trace_beside_which_a_capture_is_refused \
    a_recording_keeps_captures
once what_is_not_there
run_on_releases
