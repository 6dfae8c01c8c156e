#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Looking at processes that hold terms with shared parts costs the node no more than what they are:
# each way to look lets the node's peak memory grow by less than 64 MiB. The load is
# sharing_load.erl.
# shellcheck disable=SC1091,SC2034,SC2154,SC2317
set -u
. "$(dirname "$0")/../tap.sh"
. "$(dirname "$0")/../tmux/lib.sh"

load=sharing_load
# Freed memory is given back at once.
ERL_FLAGS="+MMmcs 0"
export ERL_FLAGS
. "$(dirname "$0")/releases.sh"
command -v tmux >/dev/null || skip_all "no tmux here"

most_kib=65536
XDG_STATE_HOME=$work/state
export XDG_STATE_HOME

peak_kib() { awk '/^VmHWM/ { print $2 }' "/proc/$vm/status"; }

# Making the persistent term of 128 MB took four times as much, in which a copy would go unseen.
has_given_back() { [ "$(awk '/^VmRSS/ { print $2 }' "/proc/$vm/status")" -lt 240000 ]; }

# forgets_its_start: from the first case on the peak is what the node has now.
forgets_its_start() {
    [ "${vm:-}" != "$(cat "$dir/pid")" ] || return 0
    vm=$(cat "$dir/pid")
    wait_until 60 has_given_back || { grep ^Vm "/proc/$vm/status"; return 1; }
    echo 5 >"/proc/$vm/clear_refs" && base_kib=$(peak_kib) && [ -n "$base_kib" ]
}

is_small() {
    grown=$(($(peak_kib) - base_kib))
    [ "$grown" -lt "$most_kib" ] && return 0
    echo "the node grew by $((grown / 1024)) MiB"
    return 1
}

# asks COMMAND WORDS…: with objects of JSON, which stay.
asks() {
    asked=$1
    shift
    "$beamtop" "$asked" "$node" --cookie-file "$work/cookie" --timeout 30 "$@" \
        >"$work/out" 2>"$work/err" && return 0
    cat "$work/err"
    return 1
}

columns=pid,name,label,initial_call,application,supervisor,current_function,memory_bytes,dictionary_len
columns=$columns,links,monitors,binary_bytes,minor_gcs

# What is known of a server that waits.
server_call() { [ "$1" -lt 26 ] && echo gen_server:loop/7 || echo sharing_load:init/1; }

looks_at_all_processes() {
    forgets_its_start || return 1
    init=$(server_call "$1")
    asks top -n 2 -i 0.3 --budget 100 -R 200 -c "$columns" --format json && is_small &&
        holds '[.[-1].rows[].name] | contains(["sharing_idle", "sharing_busy", "sharing_held",
                                              "sharing_server", "sharing_sup"])' &&
        holds '.[-1].rows | map(select(.name == "sharing_idle"))[0] |
               .application == "sharing" and .supervisor == "sharing_sup" and .dictionary_len == null' &&
        holds ".[-1].rows | map(select(.name == \"sharing_server\"))[0].initial_call == \"$init\"" &&
        holds "[.[-1].rows[] | select(.application == \"sharing\" and .name == null) | .initial_call] |
               index(\"$init\") != null" &&
        asks top -n 2 -i 0.3 --budget 100 -R 200 -f 'init=sharing_load|label=sharing' --format json && is_small
}

looks_at_each() {
    forgets_its_start || return 1
    for name in sharing_sup sharing_server sharing_idle sharing_busy sharing_held; do
        asks process "$name" --format json && is_small &&
            holds ".[0].process.name == \"$name\" and .[0].dictionary.count == null" || return 1
    done
}

looks_at_applications() {
    forgets_its_start && asks apps --format json && is_small &&
        holds '[.[-1].rows[].application] | index("sharing") != null'
}

has_recorded() { [ "$(sqlite3 -readonly "$1" 'SELECT count(*) FROM tick' 2>/dev/null || echo 0)" -ge 4 ]; }

records_it() {
    forgets_its_start || return 1
    rm -f "$work/recording"
    "$beamtop" record "$node" --cookie-file "$work/cookie" --timeout 30 -o "$work/recording" --interval 0.3s \
        --budget 100 --for 100s >"$work/out" 2>"$work/err" &
    recorder=$!
    wait_until 60 has_recorded "$work/recording"
    recorded=$?
    kill -INT "$recorder"
    wait "$recorder"
    [ "$recorded" -eq 0 ] && is_small && return 0
    cat "$work/err"
    return 1
}

# says KEY TEXT: what the screen says to the key. Where reading would copy, it asks; the answer is no.
says() {
    tm_keys "$1"
    tm_wait "$2" || return 1
    case $2 in
    'Reading copies'*) tm_wait '(y/n)' && tm_keys n && tm_wait_gone '(y/n)' ;;
    esac
}

# The screen of one process, on which mailbox and state are asked for, and the user does not agree.
asks_before_it_reads() {
    tm_open 120 50 BT="$beamtop" NODE="$node" COOKIE="$work/cookie" || return 1
    tm_run "\"\$BT\" \"\$NODE\" --cookie-file \"\$COOKIE\" --budget 100 --timeout 30 --filter '^$1\$'"
    tm_wait_line "> +$1 " && tm_keys Enter && tm_wait_line '^── Process ' && tm_wait "v state" || return 1
    says v "$2" && says m "$3" && is_small
}

on_the_screen() {
    asks_before_it_reads sharing_server 'Reading copies its state' 'empty' &&
        tm_type ':tree sharing' && tm_keys Enter && tm_wait_line 'server +worker +<.* sharing_server' &&
        is_small && tm_keys Q && tm_close &&
        asks_before_it_reads sharing_held 'no OTP behaviour' 'Reading copies all of them' &&
        tm_keys Q && tm_close
}

screen_asks() {
    forgets_its_start && on_the_screen
    asked=$?
    tm_close
    return "$asked"
}

differ looks_at_all_processes looks_at_each looks_at_applications records_it screen_asks
run_on_releases
