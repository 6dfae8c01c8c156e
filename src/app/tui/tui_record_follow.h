/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Recording from the screen. The recorder is a separate OS process, the one of `beamtop record
 * start`, which outlives screen and terminal; here it is started, found again, and spoken to by its
 * socket. Each file uses those before it: tui_record_follow.c (how a recording goes, its end,
 * looking for recorders of others), tui_record_start.c (what is asked before one begins, its
 * start), tui_record.c (what the user does, life). */
#ifndef BEAMTOP_APP_TUI_TUI_RECORD_FOLLOW_H
#define BEAMTOP_APP_TUI_TUI_RECORD_FOLLOW_H

#include <limits.h>

#include "app/recorder/record_client.h"
#include "app/recorder/record_control.h"
#include "app/recorder/record_starter.h"
#include "app/recorder/record_status.h"
#include "tui_internal.h"

struct tui_record {
    struct tui *tui;
    uv_timer_t timer;
    enum header_recording_state state;
    char node[LIMIT_NODE_NAME_BYTES + 1]; /* "": none has answered; all below is of this node */
    struct record_life life;              /* the last that is known of it */
    int strangers; /* answers in a row by the one that is followed that it has another node */

    struct record_starter *starter;              /* one is being started */
    bool elsewhere;                              /* on the node that was on the screen then */
    char file[PATH_MAX];                         /* its file; "": this screen has started none */
    char wanted[PATH_MAX];                       /* the file of one that waits for an answer */
    char wanted_node[LIMIT_NODE_NAME_BYTES + 1]; /* the node that was asked about */
    bool begun;                                  /* its recorder says so, and is yet to be found */
    bool stop_when_started;

    struct record_status now; /* of the recorder that is followed */
    char socket[RECORD_SOCKET_BYTES];
    char problem[160];            /* with asking it */
    struct record_client *asking; /* its status, or the end */

    struct record_client *scanning; /* one socket after the other */
    char sockets[LIMIT_RECORD_PEERS][RECORD_SOCKET_BYTES];
    size_t n_sockets, scanned;
    char silent[200]; /* of a recorder that does not answer, and may be this node's; "": none */
    bool saw_silent;  /* in this scan */
    int turns_to_scan;

    struct record_client *marking;
    char mark[LIMIT_RECORD_REQUEST_BYTES];
};

/* ---- tui_record_follow.c */

bool tui_record_is_own(const struct tui_record *r); /* this screen has started it */
void tui_record_set_state(struct tui_record *r, enum header_recording_state state);
void tui_record_scan(struct tui_record *r); /* looks for recorders of this node */
void tui_record_ask_status(struct tui_record *r);
void tui_record_stop(struct tui_record *r);
void tui_record_forget(struct tui_record *r); /* nothing is followed any more */
/* Drops what one recorder was asked; all of it. */
void tui_record_drop(struct record_client **c);
void tui_record_cancel(struct tui_record *r);

/* ---- tui_record_start.c */

/* Asks for what is not known, then starts one; the state is RECORDING_NONE. file may be "". */
void tui_record_begin(struct tui_record *r, const char *file);

/* ---- tui_record.c */

/* Stops the recording of the node on the screen once the user has confirmed it. */
void tui_record_ask_to_stop(struct tui_record *r);

#endif
