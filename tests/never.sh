#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# What is never asked of a node (docs/safety.md) stands in no expression. TAP.
cd "${BEAMTOP_SRCDIR:-.}" || exit 1

set -- src/query/q/*.erl src/query/q/*/*.erl
[ $# -gt 50 ] || { echo "1..0 # no expressions here"; exit 1; }
n=0
for word in '\bbacktrace\b' 'process_info([^,()]*, *dictionary)' 'translate_initial_call' 'proc_lib:initial_call' \
    'get_status' 'system_monitor\([^)]' 'match_object'; do
    n=$((n + 1))
    # Only what watches for system events, at a person's wish, sets them.
    found=$(grep -nE -e "$word" "$@" | grep -vE '^[^:]*:[0-9]+: *%|/events.erl:[0-9]+:.*system_monitor')
    if [ -z "$found" ]; then
        echo "ok $n - no expression has: $word"
    else
        echo "$found" | sed 's/^/# /'
        echo "not ok $n - no expression has: $word"
    fi
done

# Flags of all processes at once end a VM before OTP 27 (src/query/q/part/flags.erl).
n=$((n + 1))
found=$(grep -nE 'erlang:trace\(' "$@" |
    grep -vE 'part/flags.erl:|erlang:trace\((P|new_processes),')
if [ -z "$found" ]; then
    echo "ok $n - no expression sets flags of all processes at once"
else
    echo "$found" | sed 's/^/# /'
    echo "not ok $n - no expression sets flags of all processes at once"
fi

# A label that is not an immediate kills the VM.
n=$((n + 1))
found=$(grep -nE "set_seq_token, *(label|[A-Z])|Seed\(" "$@" |
    grep -vE "\{set_seq_token, label, \{self\}\}" |
    grep -vE "fun\(Flag, Value\) when Flag =/= label -> \{set_seq_token, Flag, Value\}" |
    grep -vE "Seed\(\{self\}\)|Seed\(\{map_get, \{self\}, \{const, Labels\}\}\)" |
    grep -vE "\[\{set_seq_token, label, Label\}, \{set_seq_token, send, true\}")
roots=$(cat src/query/q/part/spans_*.erl |
    grep -cE "Labels = maps:from_list\(\[\{P, P\} \|\| P <- maps:keys\(Opens\)\]\)")
if [ -z "$found" ] && [ "$roots" = 1 ]; then
    echo "ok $n - labels of trace tokens are pids of the node"
else
    echo "$found" | sed 's/^/# /'
    echo "not ok $n - labels of trace tokens are pids of the node"
fi
echo "1..$n"
