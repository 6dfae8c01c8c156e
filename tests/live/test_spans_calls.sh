#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Requests without payloads (spans --no-payloads): calls of gen_server and gen_statem by breakpoints,
# with known answers; what of a large message comes; beside another system tracer; and that nothing is
# left, also after deaths.
# shellcheck disable=SC1091,SC2154,SC2317
set -u
. "$(dirname "$0")/../tap.sh"

load=spans_load
. "$(dirname "$0")/releases.sh"
. "$(dirname "$0")/spans.sh"

# µs, as in docs/json.md.
# shellcheck disable=SC2016
prelude='
def took($ms): .duration_us >= ($ms - 1) * 1000;
def calls: [.children[] | select(.kind == "call")];
def waits: [.waits[] | select(.kind == "call")];
def every_root(f): (.roots | length) > 0 and all(.roots[]; .outcome == "unknown" and f);
'

# capture CASE N [OPTION…]: calls of root/1 with the case.
capture() {
    case=$1
    n=$2
    shift 2
    order "loop_$case" || return 1
    spans "spans_load:root($case)" --roots "$n" --time 60s --force --no-payloads "$@"
    code=$?
    order stop || return 1
    ends_with 0 "$code" && is_clean
}

shows() {
    jq -e "$prelude $1" "$work/out" >/dev/null || {
        echo "does not hold: $1"
        jq -c 'del(.roots, .parts)' "$work/out"
        jq -c '.roots[] | [recurse(.children[]) | [.kind, .name, .operation, .outcome, .offset_us, .duration_us, .queued_us, .waits]]' \
            "$work/out"
        return 1
    }
}

ended_by_roots='.payloads == false and .ended_by == "roots" and .roots_open == 0 and .dropped.leaked == 0'

a_chain() {
    capture chain 3 || return 1
    shows "$ended_by_roots"' and every_root(took(58) and (calls | length) == 1 and (waits | length) == 1
        and (waits[0] | .outcome == "ok" and .name == "b" and .duration_us >= 49000)
        and (calls[0] | .name == "b" and .operation == "spans_load:handle_call/3" and .outcome == "ok"
             and took(50) and .queued_us >= 0 and (waits[0] | .outcome == "ok" and .name == "c")
             and (calls[0] | .name == "c" and .outcome == "ok" and took(35) and .queued_us >= 0)))'
}

another_process_replies() {
    capture defer 2 || return 1
    shows "$ended_by_roots"' and every_root(took(9) and (waits[0] | .outcome == "ok" and .duration_us >= 7000)
        and (calls[0] | .name == "b" and .outcome == "elsewhere"))'
}

# On a busy machine the last late answers come after the capture has waited for them.
a_timeout() {
    for try in 1 2 3 4 5; do
        capture timeout 4 || return 1
        shows 'every_root(took(24) and (waits[0] | .outcome == "unknown" and .name == "b" and .duration_us >= 19000)
            and (calls[0] | .outcome == "unknown" or (.outcome == "late" and took(50))))' || return 1
        shows 'any(.roots[]; calls[0].outcome == "late")' && return 0
    done
    return 1
}

a_callee_that_crashes() {
    capture crash 2 || return 1
    shows 'every_root(took(9) and (calls[0] | .outcome == "unknown" and .ended_at_least)
        and (waits[-1] | .outcome == "unknown" and .at_most))'
}

calls_to_nobody() {
    capture noproc 2 || return 1
    shows "$ended_by_roots"' and every_root(took(4) and calls == [] and all(waits[]; .outcome == "unknown"))'
}

# On OTP 23 a reply among the actions is sent by no function that can be seen.
a_state_machine() {
    capture statem 2 || return 1
    answered=ok
    [ "$1" != 23 ] || answered=unknown
    shows "$ended_by_roots and every_root(took(10) and (calls | length) == 1
        and (calls[0] | .name == \"machine\" and .operation == \"spans_load:handle_event/4\"
             and .outcome == \"$answered\")
        and (waits[0] | .outcome == \"$answered\" and .duration_us >= 9000))"
}

a_root_that_raises() {
    capture raise 2 || return 1
    shows 'every_root(took(10) and (.ended_at_least | not))'
}

# Its holder has no token, and replies by a plain message.
a_pool() {
    capture pool 2 || return 1
    shows 'every_root(any(waits[]; .name == "pool") and any(calls[]; .name == "w" and took(10)))'
}

# A message of 64 MB, which ends a capture that copies it, and its reply.
nothing_is_copied() {
    capture big 2 || return 1
    shows "$ended_by_roots"' and .skipped == 0 and every_root((calls | length) == 1
        and (calls[0] | .name == "b" and .outcome == "ok" and .words == null))'
}

# Counted and sampled by the VM: callers that race may make it one more or less.
roots_are_counted() {
    order loop_hot || return 1
    spans 'spans_load:hot()' --roots 50 --every 100 --time 60s --force --no-payloads
    code=$?
    order stop || return 1
    ends_with 0 "$code" && is_clean || return 1
    shows '.roots_taken >= 49 and .roots_taken <= 51 and .ended_by == "roots"
        and all(.roots[]; (.children | length) == 1 and .children[0].name == "b")'
}

# Without --force what it will cost is known first: all calls of gen are counted.
it_says_what_it_costs() {
    order loop_cast || return 1
    spans 'spans_load:root(cast)' --roots 2 --time 60s --no-payloads
    code=$?
    order stop || return 1
    ends_with 0 "$code" && is_clean && told '1 root function, about [0-9]' && told 'costs about 2 µs more'
}

# On OTP 25 tokens are not cleared; without payloads none has ever emitted.
no_token_emits() { emits_nothing 1; }

# It stays, and gets nothing.
another_system_tracer_stands() {
    order system_tracer || return 1
    order loop_chain || return 1
    spans 'spans_load:root(chain)' --roots 2 --time 60s --force --no-payloads
    code=$?
    order stop
    system_tracer_stood || return 1
    ends_with 0 "$code" && shows '.ended_by == "roots" and every_root((calls | length) == 1)' &&
        no_token_emits && is_clean
}

nothing_is_left_after_deaths() {
    order loop_chain || return 1
    for how in later arming later arming; do
        : >"$dir/kill_$how"
        spans 'spans_load:root(_)' --roots 1000 --time 3s --force --no-payloads
        code=$?
        wait_until 60 test ! -f "$dir/kill_$how" || { echo "not killed: $how"; return 1; }
        [ "$code" != 2 ] || { cat "$work/err"; return 1; }
        is_clean || { echo "after a death while $how"; return 1; }
        no_token_emits || { echo "after a death while $how"; return 1; }
    done
    order stop
}

what_it_does_not_go_with() {
    for option in --full --context '--calls spans_load:busy(_)' '--procs b' '--with nobody@127.0.0.1'; do
        # shellcheck disable=SC2086
        spans 'spans_load:root(_)' --time 1s --no-payloads $option
        ends_with 2 $? && told "leave out ${option%% *}|leave out --no-payloads" || return 1
    done
    is_clean
}

differ a_chain another_process_replies a_timeout a_callee_that_crashes calls_to_nobody \
    a_state_machine a_root_that_raises a_pool nothing_is_copied roots_are_counted \
    it_says_what_it_costs another_system_tracer_stands nothing_is_left_after_deaths \
    what_it_does_not_go_with
run_on_releases
