#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Ports and sockets of real nodes: kinds, addresses, states of the kernel, who waits in a send, and
# connections to other nodes that are held. The load is ports_load.erl.
# shellcheck disable=SC1091,SC2016,SC2034,SC2154,SC2317
set -u
. "$(dirname "$0")/../tap.sh"

load=ports_load
. "$(dirname "$0")/releases.sh"

ports() {
    "$beamtop" ports "$node" --timeout 60 --cookie-file "$work/cookie" --format json "$@" \
        >"$work/out" 2>"$work/err" </dev/null || { cat "$work/err"; return 1; }
}

# has FILTER: a row of the last tick is so; $tcp … are the numbers of the load.
has() {
    read -r tcp udp sock path os_pid full <"$dir/numbers"
    jq -s -e --argjson tcp "$tcp" --argjson udp "$udp" --argjson sock "$sock" --arg path "$path" \
        --argjson os_pid "$os_pid" --arg full "$full" "any(.[-1].rows[]; $1)" "$work/out" >/dev/null ||
        { echo "no row: $1"; jq -c '.rows[]' "$work/out" | head -40; return 1; }
}

each_kind_is_there() {
    ports || return 1
    for row in \
        '.kind == "tcp" and .state == "listening" and .local_port == "\($tcp)" and .owner_name == "ports_load"' \
        '.kind == "tcp" and .state == "established" and .local_port == "\($tcp)" and .idle_us >= 0' \
        '.kind == "tcp" and .state == "established" and (.remote | endswith(":\($tcp)"))' \
        '.kind == "tcp" and .state == "close_wait" and .local_port == "\($tcp)"' \
        '.kind == "udp" and .local == "127.0.0.1:\($udp)" and .state == "open"' \
        '.kind == "local" and .local == $path and .state == "listening"' \
        '.kind == "program" and .os_pid == $os_pid and .name == "sleep 1000"' \
        '.kind == "driver" and .name == "forker"' \
        '.kind == "distribution" and (.name | startswith("beamtop"))' \
        '.backend == "socket" and .kind == "tcp" and .local_port == "\($sock)" and .remote == null' \
        '.backend == "socket" and (.remote | tostring | endswith(":\($sock)"))'; do
        has "$row" || return 1
    done
    holds '.[0].ports.partial == false' && is_clean
}

# OTP 23 has no native options of sockets.
states_of_sockets() {
    ports && has '.backend == "socket" and .state == "listening"' &&
        has '.backend == "socket" and .state == "established" and .idle_us >= 0'
}

are_seen() {
    ports && has '.id == $full and .busy and .queue_bytes > 50000 and .senders == 3
        and (.sender_name | startswith("ports_"))' &&
        has '.backend == "socket" and .busy and .senders == 1 and .sent_bytes > 0'
}
senders_are_seen() {
    order waits || return 1
    one_of 20 are_seen
}

a_leak_is_seen() {
    order leak || return 1
    ports && holds '[.[0].rows[] | select(.state == "close_wait" and .owner_name == "ports_load")] | length > 40' &&
        ports --by owner_name --sort close_wait --top 1 &&
        holds '.[0].rows | length == 1 and .[0].owner_name == "ports_load" and .[0].close_wait > 40'
}

# ---- what findings and comparisons say of it

XDG_STATE_HOME=$work/state
export XDG_STATE_HOME

records() {
    rm -f "$work/$1"
    exec "$beamtop" record "$node" -o "$work/$1" --interval 1s --budget 20 --for "$2" --timeout 60 \
        --cookie-file "$work/cookie" >"$work/told" 2>&1 </dev/null
}

reports() {
    "$beamtop" report "$work/leak" --format json >"$work/out" 2>"$work/err" </dev/null &&
        jq -s -e ".[-1] | $1" "$work/out" >/dev/null
}

# All ports were read once: a new kind is said to be new only then.
has_all_ports() {
    "$beamtop" ports "$work/$1" --format json >"$work/out" 2>/dev/null && holds '.[-1].ports.partial == false'
}

# Of the third look, half a minute after the second.
a_leak_is_found() {
    for seconds in 3 6 12 24 48; do
        (records none "${seconds}s") || { cat "$work/told"; return 1; }
        ! has_all_ports none >/dev/null || break
    done
    order leak || return 1
    records leak 600s &
    recorder=$!
    wait_long 900 reports 'any(.findings[]; .rule == "closed_sockets" and .severity == "look"
        and (.title | test("^ports_load keeps 4[0-9] closed connections: CLOSE_WAIT$"))
        and any(.evidence[]; .text == "all closed by 127.0.0.1"))'
    found=$?
    kill "$recorder" && wait "$recorder"
    [ "$found" -eq 0 ] || { jq -c '.findings, .not_evaluated' "$work/out"; cat "$work/told"; return 1; }
    "$beamtop" report "$work/none" --format json >"$work/out" &&
        holds 'all(.[].findings[]; .rule != "closed_sockets")' &&
        "$beamtop" diff "$work/none" "$work/leak" --format json >"$work/out" && holds 'any(.[].differences[];
            .question == "ports" and .what == "tcp, close_wait" and .key == "ports" and .after >= 40)' && is_clean
}

# Those that are left are the newest, and idle as the others; not all are rows.
a_leak_in_a_pool_is_seen() {
    order pool || return 1
    ports --by state --sort ports -n 3 &&
        has '.state == "close_wait" and .ports > 400 and .close_wait == .ports' &&
        has '.state == "established" and .ports >= 2000' &&
        ports --by owner_name --sort close_wait --top 1 -n 3 &&
        has '.owner_name == "ports_load" and .close_wait > 400 and .ports > 2400' &&
        ports -n 3 && holds '.[2].ports.partial == false' &&
        has '.kind == "tcp" and .state == "established" and .ports > 500 and (.id | startswith("rest of"))'
}

# The parts of it that have no row are read one after the other, and are added up.
# On a busy machine a look may come before a port is held, or is late.
many_are_added_up() { order many && one_of 20 sums_are_there; }
sums_are_there() {
    ports -n 3 &&
        holds '([.[2].rows[] | select(.id | startswith("rest of") | not)] | length) == 1000
               and ([.[2].rows[].ports] | add) > 2500' &&
        has '.kind == "udp" and .ports > 1500 and (.id | startswith("rest of")) and .owner != null' &&
        has '.state == "close_wait"'
}

# A peer that stands still: the link is held, and its sender is suspended.
is_held() { ports && has '.kind == "distribution" and .queue_bytes > 0 and .senders >= 1 and .sender != null'; }
a_held_link_is_seen() {
    peer=ports_peer$1x$$@127.0.0.1
    "$otp_sh" "$1" erl -noinput -name "$peer" -setcookie releases -start_epmd false >/dev/null 2>&1 &
    peer_pid=$!
    wait_until 120 peer_is_up || return 1
    echo "$peer" >"$dir/name"
    order peer || return 1
    kill -STOP "$peer_pid"
    one_of 20 is_held
    held=$?
    kill -9 "$peer_pid"
    wait "$peer_pid" 2>/dev/null
    return $held
}
peer_is_up() { "$beamtop" nodes --cookie-file "$work/cookie" 2>/dev/null | grep -q "${peer%@*}"; }

since 24 states_of_sockets
differ each_kind_is_there states_of_sockets senders_are_seen a_held_link_is_seen
same a_leak_is_found a_leak_is_seen a_leak_in_a_pool_is_seen many_are_added_up
run_on_releases
