/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What screen.c and its pickers share. */
#ifndef BEAMTOP_UI_SCREEN_SCREEN_INTERNAL_H
#define BEAMTOP_UI_SCREEN_SCREEN_INTERNAL_H

#include "pane.h"
#include "beamtop/model/finding.h"
#include "beamtop/ui/screen.h"

enum picker_kind {
    PICKER_NONE,
    PICKER_SORT,
    PICKER_COLUMNS,
    PICKER_NODES,
    PICKER_TEXTS,
    PICKER_VIEWS
};

#define NODE_COLUMNS 7 /* of the picker of nodes */

/* A list that lies over the panes until something is chosen. */
struct picker {
    enum picker_kind kind;
    struct table table;
    struct view_page page;
    struct rect rect;                         /* of its rows, where it was drawn last */
    int room;                                 /* for its columns then; 0: it was not drawn yet */
    struct view_column columns[NODE_COLUMNS]; /* those of nodes that there is room for */
    char typed[32], heading[64];              /* of views: what their names or help contain */
};

struct picked_node {
    char name[256], otp[32], elixir[32], cookie[64], note[160], refusal[400];
    int64_t os_pid;
    double uptime_s, memory_bytes;
};

struct picked_text {
    char *title, *text; /* owned */
};

/* Something in the bottom row that a click does. */
struct bottom_hit {
    int row, column, columns;
    enum action action;
    const char *arg; /* static; NULL: none */
};

#define BOTTOM_HITS 24
#define SCREEN_REQUESTS 16 /* waiting to be taken */

struct screen {
    struct panes *panes;
    struct picker picker;
    struct picked_node *nodes;
    size_t n_nodes;
    const char *texts_heading;
    struct picked_text *texts;
    size_t n_texts, text_chosen;

    char clock[32], message[512];
    char filter[PANE_FILTER_BYTES]; /* the one that applies */
    enum style message_style;
    bool paused;
    double frozen_s, next_s;
    struct header_recording recording;
    struct regex *match;
    enum syntax syntax;
    bool own; /* beamtop's own processes are shown */
    long filter_error_at;
    const struct prompt *prompt;
    const struct keymap *keymap;

    uint64_t findings_seen[FINDINGS_MOST]; /* those shown when their view was open, and still are */
    size_t n_findings_seen;
    struct view_link last_process; /* of any pane */

    struct bottom_hit hits[BOTTOM_HITS]; /* as drawn last */
    int n_hits;

    struct screen_request requests[SCREEN_REQUESTS];
    int n_requests;
};

/* What `stop` ends: what the view runs, else what others have set under the cursor, which stays,
 * else the recording, which belongs to no view and is left while one runs something. */
enum screen_stop { STOP_NOTHING, STOP_VIEW, STOP_OTHERS, STOP_RECORDING };
/* STOP_OTHERS: err says whose it is, and what to do. */
enum screen_stop screen_stops(const struct screen *s, const struct model *m, struct error *err);
/* Another owner's action, without an argument. */
void screen_ask_action(struct screen *s, enum action action);
void screen_ask_confirm(struct screen *s, enum action action, const char *text);
void screen_ask(struct screen *s, enum screen_request_kind kind, const struct etf_pid *pid,
                const char *text);

int screen_no_view(const char *name, struct error *err); /* says which is the nearest */

/* A view that has just come gets what the screen knows: keys, and whether our own are shown. */
void screen_tell(const struct screen *s, struct pane_entry *e);

/* Enter opens something under the cursor, or zooms in on it. */
bool screen_opens(const struct screen *s);

void picker_clear_texts(struct screen *s);
int picker_open(struct screen *s, enum picker_kind kind, struct error *err);
void picker_close(struct screen *s);
void picker_draw(struct screen *s, struct canvas *c, struct rect r);
/* The rows of views that what was typed leaves. */
void picker_view_rows(struct screen *s, struct view_page *page);
/* The keys that mean something while it is open; a row without `does` ends them. */
const struct view_hint *picker_hints(const struct screen *s);
/* What Enter and Space do to the row with the cursor. ERR_USAGE: nothing is marked there. */
int picker_choose(struct screen *s, struct error *err);
int picker_mark(struct screen *s, struct error *err);

#endif
