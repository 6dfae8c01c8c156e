#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Nodes in containers and pods, named by URLs: through stand-ins for docker and kubectl. Each of their
# failures has its words, kubectl forwards a port where it may not run a command, and nothing is left on
# the node, nor here.
# shellcheck disable=SC1091,SC2034,SC2154,SC2317
set -u
. "$(dirname "$0")/../tap.sh"

load=fleet_load
. "$(dirname "$0")/releases.sh"
. "$(dirname "$0")/way_left.sh"
. "$(dirname "$0")/pods.sh"

# Only one node is there, so its name may be left out.
reaches_it() {
    command -v bash >/dev/null || { not_tried "no bash here to carry streams"; return 0; }
    prints_its_name "docker://shop/$(name_of)" 'by .docker exec. in shop' && prints_its_name docker://shop 'is not one of this host' &&
        prints_its_name k8s://shop/web && prints_its_name "k8s://shop/web/app/$(name_of)@" &&
        prints_its_name "k8s://a%2Fb/shop/web/" && leaves_nothing_here
}

forwards_a_port() { prints_its_name k8s://shop/guarded && prints_its_name k8s://shop/bare && leaves_nothing_here; }

each_failure_has_its_words() {
    fails_with 3 'no such container' docker://nosuch/x &&
        fails_with 3 'does not run' docker://stopped/x &&
        fails_with 3 'paused' docker://paused/x &&
        fails_with 3 'several containers' docker://0/x &&
        fails_with 3 'something other than an id' docker://odd/x &&
        fails_with 3 'something other than an id' docker://loud &&
        fails_with 3 'no shell to carry a stream' docker://bare/x &&
        fails_with 3 'nothing listens at that port there' "docker://shop/$(name_of)" --port 1 &&
        fails_with 3 'no epmd at port 1 there' docker://shop --epmd-port 1
}

# What the engine's program has started ends with it.
gives_up_on_an_engine() {
    XDG_RUNTIME_DIR=$work/run "$beamtop" info docker://hanging --timeout 2 >"$work/out" 2>"$work/err" </dev/null
    ends_with 3 $? && told 'docker did not answer in 2 s' && leaves_nothing_here
}

pods_fail_in_words() {
    fails_with 3 'no such pod or namespace' k8s://shop/gone &&
        fails_with 3 'no such pod or namespace' k8s://nosuch/web &&
        fails_with 3 'no such container' k8s://shop/web/nosuch &&
        fails_with 3 'no such context' k8s://nosuch/shop/web/ &&
        fails_with 3 'run commands in pods there .pods/exec.; kubectl port-forward' k8s://shop/closed &&
        told 'forward ports there .pods/portforward.' &&
        fails_with 3 'the container does not run' k8s://shop/crashing &&
        fails_with 3 'the container does not run' k8s://shop/initing &&
        fails_with 3 'the pod has ended' k8s://shop/evicted &&
        fails_with 3 'it was deleted, or starts' k8s://shop/deleted &&
        fails_with 3 'log in again' k8s://shop/expired &&
        fails_with 2 'invalid pod' 'k8s://shop/--kubeconfig=x' &&
        fails_with 2 'invalid container' 'docker://-x/y' &&
        fails_with 2 'a node is reached by' 'http://shop/y' && leaves_nothing_here
}

# What is said there costs no more than it may, and chooses no cookie.
bears_a_hostile_pod() {
    fails_with 3 'epmd there knows no node' k8s://shop/liar &&
        fails_with 3 'ended after 16 MiB of errors' k8s://shop/noisy/x@ || return 1
    XDG_RUNTIME_DIR=$work/run "$beamtop" info k8s://shop/mute --timeout 1 </dev/null >"$work/out" 2>"$work/err"
    ends_with 3 $? && told 'no stream to port' && leaves_nothing_here
}

# The cookie is the node's, read there.
needs_no_cookie() {
    command -v bash >/dev/null || { not_tried "no bash here to carry streams"; return 0; }
    HOME=$work/run XDG_RUNTIME_DIR=$work/run "$beamtop" info k8s://shop/web --timeout 60 --format json \
        </dev/null >"$work/out" 2>"$work/err"
    ends_with 0 $? && holds '.[0].node == "'"$node"'"' && leaves_nothing_here
}

# Names and cookies are asked for at the same time: neither pod answers before both are asked. The two are
# one node here, which is up once.
asks_all_at_once() {
    command -v bash >/dev/null || { not_tried "no bash here to carry streams"; return 0; }
    HOME=$work/run XDG_RUNTIME_DIR=$work/run "$beamtop" fleet k8s://shop/twin-a,k8s://shop/twin-b -n 1 --timeout 60 \
        --format json </dev/null >"$work/out" 2>"$work/err"
    ends_with 0 $? && holds '[.[0].rows[].state] | length == 2 and index("up") != null' && leaves_nothing_here
}

# Where a port may be forwarded, but no command runs.
reads_a_cookie_by_one() {
    HOME=$work/run XDG_RUNTIME_DIR=$work/run "$beamtop" info k8s://shop/bare </dev/null >"$work/out" 2>"$work/err"
    ends_with 3 $? && told 'none was read in the pod' || return 1
    HOME=$work/run XDG_RUNTIME_DIR=$work/run "$beamtop" info k8s://shop/bare --debug-image registry/shell:1 --yes \
        --timeout 60 --format json </dev/null >"$work/out" 2>"$work/err"
    ends_with 0 $? && holds '.[0].node == "'"$node"'"'
}

# Nothing is started without consent; then it serves, and serves again.
starts_an_ephemeral_container() {
    command -v bash >/dev/null || { not_tried "no bash here to carry streams"; return 0; }
    rm -f "$work/debugged"
    fails_with 3 'no shell to carry a stream; kubectl port-forward' k8s://shop/sealed &&
        fails_with 5 'add --yes' k8s://shop/sealed --debug-image registry/shell:1 &&
        told 'its entry stays until the pod ends' && [ ! -e "$work/debugged" ] || return 1
    for pod in sealed sealed strict; do
        [ "$pod" = sealed ] || rm "$work/debugged"
        by_way info "k8s://shop/$pod" --debug-image registry/shell:1 --yes --format json >"$work/out" 2>"$work/err"
        ends_with 0 $? && holds '.[0].node == "'"$node"'"' || return 1
    done
    rm "$work/debugged"
    reads_a_cookie_by_one || return 1
    rm "$work/debugged"
    fails_with 3 'app does not run .PodInitializing' k8s://shop/initing --debug-image registry/shell:1 --yes &&
        [ ! -e "$work/debugged" ] &&
        fails_with 3 'cannot be pulled' k8s://shop/nopull --debug-image registry/shell:1 --yes &&
        fails_with 3 'pods/exec' k8s://shop/closed --debug-image registry/shell:1 --yes &&
        fails_with 2 'not an image' k8s://shop/sealed --debug-image=-x --yes && leaves_nothing_here
}

# check WORD STATE TEXT, of `beamtop doctor URL`
checked() { holds 'any(.[0].rows[]; .check == "'"$1"'" and .state == "'"$2"'" and (.text | contains("'"$3"'")))'; }
examines() { by_way doctor "$1" --format json >"$work/out" 2>"$work/err"; }
# One that needs an answer in several places asks once; the stand-in's asks are counted.
asks_an_engine_once() {
    sed "s,^inspect),&\\n    echo >>$work/asked," "$work/bin/docker" >"$work/counting"
    mkdir -p "$work/counts"
    mv "$work/counting" "$work/counts/docker"
    chmod 755 "$work/counts/docker"
    for words in "doctor docker://shop" "info docker://stopped" "pstack docker://stopped/x" "nodes docker://stopped"; do
        : >"$work/asked"
        # shellcheck disable=SC2086
        PATH=$work/counts:$PATH by_way $words >"$work/out" 2>"$work/err"
        [ "$(wc -l <"$work/asked")" = 1 ] || { echo "$words: asked $(wc -l <"$work/asked") times"; cat "$work/err"; return 1; }
    done
    leaves_nothing_here
}
doctor_says_what_is_missing() {
    examines docker://shop
    ends_with 0 $? && checked process note 'is not one of this host' && checked tools ok 'carries streams' || return 1
    examines k8s://shop/guarded
    ends_with 0 $? && checked pod ok Running && checked container ok app && checked exec note 'not allowed' &&
        checked forward ok allowed && checked cookie ok cookie-file && checked connection ok pod || return 1
    examines k8s://shop/closed
    ends_with 3 $? && checked forward note 'not allowed' && checked ephemeral note 'not allowed' &&
        checked connection fail pods/portforward || return 1
    examines k8s://shop/crashing
    ends_with 3 $? && checked container fail CrashLoopBackOff || return 1
    examines k8s://shop/initing
    ends_with 3 $? && checked pod fail Pending && checked container fail 'init container setup (CrashLoopBackOff)' || return 1
    examines k8s://shop/evicted
    ends_with 3 $? && checked pod fail 'Failed: Evicted' || return 1
    examines k8s://shop/gone
    ends_with 3 $? && checked pod fail 'no such pod' || return 1
    examines k8s://shop/sealed
    ends_with 3 $? && checked tools fail shell && leaves_nothing_here
}

says_what_is_not_installed() {
    mkdir "$work/none"
    PATH=$work/none by_way info docker://shop/x >"$work/out" 2>"$work/err"
    ends_with 3 $? && told 'there is no docker on this host' || return 1
    PATH=$work/none by_way info podman://shop/x >"$work/out" 2>"$work/err"
    ends_with 3 $? && told 'there is no podman on this host'
}

loses_its_stream() {
    in_a_trace "k8s://shop/web/$(name_of)@" with_words "$work/bin/kubectl .*exec" && ends_with 4 "$ended"
}
is_killed() { in_a_trace "k8s://shop/guarded/$(name_of)@" beamtop_itself && [ "$ended" = 137 ]; }

hangs() { pgrep -P "$asking" -f 'sleep 1200'; }
is_killed_while_kubectl_hangs() {
    HOME=$work/run XDG_RUNTIME_DIR=$work/run "$beamtop" info k8s://shop/mute/x@ --timeout 600 </dev/null \
        >"$work/out" 2>"$work/err" &
    asking=$!
    wait_until 60 hangs && kill -9 "$asking" && leaves_nothing_here
}

once reaches_it needs_no_cookie asks_all_at_once forwards_a_port each_failure_has_its_words gives_up_on_an_engine \
    pods_fail_in_words bears_a_hostile_pod starts_an_ephemeral_container asks_an_engine_once \
    doctor_says_what_is_missing says_what_is_not_installed loses_its_stream is_killed \
    is_killed_while_kubectl_hangs
run put_stand_ins
run_on_releases
