#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Nodes that only SSH leads to: named by URLs, through a real sshd, also by jump hosts, and with a key
# whose passphrase ssh asks for at the terminal. Each failure of ssh has its words. When a stream, ssh or
# beamtop is killed, nothing is left on the node, nor here.
# shellcheck disable=SC1091,SC2034,SC2154,SC2317
set -u
. "$(dirname "$0")/../tap.sh"

load=fleet_load
. "$(dirname "$0")/releases.sh"
. "$(dirname "$0")/way_left.sh"
. "$(dirname "$0")/sshd.sh"
. "$(dirname "$0")/../tmux/lib.sh"

# Only one node is there, so its name may be left out.
reaches_it() {
    prints_its_name "ssh://far/$(name_of)" && prints_its_name ssh://far && prints_its_name ssh://behind &&
        leaves_nothing_here
}

# A command there carries the streams, and ends with them.
relays() { pgrep -f "beamtop: open|socat - TCP:127.0.0.1|nc .*127.0.0.1 [0-9]"; }
no_relays() { ! relays >/dev/null; }
relays_end() { wait_until 60 no_relays || { echo "a relay is left there:"; relays; return 1; }; }
has_bash_there() {
    case $(getent passwd "$(id -u)") in */bash) return 0 ;; esac
    not_tried "the login shell here is not bash"
    return 1
}
has_only() { # NAME PROGRAM: there, beside sh and cat
    rm -rf "$work/tools"
    mkdir "$work/tools"
    ln -s "$(command -v sh)" "$(command -v cat)" "$work/tools"
    ln -s "$(command -v "$2")" "$work/tools/$1"
    echo "PATH=$work/tools" >"$work/home/.bashrc"
}
goes_by_relay() { # NAME PROGRAM
    has_bash_there || return 0
    command -v "$2" >/dev/null || { not_tried "no $2 here"; return 0; }
    has_only "$1" "$2" && prints_its_name "ssh://forbids/$(name_of)" && prints_its_name ssh://forbids &&
        leaves_nothing_here && relays_end
}
goes_by_socat() { goes_by_relay socat socat; }
goes_by_bash() {
    goes_by_relay bash bash || return 1
    [ -e "$work/not_tried" ] || fails_with 3 'nothing listens at that port there' "ssh://forbids/$(name_of)" --port 1
}
goes_by_nc_of_openbsd() { goes_by_relay nc nc.openbsd; }
goes_by_nc_traditional() { goes_by_relay nc nc.traditional; }
goes_by_ncat() { goes_by_relay nc ncat; }

lacks_a_relay() {
    has_bash_there || return 0
    has_only true true
    fails_with 3 'neither socat, bash nor nc' "ssh://forbids/$(name_of)"
}

# Text of a login shell is skipped, also much; too much is an error.
bears_a_loud_shell() {
    has_bash_there || return 0
    printf '%s\n' 'printf "beamtop: welcome\nhi"; echo "more" >&2' >"$work/home/.bashrc"
    prints_its_name "ssh://forbids/$(name_of)" && prints_its_name ssh://forbids || return 1
    echo 'head -c 60000 /dev/zero' >"$work/home/.bashrc"
    prints_its_name ssh://forbids || return 1
    echo 'yes welcome' >"$work/home/.bashrc"
    fails_with 3 'login shell prints more than 64 KiB' ssh://forbids && told bashrc || return 1
    echo 'echo "Mind the gap"; exit 1' >"$work/home/.bashrc"
    fails_with 3 'Mind the gap' ssh://forbids && leaves_nothing_here
    loud=$?
    rm "$work/home/.bashrc"
    return $loud
}

# The user's own connection is used, and stays. It does not say why it refuses a stream.
uses_what_is_open() {
    uses_open shared && { ! has_bash_there || { has_only bash bash && uses_open forbids_shared; }; }
}
uses_open() { # HOST
    ssh -fNM "$1" 2>"$work/err" || { cat "$work/err"; return 1; }
    logins=$(grep -c Accepted "$work/sshd.log")
    prints_its_name "ssh://$1/$(name_of)" && ssh -O check "$1" 2>/dev/null
    used=$?
    logins=$(($(grep -c Accepted "$work/sshd.log") - logins))
    ssh -O exit "$1" 2>/dev/null
    ends_with 0 "$used" || return 1
    [ "$logins" = 0 ] || { echo "$logins logins"; return 1; }
    leaves_nothing_here
}

asks_by_a_program() {
    printf '#!/bin/sh\necho "open it"\n' >"$work/askpass"
    chmod 755 "$work/askpass"
    export SSH_ASKPASS="$work/askpass" SSH_ASKPASS_REQUIRE=force
    prints_its_name "ssh://locked/$(name_of)"
    asked=$?
    unset SSH_ASKPASS SSH_ASKPASS_REQUIRE
    [ "$asked" = 0 ] && leaves_nothing_here
}

each_failure_has_its_words() {
    fails_with 3 'nothing listens at ssh.s port' ssh://closed/x &&
        fails_with 3 'jump host' ssh://dead/x &&
        fails_with 3 'key is not the one in known_hosts' ssh://other/x &&
        fails_with 3 'unknown host key' ssh://new/x &&
        fails_with 3 'login refused' ssh://stranger/x &&
        fails_with 3 'login refused' ssh://locked/x &&
        fails_with 3 'nothing listens at that port there' "ssh://far/$(name_of)" --port 1 &&
        fails_with 3 'no epmd at port 1 there' ssh://far --epmd-port 1 &&
        fails_with 3 "no node nobody@far: epmd .* knows: $(name_of)" ssh://far/nobody &&
        fails_with 2 'invalid host' 'ssh://-oProxyCommand=x/y' &&
        fails_with 2 'invalid user' "ssh://a;b@far/y" &&
        fails_with 3 'not a host.s name' "ssh://far/y" --host '-x' &&
        leaves_nothing_here
}

doctor_goes_by_it() {
    by_way doctor "ssh://far/$(name_of)" --format json >"$work/out" 2>"$work/err"
    ends_with 0 $? || return 1
    holds '.[0].rows | map(.state) | unique == ["ok"]' || return 1
    holds '.[0].rows | map(select(.check == "connection"))[0].text | test("by SSH to far")' || return 1
    by_way doctor ssh://far/nobody >"$work/out" 2>"$work/err"
    ends_with 3 $? && cat "$work/out" && says '^  fail  connection .*no node nobody@far' && leaves_nothing_here
}

starts_a_second() { # OTP
    "$otp_sh" "$1" erl -noinput -name "second_x$$@127.0.0.1" -setcookie releases -start_epmd false \
        -eval "net_kernel:connect_node('$node'), timer:sleep(1200000), halt()." >"$work/second.log" 2>&1 &
    second=$!
    knows_both() { epmd -port "$ERL_EPMD_PORT" -names | grep -q "second_x$$"; }
    wait_until 120 knows_both || { cat "$work/second.log"; return 1; }
}
ends_the_second() {
    kill "$second"
    wait "$second" 2>/dev/null
}
with_a_second() { # OTP COMMAND…
    starts_a_second "$1" || return 1
    shift
    "$@"
    with_second=$?
    ends_the_second
    return $with_second
}

has_two_up() { holds '.[0].rows | length == 2 and all(.[]; .state == "up")'; }
# The URLs that it prints can be used.
lists_them() {
    fails_with 2 "2 nodes are there" ssh://far && told "ssh://far/second_x$$" && told "ssh://far/$(name_of)" || return 1
    logins=$(grep -c Accepted "$work/sshd.log")
    by_way fleet "ssh://far/second_x$$,ssh://far/$(name_of)" --format json >"$work/out" 2>"$work/err"
    ends_with 0 $? && has_two_up || return 1
    logins=$(($(grep -c Accepted "$work/sshd.log") - logins))
    [ "$logins" = 1 ] || { echo "$logins logins instead of 1"; return 1; }
}
lists_several() { with_a_second "$1" lists_them; }

# Each command that follows a cluster does so behind a URL, and each node has one name there.
# follows COMMAND URL OPTION…
follows() {
    by_way "$@" --cluster >"$work/out" 2>"$work/err"
    ends_with 0 $?
}
has_two_recordings() { [ "$(find "$1" -name '*.btr' | wc -l)" = 2 ] || { ls "$1"; cat "$work/err"; return 1; }; }
follows_them() {
    seed=ssh://far/$(name_of) other=ssh://far/second_x$$
    rm -rf "$work/both" "$work/named" # of another release
    follows fleet "$seed" --format json && has_two_up || return 1
    follows record "$seed" --for 4 -o "$work/both" || return 1
    has_two_recordings "$work/both" || return 1
    for file in "$work/both"/*.btr; do "$beamtop" info "$file" --format json; done >"$work/out" 2>"$work/err"
    holds '[.[].node] | sort == (["'"$node"'", "second_x'$$'@127.0.0.1"] | sort)' || return 1
    follows record "$seed,$other" --for 3 -o "$work/named" || return 1
    has_two_recordings "$work/named" || return 1
    follows trace "$seed" 'lists:keyfind/3' --time 2 --format json && each_is_named || return 1
    follows top "$seed" -n 2 --format json && holds 'map(.node) | unique | length == 2' || return 1
    follows spans "$seed" 'fleet_load:watch/2' --time 3 --format json || return 1
    is_clean && leaves_nothing_here
}
each_is_named() { holds 'map(.node) | contains(["'"$seed"'", "'"$other"'"])'; }
follows_a_cluster() { with_a_second "$1" follows_them; }

# They may be behind one sshd, which drops logins beyond a number.
logs_in_to_few_at_once() {
    urls=ssh://h1/none
    for n in 2 3 4 5 6 7 8 9 10 11 12 13 14; do urls=$urls,ssh://h$n/none; done
    logins=$(grep -c Accepted "$work/sshd.log")
    by_way fleet "$urls" --format json >"$work/out" 2>"$work/err"
    logins=$(($(grep -c Accepted "$work/sshd.log") - logins))
    [ "$logins" = 14 ] || { echo "$logins logins instead of 14"; tail -3 "$work/err"; return 1; }
    ! sshd_says 'past MaxStartups' && leaves_nothing_here
}

records_in_the_background() {
    rm -f "$work/far.btr" # of another release
    by_way record start "ssh://far/$(name_of)" -o "$work/far.btr" >"$work/out" 2>"$work/err"
    ends_with 0 $? || return 1
    "$beamtop" record stop -o "$work/far.btr" >"$work/out" 2>"$work/err"
    ends_with 0 $? && "$beamtop" info "$work/far.btr" --format json >"$work/out" 2>"$work/err" &&
        holds '.[0].node == "'"$node"'"' && leaves_nothing_here
}

# ---- ends

of_sshd() { # one process of a session is another's child
    sessions=$(pgrep -d , -P "$sshd_pid") || return 1
    pgrep -P "$sshd_pid,$sessions"
}

loses_its_stream() {
    in_a_trace "ssh://far/$(name_of)" with_words "-S$work/run/.*-W127.0.0.1" &&
        ends_with 4 "$ended" && told 'ssh to far';
}
loses_ssh() {
    in_a_trace "ssh://far/$(name_of)" with_words "$work/run/.*(-fNM|\\[mux\\])" &&
        ends_with 4 "$ended" && told 'SSH connection is lost';
}
loses_sshd() { in_a_trace "ssh://far/$(name_of)" of_sshd && ends_with 4 "$ended" && told 'ssh to far'; }

streams_of() { pgrep -P "$1" -f 'beamtop streams'; }

# Streams go on without their process; a start of beamtop removes what killed ones have left.
loses_the_process_of_streams() {
    starts_a_trace "ssh://far/$(name_of)" || return 1
    kill -9 "$(streams_of "$tracer")" || return 1
    is_running "$tracer" || { cat "$work/err"; return 1; }
    kill -INT "$tracer"
    wait "$tracer"
    ends_with 0 $? && is_clean && leaves_nothing_here
}

leaves_what_the_next_start_removes() {
    starts_a_trace "ssh://far/$(name_of)" || return 1
    kill -9 "$(streams_of "$tracer")" "$tracer" || return 1
    wait "$tracer"
    [ -n "$(ls -A "$work/run")" ] || { echo "nothing to remove"; return 1; }
    is_clean && prints_its_name "ssh://far/$(name_of)" && leaves_nothing_here
}
is_killed() { in_a_trace "ssh://far/$(name_of)" beamtop_itself && [ "$ended" = 137 ]; }

# ---- a terminal

asks_at_the_terminal() {
    command -v tmux >/dev/null || { not_tried "no tmux here"; return 0; }
    tm_open 100 30 || return 1
    tm_run "XDG_RUNTIME_DIR=$work/run $beamtop ssh://locked/$(name_of) --timeout 60 --cookie-file $work/cookie"
    tm_wait 'passphrase' && tm_run 'open it' && tm_wait "$node  SSH to locked" && tm_wait 'fleet_load' && tm_keys q &&
        tm_wait_line '^ready> *$' && leaves_nothing_here
    asked=$?
    tm_close
    return $asked
}

# This ssh asks twice for a password before it is the real one, and says so where ssh would.
put_asking_ssh() {
    mkdir -p "$work/asking"
    cat >"$work/asking/ssh" <<-END
	#!/bin/sh
	for word; do
	    case \$word in -E*) log=\${word#-E} ;; esac
	done
	case " \$* " in
	*' -fNM '*BatchMode=yes*) echo 'far: Permission denied (password).' >>"\$log"; exit 255 ;;
	*' -fNM '*)
	    printf "password: " >/dev/tty && read -r _ </dev/tty
	    echo 'Permission denied, please try again.' >>"\$log"
	    printf "password: " >/dev/tty && read -r _ </dev/tty ;;
	esac
	exec $work/bin/ssh "\$@"
	END
    chmod 755 "$work/asking/ssh"
}
tells_a_wrong_password() {
    command -v tmux >/dev/null || { not_tried "no tmux here"; return 0; }
    put_asking_ssh
    tm_open 100 30 || return 1
    tm_run "PATH=$work/asking:\$PATH XDG_RUNTIME_DIR=$work/run $beamtop info ssh://far/$(name_of) --timeout 60 --cookie-file $work/cookie"
    tm_wait 'password:' && tm_run wrong && tm_wait 'ssh says: Permission denied, please try again' && tm_run right &&
        tm_wait 'process limit' && tm_wait_line '^ready> *$' && leaves_nothing_here
    told=$?
    tm_close
    return $told
}

on_a_screen() { # URLS: with $work/run
    command -v tmux >/dev/null || { not_tried "no tmux here"; return 0; }
    tm_open 150 30 || return 1
    tm_run "clear; XDG_RUNTIME_DIR=$work/run $beamtop $1 --timeout 60 --cookie-file $work/cookie"
}
quits() { tm_type ':quit' && tm_keys Enter && tm_wait_line '^ready> *$' && leaves_nothing_here; }

# Hosts that do not answer delay nothing.
opens_beside_mute_hosts() {
    on_a_screen "ssh://mute/x,ssh://mute2/x,ssh://far/$(name_of)" && tm_wait_line "ssh://far/$(name_of) +up" && tm_has mute2 && quits
    opened=$?
    tm_close
    return $opened
}

comes_back() {
    on_a_screen "ssh://far/$(name_of)" && tm_wait fleet_load && tm_wait ' live ' || return 1
    # shellcheck disable=SC2046
    kill -9 $(of_sshd) && tm_wait ' lost ' && tm_wait ' live ' && quits
    came_back=$?
    tm_close
    return $came_back
}

# ---- sshd, the network and this host are away for a while

all_of_sshd() { echo "$sshd_pid" && of_sshd; }
ends_sshd() {
    # shellcheck disable=SC2046
    kill -9 $(all_of_sshd)
    wait "$sshd_pid" 2>/dev/null
}

survives_a_restart_of_sshd() {
    on_a_screen "ssh://far/$(name_of)" && tm_wait fleet_load && tm_wait ' live ' || return 1
    ends_sshd
    tm_wait ' lost ' && tm_wait "nothing listens at ssh's port" && runs_sshd && tm_wait ' live ' && quits && is_clean
    restarted=$?
    tm_close
    return $restarted
}

# A recorder goes on also when its folder was removed, as a logout does.
status_is() { # FILTER, of the recording
    "$beamtop" record status --format json 2>/dev/null | jq -s -e 'map(select(.file == "'"$work/over.btr"'"))[0] | '"$1" >"$work/status"
}
records_over_a_restart_of_sshd() {
    rm -f "$work/over.btr" # of another release
    by_way record start "ssh://far/$(name_of)" -o "$work/over.btr" >"$work/out" 2>"$work/err" || return 1
    ends_sshd
    wait_until 60 status_is '.link | contains("ssh to far")' && status_is .ticks && ticks=$(cat "$work/status") &&
        rm -r "$work/run"/beamtop-?????? && runs_sshd && wait_until 120 status_is '.link == "" and .ticks > '"$ticks + 1"
    over=$?
    [ $over = 0 ] || "$beamtop" record status
    "$beamtop" record stop -o "$work/over.btr" >"$work/out" 2>"$work/err"
    [ $over = 0 ] && leaves_nothing_here && is_clean
}

loses_a_trace_with_sshd() {
    starts_a_trace "ssh://far/$(name_of)" || return 1
    ends_sshd
    wait "$tracer"
    ends_with 4 $? && told 'ssh to far' && runs_sshd && is_clean && leaves_nothing_here
}

# For longer than ssh waits for an answer.
bears_a_mute_network() {
    on_a_screen "ssh://far/$(name_of)" && tm_wait fleet_load && tm_wait ' live ' || return 1
    stopped=$(all_of_sshd | tr '\n' ' ')
    # shellcheck disable=SC2086
    kill -STOP $stopped
    tm_wait 'host stopped answering'
    mute=$?
    # shellcheck disable=SC2086
    kill -CONT $stopped
    [ $mute = 0 ] && tm_wait ' live ' && quits && is_clean
    mute=$?
    tm_close
    return $mute
}

logs_in_again() {
    asks_twice() { [ "$(tm_text | grep -c passphrase)" = 2 ]; }
    on_a_screen "ssh://locked/$(name_of)" && tm_wait passphrase && tm_run 'open it' && tm_wait fleet_load || return 1
    # shellcheck disable=SC2046
    kill -9 $(of_sshd) && tm_wait ':login' && tm_type ':login' && tm_keys Enter &&
        wait_until 60 asks_twice && tm_run 'open it' && tm_wait 'logged in to 1 host' && tm_wait ' live ' && quits
    logged_in=$?
    tm_close
    return $logged_in
}

# ---- what looks from outside

runs_on_the_far_side() {
    rm -f "$work/far/beamtop" # of another release
    by_far nodes ssh://far --format json
    ends_with 1 $? && told 'no beamtop on far' && told 'scp .*far:beamtop' || return 1
    printf '#!/bin/sh\nprintf "%%s\\n" "$@"\n' >"$work/far/beamtop"
    chmod 755 "$work/far/beamtop"
    by_far pstack "ssh://far/it's" --format json
    ends_with 0 $? && grep -qx "it's" "$work/out" && [ "$(wc -l <"$work/out")" = 4 ] && told 'that host has --version' || return 1
    by_far sample ssh://far/x -o "$work/file"
    ends_with 2 $? && told 'would be a file on the other host'
}
by_far() { "$beamtop" "$@" >"$work/out" 2>"$work/err" </dev/null; }

stop_all() {
    stop_node
    stop_epmd
    stop_sshd
    tm_close 2>/dev/null
    rm -rf "$work"
}

once reaches_it goes_by_socat goes_by_bash goes_by_nc_of_openbsd goes_by_nc_traditional goes_by_ncat lacks_a_relay \
    bears_a_loud_shell uses_what_is_open asks_by_a_program doctor_goes_by_it each_failure_has_its_words \
    lists_several follows_a_cluster logs_in_to_few_at_once records_in_the_background loses_its_stream loses_ssh loses_sshd is_killed \
    loses_the_process_of_streams leaves_what_the_next_start_removes asks_at_the_terminal tells_a_wrong_password opens_beside_mute_hosts \
    comes_back survives_a_restart_of_sshd records_over_a_restart_of_sshd loses_a_trace_with_sshd \
    logs_in_again runs_on_the_far_side
[ "${BEAMTOP_CHECK:-}" != all ] || once bears_a_mute_network
run start_sshd
run_on_releases
