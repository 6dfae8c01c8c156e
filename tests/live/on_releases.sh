#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Runs a test module against real nodes of each release at hand: the host's own, and the roots in
# BEAMTOP_ROOTS (otp-NN), which need root for chroot.
#   on_releases.sh MODULE [MORE_MODULE…] [-- ARGUMENT…]
# Calls MODULE:main([{Name, Root | none}] [, ARGUMENT…]) on a separate node, with a separate epmd; it
# prints TAP. BEAMTOP_RELEASES: which roots; BEAMTOP_LIVE_S: how long it may take.
# The node finds BEAMTOP_SRCDIR and COOKIE_FILE in its environment.
# shellcheck disable=SC1091,SC2154
set -u
. "$(dirname "$0")/../tap.sh"
. "$(dirname "$0")/epmd.sh"
roots=${BEAMTOP_ROOTS:-/var/cache/beamtop}
export BEAMTOP_SRCDIR
umask 077
trap 'stop_epmd; rm -rf "$work"' EXIT
trap 'exit 130' HUP INT TERM
start_epmd
printf beamtop_test >"$work/cookie"
COOKIE_FILE=$work/cookie
export COOKIE_FILE

module=$1
erlc -o "$work" "$BEAMTOP_SRCDIR/tests/live/queries.erl" "$BEAMTOP_SRCDIR/src/query/prepare.erl" || exit 1
while [ $# -gt 0 ] && [ "$1" != -- ]; do
    [ "$1" = queries ] || erlc -o "$work" "$BEAMTOP_SRCDIR/tests/live/$1.erl" || exit 1
    shift
done
[ $# -eq 0 ] || shift

targets='{host,""}'
for otp in ${BEAMTOP_RELEASES-23 27 29}; do
    if [ "$(id -u)" = 0 ] && [ -x "$roots/otp-$otp/usr/bin/erl" ]; then
        targets="$targets,{'$otp',\"$roots/otp-$otp\"}"
    else
        targets="$targets,{'$otp',none}"
    fi
done
call="[$targets]"
for argument; do
    call="$call, $argument"
done
timeout "${BEAMTOP_LIVE_S:-2400}" erl -noinput -hidden -pa "$work" -name "client$$@127.0.0.1" \
    -setcookie beamtop_test -eval "$module:main($call), halt(0)."
