# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=sh disable=SC2154
# Stand-ins for docker and kubectl, first in PATH; sourced after releases.sh. They take the arguments of
# the real ones and fail with their texts; what they run, they run on this host.
#   containers: shop (all works), bare (no shell), stopped, paused, and odd, loud, hanging (what inspect
#   answers); pods of the namespace shop: web, bare, gone, evicted,
#   deleted (its machine has ended it), initing (an init container crashes),
#   guarded (no exec), closed (neither exec nor port-forward), sealed (bare, no port-forward: an ephemeral
#   container serves), strict (the same under pod security), nopull (the same, whose image is not there), crashing, expired (a token), liar (its
#   epmd has a name with another host), noisy (errors without end), mute (no answer), and twin-a and
#   twin-b (a command waits until each of them has one)

# As docker 20.10 says it. Of a container that runs here the first process is this shell, whose cgroup does
# not name it: so the engine seems to be on another host.
put_docker() {
    cat <<-'END'
	#!/bin/sh
	id=5f2b8f9a0c1d5f2b8f9a0c1d5f2b8f9a0c1d5f2b8f9a0c1d5f2b8f9a0c1d5f2b
	for name; do :; done
	case $1 in
	inspect)
	    [ "$2 $3" = '--type=container --format={{.Id}} {{.State.Pid}}' ] || exit 125
	    case $name in
	    shop | bare) echo "$id $$" ;;
	    stopped) echo "$id 0" ;;
	    paused) echo "$id $$" ;;
	    odd) printf '%s\n' "${id}0 1" "$(printf '\033[31m')" ;;
	    loud) head -c 100000 /dev/zero ;;
	    hanging) sleep 1200 ;;
	    0) printf '\n' && echo 'Error response from daemon: Multiple IDs found with provided prefix: 0' >&2 && exit 1 ;;
	    *) printf '\n' && echo "Error: No such container: $name" >&2 && exit 1 ;;
	    esac
	    exit 0 ;;
	esac
	[ "$1 $2" = 'exec -i' ] || { echo "docker: '$1' is not a docker command." >&2; exit 1; }
	case $3 in
	shop) shift 3; exec "$@" ;;
	bare)
	    echo 'OCI runtime exec failed: exec failed: unable to start container process: exec: "sh": executable file not found in $PATH: unknown' >&2
	    exit 126 ;;
	paused) echo 'Error response from daemon: Container paused is paused, unpause the container before exec' >&2; exit 1 ;;
	*) echo "Error: No such container: $3" >&2; exit 1 ;;
	esac
	END
}

# Texts and exit codes of kubectl 1.32 and 1.33. An ephemeral container that was started is a file beside bin.
put_kubectl() {
    cat <<-'END'
	#!/bin/sh
	debugged=$(dirname "$0")/../debugged
	forbid() {
	    echo "Error from server (Forbidden): pods \"$pod\" is forbidden: User \"dev\" cannot $1 resource \"$2\" in API group \"\" in the namespace \"shop\"" >&2
	    exit 1
	}
	run() {
	    "$@"
	    code=$?
	    [ "$code" = 0 ] || echo "command terminated with exit code $code" >&2
	    exit "$code"
	}
	describe() {
	    phase='Running  ' state='true 2026-01-01T00:00:00Z ' init='setup true  Completed'
	    case $pod in
	    crashing) state='false  CrashLoopBackOff' ;;
	    initing) phase=Pending state='false  PodInitializing' init='setup false  CrashLoopBackOff' ;;
	    evicted) phase='Failed Evicted ' state='false  Error' ;;
	    esac
	    printf 'phase %s\ndefault  app\ncontainer app %s\ninit %s\n' "$phase" "$state" "$init"
	    [ ! -f "$debugged" ] || printf 'ephemeral %s false %s\n' "$(cat "$debugged")" \
	        "$([ "$pod" = nopull ] && echo ' ErrImagePull' || echo '2026-01-01T00:00:00Z ')"
	}
	case $1 in
	--context=a/b) shift ;;
	--context=*) echo "error: context \"${1#*=}\" does not exist" >&2; exit 1 ;;
	esac
	[ "$1" = --namespace=shop ] || { echo "Error from server (NotFound): namespaces \"${1#*=}\" not found" >&2; exit 1; }
	verb=$2 in=app
	shift 2
	case $verb in
	exec)
	    [ "$1" = -i ] && shift
	    case $1 in --container=*) in=${1#*=}; shift ;; esac
	    pod=$1
	    shift 2 ;;
	port-forward)
	    [ "$1" = --address=127.0.0.1 ] || exit 1
	    pod=${2#pod/} port=${3#:} ;;
	get) pod=$2 ;;
	auth) pod=${3#pods/} verb=may_${4#--subresource=} ;;
	debug) pod=$1 ;;
	esac
	case $verb:$pod in
	may_ephemeralcontainers:closed | may_exec:guarded | may_exec:closed | may_portforward:closed | may_portforward:sealed | may_portforward:strict | may_portforward:initing | may_portforward:nopull)
	    echo no; exit 1 ;;
	may_*) echo yes; exit ;;
	*:gone) echo 'Error from server (NotFound): pods "gone" not found' >&2; exit 1 ;;
	*:expired) echo 'error: You must be logged in to the server (Unauthorized)' >&2; exit 1 ;;
	get:*) describe; exit ;;
	debug:*)
	    case $pod:" $* " in
	    strict:*' --profile=restricted '*) ;;
	    strict:*) echo "Error from server (Forbidden): pods \"strict\" is forbidden: violates PodSecurity \"restricted:latest\": unrestricted capabilities (container \"beamtop-shell-1\" must not include \"SYS_PTRACE\" in securityContext.capabilities.add)" >&2; exit 1 ;;
	    esac
	    case " $* " in *' --profile='*) [ "$pod" != sealed ] || { echo "Error: unknown profile 'general'" >&2; exit 1; } ;; esac
	    case " $* " in *' --image=registry/shell:1 --container=beamtop-shell-1 --target=app '*) ;; *) exit 9 ;; esac
	    echo beamtop-shell-1 >"$debugged"
	    echo 'Targeting container "app". If you don'"'t see processes from this container it may be because the container runtime doesn't support this feature." >&2
	    exit ;;
	exec:*) [ "$in" = app ] || [ "$in" = "$(cat "$debugged" 2>/dev/null)" ] ||
	    { echo "Error from server (BadRequest): container $in is not valid for pod $pod" >&2; exit 1; } ;;
	esac
	case $verb:$pod:$in in
	exec:twin-*)
	    : >"$debugged.$pod"
	    until [ -e "$debugged.twin-a" ] && [ -e "$debugged.twin-b" ]; do sleep 0.1; done
	    run "$@" ;;
	exec:web:* | exec:sealed:beamtop-* | exec:strict:beamtop-*) run "$@" ;;
	exec:liar:*)
	    echo 'beamtop: open' >&2
	    printf '\0\0\021\021name db@prod at port 9\n' ;;
	exec:noisy:*)
	    echo 'beamtop: open' >&2
	    exec yes "$(printf 'beamtop: cookie \033[2J')" >&2 ;;
	exec:mute:*) exec sleep 1200 ;;
	exec:bare:beamtop-*) run "$@" ;;
	exec:bare:* | exec:deleted:* | exec:sealed:* | exec:strict:* | exec:nopull:*)
	    echo 'error: Internal error occurred: error executing command in container: failed to exec in container: failed to start exec "6c1d": OCI runtime exec failed: exec failed: unable to start container process: exec: "sh": executable file not found in $PATH: unknown' >&2
	    exit 1 ;;
	exec:evicted:*) echo 'error: cannot exec into a container in a completed pod; current phase is Failed' >&2; exit 1 ;;
	exec:crashing:* | exec:initing:*) echo 'error: Internal error occurred: unable to upgrade connection: container not found ("app")' >&2; exit 1 ;;
	exec:*) forbid create pods/exec ;;
	port-forward:closed:* | port-forward:sealed:* | port-forward:strict:* | port-forward:nopull:*) forbid create pods/portforward ;;
	port-forward:deleted:*)
	    echo 'error: error upgrading connection: unable to upgrade connection: pod not found ("deleted_shop")' >&2; exit 1 ;;
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
