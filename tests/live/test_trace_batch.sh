#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# `beamtop trace` on real nodes of every release: what it prints, how it ends, with which code, and
# that the node, asked after each of them, has nothing left. The load is batch_load.erl.
# shellcheck disable=SC1091,SC2154,SC2317
set -u
. "$(dirname "$0")/../tap.sh"

load=batch_load
. "$(dirname "$0")/releases.sh"

# ---- a trace

# trace WORDS…: its output in $work/out, what it said in $work/err.
trace() { "$beamtop" trace "$node" "$@" --no-config --cookie-file "$work/cookie" --timeout 30 >"$work/out" 2>"$work/err"; }

# traced CODE WORDS…: it ends with that code and leaves nothing.
traced() {
    code=$1
    shift
    trace "$@"
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

prints_calls_with_results_and_exactly_as_many_as_asked() {
    traced 0 'batch_load:tick(_) -> return' --events 5 || return 1
    lines '^% batch_load:tick\(' 5 && lines '^% batch_load:tick/1 -> \{ok,' 5 &&
        says '^% done, events: 5 of 5$' && says '^% 1 function, ' && says '^% verified after .*: nothing left on the node' &&
        told 'beamtop: 1 function, all processes'
}

prints_one_object_a_line() {
    traced_json 0 'batch_load:tick(_) -> return' --events 5 || return 1
    holds "$ended" && holds '[.[] | select(.kind == "call")] | length == 5' &&
        holds '[.[] | select(.kind == "return")] | length == 5' &&
        holds '.[-1] | .reason == "events" and .counters.shown == 5 and .elapsed_ms > 0' &&
        holds '[.[] | select(.kind == "call") | .id] == ([.[] | select(.kind == "return") | .id] | sort)' &&
        holds 'all(.[:-1][]; .wall_us > 1500000000000000 and (.mono_ns | type) == "number")'
}

# Beside the objects, for the reader: what is armed, when it is. Messages are not counted before.
tells_what_is_armed() {
    traced 0 'send(batch_echo, _)' --events 1 &&
        told '^beamtop: messages \(not counted before\), all processes \([0-9]+\)$' &&
        traced_json 0 'batch_load:tick(_)' 'receive({pong, _})' --events 2 --procs batch_load &&
        told '^beamtop: 1 function and messages \(not counted before\), batch_load \(1\), (about [0-9]+ calls/s|no call in [0-9]+ ms)$' &&
        holds '.[-1].preflight | .functions == 1 and .processes == 1 and (.functions_capped | not) and
               (.calls_per_s | type) == "number" and (.expensive | not)' &&
        traced_json 0 'receive({pong, _})' --dry-run && told '^beamtop: messages \(not' &&
        holds '.[-1].preflight | .functions == 0 and .calls_per_s == null and .load == null' || return 1
    has_the_keys_of_preflight
}

# Those of docs/json.md, and the two that its `end` names as text.
has_the_keys_of_preflight() {
    { documented "\`preflight\` of \`end\`"; printf '%s\n' others why_none; } | sort >"$work/documented"
    jq -r '.preflight | keys[]' "$work/json" | sort -u | diff - "$work/documented"
}

takes_every_cap() {
    traced_json 0 'batch_load:tick(_) -> return' --time 60s --events 7 --rate 100 --window 4 \
        --window-bytes 8KiB --term-size 128 --bytes 2KiB --heap 8MiB --functions 5 --processes 50 || return 1
    holds '.[-1].caps == {"time": 60000, "events": 7, "rate": 100, "window": 4, "window-bytes": 8192,
               "term-size": 128, "bytes": 2048, "heap": 8388608, "functions": 5, "processes": 50}' &&
        holds '.[-1].reason == "events" and .[-1].counters.shown == 7' &&
        traced 1 'batch_load' --functions 2 && told 'a trace takes 2: narrow the pattern, or raise' &&
        traced 1 'batch_load:tick' --procs 'call:/batch_load/' --processes 2 &&
        told 'none among the first 2 processes; more were not looked at' &&
        traced 2 'batch_load:tick' --heap 64MiB && told 'heap must be between 4.0 MiB and 32.0 MiB' &&
        traced 2 'batch_load:tick' --window 257 && told 'window must be between 1 and 256'
}

# Keys in the tables of docs/json.md that have this title.
documented() {
    awk -v title="### $1" '/^### / { on = $0 == title } on && /^\| `/ { gsub(/[`|]/, ""); print $1 }' \
        "$BEAMTOP_SRCDIR/docs/json.md"
}

has_the_keys_of() {
    {
        printf '%s\n' schema kind node
        documented "Every event of \`trace\`"
        documented "$2"
        shift 2
        [ $# -eq 0 ] || printf '%s\n' "$@"
    } | sort -u | tr '\n' ' ' >"$work/documented"
}

# documents KIND…: the lines of each kind have the keys that are documented.
documents() {
    for kind; do
        case $kind in
        call) has_the_keys_of "$kind" "\`call\` of \`trace\`" args stack ;;
        return | exception) has_the_keys_of "$kind" "\`return\` and \`exception\` of \`trace\`" ;;
        *) has_the_keys_of "$kind" "\`$kind\` of \`trace\`" ;;
        esac
        jq -r "select(.kind == \"$kind\") | keys | join(\" \") + \" \"" "$work/json" | sort -u >"$work/keys"
        tr ' ' '\n' <"$work/keys" | grep . | sort -u | tr '\n' ' ' | cmp - "$work/documented" || {
            echo "$kind has: $(cat "$work/keys"), and documented are: $(cat "$work/documented")"
            return 1
        }
        [ "$(wc -l <"$work/keys")" = 1 ] || return 1
    done
}

prints_the_keys_that_are_documented() {
    traced_json 0 'batch_load:tick(_) -> return' 'batch_load:raise -> return' 'send(batch_echo, _)' \
        'receive({pong, _})' --events 60 --rate 1000 --time 60s --procs batch_load &&
        documents call return exception send receive &&
        traced_json 0 'batch_load:tick(_)' --events 20 --rate 3 --on-rate shed --time 60s \
            --procs batch_load &&
        documents lost
}

prints_in_the_spelling_of_Elixir() {
    traced 0 ':batch_load.value(_) -> return' --syntax elixir --events 1 || return 1
    says '^% :batch_load\.value\([0-9]+\)$' && says '-> \{:error, :badarg\}$'
}

tells_exceptions_from_values() {
    traced_json 0 'batch_load:raise -> return' 'batch_load:value -> return' --events 4 || return 1
    holds '[.[] | select(.mfa == "batch_load:raise/1" and .kind == "exception")] |
           length > 0 and all(.[]; .class == "error" and (.result | startswith("{oops,")))' &&
        holds '[.[] | select(.mfa == "batch_load:value/1" and .kind == "return")] |
           length > 0 and all(.[]; .class == null and .result == "{error,badarg}")' &&
        traced 0 'batch_load:raise -> return' --events 1 && says ' !! error:\{oops,[0-9]+\}'
}

follows_recursion_and_tail_calls() {
    # The first four that begin with fact(3): it may be armed in the midst of others.
    traced_json 0 'batch_load:fact(_) -> return' --events 8 --procs batch_load || return 1
    # shellcheck disable=SC2016
    whole='([.[] | select(.kind == "call")] | (map(.args[0] == "3") | index(true)) as $at | .[$at:$at + 4])'
    holds "$whole | map(.depth) == [0, 1, 2, 3]" &&
        holds "($whole | map(.id)) as \$ids | map(select(.kind == \"return\" and (.id as \$id | \$ids | index(\$id) != null))) |
               map(.result) | sort == [\"1\", \"1\", \"2\", \"6\"]" &&
        traced_json 0 'batch_load:tail(_) -> return' --events 3 --procs batch_load &&
        holds '[.[] | select(.kind == "return")] | length == 3 and all(.[]; .result == "done")' &&
        traced_json 0 'batch_load:hop -> return' 'batch_load:landed -> return' --events 2 &&
        holds '[.[] | select(.kind == "return")] | length == 2 and all(.[]; .result == "landed")'
}

tells_calls_that_were_killed_and_those_that_did_not_come_back() {
    traced_json 0 'batch_load:doomed(_) -> return' --events 2 --time 30s || return 1
    holds '[.[] | select(.kind == "call")] | length == 2' &&
        if [ "$1" -lt 27 ]; then
            # One may live longer than the second that a trace waits for it.
            holds '[.[] | select(.kind == "exception")] | length > 0 and all(.[]; .result == "killed")' &&
                holds '([.[] | select(.kind == "exception")] | length) + .[-1].counters.not_returned == 2'
        else # the VM does not tell it
            holds '.[-1].counters.not_returned == 2'
        fi && one_of 8 tells_that_one_is_not_back
}

# It naps nearly all of the time: the trace ends in the midst of it, but for a bad moment.
tells_that_one_is_not_back() {
    traced_json 0 'batch_load:nap -> return' --time 2s &&
        holds '([.[] | select(.kind == "call")] | length) == ([.[] | select(.kind == "return")] | length) + 1' &&
        holds '.[-1].counters.not_returned == 1' && traced 0 'batch_load:nap -> return' --time 2s && says ' 1 not returned'
}

shows_several_patterns_with_counters_of_their_own() {
    traced_json 0 'batch_load:tick(_)' 'batch_load:hop & batch_load:landed(_)' --events 12 \
        --procs batch_load || return 1
    holds '.[-1].patterns | map(.pattern) ==
           ["batch_load:tick(_)", "batch_load:hop", "batch_load:landed(_)"]' &&
        holds '.[-1].patterns | all(.[]; .shown > 0) and (map(.shown) | add) == 12' &&
        holds '[.[:-1][] | .pattern] | unique | length == 3'
}

counts_without_showing_calls() {
    traced_json 0 'batch_load -> count' --time 1s || return 1
    holds "$ended" && holds 'length == 1' && holds '.[-1].reason == "time"' &&
        holds '.[-1].functions | map(select(.mfa == "batch_load:fact/1"))[0].calls > 0' &&
        traced_json 0 'batch_load:slow -> time' --time 1s &&
        holds '.[-1].functions[0] | .calls > 0 and .mfa == "batch_load:slow/1"' &&
        traced 0 'batch_load -> time' --time 1s && says '^% +[0-9,]+ : +[0-9.]+ : +[0-9.]+ : batch_load:fact/1$'
}

# ---- who, how much, how long

traces_the_processes_that_are_chosen() {
    pid=$(cat "$dir/pid")
    for who in batch_load "$pid" 'running' 'all' '1/1'; do
        traced_json 0 'batch_load:hop' --events 2 --procs "$who" || return 1
        holds "[.[:-1][] | .pid] | unique == [\"$pid\"]" || return 1
    done
    traced_json 0 'batch_load:tick' --events 3 --procs 'call:/^batch_load:helper/' &&
        holds '[.[:-1][] | .name] | unique == ["batch_load:helper/1"] or length == 3' &&
        holds 'all(.[:-1][]; .args[0] | startswith("{helper,"))' &&
        traced_json 0 'batch_load:tick' --events 3 --procs new &&
        holds 'all(.[:-1][]; .args[0] | startswith("{child,"))' &&
        traced_json 0 'batch_load:tick' --events 9 --procs batch_load+children &&
        holds '[.[:-1][] | .args[0]] | any(.[]; startswith("{child,")) and any(.[]; startswith("{") | not) and
               all(.[]; startswith("{helper,") | not)' &&
        traced_json 0 'batch_load:hop' --procs app:kernel --dry-run &&
        holds '.[-1].preflight.processes > 5'
}

chooses_by_label_where_there_are_labels() {
    if [ "$1" -ge 27 ]; then
        traced_json 0 'batch_load:tick' --events 2 --procs 'label:/helper/' &&
            holds 'all(.[:-1][]; .args[0] | startswith("{helper,"))'
    else
        traced 1 'batch_load:tick' --procs 'label:/helper/' && told 'no process to trace'
    fi
}

# And soon after it, when the machine lets it: of some traces one.
ends_after_its_time() {
    for _ in 1 2 3 4 5; do
        traced_json 0 'batch_load:never' --time 1s || return 1
        holds "$ended" && holds '.[-1] | .reason == "time" and .elapsed_ms >= 950 and
                                 .counters.shown == 0 and .reason_text == "time: 1 s"' || return 1
        holds '.[-1].elapsed_ms < 1500' && return 0
    done
    return 1
}

# The time begins when we hear that it stands, somewhat later than the allowance of the first second.
stops_or_sheds_over_the_rate() {
    traced_json 0 'batch_load:fact(_)' --rate 10 --events 1000 --time 60s || return 1
    holds '.[-1] | .reason == "rate" and .counters.shown <= 11' &&
        traced_json 0 'batch_load:fact(_)' --rate 10 --on-rate shed --events 1000 --time 4s &&
        holds '.[-1] | .reason == "time" and .counters.shown >= 10 and
               .counters.shown <= .elapsed_ms / 100 + 12' &&
        holds '[.[] | select(.kind == "lost")] | length > 0 and (map(.lost) | add) > 0' &&
        holds '.[-1].counters.missed > 0'
}

# However the budget runs out, in the midst of a turn too.
has_seen_or_missed_each_call() {
    rm -f "$work/err"
    "$beamtop" trace "$node" 'batch_load:paced(_) & batch_load:paused(_)' --events 10000 --rate 5000 \
        --bytes 16MiB --time 200s --format json --no-config --cookie-file "$work/cookie" --timeout 30 >"$work/out" 2>"$work/err" &
    trace_pid=$!
    wait_until 60 grep -qs '^beamtop: 2 functions' "$work/err" && order paced || return 1
    kill -INT "$trace_pid"
    wait "$trace_pid"
    ends_with 0 $? && is_clean || return 1
    jq -c . <"$work/out" >"$work/json"
    holds '.[-1].patterns | map(.calls) == [3200, 800] and all(.[]; .seen + .missed == .calls)' &&
        holds '([.[] | select(.kind == "lost") | .lost] | add // 0) >= .[-1].counters.missed'
}

# Unless somebody says otherwise.
waits_beyond_the_rate_for_rare_results() {
    traced_json 0 'batch_load:fact(_) -> returns 7' --rate 10 --time 1s || return 1
    holds '.[-1].reason == "time"' &&
        traced_json 0 'batch_load:fact(_)' --slower 9s --rate 10 --time 1s &&
        holds '.[-1].reason == "time"' &&
        traced_json 0 'batch_load:fact(_) -> returns 7' --rate 10 --on-rate stop --time 60s &&
        holds '.[-1].reason == "rate"'
}

cuts_terms_and_says_so() {
    traced_json 0 'batch_load:big' --term-size 300 --events 1 || return 1
    holds '.[0] | .truncated and .full_bytes > 50000 and (.args | tostring | length) < 1500 and
           (.args | tostring | contains("…"))' && holds '.[-1].counters.truncated == 1' &&
        traced 0 'batch_load:big' --term-size 300 --events 1 && says '^%   truncated: full size ' &&
        traced_json 0 'batch_load:tick' --term-size 300 --events 1 && holds '.[0].truncated | not'
}

# A machine with much to do may halt a short call as long, now and then.
shows_only_calls_that_took_longer() { one_of 5 shows_longer_calls; }

shows_longer_calls() {
    traced_json 0 'batch_load:tick' 'batch_load:slow' --slower 5ms --events 100 --time 3s --procs batch_load || return 1
    # shellcheck disable=SC2016
    holds '[.[] | select(.kind == "return")] | all(.[]; .latency_us >= 5000) and
           (map(select(.mfa == "batch_load:slow/1")) | length) as $slow | $slow > 2 and (length - $slow) * 2 < $slow' &&
        holds '.[-1].counters.filtered > 3' &&
        traced_json 0 'batch_load:slow -> slower 9s' --time 1s && holds 'length == 1'
}

arms_nothing_when_dry() {
    traced_json 0 'batch_load:tick' 'batch_load:hop' --dry-run || return 1
    holds 'length == 1' && holds '.[0] | .reason == "not_started" and .preflight.functions == 2'
}

# ---- ends

ends_when_interrupted() {
    for signal in INT TERM; do
        rm -f "$work/out" # of what is waited for, the one before had some, too
        "$beamtop" trace "$node" 'batch_load:tick' --time 200s --events 10000 --no-config \
            --cookie-file "$work/cookie" --timeout 30 >"$work/out" 2>"$work/err" &
        trace_pid=$!
        wait_until 60 grep -qs '^% batch_load:tick' "$work/out" || return 1
        kill -s "$signal" "$trace_pid"
        wait "$trace_pid"
        got=$?
        [ "$signal" = INT ] && wanted=0 || wanted=143
        [ "$got" = "$wanted" ] || { echo "$signal: $got"; cat "$work/err"; return 1; }
        says '^% done, stopped' && says '^% verified after .*: nothing left on the node' && is_clean || return 1
    done
}

ends_when_nobody_reads() {
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

fails_where_nothing_matches() {
    traced 1 'batch_load:nothing' && told 'nothing to trace: batch_load:nothing: batch_load has no function nothing' &&
        traced 1 'batch_load:tick/7' && told 'does not take 7 arguments: there is' &&
        traced 1 'no_such_module_here' && told 'the node has no module no_such_module_here' &&
        traced 1 'batch_load:tick' --procs no_such_name_here && told 'no process to trace'
}

# A dry run says what the run would say, with its code; asking makes no atom.
tells_atoms_that_nothing_there_can_match() {
    for _ in 1 2; do
        for dry in '' --dry-run; do
            # shellcheck disable=SC2086
            suggests 'the node does not know the atom batch_laod, so nothing there can match it; did you mean batch_load\?$' \
                'batch_load:tick({batch_laod, _})' $dry &&
                told '^                     \^$' &&
                traced 1 'batch_load:hop' ':batch_load.tick(:surely_none_here)' $dry &&
                told ':batch_load.tick\(:surely_none_here\): the node does not know the atom :surely_none_here, ' &&
                traced 1 'batch_load:tick(_) -> returns {surely_none_here, _}' $dry &&
                told 'does not know the atom surely_none_here' || return 1
        done
    done
}

# suggests TEXT WORDS…: a suggestion is worth no more than a second to the program; without it the
# trace is refused all the same.
suggests() {
    suggestion=$1
    shift
    for _ in 1 2 3 4 5; do
        traced 1 "$@" || return 1
        told "$suggestion" >/dev/null && return 0
    done
    told "$suggestion"
}

says_why_nobody_is_traced() {
    suggests 'no process to trace: no process is registered as batch_laod; did you mean batch_load\?' \
        'batch_load:tick' --procs batch_laod &&
        suggests 'no running application krenel; did you mean app:kernel\?' 'batch_load:tick' --procs app:krenel &&
        suggests 'did you mean app:kernel, the application\?' 'batch_load:tick' --procs kernel &&
        traced 1 'batch_load:tick' --procs app:stdlib && told 'the application stdlib has no process: ' &&
        traced 1 'batch_load:tick' --procs 'call:/^surely_none/' --dry-run &&
        told 'call:/\^surely_none/ matches no initial call; there is [a-z_]+:.*/[0-9].*, for example' &&
        traced 1 'batch_load:tick' --procs net_kernel && told 'never traced' &&
        traced 1 'batch_load:tick' --procs 'label:/surely_none/' &&
        if [ "$1" -ge 27 ]; then
            told 'label:/surely_none/ matches no label; there is '
        else
            told 'label:/surely_none/: this release has no labels, they came with OTP 27; call:/RE/ chooses'
        fi
}

refuses_errors() {
    traced 2 'batch_load:tick(' && told 'expected a term' &&
        traced 2 'batch_load:tick' --procs 'label:x' && told 'between slashes' &&
        traced 2 'batch_load:tick' --events 0 && told 'events must be between 1 and 10000' &&
        traced 2 'batch_load:tick' --time 1h && traced 2 'batch_load:tick' --on-rate wait &&
        traced 2 'batch_load:tick' --format csv
}

says_that_there_is_no_such_node() {
    "$beamtop" trace "nobody$$@127.0.0.1" 'batch_load:tick' --cookie-file "$work/cookie" --timeout 30 2>"$work/err"
    [ $? = 3 ] && told 'no node nobody'
}

refuses_what_is_expensive_unless_it_is_forced() {
    order hot || return 1
    refuses_what_is_expensive
    refused=$?
    order cold && return "$refused"
}

# Each time: between two bursts there is nothing to see for most of the time.
refuses_what_comes_in_bursts() {
    order bursts || return 1
    refused 'batch_load:hot' && refused 'batch_load:hot' && refused 'batch_load:hot'
    refused=$?
    order cold && return "$refused"
}

refused() {
    trace "$@"
    ends_with 5 $? && is_clean
}

refuses_what_is_expensive() {
    refused 'batch_load:hot' && told 'calls/s would cost the node .* --force' &&
        refused 'batch_load:hot' --format json &&
        holds 'length == 1 and .[0].kind == "end" and .[0].reason == "not_started" and .[0].preflight.expensive' &&
        refused 'batch_load:hot' --dry-run && told 'about [0-9,]+ calls/s would cost the node' || return 1
    for _ in 1 2 3 4 5; do
        traced_json 0 'batch_load:hot(_) -> return' --force --events 10 || return 1
        holds "$ended" && holds '[.[] | select(.kind == "call")] | length == 10' &&
            holds '.[-1] | .reason == "events" and .counters.shown == 10' || return 1
        holds '.[-1].preflight.expensive' && break
    done
    holds '.[-1].preflight.expensive' && traced_json 0 'batch_load:hot' --force --events 1000 --rate 50 || return 1
    holds '.[-1] | .reason == "rate" and .counters.shown <= 50 and .counters.seen < 400'
}

# Before OTP 27 all tracers share one place; later each has its own.
leaves_the_traces_of_others_alone() {
    order foreign || return 1
    trace 'batch_load:tick' --events 1
    got=$?
    [ "$1" -lt 27 ] && wanted=5 || wanted=0
    [ "$got" = "$wanted" ] || { echo "exit code $got"; cat "$work/err"; return 1; }
    trace 'batch_load:tick' --dry-run
    [ $? = "$wanted" ] || { echo "dry, not $wanted"; cat "$work/err"; return 1; }
    told '1 breakpoint; batch_load:never/0' || return 1
    is_left '[{points,[{batch_load,never,0}]}]' && order own && is_clean
}

takes_the_caps_of_the_configuration() {
    printf 'set trace-batch-events 3\nset trace-syntax elixir\nset trace-time 90s\nset trace-time 1h\n' >"$work/conf"
    "$beamtop" trace "$node" ':batch_load.tick(_)' --config "$work/conf" --cookie-file "$work/cookie" --timeout 30 \
        --format json >"$work/out" 2>"$work/err" || return 1
    holds '.[-1] | .caps.events == 3 and .caps.time == 90000 and .counters.shown == 3' &&
        told 'conf:4:16: .*from 1 ms to 600 s' || return 1
    "$beamtop" trace "$node" ':batch_load.tick(_)' --config "$work/conf" --cookie-file "$work/cookie" --timeout 30 \
        --format json --events 2 >"$work/out" 2>"$work/err"
    holds '.[-1].counters.shown == 2' && is_clean
}

says_that_the_node_went_away() {
    rm -f "$work/out"
    "$beamtop" trace "$node" 'batch_load:tick' --time 200s --events 10000 --no-config \
        --cookie-file "$work/cookie" --timeout 30 >"$work/out" 2>"$work/err" &
    trace_pid=$!
    wait_until 60 grep -qs '^% batch_load:tick' "$work/out" || return 1
    kill -9 "$node_pid"
    wait "$trace_pid"
    got=$?
    stop_node
    ends_with 4 "$got" || return 1
    says '^% done, connection lost: ' && says '^% not verified: '
}

# ---- all of them

differ prints_calls_with_results_and_exactly_as_many_as_asked tells_exceptions_from_values \
    follows_recursion_and_tail_calls tells_calls_that_were_killed_and_those_that_did_not_come_back \
    counts_without_showing_calls traces_the_processes_that_are_chosen \
    chooses_by_label_where_there_are_labels stops_or_sheds_over_the_rate \
    has_seen_or_missed_each_call ends_when_interrupted refuses_what_is_expensive_unless_it_is_forced \
    leaves_the_traces_of_others_alone
same prints_one_object_a_line tells_what_is_armed shows_several_patterns_with_counters_of_their_own \
    ends_after_its_time waits_beyond_the_rate_for_rare_results cuts_terms_and_says_so \
    shows_only_calls_that_took_longer arms_nothing_when_dry ends_when_nobody_reads \
    tells_atoms_that_nothing_there_can_match says_why_nobody_is_traced refuses_what_comes_in_bursts \
    says_that_the_node_went_away
once takes_every_cap prints_the_keys_that_are_documented prints_in_the_spelling_of_Elixir \
    fails_where_nothing_matches refuses_errors says_that_there_is_no_such_node \
    takes_the_caps_of_the_configuration
run_on_releases
