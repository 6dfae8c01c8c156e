#!/bin/sh
# The screen over a recording, in a real terminal: it plays, stands still, steps, goes to a moment, and
# says what was not recorded.
# shellcheck disable=SC1091,SC2154,SC2317
set -u
. "$(dirname "$0")/../tap.sh"
. "$BEAMTOP_SRCDIR/tests/tmux/lib.sh"

command -v tmux >/dev/null 2>&1 || skip_all "there is no tmux"
demo=$BEAMTOP_SRCDIR/demo/run.sh
BEAMTOP_DEMO_APP=gateway
BEAMTOP_DEMO_DIR=$work/demo
export BEAMTOP_DEMO_APP BEAMTOP_DEMO_DIR
trap 'tm_close; "$demo" stop >/dev/null 2>&1; rm -rf "$work"' EXIT
"$demo" start >"$work/env" || skip_all "the demo does not start: is there an erl?"
. "$work/env"

# The node is gone when its recording is looked at.
records() {
    HOME=$work "$beamtop" record "$BEAMTOP_DEMO_NODE" --cookie-file "$BEAMTOP_DEMO_COOKIE_FILE" \
        -o "$work/a.btr" -i 0.5 -b 100 --for 6s && "$demo" stop
}

plays_a_recording() {
    tm_open 120 30 || return 1
    tm_run "'$beamtop' replay '$work/a.btr' --no-config -i 60"
    tm_wait 'Elixir.Logger' && tm_wait 'a recording of gateway@127.0.0.1'
}

seeks_and_steps() {
    tm_type ':seek #5'
    tm_keys Enter
    tm_wait 'Elixir.Logger' || return 1
    tm_type p
    tm_type ':seek nowhere'
    tm_keys Enter
    tm_wait 'no time, no mark' || return 1
    tm_type ':seek +1h'
    tm_keys Enter
    tm_type .
    tm_wait 'that is the end of the recording'
}

says_what_was_not_recorded() {
    tm_keys Enter
    tm_wait 'not recorded'
}

ends() {
    tm_type ':quit'
    tm_keys Enter
    tm_wait 'ready>'
}

for test in records plays_a_recording seeks_and_steps says_what_was_not_recorded ends; do
    run "$test"
done
finish
