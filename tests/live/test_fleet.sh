#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Several real nodes, of each release that is here, watched by one program: each has its row, and what one
# of them does (hangs, ends, starts again, refuses) shows in that row only. The load is idle_load.erl.
# shellcheck disable=SC1091,SC2154,SC2317
set -u
. "$(dirname "$0")/../tap.sh"

load=idle_load
. "$(dirname "$0")/releases.sh"
. "$(dirname "$0")/several.sh"
. "$BEAMTOP_SRCDIR/tests/tmux/lib.sh"

fleet() {
    "$beamtop" fleet "$@" --cookie-file "$work/cookie" --timeout 30 --format json >"$work/out" 2>"$work/err"
}

# Two ticks, as long as it takes until both have all.
shows_each_node() {
    one_of 5 sees_all || { cat "$work/out" "$work/err"; return 1; }
    holds ".[-1].rows | length == $count and all(.[]; .memory_bytes > 1e6 and .processes > 20 and .round_trip_us > 0
        and .clock_bound_us * 2 - .round_trip_us < 3 and .run_queue >= 0 and .host == \"127.0.0.1\")" &&
        holds ".[-1].rows | map(.otp) == \"$(releases_of each)\" / \" \""
}
sees_all() { fleet "$names" -n 2 && holds 'all(.[].rows[]; .state == "up")'; }

# A clock of this host: none is further away than it may be wrong.
clocks_agree() { holds 'all(.[-1].rows[]; .clock_offset_us | fabs < 50000)'; }

names_what_differs() {
    { echo "# a file of names"; echo "$names" | tr ',' '\n'; echo "  $last # again"; } >"$work/names"
    fleet "@$work/names" && holds "[.[-1].rows[] | select(.unlike)] | length <= $((count - 1))"
}

says_why_not() {
    fleet "$names,nobody$$@127.0.0.1" && holds '.[-1].rows[-1] | .state == "failed" and .up == 0
        and .memory_bytes == null and (.note | test("no node"))' || return 1
    printf wrong >"$work/other" && chmod 600 "$work/other"
    "$beamtop" fleet "$last" --cookie-file "$work/other" --timeout 30 --format json >"$work/out" 2>"$work/err"
    [ $? = 3 ] && told 'cookie' && holds '.[0].rows[0].state == "failed"'
}

# Ticks of each, and what is wrong with one stops no other.
other_commands_take_them() {
    "$beamtop" top "$names,nobody$$@127.0.0.1" -n 2 --cookie-file "$work/cookie" --timeout 30 --format json >"$work/out" \
        2>"$work/err"
    ends_with 3 $? && told 'nobody.*no node' && holds "group_by(.node) | length == $count
        and all(.[]; length == 2 and all(.[]; .rows | length > 10))" || return 1
    "$beamtop" info "$names" --cookie-file "$work/cookie" --timeout 30 --format csv >"$work/out" 2>"$work/err"
    ends_with 0 $? && [ "$(wc -l <"$work/out")" = $((count + 1)) ] || return 1
    "$beamtop" capture "$names" --cookie-file "$work/cookie" >"$work/out" 2>"$work/err"
    ends_with 2 $? && told 'takes one node'
}

adds_up() { fleet "$names" --by host && holds '.[-1].rows | length == 1 and .[0].nodes == .[0].up'; }

refuses_bad_names() {
    printf 'a@b\nb@c@d\n' >"$work/bad"
    for target in "a@b,c d@e" "@$work/missing" "," "@$work/bad"; do
        fleet "$target"
        ends_with 2 $? || { echo "$target"; return 1; }
    done
    printf 'x%.0s' $(seq 1 2000) >"$work/long"
    fleet "@$work/long"
    [ $? = 2 ] && told 'line 1'
}

# last_is STATE: in the newest tick. only_last_is STATE: and all others are up.
last_is() {
    tail -n 1 "$work/ticks" | jq -e ".rows[] | select(.node == \"$last\") | .state == \"$1\"" >/dev/null
}
only_last_is() {
    tail -n 1 "$work/ticks" | jq -e ".rows | all(.[]; .state == if .node == \"$last\" then \"$1\" else \"up\" end)" >/dev/null
}
# In one run: it hangs, goes on, ends, and another VM comes under its name.
follows_one_node() {
    "$beamtop" fleet "$names" --cookie-file "$work/cookie" --timeout 30 -n 0 -i 0.5 --format json >"$work/ticks" \
        2>"$work/err" &
    looker=$!
    follows
    followed=$?
    kill -INT "$looker"
    wait "$looker"
    ended=$?
    [ "$followed$ended" = 00 ] && return
    echo "exit code $ended"
    tail -n 2 "$work/ticks"
    cat "$work/err"
    return 1
}
follows() {
    wait_until 120 last_is up || { echo "not up"; return 1; }
    vm=$(os_vm)
    kill -STOP "$vm"
    wait_until 120 only_last_is late
    hung=$?
    kill -CONT "$vm"
    [ "$hung" = 0 ] || { echo "not late"; return 1; }
    wait_until 120 only_last_is up || { echo "does not go on"; return 1; }
    kill -9 "$vm"
    wait_until 120 only_last_is lost || { echo "not lost"; return 1; }
    start_last || return 1
    wait_until 120 only_last_is up || { echo "not found again"; return 1; }
}

# The list is there at once, Enter opens a node, Esc goes back, and the others stay.
shows_them_on_the_screen() {
    command -v tmux >/dev/null || { not_tried "no tmux here"; return 0; }
    tm_open 180 40 || return 1
    tm_run "$beamtop $names --cookie-file $work/cookie --no-config --timeout 30; echo ended=\$?"
    tm_wait_line "$last .*up " && tm_keys Enter && tm_wait_line "RED/s.*SHARE" && tm_wait_line "OTP 2" &&
        tm_keys Escape && tm_wait_line "$last .*up " && tm_keys Q && tm_wait 'ended=0'
    shown=$?
    tm_close
    return $shown
}

# Three of a release, of which the second is connected to the first, and the third has another version.
tells_versions_and_links() {
    versions=
    for version in a-1.2 b-1.2 c-1.3; do
        connects=$([ "${version%-*}" = b ] && echo ",net_kernel:connect_node('$versions')")
        start_node "$last_otp" "${version%-*}" \
            "-eval application:load({application,shop,[{vsn,\"${version#*-}\"}]})$connects." || return 1
        note_node
        dirs="$dirs $dir"
        versions="$versions${versions:+,}$node"
    done
    one_of 5 sees_versions || { cat "$work/out" "$work/err"; return 1; }
    fleet "$versions" --by apps && holds '.[-1].rows | map(.nodes) | sort == [1, 2]'
}
sees_versions() {
    fleet "$versions" -n 1 && holds '.[-1].rows | map(.apps) == ["same", "same", "shop 1.3 (most: 1.2)"]
        and map(.unlike) == [null, null, "apps"] and all(.[]; .busy_links == 0)
        and map(.link_queue_bytes) == [0, 0, null]
        and .[0].link_queue_node == .[1].node and .[1].link_queue_node == .[0].node'
}

# make_group BYTES: a cgroup with that limit, of version 2 or 1; false: none can be made here.
make_group() {
    group=/sys/fs/cgroup/beamtop-test-$$ limit=memory.max
    [ -f /sys/fs/cgroup/cgroup.controllers ] ||
        group=/sys/fs/cgroup/memory/beamtop-test-$$ limit=memory.limit_in_bytes
    mkdir "$group" 2>/dev/null && echo "$1" 2>/dev/null >"$group/$limit" && return
    rmdir "$group" 2>/dev/null
    return 1
}

# Only a node of the machine's own release sees its cgroup here.
tells_the_limit_of_memory() {
    for otp in $(releases_of each); do
        [ -n "$("$otp_sh" --root "$otp")" ] || break
    done
    if [ -n "$("$otp_sh" --root "$otp")" ] || ! make_group 536870912; then
        not_tried "no cgroup to give a node"
        return 0
    fi
    start_node "$otp" m || return 1
    note_node
    in_group=$(pgrep -f -- "-name $node ")
    for os_pid in $in_group; do echo "$os_pid" >"$group/cgroup.procs"; done
    one_of 5 sees_limit
    limited=$?
    # shellcheck disable=SC2086
    kill -9 "$node_pid" $in_group
    rm -rf "${dir:?}"
    wait_until 120 rmdir "$group"
    [ "$limited" = 0 ] || cat "$work/out" "$work/err"
    return "$limited"
}
sees_limit() {
    fleet "$node,$last" -n 1 && holds '.[-1].rows[0] | .memory_limit_bytes == 536870912
        and .memory_limit_share >= .memory_bytes / 536870912 - 0.000002 and .memory_limit_share < 1'
}

# A looker that is killed leaves nothing on any of them.
leaves_nothing() {
    "$beamtop" fleet "$names" --cookie-file "$work/cookie" --timeout 30 -n 0 -i 0.25 --format json >"$work/ticks" \
        2>"$work/err" &
    looker=$!
    wait_until 120 last_is up
    looked=$?
    kill -9 "$looker"
    wait "$looker" 2>/dev/null
    [ "$looked" = 0 ] || return 1
    for dir in $dirs; do
        is_clean || return 1
    done
}

run_on_several shows_each_node clocks_agree names_what_differs says_why_not other_commands_take_them adds_up refuses_bad_names \
    follows_one_node shows_them_on_the_screen \
    tells_versions_and_links tells_the_limit_of_memory leaves_nothing
