# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=sh
# Which OTP releases a test runs on, by what its cases depend on; node.c has `differ` and `same` of it
# for tests in C. docs/testing.md says which to choose.
#   each     expressions that the node evaluates: 23 25 27 29
#   differ   what differs between releases: the oldest and the newest; BEAMTOP_CHECK=all: each
#   same     a node is needed, any release: 25; BEAMTOP_CHECK=all: each
#   once     formats, options, refusals: 25
# BEAMTOP_RELEASES chooses others for all of them.
releases_of() {
    case ${BEAMTOP_RELEASES-}:${BEAMTOP_CHECK:-}:$1 in
    [0-9]*) echo "$BEAMTOP_RELEASES" ;;
    *:each | :all:differ | :all:same) echo 23 25 27 29 ;;
    *:differ) echo 23 29 ;;
    *) echo 25 ;;
    esac
}
