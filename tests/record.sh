# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=sh disable=SC2154
# Recorders of this script's own, and what they count. Sourced, after tap.sh.

record_of() { HOME=$work XDG_STATE_HOME='' "$beamtop" record "$@"; }

# record_number KEY: of the status of each that runs.
record_number() { record_of status --format json 2>/dev/null | sed -n 's/.*"'"$1"'":\([0-9]*\).*/\1/p'; }

# record_has KEY N: the only one has that many.
record_has() { [ "$(record_number "$1")" -ge "$2" ] 2>/dev/null; }

# until_recorded PID KEY N: the only one, of that process, has that many; fails when it ends before, for
# which it has said why.
until_recorded() {
    until record_has "$2" "$3"; do
        is_running "$1" || return 1
        sleep 0.5
    done
}
