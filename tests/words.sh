#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Texts use plain words: none of the phrases below stands in documents, manual pages, help, the tables
# that the program prints of itself or comments of sources, and documents are 100 columns wide. TAP.
# shellcheck disable=SC2317
set -u
# shellcheck source=tests/tap.sh
. "$(dirname "$0")/tap.sh"
[ -x "$beamtop" ] || skip_all "beamtop is not built"
echo x | grep -qP x 2>/dev/null || skip_all "grep has no -P"
cd "$BEAMTOP_SRCDIR" || exit 1

# A phrase as an expression, a text that has it, and what to write. Blanks in an expression are
# spaces; @ parts the columns.
cat >"$work/phrases" <<'EOF'
\btold\b@the node is told@shown, reported, recorded
\btells\b@the view tells it@shows, reports, says
\bwhom\b@whom it concerns@who, or name the actor
\banew\b@read anew@again
\bdear\b@a dear question@expensive
\balone\b@this one alone@only
\bshall\b@it shall end@must, or the present tense
\bmeanwhile\b@counted meanwhile@in that time
(?<![Tt]here )\b(is|are) no (?!longer\b)[a-z]@what is no number@is not a
\bits likes\b@top and its likes@name them
\bat (first|last)\b@16 at first@first, in the end
\bin a second\b@calls in a second@per second
\bin the place of\b@in the place of a node@instead of
\bof its own\b@a session of its own@its own, separate
\bwithout a word\b@gone without a word@without an answer
\btaken off\b@flags are taken off@cleared, removed
EOF

documents() {
    ls README.md NEWS.md demo/README.md docs/*.md man/*.in etc/beamtop.conf
}

# Help of the program and of each command, and the tables that fill the manual.
printed() {
    "$beamtop" --help || return 1
    "$beamtop" generate words-commands >"$work/commands" || return 1
    while read -r command _; do
        "$beamtop" "$command" --help || return 1
    done <"$work/commands"
    sed -n 's/^@\(.*\)@$/\1/p' man/*.in | sort -u >"$work/tables"
    while read -r table; do
        "$beamtop" generate "$table" || return 1
    done <"$work/tables"
}

# find_phrases FILE…: FILE:LINE: TEXT of each line that has one, also where it goes on in the next.
# What stands between ` is a name.
find_phrases() {
    awk 'function out() { gsub(/`[^`]*`/, "``", line); print name ":" number ": " line }
        line != "" && FNR > 1 { line = line " " $1 " " $2 " " $3 }
        number { out() }
        { name = FILENAME; number = FNR; line = $0 }
        END { out() }' "$@" | grep -P "$expression"
}

# comments FILE…: a file beside $work/comments for each that has only its comments, line by line.
comments() {
    for file in "$@"; do
        mkdir -p "$work/comments/$(dirname "$file")"
        awk -v c="$(case $file in *.[ch]) echo 1 ;; *.erl) echo % ;; *) echo '#' ;; esac)" '
            c != 1 { print match($0, "(^|[ \t])" c "+ .*") ? substr($0, RSTART) : ""; next }
            {
                text = $0
                for (shown = ""; length(text); ) {
                    at = index(text, inside ? "*/" : "/*")
                    if (inside)
                        shown = shown " " (at ? substr(text, 1, at - 1) : text)
                    text = at ? substr(text, at + 2) : ""
                    inside = at ? !inside : inside
                }
                sub(/^ *\*+ /, "", shown)
                print shown
            }' "$file" | sed 's/^[ \t%#]*//' >"$work/comments/$file"
    done
}

expression=$(cut -d @ -f 1 "$work/phrases" | paste -s -d '|' -)

each_phrase_is_found() {
    while IFS=@ read -r phrase example _; do
        printf 'A line.\nHere %s stands.\n' "$example" >"$work/planted"
        printf 'Here %s\n%s stands.\n' "${example% *}" "${example##* }" >"$work/parted"
        for file in planted parted; do
            find_phrases "$work/$file" >"$work/found" || {
                echo "'$phrase' is not found in: $(cat "$work/$file")"
                return 1
            }
        done
    done <"$work/phrases"
    echo 'There is no such rule, and last a clear line.' >"$work/clear"
    ! find_phrases "$work/clear"
}

texts_have_none() {
    printed >"$work/printed" || return 1
    [ "$(wc -l <"$work/printed")" -gt 300 ] || {
        echo "help and tables have $(wc -l <"$work/printed") lines"
        return 1
    }
    # shellcheck disable=SC2046
    find_phrases $(documents) "$work/printed" >"$work/found" || return 0
    echo "$(wc -l <"$work/found") lines with a phrase that has a plainer word:"
    head -n 20 "$work/found" | cut -c 1-200
    echo "use instead:"
    cut -d @ -f 2- "$work/phrases" | tr @ '\t'
    return 1
}

a_comment_is_found() {
    mkdir -p "$work/src"
    while IFS=@ read -r phrase example _; do
        printf 'int x; /* Here %s stands. */\n' "$example" >"$work/src/one.c"
        printf '/*\n * Here %s\n * %s stands. */\n' "${example% *}" "${example##* }" >"$work/src/two.h"
        printf 'X = 1, %%%% Here %s stands.\n' "$example" >"$work/src/three.erl"
        printf '# Here %s\n# %s stands.\n' "${example% *}" "${example##* }" >"$work/src/four.sh"
        for file in one.c two.h three.erl four.sh; do
            (cd "$work/src" && comments "$file")
            find_phrases "$work/comments/$file" >"$work/found" || {
                echo "'$phrase' is not found in: $(cat "$work/src/$file")"
                return 1
            }
        done
    done <"$work/phrases"
    printf 'char *told = "it is told"; /* clear */ int tells;\n' >"$work/src/clear.c"
    (cd "$work/src" && comments clear.c)
    ! find_phrases "$work/comments/clear.c"
}

comments_have_none() {
    {
        find src include -name '*.[ch]' -o -name '*.erl'
        find tests -name '*.sh' ! -name words.sh
    } >"$work/sources"
    [ "$(wc -l <"$work/sources")" -gt 300 ] || return 1
    # shellcheck disable=SC2046
    comments $(cat "$work/sources")
    # shellcheck disable=SC2046
    (cd "$work/comments" && find_phrases $(find src include tests -type f | sort)) >"$work/found" ||
        return 0
    echo "$(wc -l <"$work/found") lines of comments with a phrase that has a plainer word:"
    head -n 20 "$work/found" | cut -c 1-200
    return 1
}

# Tables, pictures and what is typed as it stands cannot be folded.
documents_are_100_columns_wide() {
    # shellcheck disable=SC2046
    no_line '^(?! *\||    |!\[|\$ ).{101,}$' $(documents | grep -v '\.conf$')
}

for test in each_phrase_is_found texts_have_none a_comment_is_found comments_have_none \
    documents_are_100_columns_wide; do
    run "$test"
done
finish
