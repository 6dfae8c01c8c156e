#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# The archive of a release has every file that git tracks, and of others only what autoconf and
# automake make. TAP.
# shellcheck disable=SC2317
set -u
# shellcheck source=tests/tap.sh
. "$(dirname "$0")/tap.sh"

[ -e "$BEAMTOP_SRCDIR/.git" ] || skip_all "not a checkout"
tracked=$(git -C "$BEAMTOP_SRCDIR" ls-files 2>/dev/null) || skip_all "no git that reads this checkout"
[ -f "$BEAMTOP_BUILDDIR/Makefile" ] || skip_all "no build in $BEAMTOP_BUILDDIR"

stray=$BEAMTOP_SRCDIR/docs/stray-$$.txt
trap 'rm -f "$stray"; rm -rf "$work"' EXIT
trap 'exit 130' HUP INT TERM PIPE

# Tracked, and of no use outside a checkout.
left_out='.gitignore'

made='Makefile.in aclocal.m4 build-aux/ar-lib build-aux/compile build-aux/depcomp build-aux/install-sh
build-aux/missing build-aux/tap-driver.sh config.h.in configure'

lines() { printf '%s\n' "$@" | LC_ALL=C sort; }

has_the_tracked_files_and_no_other() {
    echo stray >"$stray" || return 1
    env -u MAKEFLAGS make -s -C "$BEAMTOP_BUILDDIR" distdir distdir="$work/archive" \
        top_distdir="$work/archive" >"$work/make.log" 2>&1 || {
        cat "$work/make.log"
        return 1
    }
    # shellcheck disable=SC2086
    lines $tracked $made | grep -vxF "$left_out" >"$work/wanted"
    (cd "$work/archive" && find . -type f) | sed 's|^\./||' | LC_ALL=C sort >"$work/there"
    diff "$work/wanted" "$work/there" >"$work/diff" || {
        cat "$work/diff"
        return 1
    }
}

run has_the_tracked_files_and_no_other
finish
