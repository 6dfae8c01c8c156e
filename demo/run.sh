#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Starts and ends a demo node. It has an epmd, a port, a cookie and a directory of its own and listens
# on loopback only, so that nothing else of the machine is touched.
#
#   run.sh start [ERL-ARGUMENT…]  compile and start; prints what `env` prints
#   run.sh env                    shell assignments: where the running node is
#   run.sh status                 whether it runs; exit 0 when it does, else 1
#   run.sh stop                   end it and its epmd, by pid
#
# BEAMTOP_DEMO_APP  which one: shop (the default) or gateway
# BEAMTOP_DEMO_DIR  its directory (default: beamtop-demo-UID in $TMPDIR or /tmp, for others than the
#                   shop with -APP behind it); one node a directory
# BEAMTOP_DEMO_OTP  the OTP release (see tests/live/otp.sh; default: the machine's erl)
# A rate or size of APP/APP.app is changed by erl arguments: run.sh start -shop mails_per_s 2000
set -eu

here=$(cd "$(dirname "$0")" && pwd)
app=${BEAMTOP_DEMO_APP:-shop}
case $app in
shop) suffix= ;;
gateway) suffix=-gateway ;;
*)
    echo "demo: there is no $app: shop or gateway" >&2
    exit 2
    ;;
esac
dir=${BEAMTOP_DEMO_DIR:-${TMPDIR:-/tmp}/beamtop-demo-$(id -u)$suffix}
otp=${BEAMTOP_DEMO_OTP:-}
node=$app@127.0.0.1
start_s=120                             # until the node must be up
stop_s=10                               # until it is killed

fail() {
    echo "demo: $*" >&2
    exit 1
}

of_otp() {
    if [ -n "$otp" ]; then
        exec "$here/../tests/live/otp.sh" "$otp" "$@"
    else
        exec "$@"
    fi
}

# The directory as seen from outside the root that the OTP release may live in.
root=
if [ -n "$otp" ]; then
    root=$("$here/../tests/live/otp.sh" --root "$otp")
fi
out=$root$dir

# alive NAME MARK: the process whose id is in NAME.pid runs and has MARK on its command line.
alive() {
    [ -f "$out/$1.pid" ] || return 1
    pid=$(cat "$out/$1.pid")
    tr '\0' ' ' 2>/dev/null <"/proc/$pid/cmdline" | grep -qF -e "$2"
}

node_runs() { alive node "-${app}_dir $dir "; }
epmd_runs() { alive epmd "epmd -port "; }

# wait_until SECONDS COMMAND…: looks ten times a second.
wait_until() {
    left=$(($1 * 10))
    shift
    until "$@"; do
        left=$((left - 1))
        [ "$left" -gt 0 ] || return 1
        sleep 0.1
    done
}

end() {
    name=$1
    "${name}_runs" || return 0
    kill "$pid" 2>/dev/null || true
    wait_until "$stop_s" gone "$name" || kill -9 "$pid" 2>/dev/null || true
    wait_until 60 gone "$name" || fail "$name ($pid) does not end"
    rm -f "$out/$name.pid"
}

gone() { ! "${1}_runs"; }

# A directory that others cannot prepare for us.
make_dir() {
    mkdir -p "$(dirname "$out")"
    [ -d "$out" ] || mkdir -m 700 "$out"
    [ "$(stat -c %u "$out")" = "$(id -u)" ] || fail "$out belongs to somebody else"
    chmod 700 "$out"
    mkdir -p "$out/src" "$out/ebin"
    rm -f "$out/ready" "$out/node.log" "$out/epmd.log"
    if [ ! -f "$out/.erlang.cookie" ]; then
        (umask 077 && od -An -N16 -tx1 /dev/urandom | tr -d ' \n' >"$out/.erlang.cookie")
        chmod 400 "$out/.erlang.cookie"
    fi
}

# The settings of the demo, by its application file.
settings() { sed -n '/{env,/,$s/^[ []*{\([a-z_]*\), .*/\1/p' "$here/$app/$app.app" | tr '\n' ' '; }

check_setting() { # KEY VALUE
    case " $(settings)" in
    *" $1 "*) ;;
    *) fail "$app has no setting $1: $(settings)" ;;
    esac
    case $1:$2 in
    scenario:sync | scenario:debug | scenario:async | scenario:healthy) ;;
    scenario:*) fail "$app has no scenario ${2:-without a name}: sync debug async healthy" ;;
    *: | *:*[!0-9]*) fail "$1 is a number, not ${2:-nothing}" ;;
    esac
}

# Behind `-APP` stand settings and their values, up to the next flag (+S, -s …). A mistyped one would be ignored.
check_settings() {
    ours=
    while [ $# -gt 0 ]; do
        case $1 in
        "-$app") ours=yes ;;
        -* | +*) ours= ;;
        *)
            if [ -n "$ours" ]; then
                check_setting "$1" "${2:-}"
                shift
            fi
            ;;
        esac
        shift
    done
}

compile() {
    cp "$here/$app"/*.erl "$out/src/"
    cp "$here/$app/$app.app" "$out/ebin/"
    # shellcheck disable=SC2016
    (of_otp sh -c 'cd "$0" && exec erlc -Werror +debug_info -pa ebin -o ebin src/*.erl' "$dir") >&2 ||
        fail "the demo does not compile"
}

# Takes the first port that nobody has and on which epmd stays up: that of the last time first, so that
# who lost the node finds it again. Below those that the system gives to whoever connects or listens.
start_epmd() {
    last=$(cat "$out/epmd.port" 2>/dev/null || echo $((20000 + $$ % 12000)))
    for try in 0 1 2 3 4 5 6 7 8 9; do
        port=$((last + try))
        ! epmd_answers || continue
        (ERL_EPMD_PORT=$port ERL_EPMD_ADDRESS=127.0.0.1 of_otp epmd -port "$port") \
            >"$out/epmd.log" 2>&1 </dev/null &
        echo $! >"$out/epmd.pid"
        if wait_until 60 epmd_answers_or_dead && epmd_answers && epmd_runs; then
            echo "$port" >"$out/epmd.port"
            return 0
        fi
        kill "$(cat "$out/epmd.pid")" 2>/dev/null || true
    done
    fail "epmd does not start: $(cat "$out/epmd.log")"
}

epmd_answers_or_dead() { epmd_answers || ! kill -0 "$(cat "$out/epmd.pid")" 2>/dev/null; }
epmd_answers() { (of_otp timeout 20 epmd -port "$port" -names) >/dev/null 2>&1; }

start_node() {
    (
        HOME=$dir
        ERL_EPMD_PORT=$port
        ERL_CRASH_DUMP=/dev/null
        export HOME ERL_EPMD_PORT ERL_CRASH_DUMP
        of_otp setsid erl -name "$node" -start_epmd false -noinput +sbwt none \
            -kernel inet_dist_use_interface '{127,0,0,1}' -pa "$dir/ebin" "-${app}_dir" "$dir" "$@" \
            -eval 'ok = application:start('"$app"'), ok = file:write_file("'"$dir"'/ready", "")'
    ) >"$out/node.log" 2>&1 </dev/null &
    echo $! >"$out/node.pid"
    wait_until "$start_s" ready_or_dead
    [ -f "$out/ready" ] || {
        cat "$out/node.log" >&2
        stop
        fail "the node does not start"
    }
}

ready_or_dead() { [ -f "$out/ready" ] || ! kill -0 "$(cat "$out/node.pid")" 2>/dev/null; }

start() {
    check_settings "$@"
    if node_runs; then
        show_env
        return 0
    fi
    make_dir
    end epmd
    compile
    start_epmd
    start_node "$@"
    show_env
}

stop() {
    end node
    end epmd
}

show_env() {
    node_runs || fail "no node runs in $dir"
    echo "ERL_EPMD_PORT=$(cat "$out/epmd.port")"
    echo "BEAMTOP_DEMO_NODE=$node"
    echo "BEAMTOP_DEMO_COOKIE_FILE='$out/.erlang.cookie'"
    echo "BEAMTOP_DEMO_PID=$(cat "$out/node.pid")"
    echo "export ERL_EPMD_PORT BEAMTOP_DEMO_NODE BEAMTOP_DEMO_COOKIE_FILE BEAMTOP_DEMO_PID"
}

status() {
    if node_runs; then
        echo "$node runs as process $pid, epmd on port $(cat "$out/epmd.port"), directory $out"
    else
        echo "no node runs in $out"
        return 1
    fi
}

command=${1:-}
[ $# -eq 0 ] || shift
case $command in
start) start "$@" ;;
env) show_env ;;
status) status ;;
stop) stop ;;
*)
    sed -n '3,16s/^# \{0,1\}//p' "$0" >&2
    exit 2
    ;;
esac
