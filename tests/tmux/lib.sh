# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=sh disable=SC2154
# Runs a program in a terminal of a known size and looks at it: a tmux server with a separate socket, whose
# configuration and environment are only ours. Sourced, after tests/tap.sh. Nothing sleeps for a
# fixed time: each step waits, with a limit, until the screen says what is expected.

tm_wait_s=${BEAMTOP_TMUX_WAIT_S:-60}

# A server that ends takes its socket with it, a moment after it has said that it is gone: the next has
# another one.
tm_servers=0
tm() { tmux -u -S "$work/tmux-$tm_servers" "$@"; }

# tm_open COLUMNS ROWS [VARIABLE=VALUE…]: an interactive shell with its own prompt.
tm_open() {
    tm_columns=$1 tm_rows=$2
    tm_servers=$((tm_servers + 1))
    shift 2
    cat >"$work/tmux.conf" <<-'EOF'
	set -g status off
	set -g default-terminal tmux-256color
	set -g remain-on-exit on
	set -g escape-time 10
	EOF
    env -i PATH="$PATH" HOME="$work" TERM=xterm-256color LANG=C.UTF-8 \
        ASAN_OPTIONS="${ASAN_OPTIONS:-}" ${ERL_EPMD_PORT:+ERL_EPMD_PORT="$ERL_EPMD_PORT"} \
        tmux -u -f "$work/tmux.conf" -S "$work/tmux-$tm_servers" \
        new-session -d -c "$work" -x "$tm_columns" -y "$tm_rows" env PS1='ready> ' "$@" sh -i || return 1
    tm_wait 'ready>'
}

# Ends the server, and waits until its socket answers no more.
tm_close() {
    tm kill-server 2>/dev/null || true
    wait_until 60 tm_is_closed
}

tm_is_closed() { ! tm has-session 2>/dev/null; }

tm_keys() { tm send-keys "$@"; }          # by tmux's names: Enter C-z Down F1
tm_type() { tm send-keys -l -- "$1"; }    # as it stands

tm_run() {
    tm_type "$1"
    tm_keys Enter
}

tm_text() { tm capture-pane -p; }
tm_ansi() { tm capture-pane -p -e; }

tm_has() { tm_text | grep -qF -e "$1"; }
tm_has_not() { ! tm_has "$1"; }
tm_has_line() { tm_text | grep -qE -e "$1"; }

# tm_misses WORDS: what a failed wait leaves to look at.
tm_misses() {
    echo "$1 on:"
    tm_text
    tail -n 5 "${BEAMTOP_DEMO_DIR:-$work}/node.log" 2>/dev/null
    return 1
}

# Waits for a text; shows the screen when it does not come.
tm_wait() { wait_until "$tm_wait_s" tm_has "$1" || tm_misses "'$1' does not appear"; }

# The same for a line that matches an expression: where the word is elsewhere, too.
tm_wait_line() { wait_until "$tm_wait_s" tm_has_line "$1" || tm_misses "no line '$1' appears"; }

tm_wait_gone() { wait_until "$tm_wait_s" tm_has_not "$1" || tm_misses "'$1' does not go"; }

tm_resize() { tm resize-window -x "$1" -y "$2"; }

# What a program may leave changed: alternate screen, cursor, mouse, keypad and cursor-key modes.
tm_modes() {
    tm display-message -p \
        'alternate #{alternate_on} cursor #{cursor_flag} mouse #{mouse_any_flag} keypad #{keypad_flag} keys #{keypad_cursor_flag}'
}

tm_restored() { [ "$(tm_modes)" = 'alternate 0 cursor 1 mouse 0 keypad 0 keys 0' ]; }

# The terminal is a shell's again: modes, and the line discipline as it was in $work/stty (but the
# first line, with the size).
tm_wait_restored() {
    wait_until "$tm_wait_s" tm_restored || {
        echo "the terminal is left as: $(tm_modes)"
        return 1
    }
    tm_run "stty -a | sed 1d >$work/stty.now; echo stty' 'read"
    tm_wait 'stty read' || return 1
    diff "$work/stty" "$work/stty.now"
}

# The process in the foreground of the terminal, when it has the name.
tm_pid() {
    tty=$(tm display-message -p '#{pane_tty}')
    ps -o pid=,stat=,comm= -t "${tty#/dev/}" | awk -v name="$1" '$2 ~ /\+/ && $3 == name { print $1 }'
}

# ---- beamtop on the demo node

# Starts the demo node for this script, and sees that everything of it ends.
bt_setup() {
    command -v tmux >/dev/null 2>&1 || skip_all "no tmux here"
    BEAMTOP_DEMO_DIR=$work/shop
    export BEAMTOP_DEMO_DIR
    trap 'tm_close; "$BEAMTOP_SRCDIR/demo/run.sh" stop; rm -rf "$work"' EXIT
    trap 'exit 130' HUP INT TERM PIPE
    start_demo
}

# bt_setup_load LOAD: instead, for a node that runs tests/live/LOAD.erl; bt_start_load starts it.
bt_setup_load() {
    command -v tmux >/dev/null 2>&1 || skip_all "no tmux here"
    load=$1
    . "$BEAMTOP_SRCDIR/tests/live/releases.sh"
    trap 'tm_close; stop_all' EXIT
    trap 'exit 130' HUP INT TERM PIPE
    start_epmd
}

bt_start_load() {
    start_node 25 || return 1
    BEAMTOP_DEMO_NODE=$node
    BEAMTOP_DEMO_COOKIE_FILE=$work/cookie
}

# bt_start COLUMNS ROWS [VARIABLE=VALUE…] [-- ARGUMENT…]: a terminal with the program in it. On a
# machine without a free core every answer seems expensive: with the usual budget the next tick would come
# after minutes.
bt_start() {
    bt_columns=$1 bt_rows=$2 bt_env=
    shift 2
    while [ $# -gt 0 ] && [ "$1" != -- ]; do
        bt_env="$bt_env $1"
        shift
    done
    [ $# -eq 0 ] || shift
    tm_close
    # shellcheck disable=SC2086
    tm_open "$bt_columns" "$bt_rows" BT="$beamtop" NODE="$BEAMTOP_DEMO_NODE" \
        COOKIE="$BEAMTOP_DEMO_COOKIE_FILE" $bt_env || return 1
    tm_run "stty -a | sed 1d >$work/stty; clear; \"\$BT\" \"\$NODE\" --cookie-file \"\$COOKIE\" --budget 100 $*; echo code \$?"
}

# The same, and its first list is shown.
bt_open() { bt_start "$@" && bt_wait_list; }

bt_wait_list() {
    tm_wait shop_pricing || return 1
    tm_has_not 'failed on the node' || {
        tm_text
        return 1
    }
}

bt_quit() {
    tm_keys Q
    tm_wait 'code 0' && tm_wait_restored
}

# bt_is_left TOLD LATE: the program has ended while something of it was armed, and the target is clean, as
# the script's target_is_clean sees it; `$told` when it says TOLD, else LATE, for its answer came too late.
bt_is_left() {
    tm_wait 'code 0' && tm_wait_restored || return 1
    if tm_has "$1"; then
        told=yes
        target_is_clean
    else
        tm_wait "$2" && wait_until 30 target_is_clean
    fi
}

# bt_is_told BEGIN LEAVE: one of some times when it begins and leaves; a busy machine may be late once.
bt_is_told() {
    for try in 1 2 3 4; do
        told=
        "$1" && "$2" || return 1
        [ -z "$told" ] || return 0
    done
    echo "not told in $try times"
    return 1
}

# bt_ask EXPRESSION: evaluated by a hidden node of the same machine, by other means than ours, with
# Ask(M, F, A) for a call on the target; prints what that prints. Each such node has its own name:
# that of the one before may not be free yet.
bt_ask() {
    timeout 120 erl -noinput -hidden -name "asks$$x$(date +%s%N)@127.0.0.1" -start_epmd false \
        -setcookie "$(cat "$BEAMTOP_DEMO_COOKIE_FILE")" -eval "
        Ask = fun(M, F, A) -> rpc:call('$BEAMTOP_DEMO_NODE', M, F, A, 30000) end,
        $1,
        halt()." 2>&1
}

# Who is connected (the asker left out), the processes that are evaluated or tied to one of another
# node, and the net tick.
bt_questions='
    Us = node(),
    Away = fun(P) when is_pid(P) -> not lists:member(node(P), [Node, Us]); (_) -> false end,
    Tied = fun(I) ->
        {_, Links} = lists:keyfind(links, 1, I), {_, Monitors} = lists:keyfind(monitors, 1, I),
        lists:any(Away, Links ++ [P || {process, P} <- Monitors]) end,
    Evaluated = fun(I) ->
        {_, Stack} = lists:keyfind(current_stacktrace, 1, I), lists:keymember(erl_eval, 1, Stack) end,
    Infos = [Ask(erlang, process_info, [P, [links, monitors, current_stacktrace]])
             || P <- Ask(erlang, processes, [])],
    true = length(Infos) > 20,
    io:format("nodes ~b ours ~b net_ticktime ~p~n",
        [length(Ask(erlang, nodes, [connected]) -- [Us]),
         length([I || I <- Infos, is_list(I), Tied(I) orelse Evaluated(I)]),
         Ask(net_kernel, get_net_ticktime, [])])'

bt_target_says() {
    bt_ask "Node = '$BEAMTOP_DEMO_NODE', $bt_questions" >"$work/target"
    cat "$work/target"
}
