#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Nodes with TLS distribution: by the options and by the node's own files, in TLS 1.2 and 1.3; a top and
# a trace; and each way to fail, with its own text. The load is idle_load.erl, the certificates are made
# here by openssl.
# shellcheck disable=SC1091,SC2030,SC2031,SC2034,SC2086,SC2154,SC2317
set -u
. "$(dirname "$0")/../tap.sh"
. "$BEAMTOP_SRCDIR/tests/record.sh"
. "$BEAMTOP_SRCDIR/tests/tmux/lib.sh"

load=idle_load
. "$(dirname "$0")/releases.sh"
command -v openssl >/dev/null || skip_all "no openssl here"
"$beamtop" top a@127.0.0.1 --tls --port 1 --cookie x 2>&1 | grep -q 'without OpenSSL' &&
    skip_all "this beamtop was built without OpenSSL"

# ---- certificates: $certs/NAME.pem and .key

certs=$work/certs
mkdir "$certs"

# makes_ca NAME [SUBJECT]
makes_ca() {
    openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout "$certs/$1.key" \
        -out "$certs/$1.pem" -subj "/CN=${2-$1}" -days 2
}

# makes_cert CA NAME [EXTENSION [OPTIONS]]
makes_cert() {
    openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout "$certs/$2.key" -out "$certs/$2.csr" \
        -subj "/CN=$2" || return 1
    printf 'subjectAltName=IP:127.0.0.1,DNS:*.shop.example\n%s\n' "${3-}" >"$certs/ext"
    openssl x509 -req -in "$certs/$2.csr" -CA "$certs/$1.pem" -CAkey "$certs/$1.key" -CAcreateserial \
        -extfile "$certs/ext" -out "$certs/$2.pem" ${4:--days 2}
}

# dated NAME FROM TO WORDS…: the request of NAME, or a key of itself, for those years: x509 takes days only,
# ca takes dates.
dated() {
    dated_name=$1 dated_from=$2 dated_to=$3
    shift 3
    openssl ca -batch -config "$certs/ca.cnf" -keyfile "$certs/ca.key" -out "$certs/$dated_name.pem" \
        -startdate "${dated_from}0101000000Z" -enddate "${dated_to}0101000000Z" "$@"
}

# Of this CA: a client's that has ended and one that has not begun, the CA's own likewise; and that as an
# intermediate one of another root.
makes_dated() {
    makes_cert ca expired && makes_cert ca early || return 1
    mkdir "$certs/db" && : >"$certs/db/index" && echo 01 >"$certs/db/serial" || return 1
    cat >"$certs/ca.cnf" <<END
[ca]
default_ca=c
[c]
database=$certs/db/index
serial=$certs/db/serial
new_certs_dir=$certs/db
default_md=sha256
default_crl_days=2
policy=p
unique_subject=no
[p]
commonName=supplied
[v3_ca]
basicConstraints=critical,CA:true
END
    openssl req -new -key "$certs/ca.key" -subj /CN=ca -out "$certs/ca.csr" || return 1
    dated expired 2020 2021 -cert "$certs/ca.pem" -in "$certs/expired.csr" &&
        dated early 2048 2049 -cert "$certs/ca.pem" -in "$certs/early.csr" &&
        dated old_ca 2020 2021 -selfsign -extensions v3_ca -in "$certs/ca.csr" &&
        dated early_ca 2048 2049 -selfsign -extensions v3_ca -in "$certs/ca.csr"
}
makes_chain() {
    makes_ca root && printf 'basicConstraints=critical,CA:true\n' >"$certs/ext" || return 1
    openssl x509 -req -in "$certs/ca.csr" -CA "$certs/root.pem" -CAkey "$certs/root.key" -CAcreateserial -days 2 \
        -extfile "$certs/ext" -out "$certs/between.pem" &&
        cat "$certs/root.pem" "$certs/between.pem" >"$certs/chain.pem"
}

# Two lists of the CA: one with a client's certificate, and one that has the node's, too.
makes_lists() {
    makes_cert ca revoked && listed revoked && listed node
}
listed() {
    openssl ca -config "$certs/ca.cnf" -keyfile "$certs/ca.key" -cert "$certs/ca.pem" -revoke "$certs/$1.pem" &&
        openssl ca -config "$certs/ca.cnf" -keyfile "$certs/ca.key" -cert "$certs/ca.pem" -gencrl -out "$certs/$1.crl"
}

# Of another CA with the same name; and with a key of the first CA's, as while files are replaced.
makes_renewed() {
    mkdir "$renewed" && (certs=$renewed && makes_ca ca && makes_cert ca node && makes_cert ca client) &&
        cp -r "$renewed" "$half" && cp "$first/client.key" "$half"
}

makes_all() {
    makes_ca ca && makes_ca other && makes_cert ca node && makes_cert ca client && makes_cert other stranger &&
        makes_cert ca server extendedKeyUsage=serverAuth && makes_dated && makes_chain &&
        makes_lists && makes_renewed && openssl pkey -in "$certs/client.key" -aes256 -passout pass:sesame -out "$certs/locked.key"
}

# ---- nodes

# start_tls OTP VERSIONS [CHECK]: a node that asks for certificates, or checks what CHECK says. Its files
# are in its root.
start_tls() {
    at=$("$otp_sh" --root "$1")$work/otp-$1
    in=$work/otp-$1
    mkdir -p "$at" && cp "$certs/node.pem" "$certs/node.key" "$certs/client.pem" "$certs/client.key" "$certs/ca.pem" "$at"
    cat >"$at/optfile" <<END
%% "Comments" are allowed.
[{server, [{certfile, "$in/node.pem"}, {keyfile, "$in/node.key"}, {cacertfile, "$in/ca.pem"},
           ${3-{verify, verify_peer\}, {fail_if_no_peer_cert, true\}}, {versions, [$2]}]},
 {client, [{certfile, "$in/client.pem"}, {keyfile, "$in/client.key"}, {cacertfile, "$in/ca.pem"},
           {verify, verify_peer}]}].
END
    start_node "$1" '' "-proto_dist ${proto-inet_tls} -ssl_dist_optfile $in/optfile"
}

# asks WORDS…: a top of the node.
asks() { "$beamtop" top "$node" --cookie-file "$work/cookie" --timeout 60 "$@" >"$work/out" 2>"$work/err" </dev/null; }
certified() { asks --tls-cacert "$certs/ca.pem" --tls-cert "$certs/client.pem" --tls-key "$certs/client.key" "$@"; }

# fails TEXT WORDS…: the connection fails with the text.
fails() {
    fails_text=$1
    shift
    asks "$@"
    ends_with 3 $? && told "$fails_text"
}

# ---- cases

by_options() {
    certified --tls-verify full --format json
    ends_with 0 $? && holds '.[0].system.processes > 20' && has_no_notice || return 1
    asks --tls-cert "$certs/client.pem" --tls-key "$certs/client.key" && told 'certificate of the node was not checked' &&
        says "$node" && logs_nothing
}

by_an_encrypted_key() {
    printf 'sesame\n' >"$work/password"
    locked="--tls-cert $certs/client.pem --tls-key $certs/locked.key"
    asks $locked --tls-key-password-file "$work/password"
    ends_with 0 $? || return 1
    BEAMTOP_TLS_KEY_PASSWORD=sesame asks $locked
    ends_with 0 $? || return 1
    asks $locked
    ends_with 3 $? && told 'encrypted needs its password' || return 1
    BEAMTOP_TLS_KEY_PASSWORD=wrong asks $locked
    ends_with 3 $? && told 'Check its password' || return 1
    fails "$not_a_pair" --tls-cert "$certs/client.pem" --tls-key "$certs/stranger.key"
}

# A line of it for the node, and its error with the file and the line.
by_the_configuration() {
    conf=$work/config/beamtop
    mkdir -p "$conf" && cp "$certs/client.pem" "$conf" || return 1
    printf 'tls *@elsewhere cert none.pem\ntls *@127.0.0.1 cacert %s cert client.pem key %s verify full use always\n' \
        "$certs/ca.pem" "$certs/client.key" >"$conf/beamtop.conf"
    XDG_CONFIG_HOME=$work/config asks --host 127.0.0.1 --format json
    ends_with 0 $? && holds '.[0].system.processes > 20' && has_no_notice && logs_nothing || return 1
    "$beamtop" info "$node" --config "$conf/beamtop.conf" --cookie-file "$work/cookie" --timeout 60 --host 127.0.0.1 \
        >"$work/out" 2>"$work/err" </dev/null
    ends_with 0 $? && says "$node" && has_no_notice || return 1
    rm "$conf/client.pem"
    XDG_CONFIG_HOME=$work/config asks --host 127.0.0.1
    ends_with 3 $? && told 'beamtop/beamtop.conf, line 2: cert: .*client.pem cannot be read: No such file'
}

has_no_notice() { [ ! -s "$work/err" ] || { cat "$work/err"; return 1; }; }

# The files of the node are its user's, and so is this test.
by_its_own_files() { asks --format json; ends_with 0 $? && holds '.[0].system.processes > 20' && has_no_notice && logs_nothing; }

# What goes well leaves no line in the log of the node.
logs_nothing() { ! grep . "$work/node"; }

leaves_nothing() { logs_nothing && is_clean; }

traces() {
    "$beamtop" trace "$node" 'idle_load:watch/2' --cookie-file "$work/cookie" --timeout 60 --events 3 --format json \
        >"$work/out" 2>"$work/err" </dev/null
    ends_with 0 $? && holds 'map(select(.mfa? // .function? // "" | test("watch"))) | length >= 3' && is_clean
}

# With a second node, since beamtop's own connection is not listed.
links_are_tls() {
    ERL_CRASH_DUMP=/dev/null "$otp_sh" "$1" erl -proto_dist inet_tls -ssl_dist_opt server_certfile "$in/node.pem" \
        -ssl_dist_opt server_keyfile "$in/node.key" -ssl_dist_opt client_certfile "$in/client.pem" \
        -ssl_dist_opt client_keyfile "$in/client.key" client_verify verify_none \
        -noinput -name "peer_$node" -setcookie releases -start_epmd false \
        -eval "true = net_kernel:connect_node('$node'), timer:sleep(1200000)." >"$work/peer" 2>&1 &
    peer=$!
    wait_long 60 lists_peer_or_ended && holds '.[0].rows | map(select(.how != "self")) | map(.protocol) == ["tls"]'
    linked=$?
    kill -9 "$peer" 2>/dev/null
    wait "$peer" 2>/dev/null
    peer=''
    [ "$linked" = 0 ] || cat "$work/peer" "$work/err" "$work/out"
    return "$linked"
}
lists_peer_or_ended() { lists_peer || has_ended "$peer"; }
lists_peer() {
    "$beamtop" links "$node" --cookie-file "$work/cookie" --timeout 60 --format json >"$work/out" 2>"$work/err" </dev/null &&
        grep -q "\"peer_$node\"" "$work/out"
}

# begins TEXT WORDS…: as fails, at the same time as others; all_fail waits for all of them.
begun=''
begins() {
    beside=$work/beside$(echo "$begun" | wc -w)
    mkdir -p "$beside" && cp "$work/cookie" "$beside" || return 1
    (work=$beside && fails "$@") &
    begun="$begun $!"
}
all_fail() {
    all_failed=0
    for pid in $begun; do
        wait "$pid" || all_failed=1
    done
    begun=''
    return $all_failed
}

# What the node says is 1.2's in the handshake, 1.3's behind it.
begin_rejections() {
    begins 'asks for a certificate of its clients: give --tls-cert' --tls-verify none
    begins 'does not know the CA of the certificate' $c "$certs/stranger.pem" $k "$certs/stranger.key"
    begins 'it is expired' $c "$certs/expired.pem" $k "$certs/expired.key"
    begins 'or not valid yet' $c "$certs/early.pem" $k "$certs/early.key"
    begins 'clientAuth' $c "$certs/server.pem" $k "$certs/server.key"
}
c=--tls-cert k=--tls-key
client="$c $certs/client.pem $k $certs/client.key"
rejections_have_texts() { begin_rejections && all_fail; }

# What beamtop says is the same in all versions.
failures_have_texts() {
    begin_rejections
    begins 'no CA trusted here has signed' $client --tls-cacert "$certs/other.pem"
    begins 'does not send the certificates between' $client --tls-cacert "$certs/root.pem"
    begins 'whose CA is expired' $client --tls-cacert "$certs/old_ca.pem"
    begins 'or not valid yet: give the CA' $client --tls-cacert "$certs/early_ca.pem"
    begins 'rejected the cookie' --cookie-file "$work/wrong" $client
    one=$node
    for host in localhost a.b.shop.example; do # a wildcard is of one label
        node=${one%@*}@$host
        begins 'for another host name' $client --host 127.0.0.1 --tls-cacert "$certs/ca.pem" --tls-verify full
    done
    node=$one
    all_fail
}

# Its CA is an intermediate one here; a wildcard in its certificate.
chains_and_wildcards_fit() {
    asks $client --tls-cacert "$certs/chain.pem" --tls-verify full
    ends_with 0 $? && has_no_notice || return 1
    one=$node
    node=${one%@*}@a.shop.example
    asks $client --host 127.0.0.1 --tls-cacert "$certs/ca.pem" --tls-verify full
    fits=$?
    node=$one
    ends_with 0 $fits && says "$node" && logs_nothing
}

# Found out by the alert; OTP 23 only closes.
tcp_is_tried_first() {
    fails 'asks for a certificate of its clients' --host 127.0.0.1 || return 1
    fails "$([ "$1" = 23 ] && echo 'closed the connection during the handshake' || echo 'leave out --no-tls')" --no-tls
}

# A node that asks for no certificate, as without `verify`: by TCP and its alert, or by OTP 23's close.
is_found_out() {
    stop_node
    start_tls "$1" "'tlsv1.2'" "{verify, verify_none}" || return 1
    asks --host 127.0.0.1 --format json
    ends_with 0 $? && holds '.[0].system.processes > 20' && told 'was not checked' || return 1
    [ "$(grep -c ALERT "$work/node")" -le 1 ] || { cat "$work/node"; return 1; }
}

ciphers_differ() {
    stop_node
    start_tls "$1" "'tlsv1.2'" '{ciphers, ["ECDHE-RSA-AES128-GCM-SHA256"]}' || return 1
    fails 'no cipher in common' $client
    told=$?
    stop_node
    return $told
}

# A node without files: its certificates are terms, as `io:format` writes them, beside functions.
by_terms() {
    stop_node
    start_tls "$1" "'tlsv1.2'" || return 1
    : >"$work/node"
    cat >"$at/optfile" <<END
[{server, []}, {client, [{verify_fun, {fun inet_tls_dist:verify_client/3, []}}, {verify, verify_peer},
  {cacerts, [$(der x509 ca.pem)]},
  {certs_keys, [#{cert => $(der x509 client.pem), key => {'ECPrivateKey', $(der pkey client.key)}}]}]}].
END
    rm "$at"/client.* && by_its_own_files && "$beamtop" doctor "$node" --cookie-file "$work/cookie" >"$work/out" 2>"$work/err"
    says 'does not use verify_fun' || return 1
    sed 's/{cert.*/{password, fun() -> "x" end}]}]./' "$at/optfile" >"$work/optfile" && cp "$work/optfile" "$at/optfile"
    fails 'asks for a certificate.*not used: no certificate is in them, beside password, verify_fun'
}
# der COMMAND FILE: as a binary of Erlang.
der() { openssl "$1" -in "$certs/$2" -outform DER | od -An -v -tu1 | awk '{ for (i = 1; i <= NF; i++) printf "%s%s", n++ ? "," : "<<", $i } END { print ">>" }'; }

# Of the node a client's certificate, of beamtop the node's; and one that none of them has.
lists_count() {
    stop_node
    at=$("$otp_sh" --root "$1")$work/otp-$1
    mkdir -p "$at" && cp "$certs/revoked.crl" "$at/$(openssl crl -hash -noout -in "$certs/revoked.crl").r0" || return 1
    start_tls "$1" "'tlsv1.2'" "{verify, verify_peer}, {fail_if_no_peer_cert, true}, {crl_check, true},
        {crl_cache, {ssl_crl_hash_dir, {internal, [{dir, \"$work/otp-$1\"}]}}}" || return 1
    fails 'a revocation list of the node has it' $c "$certs/revoked.pem" $k "$certs/revoked.key" &&
        fails 'that --tls-crl has revoked' $client --tls-cacert "$certs/ca.pem" --tls-crl "$certs/node.crl" || return 1
    asks $client --tls-cacert "$certs/ca.pem" --tls-crl "$certs/revoked.crl"
    ends_with 0 $? && says "$node"
}

versions_differ() {
    stop_node
    start_tls "$1" "'tlsv1.1'" || return 1
    fails 'no TLS version in common' --tls-cert "$certs/client.pem" --tls-key "$certs/client.key"
    told=$?
    stop_node
    return $told
}

other_version() {
    stop_node
    start_tls "$1" "'tlsv1.3'" || return 1
    by_its_own_files && rejections_have_texts
}

tcp_nodes_say_nothing_in_tls() {
    asks --tls --timeout 1.5
    ends_with 3 $? && told 'does not answer to TLS within' && told 'give --no-tls' && asks && logs_nothing
}

# By -ssl_dist_opt, with paths from the directory of the VM, which a chroot is in.
by_arguments() {
    stop_node
    at=$("$otp_sh" --root "$1")$work/otp-$1
    in=${work#/}/otp-$1
    mkdir -p "$at" && cp "$certs/node.pem" "$certs/node.key" "$certs/client.pem" "$certs/client.key" "$certs/ca.pem" "$at"
    here=$PWD
    cd / || return 1 # as in a chroot
    start_node "$1" '' "-proto_dist inet_tls -ssl_dist_opt server_certfile $in/node.pem server_keyfile $in/node.key
        -ssl_dist_opt server_cacertfile $in/ca.pem server_verify verify_peer server_fail_if_no_peer_cert true
        -ssl_dist_opt client_certfile $in/client.pem client_keyfile $in/client.key"
    started=$?
    cd "$here" && [ "$started" = 0 ] || return 1
    asks --format json
    ends_with 0 $? && holds '.[0].system.processes > 20' && logs_nothing
}

by_ipv6() {
    grep -q . /proc/net/if_inet6 2>/dev/null || { echo "# no IPv6 here" >"$work/remark"; return 0; }
    stop_node
    proto=inet6_tls start_tls "$1" "'tlsv1.2'" || return 1
    by_its_own_files && certified --host ::1 && says "$node"
}

# The VM of another user: what that one can read, and no more, with root's rights or others.
of_another_user() {
    [ "$(id -u)" = 0 ] || { echo "# only root can start a VM as another user" >"$work/remark"; return 0; }
    stop_node
    at=$("$otp_sh" --root "$1")$work/otp-$1
    mkdir -p "$at" && chmod 755 "${at%/*}" && chmod 777 "$at"
    run_as='setpriv --reuid 64001 --regid 64001 --groups 64002 env HOME=/' start_readable "$1" || return 1
    by_its_own_files || return 1
    chown 0:0 "$at/client.key"
    fails "asks for a certificate.*client.key cannot be read by the node's user: Permission denied"
}
start_readable() {
    (umask 022 && start_tls "$1" "'tlsv1.2'" && echo "$node $node_pid" >"$work/started") &
    starter=$!
    wait_until 120 test -s "$at/client.key" && wait_until 120 test -s "$at/optfile" || return 1
    chown 0:64002 "$at"/*.key && chmod 640 "$at"/*.key && chmod 644 "$at"/*.pem || return 1
    wait "$starter" && read -r node node_pid <"$work/started"
}

# A recorder with files of its user and a screen with those of the node, while a new CA's take their place
# on both sides: of half a pair both say so, and with the whole they are connected again.
survives_renewal() {
    command -v tmux >/dev/null || { echo "# no tmux here" >"$work/remark"; return 0; }
    stop_node
    start_tls "$1" "'tlsv1.2'" && mkdir -p "$mine" && cp "$certs/ca.pem" "$certs/client.pem" "$certs/client.key" "$mine" || return 1
    begins_both && certs=$half && renews_all "$1"
    renewed_well=$?
    certs=$first
    tm_close
    record_of stop >/dev/null
    wait "$recorder" && recorder='' && [ "$renewed_well" = 0 ] && return
    cat "$work/err"
    return 1
}
begins_both() {
    record_of "$node" --cookie-file "$work/cookie" --timeout 60 --tls-cacert "$mine/ca.pem" --tls-cert "$mine/client.pem" \
        --tls-key "$mine/client.key" -i 1 -o "$work/renewal-$node.btr" >"$work/out" 2>"$work/err" </dev/null &
    recorder=$!
    tm_open 300 30 && tm_run "$beamtop $node --cookie-file $work/cookie --timeout 60" && tm_wait '● live' &&
        until_recorded "$recorder" ticks 2
}
renews_all() {
    cp "$half/client.pem" "$mine"
    stop_node
    start_tls "$1" "'tlsv1.2'" && wait_until 120 recorder_says "$not_a_pair" && tm_type 7 && tm_wait "$not_a_pair" || return 1
    cp "$renewed/client.key" "$at"
    cp "$renewed/ca.pem" "$renewed/client.key" "$mine"
    tm_wait '● live' && until_recorded "$recorder" ticks $(($(record_number ticks) + 2)) || return 1
    fails 'no CA trusted here has signed' --tls-cacert "$first/ca.pem" &&
        fails 'does not know the CA' --tls-cert "$first/client.pem" --tls-key "$first/client.key"
}
recorder_says() { record_of status --format json | grep -qF -e "$1"; }
not_a_pair='the private key is not that of the certificate'
first=$certs renewed=$work/renewed half=$work/half mine=$work/mine

stop_all() {
    tm_close
    for pid in ${recorder:-} ${peer:-}; do
        kill -9 "$pid" 2>/dev/null
    done
    stop_node
    stop_epmd
    rm -rf "$work"
}

makes_all >"$work/made" 2>&1 || fail_all "no certificates" "$work/made"
printf 'not this' >"$work/wrong"

# The node of the first is the one that each release starts with.
differ tcp_nodes_say_nothing_in_tls starts_by_tls by_its_own_files links_are_tls by_options by_an_encrypted_key \
    by_the_configuration chains_and_wildcards_fit traces leaves_nothing failures_have_texts tcp_is_tried_first other_version is_found_out \
    by_arguments survives_renewal by_ipv6 of_another_user
once by_terms lists_count
# Each with a node of its kind: on more than one release only in the longer check.
if [ "${BEAMTOP_CHECK:-}" = all ]; then differ versions_differ ciphers_differ; else once versions_differ ciphers_differ; fi
starts_by_tls() { stop_node && start_tls "$1" "'tlsv1.2'"; }
run_on_releases
