#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Texts use plain words: none of the phrases below stands in documents, manual pages, help, the tables
# that the program prints of itself, strings or comments of sources, and documents are 100 columns
# wide. Texts that were replaced do not come back into strings or screens. TAP.
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
\bin a second\b(?! window)@calls in a second@per second
\bin the place of\b@in the place of a node@instead of
\bof its own\b@a session of its own@its own, separate
\bwithout a word\b@gone without a word@without an answer
\btaken off\b@flags are taken off@cleared, removed
EOF

# The same of strings and screens only: texts that have another wording now.
cat >"$work/replaced" <<'EOF'
\btarget clean\b@target clean: 0 flags@verified after 3 ms: nothing left on the node
\bleft armed\b@nothing is left armed@nothing left on the node
(?<!costs )\bthe target\b@what the target sent@the node
\bour (cookie|keeper|names?)\b@takes our cookie@the cookie, helper process or name of beamtop
\bput us out\b@it stopped or put us out@disconnected beamtop
\bclosed by us\b@it was closed by us@beamtop closed
\bwhat listens at\b@what listens at a port@the service at
\bcannot be sought\b@it cannot be sought in@works only in a recording
\bwas counted yet\b@Nothing was counted yet@No calls counted yet
\b[Nn]othing is armed\b@Nothing is armed here@No active tracing
\bwhat is armed\b@shows what is armed@active tracing
\b(Armed by others|also there):@and also there: a session@set by others:
\bto look at each\b@to look at each costs@checking them
\bmoment of the look\b@at the moment of the look@the tick
\blook twice\b@to look twice@measure twice
\bseen for\b@seen for 3 s@observed for
\bmailbox grows\b@its mailbox grows@message queue grows
\bnot live\b@it is not live@stale
\b[Gg]o on\?@do you Go on?@… anyway?
\ball the same\?@trace all the same?@… anyway?
\b(bad|this|that) expression\b@a bad expression@invalid regex
\blink was lost\b@the link was lost@the connection was lost
\bbad input\b@usage or bad input@invalid input
\bstand behind\b@options stand behind@follow
\bfinding:(act|look)\b@on finding:act it fails@finding:fix, finding:check
\b(places kept|never given back|in the one queue)\b@it has places kept@order frozen, never freed, shared run queue
\b([Nn]ot judged|how sure|wrong, if)\b@Not judged here@not evaluated, confidence, ruled out if
\b(It would be wrong if|Not known, for)\b@It would be wrong if one@ruled out if, not evaluated
\bserialises its callers\b@it serialises its callers@is a bottleneck
\b(Ctrl-C|C-c) ends it\b@Ctrl-C ends it@Ctrl-C stops it
\bdirty (cpu|io)\b@dirty cpu 0.0%@dirty CPU, dirty I/O
\buntil it lets go\b@missing until it lets go@until it is released
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

# strings FILE…: FILE:LINE: TEXT of each string of C that has blanks, its parts joined.
strings() {
    awk 'function out() {
            if (text ~ / /)
                print name ":" number ": " text
            text = ""
        }
        FNR == 1 || !/^[ \t]*(PRI[a-zX0-9]+ )?"/ { out() }
        /^[ \t]*(\/?\*|#include)/ { next }
        {
            rest = $0
            gsub(/\\"/, "'"'"'", rest)
            while (match(rest, /"[^"]*"/)) {
                if (substr(rest, 1, RSTART - 1) !~ /^[ \t]*(PRI[a-zX0-9]+ )?$/)
                    out()
                if (text == "") {
                    name = FILENAME
                    number = FNR
                }
                text = text substr(rest, RSTART + 1, RLENGTH - 2)
                rest = substr(rest, RSTART + RLENGTH)
            }
            if (rest !~ /^( PRI[a-zX0-9]+)?[ \t]*\\?$/)
                out()
        }
        END { out() }' "$@"
}

expression=$(cut -d @ -f 1 "$work/phrases" | paste -s -d '|' -)
replaced=$(cut -d @ -f 1 "$work/replaced" | paste -s -d '|' -)

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

a_string_is_found() {
    cat "$work/phrases" "$work/replaced" >"$work/both"
    while IFS=@ read -r phrase example _; do
        {
            printf '    f(a, "Here %s stands.", b);\n' "$example"
            printf '    f("x", "Here %s "\n      "%s stands.");\n' "${example% *}" "${example##* }"
        } >"$work/planted.c"
        strings "$work/planted.c" >"$work/strings"
        [ "$(grep -cP "$expression|$replaced" "$work/strings")" -eq 2 ] || {
            echo "'$phrase' is not found in: $(cat "$work/planted.c")"
            return 1
        }
    done <"$work/both"
    printf '/* "it is told" */\nf("dear"); /* told */\nf("the ", target, "target is");\n' >"$work/clear.c"
    strings "$work/clear.c" >"$work/strings"
    ! grep -P "$expression|$replaced" "$work/strings"
}

strings_have_none() {
    # shellcheck disable=SC2046
    strings $(find src include -name '*.[ch]' | sort) >"$work/strings"
    [ "$(wc -l <"$work/strings")" -gt 2000 ] || {
        echo "only $(wc -l <"$work/strings") strings"
        return 1
    }
    no_line "$expression|$replaced" "$work/strings"
}

screens_have_none() {
    no_line "$replaced" tests/screen/golden/*.txt
}

# Tables, pictures and what is typed as it stands cannot be folded.
documents_are_100_columns_wide() {
    # shellcheck disable=SC2046
    no_line '^(?! *\||    |!\[|\$ ).{101,}$' $(documents | grep -v '\.conf$')
}

for test in each_phrase_is_found texts_have_none a_comment_is_found comments_have_none \
    a_string_is_found strings_have_none screens_have_none documents_are_100_columns_wide; do
    run "$test"
done
finish
