#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Builds the libraries of release/sources for a static program: libraries.sh TARGET
# TARGET is x86_64-linux-musl, x86_64-linux-gnu or aarch64-linux-musl. Prints the directory, which has
# include, lib, and for musl bin/musl-gcc. It is in BEAMTOP_CACHE (default /var/cache/beamtop), and named
# by all that it is made of, so that it is built once.
set -eu
cd "$(dirname "$0")"
here=$(pwd)
target=${1:?libraries.sh TARGET}
cache=${BEAMTOP_CACHE:-/var/cache/beamtop}
jobs=$(nproc 2>/dev/null || echo 2)

case $target in
x86_64-linux-musl | x86_64-linux-gnu) compiler=gcc cross='' tools='' ;;
aarch64-linux-musl) compiler=aarch64-linux-gnu-gcc cross=--host=aarch64-linux-gnu tools=aarch64-linux-gnu- ;;
*)
    echo "libraries.sh: \"$target\" is not a target: x86_64-linux-musl, x86_64-linux-gnu, aarch64-linux-musl" >&2
    exit 2
    ;;
esac
command -v "$compiler" >/dev/null 2>&1 || {
    echo "libraries.sh: $target needs $compiler" >&2
    exit 1
}

key=$({ cat sources libraries.sh /usr/include/uthash.h && "$compiler" --version; } | sha256sum | cut -c1-12)
out=$cache/libraries-$target-$key
[ ! -f "$out/.complete" ] || {
    echo "$out"
    exit 0
}
case $cache in
[!/]* | *[!A-Za-z0-9/._+-]*)
    echo "libraries.sh: BEAMTOP_CACHE is \"$cache\": give an absolute path of letters, digits and /._+-" >&2
    exit 2
    ;;
esac
{ mkdir -p "$cache" && [ -w "$cache" ]; } 2>/dev/null || {
    echo "libraries.sh: $cache is not writable: set BEAMTOP_CACHE to a directory of yours" >&2
    exit 1
}
exec 9>"$cache/.libraries.lock"
flock -n 9 || {
    echo "libraries.sh: waiting for another build of libraries in $cache" >&2
    flock 9
}
[ ! -f "$out/.complete" ] || {
    echo "$out"
    exit 0
}
mkdir -p "$out/build" "$out/include" "$out/lib/pkgconfig"
SOURCE_DATE_EPOCH=1
# Each function and table is a section, so that the program has only those it needs. Nothing unwinds it.
CFLAGS="-O2 -fPIE -fstack-protector-strong -ffunction-sections -fdata-sections -fno-asynchronous-unwind-tables"
CFLAGS="$CFLAGS -ffile-prefix-map=$out/build=."
CC=$compiler
AR=${tools}ar
RANLIB=${tools}ranlib
export AR CC CFLAGS RANLIB SOURCE_DATE_EPOCH
small=$(echo "$CFLAGS" | sed 's/-O2/-Os/') # of what takes no time when processes are sampled or listed
PKG_CONFIG_LIBDIR=$out/lib/pkgconfig
export PKG_CONFIG_LIBDIR
unset CPPFLAGS LDFLAGS LIBS MAKEFLAGS 2>/dev/null || :

# unpack NAME: its sources, where the next commands are run.
unpack() {
    echo "  $1" >&3
    "$here/fetch.sh" "$1" "$out/build/$1"
    cd "$out/build/$1"
}

# with_configure NAME [ARGUMENT…]: as most are built. WHAT is what is installed, if not all.
with_configure() {
    unpack "$1"
    shift
    [ ! -x autogen.sh ] || [ -f configure ] || ./autogen.sh
    [ -f configure ] || autoreconf -fi
    # shellcheck disable=SC2086
    ./configure $cross --prefix="$out" --libdir="$out/lib" --disable-shared --enable-static "$@"
    make -j"$jobs"
    # shellcheck disable=SC2086
    make ${WHAT:-install}
}

# compile ARCHIVE FLAGS SOURCE…: of what has no build of its kind.
compile() {
    archive=$1 flags=$2
    shift 2
    # shellcheck disable=SC2086
    for source; do
        printf '%s %s\n' "$(echo "$source" | tr / _ | sed 's/c$/o/')" "$source"
    done | xargs -P "$jobs" -L 1 sh -c "$CC $CFLAGS $flags -c -o \"\$0\" \"\$1\""
    $AR crD "$archive" ./*.o
}

# where_is HEADER: the path that the compiler takes it from.
where_is() { echo "#include <$1>" | "$compiler" -M -E - | tr ' ' '\n' | grep -m1 "/$1\$"; }

musl() {
    case $target in *-gnu) return 0 ;; esac
    unpack musl
    # shellcheck disable=SC2086
    CFLAGS="-ffile-prefix-map=$out/build=." ./configure $cross --prefix="$out" --syslibdir="$out/lib" \
        --disable-shared --enable-wrapper=gcc
    make -j"$jobs"
    make install
    # Every program that the wrapper links is static, and may be loaded anywhere.
    sed -i -e 's|%{!shared: \(.*\)/Scrt1.o}|\1/rcrt1.o|' \
        -e 's|^-dynamic-linker .*|-nostdlib -static -pie --no-dynamic-linker -z text|' "$out/lib/musl-gcc.specs"
    for header in linux/version.h asm/unistd.h asm-generic/types.h; do
        cp -RL "$(dirname "$(where_is "$header")")" "$out/include"
    done
}

zlib() {
    unpack zlib
    ./configure --static --prefix="$out"
    make -j"$jobs" libz.a
    make install
}

# Headers only: those that are installed.
uthash() { cp /usr/include/uthash.h /usr/include/utlist.h /usr/include/utarray.h "$out/include"; }

# Descriptions of what people sit at are inside; others are looked for where systems have them.
ncurses() {
    dirs=/etc/terminfo:/lib/terminfo:/usr/share/terminfo:/usr/lib/terminfo:/usr/local/share/terminfo
    CFLAGS=$small with_configure ncurses --enable-widec --with-termlib --enable-pc-files \
        --with-pkg-config-libdir="$out/lib/pkgconfig" --with-default-terminfo-dir=/usr/share/terminfo \
        --with-terminfo-dirs="$dirs" --with-fallbacks="$terminals" --with-tic-path="$(command -v tic)" \
        --with-infocmp-path="$(command -v infocmp)" --without-ada --without-cxx --without-cxx-binding \
        --without-debug --without-manpages --without-progs --without-tests --without-shared --with-normal \
        --disable-db-install --disable-home-terminfo
}
terminals=xterm-256color,xterm,screen-256color,screen,tmux-256color,tmux,linux,vt100,vt220,rxvt-unicode-256color

readline() {
    WHAT="install-headers install-pc"
    CFLAGS=$small CPPFLAGS="-I$out/include -I$out/include/ncursesw" bash_cv_termcap_lib=libtinfow \
        with_configure readline --with-curses
    WHAT=
    cp libreadline.a "$out/lib"
    sed -i '/^Requires.private:/s/:.*/: tinfow/' "$out/lib/pkgconfig/readline.pc"
}

# The program opens files that others have made: no extension is loaded for them.
sqlite() {
    unpack sqlite3
    CC=gcc CFLAGS=-O1 ./configure --disable-shared --disable-tcl --disable-readline
    make sqlite3.c
    compile libsqlite3.a "-Os -DSQLITE_THREADSAFE=1 -DSQLITE_OMIT_LOAD_EXTENSION -DSQLITE_OMIT_JSON" sqlite3.c
    cp libsqlite3.a "$out/lib"
    cp sqlite3.h "$out/include"
    pc_file sqlite3 "$(cat VERSION)" "-lsqlite3 -lm"
}

# pc_file NAME VERSION LIBRARIES
pc_file() {
    printf '%s\n' "Name: $1" "Description: $1" "Version: $2" "Libs: -L$out/lib $3" "Cflags: -I$out/include" \
        >"$out/lib/pkgconfig/$1.pc"
}

utf8proc() {
    unpack utf8proc
    make -j"$jobs" libutf8proc.a CC="$CC" CFLAGS="$CFLAGS -DUTF8PROC_STATIC" AR="$AR"
    cp libutf8proc.a "$out/lib"
    cp utf8proc.h "$out/include"
    pc_file libutf8proc 2 -lutf8proc
}

libuv() { with_configure libuv1; }

# Only the client's part, without what starts programs.
libei() {
    unpack erlang
    cd lib/erl_interface
    # shellcheck disable=SC2086
    ERL_TOP=$out/build/erlang ./configure $cross --build="$(gcc -dumpmachine)"
    compile libei.a "-D_GNU_SOURCE -D_REENTRANT -DEI_NO_DEPR_WARN -I. -I$(dirname "$(find . -name config.h | head -n 1)") \
        -Iinclude -Isrc/connect -Isrc/encode -Isrc/decode -Isrc/misc -Isrc/epmd" \
        src/connect/*.c src/decode/*.c src/encode/*.c src/epmd/*.c src/misc/*.c
    cp libei.a "$out/lib"
    cp include/*.h "$out/include"
}

# elfutils asks for what its programs need; the program uses libelf, which needs none of it.
libelf() {
    unpack elfutils
    for library in argp_parse fts_close _obstack_free; do
        export "ac_cv_search_$library=none required"
    done
    # shellcheck disable=SC2086
    CPPFLAGS="-I$out/include" LDFLAGS="-L$out/lib" ./configure $cross --prefix="$out" --disable-debuginfod \
        --disable-libdebuginfod --without-bzlib --without-lzma --without-zstd --disable-nls
    unset ac_cv_search_argp_parse ac_cv_search_fts_close ac_cv_search__obstack_free
    make -C libelf -j"$jobs" libelf.a CPPFLAGS="-I$out/include"
    # shellcheck disable=SC2086
    $CC $CFLAGS -DHAVE_CONFIG_H -D_GNU_SOURCE -I. -Ilib -c lib/crc32.c -o crc32.o
    $AR rD libelf/libelf.a crc32.o
    cp libelf/libelf.a "$out/lib"
    cp libelf/libelf.h libelf/gelf.h libelf/elf.h "$out/include"
    pc_file libelf 0.188 "-lelf -lz"
}

libiberty() {
    unpack libiberty
    cd libiberty
    # shellcheck disable=SC2086
    CFLAGS=$small ./configure $cross
    make -j"$jobs" libiberty.a
    cp libiberty.a "$out/lib"
    mkdir -p "$out/include/libiberty"
    cp ../include/*.h "$out/include/libiberty"
}

# No module, engine or configuration of the host is loaded. What takes time in it is in assembler.
openssl() {
    unpack openssl
    kind=linux-x86_64
    [ -z "$cross" ] || kind=linux-aarch64
    CFLAGS=$small ./Configure "$kind" --prefix=/usr --openssldir=/etc/ssl no-shared no-tests no-engine no-async no-dso \
        no-module no-legacy no-autoload-config no-comp no-dtls no-ssl3 no-weak-ssl-ciphers no-srp no-psk no-cms no-cmp \
        no-ts no-ocsp no-ct no-srtp no-nextprotoneg no-multiblock no-dsa no-ec2m no-ocb no-siv no-blake2 no-rmd160 \
        no-rc2 no-rc4 no-idea no-seed no-camellia no-aria no-bf no-cast no-des no-md4 no-mdc2 no-whirlpool no-sm2 \
        no-sm3 no-sm4 no-siphash no-gost no-quic no-ml-kem no-ml-dsa no-slh-dsa no-argon2 no-thread-pool
    # Code for AVX-512 takes 0.7 MiB.
    sed -i 's/^if (\(.avx512vaes\)/if (0 \&\& \1/' crypto/modes/asm/aes-gcm-avx512.pl crypto/aes/asm/aesni-xts-avx512.pl
    make -j"$jobs" build_generated
    # It has the command that compiles, with its directories.
    perl util/mkbuildinf.pl "$target" "$kind" >crypto/buildinf.h
    make -j"$jobs" libcrypto.a libssl.a
    cp libcrypto.a libssl.a "$out/lib"
    cp -R include/openssl "$out/include"
    pc_file openssl 3.5 "-lssl -lcrypto"
}

jansson() { with_configure jansson; }

pcre2() { CFLAGS=$small with_configure pcre2 --enable-jit --enable-unicode; }

# Of unit tests that run on another machine; no part of the program.
cmocka() {
    [ -n "$cross" ] || return 0
    unpack cmocka
    # It guesses what stdint.h has.
    sed -i '/^#if !defined(_UINTPTR_T)/s/.*/#include <stdint.h>\n#if 0/' include/cmocka.h
    compile libcmocka.a "-Iinclude -DHAVE_SIGNAL_H -DHAVE_STRINGS_H -DHAVE_INTTYPES_H -DHAVE_STRSIGNAL \
        -DHAVE_SIGLONGJMP -DHAVE_GCC_THREAD_LOCAL_STORAGE -DHAVE_STRUCT_TIMESPEC -DHAVE_CLOCK_REALTIME" src/cmocka.c
    cp libcmocka.a "$out/lib"
    cp include/cmocka*.h "$out/include"
    pc_file cmocka 1.1.5 -lcmocka
}

all() {
    for library in musl zlib uthash jansson utf8proc pcre2 ncurses readline libuv sqlite libei libelf libiberty \
        openssl cmocka; do
        [ -f "$out/build/.$library" ] || $library
        touch "$out/build/.$library"
        # musl's wrapper of the compiler makes all others.
        [ ! -x "$out/bin/musl-gcc" ] || CC=$out/bin/musl-gcc
    done
}

# shellcheck disable=SC2317
ended() {
    [ -f "$out/.complete" ] || {
        tail -n 20 "$out/log" | cut -c1-300
        echo "libraries.sh: $target is not complete; all that was printed is in $out/log"
    } >&2
}
trap ended EXIT

echo "libraries for $target, once:" >&2
exec 3>&2
all >"$out/log" 2>&1
rm -rf "$out/build"
touch "$out/.complete"
echo "$out"
