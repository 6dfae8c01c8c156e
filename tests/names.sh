#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Arguments that are not a node's name are refused before anything is asked. TAP.
set -u
# shellcheck source=tests/tap.sh
. "$(dirname "$0")/tap.sh"
[ -x "$beamtop" ] || skip_all "beamtop is not built"
HOME=$work XDG_CONFIG_HOME=$work XDG_STATE_HOME=$work LC_ALL=C.UTF-8
export HOME XDG_CONFIG_HOME XDG_STATE_HOME LC_ALL

# says CODE TEXT ARGUMENT…
says() {
    code=$1
    text=$2
    shift 2
    "$beamtop" "$@" >"$work/out" 2>"$work/err" </dev/null
    got=$?
    [ "$got" = "$code" ] && grep -qF -- "$text" "$work/err" && return 0
    echo "exit code $got instead of $code, or nothing like '$text':"
    cat "$work/out" "$work/err"
    return 1
}

a_file_that_is_not_there_is_no_node() {
    for command in top info memory schedulers apps armed calls trace capture; do
        says 2 "$work/typo: No such file" "$command" "$work/typo" || return 1
    done
}

a_directory_is_no_node() {
    mkdir "$work/directory"
    says 2 "neither a recording's file nor a node's name" top "$work/directory" &&
        says 2 "neither a recording's file nor a node's name" calls "$work/directory"
}

the_screen_that_cannot_begin_says_why() {
    says 2 terminal "$work/typo" && says 2 terminal --cookie-file "$work/typo" a@127.0.0.1
}

an_empty_mark_is_an_error() { says 2 'mark TEXT' record mark '' && says 2 'mark TEXT' record mark; }

for test in a_file_that_is_not_there_is_no_node a_directory_is_no_node the_screen_that_cannot_begin_says_why \
    an_empty_mark_is_an_error; do
    run "$test"
done
finish
