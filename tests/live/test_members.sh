#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Which nodes: cookies by node, names that DNS resolves, two names of one node, nodes added and removed on
# the screen, and the cluster of the first. The load is members_load.erl.
# shellcheck disable=SC1091,SC2154,SC2317
set -u
. "$(dirname "$0")/../tap.sh"

load=members_load
. "$(dirname "$0")/releases.sh"
. "$(dirname "$0")/several.sh"
. "$BEAMTOP_SRCDIR/tests/tmux/lib.sh"

# fleet TARGET OPTION…: one tick, without the configuration of who runs this.
fleet() { HOME=$work XDG_CONFIG_HOME=$work/config "$beamtop" fleet "$@" --timeout 30 --format json >"$work/out" 2>"$work/err"; }
with_cookie() { fleet "$@" --cookie-file "$work/cookie"; }
# A busy host: a row may need another look.
row_is() { holds "any(.[-1].rows[]; .node == \"$1\" and ($2))"; }

cookies_by_node() {
    printf '# by node\n\n%s wrong-one\n*@127.0.0.1\treleases\n* wrong-two\n' "$last" >"$work/cookies"
    fleet "$names,nobody$$@127.0.0.1" --cookies "$work/cookies"
    row_is "$last" '.state == "failed" and (.note | test("cookie"))' || return 1
    holds "[.[-1].rows[] | select(.state == \"up\")] | length == $((count - 1))" || return 1
    printf '%s releases\n* wrong-one\n' "$last" >"$work/cookies"
    fleet "$last" --cookies "$work/cookies" && row_is "$last" '.state == "up"' || return 1
    # What it says of the others has none of them in it.
    fleet "$names" --cookies "$work/cookies"
    ! grep -q 'wrong-\|releases' "$work/out" "$work/err"
}

# A file beside the configuration; what was given stands above it.
cookies_of_the_configuration() {
    mkdir -p "$work/config/beamtop"
    printf '* releases\n' >"$work/config/beamtop/cookies"
    fleet "$last" && row_is "$last" '.state == "up"' || return 1
    printf '* wrong-one\n' >"$work/config/beamtop/cookies"
    with_cookie "$last" && row_is "$last" '.state == "up"'
    kept=$?
    rm -r "$work/config"
    return $kept
}

others_may_not_read_them() {
    printf '* releases\n' >"$work/cookies"
    chmod 644 "$work/cookies"
    fleet "$last" --cookies "$work/cookies"
    refused=$?
    rm "$work/cookies"
    ends_with 3 $refused && row_is "$last" '.state == "failed" and (.note | test("chmod 600"))'
}

names_from_dns() {
    with_cookie "${last%@*}@dns:localhost" && row_is "$last" '.state == "up"' || return 1
    with_cookie "$last,shop@dns:nowhere.invalid"
    row_is "$last" '.state == "up"' || return 1
    row_is shop@dns:nowhere.invalid '.state == "failed" and .nodes == 0 and (.note | test("nowhere.invalid"))'
}

# Commands that print each node know them before they begin.
other_commands_know_them() {
    "$beamtop" info "${last%@*}@dns:localhost" --cookie-file "$work/cookie" --timeout 30 --format json >"$work/out" \
        2>"$work/err"
    holds "any(.[]; .node == \"$last\")" || return 1
    "$beamtop" info "$last,shop@dns:nowhere.invalid" --cookie-file "$work/cookie" --timeout 30 >"$work/out" 2>"$work/err"
    ends_with 3 $? && told nowhere.invalid
}

two_names_of_one() {
    with_cookie "$last,${last%@*}@localhost" -n 3
    holds '.[-1].rows | map(.state) | sort == ["refused", "up"]' &&
        holds 'any(.[-1].rows[]; .state == "refused" and (.note | test("the same node as")))'
}

on_the_screen() {
    command -v tmux >/dev/null || { not_tried "no tmux here"; return 0; }
    has_two || return 0
    tm_open 180 40 || return 1
    tm_run "$beamtop $seed,nobody$$@127.0.0.1 --cookie-file $work/cookie --no-config --timeout 30; echo ended=\$?"
    tm_wait_line "$seed .*up " && tm_keys @ && tm_wait 'add node:' && tm_type "$last" && tm_keys Enter &&
        tm_wait_line "$last .*up " && tm_keys End && tm_keys DC && tm_keys Home && tm_wait_gone "$last" && tm_wait_line "$seed .*up " &&
        tm_type ":add-node $last" && tm_keys Enter && tm_wait_line "$last .*up " && tm_keys Q && tm_wait 'ended=0'
    shown=$?
    tm_close
    return $shown
}

# The two newest, since the oldest and the newest take no connection of each other: one joins the other.
joins_both() {
    dir=$last_dir
    echo "$seed" >"$dir/peers"
    order join
}
has_two() {
    seed=${names%,*}
    seed=${seed##*,}
    [ "$count" -ge 2 ] || { not_tried "one release here"; return 1; }
}
# The cookie by pattern is that of the first only: the others get it from there.
follows_the_cluster() {
    has_two || return 0
    joins_both || return 1
    printf '%s releases\n' "$seed" >"$work/cookies"
    HOME=$work XDG_CONFIG_HOME=$work/config "$beamtop" fleet "$seed" --cluster --cookies "$work/cookies" --timeout 30 \
        -n 0 -i 0.5 --format json >"$work/ticks" 2>"$work/err" &
    looker=$!
    comes_and_goes
    followed=$?
    kill -INT "$looker"
    wait "$looker"
    [ "$followed" = 0 ] && return
    tail -n 1 "$work/ticks"
    cat "$work/err"
    return 1
}
newest() { tail -n 1 "$work/ticks" | jq -e "$1" >/dev/null 2>&1; }
all_up() { newest ".rows | length == 2 and all(.[]; .state == \"up\" and .note == null)"; }
last_left() { newest ".rows[] | select(.node == \"$last\") | .note == \"left the cluster\""; }
last_gone() { newest ".rows[] | select(.node == \"$last\") | .state == \"gone\""; }
comes_and_goes() {
    wait_until 120 all_up || { echo "not all are up"; return 1; }
    order leave || return 1
    wait_until 120 last_left || { echo "it has not left"; return 1; }
    { joins_both && wait_until 120 all_up; } || { echo "it does not come back"; return 1; }
    kill -9 "$(os_vm)"
    wait_until 120 last_gone || { echo "it is not gone"; return 1; }
    { start_last && joins_both && wait_until 120 all_up; } || { echo "it is not found again"; return 1; }
}

# Commands that print each node, a trace and counted calls.
takes_the_cluster() {
    has_two || return 0
    "$beamtop" info "$seed" --cluster --cookie-file "$work/cookie" --timeout 30 --format json >"$work/out" 2>"$work/err"
    ends_with 0 $? && holds "map(.node) | sort == ([\"$seed\", \"$last\"] | sort)" || return 1
    for asked in trace calls; do
        "$beamtop" $asked "$seed" 'lists:map/2' --cluster --dry-run --cookie-file "$work/cookie" --timeout 60 \
            >"$work/out" 2>"$work/err"
        ends_with 0 $? && told "^beamtop: 2 nodes" || return 1
    done
}

leaves_nothing() {
    for dir in $dirs; do is_clean || return 1; done
}

run_on_several cookies_by_node cookies_of_the_configuration others_may_not_read_them names_from_dns \
    other_commands_know_them two_names_of_one on_the_screen follows_the_cluster takes_the_cluster \
    leaves_nothing
