#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# The cost of sampling at 99 Hz to a VM: fixed work without a sampler, beside `beamtop sample` and
# beside perf(1), in turn, so that a busy machine is busy for each. Prints the median of the ratios
# to the work without a sampler in the same round: of CPU time of the VM's threads, and of elapsed
# time. See docs/performance.md.
# usage: sampling.sh PROGRAM [ROUNDS]
set -u
program=$1
rounds=${2-20}
work=$(mktemp -d) || exit 1
vm=
cleanup() {
    [ -z "$vm" ] || kill "$vm" 2>/dev/null
    rm -rf "$work"
}
trap cleanup EXIT
trap 'exit 130' INT TERM

mkfifo "$work/in" "$work/out"
erlc -o "$work" "$(dirname "$0")/../live/sample_load.erl" || exit 1
erl -noinput -noshell -pa "$work" -eval '
    {ok, In} = file:open("'"$work"'/in", [read, raw]), {ok, Out} = file:open("'"$work"'/out", [write, raw]),
    Loop = fun Again() ->
        case file:read(In, 1) of
            {ok, _} -> {Us, _} = timer:tc(fun() -> sample_load:leaf_a('"${BENCH_WORK-150000000}"', 0) end),
                       file:write(Out, [integer_to_list(Us), 10]), Again();
            eof -> halt()
        end end, Loop().' &
vm=$!
exec 3>"$work/in" 4<"$work/out"

cpu_ns() { awk '{ s += $1 } END { printf "%.0f", s }' /proc/"$vm"/task/*/schedstat; }

# figures: CPU ns and elapsed µs of the fixed work.
figures() {
    from=$(cpu_ns)
    printf x >&3
    read -r us <&4
    echo "$(($(cpu_ns) - from)) $us"
}

# has_events PID: it, or a process that it started, has opened an event.
has_events() {
    for p in "$1" $(pgrep -P "$1"); do
        find "/proc/$p/fd" -maxdepth 1 -lname '*perf_event*' 2>/dev/null
    done | grep -q .
}

# beside COMMAND…: the same once that has its events.
beside() {
    "$@" >/dev/null 2>"$work/err" &
    by=$!
    n=0
    until has_events "$by"; do
        n=$((n + 1))
        if [ $n -ge 100 ] || ! kill -0 $by 2>/dev/null; then break; fi
        sleep 0.1
    done
    figures
    kill -INT $by 2>/dev/null
    wait $by
}

figures >/dev/null
perf=
command -v perf >/dev/null && perf record -q -F 99 -o /dev/null -p "$vm" -- sleep 0.1 2>"$work/err" && perf=yes
[ -n "$perf" ] || echo "# perf(1) does not run here: $(head -n 1 "$work/err" 2>/dev/null)"
i=0
while [ $i -lt "$rounds" ]; do
    i=$((i + 1))
    a=$(figures)
    b=$(beside "$program" sample "$vm" --for 600s)
    c="- -" d="- -"
    if [ -n "$perf" ]; then
        c=$(beside perf record -q -F 99 -o /dev/null -p "$vm")
        d=$(beside perf record -q -F 99 --call-graph dwarf,8192 -o /dev/null -p "$vm")
    fi
    echo "$a $b $c $d"
done >"$work/rounds"

# median NAME COLUMN BASE: of the ratios of two columns.
median() {
    awk -v c="$2" -v b="$3" '$c != "-" { print $c / $b }' "$work/rounds" | sort -n |
        awk -v name="$1" '{ v[NR] = $1 } END { if (NR > 0) printf "%-34s %.3f  (%.3f to %.3f, %d rounds)\n", name,
            NR % 2 ? v[(NR + 1) / 2] : (v[NR / 2] + v[NR / 2 + 1]) / 2, v[1], v[NR], NR }'
}
[ -z "${BENCH_ROUNDS_FILE-}" ] || cp "$work/rounds" "$BENCH_ROUNDS_FILE"
median "beamtop sample, CPU time" 3 1
median "perf record, CPU time" 5 1
median "perf record with stacks, CPU time" 7 1
median "beamtop sample, elapsed" 4 2
median "perf record, elapsed" 6 2
median "perf record with stacks, elapsed" 8 2
