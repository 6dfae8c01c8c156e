#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Scripts, manual and completion are well-formed, and no global name of the program is defined twice,
# as far as the tools for it are here. TAP.
set -u
# shellcheck source=tests/tap.sh
. "$(dirname "$0")/tap.sh"
cd "$BEAMTOP_SRCDIR" || exit 1

# check_with TOOL FUNCTION: skips without the tool.
check_with() {
    if command -v "$1" >/dev/null 2>&1; then
        run "$2"
    else
        skip "$2" "no $1 here"
    fi
}

scripts_are_clean() {
    find . -name '*.sh' -not -path './build*' >"$work/scripts"
    printf '%s\n' bootstrap .ci/run >>"$work/scripts"
    # shellcheck disable=SC2046
    shellcheck -s sh -e SC1091,SC2154,SC2317,SC2034 $(cat "$work/scripts")
}

# A test that may not be executed fails only where it is run from a checkout.
scripts_may_be_executed() {
    find . -name '*.sh' -not -path './build*' ! -perm -u+x -exec awk \
        'FNR == 1 && /^#!/ { print FILENAME " is not executable" }' {} + >"$work/modes"
    [ ! -s "$work/modes" ] || {
        cat "$work/modes"
        return 1
    }
}

# mandoc complains of pages that are not installed yet.
manual_is_clean() {
    for page in man/beamtop.1 man/beamtop.conf.5 man/beamtop-sample.7 man/beamtop-trace.7; do
        mandoc -T lint "$BEAMTOP_BUILDDIR/$page" 2>/dev/null |
            grep -v -e 'referenced manual not found' \
                -e 'longer than 80 bytes' -e 'new sentence, new line'
    done >"$work/lint"
    [ ! -s "$work/lint" ] || {
        cat "$work/lint"
        return 1
    }
}

bash_completion_is_clean() { bash -n "$BEAMTOP_BUILDDIR/completion/beamtop"; }
zsh_completion_is_clean() { zsh -n "$BEAMTOP_BUILDDIR/completion/_beamtop"; }
fish_completion_is_clean() { fish -n "$BEAMTOP_BUILDDIR/completion/beamtop.fish"; }

# defined_twice FILE…: global names that several objects define. The linker takes the first of an
# archive without an error, so a caller of the other would run the wrong function.
defined_twice() {
    nm -A -g --defined-only "$@" |
        awk 'NF > 2 && $(NF - 1) ~ /^[TDBRC]$/ { where[$NF] = where[$NF] " " $1; n[$NF]++ }
            END { for (name in n) if (n[name] > 1) print name ":" where[name] }'
}

no_global_name_is_defined_twice() {
    (
        cd "$BEAMTOP_BUILDDIR" || exit 1
        set -- src/*.a src/app/beamtop-main.o
        if [ "$(nm -g --defined-only "$@" | grep -c ' T ')" -gt 500 ]; then
            defined_twice "$@"
        else
            echo "hardly a function in the archives of $BEAMTOP_BUILDDIR/src"
        fi
    ) >"$work/twice" 2>&1
    [ ! -s "$work/twice" ] || {
        cat "$work/twice"
        return 1
    }
}

run scripts_may_be_executed
check_with shellcheck scripts_are_clean
check_with nm no_global_name_is_defined_twice
check_with mandoc manual_is_clean
check_with bash bash_completion_is_clean
check_with zsh zsh_completion_is_clean
check_with fish fish_completion_is_clean
finish
