#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# What a compiled pattern selects on each release, against what Erlang selects with the same text:
# thousands of random patterns and arguments. SEED=n repeats others than the usual ones.
# shellcheck disable=SC1091,SC2154,SC2317
set -u
. "$(dirname "$0")/../tap.sh"
. "$BEAMTOP_SRCDIR/tests/live/which.sh"

command -v erlc >/dev/null || skip_all "no Erlang on this machine"
export ERL_CRASH_DUMP_BYTES=0
otp_sh=$BEAMTOP_SRCDIR/tests/live/otp.sh
cases=$BEAMTOP_SRCDIR/tests/live/select_cases.erl
there=
trap 'rm -rf "$work" ${there:+"$there"}' EXIT
trap 'exit 130' HUP INT TERM PIPE
{
    erlc -o "$work" "$cases" && (cd "$work" && erl -noinput -boot start_clean -eval \
        "select_cases:generate(\".\", ${SEED:-1}, ${CASES:-700}), halt(0).")
} >"$work/generated" 2>&1 || fail_all "no cases are generated" "$work/generated"

# The files go where the release can see them: into its root directory when it has one.
patterns_select_the_same_on_OTP() {
    there=$root/tmp/select.$$
    seen=${there#"$root"}
    mkdir -m 700 "$there" &&
        "$BEAMTOP_BUILDDIR/tests/live/select" "$1" <"$work/patterns" >"$work/specs" &&
        cp "$work/cases" "$work/specs" "$cases" "$there" &&
        timeout 900 "$otp_sh" "$1" erl -noinput -eval "
        {ok, M} = compile:file(\"$seen/select_cases\", [{outdir, \"$seen\"}]),
        code:add_patha(\"$seen\"), M:check(\"$seen\", \"$seen/specs\")."
}

for otp in $(releases_of each); do
    if root=$("$otp_sh" --root "$otp" 2>"$work/why"); then
        run patterns_select_the_same_on_OTP "$otp"
        rm -rf "$there"
    else
        skip "patterns_select_the_same_on_OTP_$otp" "$(cat "$work/why")"
    fi
done
finish
