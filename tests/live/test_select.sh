#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# What a compiled pattern selects on each release, against what Erlang selects with the same text:
# thousands of random patterns and arguments. SEED=n repeats others than the usual ones.
# shellcheck disable=SC1091
set -u
src=${BEAMTOP_SRCDIR:-$(cd "$(dirname "$0")/../.." && pwd)}
build=${BEAMTOP_BUILDDIR:-$src/build-dev}
seed=${SEED:-1}
export ERL_CRASH_DUMP_BYTES=0
if ! command -v erlc >/dev/null; then
    echo "1..0 # SKIP no Erlang on this machine"
    exit 0
fi
work=$(mktemp -d) || exit 1
there=
trap 'rm -rf "$work" ${there:+"$there"}' EXIT
erlc -o "$work" "$src/tests/live/select_cases.erl" || exit 1
(cd "$work" && erl -noinput -boot start_clean -eval \
    "select_cases:generate(\".\", $seed, ${CASES:-700}), halt(0).") || exit 1

# The files go where the release can see them: into its root directory when it has one.
check() {
    seen=${there#"$root"}
    "$build/tests/live/select" "$1" <"$work/patterns" >"$work/specs" || return 1
    cp "$work/cases" "$work/specs" "$src/tests/live/select_cases.erl" "$there" || return 1
    timeout 900 sh "$src/tests/live/otp.sh" "$1" erl -noinput -eval "
        {ok, M} = compile:file(\"$seen/select_cases\", [{outdir, \"$seen\"}]),
        code:add_patha(\"$seen\"), M:check(\"$seen\", \"$seen/specs\")."
}

. "$src/tests/live/which.sh"
# shellcheck disable=SC2046
set -- $(releases_of each)
echo "1..$#"
number=0
failed=0
for otp; do
    number=$((number + 1))
    result=77
    if root=$(sh "$src/tests/live/otp.sh" --root "$otp" 2>/dev/null) &&
        there=$root/tmp/select.$$ && mkdir -m 700 "$there"; then
        check "$otp"
        result=$?
        rm -rf "$there"
        there=
    fi
    case $result in
    0) echo "ok $number - patterns select the same on OTP $otp" ;;
    77) echo "ok $number - OTP $otp # SKIP not on this machine" ;;
    *) echo "not ok $number - patterns select the same on OTP $otp"
       failed=1 ;;
    esac
done
exit $failed
