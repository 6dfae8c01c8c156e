#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# All dirty I/O schedulers of a node wait for a disk: what needs no file is known all the same, one read
# of ours waits at most, and all is known again when the disk is back. The load is stall_load.erl.
# shellcheck disable=SC1091,SC2016,SC2034,SC2154,SC2317
set -u
. "$(dirname "$0")/../tap.sh"

ERL_FLAGS='+SDio 2'
export ERL_FLAGS
load=stall_load
. "$(dirname "$0")/releases.sh"

asks() {
    "$beamtop" "$@" --format json --timeout 30 --cookie-file "$work/cookie" >"$work/out" 2>"$work/err" </dev/null
    ends_with 0 $?
}

resident() { asks top "$node" -n 2 -i 0.25 -R 1 && holds ".[-1].system.rss_bytes $1"; }

# As on another host: a VM that is hidden is not known to run here, so that the node itself is asked.
from_afar() {
    unshare --mount sh -c 'mount -t tmpfs none /proc/"$1" && shift && exec "$@"' - "$os_pid" "$beamtop" \
        top "$node" -n 2 -i 0.25 -R 1 --format json --timeout 30 --cookie-file "$work/cookie" \
        >"$work/out" 2>"$work/err" </dev/null
    ends_with 0 $? && holds ".[-1].system.rss_bytes $1"
}
can_be_afar() { unshare --mount true 2>/dev/null; }

blocked() { asks top "$node" -n 2 -i 0.25 -R 1 && holds '.[-1].system.dirty_io_utilisation > 0.99'; }

# This host knows the resident memory whatever the node's disk does.
# A node in interactive mode loads what evaluates the helper when that first comes, which the disk would hold.
stalls() {
    "$beamtop" trace "$node" lists:seq --dry-run --timeout 30 --cookie-file "$work/cookie" >"$work/out" 2>&1 \
        </dev/null || { cat "$work/out"; return 1; }
    asks info "$node" && os_pid=$(jq -r '.. | .os_pid? // empty' "$work/out" | head -n 1) || return 1
    mkfifo "$dir/fifo1" "$dir/fifo2" && order stall && wait_until 60 blocked && resident '> 0'
}

answers() {
    asks top "$node" -n 3 -i 0.25 -R 1 && holds 'length == 3 and all(.[]; .system.processes > 10)' || return 1
    asks info "$node" && asks memory "$node" && holds '.[0].allocation.rss_bytes > 0'
}

comes_back() {
    for fifo in "$dir/fifo1" "$dir/fifo2"; do
        timeout 30 tee "$fifo" </dev/null || return 1
        rm -f "$fifo"
    done
}
is_back() { comes_back && is_clean; }

# What is asked of files and cannot be read is unknown, and the rest is there.
report_knows() {
    "$beamtop" report "$work/r$otp.btr" >"$work/out" 2>"$work/err" &&
        says 'All 2 dirty I/O schedulers are blocked since' >/dev/null
}
knows_the_rest() {
    asks cpus "$node" && holds '.[-1].node != ""' || return 1
    "$beamtop" record "$node" -o "$work/r$otp.btr" --for 300s -i 1 --timeout 30 \
        --cookie-file "$work/cookie" >"$work/recorded" 2>&1 &
    recording=$!
    wait_long 120 report_knows
    kill -INT "$recording"
    wait "$recording" || { cat "$work/recorded"; return 1; }
    says 'All 2 dirty I/O schedulers are blocked since' && says 'beamtop pstack NODE'
}

# Whether a module that is not loaded is there needs a file, and more than one name leaves no more reads.
leaves_the_name_unknown() {
    for name in no_such_module another_such_module; do
        "$beamtop" "$1" "$node" "$name:f" --timeout 30 --cookie-file "$work/cookie" >"$work/out" 2>"$work/err" </dev/null &&
            return 1
        told "server or disk does not answer" || return 1
    done
}

goes_on_beside_a_stalled_disk() {
    wait_until 60 resident '> 0' && stalls && answers && leaves_the_name_unknown trace &&
        leaves_the_name_unknown calls && knows_the_rest && is_back
}

# Of all that ask from there the first leaves a read that waits, the others none.
knows_nothing_of_a_stalled_disk_from_afar() {
    can_be_afar || { not_tried "no mount namespace can be made here"; return 0; }
    wait_until 60 resident '> 0' && stalls && from_afar '== null' && from_afar '== null' && comes_back &&
        wait_until 60 from_afar '> 0' && is_clean
}

# What is asked natively needs neither server, nor anything that they would load.
lists_beside() {
    order "suspend_$1" || return 1
    asks top "$node" -n 3 -i 0.25 -R 1 && holds 'length == 3 and all(.[]; .system.processes > 10)' && asks info "$node"
    answered=$?
    order "resume_$1" && [ "$answered" = 0 ] && is_clean
}
lists_beside_servers_that_hang() { resident '> 0' && lists_beside code_server && lists_beside rex; }

# Servers that hang: none of them is needed by what is asked, and none is left a question. A connection
# before has loaded what the node itself needs for one, and a question what evaluation needs.
hangs() {
    resident '> 0' && asks memory "$node" && order "suspend_$1" || return 1
    answers
    answered=$?
    order "resume_$1" && [ "$answered" = 0 ] && is_clean
}
goes_on_beside_a_code_server_that_hangs() { hangs code_server; }
goes_on_beside_a_rex_that_hangs() { hangs rex; }

# What is said of a node that was never connected to, and cannot be now.
fails_with() {
    ! "$beamtop" info "$node" --timeout 4 --cookie-file "$work/cookie" >"$work/out" 2>"$work/err" </dev/null &&
        grep -q "$1" "$work/err"
}
blames() {
    order "suspend_$1" && one_of 8 fails_with "$2"
    failed=$?
    order "resume_$1" || return 1
    [ "$failed" = 0 ] || { cat "$work/err"; return 1; }
}
names_what_hangs_at_the_first_connection() {
    stop_node
    start_node "$otp" || return 1
    blames code_server 'its code server hangs and nothing has connected' && blames auth 'process `auth` hangs' &&
        blames net_kernel 'its net_kernel hangs' && resident '> 0' && is_clean
}

# The cost limit stretches all that is not the header: recorded until that has come often enough.
header_ticks() {
    "$beamtop" export "$work/p$otp.btr" system >"$work/out" 2>/dev/null && [ "$(wc -l <"$work/out")" -ge 6 ]
}
records_at_the_headers_pace_whatever_the_price() {
    "$beamtop" record "$node" -o "$work/p$otp.btr" --for 300s -i 0.5 --budget 0.01 --timeout 30 \
        --cookie-file "$work/cookie" >"$work/recorded" 2>&1 &
    recording=$!
    wait_long 120 header_ticks
    ticked=$?
    kill -INT "$recording"
    wait "$recording" || { cat "$work/recorded"; return 1; }
    [ "$ticked" = 0 ] || { echo "few ticks:"; cat "$work/out"; return 1; }
}

# Applications of 60,000 group leaders: the header's ticks do not wait for them.
records_while_its_first_sweep_takes_long() {
    order crowd || return 1
    timeout 120 "$beamtop" record "$node" -o "$work/c$otp.btr" --for 8s -i 0.5 --timeout 30 \
        --cookie-file "$work/cookie" >"$work/out" 2>&1
    ended=$?
    order scatter || return 1
    [ "$ended" = 0 ] || { cat "$work/out"; return 1; }
    "$beamtop" schedulers "$work/c$otp.btr" --at '#1' --format json >"$work/out" && holds '.[0].system.processes > 60000' ||
        return 1
    if "$beamtop" apps "$work/c$otp.btr" --at '#1' >"$work/out" 2>"$work/err"; then
        grep -qE '^partial +yes' "$work/out" || { head "$work/out"; return 1; }
    else
        grep -qE 'not recorded|has not answered' "$work/err" || { cat "$work/err"; return 1; }
    fi
}

# What a reduction of ours is said to cost, in ns, with the way of the answers.
price() {
    asks top "$node" -n 8 -i 0.25 -R 5 || return 1
    jq -s '(map(.cost.target_us) | add) / (map(.system.own_reductions_per_s * .interval_us / 1000000) | add) *
        1000' "$work/out"
}

# Ours wait for their turn there, which is not what they cost. Other programs on the host make what is said
# of either higher for a moment.
costs_the_same_beside_busy_processes() { one_of 5 costs_the_same; }

costs_the_same() {
    quiet=$(price) && order busy && busy=$(price) && order idle || return 1
    echo "# quiet $quiet, beside ten busy processes $busy ns a reduction" >"$work/remark"
    echo "[$quiet, $busy]" | jq -e '.[1] / .[0] | . > 0.8 and . < 1.5' >/dev/null
}

ticks() { [ "$(grep -cs '"beamtop.top' "$work/ticks")" -ge "$1" ]; }
goes_on_beside_a_net_kernel_that_hangs() {
    rm -f "$work/ticks" # the ticks of another release are none of its
    "$beamtop" top "$node" -n 40 -i 0.25 -R 1 --format json --timeout 30 \
        --cookie-file "$work/cookie" >"$work/ticks" 2>"$work/err" </dev/null &
    top=$!
    wait_until 60 ticks 3 && order suspend_net_kernel && wait_until 60 ticks 20
    goes_on=$?
    order resume_net_kernel || return 1
    wait "$top" && [ "$goes_on" = 0 ] && is_clean
}

once names_what_hangs_at_the_first_connection
same records_at_the_headers_pace_whatever_the_price
[ "${BEAMTOP_CHECK:-}" != all ] || same costs_the_same_beside_busy_processes
same records_while_its_first_sweep_takes_long
differ lists_beside_servers_that_hang goes_on_beside_a_code_server_that_hangs goes_on_beside_a_rex_that_hangs \
    goes_on_beside_a_net_kernel_that_hangs goes_on_beside_a_stalled_disk \
    knows_nothing_of_a_stalled_disk_from_afar
run_on_releases
