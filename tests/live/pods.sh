# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=sh disable=SC2154
# Stand-ins for docker and kubectl, first in PATH; sourced after releases.sh. They take the arguments of
# the real ones and fail with their texts; what they run, they run on this host.
#   containers: shop (all works), bare (no shell), stopped; pods of the namespace shop: web, bare, gone,
#   guarded (no exec), closed (neither exec nor port-forward)

put_docker() {
    cat <<-'END'
	#!/bin/sh
	[ "$1 $2" = 'exec -i' ] || { echo "docker: '$1' is not a docker command." >&2; exit 1; }
	case $3 in
	shop) shift 3; exec "$@" ;;
	bare)
	    echo 'OCI runtime exec failed: exec failed: unable to start container process: exec: "sh": executable file not found in $PATH: unknown' >&2
	    exit 127 ;;
	stopped) echo "Error response from daemon: container 5f2b8f9a0c1d is not running" >&2; exit 1 ;;
	*) echo "Error response from daemon: No such container: $3" >&2; exit 1 ;;
	esac
	END
}

put_kubectl() {
    cat <<-'END'
	#!/bin/sh
	case $1 in
	--context=a/b) shift ;;
	--context=*) echo "error: context \"${1#*=}\" does not exist" >&2; exit 1 ;;
	esac
	[ "$1" = --namespace=shop ] || { echo "Error from server (NotFound): namespaces \"${1#*=}\" not found" >&2; exit 1; }
	verb=$2
	shift 2
	case $verb in
	exec)
	    [ "$1" = -i ] && shift
	    case $1 in
	    --container=app) shift ;;
	    --container=*) echo "error: container ${1#*=} is not valid for pod $2" >&2; exit 1 ;;
	    esac
	    pod=$1
	    shift 2 ;;
	port-forward)
	    [ "$1" = --address=127.0.0.1 ] || exit 1
	    pod=${2#pod/} port=${3#:} ;;
	esac
	case $verb:$pod in
	*:gone) echo 'Error from server (NotFound): pods "gone" not found' >&2; exit 1 ;;
	exec:web)
	    "$@"
	    code=$?
	    [ "$code" = 0 ] || echo "command terminated with exit code $code" >&2
	    exit "$code" ;;
	exec:bare)
	    echo 'error: Internal error occurred: error executing command in container: failed to exec in container: failed to start exec "6c1d": OCI runtime exec failed: exec failed: unable to start container process: exec: "sh": executable file not found in $PATH: unknown' >&2
	    exit 1 ;;
	exec:*)
	    echo "Error from server (Forbidden): pods \"$pod\" is forbidden: User \"dev\" cannot create resource \"pods/exec\" in API group \"\" in the namespace \"shop\"" >&2
	    exit 1 ;;
	port-forward:closed)
	    echo 'Error from server (Forbidden): pods "closed" is forbidden: User "dev" cannot create resource "pods/portforward" in API group "" in the namespace "shop"' >&2
	    exit 1 ;;
	port-forward:*)
	    echo "Forwarding from 127.0.0.1:$port -> $port"
	    exec sleep 1200 ;;
	esac
	END
}

put_stand_ins() {
    mkdir -p "$work/bin" "$work/run" && put_docker >"$work/bin/docker" && put_kubectl >"$work/bin/kubectl" || return 1
    chmod 755 "$work/bin/docker" "$work/bin/kubectl"
    PATH=$work/bin:$PATH
    export PATH
}
