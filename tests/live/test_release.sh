#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# The static program where nothing but it is: empty and read-only roots, other users, namespaces, C
# libraries. Each prints the list of a node's processes within 3 s, or why it cannot.
# shellcheck disable=SC1091,SC2016,SC2034,SC2154,SC2317
set -u
. "$(dirname "$0")/../tap.sh"
. "$(dirname "$0")/epmd.sh"

[ "$(id -u)" = 0 ] || skip_all "only root makes roots and namespaces"
programs=$(find "$BEAMTOP_SRCDIR/build-release" -path "*/$(uname -m)-*/src/beamtop" 2>/dev/null | sort)
[ -n "$programs" ] || skip_all "no static program: release/make.sh --program x86_64-linux-musl"
PATH=$PATH:/usr/sbin:/sbin

node=release$$@127.0.0.1
root=$work/root
cookie=secret # on the command line: the node is this script's

is_up() { "$program" info "$1" --cookie "$cookie" --timeout 30 >/dev/null 2>&1; }

# 3 s where the machine is idle: on one that is not, what the list needs may take longer.
limit_ms=3000
[ -z "${BEAMTOP_LINES:-}${MAKELEVEL:-}" ] || limit_ms=60000

# lists COMMAND…: it runs the program, which prints the list in time; how long it took is said.
lists() { lists_of "$node" '' "$@"; }

# lists_of NODE OPTIONS COMMAND…
lists_of() {
    of=$1 options=$2
    shift 2
    began=$(date +%s%N)
    # shellcheck disable=SC2086
    "$@" top "$of" $options --cookie "$cookie" --timeout 30 -n 1 --rows 3 </dev/null >"$work/out" 2>&1
    code=$?
    took_ms=$((($(date +%s%N) - began) / 1000000))
    if [ "$code" != 0 ] || ! grep -qE '^<[0-9.]+> ' "$work/out"; then
        echo "exit code $code:"
        cat "$work/out"
        return 1
    fi
    measured "$took_ms ms"
    [ "$took_ms" -le "$limit_ms" ] || { echo "$took_ms ms"; return 1; }
}

# refuses TEXT COMMAND…: it cannot, and says so.
refuses() {
    text=$1
    shift
    "$@" >"$work/out" 2>&1 </dev/null
    code=$?
    if [ "$code" = 0 ] || [ "$code" -ge 124 ] || ! grep -qE "^beamtop: .*$text" "$work/out"; then
        echo "exit code $code:"
        cat "$work/out"
        return 1
    fi
    measured "$(sed 's/^beamtop: //' "$work/out" | tr '\n' ' ')"
}

measured() { printf '%s|%s|%s\n' "$kind" "$tap_name" "$*" >>"$work/table"; }

bare() { env -i LANG=C.UTF-8 PATH="$PATH" ERL_EPMD_PORT="$ERL_EPMD_PORT" "$@"; }
chrooted() { bare chroot "$root" /beamtop "$@"; }
with_proc() {
    bare unshare --mount sh -c 'mount -t proc proc "$0/proc" && exec chroot "$0" /beamtop "$@"' "$root" "$@"
}

on_the_host() { lists "$program"; }
empty_root() { lists chrooted; }
empty_root_with_proc() { lists with_proc; }
read_only_root() {
    lists bare unshare --mount sh -c 'mount --bind "$0" "$0" && mount -o remount,ro,bind "$0" &&
        ! (: >"$0/x") 2>/dev/null && exec chroot "$0" /beamtop "$@"' "$root"
}
user_without_a_name() { lists bare chroot --userspec=65532:65532 "$root" /beamtop; }
processes_of_others_hidden() {
    lists bare unshare --mount sh -c 'mount -t proc -o hidepid=2 proc "$0/proc" &&
        exec chroot --userspec=65532:65532 "$0" /beamtop "$@"' "$root"
}
no_capability() { lists bare setpriv --bounding-set=-all --inh-caps=-all --no-new-privs "$program"; }
other_pid_namespace() { lists bare unshare --pid --fork --mount-proc "$program"; }
other_user_namespace() { lists bare unshare --user "$program"; }
# The way there is through the VM's files in /proc. A cookie goes to the OS process that was chosen only.
other_network_namespace() { lists_of "$node_pid" '' bare unshare --net "$program"; }
other_network_namespace_by_name() {
    refuses 'does not send it a cookie.* Give the OS pid' bare unshare --net "$program" top "$node" \
        --cookie "$cookie" -n 1
}
other_network_namespace_without_proc() {
    refuses 'network is unreachable' bare unshare --net chroot "$root" /beamtop top "$node" --cookie "$cookie" -n 1
}

# TLS without a file beside the program, and with one: the CA that has signed.
tls_empty_root() {
    [ -n "$tls_pid" ] || { not_tried "no openssl here"; return 0; }
    cp "$work/ca.pem" "$root"
    lists_of "$tls_node" '--tls --tls-verify none' chrooted &&
        lists_of "$tls_node" '--tls-cacert /ca.pem --tls-verify full' chrooted
    code=$?
    rm -f "$root/ca.pem"
    return "$code"
}

old_c_library() { in_release 23; }
new_c_library() { in_release 29; }
in_release() {
    other=$("$BEAMTOP_SRCDIR/tests/live/otp.sh" --root "$1" 2>"$work/why") || {
        not_tried "$(tail -n 1 "$work/why")"
        return 0
    }
    [ -n "$other" ] || { not_tried "OTP $1 is this machine's own"; return 0; }
    lists bare unshare --mount sh -c 'mount --bind "$1" "$0/mnt" && shift &&
        exec chroot "$0" /mnt/beamtop "$@"' "$other" "$root"
}

a_host_that_has_no_address() {
    refuses 'host nowhere.invalid' chrooted top a@nowhere.invalid --cookie "$cookie" -n 1
}
no_home_has_no_cookie() { refuses 'no cookie' chrooted top "$node" -n 1; }
no_proc_has_no_ways() { refuses 'no /proc' chrooted top "ssh://nowhere.invalid/$node" --cookie "$cookie" -n 1; }
no_proc_has_no_vms() { refuses 'no /proc' chrooted sample 1 --for 0.1s; }
unknown_terminals_are_named() {
    command -v script >/dev/null 2>&1 || { not_tried "no script here"; return 0; }
    bare TERM=no-such-terminal script -qec \
        "chroot $root /beamtop $node --cookie $cookie" /dev/null </dev/null >"$work/out" 2>&1
    grep -q 'TERM=xterm-256color' "$work/out" || { cat "$work/out"; return 1; }
}

# Each description that is inside shows the screen where there is no terminfo.
shows_the_screen_as() { shows_in_tmux "$1" "$(command -v chroot) '$root' /beamtop"; }

# shows_in_tmux TERMINAL PROGRAM
shows_in_tmux() {
    command -v tmux >/dev/null 2>&1 || { not_tried "no tmux here"; return 0; }
    server=$work/tmux-$kind-$1 # the last one may still be ending
    tmux -S "$server" -f /dev/null new-session -d -x 100 -y 20 \
        "env -i LANG=C.UTF-8 TERM=$1 ERL_EPMD_PORT=$ERL_EPMD_PORT $2 $node --cookie $cookie --timeout 30; cat"
    wait_until 60 shows 'code_server|init'
    code=$?
    [ "$code" = 0 ] || cat "$work/shown"
    tmux -S "$server" kill-server
    return "$code"
}
shows() { tmux -S "$server" capture-pane -p >"$work/shown" 2>&1 && grep -qE "$1" "$work/shown"; }

# ---- the program for arm64, which qemu runs beside the nodes of this machine

arm64=$BEAMTOP_SRCDIR/build-release/aarch64-linux-musl
qemu=$(command -v qemu-aarch64 || command -v qemu-aarch64-static)

# on_arm64 CASE: skipped where it cannot be run.
on_arm64() {
    if [ "$(uname -m)" = aarch64 ] || [ -z "$qemu" ] || [ ! -x "$arm64/src/beamtop" ]; then
        not_tried "no qemu-aarch64, or no program for arm64: ./bootstrap check build arm64"
        return 0
    fi
    "$@"
}

emulated() { bare "$qemu" "$arm64/src/beamtop" "$@"; }

says_its_version() { [ "$(emulated --version)" = "$("$program" --version)" ]; }
size_is_bounded() { is_small "$arm64/src/beamtop"; }
lists_processes() { lists emulated; }
shows_the_screen() { shows_in_tmux xterm-256color "$qemu '$arm64/src/beamtop'"; }

lists_over_tls() {
    [ -n "$tls_pid" ] || { not_tried "no openssl here"; return 0; }
    lists_of "$tls_node" '--tls --tls-verify none' emulated
}

# What does not change is as the other program prints it.
reads_the_same() {
    emulated system "$node" --cookie "$cookie" --timeout 30 >"$work/out" 2>&1 || { cat "$work/out"; return 1; }
    "$program" system "$node" --cookie "$cookie" --timeout 30 >"$work/here" 2>&1 || { cat "$work/here"; return 1; }
    same='^(versions|emulator) '
    grep -E "$same" "$work/out" >"$work/out.same" && grep -E "$same" "$work/here" | diff "$work/out.same" -
}

# A cap ends it, and nothing is left.
traces_within_caps() {
    if emulated trace "$node" 'timer:sleep/1' --events 3 --cookie "$cookie" --timeout 30 >"$work/out" 2>&1 &&
        [ "$(grep -c 'timer:sleep(' "$work/out")" = 3 ] && grep -q 'nothing left' "$work/out"; then
        return 0
    fi
    cat "$work/out"
    return 1
}

# All that are built, but for those that need what qemu-user lacks: namespaces (test_rights), openat2,
# which comes with a qemu later than 7.2 (test_discover), and arm64 programs as child processes.
passes_unit_tests() {
    passed=0
    for test in "$arm64"/tests/unit/*/test_* "$arm64"/tests/unit/*/*/test_* "$arm64"/tests/screen/test_*; do
        case $test in
        *.o | *.trs | *.log | *'*' | */test_rights | */test_discover) continue ;;
        */test_extreme_numbers | */test_hostile_recording | */test_local_read) continue ;;
        esac
        BEAMTOP_BUILDDIR=$arm64 CMOCKA_MESSAGE_OUTPUT=TAP timeout 900 \
            sh "$BEAMTOP_SRCDIR/tests/tap_skip.sh" "$qemu" "$test" >"$work/out" 2>&1 || {
            echo "$test:"
            grep -B 5 '^not ok' "$work/out" || tail -n 5 "$work/out"
            return 1
        }
        passed=$((passed + $(grep -c '^ok' "$work/out")))
    done
    [ "$passed" -gt 0 ] || { not_tried "no unit tests for arm64: ./bootstrap check build arm64"; return 0; }
    measured "$passed cases"
}

# Nothing of the host is needed: no library, no interpreter.
needs_nothing() {
    command -v readelf >/dev/null 2>&1 || { not_tried "no readelf here"; return 0; }
    ! readelf -ldW "$program" | grep -E 'INTERP|NEEDED'
}

is_small() {
    size=$(wc -c <"$1")
    measured "$size bytes"
    [ "$size" -le $((8 * 1024 * 1024)) ] || { echo "$size bytes"; return 1; }
}

# Its certificate is signed by itself.
start_tls_node() {
    openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout "$work/key.pem" -out "$work/ca.pem" \
        -subj /CN=release -addext subjectAltName=IP:127.0.0.1 -days 2 2>"$work/tls" ||
        fail_all "openssl makes no certificate" "$work/tls"
    erl -noinput -start_epmd false -name "$tls_node" -setcookie "$cookie" -proto_dist inet_tls \
        -ssl_dist_opt server_certfile "$work/ca.pem" server_keyfile "$work/key.pem" \
        -eval 'timer:sleep(1200000), halt().' >"$work/tls" 2>&1 &
    tls_pid=$!
}

stop_all() {
    for pid in ${node_pid:-} ${tls_pid:-}; do
        kill "$pid" && wait "$pid"
    done 2>/dev/null
    stop_epmd
    rm -rf "$work"
}

trap stop_all EXIT
trap 'exit 130' HUP INT TERM PIPE
start_epmd
erl -noinput -start_epmd false -name "$node" -setcookie "$cookie" \
    -eval 'F = fun(_, 0) -> halt(); (F, N) -> timer:sleep(100), F(F, N - 1) end, F(F, 12000).' \
    >"$work/node" 2>&1 &
node_pid=$!
tls_pid=''
tls_node=release_tls$$@127.0.0.1
! command -v openssl >/dev/null 2>&1 || start_tls_node
mkdir -p "$root/proc" "$root/mnt"

# Where the libraries of a build are kept.
cache_is_refused() {
    if BEAMTOP_CACHE=$1 "$BEAMTOP_SRCDIR/release/libraries.sh" x86_64-linux-musl >"$work/out" 2>&1 ||
        ! grep "^libraries.sh: .*$1" "$work/out" | grep -q BEAMTOP_CACHE; then
        cat "$work/out"
        return 1
    fi
}
# What a package installs is where the shells of its distribution look.
deb_completes() {
    deb=$(find "$BEAMTOP_SRCDIR/build-release/files" -name 'beamtop_*_amd64.deb' 2>/dev/null)
    { [ -n "$deb" ] && command -v dpkg-deb zsh fish; } >/dev/null || { not_tried "no .deb, dpkg-deb, zsh or fish"; return 0; }
    dpkg-deb -x "$deb" "$work/deb" || return 1
    zsh -fc 'print -l $fpath' >"$work/looks"
    HOME=$work fish -c 'printf "%s\n" $fish_complete_path' >>"$work/looks"
    echo /usr/share/bash-completion/completions >>"$work/looks"
    find "$work/deb" -name '*beamtop*' -path '*complet*' -o -name _beamtop >"$work/there"
    [ "$(wc -l <"$work/there")" = 3 ] || { cat "$work/there"; return 1; }
    while read -r file; do
        dir=$(dirname "${file#"$work/deb"}")
        grep -qxF "$dir" "$work/looks" || { echo "no shell looks in $dir"; return 1; }
    done <"$work/there"
}
run deb_completes
run cache_is_refused /proc/none
run cache_is_refused not/absolute

for program in $programs; do
    kind=$(basename "$(dirname "$(dirname "$program")")")
    cp "$program" "$root/beamtop"
    wait_until 60 is_up "$node" || fail_all "the node does not start" "$work/node"
    [ -z "$tls_pid" ] || wait_until 60 is_up "$tls_node" || fail_all "the TLS node does not start" "$work/tls"
    run needs_nothing
    run is_small "$program"
    for place in on_the_host empty_root empty_root_with_proc read_only_root user_without_a_name \
        processes_of_others_hidden no_capability other_pid_namespace other_user_namespace \
        other_network_namespace other_network_namespace_by_name other_network_namespace_without_proc tls_empty_root \
        old_c_library new_c_library a_host_that_has_no_address \
        no_home_has_no_cookie no_proc_has_no_vms no_proc_has_no_ways unknown_terminals_are_named; do
        run "$place"
    done
    for terminal in xterm-256color tmux-256color screen-256color linux vt100; do
        run shows_the_screen_as "$terminal"
    done
done
kind=aarch64-linux-musl
for case in says_its_version size_is_bounded lists_processes lists_over_tls reads_the_same traces_within_caps \
    shows_the_screen passes_unit_tests; do
    run on_arm64 "$case"
done
sed 's/^/# /' "$work/table"
finish
