#!/bin/sh
# Findings on real nodes of every release: a recording sees what is not among the busiest, tells whose
# the work is, and knows what its rules need; the gateway's synchronous logger is found on each. The
# load is findings_load.erl.
# shellcheck disable=SC1091,SC2034,SC2154,SC2317
set -u
. "$(dirname "$0")/../tap.sh"

load=findings_load
. "$(dirname "$0")/releases.sh"

# Seven seconds: what leads is asked for at the first tick, and watched from the second on.
is_recorded() {
    rm -f "$work/recording"
    "$beamtop" record "$node" --cookie-file "$work/cookie" -o "$work/recording" --interval 0.5s \
        --budget 20 --for 7s >"$work/out" 2>"$work/err" &&
        "$beamtop" report "$work/recording" --format json >"$work/out" 2>"$work/err" && return 0
    cat "$work/err"
    return 1
}

finds_an_idle_mailbox() {
    holds '.[0].findings | map(select(.rule == "mailbox_growth")) | length == 1
           and (.[0].title | test("^The mailbox of findings_idle grows"))'
}

finds_who_holds_binaries() {
    holds '.[0].findings | map(select(.rule == "binary_holders")) | length == 1
           and (.[0].evidence[0] | .value >= 40000000 and (.text | test("findings_holder")))'
}

tells_the_supervisor() {
    holds '.[0].owners.supervisor | .[0].owner == "findings_sup" and .[0].share > 0.1'
}

knows_what_rules_need() {
    holds '[.[0].not_known[].rule] - ["repository_lookup", "read_write", "pipeline_overhead",
           "hot_reads", "dynamic_repo"] == []'
}

keeps_facts() {
    for fact in binaries ets gc; do
        sqlite3 "$work/recording" "select value from fact where key = '$fact'" >"$work/out" || return 1
        case $fact in
        binaries) holds '.[0].holders[0].name == "findings_holder" and .[0].looked_at > 100' || return 1 ;;
        ets) holds '.[0].tables | length == 10 and all(.[]; .memory_bytes > 0)' || return 1 ;;
        gc) holds '.[0].processes | length > 0 and all(.[]; .minor_gcs_per_s > 0)' || return 1 ;;
        esac
    done
}

# The gateway demo beside, which has an epmd of its own. Its whole case is that of test_report.sh.
finds_the_gateways_faults() {
    (
        BEAMTOP_DEMO_APP=gateway BEAMTOP_DEMO_OTP=$1 BEAMTOP_DEMO_DIR=$work/gateway-$1
        export BEAMTOP_DEMO_APP BEAMTOP_DEMO_OTP BEAMTOP_DEMO_DIR
        trap '"$BEAMTOP_SRCDIR/demo/run.sh" stop' EXIT
        "$BEAMTOP_SRCDIR/demo/run.sh" start -gateway scenario sync >"$work/env" || exit 1
        . "$work/env"
        "$beamtop" record "$BEAMTOP_DEMO_NODE" --cookie-file "$BEAMTOP_DEMO_COOKIE_FILE" \
            -o "$work/gateway" --interval 0.5s --budget 20 --for 6s --calls all --window 2s \
            2>"$work/err" || exit 1
        "$beamtop" report "$work/gateway" --format json >"$work/out"
    ) || { cat "$work/err"; return 1; }
    rm -f "$work/gateway"
    holds '.[0].findings | map(select(.severity == "act") | .rule) | sort
           == ["repository_lookup", "sync_logger"]' &&
        holds '.[0].findings[] | select(.rule == "read_write" and (.title | test("repositories")))
               | .title | test("^8[67]\\.[0-9] % ")' &&
        holds '.[0].findings[] | select(.rule == "pipeline_overhead") | .title | test("^1\\.3[789] ")'
}

command -v sqlite3 >/dev/null || skip_all "no sqlite3 here"
run_on_releases is_recorded finds_an_idle_mailbox finds_who_holds_binaries tells_the_supervisor \
    knows_what_rules_need keeps_facts finds_the_gateways_faults
