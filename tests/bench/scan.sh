#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# What a scan costs a target, per release: see scan.erl.
# usage: scan.sh [PROCESSES]
set -u
src=${BEAMTOP_SRCDIR:-$(cd "$(dirname "$0")/../.." && pwd)}
roots=${BEAMTOP_ROOTS:-/var/cache/beamtop}
export BEAMTOP_SRCDIR="$src"
ERL_EPMD_PORT=$((20000 + $$ % 12000))
export ERL_EPMD_PORT

command -v erlc >/dev/null || { echo "no Erlang on this machine"; exit 77; }
work=$(mktemp -d) || exit 1
trap 'epmd -kill >/dev/null 2>&1; rm -rf "$work"' EXIT
erlc -o "$work" "$src/tests/live/queries.erl" "$src/src/query/prepare.erl" "$src/tests/bench/scan.erl" || exit 1

list='""'
for otp in ${BEAMTOP_RELEASES-23 27 29}; do
    [ "$(id -u)" = 0 ] && [ -x "$roots/otp-$otp/usr/bin/erl" ] && list="$list,\"$roots/otp-$otp\""
done
erl -noinput -hidden -pa "$work" -name "client$$@127.0.0.1" -setcookie beamtop_test \
    -eval "scan:main([${1:-100000}, $list]), halt(0)."
