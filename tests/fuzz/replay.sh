#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Replays the kept inputs of every fuzz target (FUZZ_TARGETS) through it: TAP.
src=${BEAMTOP_SRCDIR:?} build=${BEAMTOP_BUILDDIR:?}
# shellcheck disable=SC2086
set -- ${FUZZ_TARGETS:?}
echo "1..$#"
n=0
for target; do
    n=$((n + 1))
    name=${target##*/fuzz_}
    log=$build/$target.replay
    if "$build/$target" "$src/tests/fuzz/corpus/$name" >"$log" 2>&1; then
        echo "ok $n - $name: $(tail -n 1 "$log")"
    else
        sed 's/^/# /' "$log"
        echo "not ok $n - $name"
    fi
    rm -f "$log"
done
