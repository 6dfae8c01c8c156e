# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=sh
# Test Anything Protocol for the tests in shell; sourced. A test is a function whose name says what
# holds; `run NAME [ARGUMENT…]` calls it in this shell and reports; what it said is shown when it fails.
# BEAMTOP_SRCDIR and BEAMTOP_BUILDDIR come from make; by hand: the tree, and the build in `build`.

if [ -z "${BEAMTOP_SRCDIR:-}" ]; then
    BEAMTOP_SRCDIR=$(cd "$(dirname "$0")" && pwd)
    until [ -f "$BEAMTOP_SRCDIR/bootstrap" ]; do
        BEAMTOP_SRCDIR=${BEAMTOP_SRCDIR%/*}
    done
fi
BEAMTOP_BUILDDIR=${BEAMTOP_BUILDDIR:-$BEAMTOP_SRCDIR/build}
beamtop=$BEAMTOP_BUILDDIR/src/beamtop
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
tap_count=0

# Ends a script that cannot run here, for something that is not installed.
skip_all() {
    echo "1..0 # SKIP $*"
    exit 0
}

# not_tried REASON: of a test that ends well without having tried anything, which is a skip then.
not_tried() { echo "$*" >"$work/not_tried"; }

run() {
    trap tap_is_ended TERM
    tap_count=$((tap_count + 1))
    tap_name=$(echo "$*" | tr _ ' ')
    tap_began=$(date +%s)
    rm -f "$work/not_tried"
    if "$@" >"$work/tap.out" 2>&1; then
        [ ! -f "$work/not_tried" ] || tap_name="$tap_name # SKIP $(cat "$work/not_tried")"
        echo "ok $tap_count - $tap_name"
    else
        echo "not ok $tap_count - $tap_name"
        sed 's/^/# /' "$work/tap.out"
    fi
    tap_took=$(($(date +%s) - tap_began))
    [ "$tap_took" -lt 60 ] || echo "# took $tap_took s: $tap_name"
}

# The driver's limit, on the driver's pipe: that of the case is a file.
tap_is_ended() {
    { echo "# ended in this case: $tap_name" && sed 's/^/# /' "$work/tap.out"; } >"/proc/$PPID/fd/1"
    exit 130
}

skip() {
    tap_count=$((tap_count + 1))
    echo "ok $tap_count - $(echo "$1" | tr _ ' ') # SKIP $2"
}

# fail_all WHAT [FILE]: ends a script whose world does not come up; FILE says why.
fail_all() {
    echo "not ok $((tap_count + 1)) - $1"
    [ $# -lt 2 ] || sed 's/^/# /' "$2"
    echo "1..$((tap_count + 1))"
    exit 1
}

# Starts a demo node in $BEAMTOP_DEMO_DIR, for the whole script; who calls sees that it ends.
start_demo() {
    command -v erl >/dev/null 2>&1 || skip_all "no Erlang on this machine"
    "$BEAMTOP_SRCDIR/demo/run.sh" start >"$work/env" 2>"$work/demo.log" ||
        fail_all "the demo node does not start" "$work/demo.log"
    . "$work/env"
}

# Whether the host lets us sample: tried on a VM of our own; else the script is skipped.
try_sampling() {
    erl -noinput -eval 'timer:sleep(60000), halt().' >/dev/null 2>&1 &
    tried=$!
    wait_until 30 grep -q 'beam' "/proc/$tried/comm" || :
    "$beamtop" sample "$tried" --for 0.1s >"$work/tried" 2>&1
    rc=$?
    kill -9 "$tried"
    wait "$tried" 2>/dev/null
    [ $rc = 0 ] || ! grep -qE 'perf_event_open|may not be read' "$work/tried" || skip_all "$(head -n 1 "$work/tried")"
}

# no_line EXPRESSION FILE…: of Perl's; the lines that match are shown.
no_line() {
    no_line_expression=$1
    shift
    LC_ALL=C.UTF-8 grep -nP -e "$no_line_expression" "$@" >"$work/lines"
    [ $? -ne 1 ] || return 0
    echo "$(wc -l <"$work/lines") lines:"
    cat "$work/lines"
    return 1
}

finish() {
    [ "$tap_count" -gt 0 ] || skip_all "no case of it was chosen"
    echo "1..$tap_count"
    exit 0 # what failed is printed: the driver would count an exit code as one more
}

# wait_until SECONDS COMMAND…: looks twenty times a second, and after one second five times, to leave the
# processor to what it waits for; fails when it never holds. What looks take is not counted, and a pause of
# 200 ms counts as 100: where looks are slow there are enough of them.
wait_until() {
    wait_left=$(($1 * 20)) wait_quick=20
    shift
    until "$@"; do
        wait_step=1 wait_pause=0.05
        [ "$wait_quick" -gt 0 ] || wait_step=2 wait_pause=0.2
        wait_quick=$((wait_quick - 1))
        wait_left=$((wait_left - wait_step))
        [ "$wait_left" -gt 0 ] || return 1
        sleep "$wait_pause"
    done
}

# wait_long SECONDS COMMAND…: once a second, where a look is a whole report, or the like.
wait_long() {
    wait_left=$1
    shift
    until "$@"; do
        wait_left=$((wait_left - 1))
        [ "$wait_left" -gt 0 ] || return 1
        sleep 1
    done
}

# one_of TRIES COMMAND…: for what depends on who has the processor just then.
one_of() {
    tries_left=$1
    shift
    until "$@"; do
        tries_left=$((tries_left - 1))
        [ "$tries_left" -gt 0 ] || return 1
    done
}

# was_late ERRORS: a scheduler of a busy machine was, which what is armed on all processes refuses, or
# it took too long to say what is armed. Where it is tried again, $work/remark says so.
was_late() {
    grep -q 'did not answer for\|did not answer .*armed' "$1" && echo "# again: refused, since a scheduler was late" >>"$work/remark"
}

# patient COMMAND…: again where a scheduler was late. $work/err has what the command says.
patient() {
    for _ in 1 2 3 4 5 6 7 8; do
        "$@"
        patient_code=$?
        if [ "$patient_code" != 5 ] || ! was_late "$work/err"; then break; fi
    done
    return "$patient_code"
}

# A process that has ended but that nobody has waited for does not run. (One that is about to become
# another program has no command line for a moment.)
is_running() { grep -q '^State:[[:space:]]*[^ZX[:space:]]' "/proc/$1/status" 2>/dev/null; }
has_ended() { ! is_running "$1"; }
