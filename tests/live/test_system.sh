#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Settings and limits of real nodes: they are those that the node says itself, what is unknown says why, a
# cookie is in none of them, and nothing is left. The load is system_load.erl.
# shellcheck disable=SC1091,SC2154,SC2317
set -u
. "$(dirname "$0")/../tap.sh"

load=system_load
. "$(dirname "$0")/releases.sh"

settings() {
    "$beamtop" system "$node" --timeout 60 --cookie-file "$work/cookie" --format json "$@" >"$work/out" \
        2>"$work/err" </dev/null || { cat "$work/err"; return 1; }
}

rows_are_those_of_the_node() {
    order numbers && settings || return 1
    jq -n -e --slurpfile out "$work/out" --slurpfile said "$dir/said" '
        ($out[-1].rows | map({(.id): .}) | add) as $rows
        | ($said[0].limits | to_entries | all($rows[.key].limit_number == .value))
          and ($said[0].values | to_entries | all($rows[.key].value == .value))' >/dev/null || {
        cat "$dir/said" "$work/out"
        return 1
    }
    holds '.[-1].rows | map({(.id): .}) | add
        | .["limits.processes"].share > 0 and .["limits.atoms"].number > 5000' &&
        holds 'any(.[-1].rows[]; .item == "-name" and (.value | startswith("system_load")))' && is_clean
}

what_is_unknown_says_why() {
    settings && holds 'all(.[].rows[]; .value != null or .note != null)' &&
        holds '[.[-1].rows[].id] | length == (unique | length)'
}

# Of its OS process: these files the node reads itself.
files_are_read() {
    settings && holds '.[-1].rows | map({(.id): .}) | add
        | .["os.resident memory"].number > 10000000 and .["os.threads"].number > 4
          and .["limits.file descriptors"].limit_number > 0 and .["os.OOM score"].number != null'
}

descriptors() {
    settings -n 1 && order files && settings && order numbers || return 1
    jq -n -e --slurpfile out "$work/out" --slurpfile said "$dir/said" '
        [$out[-1].rows[] | select(.id == "limits.file descriptors") | .number - $said[0].descriptors]
        | .[0] | -10 < . and . < 10' >/dev/null || { cat "$dir/said" "$work/out"; return 1; }
}

# The cookie of these nodes is `releases`, an argument that the node was started with.
cookies_are_hidden() {
    for format in text json csv; do
        "$beamtop" system "$node" --timeout 60 --cookie-file "$work/cookie" --format "$format" >"$work/out" \
            2>"$work/err" </dev/null || { cat "$work/err"; return 1; }
        ! grep -q -w releases "$work/out" || { cat "$work/out"; return 1; }
        grep -q '(hidden)' "$work/out" || { cat "$work/out"; return 1; }
    done
}

# Files are read every 5 s, the rest is one ask; the first answer has what is asked once.
it_costs_little() {
    settings -n 6 -i 1 && holds '[.[2:][].cost.target_us] | add / length < 20000' && is_clean
}

a_recording_has_them() {
    "$beamtop" record "$node" --timeout 60 --cookie-file "$work/cookie" --for 3s -o "$work/file" >"$work/out" 2>&1 \
        </dev/null || { cat "$work/out"; return 1; }
    "$beamtop" system "$work/file" --format json >"$work/out" 2>"$work/err" || { cat "$work/err"; return 1; }
    holds 'any(.[-1].rows[]; .id == "versions.OTP" and .value != null)'
    kept=$?
    rm -f "$work/file"
    return $kept
}

differ rows_are_those_of_the_node what_is_unknown_says_why files_are_read descriptors cookies_are_hidden
same it_costs_little a_recording_has_them
run_on_releases
