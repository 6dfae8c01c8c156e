#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# The demo node has the faults that its README promises; and it leaves nothing.
# shellcheck disable=SC1091,SC2154,SC2317
set -u
. "$(dirname "$0")/../tap.sh"

. "$BEAMTOP_SRCDIR/tests/live/which.sh"
demo=$BEAMTOP_SRCDIR/demo/run.sh
otp_sh=$BEAMTOP_SRCDIR/tests/live/otp.sh

# Asked of the node itself: each line of the answer is a fact and what the demo says. What comes in
# bursts, and leads at most times, is looked for until it is there.
questions='
    [Node] = [list_to_atom(N) || {ok, [[N]]} <- [init:get_argument(shop_node)]],
    Ask = fun(M, F, A) -> rpc:call(Node, M, F, A, 60000) end,
    Len = fun() -> {_, L} = Ask(erlang, process_info, [Ask(erlang, whereis, [shop_mailer]), message_queue_len]), L end,
    Reductions = fun(P) -> case Ask(erlang, process_info, [P, reductions]) of {_, N} -> N; _ -> 0 end end,
    Until = fun Until(Wanted, Look, Left) ->
        case Look() of
            Seen when Seen =:= Wanted; Left =:= 0 -> Seen;
            _ -> timer:sleep(200), Until(Wanted, Look, Left - 1)
        end
    end,
    pong = Until(pong, fun() -> net_adm:ping(Node) end, 300),
    Waiting = Len(),
    Grows = fun() -> Len() > Waiting end,
    Busiest = fun() ->
        Before = [{P, Reductions(P)} || P <- Ask(erlang, processes, [])],
        timer:sleep(1000),
        {_, Most} = lists:max([{Reductions(P) - N, P} || {P, N} <- Before]),
        Ask(erlang, process_info, [Most, registered_name])
    end,
    Cached = fun() -> gen_server:call({shop_image_cache, Node}, count, 60000) end,
    Binaries = fun() -> Ask(erlang, memory, [binary]) > 48 * 1048576 end,
    Sessions = fun() -> Ask(ets, info, [shop_sessions, size]) end,
    Departments = fun() ->
        length([1 || {_, _, supervisor, _} <- Ask(supervisor, which_children, [shop_sup])])
    end,
    Handler = fun() -> is_pid(Ask(erlang, whereis, [logger_std_h_shop_audit])) end,
    [io:format("~s ~p~n", [Name, Until(Wanted, Look, 300)]) || {Name, Wanted, Look} <-
     [{"grows", true, Grows}, {"busiest", {registered_name, shop_pricing}, Busiest}, {"cached", 24, Cached},
      {"binaries", true, Binaries}, {"sessions", 20000, Sessions}, {"departments", 5, Departments},
      {"handler", true, Handler}]],
    halt().'

expected='grows true
busiest {registered_name,shop_pricing}
cached 24
binaries true
sessions 20000
departments 5
handler true'

# cookie in the environment of the asker only
ask() {
    . "$work/env"
    "$otp_sh" "$1" erl -noinput -hidden -name "asker@127.0.0.1" -start_epmd false \
        -setcookie "$(cat "$BEAMTOP_DEMO_COOKIE_FILE")" -shop_node "$BEAMTOP_DEMO_NODE" \
        -eval "$questions"
}

has_its_faults_on_OTP() {
    "$demo" start >"$work/env" || return 1
    answer=$(ask "$1")
    [ "$answer" = "$expected" ] || {
        echo "$answer"
        return 1
    }
}

ends_with_all_its_processes_on_OTP() {
    pids="$(sed -n 's/BEAMTOP_DEMO_PID=//p' "$work/env") $(cat "$(demo_dir)/epmd.pid")"
    "$demo" stop || return 1
    for pid in $pids; do
        wait_until 60 has_ended "$pid" || return 1
    done
    ! "$demo" status
}

demo_dir() { sed -n "s/BEAMTOP_DEMO_COOKIE_FILE='\(.*\)\/.erlang.cookie'/\1/p" "$work/env"; }

trap '"$demo" stop; rm -rf "$work"' EXIT
trap 'exit 130' HUP INT TERM PIPE
for otp in $(releases_of differ); do
    if reason=$("$otp_sh" --root "$otp" 2>&1); then
        BEAMTOP_DEMO_OTP=$otp
        BEAMTOP_DEMO_DIR=$work/otp-$otp
        export BEAMTOP_DEMO_OTP BEAMTOP_DEMO_DIR
        run has_its_faults_on_OTP "$otp"
        run ends_with_all_its_processes_on_OTP "$otp"
        [ -z "$reason" ] || rm -rf "${reason:?}$work"
    else
        skip "has_its_faults_on_OTP_$otp" "$reason"
        skip "ends_with_all_its_processes_on_OTP_$otp" "$reason"
    fi
done
finish
