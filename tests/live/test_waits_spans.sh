#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# What `waits` says without tracing and what `spans` traces, of the same workers of the gateway demo:
# which process each of them waits for. Looks and requests are not of the same moments, so a wait
# that a look has found is right where a traced request of that worker waited for that process too.
# shellcheck disable=SC1090,SC1091,SC2154
set -u
. "$(dirname "$0")/../tap.sh"
. "$(dirname "$0")/which.sh"
. "$(dirname "$0")/spans.sh"
command -v jq >/dev/null || skip_all "no jq here"

demo=$BEAMTOP_SRCDIR/demo/run.sh
otp_sh=$BEAMTOP_SRCDIR/tests/live/otp.sh
BEAMTOP_DEMO_APP=gateway
BEAMTOP_DEMO_DIR=$work/none
export BEAMTOP_DEMO_APP BEAMTOP_DEMO_DIR
looks=40

stop_looking() {
    [ -z "${looking:-}" ] || { kill "$looking" 2>/dev/null; wait "$looking"; }
    looking=
}
trap 'stop_looking; "$demo" stop; rm -rf "$work"' EXIT
trap 'exit 130' HUP INT TERM PIPE

# Each traced request: who, and for which processes it waited.
captures() {
    spans 'gateway_http:handle/1' --roots 200 --time 60s --force && mv "$work/out" "$work/spans" &&
        jq -e '(.roots | length) >= 50' "$work/spans" >/dev/null
}

# At a rate at which the workers wait for the logger most of the time.
compares() {
    "$beamtop" waits "$node" -n "$looks" -i 0.25 --budget 20 --timeout 60 --cookie-file "$work/cookie" \
        --format json >"$work/waits" 2>"$work/told" </dev/null &
    looking=$!
    captures || { cat "$work/err"; return 1; }
    wait "$looking" || { cat "$work/told"; return 1; }
    looking=
    # shellcheck disable=SC2016
    jq -s -c --slurpfile spans "$work/spans" '
        ([$spans[0].roots[] | .pid as $pid | .waits[] | select(.kind == "call") | [$pid, .pid]] | unique) as $traced
        | ([$traced[][0]] | unique) as $workers
        | [.[].rows[] | select(.kind != null and (.pid as $pid | $workers | index([$pid]) != null))
           | [.pid, .waits_for]] as $seen
        | {looks: length, workers: ($workers | length), seen: ($seen | length),
           agree: ([$seen[] | select(. as $edge | $traced | any(. == $edge))] | length)}' "$work/waits" >"$work/out"
    sed 's/^/# /' "$work/out" >>"$work/remark"
    jq -e '.seen >= 50 and .agree >= 0.95 * .seen' "$work/out" >/dev/null || { cat "$work/out"; return 1; }
}

agrees_on_OTP() {
    "$demo" start -gateway scenario sync -gateway requests_per_s 2000 -gateway workers 16 >"$work/env" || return 1
    . "$work/env"
    node=$BEAMTOP_DEMO_NODE
    cp -p "$BEAMTOP_DEMO_COOKIE_FILE" "$work/cookie" && one_of 3 compares
    found=$?
    stop_looking
    "$demo" stop || return 1
    return "$found"
}

for otp in $(releases_of differ); do
    if reason=$("$otp_sh" --root "$otp" 2>&1); then
        BEAMTOP_DEMO_OTP=$otp
        BEAMTOP_DEMO_DIR=$work/otp-$otp
        export BEAMTOP_DEMO_OTP BEAMTOP_DEMO_DIR
        run agrees_on_OTP "$otp"
        [ ! -f "$work/remark" ] || cat "$work/remark"
        rm -f "$work/remark"
        [ -z "$reason" ] || rm -rf "${reason:?}$work"
    else
        skip "agrees_on_OTP_$otp" "$reason"
    fi
done
finish
