#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Colours and characters: themes, terminals with few colours or none, no UTF-8.
# shellcheck disable=SC1091,SC2317
set -u
. "$(dirname "$0")/../tap.sh"
. "$(dirname "$0")/lib.sh"
bt_setup

escape=$(printf '\033')
colour="$escape\[[0-9;]*\(3[0-8]\|4[0-8]\|9[0-7]\|10[0-7]\)[;m]"

has_colour() { tm_ansi | grep -q "$colour"; }
has_no_colour() { ! has_colour; }
is_ascii() { ! tm_text | LC_ALL=C grep -q '[^ -~]'; }

show_ansi() {
    tm_ansi | sed "s/$escape/^[/g"
    return 1
}

is_coloured_where_the_terminal_can() { bt_open 100 30 && { wait_until 60 has_colour || show_ansi; } && bt_quit; }

# plain VARIABLE=VALUE…
plain() { bt_open 100 30 "$@" && { has_no_colour || show_ansi; } && bt_quit; }

obeys_NO_COLOR() { plain NO_COLOR=1; }
works_on_a_vt100() { plain TERM=vt100; }

works_with_eight_colours() { bt_open 100 30 TERM=screen && bt_quit; }

is_ascii_without_UTF8() {
    bt_open 100 30 LC_ALL=C && { wait_until 60 is_ascii || show_ansi; } && bt_quit
}

has_graphs_with_UTF8() { bt_open 120 40 && wait_until 60 has_bars && bt_quit; }
has_bars() { tm_text | grep -q '[▁▂▃▄▅▆▇█]'; }

# The same rows in other colours.
changes_theme() {
    bt_open 100 30 || return 1
    tm_wait NAME || return 1
    before=$(sgr_of_title)
    tm_type :
    tm_type 'theme light'
    tm_keys Enter
    wait_until 60 title_changed || {
        show_ansi
        return 1
    }
    tm_keys C-t
    tm_wait 'theme mono' && tm_wait shop_pricing && bt_quit
}

sgr_of_title() { tm_ansi | grep -F NAME | head -1 | tr -dc "$escape"'[0-9;m'; }
title_changed() { [ "$(sgr_of_title)" != "$before" ]; }

# tmux does not answer what its background is here, so COLORFGBG decides.
follows_a_light_terminal() {
    bt_open 100 30 'COLORFGBG=0;15' && wait_until 60 has_dark_keys && bt_quit
}
has_dark_keys() { tm_ansi | grep -qF '38;5;88m'; }

# Where nobody says what the background is, the theme has its own; else the terminal's stays.
brings_a_background() {
    bt_open 100 30 && wait_until 60 has_black && bt_quit &&
        bt_open 100 30 'COLORFGBG=15;0' && wait_until 60 has_colour && ! has_black && bt_quit
}
has_black() { tm_ansi | grep -q '48;5;16[;m]'; }

has_no_colour_in_the_mono_theme() {
    bt_open 100 30 -- --theme mono && { has_no_colour || show_ansi; } && bt_quit
}

run is_coloured_where_the_terminal_can
run obeys_NO_COLOR
run works_on_a_vt100
run works_with_eight_colours
run is_ascii_without_UTF8
run has_graphs_with_UTF8
run changes_theme
run follows_a_light_terminal
run brings_a_background
run has_no_colour_in_the_mono_theme
finish
