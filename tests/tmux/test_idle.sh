#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# A node that does nothing is asked half as often, and the header says so; one that works, as often as
# asked for. The load is tests/live/idle_load.erl.
# shellcheck disable=SC1091,SC2034,SC2154,SC2317
set -u
. "$(dirname "$0")/../tap.sh"
. "$(dirname "$0")/lib.sh"
bt_setup_load idle_load

# Twenty quiet answers in a row: on a busy machine one may not be.
tm_wait_s=120

asks_an_idle_node_less() {
    bt_start 160 30 && tm_wait 'every 2.0 s (idle)'
}

asks_a_busy_one_as_often_as_before() {
    order work && tm_wait_gone '(idle)' && tm_wait 'every 1.0 s'
}

notices_that_it_rests() {
    order rest && tm_wait 'every 2.0 s (idle)'
}

keeps_a_long_interval() {
    tm_type ':set interval 5s'
    tm_keys Enter
    tm_wait 'every 5.0 s' && tm_wait_gone '(idle)' && bt_quit
}

run bt_start_load
for test in asks_an_idle_node_less asks_a_busy_one_as_often_as_before notices_that_it_rests keeps_a_long_interval; do
    run "$test"
done
run is_clean
finish
