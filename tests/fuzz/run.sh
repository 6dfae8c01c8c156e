#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# usage: run.sh SECONDS BUILD_DIR [TARGET...]
# Fuzzes every target of BUILD_DIR (configured with --enable-fuzzing, CC=clang) for SECONDS each,
# starting from its corpus. Inputs that break a target stay in BUILD_DIR/tests/fuzz/found/: mend the
# cause and keep the input in the corpus. Ends with 1 when there was one.
set -u
if [ $# -lt 2 ]; then
    echo "usage: $0 SECONDS BUILD_DIR [TARGET...]" >&2
    exit 2
fi
seconds=$1 build=$2
shift 2
here=$(cd "$(dirname "$0")" && pwd)
dir=$build/tests/fuzz
if [ $# -eq 0 ]; then
    for program in "$dir"/fuzz_*; do
        case $program in *.*) continue ;; esac
        [ -x "$program" ] && [ -f "$program" ] && set -- "$@" "$(basename "$program")"
    done
fi
if [ $# -eq 0 ]; then
    echo "$0: no fuzz targets in $dir: configure with --enable-fuzzing CC=clang, then make" >&2
    exit 2
fi
failed=0
for target; do
    name=${target#fuzz_}
    work=$dir/work/$name found=$dir/found/$name
    mkdir -p "$work" "$found"
    "$dir/$target" -seed=1 -max_total_time="$seconds" -max_len=4096 -timeout=30 -rss_limit_mb=1024 \
        -print_final_stats=1 -artifact_prefix="$found/" "$work" "$here/corpus/$name" \
        >"$dir/$target.out" 2>&1
    status=$?
    runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$dir/$target.out")
    cover=$(sed -n 's/.* cov: \([0-9]*\) .*/\1/p' "$dir/$target.out" | tail -n 1)
    if [ $status -eq 0 ]; then
        echo "$name: nothing found in $seconds s (${runs:-0} runs, ${cover:-0} edges)"
    else
        failed=1
        echo "$name: FOUND, the input is in $found:"
        cat "$dir/$target.out"
    fi
done
exit $failed
