/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Trees that the captures otpN.txt must give. The workload: servers b, c, w of one module, `busy`
 * loops, `sleep` is timer:sleep/1. "~20+" ended then or later. Times are those asked for. */
#ifndef BEAMTOP_TESTS_SPANS_EXPECTED_H
#define BEAMTOP_TESTS_SPANS_EXPECTED_H

static const struct {
    bool elixir; /* of elixir.txt: Elixir 1.14 on OTP 25 */
    const char *name, *tree;
} expected[] = {
    /* busy 5; call b: busy 10, call c: busy 20, sleep 15; busy 5; busy 3 */
    {false, "light chain",
     "root wl:root/1 ok ~58 {call b ok ~50} (call b chain ok ~50 {call c ok ~35} "
     "(call c leaf ok ~35))"},
    {false, "full chain",
     "root wl:root/1 ok ~58 {call b ok ~50} (call b chain ok ~50 {call c ok ~35} "
     "(call c leaf ok ~35 {WAITING timer:sleep/1 ~15}))"},
    /* three processes, each busy 2, sleep 10, 20, 30; awaited one after the other; busy 2 */
    {false, "light task",
     "root wl:root/1 ok ~34 {call pid ok ~12 at-most} {call pid ok ~10 at-most} "
     "{call pid ok ~10 at-most} (task pid erlang:apply/2 unknown ~12+) "
     "(task pid erlang:apply/2 unknown ~22+) (task pid erlang:apply/2 unknown ~32+)"},
    {false, "full task",
     "root wl:root/1 ok ~34 {call pid ok ~12} {call pid ok ~10} {call pid ok ~10} "
     "(task pid erlang:apply/2 ok ~12 {WAITING timer:sleep/1 ~10}) "
     "(task pid erlang:apply/2 ok ~22 {WAITING timer:sleep/1 ~20}) "
     "(task pid erlang:apply/2 ok ~32 {WAITING timer:sleep/1 ~30})"},
    /* start d; busy 2; catch call d: busy 5, exit(boom); busy 2 */
    {false, "light crash",
     "root wl:root/1 ok ~9 {call pid unknown ~7 at-most} (spawn pid proc_lib:init_p/5 unknown ~0+) "
     "(call pid crash unknown ~0+)"},
    {false, "full crash",
     "root wl:root/1 ok ~9 {call pid boom exit ~5} (spawn pid proc_lib:init_p/5 ok ~0) "
     "(call pid crash exit boom ~5)"},
    /* catch call b with 20: sleep 50; busy 4 */
    {false, "light timeout",
     "root wl:root/1 ok ~24 {call b unknown ~24 at-most} (call b sleep unknown ~0+)"},
    {false, "full timeout",
     "root wl:root/1 ok ~24 {call b timeout ~20} (call b sleep late ~50 "
     "{WAITING timer:sleep/1 ~50})"},
    /* call pool, whose reply comes 20 later without the token; call w: busy 10; cast; busy 2 */
    {false, "light pool",
     "root wl:root/1 ok ~32 {call pool unknown ~32 at-most} (call pool checkout unknown ~0+ "
     "(spawn pid erlang:apply/2 unknown ~0+))"},
    {false, "full pool",
     "root wl:root/1 ok ~32 {call pool elsewhere ~20} {call w ok ~10} "
     "(call pool checkout elsewhere ~0 (spawn pid erlang:apply/2 unknown ~0+)) "
     "(call w busy ok ~10) (cast pool checkin ok ~0)"},
    /* cast c: busy 6; busy 3; call b: busy 2 */
    {false, "light cast",
     "root wl:root/1 ok ~5 {call b ok ~2} (call b busy ok ~2) (cast c busy unknown ~0+)"},
    {false, "full cast",
     "root wl:root/1 ok ~5 {call b ok ~2} (call b busy ok ~2) (cast c busy ok ~6)"},
    /* call b, which hands the caller to the replier: busy 8, reply; busy 1 */
    {false, "light defer",
     "root wl:root/1 ok ~9 {call b ok ~8} (call b defer elsewhere ~0+ "
     "(message replier reply_for unknown ~8+))"},
    {false, "full defer",
     "root wl:root/1 ok ~9 {call b ok ~8} (call b defer elsewhere ~0 "
     "(message replier reply_for ok ~8))"},
    /* busy 2; catch calls to no name and to a dead process; busy 2 */
    {false, "light noproc", "root wl:root/1 ok ~4 (spawn pid erlang:apply/2 unknown ~0+)"},
    {false, "full noproc", "root wl:root/1 ok ~4 (spawn pid erlang:apply/2 ok ~0)"},
    /* busy 2; call b of another node: busy 10; busy 1 */
    {false, "light remote",
     "root wl:root/1 ok ~13 {call b@other@host ok ~10} (call b@other@host - ok ~10 leaf)"},
    {false, "full remote",
     "root wl:root/1 ok ~13 {call b@other@host ok ~10} (call b@other@host - ok ~10 leaf)"},
    /* a gen_statem that sleeps 10 */
    {false, "light statem", "root wl:root/1 ok ~10 {call sm ok ~10} (call sm sleep ok ~10)"},
    {false, "full statem",
     "root wl:root/1 ok ~10 {call sm ok ~10} (call sm sleep ok ~10 {WAITING timer:sleep/1 ~10})"},
    /* a gen_event: sync_notify busy 4, notify busy 3, call busy 2 */
    {false, "light event",
     "root wl:root/1 ok ~9 {call ev ok ~4} {call ev ok ~5} (call ev sync_notify ok ~4) "
     "(message ev notify unknown ~0+) (call ev call ok ~2)"},
    {false, "full event",
     "root wl:root/1 ok ~9 {call ev ok ~4} {call ev ok ~5} (call ev sync_notify ok ~4) "
     "(message ev notify ok ~3) (call ev call ok ~2)"},
    /* {self(), Ref, …} to a loop, which replies {Ref, ok}; to an alias, where there are any */
    {false, "light plain", "root wl:root/1 ok ~5 {call plain ok ~5} (message plain - ok ~5)"},
    {false, "full plain", "root wl:root/1 ok ~5 {call plain ok ~5} (message plain - ok ~5)"},
    {false, "light alias", "root wl:root/1 ok ~5 {call plain ok ~5} (message plain - ok ~5)"},
    {false, "full alias", "root wl:root/1 ok ~5 {call plain ok ~5} (message plain - ok ~5)"},
    /* call b with 10: sleep 50 */
    {false, "light raise",
     "root wl:root/1 timeout timeout ~10 {call b timeout ~10} (call b sleep late ~0+)"},
    {false, "full raise",
     "root wl:root/1 timeout timeout ~10 {call b timeout ~10} (call b sleep late ~50 "
     "{WAITING timer:sleep/1 ~50})"},
    /* send_request b: busy 6; busy 3; wait. Light mode takes it for a call from the start. */
    {false, "light sendreq", "root wl:root/1 ok ~6 {call b ok ~6} (call b busy ok ~6)"},
    {false, "full sendreq", "root wl:root/1 ok ~6 {call b ok ~3} (call b busy ok ~6)"},
    /* Task.async (busy 5, sleep 8) and await, busy 2; Agent.get (busy 5); Task.Supervisor.async
       (busy 3, sleep 10); async_stream of 10 and 20; GenServer.call (busy 6) */
    {true, "light extask",
     "root wl:root/1 ok ~15 {call pid ok ~13} (task pid proc_lib:init_p/5 ok ~13)"},
    {true, "full extask",
     "root wl:root/1 ok ~15 {call pid ok ~13} (task pid proc_lib:init_p/5 ok ~13 {WAITING "
     "timer:sleep/1 ~8})"},
    {true, "light exagent", "root wl:root/1 ok ~5 {call agent ok ~5} (call agent get ok ~5)"},
    {true, "full exagent", "root wl:root/1 ok ~5 {call agent ok ~5} (call agent get ok ~5)"},
    {true, "light exsup",
     "root wl:root/1 ok ~13 {call pid ok ~13} (call tasks start_task ok ~0 (task pid "
     "proc_lib:init_p/5 ok ~13))"},
    {true, "full exsup",
     "root wl:root/1 ok ~13 {call pid ok ~13} (call tasks start_task ok ~0 (task pid "
     "proc_lib:init_p/5 ok ~13 {WAITING timer:sleep/1 ~10}))"},
    {true, "light exstream",
     "root wl:root/1 ok ~20 {message pid ok ~10 at-most} {message pid ok ~4 at-most} (spawn pid "
     "erlang:apply/2 ok ~20 (task pid proc_lib:init_p/5 ok ~10) (task pid proc_lib:init_p/5 ok "
     "~20))"},
    {true, "full exstream",
     "root wl:root/1 ok ~20 {message pid ok ~10} {message pid ok ~10} (spawn pid erlang:apply/2 ok "
     "~20 {message pid ok ~10} {message pid ok ~10} (task pid proc_lib:init_p/5 ok ~10 {WAITING "
     "timer:sleep/1 ~10}) (task pid proc_lib:init_p/5 ok ~20 {WAITING timer:sleep/1 ~20}))"},
    {true, "light exgs", "root wl:root/1 ok ~6 {call b ok ~6} (call b busy ok ~6)"},
    {true, "full exgs", "root wl:root/1 ok ~6 {call b ok ~6} (call b busy ok ~6)"},
};

#endif
