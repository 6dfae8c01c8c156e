#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# The rules of the layers and rooms, asked of the compiler: what each source includes, directly or
# through another header (-MM). A layer uses itself and those below it; a private header (src/) is
# only for its own layer, a public one (include/) for others too; no circle of rooms; a room holds
# at most 30 sources. TAP.
cd "${BEAMTOP_SRCDIR:-.}" || exit 1

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM

# Everything a layer may use, itself first.
rules() {
    cat <<'END'
base base
etf etf base
link link etf base
local local base
query query link etf base
model model etf base
trace trace query model link etf base
output output trace model etf base
recording recording output trace model etf base
report report recording output trace model etf base
ui ui trace model etf base
app app ui report recording output trace query model local link etf base
END
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

# "SOURCE HEADER" for each header of ours that a source reaches. A header that the build makes, or
# of a library that is not installed, is not a header of ours.
reached() { # directory of include and src, sources…
    top=$1
    shift
    for source in "$@"; do
        (cd "$top" && ${CC:-cc} -MM -MG -D_GNU_SOURCE -Iinclude -Isrc "$source") |
            sed 's/^[^:]*://; s/\\$//' | tr -s ' ' '\n' | grep -E '^(include/beamtop|src)/.*\.h$' |
            sed "s|^|$source |; s|[^/ ]*/\.\./||g"
    done
}

# What in "SOURCE HEADER" lines breaks the table.
beyond() {
    awk '
        NR == FNR { for (i = 2; i <= NF; i++) may[$1 " " $i] = 1; next }
        {
            split($1, from, "/")
            split($2, to, "/")
            a = from[2]
            b = to[1] == "src" ? to[2] : to[3]
            if (!((a " " b) in may) || (to[1] == "src" && a != b))
                print $1 ": uses " $2
        }' "$work/rules" -
}

rules >"$work/rules"
find src -name '*.c' | sort >"$work/sources"
# shellcheck disable=SC2046
reached . $(cat "$work/sources") >"$work/reached"
beyond <"$work/reached" >"$work/beyond"

unknown=$(find include/beamtop src -mindepth 2 -name '*.[ch]' | sed 's|^include/||; s|^[^/]*/||; s|/.*||' | sort -u |
    while read -r layer; do grep -q "^$layer " "$work/rules" || echo "$layer"; done)
report "every folder is a layer of the table" "$unknown"
while read -r layer allowed; do
    report "$layer uses $allowed" "$(grep "^src/$layer/" "$work/beyond")"
done <"$work/rules"

# Of "SOURCE HEADER" lines, the public headers of a list that no source of another layer reaches.
own_only() { # list of headers
    awk '
        NR == FNR { own[$1]; next }
        {
            split($1, from, "/")
            split($2, to, "/")
            if (from[2] != to[3])
                delete own[$2]
        }
        END { for (header in own) print header }' "$1" - | sort
}
find include -name '*.h' >"$work/headers"
report "another layer than its own uses each public header" "$(own_only "$work/headers" <"$work/reached")"

# A violation that is planted behind a harmless header is found.
mkdir -p "$work/tree/src/ui" "$work/tree/include/beamtop"
cp -r include/beamtop/. "$work/tree/include/beamtop"
echo '#include "beamtop/trace/session.h"' >"$work/tree/include/beamtop/ui/harmless.h"
echo '#include "beamtop/ui/harmless.h"' >"$work/tree/src/ui/planted.c"
found=$(reached "$work/tree" src/ui/planted.c | beyond | grep -c 'planted.c: uses include/beamtop/query/')
report "a planted violation is found" "$([ "$found" -gt 0 ] || echo 'src/ui/planted.c was not found')"
echo include/beamtop/ui/harmless.h >"$work/planted"
found=$(reached "$work/tree" src/ui/planted.c | own_only "$work/planted" | grep -c harmless)
report "a public header of one layer is found" "$([ "$found" -gt 0 ] || echo 'harmless.h was not found')"

# "FILE HEADER", both as paths, for each header of ours that a file of these folders names.
included() {
    find "$@" -name '*.[ch]' -exec grep -HE '^ *# *include *("|<beamtop/)' {} + |
        sed 's/: *# *include *["<]/ /; s/[">].*//' | awk '
        $2 ~ /^beamtop\// { print $1, "include/" $2; next }
        $2 ~ /^[^.].*\// { print $1, "src/" $2; next }
        { folder = $1; sub(/[^\/]*$/, "", folder); path = folder $2
          while (sub(/[^\/]*\/\.\.\//, "", path)) { }
          print $1, path }'
}

# ---- rooms: a room is a folder of sources; a public header belongs to the room of its .c
room_edges() (
    cd "$1" || exit
    find src -name '*.[ch]' | sort | awk '
        { path[$0] = 1; file = $0; sub(/.*\//, "", file); sub(/\/[^\/]*$/, "", $0)
          split($0, part, "/"); stem = file; sub(/\.[ch]$/, "", stem); home[part[2] "/" stem] = $0 }
        END { for (k in home) print k, home[k] }' >"$work/homes"
    included include src | awk -v homes="$work/homes" '
        BEGIN { while ((getline line < homes) > 0) { split(line, w, " "); home[w[1]] = w[2]
                split(w[2], part, "/"); if (part[3] == "") single[part[2]] } }
        function room(file,   p, n, stem) {
            n = split(file, p, "/")
            if (p[1] == "src") { sub(/\/[^\/]*$/, "", file); return file }
            stem = p[n]; sub(/\.h$/, "", stem)
            if ((p[3] "/" stem) in home) return home[p[3] "/" stem]
            return (p[3] in single) ? "src/" p[3] : "include/" p[3] "/" stem
        }
        { a = room($1); b = room($2); if (a != b) print a, b }' | sort -u
)
room_circles() { room_edges "$1" | tsort 2>&1 >"$work/sorted" | sed 's/^tsort: //'; }
report "no circle of rooms" "$(room_circles .)"

# A source and its header are one file here: a line with each circle's files, in alphabetical order.
app_circles() (
    cd "$1" || exit
    included src/app | grep ' src/app/' | awk '
        function stem(path) { sub(/\.[ch]$/, "", path); return path }
        {
            a = stem($1); b = stem($2)
            if (a != b) { reach[a, b] = 1; node[a] = node[b] = 1 }
        }
        END {
            for (k in node) for (i in node) if ((i, k) in reach)
                for (j in node) if ((k, j) in reach) reach[i, j] = 1
            for (i in node) for (j in node) if ((i, j) in reach && (j, i) in reach)
                print i, j
        }' | sort | awk '{ files[$1] = files[$1] " " $2 } END { for (f in files) print files[f] }' |
        sort -u
)
large_circles() { app_circles "$1" | awk 'NF > 3'; }
report "no circle in app has more than 3 files" "$(large_circles .)"

mkdir "$work/planted_tree"
cp -r include src "$work/planted_tree"
echo '#include "../widgets/table.h"' >>"$work/planted_tree/src/ui/canvas/canvas.c"
echo '#include <beamtop/ui/screen.h>' >>"$work/planted_tree/src/ui/widgets/table.c"
for pair in a:b b:c c:d d:a; do
    echo "#include \"planted_${pair#*:}.h\"" >"$work/planted_tree/src/app/tui/planted_${pair%:*}.h"
done
report "planted circles are found" "$(for room in ui/canvas ui/screen; do
    room_circles "$work/planted_tree" | grep -q "^src/$room\$" || echo "none with $room"
done
large_circles "$work/planted_tree" | grep -q planted_a || echo "none in app")"
report "no room has more than 30 sources" \
    "$(find src -name '*.[ch]' | sed 's|/[^/]*$||' | sort | uniq -c | awk '$1 > 30')"

views=$(sed -n 's/^const struct view_ops view_\([a-z_]*\) = {.*/\1/p' src/ui/views/view_*.c | paste -sd '|' -)
report "screen*.c name no view" "$({
    [ -n "$views" ] || echo "no view in src/ui/views"
    grep -nE "\"(ui/views/)?views?(_[a-z]+)?\.h\"|\bview_($views)\b" src/ui/screen/*.[ch]
    grep -nE "(strcmp\(.*|view_find\(|ACTION_VIEW, |arg = )\"($views)\"" src/ui/screen/*.[ch]
})"
report "ei.h is included by etf/build.c and link/ only" \
    "$(grep -rn '^ *# *include *<ei' include src | grep -Ev '^src/(etf/build\.c|link/)')"
report "attributes stand in base/attr.h" \
    "$(grep -rn '__attribute__' include src --include='*.[ch]' | grep -v '^include/beamtop/base/attr.h:')"
report "every header has its guard" "$(find include src -name '*.h' | while read -r header; do
    guard=$(sed -n 's/^#ifndef \(BEAMTOP_[A-Z0-9_]*_H\)$/\1/p' "$header" | head -n 1)
    [ -n "$guard" ] && grep -q "^#define $guard\$" "$header" || echo "$header"
done)"
echo "1..$n"
