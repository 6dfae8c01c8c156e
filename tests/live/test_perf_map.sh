#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# `beamtop perf-map` on real VMs: its map is the VM's own (`erl +JPperf map`), line for line. A VM
# without a JIT, one of another user and what is not a VM are refused in words.
# shellcheck disable=SC1091,SC2154,SC2317
set -u
. "$(dirname "$0")/../tap.sh"
. "$(dirname "$0")/epmd.sh"
. "$(dirname "$0")/which.sh"
ERL_CRASH_DUMP_SECONDS=0
export ERL_CRASH_DUMP_SECONDS
otp_sh=$BEAMTOP_SRCDIR/tests/live/otp.sh
case $(uname -m) in
x86_64 | aarch64) ;;
*) skip_all "compiled code is read on x86-64 and aarch64 only" ;;
esac
vm=
bin=
erl=erl
within=

# start_vm OTP [FLAG…]: its pid is $vm, its own map $map.
start_vm() {
    root=$("$otp_sh" --root "$1") || return 1
    otp=$1
    shift
    : >"$work/vm"
    # shellcheck disable=SC2086
    $within "$otp_sh" "$otp" $erl "$@" +S 1 -noinput -start_epmd false -name "perf${otp}x$$@127.0.0.1" \
        -eval 'io:format("up~n"), receive after 300000 -> halt() end.' >"$work/vm" 2>&1 &
    vm=$!
    map=$root/tmp/perf-$vm.map
    wait_until 60 grep -qx up "$work/vm" || { cat "$work/vm"; return 1; }
}

# The same of a copy of the VM in which no symbol leads to the list of compiled code.
start_vm_without_symbol() {
    root=$("$otp_sh" --root "$1") || return 1
    for its in "$root"/usr/lib/erlang/erts-*/bin; do :; done
    erts=${its%/bin}
    erts=${erts##*/}
    bin=$root/tmp/beamtop-test-$$
    mkdir -p "$bin/$erts/bin" || return 1
    for file in "$its"/*; do
        ln -s "${file#"$root"}" "$bin/$erts/bin/" || return 1
    done
    rm -f "$bin/$erts/bin/beam.smp"
    LC_ALL=C sed 's/__jit_debug_descriptor/__jit_debug_of_a_test_/g' "$its/beam.smp" >"$bin/$erts/bin/beam.smp" &&
        chmod 755 "$bin/$erts/bin/beam.smp" || return 1
    at=${bin#"$root"}/$erts/bin
    erl="env ROOTDIR=/usr/lib/erlang BINDIR=$at EMU=beam PROGNAME=erl $at/erlexec"
    start_vm "$@"
    rc=$?
    erl=erl
    return $rc
}

start_vm_with_its_own_pids() {
    within='unshare --pid --fork --kill-child'
    start_vm "$@"
    rc=$?
    within=
    vm=$(cat "/proc/$vm/task/$vm/children") && vm=${vm%% *} && map=/tmp/perf-$vm.map
    return $rc
}

is_found_by_a_scan() {
    "$beamtop" sample "$vm" --check --for 0.1s >"$work/out" 2>"$work/err"
    grep -q "list found in the VM's memory" "$work/out" || { cat "$work/out" "$work/err"; return 1; }
}

stop_vm() {
    [ -z "$bin" ] || rm -rf "$bin"
    bin=
    [ -n "$vm" ] || return 0
    kill -9 "$vm" 2>/dev/null
    wait "$vm" 2>/dev/null
    vm=
    rm -f "$map"
}

stop_all() {
    stop_vm
    stop_epmd
    rm -rf "$work"
}

# says CODE TEXT COMMAND…
says() {
    code=$1
    text=$2
    shift 2
    "$@" >"$work/out" 2>"$work/err"
    got=$?
    [ "$got" = "$code" ] && grep -qF -- "$text" "$work/err" && return 0
    echo "exit code $got instead of $code, or nothing like '$text':"
    head -n 5 "$work/out"
    cat "$work/err"
    return 1
}

is_readable() { [ -r "/proc/$vm/maps" ] && head -c 1 "/proc/$vm/maps" >/dev/null 2>&1; }

equals_its_own() {
    "$beamtop" perf-map "$vm" -o "$work/ours" || return 1
    sort "$map" >"$work/theirs"
    sort "$work/ours" | cmp - "$work/theirs" && [ "$(wc -l <"$work/theirs")" -gt 10000 ]
}

# The name of the node stands for its pid, and - for standard output.
takes_a_node() {
    "$beamtop" perf-map "perf${1}x$$@127.0.0.1" -o - >"$work/out" && cmp "$work/out" "$work/ours"
}

# A link that somebody left there is replaced, and what it leads to stays as it is. Root does not
# write into a /tmp that it does not have in common with the VM.
writes_for_perf() {
    rm -f "$map"
    echo precious >"$work/precious"
    ln -s "$work/precious" "$map"
    if [ -n "$root" ]; then
        says 5 'has another /tmp' "$beamtop" perf-map "$vm" && [ -L "$map" ] &&
            [ "$(cat "$work/precious")" = precious ]
        return
    fi
    "$beamtop" perf-map "$vm" 2>"$work/err" && grep -q ' functions in ' "$work/err" || return 1
    [ ! -L "$map" ] && cmp "$map" "$work/ours" && [ "$(cat "$work/precious")" = precious ] &&
        [ "$(stat -c %a "$map")" = 644 ] && [ -z "$(find "${map%/*}" -maxdepth 1 -name ".perf-$vm*")" ]
}

keeps_anothers_file() {
    rm -f "$map"
    echo precious >"$map" && chown 65534 "$map" || return 1
    says 5 'a file of another user' "$beamtop" perf-map "$vm" && [ "$(cat "$map")" = precious ]
}

# In its namespace the VM has the pid of another process here, or could have.
keeps_to_its_pids() {
    own=$(sed -n 's/^NSpid:.*\t//p' "/proc/$vm/status")
    [ "$own" != "$vm" ] || { echo "the VM has no namespace of its own"; return 1; }
    [ ! -e "/tmp/perf-$own.map" ] || { echo "/tmp/perf-$own.map is there"; return 1; }
    says 5 'has another PID namespace' "$beamtop" perf-map "$vm" && [ ! -e "/tmp/perf-$own.map" ]
}

another_user_is_refused() {
    says 1 'runs as another user, uid 0' \
        setpriv --reuid=65534 --regid=65534 --clear-groups "$work/beamtop" perf-map "$vm" -o -
}

has_no_jit() { says 1 'no JIT' "$beamtop" perf-map "$vm" -o - && [ ! -s "$work/out" ]; }

others_are_refused() {
    says 2 'is not a BEAM VM' "$beamtop" perf-map $$ &&
        says 1 'there is no OS process 99999999' "$beamtop" perf-map 99999999 &&
        says 1 'there is no node nobody' "$beamtop" perf-map nobody &&
        says 2 'run beamtop on its own host' "$beamtop" perf-map nobody@nowhere.invalid
}

trap stop_all EXIT
trap 'exit 130' HUP INT TERM PIPE
start_epmd
# A copy that another user may run, wherever the build is.
chmod 755 "$work"
cp "$beamtop" "$work/beamtop"
chmod 755 "$work/beamtop"

run others_are_refused
for release in $({ releases_of differ; releases_of same; } | tr ' ' '\n' | sort -u); do
    if ! reason=$("$otp_sh" --root "$release" 2>&1); then
        skip "perf_map_of_OTP_$release" "$reason"
        continue
    fi
    if [ "$release" -lt 25 ]; then
        run start_vm "$release"
        run has_no_jit "$release"
    else
        run start_vm "$release" +JPperf map
        if is_readable; then
            run equals_its_own "$release"
            run takes_a_node "$release"
            run writes_for_perf "$release"
            if [ -z "$root" ] && [ "$(id -u)" = 0 ]; then
                run keeps_anothers_file "$release"
                stop_vm
                run start_vm_with_its_own_pids "$release"
                run keeps_to_its_pids
            fi
            stop_vm
            run start_vm_without_symbol "$release" +JPperf map
            run is_found_by_a_scan "$release"
            run equals_its_own "$release"
        else
            skip "perf_map_of_OTP_$release" "/proc/PID/maps of a VM: $(head -c 1 "/proc/$vm/maps" 2>&1 >/dev/null)"
        fi
        if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; then
            run another_user_is_refused "$release"
        else
            skip "another_user_is_refused_$release" "needs root and setpriv"
        fi
    fi
    stop_vm
done
finish
