#!/bin/sh
# The rules of the layers, over every #include: a file includes headers of its own layer and of
# those below it, private headers only of its own; attributes stand in base/attr.h alone. TAP.
cd "${BEAMTOP_SRCDIR:-.}" || exit 1

# Everything a layer may include, itself first.
may_use() {
    case $1 in
    base) echo base ;;
    etf) echo etf base ;;
    dist) echo dist etf base ;;
    query) echo query dist etf base ;;
    model) echo model etf base ;;
    trace) echo trace query model dist etf base ;;
    store) echo store trace model etf base ;;
    ui) echo ui trace model etf base ;;
    app) echo app ui store trace query model dist etf base ;;
    esac
}

n=0
report() { # name, offending lines
    n=$((n + 1))
    if [ -z "$2" ]; then
        echo "ok $n - $1"
    else
        echo "$2" | sed 's/^/# /'
        echo "not ok $n - $1"
    fi
}

# file:line:#include "…" of one layer's headers and sources
includes() {
    find "include/beamtop/$1" "src/$1" -name '*.[ch]' -exec grep -Hn '^ *# *include *"' {} + 2>/dev/null
}

layers=$(find include/beamtop src -mindepth 1 -maxdepth 1 -type d -exec basename {} \; | sort -u)

for layer in $layers; do
    allowed=$(may_use "$layer")
    if [ -z "$allowed" ]; then
        report "$layer is a layer" "no layer of the name $layer: see the table in tests/layers.sh"
        continue
    fi
    words=$(echo "$allowed" | tr ' ' '|')
    report "$layer uses $allowed" "$(includes "$layer" |
        grep -Ev "\"(beamtop/($words)/|$layer/|[A-Za-z0-9_.-]+\")")"
done

report "ei.h is included by etf/build.c and dist/ only" \
    "$(grep -rn '^ *# *include *<ei' include src | grep -Ev '^src/(etf/build\.c|dist/)')"
report "attributes stand in base/attr.h" \
    "$(grep -rn '__attribute__' include src --include='*.[ch]' | grep -v '^include/beamtop/base/attr.h:')"
report "every header has its guard" "$(find include src -name '*.h' | while read -r header; do
    guard=$(sed -n 's/^#ifndef \(BEAMTOP_[A-Z0-9_]*_H\)$/\1/p' "$header" | head -n 1)
    [ -n "$guard" ] && grep -q "^#define $guard\$" "$header" || echo "$header"
done)"
echo "1..$n"
