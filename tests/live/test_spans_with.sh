#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Requests that go on on another node (spans --with): both sides of them as one tree, on nodes of one
# release and of two; refusals; and that nothing is left on either.
# shellcheck disable=SC1091,SC2154,SC2317
set -u
. "$(dirname "$0")/../tap.sh"

load=spans_load
. "$(dirname "$0")/releases.sh"
. "$(dirname "$0")/spans.sh"

# shellcheck disable=SC2016
prelude=$prelude'
def inside($span): .offset_us >= $span.offset_us
    and .offset_us + .duration_us <= $span.offset_us + $span.duration_us;
'

both_are_clean() { is_clean && there is_clean; }

# far N [OPTION…]
far() { capture far "$@" && both_are_clean; }

of_both="all(.roots[]; . as \$root | .outcome == \"ok\" and (.children | length) == 2
    and (child(\"call\")[0] | .node == \$other and .name == \"b\" and .operation == \"chain\" and (.leaf | not)
         and .queued_us >= 0 and took(50) and inside(\$root) and (.children | length) == 1)
    and (child(\"call\")[0] | . as \$chain | .children[0]
         | .node == \$other and .name == \"c\" and .operation == \"leaf\" and took(35) and inside(\$chain))
    and (child(\"cast\")[0] | .node == \$other and .name == \"c\" and .operation == \"busy\"))"

of_one="all(.roots[]; (.children | length) == 1
    and (.children[0] | .node == \$other and .leaf and .kind == \"call\" and .children == []))"

both_sides_are_one_tree() {
    meets_another && far 3 --with "$other" || return 1
    shows "\"$other\" as \$other | .ended_by == \"roots\" and .roots_taken == 3 and .dropped.leaked == 0
        and (.sides[0] | .node == \$other and .otp == \"$other_otp\" and .ended_by == \"stopped\"
             and .skipped == 0 and .events >= 3 * 7 and .clock_messages_there >= 3 and .clock_messages_back >= 3
             and .clock_within_us > 0 and .verification.clean and .bytes > 0)
        and $of_both"
}

# A spawn on another node, and its end: no message comes back that has the token.
a_remote_call_is_a_spawn() {
    meets_another && capture erpc 2 --with "$other" && both_are_clean || return 1
    shows "\"$other\" as \$other | .sides[0].clock_messages_back == 0 and .sides[0].clock_within_us > 0
        and all(.roots[]; child(\"spawn\") | length == 1 and .[0].node == \$other
            and (.[0].operation | startswith(\"er\")))"
}

# What it leaves in processes of the other node does not keep a side from being captured.
without_it_the_other_node_is_a_leaf() {
    meets_another && far 2 || return 1
    shows "\"$other\" as \$other | .sides == [] and $of_one" || return 1
    far 2 --with "$other" || return 1
    shows "\"$other\" as \$other | $of_both"
}

text_says_how_well_the_times_fit() {
    meets_another && far 2 --with "$other" --format text || return 1
    says "^with $other, OTP $other_otp, [0-9,]+ events, 0 skipped, " && says 'its times are within [0-9.]+ ' &&
        says "call b $other chain" && told "nothing left on $other"
}

nothing_begins_without_the_other_side() {
    meets_another && there order system_tracer || return 1
    refused 5 "$other: .*another tool is tracing sequentially" 'spans_load:root(_)' --time 1s --force --with "$other"
    refused=$?
    there order no_system_tracer && [ "$refused" = 0 ] &&
        refused 3 'no node nobody@127.0.0.1' 'spans_load:root(_)' --time 1s --force --with nobody@127.0.0.1 &&
        refused 2 'another node' 'spans_load:root(_)' --time 1s --force --with "$node" &&
        refused 2 'light mode' 'spans_load:root(_)' --with "$other" --full && both_are_clean
}

# captures FILE OPTION…: of the load far; what it says is in FILE and FILE.err.
captures() {
    captured=$work/$1
    shift
    exec "$beamtop" spans "$node" 'spans_load:root(far)' --timeout 60 --cookie-file "$work/cookie" --format json \
        --roots 1000 --time 120s --force "$@" >"$captured" 2>"$captured.err" </dev/null
}

# Who is refused on the first node has set nothing on the other one, whose tokens are of somebody else.
another_capture_is_left_alone() {
    meets_another && order loop_far || return 1
    until_armed "$work/first.err" captures_here captures first --every 10 || return 1
    for _ in 1 2 3; do
        spans 'spans_load:root(far)' --time 1s --with "$other"
        code=$?
        ends_with 5 "$code" && told 'another beamtop' || return 1
    done
    kill -INT "$armed"
    wait "$armed"
    code=$?
    order stop || return 1
    ends_with 0 "$code" && both_are_clean || return 1
    jq -e '[.roots[] | select(.outcome == "ok")] | length > 0 and all(.[]; any(.children[]; .outcome == "ok"))' \
        "$work/first" >/dev/null || { jq -c '.roots[] | [.outcome, [.children[].outcome]]' "$work/first"; return 1; }
}

captures_there() { there order audit && grep -q system_tracer "$other_dir/left"; }
captures_here() { order audit && grep -q system_tracer "$dir/left"; }
captures_on_both() { captures_here && captures_there; }

# Capturing goes on in the background.
begins() {
    meets_another && order loop_far && until_armed "$work/out.err" captures_on_both captures out --with "$other"
}

# What it said is where others say it.
ends() {
    wait "$armed"
    code=$?
    mv "$work/out.err" "$work/err"
    return "$code"
}

# The other side ends last.
it_ends_on_both_when_interrupted() {
    begins || return 1
    kill -INT "$armed"
    ends
    order stop || return 1
    ends_with 0 "$code" && both_are_clean && shows '.ended_by == "stopped" and .sides[0].ended_by == "stopped"'
}

nothing_is_left_when_it_is_killed() {
    begins || return 1
    kill -9 "$armed"
    ends
    order stop && both_are_clean
}

waits_for_the_other() { grep -q "waiting for $other to end its side" "$work/out.err"; }

# A node that does not answer any more is waited for until you say so.
it_ends_without_the_other_side() {
    begins || return 1
    kill -STOP "$other_pid"
    kill -INT "$armed"
    wait_until 60 waits_for_the_other && kill -INT "$armed"
    ends
    kill -CONT "$other_pid"
    order stop || return 1
    [ "$code" -ne 0 ] && told "$other does not end its side in time" && both_are_clean &&
        shows '.ended_by == "stopped" and .sides[0].ended_by == null'
}

broke_off() { grep -q "$other: the capture broke off: the connection was lost" "$work/out.err"; }

# What this side has is shown.
it_goes_on_when_the_other_node_is_gone() {
    begins || return 1
    met=
    kill -9 "$other_pid"
    wait "$other_pid" 2>/dev/null
    wait_until 60 broke_off || { cat "$work/out.err"; return 1; }
    captures_here || { echo "it has ended"; return 1; }
    kill -INT "$armed"
    ends
    order stop || return 1
    rm -rf "${other_dir:?}"
    case $other_root in "" | "$root") ;; *) rm -rf "${other_root:?}$work" ;; esac
    ends_with 4 "$code" && is_clean &&
        shows '.ended_by == "stopped" and .sides[0].ended_by == "connection"'
}

differ both_sides_are_one_tree it_ends_on_both_when_interrupted nothing_is_left_when_it_is_killed
same without_it_the_other_node_is_a_leaf a_remote_call_is_a_spawn nothing_begins_without_the_other_side \
    another_capture_is_left_alone it_ends_without_the_other_side text_says_how_well_the_times_fit \
    it_goes_on_when_the_other_node_is_gone
run_on_releases
