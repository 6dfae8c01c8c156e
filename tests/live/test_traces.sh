#!/bin/sh
# Traces against real nodes of each release at hand, as test_queries.sh does it. See traces.erl.
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
erlc -o "$work" "$src/tests/live/queries.erl" "$src/tests/live/traces.erl" || exit 1

list='{host,""}'
for otp in ${BEAMTOP_RELEASES-23 27 29}; do
    if [ "$(id -u)" = 0 ] && [ -x "$roots/otp-$otp/usr/bin/erl" ]; then
        list="$list,{'$otp',\"$roots/otp-$otp\"}"
    else
        list="$list,{'$otp',none}"
    fi
done
timeout 280 erl -noinput -hidden -pa "$work" -name "client$$@127.0.0.1" \
    -setcookie beamtop_test -eval "traces:main([$list]), halt(0)."
