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
    prints_its_name "docker://shop/$(name_of)" && prints_its_name docker://shop &&
        prints_its_name k8s://shop/web && prints_its_name "k8s://shop/web/app/$(name_of)@" &&
        prints_its_name "k8s://a%2Fb/shop/web/" && leaves_nothing_here
}

forwards_a_port() { prints_its_name k8s://shop/guarded && prints_its_name k8s://shop/bare && leaves_nothing_here; }

each_failure_has_its_words() {
    fails_with 3 'no such container' docker://nosuch/x &&
        fails_with 3 'does not run' docker://stopped/x &&
        fails_with 3 'no shell to carry a stream' docker://bare/x &&
        fails_with 3 'nothing listens at that port there' "docker://shop/$(name_of)" --port 1 &&
        fails_with 3 'no epmd at port 1 there' docker://shop --epmd-port 1
}

pods_fail_in_words() {
    fails_with 3 'no such pod or namespace' k8s://shop/gone &&
        fails_with 3 'no such pod or namespace' k8s://nosuch/web &&
        fails_with 3 'no such container' k8s://shop/web/nosuch &&
        fails_with 3 'no such context' k8s://nosuch/shop/web/ &&
        fails_with 3 'neither run commands in pods there' k8s://shop/closed &&
        fails_with 2 'invalid pod' 'k8s://shop/--kubeconfig=x' &&
        fails_with 2 'invalid container' 'docker://-x/y' &&
        fails_with 2 'a node is reached by' 'http://shop/y' && leaves_nothing_here
}

says_what_is_not_installed() {
    mkdir "$work/none"
    PATH=$work/none by_way info docker://shop/x >"$work/out" 2>"$work/err"
    ends_with 3 $? && told 'there is no docker on this host'
}

loses_its_stream() {
    in_a_trace "k8s://shop/web/$(name_of)@" with_words "$work/bin/kubectl .*exec" && ends_with 4 "$ended"
}
is_killed() { in_a_trace "k8s://shop/guarded/$(name_of)@" beamtop_itself && [ "$ended" = 137 ]; }

once reaches_it forwards_a_port each_failure_has_its_words pods_fail_in_words says_what_is_not_installed \
    loses_its_stream is_killed
run put_stand_ins
run_on_releases
