#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# `beamtop sample --remote` on nodes of every release: stacks at yield points, of a load whose shares
# are known (sample_load.erl); nothing is left on the node.
# shellcheck disable=SC1091,SC2034,SC2154,SC2317
set -u
. "$(dirname "$0")/../tap.sh"

load=sample_load
. "$(dirname "$0")/releases.sh"

remote() {
    "$beamtop" sample "$node" --remote --cookie-file "$work/cookie" --timeout 30 "$@" >"$work/out" 2>"$work/err"
}

# works NAME: that work has begun.
works() {
    rm -f "$dir/worker"
    order "$1" && wait_until 60 test -s "$dir/worker"
}

# Of a hundred stacks, by what their process did before each: 75 and 25 of a hundred, ± 12 at 99.7 %.
# As long as so many take: where the host stops the node within a few, these stand for most of the time.
known='.[0].samples >= 30 and
    ([.[0].functions[] | select(.function == "sample_load:leaf_a/2") | .self_share] | length == 1 and .[0] > 0.5)'
finds_known_shares() {
    works chain || return 1
    for seconds in 2 4 8 16 32; do
        remote --for "${seconds}s" --budget 50 --format json
        rc=$?
        if [ $rc != 0 ] || jq -se "$known" "$work/out" >/dev/null; then break; fi
    done
    order still
    ends_with 0 "$rc" || return 1
    holds '.[0].at_yields and .[0].moved_on == null' && holds "$known" &&
        holds '[.[0].functions[] | select(.function == "sample_load:chain_main/0") | .total_share] | length == 1 and .[0] > 0.9' &&
        holds ".[0].processes[0].pid == \"$(cat "$dir/worker")\"" && is_clean
}

# Who reads it learns what the shares are of. Before the node has answered it ends with 130.
ends_early_and_says_what_shares_are() {
    works chain || return 1
    for pause in 1 2 4 8 16; do
        "$beamtop" sample "$node" --remote --cookie-file "$work/cookie" --timeout 30 --for 600s \
            >"$work/out" 2>"$work/err" &
        run_pid=$!
        wait_until 60 is_connected "$run_pid" || { kill "$run_pid"; cat "$work/err"; return 1; }
        sleep "$pause"
        kill -INT "$run_pid"
        wait_until 60 has_ended "$run_pid" || { kill "$run_pid"; echo "it goes on"; return 1; }
        wait "$run_pid"
        rc=$?
        [ "$rc" = 130 ] || break
    done
    order still
    ends_with 0 "$rc" && says 'at yield points' && says 'reductions' && is_clean
}

has_leaf() {
    "$beamtop" report "$work/stranger/runs.btr" --format json >"$work/out" 2>"$work/report" &&
        jq -es 'any(.[0].samples_at_yields.functions[]?; .function == "sample_load:leaf_a/2")' "$work/out" >/dev/null
}

# A recording by a user who may not look into the VM has the runs of the node.
is_recorded_for_strangers() {
    stranger='setpriv --reuid 65534 --regid 65534 --clear-groups'
    if [ "$(id -u)" != 0 ] || ! $stranger "$beamtop" --version >/dev/null 2>&1; then
        not_tried "only root can become another user who can run beamtop"
        return 0
    fi
    works chain || return 1
    chmod 711 "$work"
    rm -rf "$work/stranger"
    mkdir -m 777 "$work/stranger"
    HOME=$work/stranger XDG_STATE_HOME=$work/stranger XDG_RUNTIME_DIR=$work/stranger $stranger "$beamtop" record "$node" \
        --cookie "$(cat "$work/cookie")" --timeout 30 --budget 50 -i 1 --for 300s --sample 1s --sample-every 2s \
        -o "$work/stranger/runs.btr" >"$work/text" 2>"$work/err" &
    run_pid=$!
    wait_long 120 has_leaf
    kill -INT "$run_pid"
    wait "$run_pid"
    order still
    has_leaf && told 'at yield points' && holds '.[0].samples == null and .[0].samples_at_yields.runs >= 1' && is_clean
}

is_connected() { [ "$(find "/proc/$1/fd" -lname 'socket:*' 2>/dev/null | wc -l)" -gt 0 ]; }

refuses_what_only_the_outside_knows() {
    for words in '--lines' '--scheduler 1' '--thread aux' '--pid <0.1.0>' '--check' '--format perf-script'; do
        # shellcheck disable=SC2086
        remote --for 1s $words
        ends_with 2 $? && told 'remote' || return 1
    done
}

differ finds_known_shares
same ends_early_and_says_what_shares_are is_recorded_for_strangers
once refuses_what_only_the_outside_knows
run_on_releases
