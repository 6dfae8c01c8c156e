#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Text files as a C table: embed.sh SYMBOL FILE... > out.c
# Makes `const struct embedded SYMBOL[]` (base/embed.h), ended by a NULL name. A file's name in the
# table is its last path component. A line of a file that is `-include("NAME").` becomes the text of
# NAME, a path from that file; NAME includes nothing itself. Lines of an Erlang file that are a
# comment alone stay behind.
set -eu
symbol=$1
shift
whole=$(mktemp)
trap 'rm -f "$whole"' EXIT

printf '/* Made by src/embed.sh. */\n#include "beamtop/base/embed.h"\n\n'
printf 'const struct embedded %s[] = {\n' "$symbol"
for file; do
    # getline tells 0 at the end of a file and less when there is none.
    awk -v dir="$(dirname "$file")" '
        FILENAME ~ /\.erl$/ && /^ *%/ { next }
        !/^-include\("[^"]+"\)\.$/ { print; next }
        {
            split($0, part, "\"")
            name = dir "/" part[2]
            while ((got = (getline line <name)) > 0) {
                if (line ~ /^-include/) {
                    print name ": includes another file" >"/dev/stderr"
                    exit 1
                }
                if (line !~ /^ *%/)
                    print line
            }
            if (got < 0) {
                print FILENAME ": no " name >"/dev/stderr"
                exit 1
            }
            close(name)
        }' "$file" >"$whole"
    printf '    {"%s", (const char[]){' "$(basename "$file")"
    od -An -v -tx1 "$whole" | sed 's/ \([0-9a-f][0-9a-f]\)/(char)0x\1,/g'
    printf '0}, %s},\n' "$(wc -c <"$whole" | tr -d ' ')"
done
printf '    {0, 0, 0},\n};\n'
