#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Memory from inside, on real nodes: sizes of a process are those that the node says
# itself, a collection on request needs consent and frees garbage, carriers that are mostly free are
# seen as such, the flags that the hint names exist, and nothing is left. The load is heap_load.erl.
# shellcheck disable=SC1091,SC2154,SC2317
set -u
. "$(dirname "$0")/../tap.sh"

load=heap_load
. "$(dirname "$0")/releases.sh"

beam() {
    command=$1
    shift
    "$beamtop" "$command" "$@" --timeout 60 --cookie-file "$work/cookie" >"$work/out" 2>"$work/err" \
        </dev/null
}

# Every number of both processes, but for binaries that were not listed.
sizes_are_those_of_the_node() {
    order numbers || return 1
    beam heapsample "$node" --top 20 --format json || { cat "$work/err"; return 1; }
    jq -n -e --slurpfile out "$work/out" --slurpfile sizes "$dir/sizes" '
        [$sizes[0][] as $s | $out[0].rows[] | select(.name == $s.name)
         | . as $row | $s | to_entries | all(.value == $row[.key])] == [true, true]' >/dev/null || {
        jq -c '.rows[] | select(.name | startswith("heap_"))' "$work/out"
        cat "$dir/sizes"
        return 1
    }
    holds '.[0].heaps | .looked_at == .processes and .partial == false and .rows_share > 0.5'
}

growth_and_owners_add_up() {
    beam heapsample "$node" --top 3 --for 0.5s --format json || { cat "$work/err"; return 1; }
    holds 'length == 1 and .[0].heaps.over_s >= 0.5
           and all(.[0].rows[]; .growth_bytes == .memory_bytes - .before_bytes)' || return 1
    beam heapsample "$node" --by name --format json || { cat "$work/err"; return 1; }
    holds '(.[0].rows | map(.memory_bytes) | add) == .[0].heaps.rows_bytes
           and any(.[0].rows[]; .owner == "heap_big" and .processes == 1)' && is_clean
}

only_those_that_run() {
    order busy && one_of 50 has_those_that_run
}
has_those_that_run() {
    beam heapsample "$node" --running --format json &&
        holds '.[0].heaps.looked_at < 20 and any(.[0].rows[]; .name == "heap_busy")'
}

# Nothing is done without a terminal to ask on.
a_collection_needs_consent() {
    beam heapsample "$node" --gc heap_garbage
    ends_with 5 $? && told 'heap_garbage has .*stop it' && told 'not collected: add --yes' || return 1
    beam heapsample "$node" --format json || return 1
    holds 'any(.[0].rows[]; .name == "heap_garbage" and .memory_bytes > 4000000)' || return 1
    beam heapsample "$node" --gc heap_garbage --yes --format json
    ends_with 0 $? && holds '.[0] | .before.heap_bytes > 4000000 and .after.heap_bytes < 100000' || return 1
    beam heapsample "$node" --gc heap_nobody --yes
    ends_with 1 $? && told 'no such process' && is_clean
}

# A tenth of the processes of docs/performance.md.
# Its allocators answer for themselves, and its resident memory is read beside the rest: on a busy machine
# they come with a later answer.
memory_is_known() {
    beam memory "$node" --format json &&
        holds '.[0].allocation | .rss_bytes != null and .utilisation != null'
}

carriers_are_fragmented() {
    order burst || return 1
    one_of 20 memory_is_known || { cat "$work/err"; return 1; }
    jq -r '"# used \(.allocation.utilisation), fragmented \(.allocation.fragmented_bytes)"' \
        "$work/out" >"$work/remark"
    holds '.[0].allocation | .utilisation < 0.3 and .fragmented_bytes > 50000000
           and .rss_bytes >= .fragmented_bytes and .anonymous_bytes <= .rss_bytes' || return 1
    holds '[.[0].instances[] | select(.allocator == "eheap_alloc" and .instance > 0)] | length > 0
        and all(.[]; .blocks > 0 and .carriers > 0 and .carrier_bytes - .block_bytes == .unused_bytes)' || return 1
    holds '.[0].rows[] | select(.allocator == "eheap_alloc")
           | .utilisation < 0.3 and .worst_instance != null and .worst_unused_bytes > 10000000'
}

hints() {
    beam capture "$node" --view memory --size 120x60 --no-config || { cat "$work/err"; return 1; }
    says 'M<S>as ageffcbf'
}

the_flags_of_the_hint_exist() {
    one_of 20 hints && says 'M<S>lmbcs 512' && says 'M<S>acul 80' || return 1
    for s in H B E; do
        "$otp_sh" "$1" erl "+M${s}as" ageffcbf "+M${s}lmbcs" 512 "+M${s}acul" 80 -noinput \
            -eval 'halt(0).' || return 1
    done
}

differ sizes_are_those_of_the_node carriers_are_fragmented the_flags_of_the_hint_exist
same growth_and_owners_add_up a_collection_needs_consent only_those_that_run
run_on_releases
