#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Makes the files of a release in build-release/files, or a static program only:
#   make.sh [TARGET…]           x86_64-linux-musl, x86_64-linux-gnu, aarch64-linux-musl (default: all)
#   make.sh --program TARGET    prints the path of the program
#   make.sh --tests TARGET      of another machine: also builds the unit tests; prints the directory
# The same commit makes the same bytes: times are those of the commit, or SOURCE_DATE_EPOCH.
set -eu
cd "$(dirname "$0")/.."
top=$(pwd)
built=$top/build-release
files=$built/files
jobs=$(nproc 2>/dev/null || echo 2)
maintainer="beamtop's developers <beamtop@invalid>"
flags="-fno-asynchronous-unwind-tables -ffile-prefix-map=$top/="
summary="Looks inside running Erlang and Elixir nodes, in a terminal"
unset CPPFLAGS CFLAGS LDFLAGS LIBS MAKEFLAGS 2>/dev/null || :

say() { echo "release: $*" >&2; }

fail() {
    say "$*"
    exit 1
}

version() { sed -n 's/^AC_INIT(\[beamtop\], \[\(.*\)\])/\1/p' configure.ac; }

take_time() {
    [ -n "${SOURCE_DATE_EPOCH:-}" ] || SOURCE_DATE_EPOCH=$(git log -1 --format=%ct 2>/dev/null) ||
        fail "this is not a checkout: set SOURCE_DATE_EPOCH, in seconds"
    [ -z "$(git status --porcelain 2>/dev/null)" ] ||
        say "this checkout has changes: the files are not those of its commit"
    export SOURCE_DATE_EPOCH
}

# configured TARGET: a build directory with a Makefile that knows what there is to build.
configured() {
    libraries=$(release/libraries.sh "$1")
    case $1 in
    *-gnu) compiler=gcc linked=-Wl,-z,pack-relative-relocs ;; # musl 1.2.3 cannot read them
    *) compiler=$libraries/bin/musl-gcc linked=-Wl,-T,$top/release/no_unwind.ld ;;
    esac
    [ "$1" != aarch64-linux-musl ] || cross=--host=aarch64-linux-gnu
    [ -f configure ] || autoreconf -fi >&2
    dir=$built/$1
    made="$libraries $(cat release/make.sh release/no_unwind.ld | sha256sum)"
    if [ ! -f "$dir/Makefile" ] || [ "$(cat "$dir/made" 2>/dev/null)" != "$made" ]; then
        rm -rf "$dir"
        mkdir -p "$dir"
        # The compiler is the same for a machine and its static programs: configure runs what it compiles.
        (cd "$dir" && PKG_CONFIG_LIBDIR=$libraries/lib/pkgconfig ../../configure -q ${cross:+"$cross"} \
            --enable-static --prefix=/usr --sysconfdir=/etc --with-ei="$libraries" \
            CC="$(command -v ccache || :) $compiler" CPPFLAGS="-I$libraries/include" LDFLAGS="-L$libraries/lib -s $linked" \
            CFLAGS="-O2 $flags") >&2 ||
            fail "configure failed in $dir; it says why above and in $dir/config.log"
        echo "$made" >"$dir/made"
    fi
    make -s -C "$dir" Makefile >&2
}

# program TARGET: what shows and writes is small, what runs for each sample, process and event is fast.
program() {
    cross=''
    configured "$1"
    make -s -C "$built/$1" -j"$jobs" CFLAGS="-Os $flags" src/libapp.a src/libui.a src/libreport.a src/liboutput.a >&2
    make -s -C "$built/$1" -j"$jobs" src/beamtop >&2
}

# unit_tests TARGET: beside its program. They are built fast, and need not be.
unit_tests() {
    program "$1"
    # shellcheck disable=SC2046
    make -s -C "$built/$1" -j"$jobs" CFLAGS=-O0 $(make -s -C "$built/$1" print-tests LIST=UNIT_ALL) >&2
}

# staged TARGET: what is installed, in build-release/TARGET/stage. Manual and completion are what the
# program prints: those of another machine are taken from this one's.
staged() {
    native=$built/x86_64-linux-musl
    [ "$1" != aarch64-linux-musl ] || staged x86_64-linux-musl
    program "$1"
    stage=$built/$1/stage
    rm -rf "$stage"
    if [ "$1" = aarch64-linux-musl ]; then
        mkdir -p "$built/$1/man" "$built/$1/completion"
        cp "$native"/man/*.[157] "$built/$1/man"
        cp "$native"/completion/* "$built/$1/completion"
    fi
    make -s -C "$built/$1" install DESTDIR="$stage" >/dev/null
    gzip -9n "$stage"/usr/share/man/man*/*
    find "$stage" -exec touch -h -d "@$SOURCE_DATE_EPOCH" {} +
}

# packed NAME DIR: NAME.tar.gz of what is in DIR, with NAME as its folder.
packed() {
    tar -C "$2" --sort=name --format=gnu --owner=0 --group=0 --numeric-owner --mode=u+w,go+rX,go-w \
        --mtime="@$SOURCE_DATE_EPOCH" --transform="s|^\.|$1|" -cf - . | gzip -9n >"$files/$1.tar.gz"
}

# deb MACHINE: of the static program, which needs no package.
deb() {
    tree=$built/deb
    rm -rf "$tree"
    mkdir -p "$tree/DEBIAN"
    cp -a "$stage/usr" "$tree"
    mv "$tree/usr/share/zsh/site-functions" "$tree/usr/share/zsh/vendor-completions" # where Debian's zsh looks
    {
        echo "beamtop is under the GNU General Public License, version 3 or later. It has these parts:"
        echo
        cat "$files/$name.spdx"
    } >"$tree/usr/share/doc/beamtop/copyright"
    cat >"$tree/DEBIAN/control" <<EOF
Package: beamtop
Version: $version
Architecture: $1
Maintainer: $maintainer
Installed-Size: $(du -sk --apparent-size "$tree/usr" | cut -f1)
Section: admin
Priority: optional
Description: $summary
 Processes, memory, schedulers, traces and findings of a node, over the
 distribution protocol. Nothing is installed on the node.
EOF
    find "$tree" -exec touch -h -d "@$SOURCE_DATE_EPOCH" {} +
    dpkg-deb -Zxz --root-owner-group --build "$tree" "$files/beamtop_${version}_$1.deb" >&2
}

# rpm MACHINE
rpm() {
    command -v rpmbuild >/dev/null 2>&1 || {
        say "no .rpm: rpmbuild is not installed"
        return 0
    }
    work=$built/rpm
    rm -rf "$work"
    mkdir -p "$work"
    rpmbuild --quiet -bb --target "$1-linux" --define "_topdir $work" --define "_rpmdir $work" \
        --define "version_is $version" --define "summary_is $summary" --define "stage $stage" \
        --define "_buildhost release" --define "use_source_date_epoch_as_buildtime 1" \
        --define "clamp_mtime_to_source_date_epoch 1" --define "_build_id_links none" \
        --define "__os_install_post %{nil}" --define "_docdir /usr/share/doc" \
        release/beamtop.spec >"$work/log" 2>&1 || fail "rpmbuild failed: $(tail -n 3 "$work/log")"
    find "$work" -name '*.rpm' -exec mv {} "$files/" \;
}

# expression LICENCE: as SPDX writes it. Several are in parentheses.
expression() {
    case $1 in
    *+AND+* | *+OR+*) echo "($(echo "$1" | tr + ' '))" ;;
    *) echo "$1" ;;
    esac
}

# spdx TARGET: the parts of its program, as SPDX tags and values.
spdx() {
    id() { echo "$1" | tr -c 'A-Za-z0-9.\n' -; }
    cat <<EOF
SPDXVersion: SPDX-2.3
DataLicense: CC0-1.0
SPDXID: SPDXRef-DOCUMENT
DocumentName: $name
DocumentNamespace: urn:beamtop:$name:$(git rev-parse HEAD 2>/dev/null || echo archive)
Creator: Tool: release/make.sh
Created: $(date -u -d "@$SOURCE_DATE_EPOCH" +%Y-%m-%dT%H:%M:%SZ)

PackageName: beamtop
SPDXID: SPDXRef-beamtop
PackageVersion: $version
PackageDownloadLocation: NOASSERTION
FilesAnalyzed: false
PackageLicenseDeclared: GPL-3.0-or-later
Relationship: SPDXRef-DOCUMENT DESCRIBES SPDXRef-beamtop
EOF
    grep -v '^#' release/sources | while read -r part licence path sum; do
        case $part:$1 in
        musl:*-gnu) continue ;;
        cmocka:*) continue ;;
        openssl:*) grep -q '^#define HAVE_OPENSSL 1' "$built/$1/config.h" || continue ;;
        esac
        file=$(basename "$path" .dsc)
        cat <<EOF

PackageName: $part
SPDXID: SPDXRef-$(id "$part")
PackageVersion: ${file#*_}
PackageSourceInfo: $path of Debian's archive
PackageChecksum: SHA256: $sum
PackageDownloadLocation: NOASSERTION
FilesAnalyzed: false
PackageLicenseDeclared: $(expression "$licence")
Relationship: SPDXRef-beamtop STATIC_LINK SPDXRef-$(id "$part")
EOF
    done
    installed uthash uthash-dev BSD-1-Clause
    case $1 in *-gnu) installed glibc libc6-dev LGPL-2.1-or-later ;; esac
}

# installed PART PACKAGE LICENCE: a part that comes from a package of the machine that builds.
installed() {
    cat <<EOF

PackageName: $1
SPDXID: SPDXRef-$1
PackageVersion: $(dpkg-query -W -f '${Version}' "$2")
PackageSourceInfo: Debian's package $2, as installed where this was built
PackageDownloadLocation: NOASSERTION
FilesAnalyzed: false
PackageLicenseDeclared: $3
Relationship: SPDXRef-beamtop STATIC_LINK SPDXRef-$1
EOF
}

released() {
    staged "$1"
    name=beamtop-$version-$1
    spdx "$1" >"$files/$name.spdx"
    packed "$name" "$stage/usr"
    case $1 in
    x86_64-linux-musl) deb amd64 && rpm x86_64 ;;
    aarch64-linux-musl) deb arm64 && rpm aarch64 ;;
    esac
}

version=$(version)
case ${1:-} in
--program)
    program "${2:?make.sh --program TARGET}"
    echo "$built/$2/src/beamtop"
    exit 0
    ;;
--tests)
    unit_tests "${2:?make.sh --tests TARGET}"
    echo "$built/$2"
    exit 0
    ;;
esac
[ $# -gt 0 ] || {
    set -- x86_64-linux-musl x86_64-linux-gnu
    if command -v aarch64-linux-gnu-gcc >/dev/null 2>&1; then
        set -- "$@" aarch64-linux-musl
    else
        say "no aarch64-linux-musl: aarch64-linux-gnu-gcc is not installed"
    fi
}
umask 022
take_time
rm -rf "$files"
mkdir -p "$files"
for target; do
    say "$target"
    released "$target"
done
cp release/Containerfile "$files"
(cd "$files" && sha256sum ./* | sed 's|\./||' >SHA256SUMS)
ls -l "$files" >&2
