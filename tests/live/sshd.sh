# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=sh disable=SC2154
# An sshd of this script's, as an ordinary process on the loopback, and an `ssh` first in PATH with a
# separate configuration; sourced after releases.sh. The first value counts in such a file. Hosts: far, jump, behind (by jump), dead (by a jump
# host that is not there), closed (no sshd), other (another key than the known one), new (no known key),
# locked (its key has the passphrase "open it"), stranger (no key is allowed), forbids (no forwarding, and
# a home of this script's),
# mute, mute2 (never answer), shared (has a ControlPath), forbids_shared (both).

for program in ssh ssh-keygen; do
    command -v $program >/dev/null || skip_all "no $program here"
done
sshd_program=$(PATH=$PATH:/usr/sbin:/sbin command -v sshd) || skip_all "no sshd here"
sshd_pid=
sshd_says() { grep -q "$1" "$work/sshd.log" 2>/dev/null; }
sshd_settles() { sshd_says 'Server listening' || has_ended "$sshd_pid"; }

put_hosts() {
    cat <<-END
	Host behind
	 ProxyJump jump
	Host dead
	 ProxyJump closed
	Host closed
	 Port 1
	Host other
	 UserKnownHostsFile $work/other
	Host new
	 UserKnownHostsFile $work/nobody
	Host locked
	 IdentityFile $work/locked
	Host stranger
	 IdentityFile $work/stranger
	Host * !locked !stranger
	 IdentityFile $work/key
	Host forbids_shared
	 ControlPath $work/forbids_shared
	Host forbids forbids_shared
	 Port $((sshd_port + 3))
	Host mute mute2
	 ProxyCommand sleep 1000
	Host shared
	 ControlPath $work/shared
	Host *
	 HostName 127.0.0.1
	 Port $sshd_port
	 IdentitiesOnly yes
	 IdentityAgent none
	 UserKnownHostsFile $work/known
	 GlobalKnownHostsFile /dev/null
	END
}

runs_sshd() {
    : >"$work/sshd.log"
    "$sshd_program" -D -f "$work/sshd.conf" -E "$work/sshd.log" &
    sshd_pid=$!
    wait_until 60 sshd_settles && is_running "$sshd_pid"
}

start_sshd() {
    for key in host key stranger; do
        ssh-keygen -q -t ed25519 -N '' -f "$work/$key" || return 1
    done
    ssh-keygen -q -t ed25519 -N 'open it' -f "$work/locked" || return 1
    cat "$work/key.pub" "$work/locked.pub" >"$work/allowed"
    mkdir -p "$work/bin" "$work/far" "$work/home" "$work/run"
    [ "$(id -u)" != 0 ] || mkdir -p /run/sshd
    for sshd_port in $((ERL_EPMD_PORT + 40)) $((ERL_EPMD_PORT + 41)) $((ERL_EPMD_PORT + 42)); do
        cat >"$work/sshd.conf" <<-END
	ListenAddress 127.0.0.1:$sshd_port
	ListenAddress 127.0.0.1:$((sshd_port + 3))
	HostKey $work/host
	AuthorizedKeysFile $work/allowed
	PidFile none
	StrictModes no
	UsePAM no
	PasswordAuthentication no
	MaxStartups 10:100:10
	SetEnv PATH=$work/far:/usr/bin:/bin
	Match LocalPort $((sshd_port + 3))
	 AllowTcpForwarding no
	 SetEnv PATH=$work/far:/usr/bin:/bin HOME=$work/home
	END
        runs_sshd && break
    done
    sshd_says 'Server listening' || { cat "$work/sshd.log"; return 1; }
    for port in $sshd_port $((sshd_port + 3)); do
        sed "s/^/[127.0.0.1]:$port /" "$work/host.pub"
    done >"$work/known"
    sed "s/^/[127.0.0.1]:$sshd_port /" <"$work/stranger.pub" >"$work/other"
    put_hosts >"$work/ssh.conf"
    real_ssh=$(command -v ssh)
    printf '#!/bin/sh\nexec %s -F %s "$@"\n' "$real_ssh" "$work/ssh.conf" >"$work/bin/ssh"
    chmod 755 "$work/bin/ssh"
    PATH=$work/bin:$PATH
    export PATH
}

stop_sshd() {
    [ -z "$sshd_pid" ] || kill "$sshd_pid" 2>/dev/null
    sshd_pid=
}
