#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Recordings of real nodes of several releases at once: a file each and one index, a node that is lost or
# a recorder that is killed ends only its own file, and their report. The load is fleet_load.erl.
# shellcheck disable=SC1091,SC2154,SC2317
set -u
. "$(dirname "$0")/../tap.sh"

load=fleet_load
. "$(dirname "$0")/releases.sh"
. "$(dirname "$0")/several.sh"
. "$BEAMTOP_SRCDIR/tests/tmux/lib.sh"
command -v sqlite3 >/dev/null || skip_all "no sqlite3 here"
XDG_STATE_HOME=$work/state
export XDG_STATE_HOME

index() { [ -s "$recorded/index.json" ] && jq -e "$1" "$recorded/index.json" >/dev/null 2>&1; }
index_has() { index "$1" || { echo "not so: $1"; cat "$recorded/index.json" "$work/err"; return 1; }; }
comes() { wait_until 120 index "$1" || { echo "does not come: $1"; cat "$recorded/index.json" "$work/err"; return 1; }; }

# records: in the background, each node has a tick.
records() {
    number=$((${number:-0} + 1))
    recorded=$work/recorded-$number
    "$beamtop" record "$names" -o "$recorded" --cookie-file "$work/cookie" --timeout 60 --no-config -i 1 -b 100 \
        >"$work/out" 2>"$work/err" &
    recorder=$!
    comes "$all_run"
}
all_run='[.nodes[] | select(.state == "recording")] | length == '
stops() {
    kill -INT "$recorder"
    wait "$recorder"
    ends_with "$1" $?
}
ticks_of() { sqlite3 -readonly "$1" 'SELECT count(*) FROM tick' 2>/dev/null || echo 0; }
has_ticks() {
    for file in "$recorded"/*.btr; do [ "$(ticks_of "$file")" -ge "$1" ] || return 1; done
}
# ---- what is recorded

has_a_file_for_each() {
    records && wait_until 120 has_ticks 4 && stops 0 || return 1
    index_has ".schema == \"beamtop.recordings/1\" and .end_us > .begin_us and (.nodes | length) == $count" &&
        index_has 'all(.nodes[]; .state == "complete" and .why == null and .ticks >= 4)' &&
        index_has 'all(.nodes[]; .clock_end.wall_us >= .clock_begin.wall_us and .clock_begin.bound_us > 0
            and (.clock_begin.offset_us | fabs) <= .clock_begin.bound_us + 50000)' && all_clean || return 1
    for file in $(jq -r '.nodes[].file' "$recorded/index.json"); do
        "$beamtop" report "$recorded/$file" >"$work/out" 2>"$work/err" || { cat "$work/err"; return 1; }
    done
    "$beamtop" record "$names" -o "$recorded" --cookie-file "$work/cookie" >"$work/out" 2>"$work/err"
    ends_with 2 $? && told 'has recordings'
}

reports_all_of_them() {
    "$beamtop" report "$recorded" >"$work/out" 2>"$work/err"
    ends_with 0 $? && says "^# *$count nodes compared|$count nodes compared" && says "$last" || return 1
    "$beamtop" report "$recorded" --format json >"$work/out" 2>"$work/err"
    ends_with 0 $? && holds ".[0].schema == \"beamtop.nodes_report/1\" and (.[0].recordings | length) == $count
        and (.[0].findings | type) == \"array\" and all(.[0].findings[]; (.nodes | length) >= 1)"
}

# A second recording, of all but the last: that one is named, and the others are compared with themselves.
compares_with_another() {
    first=$recorded kept=$names kept_all=$all_run kept_count=$count
    names=${names%,*}, count=$((count - 1))
    [ "$count" -gt 0 ] || return 0
    all_run="[.nodes[] | select(.state == \"recording\")] | length == $count"
    records && wait_until 120 has_ticks 4 && stops 0
    ended=$?
    names=$kept all_run=$kept_all count=$kept_count
    [ "$ended" = 0 ] || return 1
    "$beamtop" diff "$first" "$recorded" >"$work/out" 2>"$work/err"
    ends_with 0 $? && says "$last is not compared" && says 'What changed' || return 1
    "$beamtop" diff "$first" "$recorded" --format json >"$work/out" 2>"$work/err"
    ends_with 0 $? && holds ".[0].schema == \"beamtop.nodes_diff/1\" and (.[0].nodes | length) == $((count - 1))
        and .[0].not_compared == [{node: \"$last\", no_before: null, no_after: \"not recorded there\"}]
        and all(.[0].differences[]; (.nodes | length) >= 1)"
}

# A row each; Enter replays one, and Esc goes back to the rows.
replays_all_of_them() {
    command -v tmux >/dev/null || { not_tried "no tmux here"; return 0; }
    tm_open 230 40 || return 1
    tm_run "$beamtop replay $recorded --no-config; echo ended=\$?"
    tm_wait_line "$last .*recorded .*ticks" && tm_keys End && tm_keys Enter && tm_wait "a recording of $last" &&
        tm_keys Escape && tm_wait_line "$last .*recorded .*ticks" && tm_keys Home && tm_keys Enter &&
        tm_wait "a recording of ${names%%,*}" && tm_keys Q && tm_wait 'ended=0'
    shown=$?
    tm_close
    return $shown
}

# ---- what goes wrong with one

# Its file ends with a gap, and goes on when it is back.
one_node_is_lost() {
    records && wait_until 120 has_ticks 3 || return 1
    end_last
    others=$(jq -r ".nodes[] | select(.name != \"$last\") | .file" "$recorded/index.json" | head -n 1)
    before=$(ticks_of "$recorded/$others")
    [ "$count" -eq 1 ] || wait_until 120 goes_on "$before" || return 1
    start_last && lost=$(jq -r ".nodes[] | select(.name == \"$last\") | .file" "$recorded/index.json")
    before=$(ticks_of "$recorded/$lost")
    others=$lost
    wait_until 120 goes_on "$before" && stops 0 || return 1
    index_has 'all(.nodes[]; .state == "complete")' && all_clean
}
goes_on() { [ "$(ticks_of "$recorded/$others")" -ge $(($1 + 3)) ]; }

one_recorder_is_killed() {
    records && wait_until 120 has_ticks 2 || return 1
    killed=$("$beamtop" record status --format json | jq -r "select(.node == \"$last\") | .pid")
    kill -9 "$killed" && comes '[.nodes[] | select(.state == "failed")] | length == 1' && stops 137 || return 1
    index_has ".nodes[] | select(.name == \"$last\") | .state == \"failed\" and (.why | test(\"killed\"))" &&
        index_has "[.nodes[] | select(.state == \"complete\")] | length == $((count - 1))" && all_clean
    "$beamtop" report "$recorded" >"$work/out" 2>"$work/err"
    ends_with 0 $?
}

# Who is not there has a reason in the index, and the others their files.
one_is_not_there() {
    all=$names
    names="$names,nobody$$@127.0.0.1"
    records && comes '.nodes[-1].state == "failed"' && stops 3
    ended=$?
    names=$all
    [ "$ended" = 0 ] && told 'nobody.*no node' &&
        index_has '.nodes[-1] | .state == "failed" and .ticks == 0 and (.why | test("no node"))' &&
        index_has "[.nodes[] | select(.state == \"complete\")] | length == $count"
}

a_kill_ends_all() {
    records && wait_until 120 has_ticks 2 || return 1
    kill -9 "$recorder"
    wait "$recorder" 2>/dev/null
    wait_until 120 none_runs && all_clean || return 1
    "$beamtop" report "$recorded" >"$work/out" 2>"$work/err"
    ends_with 0 $?
}
none_runs() { [ -z "$("$beamtop" record status --format json)" ]; }

# ---- in the background

starts_and_stops() {
    recorded=$work/background
    echo "$names" | tr , '\n' >"$work/names"
    (cd "$work" && "$beamtop" record start @names -o background --cookie-file cookie --timeout 60 --no-config -i 1 \
        -b 100 >"$work/out" 2>"$work/err")
    ends_with 0 $? && says 'recording to ' && index_has "$all_run" && wait_until 120 has_ticks 2 || return 1
    "$beamtop" record mark deploy -o "$recorded" >"$work/out" 2>"$work/err"
    ends_with 0 $? || return 1
    "$beamtop" record stop -o "$recorded" >"$work/out" 2>"$work/err"
    ends_with 0 $? && comes '.end_us != null and all(.nodes[]; .state == "complete")' && wait_until 60 none_runs || return 1
    for file in "$recorded"/*.btr; do
        [ "$(sqlite3 "$file" "SELECT count(*) FROM mark WHERE text = 'deploy'")" = 1 ] || { echo "no mark: $file"; return 1; }
    done
}

# Recorders leave the directory in which the file was named.
takes_cookies_of_patterns() {
    recorded=$work/patterns
    printf '* %s\n' "$(cat "$work/cookie")" >"$work/cookies" && chmod 600 "$work/cookies"
    (cd "$work" && exec "$beamtop" record "$names" -o patterns --cookies cookies --timeout 60 --no-config -i 1 -b 100) \
        >"$work/out" 2>"$work/err" &
    recorder=$!
    comes "$all_run" && stops 0
}

# ---- who comes and goes

joins() {
    dir=$last_dir
    echo "$seed" >"$dir/peer"
    order join
}
leaves() {
    dir=$last_dir
    order leave
}
# The cookie by pattern is that of the first only: its recorder gets that of the other from there.
follows_the_cluster() {
    seed=${names%,*} seed=${seed##*,}
    [ "$count" -ge 2 ] || { not_tried "one release here"; return 0; }
    recorded=$work/cluster
    printf '%s releases\n' "$seed" >"$work/cookies" && chmod 600 "$work/cookies"
    HOME=$work XDG_CONFIG_HOME=$work/config "$beamtop" record "$seed" --cluster -o "$recorded" --cookies "$work/cookies" \
        --timeout 60 --no-config -i 1 -b 100 >"$work/out" 2>"$work/err" &
    recorder=$!
    comes '.nodes | length == 1 and .[0].state == "recording"' && joins || return 1
    comes ".nodes[1] | .name == \"$last\" and .state == \"recording\"" && wait_until 120 has_ticks 2 || return 1
    leaves && comes '.nodes[1] | .state == "complete" and .why == "left the cluster" and .until_us > .from_us' || return 1
    joins && comes ".nodes[2] | .name == \"$last\" and .state == \"recording\"" && stops 0 || return 1
    index_has '(.nodes | length) == 3 and all(.nodes[]; .state == "complete" and .until_us > .from_us)
        and .nodes[2].from_us > .nodes[1].until_us and .nodes[0].why == null' && leaves || return 1
    "$beamtop" report "$recorded" >"$work/out" 2>"$work/err"
    ends_with 0 $? && wait_until 60 none_runs
}

# A name that nobody has is tried again; what DNS does not know is an error, and leaves no index.
names_from_dns() {
    recorded=$work/dns
    "$beamtop" record "${last%@*}@dns:localhost" -o "$recorded" --cookie-file "$work/cookie" --timeout 30 --no-config -i 1 \
        -b 100 >"$work/out" 2>"$work/err" &
    recorder=$!
    comes "any(.nodes[]; .name == \"$last\" and .state == \"recording\" and .ticks >= 2)" || return 1
    kill -INT "$recorder"
    wait "$recorder"
    index_has ".end_us != null and any(.nodes[]; .name == \"$last\" and .state == \"complete\")" || return 1
    "$beamtop" record shop@dns:nowhere.invalid -o "$work/nowhere" --cookie-file "$work/cookie" --timeout 30 \
        >"$work/out" 2>"$work/err"
    ends_with 3 $? && told nowhere.invalid && [ ! -e "$work/nowhere/index.json" ]
}

# The name server is the test's: it names the last node, then another that nobody has.
names_of_a_service() {
    server=127.53.53.53
    { [ "$(id -u)" = 0 ] && unshare -m true 2>/dev/null; } || { not_tried "no mount namespace here"; return 0; }
    recorded=$work/service
    cp "$BEAMTOP_SRCDIR/tests/live/dns_answers.erl" "$work"
    echo "${last#*@}" >"$work/hosts"
    echo "nameserver $server" >"$work/resolv"
    (cd "$work" && exec erl -noinput -eval "
        {ok, dns_answers} = c:c(dns_answers), dns_answers:start(\"$server\", \"$work/hosts\")." >"$work/dns.log" 2>&1) &
    dns_pid=$!
    wait_until 60 test -s "$work/hosts.asked" || { cat "$work/dns.log"; kill "$dns_pid"; not_tried "no port 53 here"; return 0; }
    # shellcheck disable=SC2016
    unshare -m sh -c 'mount --bind "$0" /etc/resolv.conf && exec "$@"' "$work/resolv" \
        "$beamtop" record "${last%@*}@srv:_epmd._tcp.shop.test" -o "$recorded" --cookie-file "$work/cookie" --timeout 30 \
        --no-config -i 1 -b 100 >"$work/out" 2>"$work/err" &
    recorder=$!
    is_recorded_by_service
    ended=$?
    kill -INT "$recorder"
    wait "$recorder"
    kill "$dns_pid"
    wait "$dns_pid" 2>/dev/null
    [ "$ended" = 0 ] && wait_until 60 none_runs
}
is_recorded_by_service() {
    comes ".nodes | length == 1 and .[0].name == \"$last\" and .[0].state == \"recording\" and .[0].ticks >= 2" || return 1
    echo "nobody.shop.test" >"$work/hosts"
    comes '.nodes | length == 2 and .[0].state == "complete" and .[0].why == "gone from DNS"
        and .[1].state == "failed" and (.[1].name | endswith("@nobody.shop.test"))'
}

# Of two that start at once one is refused, and the index is that of the other.
two_into_one_directory() {
    recorded=$work/one
    for each in 1 2; do
        "$beamtop" record start "$names," -o "$recorded" --cookie-file "$work/cookie" --timeout 60 --no-config -i 1 -b 100 \
            >"$work/out-$each" 2>"$work/err-$each" &
        eval "starter_$each=$!"
    done
    wait "$starter_1"
    first=$?
    wait "$starter_2"
    second=$?
    [ $((first + second)) = 2 ] && grep -q 'has recordings' "$work/err-1" "$work/err-2" && index_has "$all_run" || return 1
    "$beamtop" record stop -o "$recorded" >"$work/out" 2>"$work/err"
    comes '.end_us != null and all(.nodes[]; .state == "complete")' && wait_until 60 none_runs
}

start_nodes_and_count() { start_nodes && all_run="$all_run$count"; }

trap stop_nodes EXIT
trap 'exit 130' HUP INT TERM PIPE
start_epmd
run start_nodes_and_count
for case in has_a_file_for_each reports_all_of_them replays_all_of_them compares_with_another one_node_is_lost one_recorder_is_killed one_is_not_there \
    a_kill_ends_all starts_and_stops takes_cookies_of_patterns two_into_one_directory names_from_dns names_of_a_service \
    follows_the_cluster; do
    if [ -n "${BEAMTOP_TESTS-}" ]; then
        case " $BEAMTOP_TESTS " in *" $case "*) ;; *) continue ;; esac
    fi
    run "$case"
done
finish
