/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Logins to the hosts of several URLs, beside each other. Those that need nobody come first; where
 * ssh needs a person, it asks at the terminal, one host after another. Thread: main's, which waits
 * for all of it: the terminal is ssh's for that time. */
#ifndef BEAMTOP_APP_WAY_REACH_LOGIN_H
#define BEAMTOP_APP_WAY_REACH_LOGIN_H

#include "reach.h"

struct reach_login {
    const char *url; /* of ssh; borrowed */
    bool is_needed;  /* its end is waited for; any other goes on by itself after a second */
    int rc;          /* 0: it is there, or goes on */
    struct error err;
};

/* can_ask: ssh has a terminal, or a program to ask with (SSH_ASKPASS). */
void reach_login_all(struct reach *w, struct reach_login *all, size_t n, bool can_ask,
                     unsigned timeout_ms);

/* To all hosts that URLs have named so far, with a terminal: how many there are, or the error of
   the first one that fails. */
int reach_login_again(struct reach *w, unsigned timeout_ms, struct error *err);

#endif
