#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Containers of Podman and Docker, as installed here: of an image with only a VM, its libraries and boot
# files, without a network and without a shell. Podman also as another user than root. A daemon of Docker is
# this test's, as is all that an engine keeps.
# shellcheck disable=SC1091,SC2016,SC2034,SC2154,SC2317
set -u
. "$(dirname "$0")/../tap.sh"

load=fleet_load
. "$(dirname "$0")/releases.sh"

[ "$(id -u)" = 0 ] || skip_all "not root"
dockerd_program=$(PATH=$PATH:/usr/sbin:/sbin command -v dockerd) || dockerd_program=
dockerd_pid=
owner=65534 # the user without rights

# ---- an image

erlang() { erl -noshell -eval "io:format(\"~s\", [$1]), halt()."; }
put_image() {
    lib=$(erlang 'code:root_dir()') erts=erts-$(erlang 'erlang:system_info(version)')
    bin=$lib/$erts/bin tree=$work/tree
    mkdir -p "$tree/tmp" "$tree$lib/lib" "$tree$lib/$erts" && cp -r "$bin" "$tree$lib/$erts" &&
        cp -r "$lib/bin" "$lib/releases" "$tree$lib" && cp -r "$lib"/lib/kernel-* "$lib"/lib/stdlib-* "$tree$lib/lib" || return 1
    for file in $(ldd "$bin/beam.smp" "$bin/erl_child_setup" "$bin/epmd" | grep -o '/[^ ]*[.]so[^ ]*' | sort -u); do
        mkdir -p "$tree$(dirname "$file")" && cp -L "$file" "$tree$file" || return 1
    done
    chmod -R go=u-w "$tree" && tar -C "$tree" -c . >"$work/image.tar"
}

# ---- the engines: `engine WORD…` runs one; all have what containers here need

put_podman() { # DIRECTORY [DRIVER [OPTION]]
    mkdir -p "$1" "$1/run"
    printf '[storage]\ndriver = "%s"\ngraphroot = "%s"\nrunroot = "%s"\n[storage.options.%s]\nignore_chown_errors = "true"\n%s\n' \
        "${2-vfs}" "$1/graph" "$1/runroot" "${2-vfs}" "${3-}" >"$1/storage.conf"
    # crun needs one version of cgroups; runc takes what is there.
    runtime=$(command -v runc || command -v crun)
    printf '[engine]\ncgroup_manager = "cgroupfs"\nevents_logger = "file"\ntmp_dir = "%s"\nruntime = "%s"\n[containers]\nlog_driver = "k8s-file"\n' \
        "$1/tmp" "$runtime" >"$1/containers.conf"
}
as_root() {
    CONTAINERS_STORAGE_CONF=$work/podman/storage.conf CONTAINERS_CONF=$work/podman/containers.conf HOME=$work/home \
        XDG_RUNTIME_DIR=$work/run "$@"
}
owned=owner # its directory: an engine keeps one driver
as_owner() {
    CONTAINERS_STORAGE_CONF=$work/$owned/storage.conf CONTAINERS_CONF=$work/$owned/containers.conf HOME=$work/$owned \
        XDG_RUNTIME_DIR=$work/$owned/run setpriv --reuid $owner --regid $owner --clear-groups "$@"
}
with_docker() { DOCKER_HOST=unix://$work/docker.sock HOME=$work/home XDG_RUNTIME_DIR=$work/run "$@"; }

with_home() { HOME=$work/home XDG_RUNTIME_DIR=$work/run "$@"; }
docker_answers() { with_docker docker info >"$work/docker.info" 2>&1 || has_ended "$dockerd_pid"; }
start_docker() {
    [ -z "$dockerd_pid" ] || return 0
    "$dockerd_program" --data-root "$work/docker" --exec-root "$work/docker.exec" --pidfile "$work/docker.pid" \
        -H "unix://$work/docker.sock" --bridge none --iptables=false --ip6tables=false --storage-driver vfs \
        >"$work/dockerd.log" 2>&1 &
    dockerd_pid=$!
    wait_until 120 docker_answers && is_running "$dockerd_pid" && return
    tail -5 "$work/dockerd.log"
    return 1
}

# run_vm: a node called $name, with its cookie. An engine would raise limits, which takes a right.
run_vm() {
    "$as" "$engine" import - beamtop-test <"$work/image.tar" >"$work/log" 2>&1 &&
        "$as" "$engine" run -d --name "$name" --network none --security-opt seccomp=unconfined \
            --ulimit nofile=1024:1024 --ulimit nproc=4000:4000 \
            -e "ROOTDIR=$lib" -e "BINDIR=$bin" -e EMU=beam -e PROGNAME=erl -e HOME=/tmp beamtop-test \
            "$bin/erlexec" -noinput -name "$name@127.0.0.1" -setcookie "of_$name" -start_epmd false -erl_epmd_port 9100 >"$work/log" 2>&1 && return
    cat "$work/log"
    return 1
}

# ---- what beamtop does with one

looks() { # AS WORD…
    as=$1
    shift
    "$as" env LOOKS_FROM="$work" "$beamtop" "$@" --timeout 60 </dev/null >"$work/out" 2>"$work/err"
}
looks_left() { grep -ls "LOOKS_FROM=$work" /proc/[0-9]*/environ; ls -d "$work"/run/beamtop-* "$work"/owner/run/beamtop-* "$work"/fused/run/beamtop-*; }
no_looks_left() { [ -z "$(looks_left 2>/dev/null)" ]; }
fails() { # AS CODE WORDS URL
    looks "$1" info "$4"
    ends_with "$2" $? && told "$3"
}
has_its_node() { looks "$1" info "$2" --format json && holds '.[0].node == "'"$3@127.0.0.1"'"'; }

# Its node is reached without its name, its cookie, a shell or a network; then it is paused, stopped, removed.
lives_through() { # AS ENGINE URL NAME
    as=$1 engine=$2 url=$3 name=$4
    run_vm || return 1
    is_reached() { has_its_node "$as" "$url" "$name"; }
    wait_until 60 is_reached || { cat "$work/err" "$work/out"; return 1; }
    [ ! -s "$work/err" ] || { cat "$work/err"; return 1; }
    looks_around && restarts && ends
}
looks_around() {
    looks "$as" nodes "$url" --format json && holds '.[0].rows | length == 1' &&
        looks "$as" pstack "$url" --all && says beam &&
        looks "$as" doctor "$url" --format json && holds '.[0].rows | map(.state) | index("fail") | not' && return
    cat "$work/err"
    return 1
}
restarts() {
    "$as" "$engine" restart -t 0 "$name" >"$work/log" 2>&1 && wait_until 60 is_reached && return
    cat "$work/log" "$work/err"
    return 1
}
ends() {
    "$as" "$engine" kill "$name" >/dev/null 2>&1
    is_stopped() { fails "$as" 3 'does not run' "$url/$name" >/dev/null; }
    wait_until 60 is_stopped || { cat "$work/err"; return 1; }
    "$as" "$engine" rm -f "$name" >"$work/log" 2>&1 && fails "$as" 3 'no such container' "$url/$name" && wait_until 60 no_looks_left
}

has() { command -v "$1" >/dev/null || { not_tried "no $1 here"; return 1; }; }
podman_of_root() {
    has podman || return 0
    put_podman "$work/podman"
    lives_through as_root podman podman://web web
}
podman_of_a_user() {
    has podman && has setpriv || return 0
    chmod 755 "$work"
    put_podman "$work/owner"
    chown -R $owner "$work/owner"
    lives_through as_owner podman podman://mine mine
}
# Its files are read in its user namespace only: outside of it compiled functions are unknown, in words.
podman_with_fuse_overlayfs() {
    has podman && has setpriv && has fuse-overlayfs || return 0
    setpriv --reuid $owner --regid $owner --clear-groups test -r /dev/fuse -a -w /dev/fuse || { not_tried "/dev/fuse is not for all"; return 0; }
    owned=fused
    put_podman "$work/$owned" overlay "mount_program = \"$(command -v fuse-overlayfs)\""
    chown -R $owner "$work/$owned"
    as=as_owner engine=podman name=fused
    run_vm && is_fused && looks as_owner pstack podman://fused --all && told 'podman unshare beamtop' &&
        has_its_node as_owner podman://fused fused &&
        as_owner podman unshare env LOOKS_FROM="$work" "$beamtop" pstack podman://fused --all >"$work/out" 2>"$work/err" &&
        ! told 'cannot be read' >/dev/null && as_owner podman rm -f fused >"$work/log" 2>&1 && wait_until 60 no_looks_left && return
    cat "$work/log" "$work/err"
    return 1
}
is_fused() { grep -q ' / fuse.fuse-overlayfs ' "/proc/$(as_owner podman inspect --format '{{.State.Pid}}' fused)/mounts"; }
docker_of_root() {
    [ -n "$dockerd_program" ] || { not_tried "no dockerd here"; return 0; }
    has docker || return 0
    start_docker && lives_through with_docker docker docker://web web
}

# An engine that is elsewhere, or nowhere.
says_who_does_not_answer() {
    has docker || return 0
    DOCKER_HOST=tcp://127.0.0.1:1 looks with_home info docker://web
    ends_with 3 $? && told 'Docker daemon' || return 1
    DOCKER_HOST=ssh://nobody.invalid looks with_home info docker://web
    ends_with 3 $? && told 'daemon of DOCKER_HOST, or of the context, does not answer' || return 1
    DOCKER_CONTEXT=nosuch looks with_home info docker://web
    ends_with 3 $? && told 'no such context' && wait_until 60 no_looks_left
}

stop_all() {
    if [ -d "$work/podman" ]; then as_root podman rm -fa; as_root podman rmi -fa; fi >/dev/null 2>&1
    for owned in owner fused; do
        if [ -d "$work/$owned" ]; then as_owner podman rm -fa; as_owner podman rmi -fa; as_owner podman system migrate; fi >/dev/null 2>&1
    done
    if [ -n "$dockerd_pid" ]; then
        with_docker docker ps -aq | while read -r id; do with_docker docker rm -f "$id"; done
        kill "$dockerd_pid"
        wait "$dockerd_pid"
    fi >/dev/null 2>&1
    awk -v under="$work/" 'index($2, under) == 1 { print $2 }' /proc/self/mounts | sort -r | while read -r at; do umount -l "$at"; done
    rm -rf "$work"
}
trap stop_all EXIT
trap 'exit 130' HUP INT TERM PIPE
command -v podman >/dev/null || [ -n "$dockerd_program" ] || skip_all "neither podman nor dockerd here"
mkdir -p "$work/run" "$work/home"
run put_image
for case in podman_of_root podman_of_a_user podman_with_fuse_overlayfs docker_of_root says_who_does_not_answer; do
    run $case
done
finish
