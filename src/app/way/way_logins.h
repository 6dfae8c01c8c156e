/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Who logs in to which host by ssh, and who waits for it. A host is logged in to once: each stream
 * to it waits for that, also after a loss. Where the user's configuration has a shared connection
 * (ControlPath) that is open, that one is used, and left open. A login that failed since ssh could
 * ask nobody is not repeated for a while, so that a host that counts failures does not lock the
 * user out. One thread. */
#ifndef BEAMTOP_APP_WAY_WAY_LOGINS_H
#define BEAMTOP_APP_WAY_WAY_LOGINS_H

#include "way_child.h"
#include "way_masters.h"

/* c is an ask, of a stream or of a login: it is answered, or starts, or waits. One that waits goes
 * when its asker does. */
void way_logins_want(struct way_masters *m, struct way_children *all, struct way_child *c);
/* Logs in to the next hosts that are waited for: few at once, as they may be behind one sshd. */
void way_logins_go_on(struct way_masters *m, struct way_children *all);
/* ssh asks a person: what it says goes there, and is looked for often. */
bool way_logins_ask(const struct way_children *all);
void way_logins_tell(struct way_masters *m, struct way_children *all);
/* The program of a login has ended: those who wait for it start, or fail. */
void way_logins_ended(struct way_masters *m, struct way_children *all, struct way_child *login);

#endif
