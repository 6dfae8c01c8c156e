#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# The examples of beamtop-trace(7): each is explained, and asked of a real node, which runs
# shop_cart.erl and nothing else.
#
# In man/beamtop-trace.7.in a comment stands before each:
#   .\" example            a pattern; `explain` and `trace` take it, and some event comes
#   .\" example => RE      and a line of the output matches the expression
#   .\" example explain    of modules that are not there: explained only
#   .\" command => RE      a whole command, behind "$ ", with shop@db1 for the node
# shellcheck disable=SC1091,SC2154,SC2317
set -u
. "$(dirname "$0")/../tap.sh"
. "$(dirname "$0")/epmd.sh"

node=examples$$@127.0.0.1
page=$BEAMTOP_SRCDIR/man/beamtop-trace.7.in

# What roff makes of a line in a literal display.
plain() {
    sed -e 's/^\\&//' -e "s/\\\\(aq/'/g" -e 's/\\(dq/"/g' -e 's/\\(ga/`/g' -e 's/\\(ha/^/g' \
        -e 's/\\(ti/~/g' -e 's/\\-/-/g' -e 's/\\e/\\/g'
}

# Marks and examples, in pairs of lines.
examples() {
    awk 'mark != "" { print mark; print; mark = "" }
         /^\.\\" (example|command)( |$)/ { mark = substr($0, 5) }' "$page" | plain
}

start_node() {
    erlc +debug_info -o "$work" "$BEAMTOP_SRCDIR/tests/live/shop_cart.erl" || return 1
    umask 077
    printf 'examples' >"$work/cookie"
    erl -noinput -name "$node" -start_epmd false -setcookie examples -pa "$work" -s shop_cart open \
        -cookie_file "$work/cookie" -eval '
            io:format("up~n"),
            {ok, [[Here]]} = init:get_argument(cookie_file),
            (fun Stay() -> timer:sleep(1000), filelib:is_file(Here) andalso Stay() end)(),
            halt().' >"$work/node" 2>&1 &
    node_pid=$!
    wait_until 60 grep -q '^up' "$work/node"
}

stop_all() {
    [ -z "${node_pid:-}" ] || { kill "$node_pid"; wait "$node_pid"; }
    stop_epmd
    rm -rf "$work"
}

# What a pattern is estimated to cost depends on the moment in which its calls are counted: that is not
# what is shown here.
asked() { "$beamtop" "$@" --force --timeout 30 --cookie-file "$work/cookie"; }

asks_trace() { asked trace "$node" "$@" >"$work/out" 2>"$work/err"; }

ended_clean() { grep -q 'nothing left on the node' "$work/out"; }

matches() {
    [ -z "$wanted" ] || grep -E -q -e "$wanted" "$work/out" || {
        echo "nothing like $wanted in:"
        cat "$work/out" "$work/err"
        return 1
    }
}

is_explained() {
    "$beamtop" explain "$1" >"$work/out" || return 1
    grep -q -e '^\[{' -e 'no match specification' "$work/out"
}

# Ends with its third event; one that counts has none, and ends by the time.
is_traced() {
    case $1 in
    *'-> count' | *'-> time') most=3s ;;
    *) most=120s ;;
    esac
    patient asks_trace "$1" --events 3 --time $most || {
        cat "$work/out" "$work/err"
        return 1
    }
    ended_clean && matches && grep -E -q '^% ([0-9:.]+ <| +[0-9]+ : )' "$work/out"
}

# A time of a second may pass without a call where the machine stands still: once of several times.
works_as_a_command() {
    case $1 in
    *'--time '*) one_of 5 runs_so "$1" ;;
    *) runs_so "$1" ;;
    esac
}

runs_so() {
    line=$(printf '%s\n' "${1#\$ }" | sed "s/shop@db1/$node/")
    one_of 8 runs_in_time
    [ "$code" = 0 ] || {
        cat "$work/out" "$work/err"
        return 1
    }
    matches
}

# What a line with a pipe ends with is not beamtop's code.
runs_in_time() {
    (
        beamtop() { asked "$@"; }
        eval "$line"
    ) >"$work/out" 2>"$work/err"
    code=$?
    ! was_late "$work/err"
}

holds_examples() { [ "$1" -gt 40 ]; }

is_left_clean() {
    erl -noinput -hidden -name "asker$$@127.0.0.1" -start_epmd false -setcookie examples -node "$node" -eval '
        {ok, [[Text]]} = init:get_argument(node),
        Node = list_to_atom(Text),
        Ask = fun(M, F, A) -> rpc:call(Node, M, F, A, 60000) end,
        Traced = [MFA || M <- [shop_cart, lists, ets, gen_server],
                         {F, N} <- Ask(M, module_info, [functions]), MFA <- [{M, F, N}],
                         {all, L} <- [Ask(erlang, trace_info, [MFA, all])], L =/= false],
        Flags = [P || P <- Ask(erlang, processes, []),
                      {flags, [_ | _]} <- [Ask(erlang, trace_info, [P, flags])]],
        io:format("~p~n", [{Traced, Flags}]), halt().' >"$work/left" 2>&1
    grep -q '^{[[]],[[]]}' "$work/left" || { cat "$work/left"; return 1; }
}

trap stop_all EXIT
trap 'exit 130' HUP INT TERM PIPE
start_epmd
run start_node
examples >"$work/examples"
while IFS= read -r mark && IFS= read -r text; do
    case $mark in
    *' => '*) wanted=${mark#* => } ;;
    *) wanted= ;;
    esac
    case $mark in
    command*) run works_as_a_command "$text" ;;
    example*)
        run is_explained "$text"
        [ "$mark" = 'example explain' ] || run is_traced "$text"
        ;;
    esac
done <"$work/examples"
run is_left_clean
# Those of the manual are found by their marks.
run holds_examples "$tap_count"
finish
