#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Nodes of this host in other namespaces: network, mount, pid, user, and of another user. Each is reached, with
# the header of the node, or refused in a sentence that says what lifts it. No case needs epmd of the host.
# shellcheck disable=SC1091,SC2016,SC2034,SC2154,SC2317
set -u
. "$(dirname "$0")/../tap.sh"
. "$BEAMTOP_SRCDIR/tests/tmux/lib.sh"
. "$BEAMTOP_SRCDIR/tests/live/which.sh"
otp_sh=$BEAMTOP_SRCDIR/tests/live/otp.sh
command -v erl >/dev/null || skip_all "no Erlang on this machine"
for program in unshare setpriv ip; do
    command -v "$program" >/dev/null || skip_all "no $program here"
done
[ "$(id -u)" = 0 ] || skip_all "only root can be root without a capability, and other users"
unshare -n true 2>"$work/why" || skip_all "no network namespace: $(head -n 1 "$work/why")"

chmod 1777 "$work"
cp "$beamtop" "$work/beamtop" # the folder of the build may be root's
beamtop=$work/beamtop
user=64001 # of nobody
stranger=64002
vms=

# as UID WORDS…; in the background `exec`: it is the process that is ended.
as() {
    as_uid=$1
    shift
    $as_exec setpriv --reuid "$as_uid" --regid "$as_uid" --clear-groups env HOME="$work/home-$as_uid" "$@"
}
as_exec=

stop_vms() {
    for vm in $vms; do
        kill -9 "$vm" 2>/dev/null
        wait "$vm" 2>/dev/null
    done
    for root in $roots; do
        rm -rf "${root:?}$work"
    done
    rm -rf "$work"
}
roots=
trap stop_vms EXIT
trap 'exit 130' HUP INT TERM PIPE

# starts NODE WORDS…: a VM of that name and the number of this test, in the namespaces that these words make, and a
# pid namespace, with which it ends.
is_up_or_ended() { [ -s "$up" ] || ! is_running "$vm"; }
starts() {
    node=$1$$@${address:-127.0.0.1}
    up=$root$work/up-$1$$
    rm -f "$up"
    shift
    "$@" -p -f --kill-child sh -c 'ip link set lo up && exec "$@"' sh "$otp_sh" "$otp" erl -noinput -name "$node" \
        -start_epmd false -erl_epmd_port "$port" ${cookie:+-setcookie "$cookie"} \
        -eval "ok = file:write_file(\"$work/up-${node%@*}\", \"up\"), timer:sleep(600000), halt()." >"$work/log" 2>&1 &
    vm=$!
    vms="$vms $vm"
    wait_until 60 is_up_or_ended
    [ -s "$up" ] || { cat "$work/log"; return 1; }
}
os_pid() {
    "$beamtop" nodes --format json | jq -r ".rows[] | select(.name == \"$1\") | .os_pid"
}

# asks WORDS…: the exit code, and what it says in $work/err and $work/out.
asks() { "$@" --timeout "${timeout:-60}" >"$work/out" 2>"$work/err" </dev/null; }
# reaches NODE WORDS…: beamtop prints its header.
reaches() {
    reached=$1
    shift
    asks "$@"
    code=$?
    [ "$code" = 0 ] && grep -q "^$reached .*processes [0-9]" "$work/out" && return
    echo "exit code $code for $reached:"
    cat "$work/err" "$work/out"
    return 1
}
# refused CODE TEXT WORDS…: in the first line; below it may be what is seen from outside.
refused() {
    expected=$1 text=$2
    shift 2
    asks "$@"
    code=$?
    [ "$code" = "$expected" ] && [ ! -s "$work/out" ] && head -n 1 "$work/err" | grep -q -e "$text" && return
    echo "exit code $code without: $text"
    cat "$work/err" "$work/out"
    return 1
}
lacking() { # CAPABILITY WORDS…
    lacked=$1
    shift
    setpriv --bounding-set "-$lacked" --inh-caps "-$lacked" "$@"
}

# ---- a container of root's: network, mount and pid namespace, and another root directory where the release is
# not the host's. Its cookie is in its home.

container_is_up() {
    root=$("$otp_sh" --root "$otp") || return 1
    roots="$roots $root"
    mkdir -p "$root$work/home"
    printf 'contained' >"$root$work/home/.erlang.cookie"
    chmod 400 "$root$work/home/.erlang.cookie"
    starts "boxed$otp" env HOME="$work/home" unshare -n -m
}
root_reaches_it() { reaches "boxed$otp$$@127.0.0.1" "$beamtop" info "boxed$otp$$@127.0.0.1"; }
nodes_lists_its_port_and_cookie() {
    "$beamtop" nodes --format json | jq -e ".rows[] | select(.name == \"boxed$otp$$@127.0.0.1\") |
        .port == $port and .cookie == \"owner_home\"" >/dev/null
}

doctor_may_enter() {
    "$beamtop" doctor "$node" --timeout 60 >"$work/out" 2>&1 && grep -q '^  ok    namespace ' "$work/out" && return
    cat "$work/out"
    return 1
}
root_lacks() { refused 3 "lacks CAP_$2 .*--cap-add" lacking "$1" "$beamtop" info "$node"; }
stranger_is_refused() { refused 3 'this user may not enter.*sudo beamtop' as "$stranger" BEAMTOP_COOKIE=any "$beamtop" info "$(os_pid "$node")"; }
# Only its name says that it is meant, though root asks for a VM of root's. Its OS pid says more, and then the node
# says whether the cookie is right.
name_alone_gets_no_cookie() {
    refused 5 "of another network namespace calls itself $node.*OS pid.*--host" env BEAMTOP_COOKIE=any "$beamtop" info "$node" &&
        refused 3 'rejected the cookie' env BEAMTOP_COOKIE=any "$beamtop" info "$(os_pid "$node")"
}
# Where it may not be entered, one with an address is tried from here.
address_is_tried_from_here() {
    cookie=far address=10.211.7.2
    starts far unshare -n
    begun=$?
    cookie='' address=''
    [ "$begun" = 0 ] || return 1
    pid=$(os_pid "$node")
    ip link add "near$$" type veth peer name far netns "$pid" && ip addr add 10.211.7.1/30 dev "near$$" &&
        ip link set "near$$" up && nsenter -t "$pid" -n ip addr add 10.211.7.2/30 dev far &&
        nsenter -t "$pid" -n ip link set far up || return 1
    reaches "$node" lacking sys_admin "$beamtop" info "$node"
}
stopped_one_is_silent() {
    pid=$(os_pid "$node")
    kill -STOP "$pid"
    timeout=1
    refused 3 'does not answer within 1.0 s' "$beamtop" info "$node"
    silent=$?
    timeout=
    kill -CONT "$pid"
    return $silent
}
other_address_turns_it_off() { refused 3 "port $port refuses" "$beamtop" info "$node" --port "$port"; }

# Two of one name: only the OS pid says which.
namesake_is_named_by_its_pid() {
    cookie=second
    starts "boxed$otp" unshare -n || return 1
    cookie=
    for pid in $(os_pid "$node"); do
        reaches "$node" "$beamtop" info "$pid" || return 1
    done
    refused 2 'several VMs .*give the OS pid ([0-9]*, [0-9]*)' "$beamtop" info "$node"
}

# ---- one without root: in a user namespace that its user has made

rootless_is_up() {
    as "$user" unshare -U true 2>/dev/null || { not_tried "no user namespace for users"; return 0; }
    cookie=rootless
    as_exec='exec'
    starts rootless as "$user" unshare -U -r -n
    begun=$?
    cookie='' as_exec=''
    return $begun
}
if_rootless() {
    as "$user" unshare -U true 2>/dev/null || { not_tried "no user namespace for users"; return 0; }
    "$@"
}
its_user_reaches_it() { reaches "$node" as "$user" "$beamtop" info "$node"; }
root_reaches_rootless() { reaches "$node" "$beamtop" info "$node"; }
# What calls itself a node of another host: here it is no VM at all.
liar_gets_no_cookie() {
    cp "$(command -v sh)" "$work/beam.smp"
    as_exec='exec'
    as "$stranger" unshare -U -r -n "$work/beam.smp" -c 'kill -STOP $$; :' -name liar$$@node.example &
    vms="$vms $!"
    as_exec=
    wait_until 60 is_listed liar$$@node.example || return 1
    refused 5 "calls itself liar$$@node.example.*OS pid.*--host" \
        env BEAMTOP_COOKIE=any "$beamtop" info liar$$@node.example
}
is_listed() { [ "$(os_pid "$1")" ]; }
# Whatever became of the connection.
no_helper_stays() { wait_until 60 none_runs || { cat "$work/stays"; return 1; }; }
none_runs() {
    find /proc -maxdepth 2 -name exe -lname "$beamtop*" 2>/dev/null >"$work/stays"
    [ ! -s "$work/stays" ]
}

# ---- in a container: the VM's pid namespace, and no other VM in it

screen_opens_the_only_one() {
    pid=$(os_pid "$node")
    command -v tmux >/dev/null || { not_tried "no tmux here"; return 0; }
    tm_open 100 30 || return 1
    tm_run "nsenter -t $pid -p -n unshare -m -f sh -c 'mount -t proc proc /proc; exec $beamtop --timeout 60'"
    tm_wait "$node" && tm_wait_line '[0-9] processes|processes +[0-9]'
    shown=$?
    tm_close
    return $shown
}

# A list of two, each in another network namespace: Enter on each. Nothing is at port 1: what else the epmd of
# this host knows is not in the list.
screen_opens_each_of_two() {
    first=$node
    pid=$(os_pid "$first")
    command -v tmux >/dev/null || { not_tried "no tmux here"; return 0; }
    cookie=second
    starts second nsenter -t "$pid" -p unshare -n
    begun=$?
    cookie=
    second=$node node=$first
    [ "$begun" = 0 ] && tm_open 110 30 || return 1
    tm_run "nsenter -t $pid -p unshare -m -f sh -c 'mount -t proc proc /proc; exec $beamtop --timeout 60 --epmd-port 1'"
    picks "$first" Home && tm_keys @ && picks "$second" End
    picked=$?
    tm_close
    return $picked
}
# picks NODE KEY: its row is the first or the last.
picks() {
    tm_wait "$first" && tm_wait "$second" || return 1
    tm_keys "$2"
    tm_keys Enter
    tm_wait_gone "OS PID" && tm_wait_line "$1 .* live"
}

root=
cookie=
address=
port=4370
hosts= # the release that other users can run
for otp in $({ releases_of differ; releases_of once; } | tr ' ' '\n' | sort -u); do
    if reason=$("$otp_sh" --root "$otp" 2>&1); then
        for case in container_is_up root_reaches_it nodes_lists_its_port_and_cookie; do
            run "$case"
        done
        [ "$reason" ] || hosts=$otp
    else
        skip "containers_on_OTP_$otp" "$reason"
    fi
done
[ "$hosts" ] || { skip other_users "no release of those that were chosen is the host's own"; finish; }
otp=$hosts
root=
node=boxed$otp$$@127.0.0.1
run doctor_may_enter
run root_lacks sys_admin SYS_ADMIN
run root_lacks sys_ptrace SYS_PTRACE
for case in stranger_is_refused name_alone_gets_no_cookie other_address_turns_it_off stopped_one_is_silent screen_opens_each_of_two \
    namesake_is_named_by_its_pid address_is_tried_from_here; do
    run "$case"
done
run rootless_is_up
for case in its_user_reaches_it root_reaches_rootless stranger_is_refused liar_gets_no_cookie screen_opens_the_only_one \
    no_helper_stays; do
    run if_rootless "$case"
done
finish
