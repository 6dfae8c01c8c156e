#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# A node full of names that nobody expects, which asks every beamtop for them: no command ends before
# its time, what is printed is UTF-8 without anything that steers a terminal, and JSON is JSON. The
# load is names_load.erl.
# shellcheck disable=SC1091,SC2034,SC2154,SC2317
set -u
. "$(dirname "$0")/../tap.sh"

load=names_load
. "$(dirname "$0")/releases.sh"
. "$BEAMTOP_SRCDIR/tests/tmux/lib.sh"
command -v iconv >/dev/null || skip_all "no iconv here"

XDG_STATE_HOME=$work/state
export XDG_STATE_HOME

# C0 but line ends and tabs, DEL, C1, what turns text round: as bytes of UTF-8.
steering=$(printf '[\001-\010\013-\037\177]|\302[\200-\237]|\342\200[\216\217\250-\256]|\342\201[\246-\251]')

is_plain_text() {
    iconv -f UTF-8 -t UTF-8 "$1" >/dev/null || { echo "not UTF-8: $1"; return 1; }
    ! LC_ALL=C grep -aqE "$steering" "$1" || { LC_ALL=C grep -aE "$steering" "$1" | head -n 3 | od -c; return 1; }
}

# prints WORDS…: the command ends well, both its outputs are fit to be seen, and no name was evaluated.
prints() {
    patient says_all "$@"
    ends_with 0 $? && is_plain_text "$work/out" && is_plain_text "$work/err" || return 1
    [ ! -e "$dir/oops" ] && [ ! -e oops ]
}

says_all() {
    rm -f "$work/out" "$work/err"
    "$beamtop" "$@" >"$work/out" 2>"$work/err"
}

# prints_of_node COMMAND WORDS…
prints_of_node() {
    command=$1
    shift
    prints "$command" "$node" --cookie-file "$work/cookie" --timeout 30 "$@"
}

was_asked() { [ "$(grep -c . "$dir/asked" 2>/dev/null)" -gt "$1" ] 2>/dev/null; }

# It has answered the node, and goes on after it.
answers_for_all_names() {
    before=$(grep -c . "$dir/asked" 2>/dev/null)
    "$beamtop" top "$node" --cookie-file "$work/cookie" --timeout 30 -n 0 -i 0.25 --format json >"$work/ticks" 2>"$work/err" &
    looker=$!
    wait_until 60 was_asked "${before:-0}"
    answered=$?
    lines=$(grep -c . "$work/ticks")
    wait_until 60 has_more_lines "$((lines + 1))"
    went_on=$?
    kill -INT "$looker" 2>/dev/null
    wait "$looker"
    ended=$?
    [ "$answered$went_on$ended" = 000 ] && return
    echo "answered $answered, went on $went_on, exit code $ended"
    tail -n 3 "$work/err"
    return 1
}
has_more_lines() { [ "$(grep -c . "$work/ticks")" -gt "$1" ]; }

# in_formats COMMAND WORDS…: JSON is the last.
in_formats() {
    for format in text csv json; do
        prints_of_node "$@" --format "$format" || return 1
    done
}

prints_the_busiest() {
    in_formats top -n 2 -i 0.3 -R 100 --budget 100 && holds 'map(.rows // [] | length) | add > 10'
}

# Before OTP 27 nobody else can trace then.
prints_what_is_armed() {
    order arm && in_formats armed || return 1
    stop_node
}

prints_applications() { in_formats apps -n 1; }

# The longest names are given in full.
prints_one_process() {
    for name in "$(repeated 'é' 255)" "$(repeated '😀' 255)" '=1+1' "$(printf 'a\nb\r\tc')"; do
        prints_of_node process "$name" || return 1
    done
    prints_of_node process "$name" --format json
}
repeated() { awk -v s="$1" -v n="$2" 'BEGIN { for (i = 0; i < n; i++) printf "%s", s }'; }

prints_views() {
    for view in top apps tree armed owners memory; do
        prints_of_node capture --view "$view" --size 160x60 || return 1
    done
}

traces_and_counts() {
    module=$(cat "$dir/module")
    prints_of_node trace "'$module':_/_" --events 4 --time 5s --rate 5000 || return 1
    prints_of_node trace "'$module':_/_" --events 4 --time 5s --rate 5000 --format json || return 1
    prints_of_node calls "'$module':_/_" --for 0.5s --force || return 1
    prints_of_node calls "'$module':_/_" --for 0.5s --force --format json
}

# For as long as it takes until the node has listed its processes.
records_and_reports() {
    for seconds in 2 4 8 16 32; do
        rm -f "$work/odd.btr"
        prints_of_node record -o "$work/odd.btr" --interval 0.3 --for "${seconds}s" --budget 100 \
            --label "$(printf 'x\302\233y')" || return 1
        ! says_all export "$work/odd.btr" processes || break
    done
    prints report "$work/odd.btr" && prints report "$work/odd.btr" --format json &&
        prints report "$work/odd.btr" --format html && prints report "$work/odd.btr" --format markdown &&
        prints export "$work/odd.btr" processes && prints top "$work/odd.btr" -R 100 &&
        prints top "$work/odd.btr" --format json && prints capture "$work/odd.btr" --view owners
}

# What is on the screen of a real terminal, view by view.
shows_on_the_screen() {
    command -v tmux >/dev/null || { not_tried "no tmux here"; return 0; }
    tm_open 160 50 || return 1
    tm_run "$beamtop $node --cookie-file $work/cookie --no-config --timeout 30; echo ended=\$?"
    tm_wait 'RED/s' || { tm_close; return 1; }
    for view in apps tree armed owners top; do
        tm_type ":view $view"
        tm_keys Enter
        tm_wait "${node%@*}" || { tm_close; return 1; }
        tm_text >"$work/pane"
        is_plain_text "$work/pane" || { tm_close; return 1; }
    done
    tm_keys Q
    tm_wait 'ended=0'
    shown=$?
    tm_close
    return $shown
}

differ answers_for_all_names prints_the_busiest traces_and_counts prints_what_is_armed
same prints_applications prints_one_process prints_views records_and_reports shows_on_the_screen
run_on_releases
