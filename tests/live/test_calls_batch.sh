#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# `beamtop calls` on real nodes: exact counts, times, refusals, ends of any kind; and
# the node, asked after each of them, has nothing left. The load is calls_load.erl.
# shellcheck disable=SC1091,SC2154,SC2317
set -u
. "$(dirname "$0")/../tap.sh"

load=calls_load
. "$(dirname "$0")/releases.sh"

calls() { "$beamtop" calls "$node" "$@" --cookie-file "$work/cookie" --timeout 30 >"$work/out" 2>"$work/err"; }

# beside WORDS…: beside us, until it says its estimate, as it does in text form before it counts.
beside() {
    : >"$work/err" # what was said before must not be taken for this
    "$beamtop" calls "$node" "$@" --cookie-file "$work/cookie" --timeout 30 >"$work/out" 2>"$work/err" &
    run_pid=$!
    wait_until 60 grep -q 'calls/s: counting costs' "$work/err" || { cat "$work/err"; return 1; }
}

# begin WORDS…: beside us, until the window stands, as the node says; mark/1 was called in it then.
# Such a window is as long as a slow machine may need, and is ended by us.
# By --force, since the second look of the estimate would be taken for the window.
begin() { beside --force "$@" && order counting; }

end_early() { kill -INT "$run_pid" && finish_run 0 && says 'stopped early'; }

# finish_run CODE
finish_run() {
    wait "$run_pid"
    ends_with "$1" $?
}

# ---- what it shows

counts_every_call() {
    begin --for 40s || return 1
    order go && end_early && says '^calls_load:leaf/1  *12,345 ' &&
        says '^calls_load:loop/2  *12,346 ' && says '^calls_load  ' && says '^stdlib  ' &&
        told 'nothing left on the node' && is_clean
}

# What a recording and its report have is what was called in its window, which ends with it.
records_every_call() {
    rm -f "$work/calls.btr"
    XDG_STATE_HOME=$work "$beamtop" record "$node" --cookie-file "$work/cookie" --timeout 30 -o "$work/calls.btr" -i 1 \
        --calls calls_load --window 40s --every 60s >"$work/out" 2>"$work/err" &
    run_pid=$!
    order lasting || { cat "$work/err"; return 1; }
    order go || return 1
    kill -INT "$run_pid"
    finish_run 0 || return 1
    "$beamtop" report "$work/calls.btr" --format json >"$work/out" 2>"$work/err"
    holds '.[0].calls.functions | map({key: "\(.function)/\(.arity)", value: .calls}) | from_entries |
           .["leaf/1"] == 12345 and .["loop/2"] == 12346' && is_clean
}

# Keys in the tables of docs/json.md that have this title.
documented() {
    awk -v title="### $1" '/^### / { on = $0 == title } on && /^\| `/ { gsub(/[`|]/, ""); print $1 }' \
        "$BEAMTOP_SRCDIR/docs/json.md"
}

same_keys() {
    jq -r "$1 | keys[]" "$work/out" | sort -u | tr '\n' ' ' >"$work/found"
    { cat; } | sort -u | tr '\n' ' ' | cmp - "$work/found" || { echo "$1 has: $(cat "$work/found")"; return 1; }
}

# On a busy machine a window may end before anything is called in it, or its times come too late.
has_two_windows() {
    calls calls_load app:stdlib --for 300ms --windows 2 --time --format json
    ends_with 0 $? && holds 'length == 2 and all(.[]; .timed_why == null
        and any(.functions[]; .function == "mark" and .own_us >= 0))
        and any(.[1].functions[]; .function == "mark" and .change != null)'
}

prints_a_window_an_object() {
    one_of 10 has_two_windows || return 1
    { printf '%s\n' schema node timed_why lost_modules excluded cost functions modules applications
      documented "A window of \`calls\`"; } | same_keys . || return 1
    documented "\`functions\` of \`calls\`" | same_keys '.functions[0]' || return 1
    documented "\`modules\` of \`calls\`" | same_keys '.modules[0]' || return 1
    documented "\`applications\` of \`calls\`" | same_keys '.applications[0]' || return 1
    documented "\`cost\` of \`calls\`" | same_keys '.cost' || return 1
    holds '.[1].window == 2 and .[0].schema == "beamtop.calls/2"' &&
        holds 'all(.[]; .interval_us >= 300000 and .calls == ([.applications[].calls] | add))' && is_clean
}

# A process that never waits makes counting expensive, as far as the machine gives it a core: then a
# window is shorter, and where that is not enough, its function is not counted. By --force all of it.
counts_beside_a_busy_process() {
    order spinning || return 1
    for thread in "/proc/$node_pid/task"/*; do
        renice -n -15 -p "${thread##*/}" >"$work/renice" 2>&1
    done
    one_of 20 counted_shorter && one_of 20 counted_without && calls --force --for 500ms --format json &&
        holds '.[0].asked_us == null and .[0].excluded == [] and .[0].functions[0].function == "turn"'
    busy=$?
    order still && [ "$busy" = 0 ] && is_clean
}

# Of a short window a fast machine leaves the function out instead.
counted_shorter() {
    calls --for 10s
    ends_with 0 $? && says '^shortened from 10 s: counting may cost 10% of the node' && says '^calls_load:turn/1' &&
        told 'of the node and slows these calls; counted for [0-9.]+ of 10 s$'
}

counted_without() {
    calls --for 100ms --format json
    ends_with 0 $? && holds '.[0].excluded[0] == "calls_load:turn/1" and .[0].functions_lost == 0' &&
        holds '.[0].functions | length > 0 and all(.[]; .function != "turn")'
}

# ---- how it ends

ends_when_terminated_between_windows() {
    beside --for 100ms --every 30s || return 1
    wait_until 60 grep -q '^window 1' "$work/out" || return 1
    kill -TERM "$run_pid"
    finish_run 143 && is_clean
}

leaves_nothing_when_killed() {
    for words in '' '--time'; do
        # shellcheck disable=SC2086
        begin --for 40s $words || return 1
        kill -9 "$run_pid"
        wait "$run_pid"
        is_clean || return 1
    done
}

ends_when_nobody_reads() {
    "$beamtop" calls "$node" --for 100ms --windows 0 --format csv --cookie-file "$work/cookie" --timeout 30 2>"$work/err" |
        head -n 1 >"$work/out"
    wait_until 60 is_clean
}

counts_nothing_when_dry() {
    calls --dry-run
    ends_with 0 $? && told '[0-9]+ functions, about [0-9]+ calls/s' && [ ! -s "$work/out" ] && is_clean
}

stays_off_what_others_have_armed() {
    order foreign || return 1
    calls calls_load --for 200ms
    code=$?
    if [ "$1" -lt 27 ]; then
        ends_with 5 "$code" && told 'breakpoint on calls_load:mark/1' || return 1
    else
        ends_with 0 "$code" || return 1
    fi
    is_left '[{points,[{calls_load,mark,1}]}]' && order alone && is_clean
}

refuses_errors() {
    calls 'lists:map(_, _)'
    ends_with 2 $? && told 'whole functions' && told '^ +\^$' || return 1
    calls calls_load --procs new
    ends_with 2 $? && told 'for --time and --memory' || return 1
    calls calls_load:nothing
    ends_with 1 $? && told 'calls_load:nothing: no such function' || return 1
    if [ "$1" -lt 26 ]; then
        calls calls_load --memory
        ends_with 5 $? && told 'OTP 26 or later' || return 1
    fi
    is_clean
}

# ---- all of them

differ counts_every_call leaves_nothing_when_killed stays_off_what_others_have_armed
same records_every_call counts_beside_a_busy_process ends_when_terminated_between_windows \
    ends_when_nobody_reads
once prints_a_window_an_object counts_nothing_when_dry refuses_errors
run_on_releases
