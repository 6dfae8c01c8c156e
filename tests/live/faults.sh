# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=sh disable=SC1091,SC2034,SC2154
# Faults that faults.erl plants, the words by which their findings are known, and the waits for these on
# the screen and in the report of a recording. Sourced, after tests/tap.sh; brings what starts the nodes
# and the screen.
. "$BEAMTOP_SRCDIR/tests/tmux/lib.sh"
command -v tmux >/dev/null 2>&1 || skip_all "no tmux here"

load=faults
. "$(dirname "$0")/releases.sh"

XDG_STATE_HOME=$work/state
export XDG_STATE_HOME

# KIND:SECONDS:WORDS that the title of its finding matches, the culprit among them; and KIND-OTP where a
# release knows less: before OTP 25 nobody can be asked who has spawned a process. SECONDS: until it is
# shown, of a machine with a core to spare. A trend is shown after 30. Who replaces a persistent
# term or loads code is seen only while it waits in the call; the finding's trace shows it.
fault_rows='
mailbox:60:Message queue of fault_mailbox is growing
slow:60:fault_slow is a bottleneck
busy:60:overloads .* schedulers|[Ss]chedulers are overloaded
heap:60:fault_heap is growing
binaries:60:fault_binaries holds
atoms:60:Atoms fault_atom_.* are leaking
processes:60:fault_spawner spawns processes that stay: .*faults:leaked/0
processes-23:60:faults:leaked/0 processes are accumulating
table:60:ETS table fault_table is growing: .*fault_tables
churn:60:fault_churner spawns short-lived processes: .*faults:short_lived/0
churn-23:60:faults:short_lived/0 processes are short-lived
terms:60:fault_terms replaces persistent terms|erts_literal_area_collector takes .* persistent terms are replaced
loads:60:fault_loads loads code: |erts_code_purger takes .* code is loaded and purged
restarts:60:fault_sup restarts its children again and again
core:60:fault_core takes a scheduler
suspended:60:fault_suspended is suspended
deaf:60:fault_deaf does not handle its 7 messages
calls:60:fault_calls waits for an answer of fault_called, with 6 messages queued
hot:60:fault_hot .* overloads 1 scheduler
senders:60:Senders to peer_.* are suspended
ports:60:fault_ports opens ports that stay
sockets:60:fault_sockets opens sockets .* that stay
timers:60:Timers are accumulating
monitors:60:fault_monitors keeps monitors that stay
brief:60:fault_brief spawns short-lived processes: .*faults:work/0
locked:90:Schedulers wait inside the VM
brief-23:60:faults:work/0 processes are short-lived
'

# fault_row KIND OTP
fault_row() { echo "$fault_rows" | grep -e "^$1-$2:" || echo "$fault_rows" | grep -e "^$1:"; }
# In check other tests may take the cores: what follows from that is not said, and why is.
starved='Schedulers wait for a CPU|The hypervisor takes the CPUs|The cgroup quota stops'
title_of() {
    words=$(fault_row "$@" | cut -d: -f3-)
    case "${runs:-}:$1" in :busy | :hot) words="$words|$starved" ;; esac
    echo "$words"
}
seconds_of() { fault_row "$@" | cut -d: -f2; }

# lacks OTP FILE: the faults of $missing without a line in the file that matches; it becomes $missing.
lacks() {
    still=
    for fault in $missing; do
        if grep -q -E -e "$(title_of "$fault" "$1")" "$2"; then
            found="$found $fault $(($(date +%s) - began)),"
        else
            still="$still $fault"
        fi
    done
    missing=$still
}

# all_within SECONDS OTP TAKE: as TAKE fills $lines, every three seconds until none of $faults is missing;
# each with its seconds in $found.
lines=$work/lines
all_within() {
    missing=$faults found=
    while [ $(($(date +%s) - began)) -lt "$1" ]; do
        "$3" && lacks "$2" "$lines"
        [ -n "$missing" ] || return 0
        sleep 3
    done
    echo "not found in $1 s:$missing; found after (s):$found in:"
    cat "$lines"
    return 1
}

# Only the titles: the header has names, too.
from_the_screen() { tm_text | grep -E '^.{1,3}(fix|check|info) ' >"$lines" || true; }

from_the_report() {
    "$beamtop" report "$work/recording" --format json >"$work/out" 2>"$work/err" &&
        jq -r '.findings[] | .title' "$work/out" >"$lines"
}

# records DURATION OPTION…
records() {
    rm -f "$work"/recording*
    for_s=$1
    shift
    began=$(date +%s)
    "$beamtop" record "$node" --cookie-file "$work/cookie" -o "$work/recording" --timeout 60 --for "$for_s" "$@" \
        >"$work/recorder" 2>&1 &
    recorder=$!
}

ends_recording() {
    "$beamtop" record stop >/dev/null 2>&1
    wait "$recorder"
    recorder_code=$?
    recorder=
    [ "$recorder_code" = 0 ] || { echo "the recorder: exit code $recorder_code"; cat "$work/recorder"; return 1; }
}

# Those who do nothing wrong are in no title.
blames_nobody_else() {
    ! grep -E -e 'fault_requests|faults:(worker|request)/|fault_cache' "$lines"
}

# In the place of that of releases.sh.
stop_all() {
    tm_close
    [ -z "${recorder:-}" ] || kill "$recorder" 2>/dev/null
    stop_node
    stop_epmd
    rm -rf "$work"
}
