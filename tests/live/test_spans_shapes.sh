#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Requests of 24 shapes under a load that spawns (spans_shapes.erl): each capture is complete, each
# span and wait is as long as the processes themselves measured it, and who waited is WAITING.
# A span lasts at least what its process measured within it, and at most what its caller measured
# around it, on a busy machine too: that holds of each root. A wait is within a millisecond of it where
# nobody took the processor at its very ends: of several roots one must be.
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

# faults: of a root, {wrong, blurred}: what no load excuses, and what another process's turn on the
# processor explains: a wait of which the end is missing, one more behind what its process measured,
# the beginning of a span within, which its process may see before its parent reports it, the end
# of a message: where a process waits for its next one is learned from those that it takes at once; and
# an answer that comes after the capture has waited for it.
# of_shape: the roots of a shape. µs; clocks are rounded.
# shellcheck disable=SC2016
prelude=$prelude'
def flat: [recurse(.children[])];
def listed: flat[1:] | map("\(.kind)/\(.operation // "-")/\(.outcome)") | sort;
def waited: (.wait_us // 0) + (.unattributed_us // 0);
def found($true): if $true.operation | startswith("root ") then [.]
  else [flat[1:][] | select(.operation == $true.operation)] end;
def took: map(.duration_us) | add // 0;
def short($true): $true.least != null and all(.[]; .ended_at_least | not) and took < $true.least - 2;
def blurred_ends($spans): (listed - $spans) + ($spans - listed)
  | all(.[]; startswith("message/") or test("/(late|timeout)$"));
def faults($full; $outcome; $spans): . as $root | {
  wrong: [
    ($truth[] | select(.root == $root.pid) | . as $true
     | ($root | found($true)) as $found | ($found | took) as $took
     | (if .least != null and ($found | length) == 0 then [.operation, "has no span"] else empty end),
       (if $found[0] == $root and ($found | short($true))
        then [.operation, "took at least", .least, $took] else empty end),
       (if .most != null and $took > .most + 2 then [.operation, "took at most", .most, $took] else empty end)),
    (if $outcome != "" and .outcome != $outcome then ["root", $outcome, .outcome] else empty end),
    (if $full and listed != ($spans | sort) and (blurred_ends($spans) | not)
     then ["spans", listed] else empty end)],
  blurred: [
    (if $full and listed != ($spans | sort) and blurred_ends($spans)
     then ["spans", listed] else empty end),
    ($truth[] | select(.root == $root.pid) | . as $true | ($root | found($true))
     | (if short($true) then [$true.operation, "took at least", $true.least, took] else empty end),
       (select($full and $true.waited != null and all(.[]; .ended_at_least | not))
        | (map(waited) | add // 0) | select(. > $true.waited + 2 or . < $true.waited - 1000)
        | [$true.operation, "waited about", $true.waited, .]))]};
def of_shape($shape): [.roots[] | . as $root
    | select(any($truth[]; .root == $root.pid and .operation == "root " + $shape))];
'

# is_true full|light SHAPE OUTCOME SPAN…: 2 where all that does not hold is a wait that was blurred.
is_true() {
    mode=$1 shape=$2 outcome=$3
    shift 3
    [ "$mode" = full ] || [ "$outcome" = ok ] || outcome=
    jq --slurpfile truth "$dir/truth.json" --arg shape "$shape" --arg outcome "$outcome" \
        --argjson full "$([ "$mode" = full ] && echo true || echo false)" -c \
        "$prelude"' of_shape($shape) | map(faults($full; $outcome; $ARGS.positional))' "$work/out" \
        --args "$@" >"$work/faults" || return 1
    jq -e 'length > 0 and all(.[]; .wrong == [])' "$work/faults" >/dev/null || {
        echo "$mode $shape: $(cut -c1-3000 "$work/faults")"
        jq -c 'del(.roots)' "$work/out" | cut -c1-2000
        jq --slurpfile truth "$dir/truth.json" --arg shape "$shape" -c "$prelude of_shape(\$shape)" "$work/out" |
            cut -c1-60000
        return 1
    }
    jq -e 'any(.[]; .blurred == [])' "$work/faults" >/dev/null || {
        echo "blurred: $mode $shape: $(cut -c1-3000 "$work/faults")"
        return 2
    }
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

# checked MODE SHAPE [OPTION…]: what was captured of it is true; what was blurred is captured again.
checked() {
    for try in 1 2 3 4 5 6; do
        # shellcheck disable=SC2046 # words
        is_true "$1" $(row "$2")
        case $? in
        0) return 0 ;;
        1) return 1 ;;
        esac
        [ "$try" -lt 6 ] || return 1
        mode=$1 shape=$2
        shift 2
        whole "$shape" 4 "$@" || return 1
        set -- "$mode" "$shape" "$@"
    done
}

# all_shapes MODE [OPTION…]: each twice in one capture.
all_shapes() {
    mode=$1
    shift
    meets_another && whole all 48 "$@" || return 1
    # The roots of all shapes first: a capture of one replaces them.
    again=
    for shape in $shapes; do
        # shellcheck disable=SC2046
        is_true "$mode" $(row "$shape")
        case $? in
        1) return 1 ;;
        2) again="$again $shape" ;;
        esac
    done
    for shape in $again; do
        whole "$shape" 4 "$@" && checked "$mode" "$shape" "$@" || return 1
    done
    [ -z "$again" ] || echo "# OTP $otp, $mode: waits blurred, captured again:$again" >>"$work/remark"
}

full_mode() { all_shapes full --full; }
light_mode() { all_shapes light; }

# A capture of each shape, and a second one of `task`: 25 on each of four releases.
a_hundred_captures() {
    meets_another || return 1
    for shape in $shapes task; do
        whole "$shape" 4 --full && checked full "$shape" --full || return 1
    done
}

differ full_mode light_mode
[ "${BEAMTOP_CHECK:-}" != all ] || differ a_hundred_captures
run_on_releases
