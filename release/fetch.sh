#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# The sources of the libraries in release/sources, from the archives of Debian that apt is set up with:
#   fetch.sh NAME DIR     fetches, checks and unpacks one into DIR, which it makes
#   fetch.sh --newest     prints the table of release/sources with the newest versions that the archives have
#                         whole; those that they list only are named
# Files are kept in BEAMTOP_CACHE (default /var/cache/beamtop), in sources, so each is fetched once.
set -eu

table=$(dirname "$0")/sources
cache=${BEAMTOP_CACHE:-/var/cache/beamtop}/sources
suite=trixie

fail() {
    echo "fetch.sh: $*" >&2
    exit 1
}

# The archives of Debian that apt has, main and security, a line each.
# shellcheck disable=SC2016
archives() {
    apt-get indextargets --format '$(ORIGIN)|$(COMPONENT)|$(CODENAME)|$(REPO_URI)' \
        'Created-By: Packages' 2>/dev/null |
        awk -F'|' '$1 == "Debian" && $2 == "main" && !seen[$4]++ { print $4 }'
}

# field FIELD NAME: of the table. 2 is the licence, 3 the path of the .dsc, 4 its checksum.
field() { awk -v name="$2" -v field="$1" '$1 == name { print $field }' "$table"; }

is_whole() { [ -f "$1" ] && echo "$2  $1" | sha256sum -c --status 2>/dev/null; }

# take PATH SHA256: the file is in the cache afterwards. apt fetches: its proxies and its checks.
take() {
    file=$cache/$(basename "$1")
    ! is_whole "$file" "$2" || return 0
    rm -f "$file" "$cache/.log"
    for uri in $(archives); do
        "$helper" download-file "${uri%/}/$1" "$file.part" "SHA256:$2" >>"$cache/.log" 2>&1 || continue
        mv "$file.part" "$file"
        return 0
    done
    rm -f "$file.part"
    fail "$1 is not in Debian's archives with the checksum of release/sources: $(grep -m1 '^E:' "$cache/.log" ||
        echo "apt has no archive of Debian"). Debian probably has a newer version: release/fetch.sh --newest"
}

# The other files of a source package, as its .dsc lists them: checksum and name.
parts_of() { awk '/^[A-Z]/ { in_list = /^Checksums-Sha256:/; next } in_list && NF == 3 { print $1, $3 }' "$1"; }

# take_all PATH SHA256: a .dsc, and what it lists.
take_all() {
    mkdir -p "$cache"
    take "$1" "$2"
    dsc=$cache/$(basename "$1")
    parts_of "$dsc" | while read -r sum name; do
        take "$(dirname "$1")/$name" "$sum"
    done
}

fetch() {
    path=$(field 3 "$1")
    [ -n "$path" ] || fail "release/sources has no library \"$1\""
    { command -v dpkg-source && [ -x "$helper" ]; } >/dev/null 2>&1 ||
        fail "sources come from Debian's archives: this needs apt and dpkg-dev"
    take_all "$path" "$(field 4 "$1")"
    rm -rf "$2"
    dpkg-source --no-check -x "$dsc" "$2" >"$cache/.log" 2>&1 ||
        fail "$dsc cannot be unpacked: $(tail -n 1 "$cache/.log")"
}

# Index files of sources, in a place that is removed at the end.
newest() {
    work=$(mktemp -d)
    trap 'rm -rf "$work"' EXIT
    mkdir -p "$work/lists/partial" "$work/cache"
    for uri in $(archives); do
        case $uri in
        *-security*) echo "deb-src $uri $suite-security main" ;;
        *) echo "deb-src $uri $suite main" ;;
        esac
    done >"$work/list"
    set -- -q -o Dir::Etc::SourceList="$work/list" -o Dir::Etc::SourceParts=/dev/null \
        -o Dir::State::Lists="$work/lists" -o Dir::Cache="$work/cache"
    apt-get "$@" update >"$work/log" 2>&1 || fail "$(grep -m1 '^E:' "$work/log")"
    grep '^#' "$table"
    grep -v '^#' "$table" | while read -r name licence path sum; do
        for version in $(versions "$name" "$path" "$@"); do
            found=$(apt-get "$@" source --print-uris "$name=$version" 2>/dev/null | listed)
            [ "$found" != "$path $sum" ] || break
            # shellcheck disable=SC2086
            if (take_all $found) 2>/dev/null; then
                path=${found% *} sum=${found#* }
                break
            fi
            echo "fetch.sh: $name $version is listed, but not all of its files are there" >&2
        done
        echo "$name $licence $path $sum"
    done
}

# versions NAME PATH OPTION…: the newest first, none that is older than that of the path.
versions() {
    of=$1
    at_least=$(basename "${2#*_}" .dsc)
    shift 2
    apt-cache "$@" showsrc --only-source "$of" 2>/dev/null | awk '$1 == "Version:" { print $2 }' | sort -Vru |
        while read -r version; do
            ! dpkg --compare-versions "${version#*:}" lt "$at_least" || break
            echo "$version"
        done
}

# The path and the checksum of the .dsc, of what apt prints.
listed() {
    awk '/\.dsc / {
        sub(/.*\/pool\//, "pool/", $1); sub(/\047$/, "", $1); sub(/.*:/, "", $NF)
        gsub(/%2b/, "+", $1); gsub(/%7e/, "~", $1)
        print $1, $NF }'
}

helper=/usr/lib/apt/apt-helper
case ${1:-} in
--newest) newest ;;
[a-z]*) fetch "$1" "${2:?fetch.sh NAME DIR}" ;;
*)
    sed -n '3,7s/^# \{0,1\}//p' "$0" >&2
    exit 2
    ;;
esac
