#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Findings on real nodes: a recording sees what is not among the busiest, shows whose the work is, and
# knows what its rules need; with BEAMTOP_CHECK the gateway's synchronous logger is found on each release.
# The load is findings_load.erl.
# shellcheck disable=SC1091,SC2034,SC2154,SC2317
set -u
. "$(dirname "$0")/../tap.sh"

load=findings_load
. "$(dirname "$0")/releases.sh"

XDG_STATE_HOME=$work/state
export XDG_STATE_HOME

# ---- recordings, as long as it takes; looking makes no file

sql() { sqlite3 -readonly -cmd '.timeout 2000' "$file" "$1" 2>/dev/null; }
ticks() { sql 'SELECT count(*) FROM tick'; }
has_ticks() { [ "$(ticks)" -ge "$1" ] 2>/dev/null; }

# records FILE UNTIL WORDS…: UNTIL is a function that waits for what is to be in it.
records() {
    file=$1 until=$2
    shift 2
    rm -f "$file"
    "$beamtop" record "$@" -o "$file" --interval 0.5s --budget 20 --for 600s >"$work/out" 2>"$work/err" &
    recorder=$!
    "$until"
    reached=$?
    "$beamtop" record stop >/dev/null 2>&1
    wait "$recorder" && [ "$reached" -eq 0 ] &&
        "$beamtop" report "$file" --format json >"$work/out" 2>"$work/err" && return 0
    cat "$work/err"
    return 1
}

# A busy node may come to look at few processes in the first of these, and to see no collection.
knows_what_leads() {
    [ "$(sql "SELECT count(*) FROM fact WHERE key = 'binaries' AND json_extract(value, '\$.looked_at') > 100
                  AND json_extract(value, '\$.holders[0].name') = 'findings_holder'")" -ge 1 ] 2>/dev/null &&
        [ "$(sql "SELECT count(*) FROM fact WHERE key = 'gc'
                      AND json_array_length(value, '\$.processes') > 0")" -ge 1 ]
}

# What leads is asked for at the first tick, and watched from then on: for most of the ticks.
# On a machine without a free core message queues grow by fits and starts: a trend takes longer to be
# one, and may be none a tick later. So the report of that moment is kept.
queues_grow() {
    sleep 1
    "$beamtop" report "$file" --format json >"$work/grown" 2>/dev/null &&
        jq -e '[.findings[] | select(.rule == "mailbox_growth")] | length == 2' "$work/grown" >/dev/null
}
# What no type of memory shows is read every ten seconds. On a busy machine it may come after there are too
# many monitors to be counted: then both sides of them are known by their memory.
accumulates() {
    sleep 1
    "$beamtop" report "$file" --format json >"$work/kept" 2>/dev/null &&
        jq -e '[.findings[].title
                | select(test("^findings_(hub keeps monitors that stay|(hub|gets) grows beside its heaps .*): ")
                         or test("^Timers are accumulating: ")
                         or test("^findings_sockets opens sockets .module socket. that stay: "))]
               | length == 3' "$work/kept" >/dev/null
}
has_watched() {
    wait_until 200 knows_what_leads && wait_until 300 has_ticks $((3 * $(ticks) + 8)) &&
        wait_until 200 queues_grow && { wait_until 200 accumulates || { jq . "$work/kept"; return 1; }; }
}

# Who started a process is known from OTP 25 on; before, to which one with a name it is linked.
finds_idle_mailboxes() {
    near='started by'
    [ "$1" -ge 25 ] || near='linked to'
    cp "$work/grown" "$work/out"
    holds '[.[0].findings[] | select(.rule == "mailbox_growth") | .title | sub(" is growing: .*"; "")
            | sub(" <[0-9.]+>"; "")] | sort
           == ["Message queue of erlang:apply/2 ('"$near"' findings_boss)",
               "Message queue of findings_idle"]'
}

finds_who_holds_binaries() {
    holds '.[0].findings | map(select(.rule == "binary_holders")) | length == 1
           and (.[0].evidence[0] | .value >= 40000000 and (.text | test("^findings_holder")))
           and (.[0].title | test("^findings_holder holds"))'
}

finds_the_suspended() {
    holds 'any(.[0].findings[]; .rule == "serialised"
           and .title == "findings_suspended is suspended, with 7 messages queued")'
}

tells_the_supervisor() {
    holds '.[0].owners.supervisor | .[0].owner == "findings_sup" and .[0].share > 0.1'
}

# On a host that lacks CPUs some rules wait for one that has them.
knows_what_rules_need() {
    holds '[.[0].not_evaluated[] | select(.why | test("see starved|not known yet") | not).rule] - ["starved", "blocked_schedulers", "gc_cpu", "copy_cpu", "nif_cpu", "request_wait", "repository_lookup", "read_write", "pipeline_overhead",
           "hot_reads", "dynamic_repo"] == []'
}

keeps_facts() {
    for fact in binaries ets gc; do
        sqlite3 "$work/recording" "select value from fact where key = '$fact'" >"$work/out" || return 1
        case $fact in
        binaries) holds 'any(.[]; .holders[0].name == "findings_holder" and .looked_at > 100)' || return 1 ;;
        ets) holds '.[0].tables | length == 10 and all(.[]; .memory_bytes > 0)' || return 1 ;;
        gc) holds 'all(.[].processes[]; .minor_gcs_per_s > 0) and any(.[]; .processes | length > 0)' || return 1 ;;
        esac
    done
}

# The queues are looked for in the report of another moment, the facts in the recording.
finds_what_is_not_among_the_busiest() {
    records "$work/recording" has_watched "$node" --cookie-file "$work/cookie" --timeout 60 && finds_who_holds_binaries &&
        finds_the_suspended && tells_the_supervisor && knows_what_rules_need && finds_idle_mailboxes "$1" && keeps_facts
}

has_counted() { wait_until 200 has_window && wait_until 200 has_ticks 12; }
has_window() { [ "$(sql 'SELECT count(*) FROM call_window')" -ge 1 ] 2>/dev/null; }

# The gateway demo beside it, with a separate epmd, on each release: what test_report.sh finds on two.
finds_the_gateways_faults() {
    (
        BEAMTOP_DEMO_APP=gateway BEAMTOP_DEMO_OTP=$1 BEAMTOP_DEMO_DIR=$work/gateway-$1
        export BEAMTOP_DEMO_APP BEAMTOP_DEMO_OTP BEAMTOP_DEMO_DIR
        trap '"$BEAMTOP_SRCDIR/demo/run.sh" stop' EXIT
        "$BEAMTOP_SRCDIR/demo/run.sh" start -gateway scenario sync >"$work/env" || exit 1
        . "$work/env"
        records "$work/gateway" has_counted "$BEAMTOP_DEMO_NODE" --cookie-file "$BEAMTOP_DEMO_COOKIE_FILE" \
            --calls all --window 2s
    ) || return 1
    rm -f "$work/gateway"
    holds '.[0].findings | map(select(.severity == "act") | .rule) | sort
           == ["repository_lookup", "sync_logger"]' &&
        holds '.[0].findings[] | select(.rule == "read_write" and (.title | test("^Repositories: ")))
               | .title | capture(" (?<n>[0-9.]+)% reads").n | tonumber | . > 85.5 and . < 88.5' &&
        holds '.[0].findings[] | select(.rule == "pipeline_overhead")
               | .title | capture(" runs (?<n>[0-9.]+) pipeline").n | tonumber | . > 1.34 and . < 1.42'
}

command -v sqlite3 >/dev/null || skip_all "no sqlite3 here"
differ finds_what_is_not_among_the_busiest
[ -z "${BEAMTOP_CHECK:-}" ] || differ finds_the_gateways_faults
run_on_releases
