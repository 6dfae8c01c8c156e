#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Every command that prints: to a full device it fails and says why; a reader that leaves early is
# not a failure.
# shellcheck disable=SC1091,SC2154,SC2317
set -u
. "$(dirname "$0")/../tap.sh"

[ -c /dev/full ] || skip_all "no /dev/full here"
BEAMTOP_DEMO_DIR=$work/shop
export BEAMTOP_DEMO_DIR
trap '"$BEAMTOP_SRCDIR/demo/run.sh" stop; rm -rf "$work"' EXIT
trap 'exit 130' HUP INT TERM PIPE
start_demo

# bt COMMAND…: node and file by the words NODE and FILE.
bt() {
    for word; do
        shift
        case $word in
        NODE) set -- "$@" "$BEAMTOP_DEMO_NODE" --cookie-file "$BEAMTOP_DEMO_COOKIE_FILE" --timeout 30 ;;
        FILE) set -- "$@" "$work/x.btr" ;;
        *) set -- "$@" "$word" ;;
        esac
    done
    HOME=$work XDG_STATE_HOME='' "$beamtop" "$@"
}

# As long as it takes until a window and a trace are in it. New processes serve; of them no scheduler is
# asked, which a busy machine may make late.
has_recorded() {
    for seconds in 3 9 27 81; do
        rm -f "$work/x.btr"
        bt record NODE -o "$work/x.btr" -i 0.25 --for "${seconds}s" --calls 'shop_web:_/_' \
            --window 0.5s --every 1s --trace 'shop_web:_/_' --procs new --events 5 --trace-time 1s \
            2>"$work/err" >/dev/null || {
            cat "$work/err"
            return 1
        }
        if bt calls FILE >/dev/null 2>&1 && bt trace FILE >/dev/null 2>&1; then return 0; fi
    done
    echo "no window or no trace in $seconds s"
    return 1
}

# says_of_writing FILE CODE ERRORS: so many errors, and then the exit code.
says_of_writing() {
    [ "$(tail -n 1 "$1")" != "code $2" ] || [ "$(grep -ci -e 'write error' -e 'broken pipe' "$1")" != "$3" ] || return 0
    cat "$1"
    return 1
}

# The pipe's reader is gone before anything is printed. At the same time it prints to a full device, where
# a node lets two of it.
fails_on_a_full_device_and_ends_quietly_with_its_reader() {
    rm -f "$work/gone"
    {
        until [ -e "$work/gone" ]; do sleep 0.01; done
        bt "$@" 2>"$work/quiet"
        echo "code $?" >>"$work/quiet"
    } | { exec 0<&-; : >"$work/gone"; } &
    case $* in 'calls NODE '* | 'trace NODE '*) wait $! ;; esac
    bt "$@" >/dev/full 2>"$work/full"
    echo "code $?" >>"$work/full"
    wait $!
    says_of_writing "$work/full" 1 1 && grep -q 'write error: No space left on device' "$work/full" &&
        says_of_writing "$work/quiet" 0 0
}

# A file of -o is written beside: what stood there stays until the new one is complete.
no_other_file_stays() { [ "$(ls -A "$work/out")" = report ] || { ls -A "$work/out"; return 1; }; }

keeps_the_file_where_writing_fails() {
    rm -rf "$work/out" && mkdir "$work/out" && echo before >"$work/out/report" || return 1
    (ulimit -f 1; bt "$@" -o "$work/out/report" 2>"$work/err")
    [ $? -eq 1 ] && grep -q 'out/report cannot be written' "$work/err" &&
        [ "$(cat "$work/out/report")" = before ] && no_other_file_stays
}

replaces_the_file_with_its_rights() {
    rm -rf "$work/out" && mkdir "$work/out" && echo before >"$work/out/report" &&
        chmod 640 "$work/out/report" && ln -sf out/report "$work/link" &&
        bt "$@" -o "$work/link" && [ -L "$work/link" ] && bt "$@" >"$work/want" &&
        cmp "$work/want" "$work/out/report" && [ "$(stat -c %a "$work/out/report")" = 640 ] && no_other_file_stays
}

# It would be theirs, who put it where root was about to write. root's own in the same place is replaced.
leaves_the_file_of_another() {
    rm -rf "$work/out" && mkdir -m 1777 "$work/out" && echo before >"$work/out/report" || return 1
    chown 65534 "$work/out/report" && ! bt report FILE -o "$work/out/report" 2>"$work/err" &&
        grep -q 'out/report is another user' "$work/err" && [ "$(cat "$work/out/report")" = before ] &&
        no_other_file_stays && chown 0 "$work/out/report" && bt report FILE -o "$work/out/report" &&
        ! grep -q '^before$' "$work/out/report" && no_other_file_stays
}

never_writes_over_what_it_reads() {
    cp "$work/x.btr" "$work/before.btr" && ln -sf x.btr "$work/link" || return 1
    bt "$@" -o "$work/link" 2>"$work/err"
    [ $? -eq 2 ] && grep -q 'is the recording itself' "$work/err" && cmp "$work/x.btr" "$work/before.btr"
}

run has_recorded
while read -r command; do
    # shellcheck disable=SC2086
    run keeps_the_file_where_writing_fails $command && run replaces_the_file_with_its_rights $command &&
        run never_writes_over_what_it_reads $command
done <<'EOF'
report FILE
export FILE
EOF
if [ "$(id -u)" = 0 ]; then
    run leaves_the_file_of_another
else
    skip leaves_the_file_of_another "not root"
fi
while read -r command; do
    # shellcheck disable=SC2086
    run fails_on_a_full_device_and_ends_quietly_with_its_reader $command
done <<'EOF'
--help
top --help
--version
generate words-columns
explain lists:map/2
nodes
record status
top NODE -n 1 -i 0.25
top NODE -n 1 -i 0.25 --format json
info NODE
process NODE shop_pricing
memory NODE
schedulers NODE -n 1 -i 0.25
apps NODE -n 1 -i 0.25
armed NODE
heapsample NODE
capture NODE
calls NODE shop_web:_/_ --for 0.2s
trace NODE shop_web:_/_ --procs new --events 3
top FILE -n 1
calls FILE
trace FILE
capture FILE
report FILE
report FILE --format json
diff FILE FILE
export FILE
export FILE --format openmetrics
EOF
finish
