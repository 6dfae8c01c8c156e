/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The command line: two tables, commands and options. Usage texts, the manual's tables and shell
 * completion are made from them. */
#ifndef BEAMTOP_APP_CLI_CLI_H
#define BEAMTOP_APP_CLI_CLI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "beamtop/base/buf.h"
#include "beamtop/base/error.h"
#include "beamtop/base/slice.h"
#include "beamtop/trace/events_run.h"
#include "beamtop/trace/request.h"
#include "exit_code.h"

struct reach;
struct tls_lines;

/* What the environment says; read once, in main. NULL: not set. */
struct app_env {
    const char *cookie, *home, *xdg_config_home, *xdg_state_home, *term, *no_color, *epmd_port,
        *colorfgbg;
    const char *xdg_runtime_dir, *ssh_askpass;
    struct reach *reach; /* to nodes that are named by a URL; owned by main, never NULL */
    const struct tls_lines *tls_lines; /* of the configuration; owned by main, may be NULL */
    const char *theme_path, *config;
    const char *tls_cacert, *tls_cert, *tls_key, *tls_key_password;
    const char *debug_image;
    bool utf8; /* the locale's character set */
    bool in_tty, out_tty, err_tty;
};

/* clang-format off */
enum cli_format {
    FORMAT_TEXT, FORMAT_JSON, FORMAT_CSV, FORMAT_ANSI, FORMAT_HTML, FORMAT_SVG, FORMAT_FOLDED,
    FORMAT_MARKDOWN, FORMAT_OPENMETRICS, FORMAT_PERF_SCRIPT, FORMAT_SPEEDSCOPE, FORMAT_TRACE_EVENT,
    FORMAT_OTLP, FORMATS,
};
/* clang-format on */

#define CLI_FAIL_ON 32 /* limits of one comparison */

/* The values of all options; set to their defaults, then by the command line. */
struct cli_options {
    const char *command;     /* its name; empty: the screen */
    const char *target;      /* first argument; NULL: none given */
    const char *second;      /* `process NODE PID|NAME` */
    const char *const *rest; /* the arguments behind the first */
    size_t n_rest;
    char *cookie; /* owned */
    const char *cookie_file;
    const char *cookies; /* a file of patterns and cookies */
    const char *tls_cacert, *tls_cert, *tls_key, *tls_key_password_file, *tls_crl, *tls_verify;
    bool tls, no_tls;
    const char *debug_image; /* of an ephemeral container in a pod */
    bool cluster;
    double timeout_s;
    double interval_s;
    double budget;
    bool interval_given, budget_given;
    int64_t ticks; /* 0: until interrupted */
    bool ticks_given;
    const char *sort;
    bool reverse;
    int64_t rows;
    const char *filter;
    const char *columns;
    enum cli_format format;
    bool format_given;
    const char *theme, *config, *view, *size, *output, *when;
    double every_s;
    bool ascii, own, no_config, mono, spreadsheet;
    int64_t epmd_port, port;
    const char *host;
    struct trace_request request; /* caps that are not given are the configuration's */
    bool cap_given[CAPS];
    double slower_s;       /* roots of spans that are shown */
    bool partial, by_node; /* of several nodes */
    bool syntax_given, on_rate_given, dry_run, samples;
    const char *label; /* of a recording */
    double for_s;
    bool for_given;
    int64_t max_size; /* bytes */
    bool thin, redact, values;
    const char *trace;                /* the first pattern of those to trace */
    const char *at;                   /* a moment of a recording */
    const char *calls;                /* the first pattern of those to count */
    const char *with;                 /* another node on which they go on */
    const char *fail_on[CLI_FAIL_ON]; /* limits of a comparison, as they were typed */
    size_t n_fail_on;
    double window_s; /* of counted calls */
    int64_t windows; /* 0: until interrupted */
    bool windows_given;
    int64_t top;
    bool top_given;
    bool time, memory;
    bool raw_waits;
    int64_t stack_events, stack_rate; /* of one process in time: calls */
    const char *spans;                /* of a recording: root functions */
    double spans_every_s;
    double sample_s, sample_every_s; /* runs of the sampler in a recording; 0: none, a minute */
    int64_t hz, scheduler;           /* of samples; 0: all schedulers */
    const char *pid, *thread;
    const char *collect; /* a process that collects its garbage on request */
    const char *by;      /* an owner_by_key(), or a column of a table */
    const char *table_sort;
    const char *table; /* one ETS table */
    int64_t keys;      /* of it; 0: none */
    bool mnesia, raft;
    const char *what;                    /* a kind of terms; NULL: all */
    const char *old_module;              /* whose old code is looked for; NULL: of none */
    int64_t event_limits[SYSTEM_EVENTS]; /* system events: of ports 1 */
    bool event_left[SYSTEM_EVENTS];      /* not to be watched for */
    int64_t event_cap;
    bool system_events; /* of a recording: watch for them */
    bool running, yes;
    bool remote, names, skid, only_erlang, lines, callers, check, stacks, all, wait;
    bool help, version;
};

static inline unsigned cli_timeout_ms(const struct cli_options *o)
{
    return (unsigned)(o->timeout_s * 1000);
}

/* clang-format off */
enum cli_group {
    COMMANDS_SCREEN, COMMANDS_NODE, COMMANDS_TRACING, COMMANDS_RECORDINGS, COMMANDS_HOST,
    COMMANDS_HIDDEN,
};
/* clang-format on */

struct cli_command {
    const char *name;
    const char *args; /* "NODE [PID|NAME]" */
    const char *help;
    unsigned options; /* mask of FOR_* groups it takes */
    unsigned formats; /* mask of what --format takes, by 1 << enum cli_format; 0: no --format */
    int min_args, max_args;
    enum cli_group group; /* where --help lists it */
    int (*run)(const struct cli_options *o, const struct app_env *env);
};

extern const struct cli_command cli_commands[]; /* the first one is the screen, without a name */
extern const size_t cli_commands_len;

/* Parses argv; cookies given on the command line are wiped from it. ERR_USAGE says what is wrong.
   Texts in o are borrowed from argv; cli_options_clear, also after a failure. */
int cli_parse(int argc, char **argv, const struct cli_command **command, struct cli_options *o,
              struct error *err);
void cli_options_clear(struct cli_options *o); /* wipes the cookie */
/* $XDG_CONFIG_HOME/beamtop or ~/.config/beamtop; "" without a home. */
void cli_config_dir(char *out, size_t size, const struct app_env *env);
/* Files that are read for a connection, by names that also hold in another directory. */
#define CLI_READ_FILES 7
struct cli_places {
    char text[CLI_READ_FILES][4096];
};
void cli_place_files(struct cli_options *o, struct cli_places *places); /* lives as long as o */
struct slice cli_near_command(const char *given); /* the one that may be meant; empty: none */

void cli_usage(struct buf *out, const struct cli_command *command); /* NULL: all */

#endif
