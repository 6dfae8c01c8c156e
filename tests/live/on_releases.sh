#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Runs a test module against real nodes of the releases that its tests need, by their kinds (which.sh).
#   on_releases.sh MODULE [MORE_MODULE…] [-- ARGUMENT…]
# Calls MODULE:main([{Release, Root | {none, Why}, [Kind]}] [, ARGUMENT…]) on a separate node, with a separate
# epmd; it prints TAP. Root: "" for this machine's own. BEAMTOP_LIVE_S: how long it may take.
# BEAMTOP_TESTS chooses tests, by their text with _ for blanks.
# The node finds BEAMTOP_SRCDIR and COOKIE_FILE in its environment.
# shellcheck disable=SC1091,SC2154
set -u
. "$(dirname "$0")/../tap.sh"
. "$(dirname "$0")/epmd.sh"
. "$(dirname "$0")/which.sh"
export BEAMTOP_SRCDIR
umask 077
trap 'stop_epmd; rm -rf "$work"' EXIT
trap 'exit 130' HUP INT TERM
start_epmd
printf beamtop_test >"$work/cookie"
COOKIE_FILE=$work/cookie
export COOKIE_FILE

module=$1
sources="$BEAMTOP_SRCDIR/tests/live/queries.erl $BEAMTOP_SRCDIR/src/query/prepare.erl"
while [ $# -gt 0 ] && [ "$1" != -- ]; do
    [ "$1" = queries ] || sources="$sources $BEAMTOP_SRCDIR/tests/live/$1.erl"
    shift
done
[ $# -eq 0 ] || shift
# shellcheck disable=SC2086
erlc -o "$work" $sources || exit 1

# kinds_on RELEASE: a list of Erlang.
kinds_on() {
    kinds=
    for kind in each differ same once; do
        case " $(releases_of "$kind") " in *" $1 "*) kinds="$kinds${kinds:+,}$kind" ;; esac
    done
    echo "[$kinds]"
}

targets=
for otp in $(releases_of each); do
    root=$("$(dirname "$0")/otp.sh" --root "$otp" 2>"$work/why") && root="\"$root\"" ||
        root="{none, \"$(head -n 1 "$work/why" | tr -cd '[:alnum:] .,:/_-')\"}"
    targets="$targets${targets:+,}{$otp,$root,$(kinds_on "$otp")}"
done
call="[$targets]"
for argument; do
    call="$call, $argument"
done
timeout --foreground "${BEAMTOP_LIVE_S:-2400}" erl -noinput -hidden -pa "$work" -name "client$$@127.0.0.1" \
    -setcookie beamtop_test -eval "$module:main($call), halt(0)."
