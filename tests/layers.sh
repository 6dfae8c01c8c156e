#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# The rules of the layers and rooms, by what each source includes, directly or through another header. A
# layer uses itself and those below it; a private header (src/) is only for its own layer, a public one
# (include/) for others too; no circle of rooms; a room holds at most 30 sources. TAP.
cd "${BEAMTOP_SRCDIR:-.}" || exit 1

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM

# Everything a layer may use, itself first.
cat >"$work/rules" <<'END'
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

n=0
report() { # name, offending lines
    n=$((n + 1))
    [ -z "$2" ] || {
        echo "$2" | sed 's/^/# /'
        printf 'not '
    }
    echo "ok $n - $1"
}

# "FILE HEADER", both as paths, for each header of ours that a file names. No condition is looked at:
# what is included with a library only counts without it, too.
included() {
    find include src -name '*.[ch]' -exec grep -HE '^ *# *include *("|<beamtop/)' {} + |
        sed 's/: *# *include *["<]/ /; s/[">].*//' | awk '
        $2 ~ /^beamtop\// { print $1, "include/" $2; next }
        $2 ~ /^[^.].*\// { print $1, "src/" $2; next }
        { folder = $1; sub(/[^\/]*$/, "", folder); path = folder $2
          while (sub(/[^\/]*\/\.\.\//, "", path)) { }
          print $1, path }'
}

# "SOURCE HEADER" for each header that a source reaches.
reached() {
    awk '
        { to[$1, ++n[$1]] = $2 }
        function follow(file,   i) {
            for (i = 1; i <= n[file]; i++)
                if (seen[to[file, i]] != source) {
                    seen[to[file, i]] = source
                    print source, to[file, i]
                    follow(to[file, i])
                }
        }
        END { for (file in n) if (file ~ /\.c$/) { source = file; follow(file) } }'
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

# A room is a folder of sources; a public header belongs to the room of its .c.
room_circles() {
    find src -name '*.[ch]' | awk '
        NR == FNR {
            file = $0; sub(/.*\//, "", file); sub(/\.[ch]$/, "", file); split($0, part, "/")
            folder = $0; sub(/\/[^\/]*$/, "", folder); home[part[2] "/" file] = folder
            if (folder == "src/" part[2]) single[part[2]]
            next
        }
        function room(file,   p, n, stem) {
            n = split(file, p, "/")
            if (p[1] == "src") { sub(/\/[^\/]*$/, "", file); return file }
            stem = p[n]; sub(/\.h$/, "", stem)
            if ((p[3] "/" stem) in home) return home[p[3] "/" stem]
            return (p[3] in single) ? "src/" p[3] : "include/" p[3] "/" stem
        }
        { a = room($1); b = room($2); if (a != b) print a, b }' - "$1" | sort -u |
        tsort 2>&1 >"$work/sorted" | sed 's/^tsort: //'
}

# A source and its header are one file here: a line with each circle's files.
large_circles() {
    grep '^src/app/.* src/app/' "$1" | awk '
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
        sort -u | awk 'NF > 3'
}

included >"$work/edges"
reached <"$work/edges" >"$work/reached"
beyond <"$work/reached" >"$work/beyond"
find include -name '*.h' >"$work/headers"

# What is planted comes to it: behind a harmless header, in two rooms, and in a circle of four.
mkdir -p "$work/tree/include/beamtop/ui" "$work/tree/src/ui/canvas" "$work/tree/src/ui/widgets" \
    "$work/tree/src/app/tui"
(
    cd "$work/tree" || exit
    echo '#include "beamtop/trace/session.h"' >include/beamtop/ui/harmless.h
    echo '#include "beamtop/ui/harmless.h"' >src/ui/planted.c
    echo '#include "../widgets/table.h"' >src/ui/canvas/planted.c
    echo '#include <beamtop/ui/screen.h>' >src/ui/widgets/planted.c
    for pair in a:b b:c c:d d:a; do
        echo "#include \"planted_${pair#*:}.h\"" >"src/app/tui/planted_${pair%:*}.h"
    done
    included
) | cat "$work/edges" - >"$work/with_planted"

report "every folder is a layer of the table" \
    "$(find include/beamtop src -mindepth 2 -name '*.[ch]' |
        awk 'NR == FNR { layer[$1]; next }
            { split($0, p, "/"); name = p[1] == "src" ? p[2] : p[3]; if (!(name in layer)) print name }' \
            "$work/rules" - | sort -u)"
while read -r layer allowed; do
    report "$layer uses $allowed" "$(grep "^src/$layer/" "$work/beyond")"
done <"$work/rules"
report "another layer than its own uses each public header" "$(own_only "$work/headers" <"$work/reached")"
report "a planted violation is found" "$(reached <"$work/with_planted" | beyond |
    grep -q 'planted.c: uses include/beamtop/query/' || echo 'src/ui/planted.c was not found')"
echo include/beamtop/ui/harmless.h >"$work/planted"
report "a public header of one layer is found" "$(reached <"$work/with_planted" | own_only "$work/planted" |
    grep -q harmless || echo 'harmless.h was not found')"
report "no circle of rooms" "$(room_circles "$work/edges")"
report "no circle in app has more than 3 files" "$(large_circles "$work/edges")"
report "planted circles are found" "$(for room in ui/canvas ui/screen; do
    room_circles "$work/with_planted" | grep -q "^src/$room\$" || echo "none with $room"
done
large_circles "$work/with_planted" | grep -q planted_a || echo "none in app")"
report "no room has more than 30 sources" \
    "$(find src -name '*.[ch]' | sed 's|/[^/]*$||' | sort | uniq -c | awk '$1 > 30')"

# A backtrace must be readable: a static function's name is in few files, one of a single word in one.
shared_names() { # rooms
    grep -rHoE --include='*.[ch]' '^static [^=;(]*[ *][a-z][a-z0-9_]*\(' "$@" |
        sed -E 's/:.*[ *]([a-z0-9_]+)\($/ \1/' | sort -u | awk '
        { n[$2]++; files[$2] = files[$2] " " $1 }
        END { for (name in n) if (n[name] > (name ~ /_/ ? 3 : 1)) print name ":" files[name] }'
}
report "static functions have a name of their file" "$(shared_names src/app/cli src/app/job src/app/sample \
    src/app/source src/base src/etf src/link src/local src/model src/output src/query src/report \
    src/trace/assist src/trace/calls src/trace/language src/trace/log src/trace/matchspec src/ui/canvas \
    src/ui/config src/ui/files src/ui/process src/ui/prompt src/ui/screen src/ui/terminal src/ui/traces \
    src/ui/views src/ui/widgets)"

views=$(sed -n 's/^const struct view_ops view_\([a-z_]*\) = {.*/\1/p' src/ui/views/view_*.c \
    src/ui/process/view_process.c | paste -sd '|' -)
report "screen*.c name no view" "$({
    [ -n "$views" ] || echo "no view in src/ui/views"
    grep -nE "\"(ui/views/)?views?(_[a-z]+)?\.h\"|\bview_($views)\b" src/ui/screen/*.[ch]
    grep -nE "(strcmp\(.*|view_find\(|ACTION_VIEW, |arg = )\"($views)\"" src/ui/screen/*.[ch]
})"
report "ei.h is included by etf/build.c and link/ only" \
    "$(grep -rn '^ *# *include *<ei' include src | grep -Ev '^src/(etf/build\.c|link/)')"
report "attributes stand in base/attr.h" \
    "$(grep -rn '__attribute__' include src --include='*.[ch]' | grep -v '^include/beamtop/base/attr.h:')"
report "every header has its guard" "$(find include src -name '*.h' -exec awk '
    function end() { if (file && !has) print file; file = FILENAME; guard = ""; has = 0 }
    FNR == 1 { end() }
    !guard && /^#ifndef BEAMTOP_[A-Z0-9_]*_H$/ { guard = $2 }
    guard && $0 == "#define " guard { has = 1 }
    END { end() }' {} +)"
echo "1..$n"
