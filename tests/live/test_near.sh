#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Nodes of this host in other namespaces: network, mount, pid, user, and of another user. Each is reached, with
# the header of the node, or refused in a sentence that says what lifts it. No case needs epmd of the host.
# shellcheck disable=SC1091,SC2016,SC2034,SC2154,SC2317
set -u
. "$(dirname "$0")/../tap.sh"
. "$BEAMTOP_SRCDIR/tests/live/which.sh"
otp_sh=$BEAMTOP_SRCDIR/tests/live/otp.sh
command -v erl >/dev/null || skip_all "no Erlang on this machine"
for program in unshare setpriv ip; do
    command -v "$program" >/dev/null || skip_all "no $program here"
done
[ "$(id -u)" = 0 ] || skip_all "only root can be root without a capability, and other users"
unshare -n true 2>"$work/why" || skip_all "no network namespace: $(head -n 1 "$work/why")"

chmod 755 "$work"
user=64001 # of nobody
stranger=64002
vms=

# as UID WORDS…
as() {
    as_uid=$1
    shift
    setpriv --reuid "$as_uid" --regid "$as_uid" --clear-groups env HOME="$work/home-$as_uid" "$@"
}

stop_vms() {
    for vm in $vms; do
        kill -9 "$vm" 2>/dev/null
        wait "$vm" 2>/dev/null
    done
    rm -rf "$work"
}
trap stop_vms EXIT
trap 'exit 130' HUP INT TERM PIPE

# in_namespaces UNSHARE… -- WORDS…: a VM of its own; it makes the file $work/up once it listens. It ends with
# the processes above it.
is_up() { [ -s "$work/up" ]; }
starts() {
    rm -f "$work/up"
    "$@" >"$work/log" 2>&1 &
    vms="$vms $!"
    wait_until 120 is_up || { cat "$work/log"; return 1; }
}
inside='ip link set lo up 2>/dev/null; exec "$@"'
up="ok = file:write_file(\"$work/up\", os:getpid()), timer:sleep(600000), halt()."
# The first word of a node's name is that of its case.
node_words() { echo "-noinput -name $1@127.0.0.1 -eval"; }

# asks WORDS…: the exit code, and what it says in $work/err and $work/out.
asks() { "$@" --timeout 60 >"$work/out" 2>"$work/err" </dev/null; }
# is_header NODE CODE
is_header() {
    [ "$2" = 0 ] && grep -q "^$1 .*processes [0-9]" "$work/out" && return
    echo "exit code $2 for $1:"
    cat "$work/err" "$work/out"
    return 1
}
# is_refused TEXT CODE: one line, and exit code 3.
is_refused() {
    [ "$2" = 3 ] && [ ! -s "$work/out" ] && [ "$(wc -l <"$work/err")" = 1 ] && grep -q -e "$1" "$work/err" &&
        return
    echo "exit code $2 without: $1"
    cat "$work/err" "$work/out"
    return 1
}

# ---- a container that root has made

# The cookie is in a home that only its own mount namespace has.
container_is_up() {
    mkdir "$work/home-0" "$work/secret"
    printf 'of the container' | tr ' ' _ >"$work/secret/.erlang.cookie"
    chmod 400 "$work/secret/.erlang.cookie"
    # shellcheck disable=SC2086,SC2046
    starts env HOME="$work/home-0" "$otp_sh" "$otp" unshare -n -m -p -u -f --kill-child sh -c \
        'mount --bind "$0" "$HOME" && '"$inside" "$work/secret" erl -start_epmd false \
        $(node_words boxed) "$up"
}
root_reaches_it() {
    asks "$beamtop" info boxed@127.0.0.1
    is_header boxed@127.0.0.1 $?
}
