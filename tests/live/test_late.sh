#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Nodes that are not where one looks for them. One was named after its start: its command line has no
# name, so that only epmd knows it. It is found by its port, with the cookie of its user's home or of
# its command line, and listed. Others have an epmd of their own, or a host that nobody can look up:
# they are found by their environment and their sockets.
# shellcheck disable=SC1091,SC2034,SC2154,SC2317
set -u
. "$(dirname "$0")/../tap.sh"
. "$BEAMTOP_SRCDIR/tests/tmux/lib.sh"
. "$(dirname "$0")/epmd.sh"

unset XDG_CONFIG_HOME
host=127.0.0.1
x=$$ # another run may be on this host

knows() { epmd -port "$ERL_EPMD_PORT" -names 2>/dev/null | grep -q "^name $1 "; }

# late NAME FORM HOME ARGUMENT…: a VM that gives itself that name; $late is its process.
late() {
    name=$1 form=$2 home=$3
    shift 3
    HOME=$home $as erl -noinput -start_epmd false "$@" -eval "
        {ok, _} = net_kernel:start(['$name', $form]), timer:sleep(1200000), halt()." >"$work/$name.log" 2>&1 &
    late="${late:-} $!"
    wait_until 60 knows "${name%@*}" || { cat "$work/$name.log"; return 1; }
}
as=

stop_all() {
    for pid in ${late:-}; do
        kill "$pid" 2>/dev/null
        wait "$pid" 2>/dev/null
    done
    stop_epmd
    tm_close 2>/dev/null
    rm -rf "$work"
}

# prints NAME OPTION…: what it is, by its own name.
prints() {
    HOME=$work/empty "$beamtop" info "$@" --timeout 30 --format json >"$work/out" 2>"$work/err" || {
        cat "$work/err"
        return 1
    }
    grep -q "\"name\":\"${1%@*}@\|\"node\":\"${1%@*}@" "$work/out" || { cat "$work/out"; return 1; }
}

home_with() { # NAME COOKIE: a home with that cookie
    mkdir -p "$work/$1" && printf '%s' "$2" >"$work/$1/.erlang.cookie" && chmod 400 "$work/$1/.erlang.cookie"
}

starts() {
    home_with cookies LATECOOKIE && mkdir "$work/empty" &&
        late "late$x@$host" longnames "$work/cookies" &&
        late "later$x@$host" longnames "$work/empty" -setcookie ARGUMENTCOOKIE
}

opens_it_by_both_names() { prints "late$x@$host" && prints "late$x" --host "$host"; }

# epmd has no host, so that any is right; nothing is said of it.
opens_it_by_its_os_pid() {
    first=${late# }
    HOME=$work/empty "$beamtop" info "${first%% *}" --timeout 30 --format json >"$work/out" 2>"$work/err"
    if ! grep -q "\"late$x@$host\"" "$work/out" || [ -s "$work/err" ]; then
        cat "$work/out" "$work/err"
        return 1
    fi
}

# No pid is as large.
says_that_there_is_no_such_process() {
    HOME=$work/empty "$beamtop" info 99999999 --timeout 30 >"$work/out" 2>&1 && return 1
    grep -q "there is no OS process 99999999 on this host: .beamtop nodes. lists" "$work/out" || { cat "$work/out"; return 1; }
}

takes_the_cookie_of_the_command_line() { prints "later$x@$host"; }

# Of a busy machine epmd does not always answer in time.
has_listed_it() {
    "$beamtop" nodes --format json >"$work/out" && grep -o '{[^{}]*}' "$work/out" | grep "\"late$x@" >"$work/row"
}

lists_it() {
    wait_until 60 has_listed_it || { cat "$work/out"; return 1; }
    for part in '"cookie":"owner_home"' '"in_epmd":true' '"os_pid":[1-9]'; do
        grep -q "$part" "$work/row" || { cat "$work/row"; return 1; }
    done
}

# The picker has them, and opens the one that is chosen.
picks_it() {
    command -v tmux >/dev/null || { not_tried "no tmux here"; return 0; }
    one_of 5 has_picked_it
}

has_picked_it() {
    tm_close
    tm_open 120 30 HOME="$work/empty" || return 1
    tm_run "$beamtop --host $host"
    tm_wait "late$x@" && tm_wait "later$x@" || return 1
    tm_keys Escape q
    tm_close
}

# As root another user's: its own cookie, never root's.
opens_that_of_another_user() {
    home_with other OTHERCOOKIE && chmod 711 "$work" && chown -R nobody "$work/other" || return 1
    as="setpriv --reuid=65534 --clear-groups --"
    late "other$x@$host" longnames "$work/other" && prints "other$x@$host"
    opened=$?
    as=
    return $opened
}

# A host may have any character of Latin-1: C1 controls, too. They are in nothing that is printed.
steering=$(printf '\302[\200-\237]|[\001-\010\013-\037\177]')
is_plain() {
    for file; do
        if [ ! -s "$file" ] || LC_ALL=C grep -aqE "$steering" "$file"; then
            echo "$file:"
            od -c "$file" | head -n 20
            return 1
        fi
    done
}

steers_nothing() {
    odd=$(printf 'odd@c\302\2331mx.y')
    HOME=$work/empty erl -noinput -start_epmd false -setcookie ODDCOOKIE -eval '
        {ok, _} = net_kernel:start([list_to_atom("odd@c" ++ [16#9b] ++ "1mx.y"), longnames]),
        timer:sleep(1200000), halt().' >"$work/odd.log" 2>&1 &
    late="$late $!"
    wait_until 60 knows odd || { cat "$work/odd.log"; return 1; }
    set -- "$odd" --host "$host" --cookie ODDCOOKIE --timeout 30
    export HOME="$work" XDG_STATE_HOME="$work/state"
    for format in text json; do
        "$beamtop" info "$@" --format $format >"$work/info.$format" 2>"$work/err" || { cat "$work/err"; return 1; }
    done
    for format in text html svg; do
        "$beamtop" capture "$@" --format $format >"$work/shot.$format" 2>"$work/err" || { cat "$work/err"; return 1; }
    done
    "$beamtop" record start "$@" -i 0.5 -o "$work/odd.btr" >"$work/started" 2>&1 || { cat "$work/started"; return 1; }
    "$beamtop" record status >"$work/status"
    "$beamtop" record status --format json >"$work/status.json"
    "$beamtop" record stop >/dev/null
    wait_until 60 has_stopped || return 1
    "$beamtop" top "$odd" --host "$host" --cookie wrong --timeout 30 >"$work/out" 2>"$work/refused"
    is_plain "$work"/info.* "$work"/shot.* "$work/started" \
        "$work/status" "$work/status.json" "$work/odd.btr.log" "$work/refused"
}

# named NAME [MODULE]: a VM with that name on its command line, which has loaded that module, and a process
# with the name late_MODULE; $named is its OS process.
named() {
    erl -noinput -start_epmd false -name "$1" -setcookie NAMEDCOOKIE -eval "
        {module, _} = code:ensure_loaded(${2:-lists}), register(late_${2:-lists}, self()),
        timer:sleep(1200000), halt()." >"$work/named.log" 2>&1 &
    late="$late $!"
    named=$!
    wait_until 60 knows "${1%@*}" || { cat "$work/named.log"; return 1; }
}

# Port 1: nobody listens there.
opens_one_of_another_epmd() {
    named "own$x@$host" || return 1
    own=$named
    (ERL_EPMD_PORT=1 prints "own$x@$host") || return 1
    (ERL_EPMD_PORT=1 "$beamtop" nodes --format json) >"$work/out" || return 1
    grep -o '{[^{}]*}' "$work/out" | grep "\"own$x@" | grep -q '"port":[1-9]' || { cat "$work/out"; return 1; }
}

opens_one_whose_host_is_not_found() {
    named "lost$x@lost.invalid" && prints "lost$x@lost.invalid"
}

lists_deaf() { "$beamtop" nodes --format json | grep -q "\"deaf$x@"; }

# It runs here and has a name, but listens at no port.
says_that_its_port_is_not_found() {
    erl -noinput -start_epmd false -dist_listen false -name "deaf$x@$host" -setcookie NAMEDCOOKIE -eval '
        timer:sleep(1200000), halt().' >"$work/deaf.log" 2>&1 &
    late="$late $!"
    deaf=$!
    wait_until 60 lists_deaf || { cat "$work/deaf.log"; return 1; }
    "$beamtop" info "deaf$x@$host" --timeout 30 >"$work/out" 2>"$work/err"
    grep -q "runs here as OS process $deaf" "$work/err" && ! grep 'without -name' "$work/err" && return 0
    cat "$work/err"
    return 1
}

finds_xref() { "$beamtop" where "own$x@$host" xref:start/1 >"$work/out" 2>"$work/err"; }

# Two VMs of one name, each with its epmd.
starts_a_namesake() {
    first=$ERL_EPMD_PORT first_epmd=$epmd_pid
    ERL_EPMD_PORT=$((ERL_EPMD_PORT + 1))
    start_epmd && named "own$x@$host" xref
}

ends_the_namesake() {
    kill "$named" "$epmd_pid"
    wait "$named" "$epmd_pid"
    ERL_EPMD_PORT=$first epmd_pid=$first_epmd
}

# As `top` does, `where` takes it.
takes_the_one_that_epmd_knows() {
    wait_until 60 finds_xref || grep -q 'may not be read' "$work/err" || {
        cat "$work/out" "$work/err"
        return 1
    }
}

# It is the name of a node, too.
suggests_a_command() {
    command -v tmux >/dev/null || { not_tried "no tmux here"; return 0; }
    tm_close
    tm_open 140 30 HOME="$work/empty" && tm_run "$beamtop ndoes --no-config"
    tm_wait 'there is no command “ndoes” (did you mean '
    suggested=$?
    tm_close
    return $suggested
}

# picks OS_PID WORD: opens that VM, whose screen has the word.
picks() {
    tm_close
    tm_open 140 90 HOME="$work/empty" || return 1
    tm_run "$beamtop --timeout 30 --no-config"
    tm_wait " $1 " || return 1
    below=$(tm_text | grep '[^ ]@[^ ]' | grep -n " $1 " | cut -d: -f1)
    tm_keys Home
    while [ "$below" -gt 1 ]; do
        tm_keys Down
        below=$((below - 1))
    done
    tm_keys Enter
    tm_wait "$2"
}

opens_either_that_is_picked() {
    command -v tmux >/dev/null || { not_tried "no tmux here"; return 0; }
    picks "$own" late_lists && picks "$named" late_xref
    picked=$?
    tm_close
    return $picked
}

opens_one_without_epmd() {
    stop_epmd
    prints "own$x@$host" && prints "lost$x@lost.invalid"
}

has_stopped() { "$beamtop" record status | grep -q 'nothing is being recorded'; }

trap stop_all EXIT
trap 'exit 130' HUP INT TERM PIPE
start_epmd

run starts
run opens_it_by_both_names
run opens_it_by_its_os_pid
run says_that_there_is_no_such_process
run takes_the_cookie_of_the_command_line
run lists_it
run picks_it
run steers_nothing
run opens_one_of_another_epmd
run opens_one_whose_host_is_not_found
run suggests_a_command
run starts_a_namesake
run takes_the_one_that_epmd_knows
run opens_either_that_is_picked
ends_the_namesake
run says_that_its_port_is_not_found
if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; then
    run opens_that_of_another_user
else
    skip opens_that_of_another_user "only root can be another user"
fi
run opens_one_without_epmd
finish
