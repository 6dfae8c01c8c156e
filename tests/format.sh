#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# C is formatted by .clang-format, C and the node's Erlang are 100 columns wide, and tests of pointers and
# zero have one manner. TAP.
# shellcheck disable=SC2317
set -u
# shellcheck source=tests/tap.sh
. "$(dirname "$0")/tap.sh"
cd "$BEAMTOP_SRCDIR" || exit 1

# Other versions break some lines at other places.
version=14

sources() {
    find src include tests demo -name '*.[ch]' -o -path 'src/*.erl' | sort
}

c_is_formatted() {
    sources | grep '\.[ch]$' >"$work/c"
    [ "$(wc -l <"$work/c")" -gt 500 ] || {
        echo "only $(wc -l <"$work/c") files were found"
        return 1
    }
    xargs clang-format --dry-run <"$work/c" 2>"$work/said" || return 1
    grep 'warning:' "$work/said" | cut -d : -f 1 | sort | uniq -c >"$work/files"
    [ ! -s "$work/files" ] || {
        echo "run clang-format -i over these; so many places:"
        cat "$work/files"
        return 1
    }
}

a_planted_line_is_found() {
    cp .clang-format "$work/"
    printf 'int  one (void)\n{\n  return 1; }\n' >"$work/planted.c"
    clang-format --dry-run "$work/planted.c" 2>&1 | grep -q warning:
}

lines_are_100_columns_wide() {
    # shellcheck disable=SC2046
    no_line '^.{101,}$' $(sources)
}

# A pointer in a condition is tested as p or !p; `p != NULL` is the value of the test, and nothing else.
null_tests_have_one_manner() {
    # shellcheck disable=SC2046
    no_line '== NULL|(if|while|assert) \([^()]*!= NULL|!= NULL (&&|\|\||\?)|(&&|\|\|) [^&|(]*!= NULL' \
        $(sources | grep '\.[ch]$')
}

# What is all zero is {0}.
zero_has_one_manner() {
    # shellcheck disable=SC2046
    no_line '[=)] ?\{(NULL|\.[a-z_]+ = (0|NULL|false|ERR_NONE))\};|memset\(&?[a-z]+, 0, sizeof \*[a-z]+\)' \
        $(sources | grep '\.[ch]$')
}

case $(clang-format --version 2>/dev/null) in
*" version $version."*)
    run c_is_formatted
    run a_planted_line_is_found
    ;;
*)
    skip "c_is_formatted" "clang-format $version is not here"
    ;;
esac
run lines_are_100_columns_wide
run null_tests_have_one_manner
run zero_has_one_manner
finish
