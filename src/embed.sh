#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Files as a C table: embed.sh SYMBOL FILE... > out.c
# Makes `const struct embedded SYMBOL[]` (base/embed.h), ended by a NULL name. A file's name in the
# table is its last path component.
set -eu
symbol=$1
shift

printf '/* Made by src/embed.sh. */\n#include "beamtop/base/embed.h"\n\n'
printf 'const struct embedded %s[] = {\n' "$symbol"
for file; do
    printf '    {"%s", (const char[]){' "$(basename "$file")"
    od -An -v -tx1 "$file" | sed 's/ \([0-9a-f][0-9a-f]\)/(char)0x\1,/g'
    printf '0}, %s},\n' "$(wc -c <"$file" | tr -d ' ')"
done
printf '    {0, 0, 0},\n};\n'
