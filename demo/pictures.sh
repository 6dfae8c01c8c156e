#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Makes the pictures of README.md: runs the demo, does in a terminal what the README says, and has the
# program itself save each screen as SVG. Usage: pictures.sh DIRECTORY; `make pictures` calls it.
# shellcheck disable=SC2034,SC2154
set -eu

top=$(cd "$(dirname "$0")/.." && pwd)
mkdir -p "$1"
pictures=$(cd "$1" && pwd)
BEAMTOP_SRCDIR=$top
# shellcheck source=tests/tap.sh
. "$top/tests/tap.sh"
# shellcheck source=tests/tmux/lib.sh
. "$top/tests/tmux/lib.sh"
tm_wait_s=120
BEAMTOP_DEMO_DIR=$work/shop
export BEAMTOP_DEMO_DIR
trap 'tm_close; "$top/demo/run.sh" stop; rm -rf "$work"' EXIT
trap 'exit 130' INT TERM HUP

# command_line TEXT: an action by name, as typed at the prompt.
command_line() {
    tm_type ':'
    tm_wait_line '^:'
    tm_type "$1"
    tm_keys Enter
}

# picture NAME: the screen as it is, to NAME.svg.
picture() {
    command_line "capture-screen $work/$1.svg"
    wait_until "$tm_wait_s" test -s "$work/$1.svg"
    tm_wait "$1.svg"
    chmod 644 "$work/$1.svg"
    mv "$work/$1.svg" "$pictures/$1.svg"
}

# watch [ARGUMENT…]: starts the demo, and the program on it.
watch() {
    "$top/demo/run.sh" start "$@" >"$work/env"
    # shellcheck disable=SC1091
    . "$work/env"
    tm_run "clear; ERL_EPMD_PORT=$ERL_EPMD_PORT $beamtop $BEAMTOP_DEMO_NODE --no-config --cookie-file $BEAMTOP_DEMO_COOKIE_FILE"
}

tm_open 104 26
watch
tm_wait shop_pricing

# Enough ticks for graphs and rates.
wait_until "$tm_wait_s" tm_has_line ' up [1-9][0-9] s '
command_line 'sort message_queue_len'
tm_wait '▼MSGQ'
tm_wait shop_mailer
picture top

tm_keys Enter
wait_until "$tm_wait_s" tm_has_line 'message queue .*/s .*▃'
picture process

tm_keys 3
wait_until "$tm_wait_s" tm_has_line 'carriers +[0-9].*MiB'
picture memory

# Before calls are traced or counted: their stacks have returns of the VM's own.
command_line 'sample 10s'
tm_wait '─ ended, 10 s'
command_line 'by flame'
tm_wait '│all'
picture sample

command_line 'set trace-events 12'
command_line 'trace shop_web:serve(_) -> return'
tm_wait ' ended '
tm_wait 'nothing left'
picture trace

command_line 'set calls-time yes'
command_line 'calls app:shop'
wait_until "$tm_wait_s" tm_has 'burn/2'
picture calls
command_line calls-stop
tm_wait 'nothing left'

tm_keys f
tm_wait 'Message queue of shop_mailer'
tm_keys Home
tm_wait_line '^▌ fix'
tm_keys Space
tm_wait 'ruled out if'
picture findings
tm_keys Q
tm_wait 'ready>'

"$beamtop" record "$BEAMTOP_DEMO_NODE" --cookie-file "$BEAMTOP_DEMO_COOKIE_FILE" --no-config \
    -o "$work/shop.btr" -i 1 -b 20% --for 20s 2>"$work/record.log"
tm_run "clear; $beamtop replay $work/shop.btr --no-config"
tm_wait ' tick '
tm_keys p
tm_keys W
command_line 'by name'
command_line 'seek #12'
tm_wait 'tick 12/'
tm_wait shop_pricing
picture replay
tm_keys Q
"$top/demo/run.sh" stop

BEAMTOP_DEMO_APP=gateway
BEAMTOP_DEMO_DIR=$work/gateway
export BEAMTOP_DEMO_APP
watch -gateway scenario sync
tm_wait " Logger "
wait_until "$tm_wait_s" tm_has_line ' up [1-9][0-9] s '
command_line 'spans gateway_http:handle/1'
tm_wait '20 requests captured'
command_line 'by path'
tm_wait ' STEP '
picture spans
tm_keys Q
