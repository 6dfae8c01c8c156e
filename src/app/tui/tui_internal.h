/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Private to the screen program. No two of its files use each other: tui.c is used by all, and
   tui_start.c uses all. */
#ifndef BEAMTOP_APP_TUI_TUI_INTERNAL_H
#define BEAMTOP_APP_TUI_TUI_INTERNAL_H

#include <uv.h>

#include "beamtop/link/discover.h"
#include "beamtop/ui/capture.h"
#include "beamtop/ui/config.h"
#include "beamtop/ui/prompt.h"
#include "beamtop/ui/screen.h"
#include "beamtop/ui/tty.h"
#include "app/cli/cli.h"
#include "app/live/live.h"
#include "app/command/settings.h"
#include "app/source/runtime.h"
#include "app/source/source.h"
#include "app/command/trigger.h"

struct tui;

/* What happens to the screen program. */
enum tui_event {
    TUI_CHANGED,   /* the model has */
    TUI_TICK,      /* the model has taken a tick */
    TUI_TYPED,     /* what was typed is carried out: options and requests may wait */
    TUI_RESTARTED, /* the node was, under its name: its pids are of other processes */
    TUI_LOST,      /* the connection is */
    TUI_LEAVES,    /* the source is closed next: what was asked of it stays without an answer */
    TUI_OPENS,     /* another source is opened next: what is shown is of the one before */
    TUI_PAUSED,    /* the screen is held still, or goes on */
    TUI_SUSPENDS,  /* the program stops soon, as a job of its shell */
    TUI_RESUMES,   /* … and has gone on */
    TUI_CLOSES,    /* before the loop's last run */
    TUI_ENDED,     /* the terminal is back: says what goes on without the screen */
    TUI_FREES,
    TUI_EVENTS
};

/* Owners of no action. */
enum tui_owner_more {
    TUI_SESSIONS = ACTION_OWNERS,
    TUI_NAMES,
    TUI_FINDINGS,
    TUI_SEVERAL,
    TUI_OWNERS
};

struct tui_handler {
    void (*run)(void *own, const char *arg);
    const char *words; /* NULL, or the arg: before what was typed, where the action takes any */
};

struct tui_owner {
    struct tui_handler acts[ACTIONS]; /* its handlers … */
    /* … or, in their place: whether there is one, and the one for all. */
    bool (*has)(enum action action);
    void (*act)(struct tui *t, enum action action, const char *arg);
    void *(*make)(struct tui *t); /* at the start: its entry in t->own; NULL: that is t */
    void (*want)(const void *own, struct want *want); /* adds to what the screen wants of a node */
    void (*at[TUI_EVENTS])(void *own);                /* NULL: it does nothing then */
};

/* A trace of several nodes, in place of that of the one. own: t->own[TUI_SEVERAL]. */
struct tui_several {
    /* The action means it: its view is shown, or the nodes that it is of. */
    bool (*takes)(const void *own, enum action action);
    void (*act)(void *own, enum action action, const char *arg);
    /* What the prompt begins with: "trace 3 nodes> ". */
    void (*mark)(void *own, char *out, size_t size);
    /* A node that names are asked of: `now`, while it answers; NULL: none is up. */
    struct live *(*live)(void *own, const struct live *now);
    /* prompted: on the nodes that the mark has named. *offset is the byte of the line that is
       wrong. */
    int (*start)(void *own, const char *line, bool prompted, size_t *offset, struct error *err);
    bool (*stops)(void *own); /* ends what runs of it; false: nothing does */
    bool (*quits)(void *own); /* it runs: it asks whether to end it, and then quits */
};

struct tui {
    const struct cli_options *cli;
    const struct app_env *env;
    struct runtime rt;
    struct settings settings;
    uint32_t options_seen; /* generation applied last */
    uint32_t changes_seen[OPTIONS];

    struct source *source; /* NULL: none is chosen yet */
    struct live *live;     /* the source's, where something can be acted on; else NULL */
    struct model *model;
    struct screen *screen;
    struct prompt *prompt;
    struct tty *tty;
    struct canvas canvas;
    struct discover_list vms;
    struct discover *finding; /* of them; NULL: none */
    bool picks;               /* the picker opens when they are found */
    bool starts;              /* the only node, or the picker */

    uv_poll_t tty_poll;
    uv_timer_t draw_timer;
    uv_timer_t input_timer; /* the terminal wants to be asked again */
    uv_timer_t clock_timer;

    uint64_t drawn_ms;
    uint64_t changed_ms;      /* of the model, for "silent for" */
    uint64_t notice_until_ms; /* when the message goes by itself; 0: a key takes it away */
    bool dirty;
    bool paused;
    char opened[LIMIT_NODE_NAME_BYTES + 1]; /* the target, as it was named last */
    bool picked; /* the node was chosen from the picker, over the one of the command line */
    struct trigger trigger; /* captures by themselves */
    bool has_trigger;
    char filter_text[1024];   /* the last good one */
    struct filter *filter;    /* of a view whose rows the target does not choose */
    char target_filter[1024]; /* that the target was given */
    const struct tui_several *several;
    const struct tui_owner *const *owners; /* TUI_OWNERS of them */
    void *own[TUI_OWNERS];
    uint32_t life;              /* creation of the node that is shown; 0: none was connected yet */
    enum action confirming;     /* what the user is asked to agree to */
    struct screen_request copy; /* of a mailbox or state: what was asked for last */
    uint64_t copy_round;        /* of the answer before it */
    bool copy_waits;            /* for its answer */
    void (*answered)(void *arg, bool yes); /* of the question that is open */
    void *answered_arg;
};

/* tui.c */
void tui_draw(struct tui *t);
/* In so many milliseconds; earlier where that is due, later where frames would come too fast. */
void tui_draw_in(struct tui *t, uint64_t ms);
void tui_touch(struct tui *t); /* something has changed: draw soon */
void tui_want(struct tui *t);  /* the screen wants other facts */
void tui_quit(struct tui *t, int exit_code, const struct error *err);
void tui_message(struct tui *t, enum style style, const char *fmt, ...) ATTR_PRINTF(3, 4);
/* A line of the journal, of this moment. */
void tui_journal(struct tui *t, bool trouble, const char *fmt, ...) ATTR_PRINTF(3, 4);
void tui_announce(struct tui *t, enum tui_event event);           /* to each owner */
void tui_act(struct tui *t, enum action action, const char *arg); /* by the action's owner */
/* The key of the action where the focus is; where none is bound, what to type: ":view trace". */
const char *tui_key(const struct tui *t, enum action action, const char *arg, char *out,
                    size_t size);
/* Of the view in focus. */
int tui_set_filter(struct tui *t, const char *expression, size_t *offset, struct error *err);
void tui_follow_filter(struct tui *t);

/* tui_terminal.c */
int tui_open_terminal(struct tui *t, struct error *err);
void tui_on_signal(uv_signal_t *signal, int number); /* its data is the struct tui */
void tui_suspend(struct tui *t);
void tui_login(struct tui *t);    /* by ssh, where it may ask */
bool tui_terminal_is_ready(void); /* it takes what is drawn */

/* tui_nodes.c */
/* A node, or a recording. os_pid: that of t->vms which is meant; 0: any of that name. */
int tui_connect(struct tui *t, const char *target, int64_t os_pid, struct error *err);
void tui_pick(struct tui *t); /* looks for VMs of this host and opens the picker */
/* Starts to look for the nodes of this host; then it opens the only one, or the picker. */
int tui_find_node(struct tui *t, struct error *err);
/* Connects to it, or shows it from outside with the reason why not. */
int tui_open_named(struct tui *t, const char *target, struct error *err);
/* Several nodes, a row each, in the view that opens. */
int tui_fleet_open(struct tui *t, const char *target, struct error *err);
/* The recordings of a directory, a row each; tui_connect() takes their names. */
int tui_recorded_open(struct tui *t, const char *dir, struct error *err);

/* NULL: there is one node. */
struct fleet *tui_fleet(const struct tui *t);
/* Of its connections that are gone, and before all of them are closed. */
void tui_fleet_follow(struct tui *t, void (*lost)(void *arg, size_t node, const struct error *why),
                      void (*closes)(void *arg), void *arg);

/* app/tui_outside */
/* Nothing is shown: there is no such VM here, and why. trouble: as it was given. */
typedef void tui_outside_none(struct tui *t, const struct error *trouble, const struct error *why);
/* Looks for a VM of this host, by its OS pid or the name of its node, and shows it in the view
 * `outside` until another source is opened; it is not asked anything. trouble: why its node is not
 * on the screen instead; without text: it is, or none was asked for. */
void tui_outside_open(struct tui *t, const char *target, const struct error *trouble,
                      tui_outside_none *none);

/* tui_act.c */
int tui_start_options(struct tui *t, struct error *err);

/* tui_session.c */
void tui_leave(struct tui *t); /* asks, stops what is armed, then quits */

/* tui_time.c */
void tui_pause(struct tui *t, bool paused);

/* tui_prompt.c */
void tui_prompt_command(struct tui *t, const char *initial);
void tui_prompt_filter(struct tui *t);
/* Asks a question that y or n answers; cancelling is no. */
void tui_ask(struct tui *t, const char *question, void (*answered)(void *arg, bool yes), void *arg);
void tui_load_history(struct tui *t);
/* One kind's, in a file below the state directory; without a home there is none. */
void tui_read_history(struct tui *t, enum prompt_kind kind, const char *file);
void tui_write_history(struct tui *t, enum prompt_kind kind, const char *file);
void tui_save_history(struct tui *t);

#endif
