#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Which modules of OTP a node in interactive mode loads for us: those that README.md lists, whatever is
# asked of it. The node runs nothing, so that little is loaded before.
# shellcheck disable=SC1091,SC2034,SC2154,SC2317
set -u
. "$(dirname "$0")/../tap.sh"
. "$BEAMTOP_SRCDIR/tests/live/epmd.sh"
. "$BEAMTOP_SRCDIR/tests/tmux/lib.sh"
. "$BEAMTOP_SRCDIR/tests/live/which.sh"
otp_sh=$BEAMTOP_SRCDIR/tests/live/otp.sh
command -v tmux >/dev/null 2>&1 || skip_all "there is no tmux"
command -v sqlite3 >/dev/null 2>&1 || skip_all "no sqlite3 here"
tm_wait_s=60

stop_node() {
    [ -n "${node_pid:-}" ] || return 0
    kill -9 "$node_pid" 2>/dev/null
    wait "$node_pid" 2>/dev/null
    node_pid=
}
trap 'tm_close; stop_node; stop_epmd; rm -rf "${work:?}"' EXIT
trap 'exit 130' HUP INT TERM
start_epmd
printf modules >"$work/cookie"

# The modules that the node has, by a node beside it: each has its own name, since that of the one before
# may not be free yet.
modules() {
    timeout 60 erl -noinput -hidden -start_epmd false -name "asks$$x$(date +%s%N)@127.0.0.1" -setcookie modules -eval "
        {started, _} = rpc:call('$node', init, get_status, []),
        Loaded = rpc:call('$node', code, all_loaded, []),
        [io:format(\"~s~n\", [M]) || {M, _} <- Loaded], halt()." >"$work/said" 2>&1 && sort "$work/said"
}

# sees_modules FILE
sees_modules() { modules >"$1" && [ -s "$1" ]; }

starts() {
    stop_node
    node=modules$1x$$@127.0.0.1
    "$otp_sh" "$1" erl -noinput -start_epmd false -name "$node" -setcookie modules >"$work/node" 2>&1 &
    node_pid=$!
    wait_until 60 sees_modules "$work/before" || { cat "$work/node"; return 1; }
}

# asks COMMAND WORDS…: of the node; it may refuse (1), but not the command line (2).
asks() {
    command=$1
    shift
    for _ in 1 2 3 4 5 6 7 8; do
        timeout 120 "$beamtop" "$command" "$node" "$@" --cookie-file "$work/cookie" --timeout 60 \
            >"$work/$command.out" 2>&1 </dev/null
        code=$?
        if [ "$code" != 5 ] || ! grep -q 'did not answer for' "$work/$command.out"; then break; fi
    done
    [ "$code" -lt 2 ] || { echo "$command: exit code $code"; cat "$work/$command.out"; return 1; }
}

# asks_at_once COMMAND…: with these words; a node has eight names of beamtop.
asks_at_once() {
    asking='' asked=0
    for words; do
        # shellcheck disable=SC2086
        asks $words &
        asking="$asking $!"
    done
    for pid in $asking; do
        wait "$pid" || asked=1
    done
    return "$asked"
}

# There is none of that name, which is said as an error of the pattern.
looks_for_a_record() {
    ! asks trace 'lists:map(#a{}, _)' --time 0.5s >/dev/null && grep -q 'record a' "$work/trace.out"
}

# The screen asks for what findings need: the log says so.
sees_findings() {
    tm_open 120 40 || return 1
    tm_run "clear; ERL_EPMD_PORT=$ERL_EPMD_PORT '$beamtop' '$node' --no-config --cookie-file '$work/cookie' --timeout 30 --budget 100"
    tm_wait_line '^.<[0-9.]+> +application_controller' && tm_keys 7 && tm_wait 'measured growth' &&
        tm_wait 'looked for the longest' || return 1
    tm_keys Q
    tm_wait 'ready>'
}

# Until all that it keeps has been asked twice, which would start a helper process, and its file say so.
records_all() {
    for seconds in 13 30 60; do
        asks record -o "$work/all$1x$seconds.btr" -i 0.5 --for "${seconds}s" --budget 100 || return 1
        has_all "$work/all$1x$seconds.btr" >"$work/lacks" && return 0
    done
    cat "$work/lacks"
    return 1
}
has_all() {
    asked=$(sqlite3 "$1" "SELECT group_concat(DISTINCT question) FROM answer") &&
        facts=$(sqlite3 "$1" "SELECT group_concat(DISTINCT key) FROM fact") || return 1
    for question in alloc apps node scan system growth kin logger; do
        case ",$asked,$facts," in *",$question,"*) ;; *) echo "no $question: $asked,$facts"; return 1 ;; esac
    done
}

# What is asked natively only: nothing is evaluated for it.
a_small_node_loads_only_erpc() {
    asks info && asks schedulers -n 2 -i 0.25 && asks top -n 2 -i 0.25 --filter app=kernel && asks process init &&
        asks memory -n 2 -i 0.25 && asks apps -n 2 -i 0.25 && records_all "$1" &&
        sees_findings && wait_until 60 sees_modules "$work/after" || return 1
    comm -13 "$work/before" "$work/after" | grep -vx erpc >"$work/others"
    [ ! -s "$work/others" ] || { echo "loaded:"; cat "$work/others"; return 1; }
}

commands_load_nothing_else() {
    asks_at_once 'top -n 2 -i 0.25' info 'process init' 'memory -n 1' 'schedulers -n 1 -i 0.25' \
        'apps -n 2 -i 0.25' 'heapsample --running' &&
        asks_at_once 'cpus --for 0.3s' 'msacc --for 0.3s' armed 'stacks init --for 0.5s' && looks_for_a_record &&
        asks trace 'lists:map/2 -> return' 'send(_, _)' --procs 'label:/a/' --time 0.5s &&
        asks calls lists --for 0.3s --time && asks spans lists:map/2 --full --time 0.5s &&
        asks record -o "$work/$1.btr" -i 0.25 --for 1s --calls lists --window 0.3s || return 1
    adds_only_what_is_listed
}

# A mailbox and a state are read, which only the screen does.
the_screen_loads_nothing_else() {
    tm_close
    tm_open 120 40 || return 1
    tm_run "clear; ERL_EPMD_PORT=$ERL_EPMD_PORT '$beamtop' '$node' --no-config --cookie-file '$work/cookie' --timeout 30 --budget 100 \
        --filter ^application_controller"
    tm_wait_line '^.<[0-9.]+> +application_controller' || return 1
    tm_keys g Enter
    tm_wait '── Process ' && tm_wait 'initial call' || return 1
    tm_type m
    tm_wait empty && tm_type v && tm_wait 'Read the state of' && tm_type y &&
        tm_wait '{state,' || return 1
    tm_keys Q
    tm_wait 'ready>' || return 1
    adds_only_what_is_listed
}

adds_only_what_is_listed() {
    wait_until 60 sees_modules "$work/after" || { cat "$work/said"; return 1; }
    sed -n '/^In interactive mode a node loads/,/^$/p' "$BEAMTOP_SRCDIR/README.md" |
        tr -c '[:alnum:]_' '\n' | sort -u >"$work/listed"
    comm -13 "$work/before" "$work/after" | comm -23 - "$work/listed" >"$work/others"
    [ ! -s "$work/others" ] || { echo "README.md does not list:"; cat "$work/others"; return 1; }
}

for release in $(releases_of differ); do
    "$otp_sh" --root "$release" >/dev/null 2>"$work/why" || { skip "modules of $release" "$(cat "$work/why")"; continue; }
    run starts "$release"
    run a_small_node_loads_only_erpc "$release"
    run commands_load_nothing_else "$release"
    run the_screen_loads_nothing_else "$release"
done
finish
