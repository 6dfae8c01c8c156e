#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Runs a command of a certain OTP release: otp.sh RELEASE COMMAND [ARGUMENT…]
#   otp.sh 27 erl -noshell …     exit 77 with the reason when the machine does not have that release
#   otp.sh --root 27             prints the root directory of it, nothing when it is the machine's own
# The machine's own `erl` serves its release; others are the roots made by otp_roots.sh.
set -eu

cache=${BEAMTOP_CACHE:-/var/cache/beamtop}

own_release() {
    command -v erl >/dev/null 2>&1 || return 0
    set -- "$(dirname "$(readlink -f "$(command -v erl)")")"/../releases/start_erl.data
    if [ -f "$1" ]; then
        cut -d' ' -f2 "$1"
    else
        erl -noinput -boot start_clean -eval \
            'io:format("~s", [erlang:system_info(otp_release)]), halt().' 2>/dev/null || true
    fi
}

skip() {
    echo "otp.sh: $*" >&2
    exit 77
}

# With a /proc, so that the node can read about itself, and the machine's host names; nothing of it
# stays mounted after.
in_root() {
    root=$1
    shift
    if unshare --mount true 2>/dev/null; then
        # shellcheck disable=SC2016
        exec unshare --mount sh -c \
            'mount -t proc proc "$0/proc"; mount --bind /etc/hosts "$0/etc/hosts"
             exec chroot "$0" "$@" 2>&3 3>&-' "$root" "$@" 3>&2 2>/dev/null
    fi
    exec chroot "$root" "$@"
}

only_root=
if [ "${1:-}" = --root ]; then
    only_root=yes
    shift
fi
[ $# -ge 1 ] || { sed -n '3,6s/^# \{0,1\}//p' "$0" >&2; exit 2; }
release=$1
shift
if [ "$(own_release)" = "$release" ]; then
    [ -z "$only_root" ] || exit 0
    exec "$@"
fi
root=$cache/otp-$release
[ -x "$root/usr/bin/erl" ] ||
    skip "no OTP $release: $(cat "$root.skipped" 2>/dev/null || echo "tests/live/otp_roots.sh makes it")"
[ "$(id -u)" = 0 ] || skip "OTP $release is in a root directory that only root can enter"
if [ -n "$only_root" ]; then
    echo "$root"
else
    in_root "$root" "$@"
fi
