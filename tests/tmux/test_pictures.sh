#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# `make pictures` makes the pictures of the documents: it types what README.md says and waits for
# texts of the screen, so a text that changed would stop it.
# shellcheck disable=SC1091,SC2154,SC2317
set -u
. "$(dirname "$0")/../tap.sh"

command -v tmux >/dev/null 2>&1 || skip_all "there is no tmux"
command -v erl >/dev/null 2>&1 || skip_all "there is no erl"
try_sampling # for one of them

makes_its_pictures() {
    "$BEAMTOP_SRCDIR/demo/pictures.sh" "$work/pictures"
}

makes_those_of_the_documents() {
    (cd "$work/pictures" && echo *) >"$work/made"
    (cd "$BEAMTOP_SRCDIR/docs/pictures" && echo *) | diff - "$work/made"
}

ends_each_of_them() {
    for made in "$work"/pictures/*.svg; do
        tail -n 1 "$made" | grep -q '</svg>$' || { echo "$made"; return 1; }
    done
}

run makes_its_pictures
run makes_those_of_the_documents
run ends_each_of_them
finish
