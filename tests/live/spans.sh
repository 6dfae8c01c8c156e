# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=sh disable=SC2016,SC2154
# What the tests of causal spans on the load spans_load share; sourced after releases.sh.

# Keys are as in docs/json.md; µs. took(MS): it lasted at least so long; ms: one ms is for clocks.
# each(REQUEST; …): of the roots that are the function of that request.
prelude='
def took($ms): .duration_us >= ($ms - 1) * 1000;
def sums: if .self_us == null or .off_cpu_us == null then true
    else ((.self_us + .wait_us + .unattributed_us + .off_cpu_us - .duration_us) | fabs) < 2 end;
def child($kind): [.children[] | select(.kind == $kind)];
def wait($kind): [.waits[] | select(.kind == $kind)];
def every_root(f): (.roots | length) > 0 and all(.roots[]; sums and f);
def each($request; f): [.roots[] | select(.operation == "spans_load:" + $request + "/0")]
    | length > 0 and all(.[]; sums and f);
'
ended_by_roots='.ended_by == "roots" and .roots_open == 0 and .dropped.leaked == 0'

# A pattern, or `--process` with its value, comes first. Where a scheduler was late, or the node had so
# little of a core that events came faster than it took them (docs/spans.md, its end `queue`), again: that
# is all that a load may refuse or end, and how often it did is said.
spans() {
    for _ in 1 2 3 4 5; do
        patient asks_spans "$@"
        code=$?
        [ "$(jq -r .ended_by "$work/out" 2>/dev/null)" = queue ] || break
        echo "# again: ended by its queue: spans $*" >>"$work/remark"
    done
    return "$code"
}
asks_spans() {
    "$beamtop" spans "$node" --timeout 60 --cookie-file "$work/cookie" --format json "$@" \
        >"$work/out" 2>"$work/err" </dev/null
}

# settles TRIES COMMAND…: for what differs where the host stops a thread of the node at the wrong moment;
# each that did not hold is said.
settles() {
    settles_tries=$1
    shift
    one_of "$settles_tries" holds_or_says "$@"
}
holds_or_says() { "$@" || { echo "# again: $1" >>"$work/remark" && return 1; }; }

# refused CODE TEXT ARGUMENT…
refused() {
    code=$1
    text=$2
    shift 2
    spans "$@"
    ends_with "$code" $? && told "$text"
}

# capture_of PATTERN LOOP [OPTION…]: while the load has that loop.
capture_of() {
    pattern=$1
    order "loop_$2" || return 1
    shift 2
    spans "$pattern" --time 60s --force "$@"
    code=$?
    order stop || return 1
    ends_with 0 "$code" && is_clean
}

# capture REQUEST N [OPTION…]: N roots, all of that request.
capture() {
    request=$1
    n=$2
    shift 2
    capture_of "spans_load:root($request)" "$request" --roots "$n" "$@"
}

shows() {
    jq -e "$prelude $1" "$work/out" >/dev/null || {
        echo "does not hold: $1"
        jq -c 'del(.roots, .parts)' "$work/out"
        jq -c '.roots[] | [recurse(.children[]) | [.kind, .node, .name, .operation, .outcome, .offset_us,
            .duration_us, .queued_us, .waits]]' "$work/out" | cut -c1-3000
        return 1
    }
}

# emits_nothing TRIES: a system tracer that is set now gets no event of a token.
emits_nothing() {
    tries=$1
    while [ "$tries" -gt 0 ]; do
        order emits || return 1
        [ "$(cat "$dir/said")" != 0 ] || return 0
        tries=$((tries - 1))
    done
    echo "events: $(cat "$dir/said")"
    return 1
}

# That of another tool, set by the order system_tracer, is all that stands; then it is taken away.
system_tracer_stood() {
    order audit || return 1
    left=$(cat "$dir/left")
    order no_system_tracer || return 1
    case $left in
    '[{system_tracer,<'*'>}]') ;;
    *) echo "left: $left"; return 1 ;;
    esac
}

# A capture that is refused, or ends before the load gets a turn, is not the one.
killed_in_a_capture() {
    spans 'spans_load:root(_)' --roots 1000 --time 3s --force "$@"
    code=$?
    [ "$code" != 2 ] && wait_until 5 test ! -f "$dir/$kill"
}

# nothing_is_left_after KILL… -- OPTION…: some of beamtop's processes on the node end, as that order says.
nothing_is_left_after() {
    order loop_chain || return 1
    kills=
    while [ "$1" != -- ]; do
        kills="$kills $1"
        shift
    done
    shift
    for kill in $kills; do
        : >"$dir/$kill"
        one_of 10 killed_in_a_capture "$@" || { echo "not killed: $kill"; cat "$work/err"; return 1; }
        { is_clean && no_token_emits "$otp"; } || { echo "after $kill"; return 1; }
    done
    order stop
}

# Which release the other node has: the next one, and 29 its own.
other_release() {
    case $1 in
    23) echo 25 ;;
    25) echo 27 ;;
    *) echo 29 ;;
    esac
}

# Another node beside the one of the release, from the first case on that needs it; it ends with that.
meets_another() {
    [ "${met:-}" != "$otp" ] || return 0
    other_otp=$(other_release "$otp")
    other_root=$("$otp_sh" --root "$other_otp" 2>/dev/null) || other_otp=$otp
    other_root=$("$otp_sh" --root "$other_otp") || return 1
    inside=$work/other-$otp
    other_dir=$other_root$inside
    other=other${otp}x$$@127.0.0.1
    mkdir -p "$other_dir"
    cp "$BEAMTOP_SRCDIR/tests/live/$load.erl" "$BEAMTOP_SRCDIR/tests/live/audit.erl" "$other_dir"
    "$otp_sh" "$other_otp" erl -noinput -name "$other" -setcookie releases -start_epmd false -eval "
        [begin {ok, M, Code} = compile:file(\"$inside/\" ++ atom_to_list(M), [binary]),
               {module, M} = code:load_binary(M, atom_to_list(M), Code) end || M <- [audit, $load]],
        net_kernel:monitor_nodes(true),
        $load:start(\"$inside\", []),
        receive {nodedown, _} -> halt() after 1200000 -> halt() end." >"$work/other" 2>&1 &
    other_pid=$!
    wait_until 300 test -s "$other_dir/pid" || { cat "$work/other"; return 1; }
    printf '%s' "$other" >"$dir/other"
    order meet && met=$otp
}

# there COMMAND…: of the other node's directory.
there() {
    here=$dir
    dir=$other_dir
    "$@"
    at_other=$?
    dir=$here
    return "$at_other"
}
