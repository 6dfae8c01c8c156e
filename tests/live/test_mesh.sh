#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Which of four real nodes see each other: all, a hidden one, in groups, with one side that hears
# nothing, one that is held.
# The load is mesh_load.erl. In a separate network, where this host allows one, to cut a connection
# in one direction.
# shellcheck disable=SC1091,SC2154,SC2317
set -u
own_network='ip link set lo up && ip rule add pref 100 lookup local && ip rule del pref 0'
if [ -z "${MESH_NETWORK-}" ] && unshare --net sh -c "$own_network" 2>/dev/null; then
    # shellcheck disable=SC2016
    MESH_NETWORK=own exec unshare --net sh -c "$own_network"' && exec "$0" "$@"' "$0" "$@"
fi
. "$(dirname "$0")/../tap.sh"

load=mesh_load
. "$(dirname "$0")/releases.sh"
. "$(dirname "$0")/several.sh"

# start_mesh OTP: $a, $b, $c, and $h, a hidden one. A partition stays one.
start_mesh() {
    names='' dirs='' pids=''
    for one in a b c h; do
        flags='-kernel prevent_overlapping_partitions false'
        [ "$one" != h ] || flags="$flags -hidden"
        start_node "$1" "$one" "$flags" || return 1
        eval "$one=\$node dir_$one=\$dir"
        note_node
        names="$names${names:+,}$node" dirs="$dirs $dir"
    done
}
end_mesh() {
    # shellcheck disable=SC2086
    kill -9 $pids 2>/dev/null
    pids=''
    for dir in $dirs; do rm -rf "${dir:?}"; done
}

# at NODE ORDER PEER…
at() {
    eval "dir=\$dir_$1"
    what=$2
    shift 2
    printf '%s\n' "$@" >"$dir/peers"
    order "$what"
}

mesh() {
    "$beamtop" mesh "$@" -n 1 --cookie-file "$work/cookie" --timeout 30 --format json >"$work/out" 2>"$work/err"
}
# sees NODES FILTER: some time later the filter holds of the rows; $a … are the nodes.
sees() {
    sees_nodes=$1 sees_filter=$2
    wait_until 60 sees_now && return
    echo "does not hold: $2"
    cat "$work/err"
    jq -c '.rows[] | [.level, .kind, .node, .peer, .says, .peer_says, .note]' "$work/out"
    return 1
}
# shellcheck disable=SC2016
sees_now() {
    mesh "$sees_nodes" && jq -e --arg a "$a" --arg b "$b" --arg c "$c" --arg h "$h" \
        "def pair(x; y): .rows[] | select(.node == x and .peer == y); $sees_filter" "$work/out" >/dev/null
}

# shellcheck disable=SC2016
all_meet() {
    at a meet "$b" "$c" && at b meet "$c" && at h meet "$a" &&
        sees "$names" '(pair($a; $b), pair($a; $c), pair($b; $c) | .kind == "link" and .says == "visible")
            and (pair($a; $h) | .kind == "hidden" and .says == "hidden" and .peer_says == "hidden")
            and (pair($b; $h) | .kind == "missing" and .level == "info" and .says == "none")
            and (.rows | all(.level != "fix"))'
}

# shellcheck disable=SC2016
names_those_outside() {
    sees "$a,$b,nobody$$@127.0.0.1" '(.rows[] | select(.node == $c) | .kind == "outside" and (.note | test("2 of 2")))
        and (.rows[] | select(.node == $h) | .kind == "outside" and (.note | test("hidden, connected to 1 of 2")))
        and (.rows[] | select(.kind == "unknown") | .node | startswith("nobody"))'
}

links() {
    "$beamtop" links "$a" "$@" --cookie-file "$work/cookie" --timeout 30 --format json >"$work/out" 2>"$work/err"
}
one_node_says_the_same() {
    at a meet "nobody$$@127.0.0.1" || return 1
    links -n 2 || { cat "$work/err"; return 1; }
    holds ".[-1].rows | .[0].how == \"self\" and .[0].net_tick_s == 60 and .[0].busy_limit_bytes == 1048576
            and .[0].prevents_overlap == \"false\" and .[0].global_names >= 0" &&
        holds ".[-1].rows[] | select(.node == \"$b\") | .how == \"visible\" and .state == \"up\" and .protocol == \"tcp\"
            and .in_bytes > 100 and .out_bytes > 100 and .out_bytes_per_s >= 0 and .queue_bytes == 0" &&
        holds ".[-1].rows[] | select(.node == \"$h\") | .how == \"hidden\"" &&
        holds ".[-1].rows[] | select(.node == \"nobody$$@127.0.0.1\") | .how == \"known\" and .in_bytes == null" &&
        holds '.[-1].rows | all(.node | startswith("beamtop") | not)'
}

# shellcheck disable=SC2016
a_partition_is_found() {
    at c part "$a" "$b" || return 1
    sees "$names" '.rows[0] | .kind == "partition" and .level == "fix" and (.note | test("2 groups"))' || return 1
    at c meet "$a" "$b" && sees "$names" 'pair($a; $c), pair($b; $c) | .kind == "link"'
}

# c disconnects and connects again, as often as it takes; no tick of one look has it.
a_flapping_link_is_found() {
    "$beamtop" mesh "$a,$b,$c" --cookie-file "$work/cookie" -n 0 --interval 0.5 >"$work/out" 2>"$work/err" &
    follower=$!
    wait_until 20 grep -q link "$work/out" && wait_until 20 comes_again
    found=$?
    kill "$follower" && wait "$follower"
    [ "$found" = 0 ] || { cat "$work/err"; tail -20 "$work/out"; return 1; }
    ! grep '^check  *restarts' "$work/out" || return 1
    mesh "$a,$b,$c" && holds '.[-1].rows | all(.kind != "flapping" and .reconnects == null)'
}
comes_again() {
    at c part "$a" && at c meet "$a" && grep -q "flapping.*connected again at least" "$work/out"
}

# What c sends to a is dropped, so a does not hear that c has closed the connection.
# shellcheck disable=SC2016
one_side_alone_is_found() {
    if [ -z "${MESH_NETWORK-}" ]; then
        not_tried "this host allows no separate network"
        return 0
    fi
    at c ports "$a" && read -r local remote <"$dir_c/ends" || return 1
    ip rule add pref 10 ipproto tcp sport "$local" dport "$remote" blackhole || return 1
    at c part "$a" && sees "$a,$b,$c" 'pair($a; $c) | .kind == "one-sided" and .level == "check" and .says == "visible"
        and .peer_says == "known" and (.note | test("is connected to"))'
    found=$?
    ip rule del pref 10
    at c meet "$a" && sees "$a,$b,$c" 'pair($a; $c) | .kind == "link"' && return "$found"
}

# b takes nothing: what a sends waits, and b does not answer.
# shellcheck disable=SC2016
a_held_link_is_found() {
    vm=$(pgrep -f -- "-name $b " | head -n 1)
    kill -STOP "$vm"
    at a hold "$b" && links && holds ".[-1].rows[] | select(.node == \"$b\") | .busy and .queue_bytes > 8000"
    held=$?
    sees "$a,$b,$c" '.rows[] | select(.node == $b) | .kind == "unknown" and (.note | test("2 of the 2"))'
    seen=$?
    kill -CONT "$vm"
    [ "$held$seen" = 00 ] && sees "$a,$b,$c" 'pair($a; $b) | .kind == "link"'
}

# plays NODE LEADER STATE: two groups as ra's tables have them, one of three nodes: {Name, Node}, or
# undefined; rows of its servers as before ra 2.7 and since.
plays() {
    eval "dir=\$dir_$1"
    members="{orders,'$a'},{orders,'$b'},{orders,'nobody$$@127.0.0.1'}"
    printf "{[{orders,%s,[%s]},{'%%2F_bills',{b,'%s'},[{b,'%s'}]}],[%s]}.\n" "$2" "$members" "$a" "$a" "$3" \
        >"$dir/rows"
    order raft
}
raft() {
    "$beamtop" tables "$1" --raft --cookie-file "$work/cookie" --timeout 30 --format json >"$work/out" 2>"$work/err"
}
# It is played by tables: ra is not there.
raft_groups_are_looked_at() {
    raft "$b"
    ends_with 1 $? && told 'no Raft group' || return 1
    plays a "{orders,'$b'}" '{orders,follower}' && plays b undefined '{orders,candidate,voter}' || return 1
    raft "$a" && holds ".[-1].rows | length == 2" &&
        holds ".[-1].rows[] | select(.group == \"orders\") | .leader_node == \"$b\" and .server == \"orders\"
        and .state == \"follower\" and .membership == null and .members == 3" || return 1
    raft "$b" && holds '.[-1].rows[] | select(.group == "orders") | .leader_node == "none" and .state == "candidate" and .membership == "voter"' ||
        return 1
    "$beamtop" mesh "$a,$b" --cookie-file "$work/cookie" -n 0 >"$work/out" 2>"$work/err" &
    follower=$!
    wait_until 60 grep -q "leaders .*says $b, $b says none" "$work/out" &&
        grep -q "members .*a member on nobody$$@127.0.0.1" "$work/out" &&
        plays a undefined '{orders,follower}' &&
        wait_until 60 grep -q "no-leader .*has no leader, as 2 of its 3 nodes say" "$work/out"
    found=$?
    kill "$follower" && wait "$follower"
    [ "$found" = 0 ] || { cat "$work/err"; tail -20 "$work/out"; return 1; }
}

# Nobody has heard of another by us, and nothing is left.
leaves_nothing() {
    links || return 1
    holds ".[-1].rows | map(.node) - [\"$a\", \"$b\", \"$c\", \"$h\", \"nobody$$@127.0.0.1\"] == []" || return 1
    for dir in $dirs; do is_clean || return 1; done
}

trap stop_nodes EXIT
trap 'exit 130' HUP INT TERM PIPE
start_epmd
for otp in $(releases_of differ); do
    if ! reason=$("$otp_sh" --root "$otp" 2>&1); then
        skip "mesh_on_OTP_$otp" "$reason"
        continue
    fi
    run start_mesh "$otp"
    for case in all_meet names_those_outside one_node_says_the_same a_partition_is_found a_flapping_link_is_found \
        one_side_alone_is_found a_held_link_is_found raft_groups_are_looked_at leaves_nothing; do
        case " ${BEAMTOP_TESTS-$case} " in *" $case "*) run "$case" "$otp" ;; esac
    done
    end_mesh
done
finish
