#!/bin/sh
# Unplanned ends of traces, on real nodes of each release at hand: the host's own, and the roots in
# BEAMTOP_ROOTS (otp-NN), which need root for chroot. See trace_kills.erl. BEAMTOP_KILLS: how often
# each kind of end is tried.
set -u
src=${BEAMTOP_SRCDIR:-$(cd "$(dirname "$0")/../.." && pwd)}
roots=${BEAMTOP_ROOTS:-/var/cache/beamtop}
export BEAMTOP_SRCDIR="$src"
ERL_EPMD_PORT=$((20000 + $$ % 20000))
export ERL_EPMD_PORT

if ! command -v erlc >/dev/null; then
    echo "1..0 # SKIP no Erlang on this machine"
    exit 0
fi
work=$(mktemp -d) || exit 1
trap 'epmd -kill >/dev/null 2>&1; rm -rf "$work"' EXIT
erlc -o "$work" "$src/tests/live/queries.erl" "$src/tests/live/trace_kills.erl" || exit 1

umask 077
printf beamtop_test >"$work/cookie"
COOKIE_FILE=$work/cookie
export COOKIE_FILE

list='{host,""}'
for otp in ${BEAMTOP_RELEASES-23 27 29}; do
    if [ "$(id -u)" = 0 ] && [ -x "$roots/otp-$otp/usr/bin/erl" ]; then
        list="$list,{'$otp',\"$roots/otp-$otp\"}"
    else
        list="$list,{'$otp',none}"
    fi
done
timeout "${BEAMTOP_KILLS_S:-280}" erl -noinput -hidden -pa "$work" -name "client$$@127.0.0.1" \
    -setcookie beamtop_test -eval "trace_kills:main([$list], ${BEAMTOP_KILLS:-3}), halt(0)."
