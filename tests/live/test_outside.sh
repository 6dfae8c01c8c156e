#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# A VM of this host that does not answer, or cannot be connected to, is seen from outside: after the error of
# a failed connection, and by `outside`. The load is outside_load.erl.
# shellcheck disable=SC1091,SC2016,SC2034,SC2154,SC2317
set -u
. "$(dirname "$0")/../tap.sh"

ERL_FLAGS='+S 2:2'
export ERL_FLAGS
load=outside_load
. "$(dirname "$0")/releases.sh"

os_pid() { cat "$dir/pid"; }

# outside: what the host says of the node, as JSON.
outside() {
    "$beamtop" outside "$(os_pid)" --format json >"$work/out" 2>"$work/err" </dev/null
    ends_with 0 $?
}
# sees FILTER: what the host says of it is so, soon.
sees_now() { outside && jq -e "$1" "$work/out" >/dev/null; }
sees() {
    wait_until 60 sees_now "$1" || {
        echo "not seen: $1"
        cat "$work/out" "$work/err"
        return 1
    }
}

# fails_with COOKIE SECONDS PATTERN…: the connection fails, and the error says it all on a terminal.
fails_with() {
    script -qec "stty columns 300; exec '$beamtop' info '$node' --timeout $2 --cookie-file '$work/$1'" /dev/null \
        >"$work/err" 2>&1 </dev/null
    ends_with 3 $? || return 1
    shift 2
    for pattern; do
        told "$pattern" || return 1
    done
}

answers() {
    "$beamtop" info "$node" --timeout 60 --cookie-file "$work/cookie" >"$work/out" 2>"$work/err" </dev/null
    ends_with 0 $?
}

stopped() {
    fails_with cookie 2 'state +stopped by a signal' "Next: kill -CONT $(os_pid)" 'memory +[0-9.]+ MiB resident' \
        'listens at +.*:[0-9]+' || return 1
    sees '.schema == "beamtop.outside/1" and .state == "stopped" and .next == "kill -CONT \(.os_pid)" and
        all(.threads[]; .state == "stopped") and .cpu == 0'
}
says_that_it_is_stopped() {
    kill -STOP "$(os_pid)" || return 1
    stopped
    was_stopped=$?
    kill -CONT "$(os_pid)"
    [ "$was_stopped" = 0 ] && sees '.state != "stopped"'
}

freeze() {
    freezer=/sys/fs/cgroup/freezer
    [ -d "$freezer" ] || freezer=/sys/fs/cgroup
    frozen=$freezer/beamtop-$$
    mkdir "$frozen" && mkdir "$frozen/vm" && os_pid >"$frozen/vm/cgroup.procs" || return 1
    if [ -e "$frozen/freezer.state" ]; then
        thaw="echo THAWED > $frozen/freezer.state"
        echo FROZEN >"$frozen/freezer.state"
    else
        thaw="echo 0 > $frozen/cgroup.freeze"
        echo 1 >"$frozen/cgroup.freeze"
    fi
}
# The command that is printed thaws it, though the level above was frozen.
says_that_it_is_frozen() {
    if ! [ -w /sys/fs/cgroup/freezer/cgroup.procs ] && ! [ -w /sys/fs/cgroup/cgroup.procs ]; then
        not_tried "no cgroup can be made here"
        return 0
    fi
    freeze && fails_with cookie 2 'state +frozen by its cgroup' "Next: $thaw" &&
        sees '.frozen and (.verdict | test("^frozen"))'
    was_frozen=$?
    sh -c "$(jq -r '.next // empty' "$work/out")"
    sees '.frozen == false' || was_frozen=1
    os_pid >"$freezer/cgroup.procs"
    rmdir "$frozen/vm" "$frozen"
    [ "$was_frozen" = 0 ]
}

says_that_descriptors_are_used_up() {
    if ! command -v prlimit >/dev/null || [ "$(stat -c %s /proc/self/fd)" = 0 ]; then
        not_tried "needs prlimit and Linux 6.2"
        return 0
    fi
    before=$(prlimit --pid "$(os_pid)" --nofile --output SOFT --noheadings | tr -d ' ')
    sees '.descriptors > 0 and .descriptors < .descriptor_limit / 2' &&
        prlimit --pid "$(os_pid)" --nofile="$(jq .descriptors "$work/out"):" &&
        sees '.next == "ls -l /proc/\(.os_pid)/fd" and (.verdict | test("descriptors are open"))'
    used_up=$?
    prlimit --pid "$(os_pid)" --nofile="$before:"
    [ "$used_up" = 0 ] && answers
}

# A program gets the error, at once, and the command to go on.
fails_fast_for_a_program() {
    kill -STOP "$(os_pid)" || return 1
    "$beamtop" top "$node" --format json -n 1 --timeout 2 --cookie-file "$work/cookie" >"$work/out" 2>"$work/err" \
        </dev/null
    code=$?
    kill -CONT "$(os_pid)"
    ends_with 3 "$code" && [ ! -s "$work/out" ] && told 'beamtop outside' && [ "$(wc -l <"$work/err")" = 1 ]
}

says_what_it_does_while_net_kernel_hangs() {
    order suspend || return 1
    fails_with cookie 2 'net_kernel' 'state +(it runs|[12] of 2 schedulers)' "Next: beamtop pstack .*$(os_pid)" &&
        sees '(.sockets | length) >= 1 and .dump == null and .dump_known'
    hung=$?
    order resume && [ "$hung" = 0 ] && answers && is_clean
}

# An operator that does not yield: that scheduler is busy. Its process is known from OTP 25 on.
shows_a_long_bif() {
    order compare || return 1
    sees '.verdict | test("of 2 schedulers (is|are) busy")' && {
        [ "$1" -lt 25 ] || ! can_sample ||
            sees 'any(.stacks[]?; .thread == "scheduler 2" and (.pid // "" | test("^<0[.]")) and
                (.frames | length) > 0)'
    }
    busy=$?
    order free && [ "$busy" = 0 ]
}
can_sample() { "$beamtop" sample "$(os_pid)" --for 0.1s >"$work/out" 2>&1 </dev/null; }

says_it_beside_a_wrong_cookie() {
    printf wrong >"$work/wrong" && chmod 600 "$work/wrong" || return 1
    fails_with wrong 60 'rejected the cookie' "from outside, OS process $(os_pid):" 'state +' \
        'crash dump +none'
}

# A dump into a FIFO that nobody reads never ends. The VM has given up its sockets then.
hanging_dump() {
    sees '.dump.regular == false and (.dump.path | endswith("/dump")) and .dump.bytes_per_s == 0 and
        .sockets == [] and (.verdict | test("^crashed: .*does not grow"))' &&
        fails_with cookie 5 'crashed: its crash dump does not grow \(a FIFO: its reader is slow, or there is none\)' \
            "Next: kill -KILL $(os_pid)" 'crash dump +into a FIFO' 'listens at +nothing'
}
says_that_a_crash_dump_hangs() {
    stop_node
    start_node "$1" -dump "-env ERL_CRASH_DUMP $work/otp-$1-dump/dump" && mkfifo "$dir/dump" || return 1
    exec 9<>"$dir/dump" && order crash || return 1
    hanging_dump
    hung=$?
    exec 9>&-
    stop_node
    [ "$hung" = 0 ]
}

# ---- whatever the release

shows_a_vm_without_distribution() {
    erl -noinput -eval 'timer:sleep(600000), halt().' >/dev/null 2>&1 &
    alone=$!
    wait_until 60 is_vm "$alone" && "$beamtop" outside "$alone" >"$work/out" 2>"$work/err" </dev/null
    code=$?
    kill -9 "$alone"
    wait "$alone" 2>/dev/null
    ends_with 0 "$code" && says 'listens at +nothing: no node can connect' && says '^scheduler 1 ' &&
        says 'nothing was asked of the VM'
}
is_vm() { "$beamtop" nodes --format json 2>/dev/null | jq -e ".. | .os_pid? // empty | select(. == $1)" >/dev/null; }

# Its parent has not read how it ended.
shows_a_zombie() {
    rm -f "$work/child"
    sh -c 'erl -noinput -eval "timer:sleep(600000), halt()." >/dev/null 2>&1 & echo $! >"$1"; exec sleep 600' - \
        "$work/child" &
    parent=$!
    wait_until 60 test -s "$work/child" && child=$(cat "$work/child") && wait_until 60 is_vm "$child" &&
        kill -9 "$child" && wait_until 60 is_zombie "$child" &&
        "$beamtop" outside "$child" >"$work/out" 2>"$work/err" </dev/null
    code=$?
    kill -9 "$parent"
    wait "$parent" 2>/dev/null
    ends_with 0 "$code" && says "zombie: .*OS process $parent"
}
is_zombie() { grep -q '^State:.*Z' "/proc/$1/status"; }

# Each line without rights says whose they are.
says_which_rights_it_lacks() {
    if [ "$(id -u)" != 0 ] || ! command -v setpriv >/dev/null; then
        not_tried "only root can be another user"
        return 0
    fi
    cp "$beamtop" "$work/beamtop" && chmod 755 "$work" "$work/beamtop" || return 1
    setpriv --reuid 65534 --regid 65534 --clear-groups "$work/beamtop" outside "$(os_pid)" >"$work/out" \
        2>"$work/err" </dev/null
    code=$?
    chmod 700 "$work"
    ends_with 0 "$code" && says 'listens at +unknown: .*as root, or as user' && says 'crash dump +unknown: ' &&
        says 'stacks +unknown: ' && says 'memory +[0-9.]+ MiB resident'
}

differ says_that_it_is_stopped says_what_it_does_while_net_kernel_hangs shows_a_long_bif \
    says_it_beside_a_wrong_cookie says_that_a_crash_dump_hangs
once says_that_it_is_frozen says_that_descriptors_are_used_up fails_fast_for_a_program shows_a_vm_without_distribution shows_a_zombie says_which_rights_it_lacks
run_on_releases
