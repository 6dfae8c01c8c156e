#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Makes a shell's completion from the program's own tables: make.sh bash|zsh|fish PROGRAM
#
# Of the program: `generate words-commands` (name, help), `words-options` (name, letter, argument,
# help, commands that take it), `words-formats`, `words-columns`, `words-views`, `words-themes`
# (name, help); tabs between.
# The completion itself asks for `words-nodes`.
set -eu

shell=$1
program=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for table in commands options formats columns views themes; do
    "$program" generate "words-$table" >"$work/$table"
    [ -s "$work/$table" ] || {
        echo "make.sh: the program has no table 'words-$table'" >&2
        exit 1
    }
done

names() { cut -f1 "$work/$1" | tr '\n' ' ' | sed 's/ $//'; }

# words_of ARGUMENT: what an option's argument may be, or FILE, or nothing.
words_of() {
    case $1 in
    FILE) echo FILE ;;
    COLUMN | A,B,*) names columns ;;
    VIEW) names views ;;
    THEME) names themes ;;
    FORMAT) names formats ;;
    SYNTAX) echo auto erlang elixir ;;
    WHAT) echo stop shed ;; # above the rate
    CHECK) echo none ca full ;;
    WHO) echo all new running ;;
    esac
}

quoted() { printf '%s' "$1" | sed "s/'/'\\\\''/g"; }

bash_completion() {
    cat <<'EOF'
# bash completion for beamtop(1), made from the program's tables
_beamtop_nodes() {
    beamtop generate words-nodes 2>/dev/null
}

_beamtop() {
    local cur=${COMP_WORDS[COMP_CWORD]} prev= command=screen words= nodes= node=
    (( COMP_CWORD > 0 )) && prev=${COMP_WORDS[COMP_CWORD - 1]}
EOF
    printf "    local commands='%s'\n" "$(names commands)"
    cat <<'EOF'
    [[ " $commands " == *" ${COMP_WORDS[1]} "* && COMP_CWORD -gt 1 ]] && command=${COMP_WORDS[1]}
    COMPREPLY=()
    case $prev in
EOF
    while IFS='	' read -r name letter argument _; do
        [ "$argument" != - ] || continue
        [ "$letter" = - ] && flags=--$name || flags="--$name|-$letter"
        words=$(words_of "$argument")
        case $words in
        FILE) printf "    %s) mapfile -t COMPREPLY < <(compgen -f -- \"\$cur\"); return ;;\n" "$flags" ;;
        '') printf "    %s) return ;;\n" "$flags" ;;
        *) printf "    %s) words='%s' ;;\n" "$flags" "$words" ;;
        esac
    done <"$work/options"
    cat <<'EOF'
    esac
    if [[ -z $words && $cur == -* ]]; then
        case $command in
EOF
    for command in screen $(names commands); do
        printf "        %s) words='%s' ;;\n" "$command" "$(awk -F'\t' -v c="$command" '
            (" " $5) ~ (" " c " ") { printf "%s--%s", sep, $1; sep = " " }' "$work/options")"
    done
    cat <<'EOF'
        esac
    elif [[ -z $words && " report diff export " == *" $command "* ]]; then
        mapfile -t COMPREPLY < <(compgen -f -- "$cur")
        return
    elif [[ -z $words ]]; then
        nodes=yes
        [[ $COMP_CWORD -eq 1 ]] && words=$commands
    fi
    # To bash a word with an @ or a : is several: all is compared, the part after the last is given.
    local line=${COMP_LINE:0:COMP_POINT} word before= breaks=
    word=${line##*[[:space:]]}
    [[ $COMP_WORDBREAKS == *@* ]] && breaks+=@
    [[ $COMP_WORDBREAKS == *:* ]] && breaks+=:
    [[ -n $breaks ]] && before=${word%"${word##*[$breaks]}"}
    mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
    # compgen -W evaluates its words: names from outside are none of them.
    while [[ -n $nodes ]] && IFS= read -r node; do
        [[ $node == "$word"* ]] && COMPREPLY+=("$node")
    done < <(_beamtop_nodes)
    COMPREPLY=("${COMPREPLY[@]#"$before"}")
}
complete -F _beamtop beamtop
EOF
}

zsh_completion() {
    cat <<'EOF'
#compdef beamtop
# zsh completion for beamtop(1), made from the program's tables

_beamtop_nodes() {
    local -a nodes
    nodes=(${(f)"$(beamtop generate words-nodes 2>/dev/null)"})
    compadd -a nodes
}

_beamtop() {
    local -a commands options
    local command=screen
    commands=(
EOF
    while IFS='	' read -r name help; do
        printf "        '%s:%s'\n" "$name" "$(quoted "$help")"
    done <"$work/commands"
    cat <<'EOF'
    )
    (( CURRENT > 2 )) && [[ -n ${(M)commands:#${words[2]}:*} ]] && command=${words[2]}
    case $command in
EOF
    for command in screen $(names commands); do
        printf '    %s) options=(\n' "$command"
        while IFS='	' read -r name _ argument help takers; do
            case " $takers" in *" $command "*) ;; *) continue ;; esac
            help=$(quoted "$help" | sed 's/[][]/\\&/g; s/:/\\:/g')
            words=$(words_of "$argument")
            case $argument:$words in
            -:*) printf "        '--%s[%s]'\n" "$name" "$help" ;;
            *:FILE) printf "        '--%s[%s]:file:_files'\n" "$name" "$help" ;;
            *:) printf "        '--%s[%s]:value: '\n" "$name" "$help" ;;
            *) printf "        '--%s[%s]:value:(%s)'\n" "$name" "$help" "$words" ;;
            esac
        done <"$work/options"
        printf '        ) ;;\n'
    done
    cat <<'EOF'
    esac
    if (( CURRENT == 2 )); then
        _describe command commands
    fi
    case $command in
    report|diff|export) _arguments -S $options '*:recording:_files' ;;
    *) _arguments -S $options '*:node:_beamtop_nodes' ;;
    esac
}

_beamtop "$@"
EOF
}

fish_completion() {
    cat <<'EOF'
# fish completion for beamtop(1), made from the program's tables
function __beamtop_nodes
    beamtop generate words-nodes 2>/dev/null
end
complete -c beamtop -f -a '(__beamtop_nodes)' -d node
complete -c beamtop -n '__fish_seen_subcommand_from report diff export' -F
EOF
    while IFS='	' read -r name help; do
        printf "complete -c beamtop -n __fish_use_subcommand -a %s -d '%s'\n" "$name" "$(quoted "$help")"
    done <"$work/commands"
    while IFS='	' read -r name letter argument help takers; do
        seen=$(echo "$takers" | sed 's/screen //; s/ $//')
        case " $takers" in
        *" screen "*) condition= ;;
        *) condition=" -n '__fish_seen_subcommand_from $seen'" ;;
        esac
        [ "$letter" = - ] && short= || short=" -s $letter"
        words=$(words_of "$argument")
        case $argument:$words in
        -:*) value= ;;
        *:FILE) value=' -r -F' ;;
        *:) value=' -x' ;;
        *) value=" -x -a '$words'" ;;
        esac
        printf "complete -c beamtop%s -l %s%s%s -d '%s'\n" "$condition" "$name" "$short" "$value" \
            "$(quoted "$help")"
    done <"$work/options"
}

case $shell in
bash | zsh | fish) "${shell}_completion" ;;
*)
    sed -n '3s/^# //p' "$0" >&2
    exit 2
    ;;
esac
