#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# `beamtop sample`, `blame` and `pstack` on VMs that were started without any flag:
# loads whose shares are known (sample_load.erl), VMs that end, load code, or belong to somebody else;
# nothing is left afterwards. Samples need perf_event_open(2) and process_vm_readv(2): where they are
# refused each test is a skip with the reason.
# shellcheck disable=SC1091,SC2034,SC2154,SC2317
set -u
. "$(dirname "$0")/../tap.sh"

load=sample_load
. "$(dirname "$0")/releases.sh"

include=$(for d in /usr/lib/erlang/usr/include /usr/local/lib/erlang/usr/include; do
    [ -f "$d/erl_nif.h" ] && echo "$d" && break
done)

# The OS pid on this host: that in the node's root is the same, since chroot keeps the namespace.
os_pid() { cat "$dir/pid"; }

sample() {
    "$beamtop" sample "$(os_pid)" --format json "$@" >"$work/out" 2>"$work/err" || { cat "$work/err"; return 1; }
}

# works NAME: that work has begun.
works() {
    rm -f "$dir/worker"
    order "$1" && wait_until 60 test -s "$dir/worker"
}

# sampled FILTER LOAD OPTION…: while that load runs, for as long as it takes until the filter holds:
# beside other programs the VM runs less.
sampled() {
    filter=$1
    works "$2" || return 1
    shift 2
    for seconds in 1 2 4 8 16 32; do
        sample --for "${seconds}s" "$@"
        rc=$?
        if [ $rc != 0 ] || jq -se "$filter" "$work/out" >/dev/null; then break; fi
    done
    order still && [ "$rc" = 0 ] && holds "$filter"
}

# has_share FUNCTION SHARE: of the samples below chain_main/0, within twice the 95% interval, and 5%
# for its own frames and for how fast equal code runs, which changes with what else runs on the core.
has_share() {
    jq -r --arg f "sample_load:$1" --argjson share "$2" \
        '(.functions[] | select(.function == "sample_load:chain_main/0") | .total) as $all |
         (([.functions[] | select(.function == $f) | .self] | add // 0) / $all) as $found |
         (2 * 1.96 * ($share * (1 - $share) / $all | sqrt) + 0.05) as $margin |
         "\($f): a share of \($found) in \($all) samples, \($share) ± \($margin) expected",
         ($found - $share | fabs <= $margin)' "$work/out" >"$work/share"
        [ "$(tail -n 1 "$work/share")" = true ] || { head -n 1 "$work/share"; return 1; }
}

# Also where the process table has been used 100,000 times.
finds_known_shares() {
    known=timed
    [ "$otp" -ge 25 ] || known=chain
    order many && sampled '.[0].samples >= 300' "$known" --hz 999 || return 1
    if [ "$known" = chain ]; then
        told 'no JIT|no compiled code'
        return
    fi
    holds '.[0].lost * 100 <= .[0].samples' &&
        read -r share_a share_b <"$dir/shares" && has_share leaf_a/2 "$share_a" && has_share leaf_b/2 "$share_b" ||
        return 1
    jq -r '"# \(.samples) samples, \(.complete) complete, \(.moved_on) moved on, \(.unresolved) unresolved"' \
        "$work/out" >"$work/remark"
    holds ".[0].processes[0].pid == \"$(cat "$dir/worker")\" and (.[0].processes[0].share > 0.5)" &&
        holds '(.[0].complete / .[0].samples) >= 0.95 and .[0].moved_on <= 1 + .[0].samples / 100'
}

# blamed CALLER LOAD FUNCTION…: callers of that name have 90% at least, within its error. Beside other
# programs the VM runs less, and so many samples take longer.
blamed() {
    caller=$1
    works "$2" || return 1
    shift 2
    for seconds in 1 2 4 8 16 32; do
        "$beamtop" blame "$(os_pid)" "$@" --for "${seconds}s" --hz 999 --format json >"$work/out" 2>"$work/err"
        rc=$?
        if [ $rc != 0 ] || jq -e '.matched >= 30' "$work/out" >/dev/null; then break; fi
    done
    order still
    [ "$rc" = 0 ] || { cat "$work/err"; return 1; }
    holds ".[0].matched >= 10 and ([.[0].callers[] | select(.function // \"\" | test(\"^$caller\"))
        | .share + .share_error] | add // 0) >= 0.9"
}

# The copies of a message are made for who sends it. Debian's OTP 29 has no symbols: the fragment that
# calls a BIF stands for them.
blames_copies() {
    copies=copies
    [ "$otp" -lt 29 ] || copies=call_light_bif_shared
    blamed sample_load:copier/2 copy "$copies"
}

blames_collections() { blamed '(sample_load:|lists:seq)' gc gc; }

# What a process is about to call when a dirty scheduler collects it is not on its stack. Without the
# symbols of the VM (OTP 29) a collection is a function of the VM as any other there.
blames_dirty_collections() {
    [ "$otp" -ge 29 ] || blamed sample_load:large_build/2 large gc || return 1
    sampled '.[0].samples >= 20 and ([.[0].functions[] | select(.function == "sample_load:large_build/2")
        | .total] | add // 0) >= 0.6 * .[0].samples' large --hz 499 --thread dirty_cpu
}

names_a_bif() {
    blamed sample_load:nat/1 nat 'binary:copy/2' &&
        sampled '.[0].samples >= 100 and .[0].unresolved * 100 <= .[0].samples' nat --hz 499
}

can_build_nif() {
    [ -n "$include" ] && command -v "${CC:-cc}" >/dev/null && return
    not_tried "no erl_nif.h, or no compiler"
    return 1
}

builds_nif() {
    "${CC:-cc}" -shared -fPIC -O1 -nostdlib -I"$include" "$BEAMTOP_SRCDIR/tests/live/sample_nif.c" \
        -o "$dir/sample_nif.so" 2>"$work/err" || { cat "$work/err"; return 1; }
}

blames_a_library() {
    can_build_nif || return 0
    builds_nif || return 1
    blamed sample_load:user/1 nif sample_nif.so && blamed sample_load:duser/1 dirty nifs &&
        sampled '.[0].samples >= 50' dirty --hz 499 &&
        holds ".[0].processes[0].pid == \"$(cat "$dir/worker")\" and
            ([.[0].classes[] | select(.class == \"nif\") | .share] | add) > 0.5"
}

# A call that is longer than the time between samples is seen as one; those of a few ms, which are made
# again and again in the same place, are not taken for one. All samples are on some CPU.
finds_calls_that_hold_a_scheduler() {
    can_build_nif || return 0
    builds_nif || return 1
    sampled 'any(.[0].held[]; .caller == "sample_load:luser/1" and .object == "sample_nif.so" and
        .samples >= 3 and .seconds > 0.01)' held --hz 199 || return 1
    worker=$(cat "$dir/worker")
    holds "all(.[0].held[] | select(.caller == \"sample_load:luser/1\"); .pid == \"$worker\")" &&
        holds '[.[0].held[] | select(.caller == "sample_load:user/1" and .samples > 4)] | length == 0' &&
        holds 'all(.[0].threads[]; ([.places[].samples] | add) == .samples and .moves < .samples)' &&
        holds "[.[0].processes[] | select(.pid == \"$worker\") | .places[] | select(.place | test(\"^scheduler [0-9]+\$\"))] | length >= 1"
}

# Deeper than the copy of the stack that comes with a sample.
marks_deep_stacks() {
    sampled '.[0].truncated > 0 and any(.[0].functions[]; .function == "sample_load:deep/1")' deep
}

survives_code_loading() {
    works loads && sampled 'any(.[0].functions[]; .function == "sample_load:leaf_a/2")' chain
}

shows_stacks() {
    works chain || return 1
    one_of 8 shows_the_chain
    rc=$?
    order still && [ $rc = 0 ]
}

shows_the_chain() {
    "$beamtop" pstack "$(os_pid)" --format json >"$work/out" 2>"$work/err"
    rc=$?
    "$beamtop" pstack "$(os_pid)" --all >"$work/text" 2>>"$work/err"
    [ $rc = 0 ] || { cat "$work/err"; return 1; }
    holds '[.[0].threads[] | select(any(.frames[]?; .function == "sample_load:f1/1"))] | length >= 1' || return 1
    # The body of some stands on the line of their head.
    holds '[.[0].threads[].frames[]? | select(.function | startswith("sample_load:")) | .line > 0] | length > 0 and all' ||
        return 1
    cat "$work/text"
    grep -q 'scheduler 1' "$work/text" && grep -qE 'idle|sample_load' "$work/text"
}

# Samples go on while the sampler ends.
waits_for_each_scheduler() {
    works chain && works chain && works chain || return 1
    rc=0
    for _ in 1 2 3 4; do
        [ $rc = 0 ] || break
        "$beamtop" pstack "$(os_pid)" --wait --format json >"$work/out" 2>"$work/err"
        rc=$?
    done
    order still
    [ $rc = 0 ] || { cat "$work/err"; return 1; }
    holds 'any(.[0].threads[]; .frames | length > 0)'
}

# A dirty scheduler that looks for work, with the process that ran last on its stack. Where the VM has
# no symbols that is not known. What is in the scheduler is its own, and the process has no more than
# its native function took.
knows_a_scheduler_from_its_process() {
    sampled '.[0].samples >= 50' files --hz 999 --thread dirty_io || return 1
    # shellcheck disable=SC2016 # a name of jq
    holds '.[0] | ([.functions[] | {(.function): .total_share}] | add) as $share
        | $share.erts_schedule > 0.1
        and ([.classes[] | select(.class == "scheduler") | .share][0] >= $share.erts_schedule)
        and ($share["sample_load:files/0"] // 0) <=
            ($share.erts_call_dirty_nif // 0) + 0.05 + 1 / (.samples | sqrt)'
}

is_one_of_several() { [ "$("$beamtop" nodes --format json | grep -oF "\"$node\"" | wc -l)" -ge 2 ]; }

has_runs() {
    "$beamtop" report "$work/runs.btr" --format json >"$work/out" 2>"$work/report" &&
        jq -es '.[0].samples.runs >= 1 and .[0].samples.samples >= 20' "$work/out" >/dev/null
}

# Runs in a recording: the report has them all, also the last one, which the end of the recording cuts.
# Of two VMs of that name, the one with the node's OS pid is looked at from outside.
records_runs() {
    works chain || return 1
    erl -noinput -name "$node" -dist_listen false -eval 'timer:sleep(300000), halt().' >/dev/null 2>&1 &
    namesake=$!
    wait_long 120 is_one_of_several || { echo "no second VM is listed"; return 1; }
    rm -f "$work/runs.btr"
    XDG_STATE_HOME=$work/state "$beamtop" record "$node" --cookie-file "$work/cookie" --timeout 30 \
        -i 1 --for 300s --sample 1s --sample-every 2s --hz 199 -o "$work/runs.btr" >"$work/text" 2>"$work/err" &
    run_pid=$!
    wait_long 120 has_runs
    is_one_of_several
    known=$?
    kill -INT "$run_pid"
    wait "$run_pid"
    rc=$?
    kill -9 "$namesake"
    wait "$namesake" 2>/dev/null
    order still
    [ "$known" = 0 ] && ends_with 0 "$rc" || return 1
    has_runs || { cat "$work/report"; return 1; }
    holds '[.[0].samples.functions[] | select(.function == "sample_load:leaf_a/2") | .self_share] | length == 1 and .[0] > 0.4' &&
        is_clean
}

# Of the samples of a short function some stand before its first instruction.
shows_prologues() {
    works chain || return 1
    "$beamtop" sample "$(os_pid)" --for 1s --hz 999 --skid-summary >"$work/out" 2>"$work/err"
    rc=$?
    order still
    [ $rc = 0 ] || { cat "$work/err"; return 1; }
    says '^[0-9.]+% of the samples stood in a breakpoint prologue'
}

# Names are the node's: registered ones of processes that ran.
names_processes() {
    works named || return 1
    "$beamtop" sample "$node" --names --for 1s --cookie-file "$work/cookie" --timeout 30 --format json >"$work/out" 2>"$work/err"
    rc=$?
    order still
    [ $rc = 0 ] || { cat "$work/err"; return 1; }
    holds '.[0].processes[0].name == "sample_worker"' && is_clean
}

# A program that another user may start, wherever the build is.
as_stranger() {
    setpriv --reuid 65534 --regid 65534 --clear-groups "$work/beamtop" "$@" >"$work/out" 2>"$work/err"
}

# Whose VM it is not gets a sentence that says what would help, no samples, and on request what is left.
refuses_strangers() {
    if [ "$(id -u)" != 0 ] || ! command -v setpriv >/dev/null; then
        not_tried "needs root and setpriv"
        return 0
    fi
    chmod 755 "$work" && cp "$beamtop" "$work/beamtop" && chmod 755 "$work/beamtop" || return 1
    for command in sample pstack 'blame nifs'; do
        # shellcheck disable=SC2086
        set -- $command
        word=$1
        shift
        as_stranger "$word" "$(os_pid)" "$@"
        ends_with 1 $? && [ ! -s "$work/out" ] &&
            told 'runs as another user, uid 0. Run beamtop as that user, as root, or with CAP_SYS_PTRACE' || return 1
    done
    as_stranger sample "$(os_pid)" --check
    ends_with 1 $? && says '^with stacks +no: .*Permission denied.*CAP_SYS_PTRACE' &&
        says '^by address +no: for the same reason' && says '^by the node +.beamtop sample NODE --remote' &&
        says '^from /proc +yes: .beamtop cpus NODE'
}

# Who nobody is: a thread and a scheduler before, a process after a run.
knows_nobody() {
    : >"$work/err"
    for words in '--scheduler 1024' '--thread 99999999' '--pid <0.99999999.0>'; do
        # shellcheck disable=SC2086
        "$beamtop" sample "$(os_pid)" --for 0.1s $words >"$work/out" 2>>"$work/err"
    done
    told 'the VM has no scheduler 1024' && told 'the VM has no thread 99999999' &&
        told '<0.99999999.0> was not seen: it did not run in that time'
}

# The lines of the heads, or of the first call in a function, as the source has them.
says_where() {
    source=$BEAMTOP_SRCDIR/tests/live/sample_load.erl
    for function in f1/1 leaf_a/2 many/1; do
        line=$(grep -n -m 1 "^${function%/*}(" "$source" | cut -d : -f 1)
        "$beamtop" where "$(os_pid)" "sample_load:$function" >"$work/out" 2>"$work/err"
        ends_with 0 $? && says "^sample_load:$function  .*sample_load.erl:$line\$" || return 1
    done
    "$beamtop" where "$(os_pid)" "'sample_load':leaf_a" >"$work/out" 2>"$work/err"
    ends_with 0 $? && says '^sample_load:leaf_a/2  .*sample_load.erl:' && [ "$(wc -l <"$work/out")" = 1 ] || return 1
    "$beamtop" where "$(os_pid)" sample_load >"$work/out" 2>"$work/err"
    ends_with 0 $? && says '^sample_load:deep/1 ' && [ "$(wc -l <"$work/out")" -gt 20 ] || return 1
    "$beamtop" where "$(os_pid)" sample_load:nobody/1 >"$work/out" 2>"$work/err"
    ends_with 1 $? && told 'sample_load:nobody/1 is not loaded, or not a function'
}

# Printed as text only.
# Emulators of distributions have only the symbols that they export.
says_what_is_stripped() {
    sampled '[.[0].functions[] | select(.function == "[beam.smp]") | .self_share] | add > 0.3' maps &&
        told 'its symbols are stripped'
}

checks_itself() {
    "$beamtop" sample "$(os_pid)" --check --for 0.5s >"$work/out" 2>"$work/err"
    ends_with 0 $? && says '^with stacks +yes' && says '^from /proc +yes' || return 1
    vm_exe=$(readlink -f "/proc/$(os_pid)/root$(readlink "/proc/$(os_pid)/exe")")
    if [ -f "$vm_exe" ] && command -v readelf >/dev/null && ! readelf -SW "$vm_exe" | grep -qF .symtab; then
        ! says "^native names +of the VM's own functions too" >/dev/null && says_what_is_stripped || return 1
    fi
    "$beamtop" sample "$(os_pid)" --check --format json >"$work/out" 2>"$work/err"
    ends_with 2 $? && told '.-check is printed as text only' || return 1
    "$beamtop" blame "$(os_pid)" '' >"$work/out" 2>"$work/err"
    ends_with 2 $? && told 'blame needs a function'
}

# has_begun PID: its sampler, $child, has events, so what follows is sampled.
has_begun() {
    child=$(pgrep -P "$1") && find "/proc/$child/fd" -lname '*perf_event*' 2>/dev/null | grep -q .
}

# begins [OPTION…]: a run, process $run_pid, whose sampler is $child.
begins() {
    setsid "$beamtop" sample "$(os_pid)" --for 60s --format json "$@" >"$work/out" 2>"$work/err" &
    run_pid=$!
    wait_until 60 has_begun "$run_pid" || { cat "$work/err"; kill "$run_pid"; return 1; }
}

# worked [N]: the VM has run for so many thirds of a second since, one by default.
cpu_ticks() { sed 's/.*) //' "/proc/$(os_pid)/stat" | cut -d ' ' -f 12; }
has_run_until() { [ "$(cpu_ticks)" -ge "$1" ]; }
worked() { wait_until 60 has_run_until "$(($(cpu_ticks) + $(getconf CLK_TCK) * ${1:-1} / 3))"; }

ended_well() {
    wait "$run_pid" || { cat "$work/err"; return 1; }
    wait_until 60 test ! -d "/proc/$child"
}

# The sampler may be killed; who started it says so, and the VM goes on.
tells_a_killed_sampler() {
    begins && kill -9 "$child" || return 1
    ! wait "$run_pid" && told 'sampler was ended by signal 9' && order still
}

# One that is stopped, or hangs, is not waited for: neither by its time nor when it is to end.
ends_a_stopped_sampler() {
    begins && kill -STOP "$child" && kill -INT "$run_pid" || return 1
    ! wait "$run_pid" && told 'the sampler was ended: it had not answered' &&
        wait_until 60 test ! -d "/proc/$child" && order still
}

# C-c of a terminal, and the end of a service: all processes of the group get it. It prints what it
# has, and no process of ours stays.
ends_early() {
    works chain || return 1
    ends_by INT && ends_by TERM
    ended=$?
    order still && return "$ended"
}

ends_by() {
    begins && worked && kill -s "$1" -- "-$run_pid" && ended_well &&
        holds '.[0].samples > 0 and .[0].seconds < 60'
}

writes_into_a_file() {
    "$beamtop" sample "$(os_pid)" --for 0.5s --format html -o "$work/flame.html" >"$work/out" 2>"$work/err"
    ends_with 0 $? && [ ! -s "$work/out" ] || return 1
    grep -q "<title>beamtop sample: .* on $(uname -n), .*20[0-9-]* [0-9:]* UTC</title>" "$work/flame.html" || return 1
    "$beamtop" sample "$(os_pid)" --check -o "$work/check" >"$work/out" 2>"$work/err"
    ends_with 2 $? && told 'leave out -o' && [ ! -e "$work/check" ]
}

stopped_again() {
    kill -INT "$run_pid"
    case $(sed 's/.*) //' "/proc/$run_pid/stat" 2>/dev/null) in
    '' | Z*) return 0 ;;
    esac
    return 1
}

# A sampler that does not end, as one that parses (here it is stopped): a second C-c ends it.
ends_at_once() {
    begins || return 1
    kill -STOP "$child"
    kill -INT "$run_pid"
    sleep 1
    kill -0 "$run_pid" || { echo "it did not wait for the sampler"; return 1; }
    # Two that come before the first is read are one.
    wait_until 60 stopped_again
    ! ended_well >"$work/text" && told 'stopped twice' && wait_until 60 test ! -d "/proc/$child"
}

# Its names are those of the library, though it was loaded after the sampler had begun.
names_libraries_loaded_later() {
    can_build_nif || return 0
    builds_nif || return 1
    begins --hz 199 && works nif && worked 9 && kill -INT "$run_pid" && ended_well
    rc=$?
    order still
    [ $rc = 0 ] && holds 'any(.[0].functions[]; .object == "sample_nif.so" and .self > 0)'
}

survives_the_end_of_the_vm() {
    works chain && begins && worked || return 1
    stop_node
    ended_well && told 'the VM has ended' && holds '.[0].schema == "beamtop.sample/1"
        and .[0].sampler_cpu_s < 1 and .[0].target_cpu_s == null'
}

# What reads the memory of the VM depends on its release; 23 has no JIT, and says so in the first. The
# VM of OTP 29 has no symbols.
since 25 blames_copies blames_collections blames_dirty_collections names_a_bif blames_a_library \
    finds_calls_that_hold_a_scheduler marks_deep_stacks survives_code_loading shows_stacks \
    waits_for_each_scheduler knows_a_scheduler_from_its_process records_runs shows_prologues \
    names_processes knows_nobody says_where checks_itself names_libraries_loaded_later
before 29 knows_a_scheduler_from_its_process
reads_the_vm() {
    differ "$@"
    [ "${BEAMTOP_CHECK:-}" = all ] || same "$@"
}

try_sampling
reads_the_vm finds_known_shares blames_copies names_a_bif blames_a_library finds_calls_that_hold_a_scheduler \
    marks_deep_stacks survives_code_loading shows_stacks says_where blames_dirty_collections
same blames_collections names_libraries_loaded_later knows_a_scheduler_from_its_process waits_for_each_scheduler \
    records_runs names_processes shows_prologues checks_itself writes_into_a_file tells_a_killed_sampler \
    ends_a_stopped_sampler ends_early ends_at_once
once refuses_strangers knows_nobody survives_the_end_of_the_vm
run_on_releases
