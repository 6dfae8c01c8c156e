#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Driver for automake: runs a test through automake's TAP driver and prints one line when it has ended:
# result, name, number of its tests, seconds, and those of processor time. The whole log of a failed one
# follows, and the reasons of skips.
#   driver.sh TAP_DRIVER ARGUMENT… -- TEST
#   driver.sh --name TEST     prints the name and ends
#   driver.sh --cpu FILE      prints the processor time of the children that `times` has written to FILE
# The processor time is that of all processes that somebody has waited for: not of an epmd that stays, nor
# of nodes that a test in Erlang starts (live queries, large).
# A test that hangs is ended after 20 minutes, in `check all` after an hour, and fails.
# The name is that which `./bootstrap check` takes: tests/live/test_act.sh is "live act",
# tests/unit/etf/test_print "unit etf/print", tests/words.sh "source words".
# BEAMTOP_BEGAN     second of the clock when the run began: each line begins with the time since
# BEAMTOP_LIMIT_S   another limit
# BEAMTOP_LINES     descriptor for the lines, from 3 to 9 (1)
# BEAMTOP_RESULTS   file that gets a line: PASSED FAILED SKIPPED SECONDS CPU_SECONDS NAME; beside it, with
#                   .failed behind its name, one gets the cases that failed
set -u

name_of() {
    name=${1#tests/}
    name=${name%.sh}
    case $name in
    */*) group=${name%%/*} name=${name#*/} ;;
    *) group=source ;;
    esac
    case $name in
    */test_*) name=${name%/test_*}/${name##*/test_} ;;
    test_*) name=${name#test_} ;;
    esac
    echo "$group $name"
}

cpu_of() { awk 'NR == 2 { gsub(/[ms]/, " "); split($0, t, " "); printf "%.0f\n", (t[1] + t[3]) * 60 + t[2] + t[4] }' "$1"; }

case $1 in
--name) name_of "$2" && exit ;;
--cpu) cpu_of "$2" && exit ;;
esac
limit_s=${BEAMTOP_LIMIT_S:-1200}
[ -n "${BEAMTOP_LIMIT_S:-}" ] || [ -z "${BEAMTOP_CHECK:-}" ] || limit_s=3600

# As its own group of processes, which all end with it; it has a minute to end what it started.
if [ "$1" = --limited ]; then
    echo $$ >"$2"
    shift 2
    exec timeout -k 60 "$limit_s" "$@"
fi
tap_driver=$1
shift

# The test and its arguments come behind `--`.
log='' trs='' test='' option=''
for argument; do
    shift
    case $option in
    --log-file) log=$argument ;;
    --trs-file) trs=$argument ;;
    --test-name) test=$argument ;;
    esac
    set -- "$@" "$argument"
    [ "$option" != -- ] || continue
    [ "$argument" != -- ] || set -- "$@" sh "$0" --limited "$log.pid"
    option=$argument
done
name=$(name_of "$test")

began=$(date +%s)
trap 'kill "$(cat "$log.pid")" 2>/dev/null; exit 130' HUP INT TERM
sh "$tap_driver" "$@" >/dev/null </dev/null
status=$?
ended=$(date +%s)
[ $((ended - began)) -lt "$limit_s" ] || echo "ended after $limit_s s: $name" >>"$log"
times >"$log.times" # of a pipe it would be that of the pipe's own process
cpu=$(cpu_of "$log.times")
rm -f "$log.pid" "$log.times"
[ -f "$trs" ] || echo ':test-result: ERROR' >"$trs"
# shellcheck disable=SC2046
set -- $(awk '
    /^:test-result: (PASS|XFAIL)/ { p++ }
    /^:test-result: (FAIL|XPASS|ERROR)/ { f++ }
    /^:test-result: SKIP/ { s++ }
    END { print p + 0, f + 0, s + 0 }' "$trs")
echo "$1 $2 $3 $((ended - began)) $cpu $name" >>"${BEAMTOP_RESULTS:-/dev/null}"

# What the run says again at its end, where the line of the test is far above: cases that failed with
# the first lines of why, or the last lines of a test that fails without one.
failed_cases() {
    {
        echo "failed: $name"
        awk '/^    \| not ok / { left = 21; n++ }
            /^    \| ok / { left = 0 }
            left-- > 0 { print substr($0, 1, 400) }
            END { exit n == 0 }' "$log.whole" || tail -n 20 "$log.whole" | cut -c1-400
    } >"$log.failed"
}

result=passed
[ "$2" = 0 ] || result=FAILED
[ "$1$2" != 00 ] || result=skipped

# In one piece, whatever other tests print at the time.
{
    [ -z "${BEAMTOP_BEGAN:-}" ] || printf '%5d s  ' $((ended - BEAMTOP_BEGAN))
    printf '%-7s  %-32s %4d tests' "$result" "$name" $(($1 + $2 + $3))
    [ "$2" = 0 ] || printf ', %d failed' "$2"
    [ "$3" = 0 ] || printf ', %d skipped' "$3"
    printf ', %d s, cpu %d s\n' $((ended - began)) "$cpu"
    if [ "$2" != 0 ]; then
        # Without what automake repeats; lines of the test's own that begin so stay.
        awk -v passed="PASS: $test " -v failed="FAIL: $test " \
            'index($0, passed) != 1 && index($0, failed) != 1 { print "    | " $0 }' "$log" >"$log.whole"
        cat "$log.whole"
        failed_cases
    elif [ "$3" != 0 ]; then
        awk -v skipped="SKIP: $test" 'index($0, skipped) == 1 {
            reason = substr($0, length(skipped) + 2)
            sub(/^- /, "", reason)
            print "    skipped: " (reason ? reason : "it ran no test, and gave no reason")
        }' "$log"
    fi
    # What a test tried more than once.
    awk '/^# again: / { n++; last = substr($0, 10) }
        END { if (n > 0) print "    again " n (n == 1 ? " time: " : " times, the last: ") last }' "$log"
} >"$log.line"
{
    flock 9
    cat "$log.line" >&"${BEAMTOP_LINES:-1}"
    [ ! -f "$log.failed" ] || [ -z "${BEAMTOP_RESULTS:-}" ] || cat "$log.failed" >>"$BEAMTOP_RESULTS.failed"
} 9>>"$BEAMTOP_BUILDDIR/tests/.driver"
rm -f "$log.line" "$log.whole" "$log.failed"
exit $status
