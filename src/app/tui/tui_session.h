/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The screen's side of a session, the trace, counted calls or spans: its timer, the question
 * whether to go on when it is expensive, words that wait for its end, and its end before the
 * program is left. */
#ifndef BEAMTOP_APP_TUI_TUI_SESSION_H
#define BEAMTOP_APP_TUI_TUI_SESSION_H

#include "beamtop/trace/session.h"
#include "tui_internal.h"

/* What becomes of a session that excludes one of a kind (session_excludes()). */
struct tui_session_before {
    enum question running; /* its node_question */
    bool ends;             /* for the other, which waits for that; else the other is refused */
    const char *said;      /* that; NULL: nothing */
    const char *stop;      /* what ends it, after a refusal; NULL: the key of its view */
};

/* What a kind does on its own; arg is its struct, whose first member is the session. */
struct tui_session_kind {
    enum question node_question;         /* whose process there its sessions speak to */
    struct tui_session_before before[3]; /* none for what the kind, or the session, says itself */
    const char *view;                    /* where it is shown */
    const char *verb;                    /* "Count": of the question whether to go on */
    const char *idle;                    /* said where nothing runs that could be stopped */
    const char *quit;                    /* asked before it is stopped to quit; NULL: nothing */
    const char *ending;                  /* shown while the program waits for its end */
    const char *over;                    /* before the proof, on the terminal that is back */
    void (*turn)(void *arg);             /* ten times a second while it runs; may be NULL */
    /* What it would cost; the question behind it must be visible at 80 columns. */
    void (*estimate)(void *arg, char *text, size_t size);
    void (*begun)(void *arg); /* for the journal */
    void (*ended)(void *arg); /* or failed: for the journal, and s->proof */
    void (*begin)(void *arg, const char *words);
    /* For tui_session_begin(). *offset is the byte of the words that is wrong. */
    int (*start)(void *arg, const char *words, size_t *offset, struct error *err);
    void (*prompt)(void *arg, const char *words); /* with these in it */
};

struct tui_session {
    struct tui *tui;
    void *other; /* the struct tui_session after it; t->own[TUI_SESSIONS] is the first */
    const struct tui_session_kind *kind;
    struct session *session;     /* that is on the screen; NULL: none yet */
    enum session_phase reported; /* last one in the journal */
    bool asked;                  /* whether to go on */
    char *next;                  /* words that wait for its end; NULL: none */
    uv_timer_t timer;
    uint64_t quit_by_ms; /* leave when it has ended, or then; 0: stay */
    char proof[240];     /* that nothing of it is left on the node */
};

void tui_session_init(struct tui_session *s, struct tui *t, const struct tui_session_kind *kind);
/* Starts at once, or when what is in the way has ended; the prompt shows what is wrong in the
   words. */
void tui_session_begin(struct tui_session *s, const char *words);
/* Owns an open session, in place of the one before, and shows its view. */
void tui_session_start(struct tui_session *s, struct session *session);
void tui_session_changed(void *s); /* an on_change, whose arg is s */
void tui_session_show(struct tui_session *s);
/* What is left of it on the node, into s->proof. */
void tui_session_proof(struct tui_session *s);
/* Says its end, in the journal and on the screen: what it did, or that it did nothing. stays: what
   is known to be left; NULL: as was checked. */
void tui_session_end(struct tui_session *s, const char *nothing, const char *did,
                     const char *stays);
/* A session of any kind excludes s: the words wait for its end, or were refused. */
bool tui_session_waits(struct tui_session *s, const char *words);
/* Ends what runs of it; false: nothing does. */
bool tui_session_stop(struct tui_session *s);
void tui_session_act_stop(void *s, const char *arg); /* a handler: the same, or says that */
bool tui_sessions_stop(struct tui *t);               /* of every kind */
/* Copies words that begin when it has ended: soon, never from within. NULL: none. */
void tui_session_then(struct tui_session *s, const char *words);

#endif
