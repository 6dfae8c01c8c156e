#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Driver for automake: runs a test through automake's TAP driver and prints one line when it has ended:
# result, name, number of its tests, seconds. The whole log of a failed one follows, and the reasons of
# skips.
#   driver.sh TAP_DRIVER ARGUMENT… -- TEST
#   driver.sh --name TEST     prints the name and ends
# The name is that which `./bootstrap check` takes: tests/live/test_act.sh is "live act",
# tests/unit/etf/test_print "unit etf/print", tests/words.sh "source words".
# BEAMTOP_BEGAN     second of the clock when the run began: each line begins with the time since
# BEAMTOP_LINES     descriptor for the lines, from 3 to 9 (1)
# BEAMTOP_RESULTS   file that gets a line: PASSED FAILED SKIPPED SECONDS NAME
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

[ "$1" != --name ] || { name_of "$2"; exit; }
tap_driver=$1
shift

log='' trs='' name='' option=''
for argument; do
    case $option in
    --log-file) log=$argument ;;
    --trs-file) trs=$argument ;;
    --test-name) name=$(name_of "$argument") ;;
    esac
    [ "$argument" != -- ] || break
    option=$argument
done

began=$(date +%s)
sh "$tap_driver" "$@" >/dev/null
status=$?
ended=$(date +%s)
# shellcheck disable=SC2046
set -- $(awk '
    /^:test-result: (PASS|XFAIL)/ { p++ }
    /^:test-result: (FAIL|XPASS|ERROR)/ { f++ }
    /^:test-result: SKIP/ { s++ }
    END { print p + 0, f + 0, s + 0 }' "$trs")
echo "$1 $2 $3 $((ended - began)) $name" >>"${BEAMTOP_RESULTS:-/dev/null}"

result=passed
[ "$2" = 0 ] || result=FAILED
[ "$1$2" != 00 ] || result=skipped

# In one piece, whatever other tests print at the time.
{
    [ -z "${BEAMTOP_BEGAN:-}" ] || printf '%5d s  ' $((ended - BEAMTOP_BEGAN))
    printf '%-7s  %-32s %4d tests' "$result" "$name" $(($1 + $2 + $3))
    [ "$2" = 0 ] || printf ', %d failed' "$2"
    [ "$3" = 0 ] || printf ', %d skipped' "$3"
    printf ', %d s\n' $((ended - began))
    if [ "$2" != 0 ]; then
        sed '/^PASS: /d; /^FAIL: /d; s/^/    | /' "$log"
    elif [ "$3" != 0 ]; then
        sed -n 's/^SKIP:* *[^ ]* *\(.*\)/    skipped: \1/p' "$log"
    fi
} >"$log.line"
{ flock 9; cat "$log.line" >&"${BEAMTOP_LINES:-1}"; } 9>>"$BEAMTOP_BUILDDIR/tests/.driver"
rm -f "$log.line"
exit $status
