#!/bin/sh
# The model case: reports on the gateway demo lead to what is wrong with it in each configuration, with the
# known numbers, and the healthy one is told to be changed in nothing.
# shellcheck disable=SC1091,SC2154,SC2317
set -u
. "$(dirname "$0")/../tap.sh"

demo=$BEAMTOP_SRCDIR/demo/run.sh
BEAMTOP_DEMO_APP=gateway
BEAMTOP_DEMO_DIR=$work/gateway
export BEAMTOP_DEMO_APP BEAMTOP_DEMO_DIR

# Ten seconds, with two windows of counted calls.
is_recorded() {
    "$demo" start -gateway scenario "$1" >"$work/env" || return 1
    . "$work/env"
    "$beamtop" record "$BEAMTOP_DEMO_NODE" --cookie-file "$BEAMTOP_DEMO_COOKIE_FILE" -o "$work/$1" \
        --interval 1 --for 10s --label "$1" --calls all --window 2s --every 5s --top 1000
    code=$?
    "$demo" stop
    return "$code"
}

tells() { "$beamtop" report "$work/$1" | tr '\n' ' ' | tr -s ' ' | grep -F -e "$2"; }
tells_not() { ! tells "$1" "$2"; }

# Shares and ratios of the demo are known; a busy machine may move the last digit.
tells_near() {
    got=$("$beamtop" report "$work/$1" | tr '\n' ' ' | tr -s ' ' | grep -o "[0-9.]* $3" | head -n 1)
    got=${got%% *}
    echo "$2 $3: $got"
    awk -v got="$got" -v want="$2" 'BEGIN { exit !(got > want * 0.94 && got < want * 1.06) }'
}

differs() { "$beamtop" diff "$work/$1" "$work/$2" | tr '\n' ' ' | tr -s ' ' | grep -F -e "share of name Elixir.Logger $1 $2"; }

fails_in_CI() {
    "$beamtop" diff "$work/async" "$work/$1" --fail-on 'name:Elixir.Logger>10%' >/dev/null
    [ $? -eq 1 ]
}

passes_in_CI() { "$beamtop" diff "$work/sync" "$work/healthy" --fail-on finding:act >/dev/null; }

has_a_column_for_each() {
    "$beamtop" report "$work/sync" "$work/debug" "$work/async" "$work/healthy" --format json >"$work/json" &&
        [ "$(grep -o '"schema":"beamtop.diff/1"' "$work/json" | wc -l)" -eq 1 ] &&
        "$beamtop" report "$work/sync" "$work/debug" "$work/async" "$work/healthy" |
            grep -E '^ +sync +debug +async +healthy$'
}

trap '"$demo" stop >/dev/null 2>&1; rm -rf "$work"' EXIT
trap 'exit 130' HUP INT TERM PIPE
for scenario in sync debug async healthy; do
    run is_recorded "$scenario"
done
for scenario in sync debug; do
    run tells "$scenario" '[act] The logger is synchronous and makes its callers wait'
    run fails_in_CI "$scenario"
done
run tells_not async '[act] The logger'
for scenario in sync debug async; do
    run tells "$scenario" '[act] gateway_schemas asks the database for each lookup'
    run tells_near "$scenario" 87 '% of the operations on repositories are reads'
    run tells_near "$scenario" 1.38 'calls of pipeline stages an operation: structural, leave it alone'
done
run tells_not healthy '[act]'
run differs sync debug
run differs debug async
run passes_in_CI
run has_a_column_for_each
finish
