#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Makes root directories with the OTP releases that this machine's own packages do not have, for the tests
# against real nodes. Each is a minimal Debian in $BEAMTOP_CACHE (default /var/cache/beamtop), otp-RELEASE.
#
#   otp_roots.sh [RELEASE…]       default: all of the table below, without the machine's own
#
# Prints a line for each: ready, or skipped with the reason. A reason is kept in otp-RELEASE.skipped,
# where the tests find it. The mirror and the keys are those of the machine's own apt.
set -eu

cache=${BEAMTOP_CACHE:-/var/cache/beamtop}
packages=erlang-base,erlang-crypto,erlang-runtime-tools,erlang-ssl,erlang-syntax-tools,erlang-tools
limit_s=1200                            # for one root

suite_of() {
    case $1 in
    23) echo bullseye ;;
    25) echo bookworm ;;
    27) echo trixie ;;
    29) echo sid ;;
    esac
}

own_release() {
    command -v erl >/dev/null 2>&1 || return 0
    erl -noinput -boot start_clean -eval \
        'io:format("~s", [erlang:system_info(otp_release)]), halt().' 2>/dev/null || true
}

# The first archive of Debian itself that apt uses: not its security or update suites.
# shellcheck disable=SC2016
mirror() {
    apt-get indextargets --format '$(ORIGIN)|$(COMPONENT)|$(CODENAME)|$(REPO_URI)' \
        'Created-By: Packages' 2>/dev/null |
        awk -F'|' '$1 == "Debian" && $2 == "main" && $3 !~ /-/ { print $4; exit }'
}

# debootstrap fetches with wget: it must go the way that apt goes.
take_proxy() {
    eval "$(apt-config shell proxy Acquire::http::Proxy)"
    [ -z "${proxy:-}" ] || [ -n "${http_proxy:-}" ] || {
        http_proxy=$proxy
        export http_proxy
    }
}

# A root is complete when erl answers in it with the release that it is kept for.
is_complete() {
    [ -f "$2/.complete" ] && [ "$(cat "$2/.complete")" = "$packages" ] && answers "$1" "$2"
}

answers() {
    timeout 60 chroot "$2" erl -noinput -boot start_clean -eval \
        'io:format("~s", [erlang:system_info(otp_release)]), halt().' >"$2.says" 2>&1 || true
    said=$(head -c 200 "$2.says")
    rm -f "$2.says"
    [ "$said" = "$1" ]
}

# A root in which a process lives cannot go yet; the next run takes it.
in_use() {
    for link in /proc/[0-9]*/root; do
        [ "$(readlink "$link" 2>/dev/null)" != "$1" ] || return 0
    done
    return 1
}

remove_left_over() {
    for dir in "$cache"/.new-* "$cache"/.old-*; do
        [ ! -d "$dir" ] || in_use "$dir" || rm -rf --one-file-system "$dir"
    done
}

skipped() {
    echo "$2" >"$cache/otp-$1.skipped"
    echo "otp $1: skipped: $2"
}

# make RELEASE SUITE: builds beside, proves, and puts it in its place by rename. Mounts that
# debootstrap makes live in a name space of their own and are gone with it.
make() {
    new=$cache/.new-otp-$1
    root=$cache/otp-$1
    # shellcheck disable=SC2016
    timeout "$limit_s" unshare --mount debootstrap --variant=minbase --include="$packages" "$2" "$new" \
        "$uri" >"$cache/otp-$1.log" 2>&1 || {
        skipped "$1" "debootstrap of $2 failed: $(grep -E '^(E|W):' "$cache/otp-$1.log" | tail -1)"
        return 0
    }
    answers "$1" "$new" || {
        skipped "$1" "erl of $2 is not of release $1: $said"
        return 0
    }
    cp /etc/hosts "$new/etc/hosts" 2>/dev/null || touch "$new/etc/hosts"
    rm -rf "$new"/var/cache/apt/archives/*.deb "$new"/var/lib/apt/lists/* "$new"/debootstrap
    echo "$packages" >"$new/.complete"
    [ ! -e "$root" ] || mv -T "$root" "$cache/.old-otp-$1"
    mv -T "$new" "$root"
    rm -f "$cache/otp-$1.skipped"
    remove_left_over
    echo "otp $1: ready"
}

one() {
    suite=$(suite_of "$1")
    [ -n "$suite" ] || {
        echo "otp_roots.sh: no suite is known for OTP $1" >&2
        exit 2
    }
    if [ "$1" = "$own" ]; then
        echo "otp $1: ready (the machine's own)"
    elif is_complete "$1" "$cache/otp-$1"; then
        rm -f "$cache/otp-$1.skipped"
        echo "otp $1: ready"
    elif ! command -v debootstrap >/dev/null 2>&1; then
        skipped "$1" "debootstrap is not installed"
    elif [ -z "$uri" ]; then
        skipped "$1" "apt has no Debian archive here"
    else
        make "$1" "$suite"
    fi
}

[ "$(id -u)" = 0 ] || {
    echo "otp: skipped: root directories of other OTP releases need root"
    exit 0
}
mkdir -p "$cache"
exec 9>"$cache/.lock"
flock -w $((4 * limit_s)) 9 || {
    echo "otp: skipped: another run holds $cache/.lock"
    exit 0
}
own=$(own_release)
uri=$(mirror)
take_proxy
remove_left_over
[ $# -gt 0 ] || set -- 23 25 27 29
for release; do
    one "$release" 9>&-
done
