#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# TLS beside TCP: three nodes (TCP, TLS 1.2 and 1.3, which ask for a certificate) take turns. A line each
# of the medians: time from command to the output of `armed`, connection included; and of a trace of
# 10,000 events as fast as it goes: time, CPU of the node and of beamtop, bytes that it prints. With LINK,
# the program of link.c, also how fast 256 MB come in messages of 64 KiB. See docs/performance.md.
# usage: tls.sh PROGRAM [ROUNDS [LINK]]
# shellcheck disable=SC3045
set -u
program=$1
rounds=${2-10}
link=${3-}
kinds='tcp tls12 tls13'
work=$(mktemp -d) || exit 1
nodes=
cleanup() {
    # shellcheck disable=SC2086
    [ -z "$nodes" ] || kill $nodes 2>/dev/null
    epmd -kill >/dev/null 2>&1
    rm -rf "$work"
}
trap cleanup EXIT
trap 'exit 130' INT TERM
ERL_EPMD_PORT=$((20000 + $$ % 12000))
export ERL_EPMD_PORT

# makes WHO OPTIONS…
makes() {
    who=$1
    shift
    openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout "$work/$who.key" -subj "/CN=$who" "$@" 2>/dev/null
}
certificates() {
    makes ca -x509 -days 2 -out "$work/ca.pem" || return 1
    for who in node client; do
        makes "$who" -out "$work/$who.csr" &&
            openssl x509 -req -in "$work/$who.csr" -CA "$work/ca.pem" -CAkey "$work/ca.key" -CAcreateserial \
                -out "$work/$who.pem" -days 2 2>/dev/null || return 1
    done
}

# start KIND: the node of it calls bench_load:f/1 with 4 KiB, some 20,000 times a second.
start() {
    flags='' version=tlsv1.2
    [ "$1" != tls13 ] || version=tlsv1.3
    if [ "$1" != tcp ]; then
        cat >"$work/$1.opt" <<END
[{server, [{certfile, "$work/node.pem"}, {keyfile, "$work/node.key"}, {cacertfile, "$work/ca.pem"},
           {verify, verify_peer}, {fail_if_no_peer_cert, true}, {versions, ['$version']}]}].
END
        flags="-proto_dist inet_tls -ssl_dist_optfile $work/$1.opt"
    fi
    # shellcheck disable=SC2086
    erl -noinput -name "$1@127.0.0.1" -setcookie bench +sbwt none +sbwtdcpu none +sbwtdio none -pa "$work" \
        $flags -kernel logger_level error -s bench_load >/dev/null &
    nodes="$nodes $!"
    eval "vm_$1=$!"
}

# beamtop KIND COMMAND WORDS…
beamtop() {
    kind=$1 command=$2
    shift 2
    files=
    [ "$kind" = tcp ] || files="--tls-cacert $work/ca.pem --tls-cert $work/client.pem --tls-key $work/client.key"
    # shellcheck disable=SC2086
    "$program" "$command" "$kind@127.0.0.1" "$@" --cookie bench --timeout 30 $files
}

cpu_ms() { awk -v hz="$(getconf CLK_TCK)" '{ sub(/.*\) /, ""); print ($12 + $13) * 1000 / hz }' "/proc/$1/stat"; }
now_ms() { echo $(($(date +%s%N) / 1000000)); }
# CPU of all that this shell has waited for, in ms: in a pipe it would be another shell's.
own_ms() {
    times >"$work/times"
    own=$(awk -F'[ms ]' 'NR == 2 { printf "%.0f", ($1 * 60 + $2 + $4 * 60 + $5) * 1000 }' "$work/times")
}

# round KIND: a line of figures in $work/KIND.
round() {
    eval "vm=\$vm_$1"
    from=$(now_ms)
    beamtop "$1" armed >/dev/null || return 1
    asked=$(($(now_ms) - from)) node=$(cpu_ms "$vm")
    own_ms
    own_from=$own from=$(now_ms)
    beamtop "$1" trace 'bench_load:f(_)' --events 10000 --rate 5000 --on-rate shed --term-size 8KiB --bytes 64MiB \
        --time 60s --format json >"$work/out" 2>/dev/null || return 1
    lasted=$(($(now_ms) - from))
    own_ms
    echo "$asked $lasted $(cpu_ms "$vm") $node $own $own_from $(wc -c <"$work/out")" |
        awk '{ print $1, $2, $3 - $4, $5 - $6, $7 }' >>"$work/$1"
}

# carries KIND: MB/s, CPU of the node and of link for all of it, in ms.
carries() {
    eval "vm=\$vm_$1"
    files=
    [ "$1" = tcp ] || files="$work/ca.pem $work/client.pem $work/client.key"
    node=$(cpu_ms "$vm")
    # shellcheck disable=SC2086
    "$link" "$1@127.0.0.1" "$ERL_EPMD_PORT" bench 4096 65536 $files >"$work/carried" || return 1
    read -r speed own <"$work/carried"
    echo "$speed $(cpu_ms "$vm") $node $own" | awk '{ print $1, $2 - $3, $4 }' >>"$work/$1.link"
}

median() { awk -v c="$2" '{ print $c }' "$work/$1" | sort -n | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'; }

certificates || { echo "no openssl here" && exit 77; }
cat >"$work/bench_load.erl" <<'END'
-module(bench_load).
-export([start/0, f/1]).
start() -> register(blast, spawn(fun() -> blast() end)), spawn(fun() -> loop(lists:seq(1, 512)) end).
loop(Term) -> [?MODULE:f(Term) || _ <- lists:seq(1, 100)], timer:sleep(4), loop(Term).
f(X) -> X.
blast() ->
    receive {Pid, N, Bytes} -> B = rand:bytes(Bytes), [Pid ! B || _ <- lists:seq(1, N)] end,
    blast().
END
erlc -o "$work" "$work/bench_load.erl" || exit 1
for kind in $kinds; do start "$kind"; done
for kind in $kinds; do
    until beamtop "$kind" armed >/dev/null 2>&1; do sleep 0.2; done
done
i=0
while [ "$i" -lt "$rounds" ]; do
    for kind in $kinds; do round "$kind" || exit 1; done
    i=$((i + 1))
done
printf '%-8s %8s %9s %9s %11s %9s\n' kind 'armed ms' 'trace ms' 'node ms' 'beamtop ms' 'out kB'
for kind in $kinds; do
    printf '%-8s %8s %9s %9s %11s %9s\n' "$kind" "$(median "$kind" 1)" "$(median "$kind" 2)" "$(median "$kind" 3)" \
        "$(median "$kind" 4)" "$(($(median "$kind" 5) / 1000))"
done
[ -n "$link" ] || exit 0
i=0
while [ "$i" -lt "$rounds" ]; do
    for kind in $kinds; do carries "$kind" || exit 1; done
    i=$((i + 1))
done
printf '\n%-8s %8s %9s %11s\n' kind MB/s 'node ms' 'beamtop ms'
for kind in $kinds; do
    printf '%-8s %8s %9s %11s\n' "$kind" "$(median "$kind.link" 1)" "$(median "$kind.link" 2)" "$(median "$kind.link" 3)"
done
