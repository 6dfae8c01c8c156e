#!/bin/sh
# Scripts, manual and completion are well-formed, as far as the tools for it are here. TAP.
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

# mandoc complains of pages that are not installed yet.
manual_is_clean() {
    for page in man/beamtop.1 man/beamtop.conf.5 man/beamtop-trace.7; do
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

check_with shellcheck scripts_are_clean
check_with mandoc manual_is_clean
check_with bash bash_completion_is_clean
check_with zsh zsh_completion_is_clean
check_with fish fish_completion_is_clean
finish
