#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Fills a document with tables of the program: fill.sh PROGRAM FILE
# A line @what@ becomes the output of `PROGRAM generate what`; an empty table is an error.
set -eu

program=$1
table=$(mktemp)
trap 'rm -f "$table"' EXIT

while IFS= read -r line; do
    case $line in
    @*@)
        what=${line#@}
        what=${what%@}
        "$program" generate "$what" >"$table"
        [ -s "$table" ] || {
            echo "fill.sh: the program has no table '$what'" >&2
            exit 1
        }
        cat "$table"
        ;;
    *) printf '%s\n' "$line" ;;
    esac
done <"$2"
