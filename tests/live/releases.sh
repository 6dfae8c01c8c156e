# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=sh disable=SC1091,SC2154
# What the tests of batch commands share; sourced after ../tap.sh. A node of each release runs the
# test's own load with a separate epmd; the load is asked by files in a directory that both see.
# The test sets `load`: tests/live/LOAD.erl, whose start(DIRECTORY, CODE) makes the file `pid` there;
# audit.erl is loaded beside it.

. "$BEAMTOP_SRCDIR/tests/live/epmd.sh"
. "$BEAMTOP_SRCDIR/tests/live/which.sh"
otp_sh=$BEAMTOP_SRCDIR/tests/live/otp.sh
command -v jq >/dev/null || skip_all "no jq here"
umask 077
printf 'releases' >"$work/cookie"

# start_node OTP [SUFFIX [FLAGS [NAME [COOKIE]]]]: $dir is where its load reads and writes, inside its root.
# The suffix is that of one of several nodes of a release; $run_as, words in front of its command.
start_node() {
    root=$("$otp_sh" --root "$1") || return 1
    dir=$root$work/otp-$1${2-}
    inside=$work/otp-$1${2-}
    node=${4-$load$1${2-}x$$}@127.0.0.1
    mkdir -p "$dir"
    cp "$BEAMTOP_SRCDIR/tests/live/$load.erl" "$BEAMTOP_SRCDIR/tests/live/audit.erl" "$dir"
    # shellcheck disable=SC2086
    "$otp_sh" "$1" ${run_as-} erl ${3-} -noinput -name "$node" -setcookie "${5-releases}" -start_epmd false -eval "
        Load = fun(M) ->
            {ok, M, Code} = compile:file(\"$inside/\" ++ atom_to_list(M), [binary, debug_info]),
            {module, M} = code:load_binary(M, \"$inside/\" ++ atom_to_list(M) ++ \".beam\", Code),
            Code
        end,
        Load(audit),
        $load:start(\"$inside\", Load($load)), timer:sleep(1200000), halt()." >"$work/node" 2>&1 &
    node_pid=$!
    wait_until 300 test -s "$dir/pid" || { cat "$work/node"; return 1; }
}

stop_node() {
    [ -n "${node_pid:-}" ] || return 0
    kill -9 "$node_pid" 2>/dev/null
    wait "$node_pid" 2>/dev/null
    node_pid=
    rm -rf "${dir:?}"
}

stop_all() {
    stop_node
    stop_epmd
    rm -rf "$work"
}

# order NAME: the node has done it when the file is gone.
order() {
    : >"$dir/$1"
    wait_until 120 test ! -f "$dir/$1" || { echo "the node does not do: $1"; return 1; }
}

# is_left TERM: what is armed there says the node itself; what ends needs a moment, on a busy machine
# a long one.
is_left() {
    clean_left=200
    while [ "$clean_left" -gt 0 ]; do
        order audit || return 1
        [ "$(cat "$dir/left")" != "$1" ] || return 0
        clean_left=$((clean_left - 1))
        sleep 0.05
    done
    echo "left on the node: $(cat "$dir/left")"
    return 1
}

is_clean() { is_left '[]'; }

# ends_with CODE GOT
ends_with() {
    [ "$2" = "$1" ] && return 0
    echo "exit code $2 instead of $1:"
    cat "$work/err" "$work/out"
    return 1
}

says() { grep -E -q -e "$1" "$work/out" || { echo "nothing like '$1' in:"; cat "$work/out"; return 1; }; }
told() { grep -E -q -e "$1" "$work/err" || { echo "nothing like '$1' in:"; cat "$work/err"; return 1; }; }

# holds FILTER: true of all the objects of the output, in a list.
holds() {
    jq -s -e "$1" "$work/out" >/dev/null || {
        echo "does not hold: $1"
        cat "$work/out"
        return 1
    }
}

# while_it_looks ORDER FILTER COMMAND WORDS…: a beamtop that prints ticks of the node, into $work/out; after
# the second one the node does ORDER, and some time later the filter holds of all of them.
while_it_looks() {
    looks_order=$1 looks_filter=$2 looks_command=$3
    shift 3
    "$beamtop" "$looks_command" "$node" --timeout 60 --cookie-file "$work/cookie" --format json -n 0 -i 1 "$@" \
        >"$work/out" 2>"$work/err" </dev/null &
    looker=$!
    wait_until 120 has_two_ticks && order "$looks_order" && wait_until 120 holds_now "$looks_filter"
    looks_well=$?
    kill -INT "$looker" 2>/dev/null
    wait "$looker"
    [ "$looks_well" = 0 ] && return
    cat "$work/err"
    holds "$looks_filter"
}
has_two_ticks() { [ "$(grep -c . "$work/out")" -ge 2 ]; }
holds_now() { jq -s -e "$1" "$work/out" >/dev/null 2>&1; }

# until_armed ERRORS FACT COMMAND…: the command is in the background, its process is $armed, and the fact
# holds. Again where it was refused since a scheduler was late, which its ERRORS say.
until_armed() {
    armed_errors=$1 armed_fact=$2
    shift 2
    for _ in 1 2 3 4 5 6 7 8; do
        "$@" &
        armed=$!
        wait_until 120 armed_or_refused || break
        [ "$armed_holds" = no ] || return 0
        wait "$armed"
        was_late "$armed_errors" || break
    done
    cat "$armed_errors"
    kill "$armed" 2>/dev/null
    return 1
}
armed_or_refused() { # what holds may hold for a moment only
    armed_holds=yes
    "$armed_fact" && return 0
    armed_holds=no
    has_ended "$armed"
}

# differ, same, once CASE…: what each case depends on (which.sh); then run_on_releases. A case is called
# with the number of the release; BEAMTOP_TESTS chooses cases. What one leaves in $work/remark is printed:
# lines that begin with #. One that ends the node calls stop_node: the next starts another.
differ_cases='' same_cases='' once_cases=''
differ() { differ_cases="$differ_cases $*"; }
same() { same_cases="$same_cases $*"; }
once() { once_cases="$once_cases $*"; }

# since, before RELEASE CASE…: on other releases there is nothing that the case could try.
since() {
    release=$1
    shift
    for case; do eval "since_$case=$release"; done
}
before() {
    release=$1
    shift
    for case; do eval "before_$case=$release"; done
}

# cases_on RELEASE
cases_on() {
    for kind in differ same once; do
        for chosen in $(releases_of "$kind"); do
            [ "$chosen" != "$1" ] || eval "echo \"\$${kind}_cases\""
        done
    done
}

run_case() {
    eval "[ \"\$2\" -ge \"\${since_$1:-0}\" ] && [ \"\$2\" -lt \"\${before_$1:-99}\" ]" || return 0
    if [ -n "${BEAMTOP_TESTS-}" ]; then
        case " $BEAMTOP_TESTS " in *" $1 "*) ;; *) return ;; esac
    fi
    [ -n "${node_pid:-}" ] || run start_node "$2"
    run "$@"
    [ ! -f "$work/remark" ] || cat "$work/remark"
    rm -f "$work/remark"
}

run_on_releases() {
    trap stop_all EXIT
    trap 'exit 130' HUP INT TERM PIPE
    start_epmd
    for otp in $({ releases_of differ; releases_of same; releases_of once; } | tr ' ' '\n' | sort -u); do
        cases=$(cases_on "$otp")
        case $cases in *[a-z]*) ;; *) continue ;; esac
        if reason=$("$otp_sh" --root "$otp" 2>&1); then
            for case in $cases; do
                run_case "$case" "$otp"
            done
            stop_node
            [ -z "$reason" ] || rm -rf "${reason:?}$work"
        else
            skip "${load}_on_OTP_$otp" "$reason"
        fi
    done
    finish
}
