#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# The model case: seven recordings of the gateway demo (three configurations of its logger, two of them
# again, calls counted, the healthy one) lead to what is wrong with it, with the known numbers, and
# the healthy one has nothing to change.
# BEAMTOP_REPORT_RELEASES: on which OTP releases (`host` is the machine's own: the default); of those in
# BEAMTOP_REPORT_LOGGERS (27, whose VM polls for who waits for a process that writes) only the logger.
# shellcheck disable=SC1091,SC2154,SC2317
set -u
. "$(dirname "$0")/../tap.sh"
. "$BEAMTOP_SRCDIR/tests/record.sh"

demo=$BEAMTOP_SRCDIR/demo/run.sh
BEAMTOP_DEMO_APP=gateway
export BEAMTOP_DEMO_APP
sessions='sync-1 sync-2 debug async-1 async-2 async-calls healthy'

# As many schedulers wherever it runs: findings go by their number. After a standstill each of some twelve
# processes is ready at once, which is not contention yet.
is_started() { "$demo" start -gateway scenario "$1" +S 16:16 >"$work/env" && . "$work/env"; }
is_stopped() { "$demo" stop; }

# records LABEL WHAT N [OPTION…]: until there are N of these.
records() {
    label=$1 what=$2 n=$3
    shift 3
    record_of "$BEAMTOP_DEMO_NODE" --cookie-file "$BEAMTOP_DEMO_COOKIE_FILE" --timeout 60 -o "$work/$label" \
        --budget 100 --for 600s --label "$label" "$@" &
    recorder=$!
    until_recorded "$recorder" "$what" "$n" || return 1
    record_of stop
    wait "$recorder"
}

is_recorded() { records "$1" ticks 9 --interval 0.5; }

# Three windows at least: fewer do not tell changes of functions from noise.
is_recorded_with_calls() { records "$1" windows 4 --interval 1 --calls all --window 2s --every 4s; }

# Of two spans of the same thing one in a hundred pairs differs by more than noise.
is_recorded_as_before() {
    for _ in 1 2 3 4; do
        rm -f "$work/$1"
        is_recorded "$1" || return 1
        all=$sessions
        sessions="$2 $1"
        report >"$work/all"
        says_not_that "$1" "$2" 'Elixir\.Logger'
        differs=$?
        sessions=$all
        [ "$differs" -ne 0 ] || return 0
    done
    return 0 # the report of all says it again
}

all_are_recorded() {
    run is_started sync && run is_recorded sync-1 && run is_recorded_as_before sync-2 sync-1
    is_stopped
    run is_started debug && run is_recorded debug
    is_stopped
    run is_started async && run is_recorded async-1 && run is_recorded_as_before async-2 async-1 &&
        run is_recorded_with_calls async-calls
    is_stopped
    run is_started healthy && run is_recorded_with_calls healthy
    is_stopped
}

# ---- one session, and all of them: each report once

on_one_line() { tr '\n' ' ' | tr -s ' '; }

# shellcheck disable=SC2086
report() { (cd "$work" && "$beamtop" report $sessions "$@"); }

are_reported() {
    for label in $sessions; do
        "$beamtop" report "$work/$label" | on_one_line >"$work/$label.report" &&
            "$beamtop" report "$work/$label" --format json >"$work/$label.json" || return 1
    done
    report >"$work/all" && report --format json >"$work/all.json"
}

tells() { grep -F -e "$2" "$work/$1.report"; }
tells_idle_schedulers() {
    for label in sync-1 sync-2 debug async-1 async-2 async-calls healthy; do
        ! tells "$label" '[info] Schedulers are mostly idle' || return 0
    done
    return 1
}
tells_not() { ! tells "$1" "$2"; }

# While it counts, beamtop evaluates only the window itself.
counts_hardly_a_call_of_ours() {
    "$beamtop" calls "$work/$1" --windows 9 --format csv >"$work/windows" &&
        awk -F, 'NR > 1 { all += $9 } $5 ~ /^(erl_eval|orddict|erl_lint)$/ { ours += $9 }
                 END { print all, ours; exit !(all > 0 && ours < all * 0.02) }' "$work/windows"
}

# is_near GOT WANT
is_near() {
    echo "$1, expected $2"
    awk -v got="$1" -v want="$2" 'BEGIN { exit !(got > want * 0.94 && got < want * 1.06) }'
}

# Shares and ratios of the demo are known; a busy machine may move the last digit.
tells_near() {
    got=$(grep -oE "$3" "$work/$1.report" | grep -oE '[0-9]+(\.[0-9]+)?' | head -n 1)
    is_near "$got" "$2"
}

has_a_column_for_each() {
    # A function with a long name leaves no room for theirs: then they go by letters.
    grep -E '^ +(sync-1 +sync-2 +debug +async-1 +async-2 +async-calls +healthy|A +B +C +D +E +F +G)$' "$work/all" &&
        grep -E '^  duration( +[0-9.]+ ?s){7}$' "$work/all" && grep -E '^  run queue( +[0-9.]+){7}$' "$work/all" &&
        grep -F '"schema":"beamtop.diff/2"' "$work/all.json"
}

# shares SECTION ROW: its numbers in each session.
shares() {
    sed -n "/^Share of reductions by $1/,/^$/p" "$work/all" | grep -F "  $2 " | grep -oE '[0-9.]+ ?%' | tr -d ' %' | on_one_line
}

# The logger: about half of the programs' work at info, worse at debug, gone where nobody waits for it.
shows_what_the_logger_does() {
    got=$(shares 'registered name' 'Elixir.Logger (logger)')
    echo "shares: $got"
    echo "$got" | awk '{ exit !(NF == 7 && $1 > 25 && $2 > 25 && $1 < 65 && $2 < 65 && $3 > $1 * 1.2 && $3 > $2 * 1.2 &&
                                $4 < 5 && $5 < 5 && $6 < 5 && $7 < 5) }'
}

shares_by_tick() {
    for label in sync-1 "$1"; do
        "$beamtop" export "$work/$label" owners 2>/dev/null | grep -F 'Elixir.Logger'
    done
}

# changes TO FROM: what is more than noise.
changes() { sed -n "/^$1, after $2\$/,/^\$/p" "$work/all"; }
says_that() { changes "$1" "$2" | on_one_line | grep -E -e "$3" || { changes "$1" "$2"; shares_by_tick "$1"; false; }; }
says_not_that() { changes "$1" "$2" | grep . && ! says_that "$1" "$2" "$3"; }

# The table of findings: a row of one rule, from left to right.
finds() {
    row=$(sed -n '/^Findings/,$p' "$work/all" | grep -E "^  $1  " | on_one_line)
    echo "row:$row"
    echo "$row" | grep -qE "^ $1 $2 ?\$"
}

# finds_often RULE N VALUE: in so many of the recordings at least; what else runs on the host hides what is
# idle in others.
finds_often() {
    row=$(sed -n '/^Findings/,$p' "$work/all" | grep -E "^  $1  " | on_one_line)
    echo "row:$row"
    [ "$(echo "$row" | tr ' ' '\n' | grep -cx "$3")" -ge "$2" ]
}

has_to_act_on() { [ "$(grep -o '"severity":"act"' "$work/$2.json" | wc -l)" -eq "$1" ]; }

fails_in_CI() {
    "$beamtop" diff "$work/async-1" "$work/$1" --fail-on 'name:Elixir.Logger>10%' >/dev/null
    [ $? -eq 1 ]
}

passes_in_CI() { "$beamtop" diff "$work/sync-1" "$work/healthy" --fail-on finding:fix >/dev/null; }

is_whole_in() {
    report --format "$1" >"$work/report.$1" && for label in $sessions; do
        grep -qF -e "$label" "$work/report.$1" || return 1
    done
}

the_model_case() {
    all_are_recorded
    run are_reported
    run has_a_column_for_each
    run shows_what_the_logger_does
    run says_not_that sync-2 sync-1 'Elixir\.Logger'
    run says_that debug sync-2 'share of name Elixir\.Logger [0-9.]+ ?% [0-9.]+ ?% \+[0-9.]+ points'
    run says_that async-1 debug 'share of name Elixir\.Logger [0-9.]+ ?% [0-9.]+ ?% -[0-9.]+ points'
    run says_not_that async-2 async-1 'Elixir\.Logger'
    run says_that healthy async-calls 'share of name gateway_db_1 [0-9.]+ ?% [0-9.]+ ?% -[0-9.]+ points'
    run says_that healthy async-calls 'calls/s of ets:lookup/2 [0-9]+ [0-9.]+k? \+[0-9.]+ ?%'
    run finds sync_logger 'fix [0-9.]+ ?% fix [0-9.]+ ?% fix [0-9.]+ ?%'
    run finds_often headroom 4 info
    run finds repository_lookup '– – – – – fix'
    for label in sync-1 sync-2 debug; do
        run tells "$label" '[fix] Logger Logger '
        run fails_in_CI "$label"
    done
    run counts_hardly_a_call_of_ours async-calls
    run tells async-calls '[fix] gateway_schemas queries the database on every lookup: '
    run tells_near async-calls 87 'Repositories: [0-9.]+% reads'
    for label in async-calls healthy; do
        run tells_near "$label" 1.38 '[0-9.]+ pipeline stages per operation: structural'
    done
    run tells_idle_schedulers
    run has_to_act_on 1 sync-1
    run has_to_act_on 1 async-calls
    run has_to_act_on 0 healthy
    run tells_not healthy '[fix]'
    run passes_in_CI
    run is_whole_in markdown
    run is_whole_in html
}

# The VM's own work for the logger must not make it look smaller the more it does.
gets_worse_at_debug() {
    got=$(shares 'registered name' 'Elixir.Logger (logger)')
    echo "shares: $got"
    echo "$got" | awk '{ exit !(NF == 2 && $1 > 25 && $1 < 65 && $2 > $1 * 1.2) }'
}

tells_what_the_VM_does() { grep -F 'erts_dirty_process_signal_handler' "$work/all"; }

the_logger_alone() {
    sessions='sync-1 debug'
    run is_started sync && run is_recorded sync-1
    is_stopped
    run is_started debug && run is_recorded debug
    is_stopped
    run are_reported
    run gets_worse_at_debug
    run tells_what_the_VM_does
}

# on_release OTP FUNCTION: the demo of that release.
on_release() {
    otp=$1
    reason=
    BEAMTOP_DEMO_OTP=
    if [ "$otp" != host ]; then
        BEAMTOP_DEMO_OTP=$otp
        reason=$("$BEAMTOP_SRCDIR/tests/live/otp.sh" --root "$otp" 2>&1) || {
            skip "${2}_on_OTP_$otp" "$reason"
            return 0
        }
    fi
    BEAMTOP_DEMO_DIR=$work/gateway-$otp
    export BEAMTOP_DEMO_OTP BEAMTOP_DEMO_DIR
    # shellcheck disable=SC2086
    (cd "$work" && rm -f $sessions)
    "$2"
    [ -z "$reason" ] || rm -rf "${reason:?}$work"
}

trap 'is_stopped >/dev/null 2>&1; rm -rf "$work"' EXIT
trap 'exit 130' HUP INT TERM PIPE
for otp in ${BEAMTOP_REPORT_RELEASES-host}; do
    on_release "$otp" the_model_case
done
for otp in ${BEAMTOP_REPORT_LOGGERS-27}; do
    on_release "$otp" the_logger_alone
done
finish
