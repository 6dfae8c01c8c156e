#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# What the user does: keys, filter, views, the command prompt, captures, leaving.
# shellcheck disable=SC1091,SC2317
set -u
. "$(dirname "$0")/../tap.sh"
. "$(dirname "$0")/lib.sh"
bt_setup

filters_as_typed_and_takes_it_back() {
    bt_open 120 40 || return 1
    tm_type '/'
    tm_type '^shop_order_[12]$'
    tm_wait_gone shop_pricing && tm_wait shop_order_1 && tm_wait shop_order_2 || return 1
    tm_keys Enter
    tm_wait_gone shop_order_3 && tm_has shop_order_1 || return 1
    tm_keys '?' # another view has no filter, and this one has its own again
    tm_wait_line '^── Help' && tm_wait_gone 'filter ^shop' || return 1
    tm_keys Escape
    tm_wait 'filter ^shop' && tm_wait shop_order_1 && tm_wait_gone shop_pricing || return 1
    tm_type '/'
    tm_type '('
    tm_wait invalid && tm_wait shop_order_1 && tm_has_not shop_pricing || return 1
    tm_keys Escape
    tm_wait_gone invalid && tm_wait shop_order_1 && tm_has_not shop_pricing || return 1
    tm_keys Escape
    tm_wait shop_pricing && bt_quit
}

# The mailbox grows, and above 50,000 messages it is not read: the first of these tests.
reads_a_mailbox_when_told_to() {
    bt_start 120 40 -- --filter shop_mailer && tm_wait 'matching' && tm_wait_line '^.<.*shop_mailer' || return 1
    tm_type m
    tm_wait 'messages of <0.' && tm_wait 'messages, the process has' || return 1
    tm_type n
    tm_wait_gone 'messages of <0.' && tm_has 'Answer y' || return 1
    tm_keys Escape
    tm_wait 'matching' && tm_type m && tm_wait 'messages of <0.' || return 1
    tm_type y
    tm_wait 'the first 20 of' && bt_quit
}

# In the form of SGR, as a terminal sends it: press, release. The bottom row is the 40th.
clicks() {
    click=$(printf '\033[<0;%s;%sM\033[<0;%s;%sm' "$1" "$2" "$1" "$2")
    tm_type "$click"
}

# A click does what it is on, and no key is needed for the screen to go on.
goes_on_after_a_click() {
    bt_open 120 40 || return 1
    at=$(tm_text | sed -n 40p | awk '{ print index($0, " keys ") + 2 }')
    clicks "$at" 40
    tm_wait_line '^── Help' || return 1
    at=$(tm_text | sed -n 40p | awk '{ print index($0, " back ") + 2 }')
    clicks "$at" 40
    bt_wait_list || return 1
    clock=$(tm_text | head -1)
    clicks 3 12
    wait_until "$tm_wait_s" clock_has_moved && bt_quit
}

clock_has_moved() { [ "$(tm_text | head -1)" != "$clock" ]; }

sorts_by_name_of_a_column() {
    bt_open 120 40 || return 1
    tm_type ':sort message_queue_len'
    tm_keys Enter
    wait_until 30 first_is shop_mailer || {
        tm_text
        return 1
    }
    bt_quit
}

first_is() { tm_text | grep -A1 -F PID | tail -1 | grep -qF "$1"; }

# Of one row, for the first of many is another's now and then.
opens_a_process() {
    bt_open 120 40 -- --filter "'^shop_pricing\$'" || return 1
    tm_wait_gone shop_order && tm_wait_line '> +shop_pricing ' || return 1
    tm_keys g Enter
    tm_wait_line '^── Process ' && tm_wait 'shop_pricing:' && bt_quit
}

shows_every_view() {
    bt_open 120 40 || return 1
    for view in memory:Memory schedulers:Schedulers apps:Applications log:Log help:Help top:Processes; do
        tm_type ":view ${view%:*}"
        tm_keys Enter
        wait_until 30 title_names "${view#*:}" || {
            tm_text
            return 1
        }
    done
    bt_quit
}

# The menu of views, by typing; and a view's name as a command.
goes_to_a_view_by_its_name() {
    bt_open 120 40 && tm_type V && tm_wait 'type to filter' && tm_type sched && tm_wait_gone 'Every key' || return 1
    tm_keys Enter
    wait_until 30 title_names Schedulers || return 1
    tm_type :memory
    tm_keys Enter
    wait_until 30 title_names Memory || return 1
    tm_type ':process shop_pricing' # a process, by its name
    tm_keys Enter
    wait_until 30 title_names Process && tm_wait 'shop_pricing:' || return 1
    tm_type :trace # not the prompt of traces: its view
    tm_keys Enter
    wait_until 30 title_names Trace && tm_wait 'asks what to trace' || return 1
    tm_type :memry
    tm_keys Enter
    tm_wait 'did you mean memory?' && bt_quit
}

title_names() { tm_text | grep -q "^── $1"; }

refuses_a_bad_filter_at_the_start() {
    bt_start 120 40 -- --filter "'('" && tm_wait 'code 2' && tm_wait_restored
}

pauses_and_goes_on() {
    bt_open 120 40 && tm_type p && tm_wait paused && tm_type p && tm_wait_gone paused && bt_quit
}

# Each in the format that its name says.
captures_the_screen() {
    bt_open 120 40 || return 1
    for format in 'txt PID' 'svg <svg' 'html <' "ansi $(printf '\033')["; do
        tm_type ":capture-screen $work/screen.${format%% *}"
        tm_keys Enter
        wait_until 30 has_captured "screen.${format%% *}" "${format#* }" || {
            tm_text
            return 1
        }
    done
    bt_quit
}

has_captured() { grep -qsF -e "$2" "$work/$1" && grep -qF shop_pricing "$work/$1"; }

selected() { tm_text | grep '▌'; }
has_moved() { [ "$(selected)" != "$was_selected" ]; }

# @ from a node that was named: the picker knows the nodes of this host all the same, and goes to one. (Others
# may have its name.)
lists_nodes_and_opens_one() {
    row="$BEAMTOP_DEMO_NODE +$BEAMTOP_DEMO_PID "
    bt_open 160 40 || return 1
    tm_type @
    tm_wait 'Nodes on this host' && tm_wait_line "│.*$row" || return 1
    until tm_has_line "▌$row"; do
        was_selected=$(selected)
        tm_keys Down
        wait_until "$tm_wait_s" has_moved || {
            tm_text
            return 1
        }
    done
    tm_keys Enter
    tm_wait_gone 'Nodes on this host' && tm_wait '● live' && tm_wait shop_pricing && bt_quit
}

act() {
    tm_type ":$1"
    tm_keys Enter
}

# The node chooses the rows of a list; it goes by the list's filter, whichever pane has the focus.
filters_each_pane() {
    bt_open 120 40 || return 1
    tm_type '/'
    tm_type '^shop_order_[12]$'
    tm_keys Enter
    tm_wait_gone shop_pricing && tm_wait shop_order_1 || return 1
    act 'split below' && act 'view apps' && tm_wait 'A small shop' || return 1
    tm_wait_gone shop_pricing && tm_wait shop_order_1 && tm_wait 'filter ^shop' && tm_has_not 'not applied' || return 1
    tm_type '/'
    tm_type 'kernel'
    tm_keys Enter
    tm_wait_gone 'A small shop' && tm_wait 'filter kernel' && tm_wait shop_order_1 && tm_has_not shop_pricing || return 1
    act close && tm_wait shop_order_1 && bt_quit
}

run reads_a_mailbox_when_told_to
run filters_as_typed_and_takes_it_back
run filters_each_pane
run goes_on_after_a_click
run sorts_by_name_of_a_column
run opens_a_process
run shows_every_view
run goes_to_a_view_by_its_name
run refuses_a_bad_filter_at_the_start
run pauses_and_goes_on
run captures_the_screen
run lists_nodes_and_opens_one
finish
