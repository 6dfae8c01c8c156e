/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Trees that the captures otpN.txt must give. The workload: servers b, c, w of one module, `busy`
 * loops, `sleep` is timer:sleep/1. "~20+" ended then or later. Times are those asked for. */
#ifndef BEAMTOP_TESTS_SPANS_EXPECTED_H
#define BEAMTOP_TESTS_SPANS_EXPECTED_H

static const struct {
    int release; /* 0: all */
    const char *name, *tree;
} expected[] = {
    /* busy 5; call b: busy 10, call c: busy 20, sleep 15; busy 5; busy 3 */
    {0, "light chain",
     "root wl:root/1 ok ~58 {call b ok ~50} (call b chain ok ~50 {call c ok ~35} "
     "(call c leaf ok ~35))"},
    {0, "full chain",
     "root wl:root/1 ok ~58 {call b ok ~50} (call b chain ok ~50 {call c ok ~35} "
     "(call c leaf ok ~35 {WAITING timer:sleep/1 ~15}))"},
    /* three processes, each busy 2, sleep 10, 20, 30; awaited one after the other; busy 2 */
    {0, "light task",
     "root wl:root/1 ok ~34 {call pid ok ~12 at-most} {call pid ok ~10 at-most} "
     "{call pid ok ~10 at-most} (task pid erlang:apply/2 unknown ~12+) "
     "(task pid erlang:apply/2 unknown ~22+) (task pid erlang:apply/2 unknown ~32+)"},
    {0, "full task",
     "root wl:root/1 ok ~34 {call pid ok ~12} {call pid ok ~10} {call pid ok ~10} "
     "(task pid erlang:apply/2 ok ~12 {WAITING timer:sleep/1 ~10}) "
     "(task pid erlang:apply/2 ok ~22 {WAITING timer:sleep/1 ~20}) "
     "(task pid erlang:apply/2 ok ~32 {WAITING timer:sleep/1 ~30})"},
    /* start d; busy 2; catch call d: busy 5, exit(boom); busy 2 */
    {0, "light crash",
     "root wl:root/1 ok ~9 (spawn pid proc_lib:init_p/5 unknown ~0+) "
     "(call pid crash unknown ~0+)"},
    {0, "full crash",
     "root wl:root/1 ok ~9 {call pid boom exit ~5} (spawn pid proc_lib:init_p/5 ok ~0) "
     "(call pid crash exit boom ~5)"},
    /* catch call b with 20: sleep 50; busy 4 */
    {0, "light timeout", "root wl:root/1 ok ~24 (call b sleep unknown ~0+)"},
    {0, "full timeout",
     "root wl:root/1 ok ~24 {call b timeout ~20} (call b sleep late ~50 "
     "{WAITING timer:sleep/1 ~50})"},
    /* call pool, whose reply comes 20 later without the token; call w: busy 10; cast; busy 2 */
    {0, "light pool",
     "root wl:root/1 ok ~32 (call pool checkout unknown ~0+ "
     "(spawn pid erlang:apply/2 unknown ~0+))"},
    {0, "full pool",
     "root wl:root/1 ok ~32 {call pool elsewhere ~20} {call w ok ~10} "
     "(call pool checkout elsewhere ~0 (spawn pid erlang:apply/2 unknown ~0+)) "
     "(call w busy ok ~10) (cast pool checkin ok ~0)"},
    /* cast c: busy 6; busy 3; call b: busy 2 */
    {0, "light cast",
     "root wl:root/1 ok ~5 {call b ok ~2} (call b busy ok ~2) (cast c busy unknown ~0+)"},
    {0, "full cast", "root wl:root/1 ok ~5 {call b ok ~2} (call b busy ok ~2) (cast c busy ok ~6)"},
    /* call b, which hands the caller to the replier: busy 8, reply; busy 1 */
    {0, "light defer",
     "root wl:root/1 ok ~9 {call b ok ~8} (call b defer elsewhere ~0+ "
     "(message replier reply_for unknown ~8+))"},
    {0, "full defer",
     "root wl:root/1 ok ~9 {call b ok ~8} (call b defer elsewhere ~0 "
     "(message replier reply_for ok ~8))"},
    /* busy 2; catch calls to no name and to a dead process; busy 2 */
    {0, "light noproc", "root wl:root/1 ok ~4 (spawn pid erlang:apply/2 unknown ~0+)"},
    {0, "full noproc", "root wl:root/1 ok ~4 (spawn pid erlang:apply/2 ok ~0)"},
    /* busy 2; call b of another node: busy 10; busy 1 */
    {0, "light remote",
     "root wl:root/1 ok ~13 {call b@other@host ok ~10} (call b@other@host - ok ~10 leaf)"},
    {0, "full remote",
     "root wl:root/1 ok ~13 {call b@other@host ok ~10} (call b@other@host - ok ~10 leaf)"},
    /* a gen_statem that sleeps 10 */
    {0, "light statem", "root wl:root/1 ok ~10 {call sm ok ~10} (call sm sleep ok ~10)"},
    {0, "full statem",
     "root wl:root/1 ok ~10 {call sm ok ~10} (call sm sleep ok ~10 {WAITING timer:sleep/1 ~10})"},
    /* a gen_event: sync_notify busy 4, notify busy 3, call busy 2 */
    {0, "light event",
     "root wl:root/1 ok ~9 {call ev ok ~4} {call ev ok ~5} (call ev sync_notify ok ~4) "
     "(message ev notify unknown ~0+) (call ev call ok ~2)"},
    {0, "full event",
     "root wl:root/1 ok ~9 {call ev ok ~4} {call ev ok ~5} (call ev sync_notify ok ~4) "
     "(message ev notify ok ~3) (call ev call ok ~2)"},
    /* {self(), Ref, …} to a loop, which replies {Ref, ok}; to an alias, where there are any */
    {0, "light plain", "root wl:root/1 ok ~5 {call plain ok ~5} (message plain - ok ~5)"},
    {0, "full plain", "root wl:root/1 ok ~5 {call plain ok ~5} (message plain - ok ~5)"},
    {0, "light alias", "root wl:root/1 ok ~5 {call plain ok ~5} (message plain - ok ~5)"},
    {0, "full alias", "root wl:root/1 ok ~5 {call plain ok ~5} (message plain - ok ~5)"},
    /* call b with 10: sleep 50 */
    {0, "light raise",
     "root wl:root/1 timeout timeout ~10 {call b timeout ~10} (call b sleep late ~0+)"},
    {0, "full raise",
     "root wl:root/1 timeout timeout ~10 {call b timeout ~10} (call b sleep late ~50 "
     "{WAITING timer:sleep/1 ~50})"},
    /* send_request b: busy 6; busy 3; wait. Light mode takes it for a call from the start. */
    {0, "light sendreq", "root wl:root/1 ok ~6 {call b ok ~6} (call b busy ok ~6)"},
    {0, "full sendreq", "root wl:root/1 ok ~6 {call b ok ~3} (call b busy ok ~6)"},
};

#endif
