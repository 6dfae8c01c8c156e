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

# shellcheck disable=SC2016
prelude=$prelude'
def calls: child("call");
def waits: wait("call");
'
ended_by_roots=".payloads == false and $ended_by_roots and all(.roots[]; .outcome == \"unknown\")"

captures_requests() {
    capture_of 'spans_load:/^(chain|crash|timeout|pool|defer|noproc|statem|raise)$/' requests --roots 16 \
        --no-payloads && shows "$ended_by_roots"
}

# The pool's holder has no token, and replies by a plain message. On OTP 23 a reply among the actions
# of a state machine is sent by no function that can be seen.
requests() {
    answered=ok
    [ "$otp" != 23 ] || answered=unknown
    settles 5 requests_are_known
}

# The last late answers may come after the capture has waited for them.
requests_are_known() {
    captures_requests &&
        shows 'any(.roots[]; .operation == "spans_load:timeout/0" and calls[0].outcome == "late")' &&
        shows 'each("chain"; took(58) and (calls | length) == 1 and (waits | length) == 1
            and (waits[0] | .outcome == "ok" and .name == "b" and .duration_us >= 49000)
            and (calls[0] | .name == "b" and .operation == "spans_load:handle_call/3" and .outcome == "ok"
                 and took(50) and .queued_us >= 0 and (waits[0] | .outcome == "ok" and .name == "c")
                 and (calls[0] | .name == "c" and .outcome == "ok" and took(35) and .queued_us >= 0)))' &&
        shows 'each("defer"; took(9) and (waits[0] | .outcome == "ok" and .duration_us >= 7000)
            and (calls[0] | .name == "b" and .outcome == "elsewhere"))' &&
        shows 'each("timeout"; took(24) and (waits[0] | .outcome == "unknown" and .name == "b" and .duration_us >= 19000)
            and (calls[0] | .outcome == "unknown" or (.outcome == "late" and took(50))))' &&
        shows 'each("crash"; took(9) and (calls[0] | .outcome == "unknown" and .ended_at_least)
            and (waits[-1] | .outcome == "unknown" and .at_most))' &&
        shows 'each("noproc"; took(4) and calls == [] and all(waits[]; .outcome == "unknown"))' &&
        shows "each(\"statem\"; took(10) and (calls | length) == 1
            and (calls[0] | .name == \"machine\" and .operation == \"spans_load:handle_event/4\"
                 and .outcome == \"$answered\")
            and (waits[0] | .outcome == \"$answered\" and .duration_us >= 9000))" &&
        shows 'each("raise"; took(10) and (.ended_at_least | not))' &&
        shows 'each("pool"; any(waits[]; .name == "pool") and any(calls[]; .name == "w" and took(10)))'
}

# A message of 64 MB, which ends a capture that copies it, and its reply.
nothing_is_copied() {
    capture big 2 --no-payloads || return 1
    shows "$ended_by_roots"' and .skipped == 0 and every_root((calls | length) == 1
        and (calls[0] | .name == "b" and .outcome == "ok" and .words == null))'
}

# Counted and sampled by the VM: callers that race may make it one more or less.
roots_are_counted() {
    capture_of 'spans_load:hot()' hot --roots 50 --every 100 --no-payloads || return 1
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
    order system_tracer && order loop_chain || return 1
    spans 'spans_load:root(chain)' --roots 2 --time 60s --force --no-payloads
    code=$?
    order stop
    system_tracer_stood || return 1
    ends_with 0 "$code" && shows '.ended_by == "roots" and every_root((calls | length) == 1)' &&
        no_token_emits && is_clean
}

nothing_is_left_after_deaths() { nothing_is_left_after kill_armed kill_arming -- --no-payloads; }

what_it_does_not_go_with() {
    for option in --full --context '--calls spans_load:busy(_)' '--procs b' '--with nobody@127.0.0.1'; do
        # shellcheck disable=SC2086
        refused 2 "leave out ${option%% *}|leave out --no-payloads" 'spans_load:root(_)' --time 1s --no-payloads $option ||
            return 1
    done
    is_clean
}

differ requests nothing_is_left_after_deaths
same roots_are_counted nothing_is_copied it_says_what_it_costs another_system_tracer_stands
once what_it_does_not_go_with
run_on_releases
