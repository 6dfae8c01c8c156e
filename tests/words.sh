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

# lines FILE…: FILE:LINE: TEXT of each line.
lines() { awk '{ print FILENAME ":" FNR ": " $0 }' "$@"; }

# comments FILE…: the same of what each line has of comments.
comments() {
    awk '
        function put(text) { sub(/^[ \t%#]+/, "", text); print FILENAME ":" FNR ": " text }
        FNR == 1 { inside = 0; sign = FILENAME ~ /\.erl$/ ? "%" : "#" }
        FILENAME !~ /\.[ch]$/ { put(match($0, "(^|[ \t])" sign "+ .*") ? substr($0, RSTART) : ""); next }
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
            put(shown)
        }' "$@"
}

# find_phrases: of lines as above those that have one, also where it goes on in the next line. What
# stands between ` is a name.
find_phrases() {
    awk 'function out() { gsub(/`[^`]*`/, "``", line); print where " " line }
        { name = $1; sub(/:.*/, "", name) }
        where { if (line != "" && name == last) line = line " " $2 " " $3 " " $4; out() }
        { last = name; where = $1; line = substr($0, length($1) + 2) }
        END { out() }' | grep -P "$expression"
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

# plant PHRASES WHOLE PARTED: each example in both forms of printf, which mark it by its number.
plant() {
    n=0
    while IFS=@ read -r _ example _; do
        n=$((n + 1))
        # shellcheck disable=SC2059
        printf "$2$3" "$example" "$n" "${example% *}" "${example##* }" "$n"
    done <"$1"
}

# all_found PHRASES LETTER…: what is read has the mark of each example in each of the forms.
all_found() {
    sed -n 's/.* stands \([0-9]*[a-z]\)\..*/\1/p' | sort -u >"$work/marks"
    n=$(wc -l <"$1")
    shift
    for letter; do
        seq -f "%g$letter" "$n"
    done | sort | comm -23 - "$work/marks" >"$work/missing"
    [ ! -s "$work/missing" ] || {
        echo "not found: $(paste -s -d ' ' "$work/missing")"
        return 1
    }
}

each_phrase_is_found() {
    plant "$work/phrases" 'A line.\nHere %s stands %da.\n\n' 'Here %s\n%s stands %db.\n\n' >"$work/planted"
    lines "$work/planted" | find_phrases | all_found "$work/phrases" a b || return 1
    echo 'There is no such rule, and last a clear line.' >"$work/clear"
    ! lines "$work/clear" | find_phrases
}

# none_in WHERE: of lines as above.
none_in() {
    find_phrases >"$work/found" || return 0
    echo "$(wc -l <"$work/found") lines of $1 with a phrase that has a plainer word:"
    head -n 20 "$work/found" | cut -c 1-200
    echo "use instead:"
    cut -d @ -f 2- "$work/phrases" | tr @ '\t'
    return 1
}

texts_have_none() {
    printed >"$work/printed" || return 1
    [ "$(wc -l <"$work/printed")" -gt 300 ] || {
        echo "help and tables have $(wc -l <"$work/printed") lines"
        return 1
    }
    # shellcheck disable=SC2046
    lines $(documents) "$work/printed" | none_in texts
}

a_comment_is_found() {
    p=$work/phrases
    plant "$p" 'int x; /* Here %s stands %da. */\n' '/*\n * Here %s\n * %s stands %db. */\n' >"$work/a.c"
    plant "$p" 'X = 1, %%%% Here %s stands %dc.\n\n' '%%%% Here %s\n%%%% %s stands %dd.\n\n' >"$work/a.erl"
    plant "$p" 'x=1 # Here %s stands %de.\n\n' '# Here %s\n# %s stands %df.\n\n' >"$work/a.sh"
    comments "$work/a.c" "$work/a.erl" "$work/a.sh" | find_phrases | all_found "$p" a b c d e f || return 1
    printf 'char *told = "it is told"; /* clear */ int tells;\n' >"$work/clear.c"
    ! comments "$work/clear.c" | find_phrases
}

comments_have_none() {
    find src include tests -name '*.sh' ! -name words.sh -path 'tests/*' -o -name '*.erl' ! -path 'tests/*' \
        -o -name '*.[ch]' ! -path 'tests/*' | sort >"$work/sources"
    [ "$(wc -l <"$work/sources")" -gt 300 ] || return 1
    # shellcheck disable=SC2046
    comments $(cat "$work/sources") | none_in comments
}

a_string_is_found() {
    cat "$work/phrases" "$work/replaced" >"$work/both"
    plant "$work/both" '    f(a, "Here %s stands %da.", b);\n' \
        '    f("x", "Here %s "\n      "%s stands %db.");\n' >"$work/planted.c"
    strings "$work/planted.c" | grep -P "$expression|$replaced" | all_found "$work/both" a b || return 1
    printf '/* "it is told" */\nf("dear"); /* told */\nf("the ", target, "target is");\n' >"$work/clear.c"
    ! strings "$work/clear.c" | grep -P "$expression|$replaced"
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
