#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# `beamtop trace` on real nodes: what it prints, how it ends, with which code, and that the node, asked
# after each of them, has nothing left. The load is batch_load.erl. What a trace does under its caps,
# traces.erl and trace_caps.erl say.
# shellcheck disable=SC1091,SC2154,SC2317
set -u
. "$(dirname "$0")/../tap.sh"

load=batch_load
. "$(dirname "$0")/releases.sh"

# ---- a trace

# begin WORDS…: its output comes to $work/out, what it says to $work/err; ends CODE waits for it.
begin() {
    rm -f "$work/out" "$work/err" # of what is waited for, the one before had some, too
    asks "$@" &
    trace_pid=$!
}
asks() {
    exec "$beamtop" trace "$node" "$@" --no-config --cookie-file "$work/cookie" --timeout 30 >"$work/out" 2>"$work/err"
}

ends() {
    wait "$trace_pid"
    ends_with "$1" $?
}

# begins_until FACT WORDS…: one that does not end by itself.
begins_until() {
    fact=$1
    shift
    rm -f "$work/out" "$work/err"
    until_armed "$work/err" "$fact" asks "$@" --time 200s --events 10000
    begins=$?
    trace_pid=$armed
    return "$begins"
}
has_printed() { grep -qs '^% batch_load:tick' "$work/out"; }
has_armed_both() { grep -qs '^beamtop: 2 functions' "$work/err"; }

trace() {
    begin "$@"
    wait "$trace_pid"
}

# traced CODE WORDS…: it ends with that code and leaves nothing.
traced() {
    code=$1
    shift
    patient trace "$@"
    ends_with "$code" $? && is_clean
}

# As JSON, each line of it an object.
traced_json() {
    traced "$@" --format json --ascii && jq -c . <"$work/out" >"$work/json" || return 1
    [ "$(wc -l <"$work/out")" = "$(wc -l <"$work/json")" ]
}

lines() { [ "$(grep -E -c -e "$1" "$work/out")" = "$2" ] || { echo "not $2 of '$1' in:"; cat "$work/out"; return 1; }; }

ended='(.[-1].kind == "end") and .[-1].verification.done and .[-1].verification.clean'

# ---- what is printed

# Calls with results, and exactly as many as asked. Of the recursion the first four calls that begin
# with fact(3): it may be armed in the midst of others.
pairs_calls_with_their_results() {
    traced_json 0 'batch_load:tick(_) -> return' 'batch_load:raise -> return' 'batch_load:value -> return' \
        'batch_load:fact(_) -> return' 'batch_load:tail(_) -> return' 'batch_load:hop -> return' \
        'batch_load:landed -> return' --procs batch_load --events 48 --rate 1000 --time 60s || return 1
    # shellcheck disable=SC2016
    fact='([.[] | select(.kind == "call" and .mfa == "batch_load:fact/1")] |
          (map(.args[0] == "3") | index(true)) as $at | .[$at:$at + 4])'
    holds "$ended" && holds '.[-1] | .reason == "events" and .counters.shown == 48 and .elapsed_ms > 0' &&
        holds '([.[] | select(.kind == "call") | .id] | length) == 48' &&
        holds '[.[] | select(.kind == "call") | .id] == ([.[] | select(.kind == "return" or .kind == "exception") | .id] | sort)' &&
        holds 'all(.[:-1][]; .wall_us > 1500000000000000 and (.mono_ns | type) == "number")' &&
        holds '.[-1].patterns | length == 7 and all(.[]; .shown > 0) and (map(.shown) | add) == 48' &&
        holds '[.[] | select(.mfa == "batch_load:raise/1" and .kind == "exception")] |
               length > 0 and all(.[]; .class == "error" and (.result | startswith("{oops,")))' &&
        holds '[.[] | select(.mfa == "batch_load:value/1" and .kind == "return")] |
               length > 0 and all(.[]; .class == null and .result == "{error,badarg}")' &&
        holds "$fact | map(.depth) == [0, 1, 2, 3]" &&
        holds "($fact | map(.id)) as \$ids | map(select(.kind == \"return\" and (.id as \$id | \$ids | index(\$id) != null))) |
               map(.result) | sort == [\"1\", \"1\", \"2\", \"6\"]" &&
        holds '[.[] | select(.kind == "return" and .mfa == "batch_load:tail/1")] | length > 2 and all(.[]; .result == "done")' &&
        holds '[.[] | select(.kind == "return" and .mfa == "batch_load:hop/1")] | length > 0 and all(.[]; .result == "landed")'
}

# Before OTP 27 the VM reports a call that was killed. One may live longer than the second that a trace
# waits for it.
tells_calls_that_were_killed() {
    traced_json 0 'batch_load:doomed(_) -> return' --events 2 --time 30s || return 1
    holds '[.[] | select(.kind == "call")] | length == 2' &&
        if [ "$1" -lt 27 ]; then
            holds '[.[] | select(.kind == "exception")] | length > 0 and all(.[]; .result == "killed")' &&
                holds '([.[] | select(.kind == "exception")] | length) + .[-1].counters.not_returned == 2'
        else
            holds '.[-1].counters.not_returned == 2'
        fi
}

prints_text_in_either_syntax() {
    traced 0 'batch_load:tick(_) -> return' 'batch_load:raise -> return' --procs batch_load --events 4 || return 1
    lines '^% batch_load:(tick|raise)\([0-9]+\)$' 4 && says '^% batch_load:tick/1 -> \{ok,' && says ' !! error:\{oops,[0-9]+\}' &&
        says '^% done, events: 4 of 4$' && says '^% 2 functions, ' &&
        says '^% verified after .*: nothing left on the node' &&
        told 'beamtop: 2 functions, batch_load \(1\)' &&
        traced 0 ':batch_load.value(_) -> return' --syntax elixir --events 1 || return 1
    says '^% :batch_load\.value\([0-9]+\)$' && says '-> \{:error, :badarg\}$'
}

# Beside the objects, for the reader: what is armed, when it is. Messages are not counted before.
tells_what_is_armed() {
    traced 0 'send(batch_echo, _)' --events 1 &&
        told '^beamtop: messages \(not counted before\), all processes \([0-9]+\)$' &&
        traced_json 0 'batch_load:tick(_)' 'receive({pong, _})' --dry-run --procs batch_load &&
        told '^beamtop: 1 function and messages \(not counted before\), batch_load \(1\), (about [0-9]+ calls/s|no call in [0-9]+ ms)$' &&
        holds 'length == 1 and .[0].reason == "not_started"' &&
        holds '.[-1].preflight | .functions == 1 and .processes == 1 and (.functions_capped | not) and
               (.calls_per_s | type) == "number" and (.expensive | not)' &&
        traced_json 0 'receive({pong, _})' --dry-run && told '^beamtop: messages \(not' &&
        holds '.[-1].preflight | .functions == 0 and .calls_per_s == null and .load == null' || return 1
    # Those of docs/json.md, and the two that its `end` names as text.
    { documented "\`preflight\` of \`end\`"; printf '%s\n' others why_none; } | sort >"$work/documented"
    jq -r '.preflight | keys[]' "$work/json" | sort -u | diff - "$work/documented"
}

takes_every_cap() {
    traced_json 0 'batch_load:big -> return' --time 60s --events 3 --rate 100 --window 4 \
        --window-bytes 8KiB --term-size 128 --bytes 3KiB --heap 32MiB --functions 5 --processes 50 || return 1
    holds '.[-1].caps == {"time": 60000, "events": 3, "rate": 100, "window": 4, "window-bytes": 8192,
               "term-size": 128, "bytes": 3072, "heap": 33554432, "functions": 5, "processes": 50}' &&
        holds '.[-1] | .reason == "events" and .counters.shown == 3 and .counters.truncated == 3' &&
        holds '.[0] | .truncated and .full_bytes > 50000 and (.args | tostring | length) < 1500 and
               (.args | tostring | contains("…"))' &&
        traced 1 'batch_load' --functions 2 && told 'a trace takes 2: narrow the pattern, or raise' &&
        traced 1 'batch_load:tick' --procs 'call:/batch_load/' --processes 2 &&
        told 'none among the first 2 processes; more were not looked at'
}

takes_the_caps_of_the_configuration() {
    printf 'set trace-batch-events 3\nset trace-syntax elixir\nset trace-time 90s\nset trace-time 1h\n' >"$work/conf"
    configured() {
        "$beamtop" trace "$node" ':batch_load.tick(_)' --config "$work/conf" --cookie-file "$work/cookie" --timeout 30 \
            --format json "$@" >"$work/out" 2>"$work/err"
    }
    for words in '' '--events 2'; do
        # shellcheck disable=SC2086
        patient configured $words || return 1
        [ -n "$words" ] || holds '.[-1] | .caps.events == 3 and .caps.time == 90000 and .counters.shown == 3' &&
            told 'conf:4:16: .*from 1 ms to 600 s' || return 1
    done
    holds '.[-1].counters.shown == 2' && is_clean
}

# Keys in the tables of docs/json.md that have this title.
documented() {
    awk -v title="### $1" '/^### / { on = $0 == title } on && /^\| `/ { gsub(/[`|]/, ""); print $1 }' \
        "$BEAMTOP_SRCDIR/docs/json.md"
}

# has_keys KIND TITLE MORE…: the lines of that kind have the keys that are documented.
has_keys() {
    kind=$1 title="\`$2\` of \`trace\`"
    shift 2
    { documented "Every event of \`trace\`"; documented "$title"; printf '%s\n' schema kind node "$@"; } |
        sort -u >"$work/documented"
    jq -c "select(.kind == \"$kind\") | keys" "$work/json" | sort -u >"$work/keys"
    [ "$(wc -l <"$work/keys")" = 1 ] && jq -r '.[]' "$work/keys" | diff - "$work/documented"
}

prints_the_keys_that_are_documented() {
    traced_json 0 'batch_load:tick(_) -> return' 'batch_load:raise -> return' 'send(batch_echo, _)' \
        'receive({pong, _})' --events 12 --time 60s --procs batch_load &&
        has_keys call call args stack && has_keys return "return\` and \`exception" &&
        has_keys exception "return\` and \`exception" && has_keys send send && has_keys receive receive &&
        traced_json 0 'batch_load:fact(_)' --rate 3 --on-rate shed --time 1s --procs batch_load &&
        holds '[.[] | select(.kind == "lost")] | length > 0 and (map(.lost) | add) > 0' &&
        holds '.[-1].counters.missed > 0' && has_keys lost lost
}

# On a busy machine nothing may be called in half a second.
counts_without_showing_calls() {
    for seconds in 0.5 2 8; do
        traced_json 0 'batch_load:fact(_) -> count' 'batch_load:slow -> time' --time "${seconds}s" || return 1
        holds "$ended" && holds 'length == 1' && holds '.[-1].reason == "time"' &&
            holds ".[-1].elapsed_ms >= $seconds * 900" || return 1
        [ "$seconds" != 0.5 ] || holds '.[-1].reason_text == "time: 500 ms"' || return 1
        ! holds '[.[-1].functions[] | select(.calls > 0) | .mfa] | sort == ["batch_load:fact/1", "batch_load:slow/1"]' || break
    done
    holds '.[-1].functions | map(select(.calls > 0)) | length == 2' &&
        traced 0 'batch_load -> time' --time "${seconds}s" && says '^% +[0-9,]+ : +[0-9.]+ : +[0-9.]+ : batch_load:fact/1$'
}

# ---- who, how much, how long

traces_the_processes_that_are_chosen() {
    traced_json 0 'batch_load:tick' --events 3 --procs 'call:/^batch_load:helper/' &&
        holds 'all(.[:-1][]; .args[0] | startswith("{helper,"))' &&
        traced_json 0 'batch_load:tick' --events 3 --procs new &&
        holds 'all(.[:-1][]; .args[0] | startswith("{child,"))' &&
        traced_json 0 'batch_load:tick' --events 9 --procs batch_load+children &&
        holds '[.[:-1][] | .args[0]] | any(.[]; startswith("{child,")) and any(.[]; startswith("{") | not) and
               all(.[]; startswith("{helper,") | not)' &&
        traced_json 0 'batch_load:hop' --procs app:kernel --dry-run &&
        holds '.[-1].preflight.processes > 5'
}

# However the budget runs out, in the midst of a turn too. Calls between the counts and the opening of
# the budget may be missed or not: then it says that.
has_seen_or_missed_each_call() {
    begins_until has_armed_both 'batch_load:paced(_) & batch_load:paused(_)' --rate 5000 --bytes 16MiB --format json &&
        order paced || return 1
    kill -INT "$trace_pid"
    ends 0 && is_clean || return 1
    holds '.[-1].patterns | map(.calls) == [3200, 800] and
           all(.[]; .seen + .missed == .calls or .missed_at_most and .seen + .missed > .calls)' &&
        holds '([.[] | select(.kind == "lost") | .lost] | add // 0) >= .[-1].counters.missed'
}

# Unless somebody says otherwise.
waits_beyond_the_rate_for_rare_results() {
    traced_json 0 'batch_load:fact(_) -> returns 7' --rate 10 --time 500ms && holds '.[-1].reason == "time"' &&
        traced_json 0 'batch_load:fact(_)' --slower 9s --rate 10 --time 500ms && holds '.[-1].reason == "time"' &&
        traced_json 0 'batch_load:fact(_) -> returns 7' --rate 10 --on-rate stop --time 60s &&
        holds '.[-1].reason == "rate"'
}

# ---- ends

ends_when_interrupted() {
    for signal in INT TERM; do
        begins_until has_printed 'batch_load:tick' || return 1
        kill -s "$signal" "$trace_pid"
        [ "$signal" = INT ] && wanted=0 || wanted=143
        ends "$wanted" && says '^% done, stopped' && says '^% verified after .*: nothing left on the node' && is_clean || return 1
    done
}

ends_when_nobody_reads() {
    for _ in 1 2 3 4 5 6 7 8; do
        ! nobody_reads || return 0
        was_late "$work/err" || return 1
    done
    return 1
}

nobody_reads() {
    rm -f "$work/trace_pid" "$work/out"
    {
        "$beamtop" trace "$node" 'batch_load:tick' --time 200s --events 10000 --format json --no-config \
            --cookie-file "$work/cookie" --timeout 30 2>"$work/err" &
        echo $! >"$work/trace_pid"
        wait
    } | head -n 1 >"$work/out" &
    pipe_pid=$!
    wait_until 60 test -s "$work/out" || { echo "nothing is read"; return 1; }
    wait_until 90 has_ended "$(cat "$work/trace_pid")" || { echo "it goes on"; return 1; }
    wait "$pipe_pid"
    grep -q '"kind":"call"' "$work/out" && is_clean && ! grep -i 'broken pipe' "$work/err"
}

says_that_the_node_went_away() {
    begins_until has_printed 'batch_load:tick' || return 1
    stop_node
    ends 4 && says '^% done, connection lost: ' && says '^% not verified: '
}

# ---- what is refused

# refuses TEXT WORDS…: a suggestion is worth no more than a second to the program; without it the trace
# is refused all the same.
refuses() {
    text=$1
    shift
    for _ in 1 2 3 4 5; do
        trace "$@"
        ends_with 1 $? || return 1
        told "$text" >/dev/null && return 0
    done
    told "$text"
}

# A dry run says what the run would say, with its code; asking makes no atom.
says_why_there_is_nothing_to_trace() {
    refuses 'nothing to trace: batch_load:nothing: batch_load has no function nothing' 'batch_load:nothing' &&
        refuses 'does not take 7 arguments: there is' 'batch_load:tick/7' &&
        refuses 'the node has no module no_such_module_here' 'no_such_module_here' || return 1
    for dry in '' --dry-run; do
        # shellcheck disable=SC2086
        refuses 'the node does not know the atom batch_laod, so nothing there can match it; did you mean batch_load\?$' \
            'batch_load:tick({batch_laod, _})' $dry && told '^                     \^$' &&
            refuses ':batch_load.tick\(:none_here\): the node does not know the atom :none_here, ' \
                'batch_load:hop' ':batch_load.tick(:none_here)' $dry || return 1
    done
    refuses 'does not know the atom surely_none_here' 'batch_load:tick(_) -> returns {surely_none_here, _}' && is_clean
}

says_why_nobody_is_traced() {
    refuses 'no process to trace: no process is registered as batch_laod; did you mean batch_load\?' \
        'batch_load:tick' --procs batch_laod &&
        refuses 'no running application krenel; did you mean app:kernel\?' 'batch_load:tick' --procs app:krenel &&
        refuses 'did you mean app:kernel, the application\?' 'batch_load:tick' --procs kernel &&
        refuses 'the application stdlib has no process: ' 'batch_load:tick' --procs app:stdlib &&
        refuses 'call:/\^surely_none/ matches no initial call; there is [a-z_]+:.*/[0-9].*, for example' \
            'batch_load:tick' --procs 'call:/^surely_none/' --dry-run &&
        refuses 'never traced' 'batch_load:tick' --procs net_kernel && is_clean
}

# heated ORDER CASE: while another process calls as fast as it can.
heated() {
    order "$1" || return 1
    "$2"
    got=$?
    order cold && return "$got"
}

# Each time: between two bursts there is nothing to see for most of the time.
refuses_what_comes_in_bursts() { heated bursts refuses_bursts; }

refuses_bursts() { traced 5 'batch_load:hot' && traced 5 'batch_load:hot'; }

refuses_what_is_expensive_unless_it_is_forced() { heated hot refuses_what_is_expensive; }

refuses_what_is_expensive() {
    traced 5 'batch_load:hot' && told 'calls/s would cost the node .* --force' &&
        traced 5 'batch_load:hot' --dry-run --format json && told 'about [0-9,]+ calls/s would cost the node' &&
        holds 'length == 1 and .[0].kind == "end" and .[0].reason == "not_started" and .[0].preflight.expensive' &&
        traced_json 0 'batch_load:hot(_) -> return' --force --events 10 &&
        holds "$ended" && holds '[.[] | select(.kind == "call")] | length == 10' &&
        holds '.[-1] | .reason == "events" and .counters.shown == 10' &&
        traced_json 0 'batch_load:hot' --force --events 1000 --rate 50 &&
        holds '.[-1] | .reason == "rate" and .counters.shown <= 50 and .counters.seen < 400'
}

# Before OTP 27 all tracers share one place; later each has its own.
leaves_the_traces_of_others_alone() {
    order foreign || return 1
    [ "$1" -lt 27 ] && wanted=5 || wanted=0
    patient trace 'batch_load:tick' --events 1
    ends_with "$wanted" $? || return 1
    patient trace 'batch_load:tick' --dry-run
    ends_with "$wanted" $? && told '1 breakpoint; batch_load:never/0' || return 1
    is_left '[{points,[{batch_load,never,0}]}]' && order own && is_clean
}

# ---- all of them

differ pairs_calls_with_their_results tells_calls_that_were_killed has_seen_or_missed_each_call \
    leaves_the_traces_of_others_alone
same traces_the_processes_that_are_chosen ends_when_interrupted ends_when_nobody_reads \
    refuses_what_is_expensive_unless_it_is_forced refuses_what_comes_in_bursts says_that_the_node_went_away
once prints_text_in_either_syntax tells_what_is_armed takes_every_cap takes_the_caps_of_the_configuration \
    prints_the_keys_that_are_documented counts_without_showing_calls waits_beyond_the_rate_for_rare_results \
    says_why_there_is_nothing_to_trace says_why_nobody_is_traced
run_on_releases
