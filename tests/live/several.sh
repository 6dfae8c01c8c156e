# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=sh disable=SC1091,SC2016,SC2034,SC2154
# Several nodes at once, one of each release that is here; sourced after releases.sh. A case sees
#   names     NODE,NODE…     count   how many     dirs   where each reads and writes
#   last, last_dir, last_pid, last_otp            of the last one

pids='' names='' dirs='' count=0

start_nodes() {
    for otp in $(releases_of each); do
        "$otp_sh" --root "$otp" >/dev/null 2>&1 || continue
        start_node "$otp" || return 1
        note_node
        names="$names${names:+,}$node" dirs="$dirs $dir" count=$((count + 1))
        last=$node last_otp=$otp last_dir=$dir
    done
    [ "$count" -gt 0 ]
}

note_node() {
    pids="$pids $node_pid"
    last_pid=$node_pid
}

# The VM of the last node, and another under its name.
os_vm() { pgrep -f -- "-name $last " | head -n 1; }
end_last() { kill -9 "$(os_vm)"; }
start_last() {
    rm -f "$last_dir/pid"
    start_node "$last_otp" && note_node
}

stop_nodes() {
    # shellcheck disable=SC2086
    [ -z "$pids" ] || kill -9 $pids 2>/dev/null
    node_pid=
    for dir in $dirs; do rm -rf "${dir:?}"; done
    stop_epmd
    rm -rf "$work"
}

all_clean() {
    for dir in $dirs; do is_clean || return 1; done
}

# Of 20 rounds of fleet_load.erl: each of the 60 calls that stands before what caused it is said to be of
# the same time, or to be late.
in_order='[.[] | select(.kind == "call")
      | (.args[0] | tonumber) * 3 + {"fleet_load:ping/1": 0, "fleet_load:pong/1": 1, "fleet_load:back/1": 2}[.mfa]
      | {at: .}] as $at
    | [.[] | select(.kind == "call")] as $calls
    | [range(0; 60) as $i | range(0; $i) as $j | select($at[$j].at > $at[$i].at) | $calls[$i].same_time or $calls[$i].late] | all'

# run_on_several CASE…: BEAMTOP_TESTS chooses some.
run_on_several() {
    trap stop_nodes EXIT
    trap 'exit 130' HUP INT TERM PIPE
    start_epmd
    run start_nodes
    for case; do
        if [ -n "${BEAMTOP_TESTS-}" ]; then
            case " $BEAMTOP_TESTS " in *" $case "*) ;; *) continue ;; esac
        fi
        run "$case"
    done
    finish
}
