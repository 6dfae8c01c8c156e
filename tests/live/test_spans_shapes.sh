#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Requests of 24 shapes under a load that spawns (spans_shapes.erl): each capture is complete, each
# span and wait is as long as the processes themselves measured it, and who waited is WAITING.
# A span lasts at least what its process measured within it, and at most what its caller measured
# around it, on a busy machine too. A wait is within a millisecond of it where nobody took the
# processor at its very ends: of several roots one must be.
# shellcheck disable=SC1091,SC2154,SC2317
set -u
. "$(dirname "$0")/../tap.sh"

load=spans_shapes
. "$(dirname "$0")/releases.sh"
. "$(dirname "$0")/spans.sh"

# Of each shape: how its root ended, then the spans below it as KIND/OPERATION/OUTCOME, in full mode.
table='
call         ok call/work/ok
chain        ok call/chain/ok call/leaf/ok
task         ok task/spans_shapes:long/1/ok task/spans_shapes:short/1/ok
nolink       ok call/good/ok task/proc_lib:init_p/5/ok
nolink_crash ok call/bad/ok spawn/proc_lib:init_p/5/exit
agent        ok call/get/ok
cast         ok call/work/ok cast/noted/ok
timer        ok
own_timer    ok
sleep        ok
pool         ok call/checkout/ok call/query/ok cast/checkin/ok
pubsub       ok message/sold/ok message/sold/ok message/sold/ok
statem       ok call/sleep/ok
crash        ok call/crash/exit spawn/proc_lib:init_p/5/ok
timeout      ok call/sleep/late
raise        timeout call/sleep/late
noproc       ok
defer        ok call/defer/elsewhere message/reply_for/ok
helper       ok call/helper/elsewhere task/spans_shapes:helps/2/ok
helper_wait  ok call/helper_wait/ok spawn/spans_shapes:helps/1/ok
erpc         ok spawn/-/ok
erpc_timeout ok spawn/erpc:execute_call/4/late
remote       ok call/-/ok
send_request ok call/work/ok
'
shapes=$(echo "$table" | sed -n 's/ .*//p')

# holding($shape): its roots, each with what does not hold of it. µs; clocks are rounded.
# shellcheck disable=SC2016
prelude=$prelude'
def flat: [recurse(.children[])];
def listed: flat[1:] | map("\(.kind)/\(.operation // "-")/\(.outcome)") | sort;
def waited: (.wait_us // 0) + (.unattributed_us // 0);
def faults($full; $outcome; $spans): . as $root | [
    ($truth[] | select(.root == $root.pid) | . as $true
     | [if .operation | startswith("root ") then $root
        else $root | flat[1:][] | select(.operation == $true.operation) end] as $found
     | ($found | map(.duration_us) | add // 0) as $took
     | (if .least != null and ($found | length) == 0 then [.operation, "has no span"] else empty end),
       (if .least != null and all($found[]; .ended_at_least | not) and $took < .least - 2
        then [.operation, "took at least", .least, $took] else empty end),
       (if .most != null and $took > .most + 2 then [.operation, "took at most", .most, $took] else empty end),
       (if $full and .waited != null and all($found[]; .ended_at_least | not) then ($found | map(waited) | add // 0) as $waited
        | if $waited > .waited + 2 or $waited < .waited - 1000
          then [.operation, "waited", .waited, $waited] else empty end else empty end)),
    (if $outcome != "" and .outcome != $outcome then ["root", $outcome, .outcome] else empty end),
    (if $full and listed != ($spans | sort) then ["spans", listed] else empty end)];
def of_shape($shape): [.roots[] | . as $root
    | select(any($truth[]; .root == $root.pid and .operation == "root " + $shape))];
'

# is_true full|light SHAPE OUTCOME SPAN…
is_true() {
    mode=$1 shape=$2 outcome=$3
    shift 3
    [ "$mode" = full ] || [ "$outcome" = ok ] || outcome=
    jq --slurpfile truth "$dir/truth.json" --arg shape "$shape" --arg outcome "$outcome" \
        --argjson full "$([ "$mode" = full ] && echo true || echo false)" -c \
        "$prelude"' of_shape($shape) | map(faults($full; $outcome; $ARGS.positional))' "$work/out" \
        --args "$@" >"$work/faults" || return 1
    jq -e 'any(.[]; . == [])' "$work/faults" >/dev/null || { echo "$mode $shape: $(cut -c1-600 "$work/faults")"; return 1; }
}

# whole LOOP N [OPTION…]
whole() {
    what=$1
    n=$2
    shift 2
    capture_of 'spans_shapes:root(_)' "$what" --roots "$n" "$@" && order truth &&
        shows ".ended_by == \"roots\" and .roots_taken == $n and .roots_open == 0 and .dropped.invalid == 0
            and .dropped.beyond == 0 and .skipped == 0 and all(.roots[]; .outcome != \"open\" and sums)"
}

row() { echo "$table" | grep "^$1 "; }

# single MODE SHAPE [OPTION…]: four requests of that shape.
single() {
    mode=$1
    shape=$2
    shift 2
    # shellcheck disable=SC2046 # words
    whole "$shape" 4 "$@" && is_true "$mode" $(row "$shape")
}

# all_shapes MODE [OPTION…]: each twice in one capture. What another process's turn on the processor
# has blurred is captured again.
all_shapes() {
    mode=$1
    shift
    meets_another && whole all 48 "$@" || return 1
    again=
    for shape in $shapes; do
        # shellcheck disable=SC2046
        is_true "$mode" $(row "$shape") >"$work/why" || again="$again $shape"
    done
    for shape in $again; do
        one_of 5 single "$mode" "$shape" "$@" || return 1
    done
}

full_mode() { all_shapes full --full; }
light_mode() { all_shapes light; }

# A capture of each shape, and a second one of `task`: 25 on each of four releases.
a_hundred_captures() {
    meets_another || return 1
    for shape in $shapes task; do
        whole "$shape" 4 --full || return 1
        # shellcheck disable=SC2046
        is_true full $(row "$shape") >"$work/why" || one_of 5 single full "$shape" --full || return 1
    done
}

differ full_mode light_mode
[ "${BEAMTOP_CHECK:-}" != all ] || differ a_hundred_captures
run_on_releases
