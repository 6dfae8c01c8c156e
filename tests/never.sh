#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# What is never asked of a node (docs/safety.md) stands in no expression. TAP.
cd "${BEAMTOP_SRCDIR:-.}" || exit 1

n=0
for word in '\bbacktrace\b' 'process_info([^,()]*, *dictionary)' 'translate_initial_call' 'proc_lib:initial_call' \
    'get_status' 'system_monitor\([^)]' 'match_object'; do
    n=$((n + 1))
    found=$(grep -nE -e "$word" src/query/q/*.erl src/query/q/part/*.erl | grep -vE '^[^:]*:[0-9]+: *%')
    if [ -z "$found" ]; then
        echo "ok $n - no expression has: $word"
    else
        echo "$found" | sed 's/^/# /'
        echo "not ok $n - no expression has: $word"
    fi
done
echo "1..$n"
