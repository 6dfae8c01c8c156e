#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Each source names its licence within its first five lines. TAP.
# shellcheck disable=SC2317
set -u
# shellcheck source=tests/tap.sh
. "$(dirname "$0")/tap.sh"
cd "$BEAMTOP_SRCDIR" || exit 1

licence='SPDX-License-Identifier: GPL-3.0-or-later'

# Of a checkout what git tracks; an archive has nothing else.
sources() {
    if [ -e .git ] && git ls-files >/dev/null 2>&1; then
        git ls-files
    else
        find . -type f -not -path './build*' | sed 's|^\./||'
    fi | grep -E '\.(c|h|erl|ex|sh|am|mk|ac)$'
}

every_source_names_its_licence() {
    sources >"$work/sources"
    [ "$(wc -l <"$work/sources")" -gt 300 ] || {
        echo "only $(wc -l <"$work/sources") sources were found"
        return 1
    }
    # shellcheck disable=SC2016
    xargs awk -v licence="$licence" '
        FNR <= 5 && index($0, licence) { has[FILENAME] }
        END { for (i = 1; i < ARGC; i++) if (!(ARGV[i] in has)) print ARGV[i] }' \
        <"$work/sources" >"$work/without"
    [ ! -s "$work/without" ] || {
        echo "$(wc -l <"$work/without") sources without the line $licence:"
        cat "$work/without"
        return 1
    }
}

run every_source_names_its_licence
finish
