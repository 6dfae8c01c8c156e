#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Completion offers the nodes that are there. An epmd lists what it likes: names that a shell would
# evaluate, or take for an option, are neither evaluated nor offered.
# shellcheck disable=SC1091,SC2016,SC2034,SC2154,SC2317
set -u
. "$(dirname "$0")/../tap.sh"

command -v erl >/dev/null || skip_all "no Erlang on this machine"
completion=$BEAMTOP_BUILDDIR/completion
mkdir "$work/bin" "$work/cwd" "$work/home"
ln -s "$beamtop" "$work/bin/beamtop"
PATH=$work/bin:$PATH
HOME=$work/home
export PATH HOME
unset XDG_CONFIG_HOME XDG_DATA_HOME

# What answers every question as epmd answers one for names.
cat >"$work/names" <<'EOF'
name good at port 1
name $(touch${IFS}oops) at port 2
name `touch oops` at port 3
name a;touch${IFS}oops at port 4
name --format at port 5
name 'quoted"\ at port 6
name ${HOME} at port 7
name good-2.x_y at port 8
name *(e:touch${IFS}oops:) at port 9
name go(touch${IFS}oops) at port 10
name &touch${IFS}oops at port 11
EOF
printf 'name esc\033[31m at port 12\nname tab\tbed at port 13\nname \302\233c1 at port 14\nname \377 at port 15\n' \
    >>"$work/names"

starts() {
    erl -noinput -eval '
        {ok, Names} = file:read_file("'"$work"'/names"),
        {ok, L} = gen_tcp:listen(0, [binary, {ip, {127,0,0,1}}, {active, false}, {reuseaddr, true}]),
        {ok, Port} = inet:port(L),
        ok = file:write_file("'"$work"'/port.new", integer_to_list(Port)),
        ok = file:rename("'"$work"'/port.new", "'"$work"'/port"),
        F = fun F() ->
            {ok, S} = gen_tcp:accept(L),
            gen_tcp:recv(S, 3, 5000),
            gen_tcp:send(S, [<<Port:32>>, Names]),
            gen_tcp:close(S),
            F()
        end,
        F().' >"$work/epmd" 2>&1 &
    epmd_pid=$!
    wait_until 60 test -s "$work/port" || { cat "$work/epmd"; return 1; }
    ERL_EPMD_PORT=$(cat "$work/port")
    export ERL_EPMD_PORT
}

stop_all() {
    [ -z "${epmd_pid:-}" ] || { kill "$epmd_pid"; wait "$epmd_pid" 2>/dev/null; }
    rm -rf "$work"
}

# Both good ones and beginnings of URLs, nothing else that is not a name, and no file made.
offers_names() {
    for name in 'good@' 'good-2.x_y@'; do
        grep -qF "$name" "$work/offered" || { echo "no $name in:"; cat "$work/offered"; return 1; }
    done
    ! grep -vE '^([A-Za-z0-9_.@-]+|(ssh|docker|podman|k8s)://)([[:space:]].*)?$' "$work/offered" && ! grep -q '^--' "$work/offered" || return 1
    [ -z "$(ls -A "$work/cwd")" ] || { ls "$work/cwd"; return 1; }
}

# On a busy machine what plays epmd may be later than beamtop waits for it.
lists_words() { one_of 10 words_are_listed; }
completes_in() { one_of 10 "$1_completes"; }

words_are_listed() {
    beamtop generate words-nodes >"$work/offered" && offers_names && grep -qx 'ssh://' "$work/offered" &&
        grep -qx 'docker://' "$work/offered" && grep -qx 'podman://' "$work/offered" && grep -qx 'k8s://' "$work/offered"
}

# As readline calls it: `beamtop info `, then `beamtop info go`.
bash_completes() {
    for word in '' go 'good@'; do
        (cd "$work/cwd" && bash --norc -c '
            . "$1"
            COMP_WORDS=(beamtop info "$2") COMP_CWORD=2 COMP_LINE="beamtop info $2" COMP_WORDBREAKS=" "
            COMP_POINT=${#COMP_LINE}
            _beamtop
            printf "%s\n" "${COMPREPLY[@]}"' bash "$completion/beamtop" "$word") >"$work/offered" 2>"$work/err"
        [ ! -s "$work/err" ] || { cat "$work/err"; return 1; }
        case $word in
        good@) [ "$(grep -c . "$work/offered")" -eq 1 ] || { cat "$work/offered"; return 1; } ;;
        *) offers_names || return 1 ;;
        esac
    done
    (cd "$work/cwd" && bash --norc -c '. "$1"; COMP_WORDS=(beamtop "") COMP_CWORD=1 COMP_LINE="beamtop " COMP_POINT=8
        _beamtop; printf "%s\n" "${COMPREPLY[@]}"' bash "$completion/beamtop") >"$work/offered" &&
        offers_names && grep -qx record "$work/offered"
}

zsh_completes() {
    (cd "$work/cwd" && zsh -f -c '
        compadd() { print -rl -- "${(@P)argv[-1]}"; }
        _arguments() { : ; }
        _describe() { : ; }
        CURRENT=2 words=(beamtop "")
        . "$1"
        _beamtop_nodes' zsh "$completion/_beamtop") >"$work/offered" 2>"$work/err"
    [ ! -s "$work/err" ] || { cat "$work/err"; return 1; }
    offers_names
}

fish_completes() {
    (cd "$work/cwd" && fish --no-config -c 'source $argv[1]; complete -C "beamtop info "' "$completion/beamtop.fish") \
        >"$work/offered" 2>"$work/err"
    [ ! -s "$work/err" ] || { cat "$work/err"; return 1; }
    offers_names
}

# Not those of another option.
options_take_their_values() {
    bash --norc -c '. "$1"; COMP_WORDS=(beamtop top --tls-verify "") COMP_CWORD=3; _beamtop; echo "${COMPREPLY[@]}"' \
        bash "$completion/beamtop" >"$work/out" 2>&1
    grep -qx 'none ca full' "$work/out" || { cat "$work/out"; return 1; }
}

# with SHELL: its test, where it is there.
with() {
    if command -v "$1" >/dev/null; then
        run completes_in "$1"
    else
        skip "completes_in_$1" "no $1 here"
    fi
}

trap stop_all EXIT
trap 'exit 130' HUP INT TERM PIPE
run starts
run lists_words
run options_take_their_values
with bash
with zsh
with fish
finish
