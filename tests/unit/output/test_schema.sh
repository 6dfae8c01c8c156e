#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Runs of causal spans in the forms that other programs read: captured ones of four releases, one
# with hostile names, one with functions, one of two nodes, a large one, an empty one. Each is checked against the schema of its form,
# and by rules that a schema cannot say. TAP.
# shellcheck disable=SC2317
set -u
# shellcheck source=tests/tap.sh
. "$(dirname "$0")/../../tap.sh"
files=$BEAMTOP_BUILDDIR/tests/unit/output/spans_files
[ -x "$files" ] || skip_all "spans_files is not built"
python3 -c 'import jsonschema' 2>/dev/null || skip_all "no python3-jsonschema here"

check() {
    PYTHONDONTWRITEBYTECODE=1 python3 -W ignore "$BEAMTOP_SRCDIR/tests/schema/check.py" \
        "$BEAMTOP_SRCDIR/tests/schema" "$@"
}

runs_are_written() { "$files" "$work" && [ "$(find "$work" -name '*.otlp' | wc -l)" -gt 100 ]; }
each_file_is_valid() { check "$1" "$work"/*."$1"; }
a_planted_error_is_found() { check "$1" plant <"$work/1.$1"; }

run runs_are_written
for form in json otlp speedscope trace-event; do
    run each_file_is_valid "$form"
done
for form in otlp speedscope trace-event; do
    run a_planted_error_is_found "$form"
done
finish
