/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `beamtop record`: in the foreground, or by `record start` in a separate OS process that outlives
   the terminal; and `record status`, `mark` and `stop`, which ask recorders that run. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "beamtop/base/alloc.h"
#include "beamtop/base/buf.h"
#include "beamtop/base/spawn.h"
#include "beamtop/base/text.h"
#include "app/cli/commands.h"
#include "app/fleet/fleet.h"
#include "record_client.h"
#include "record_detach.h"
#include "record_fleet.h"
#include "record_state.h"
#include "record_status.h"
#include "app/cli/tell.h"
#include "app/tracing/trace_arguments.h"
#include "app/way/reach.h"
#include "app/cli/event_options.h"

/* Who starts a recording waits for its first tick. */
#define START_S 60

static int complain_with(int code, const char *text)
{
    tell_line("%s", text);
    return code;
}

/* ---- record start */

/* In the process that stays. Never returns. */
static void be_recorder(struct record_setup *setup, int log)
{
    reach_leave(setup->env->reach);
    if (!record_detach(log, setup->ready_fd)) {
        dprintf(setup->ready_fd, "the recorder cannot detach from the terminal: %s",
                strerror(errno));
        _exit(EXIT_FAILED);
    }
    setvbuf(stderr, NULL, _IOLBF, 0);
    int code = setup->several ? record_fleet_run(setup) : record_run(setup);
    fflush(NULL);
    _exit(code);
}

/* What the recorder says about its first tick: "ok", or why there is none. */
static void wait_ready(int fd, char *out, size_t size)
{
    struct pollfd p = {.fd = fd, .events = POLLIN};
    size_t len = 0;
    ssize_t n;
    while (len + 1 < size && poll(&p, 1, START_S * 1000) > 0 &&
           (n = read(fd, out + len, size - len - 1)) > 0)
        len += (size_t)n;
    out[len] = '\0';
}

/* The child forks once more when it has started, so that no process has to wait for the recorder.
 */
static int fork_recorder(struct record_setup *setup, int log, char *said, size_t size)
{
    int fds[2];
    if (pipe(fds) != 0)
        return -1;
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        close(fds[0]);
        fcntl(fds[1], F_SETFD, FD_CLOEXEC);
        setup->ready_fd = fds[1];
        if (fork() == 0)
            be_recorder(setup, log);
        _exit(0);
    }
    close(fds[1]);
    if (child > 0)
        (void)spawn_wait(child);
    wait_ready(fds[0], said, size);
    close(fds[0]);
    return child > 0 ? 0 : -1;
}

/* Paths are anyone's: what would steer the terminal is not printed. */
static void print_safe(FILE *to, const char *text)
{
    struct buf safe;
    buf_init(&safe, 0);
    text_put_safe(&safe, text, strlen(text), false);
    fputs(buf_cstr(&safe), to);
    buf_clear(&safe);
}

static int refuse_existing(const char *path)
{
    fputs("beamtop: ", stderr);
    print_safe(stderr, path);
    fputs(" exists; a recording is never written over another file\n", stderr);
    return EXIT_USAGE;
}

static int tell_start(const char *path, const char *log_path)
{
    fputs("recording to ", stdout);
    print_safe(stdout, path);
    fputs(" until `beamtop record stop`; messages go to ", stdout);
    print_safe(stdout, log_path);
    putchar('\n');
    return EXIT_DONE;
}

static int record_start(struct record_setup *setup)
{
    char path[PATH_MAX], log_path[PATH_MAX + 24], said[700];
    struct cli_places places;
    struct error err = {0};
    struct cli_options options = *setup->options;
    struct record_log log;
    if (record_whole_path(path, setup->file, &err) != 0)
        return complain_with(EXIT_USAGE, err.text);
    if (setup->several && record_fleet_make(path, &err) != 0)
        return complain_with(EXIT_USAGE, err.text);
    if (!setup->several && access(path, F_OK) == 0)
        return refuse_existing(path);
    snprintf(log_path, sizeof log_path, "%s%s.log", path,
             setup->several ? "/" FLEET_INDEX_FILE : "");
    if (record_log_open(&log, log_path, &err) != 0) {
        if (setup->several)
            record_fleet_unmake(path);
        return complain_with(EXIT_USAGE, err.text);
    }
    /* The recorder leaves this directory. */
    cli_place_files(&options, &places);
    setup->options = &options;
    setup->file = path;
    setup->detached = true;
    int rc = fork_recorder(setup, log.fd, said, sizeof said);
    close(log.fd);
    if (rc != 0 && setup->several)
        record_fleet_unmake(path);
    if (rc != 0)
        return complain_with(EXIT_FAILED, strerror(errno));
    if (strcmp(said, "ok") == 0)
        return tell_start(path, log_path);
    if (*said) {
        if (log.is_new)
            unlink(log_path); /* all that it says is printed here */
        return complain_with(EXIT_CONNECT, said);
    }
    tell_line("no tick is recorded yet; see `beamtop record status` and %s", log_path);
    return EXIT_FAILED;
}

/* Errors come before anything is made. Recorders in the background leave this directory, so a file
 * of names is one with its whole path, in `path`. */
static int check_names(struct record_setup *setup, char path[PATH_MAX + 1])
{
    struct fleet_names names;
    struct error err = {0};
    int rc = fleet_names_take(&names, setup->node, &err);
    fleet_names_clear(&names);
    if (rc != 0)
        return complain_with(EXIT_USAGE, err.text);
    path[0] = '@';
    if (setup->node[0] == '@' && realpath(setup->node + 1, path + 1))
        setup->node = path;
    return EXIT_DONE;
}

/* In the foreground. */
static int record_several(struct record_setup *setup)
{
    char path[PATH_MAX];
    struct error err = {0};
    if (record_whole_path(path, setup->file, &err) != 0 || record_fleet_make(path, &err) != 0)
        return complain_with(EXIT_USAGE, err.text);
    setup->file = path;
    return record_fleet_run(setup);
}

/* ---- record status, mark, stop */

static void print_status(const struct record_status *s)
{
    char bytes[32], since[32];
    print_safe(stdout, s->file);
    tell_to(stdout,
            "\n    %s, for %s: %lld ticks, %s, %lld marks, %lld windows of calls, "
            "%lld traces; process %lld%s\n",
            s->node, text_duration(since, sizeof since, s->running_s), (long long)s->ticks,
            text_bytes(bytes, sizeof bytes, (double)s->bytes), (long long)s->marks,
            (long long)s->windows, (long long)s->traces, (long long)s->pid,
            s->detached ? ", detached" : "");
    if (*s->link)
        tell_to(stdout, "    %s\n", s->link);
    if (*s->calls_refused)
        tell_to(stdout, "    calls are not counted: %s\n", s->calls_refused);
    if (*s->trace_refused)
        tell_to(stdout, "    not traced: %s\n", s->trace_refused);
}

static bool is_json(const struct cli_options *o)
{
    return o->format_given && o->format == FORMAT_JSON;
}

static void print_silent(const struct cli_options *o, const struct record_peer *peer)
{
    struct error err = {0};
    record_silent_error(&err, peer->path);
    if (is_json(o))
        printf("{\"pid\":%ld,\"answers\":false}\n", record_socket_pid(peer->path));
    else
        puts(err.text);
}

static void print_peer(const struct cli_options *o, const struct record_peer *peer)
{
    struct record_status status;
    if (is_json(o))
        tell_to(stdout, "%s", peer->status);
    else if (record_status_parse(&status, peer->status))
        print_status(&status);
}

/* The file itself, or one of that directory. */
static bool is_meant(const char *path, const char *file)
{
    const size_t len = strlen(path);
    return strncmp(path, file, len) == 0 &&
           (file[len] == '\0' || (file[len] == '/' && !strchr(file + len + 1, '/')));
}

/* The next recording of `-o FILE`, or of a directory of several, or the only one; NULL: no more. */
static const struct record_peer *choose_peer(const struct cli_options *o,
                                             const struct record_peer *peers, size_t n, size_t from)
{
    char path[PATH_MAX];
    struct error ignored = {0};
    if (!o->output)
        return n == 1 && from == 0 ? peers : NULL;
    if (record_whole_path(path, o->output, &ignored) != 0)
        return NULL;
    for (size_t i = from; i < n; i++) {
        char theirs[PATH_MAX];
        struct record_status status;
        if (peers[i].status && record_status_parse(&status, peers[i].status) &&
            record_whole_path(theirs, status.file, &ignored) == 0 && is_meant(path, theirs))
            return &peers[i];
    }
    return NULL;
}

static int send_to_recorder(const struct record_peer *peer, const char *line)
{
    struct error err = {0};
    struct buf reply;
    buf_init(&reply, 0);
    int rc = record_peer_ask(peer->path, line, &reply, &err);
    bool ok = rc == 0 && strstr(buf_cstr(&reply), "true");
    buf_clear(&reply);
    if (!ok)
        return complain_with(EXIT_FAILED, rc != 0 ? err.text : "the recorder does not know that");
    return EXIT_DONE;
}

static int print_all(const struct cli_options *o, const struct record_peer *peers, size_t n)
{
    int code = EXIT_DONE;
    for (size_t i = 0; i < n; i++) {
        if (peers[i].status) {
            print_peer(o, &peers[i]);
        } else {
            print_silent(o, &peers[i]);
            code = EXIT_FAILED;
        }
    }
    if (n == 0 && !is_json(o))
        puts("nothing is being recorded");
    return code;
}

/* The one that does not answer may be the one that is meant. */
static int complain_silent(const struct record_peer *peers, size_t n)
{
    struct error err = {0};
    for (size_t i = 0; i < n && err.code == ERR_NONE; i++)
        if (!peers[i].status)
            record_silent_error(&err, peers[i].path);
    return err.code == ERR_NONE ? EXIT_DONE : complain_with(EXIT_FAILED, err.text);
}

static int complain_choice(const struct cli_options *o, const struct record_peer *peers, size_t n)
{
    const char *why =
        n == 0      ? "nothing is being recorded"
        : o->output ? "no recording goes to that file; `beamtop record status` lists them"
                    : "several recordings are running: choose one with -o FILE, or those of a "
                      "directory with -o DIR";
    (void)complain_silent(peers, n);
    return complain_with(EXIT_FAILED, why);
}

static int send_to_chosen(const struct cli_options *o, const struct record_peer *peers, size_t n,
                          const char *line)
{
    int code = EXIT_DONE;
    const struct record_peer *peer = choose_peer(o, peers, n, 0);
    if (!peer)
        return complain_choice(o, peers, n);
    for (; peer; peer = choose_peer(o, peers, n, (size_t)(peer - peers) + 1)) {
        const int sent = peer->status ? send_to_recorder(peer, line) : complain_silent(peer, 1);
        code = code == EXIT_DONE ? sent : code;
    }
    return code;
}

/* line: NULL asks for the status of all. */
static int record_ask(const struct cli_options *o, const struct app_env *env, const char *line)
{
    struct error err = {0};
    struct record_peer *peers = NULL;
    size_t n = 0;
    int code = EXIT_DONE;
    if (record_peers_find(&peers, &n, env, &err) != 0) {
        code = complain_with(EXIT_FAILED, err.text);
    } else if (!line) {
        code = print_all(o, peers, n);
    } else {
        code = send_to_chosen(o, peers, n, line);
    }
    record_peers_free(peers, n);
    return code;
}

static int record_mark(const struct cli_options *o, const struct app_env *env)
{
    struct buf line;
    buf_init(&line, 0);
    buf_puts(&line, "mark");
    for (size_t i = 0; i < o->n_rest; i++)
        buf_printf(&line, " %s", o->rest[i]);
    int code =
        line.len <= strlen("mark ") || strchr(buf_cstr(&line), '\n') ||
                line.len >= LIMIT_RECORD_REQUEST_BYTES - 1
            ? complain_with(EXIT_USAGE,
                            "usage: beamtop record mark TEXT, one line of less than 1,000 bytes")
            : record_ask(o, env, buf_cstr(&line));
    buf_clear(&line);
    return code;
}

/* ---- the command */

/* Errors in the trace's arguments come before anything else is done. */
static int prepare_trace(struct record_setup *setup)
{
    const struct cli_options *o = setup->options;
    int code = trace_arguments_settings(&setup->trace, o, setup->env);
    if (code == EXIT_DONE)
        code = trace_arguments_check(setup->traced, setup->n_traced, &setup->trace);
    if (code == EXIT_DONE && o->values)
        fprintf(stderr,
                "beamtop: %s will have arguments, results and messages as they are; --redact "
                "keeps only their types and sizes\n",
                setup->file);
    return code;
}

int command_record(const struct cli_options *o, const struct app_env *env)
{
    bool start = strcmp(o->target, "start") == 0;
    size_t skip = start ? 1 : 0;
    if (strcmp(o->target, "status") == 0)
        return o->n_rest > 0
                   ? complain_with(EXIT_USAGE,
                                   "record status takes no argument: it shows all recordings")
                   : record_ask(o, env, NULL);
    /* A node named behind it would not be looked at, and the recording of another one ended. */
    if (strcmp(o->target, "stop") == 0)
        return o->n_rest > 0
                   ? complain_with(EXIT_USAGE,
                                   "record stop takes no argument: choose a recording with -o FILE")
                   : record_ask(o, env, "stop");
    if (strcmp(o->target, "mark") == 0)
        return record_mark(o, env);
    if (!o->output || (start && o->n_rest == 0))
        return complain_with(EXIT_USAGE, "usage: beamtop record [start] NODE -o FILE");
    if (o->n_rest > skip && !o->calls && !o->trace)
        return complain_with(EXIT_USAGE, "patterns follow --calls or --trace");
    if (o->n_rest > skip && o->calls && o->trace)
        return complain_with(
            EXIT_USAGE, "with both --calls and --trace each has one word: 'PATTERN & PATTERN'");
    if (o->redact && o->values)
        return complain_with(EXIT_USAGE, "--values and --redact exclude each other");
    if (event_options_given(o) && !o->system_events)
        return complain_with(EXIT_USAGE, "limits of system events follow --system-events");
    /* --calls A B: the words behind the first are patterns too. */
    const char *patterns[1 + LIMIT_TRACE_PATTERNS];
    size_t n = 0;
    const char *first = o->calls ? o->calls : o->trace;
    if (first && (!o->calls || strcmp(first, "all") != 0))
        patterns[n++] = first;
    for (size_t i = skip; i < o->n_rest && n < ARRAY_LEN(patterns); i++)
        patterns[n++] = o->rest[i];
    struct record_setup setup = {.options = o,
                                 .env = env,
                                 .node = start ? o->second : o->target,
                                 .file = o->output,
                                 .calls = o->calls != NULL,
                                 .patterns = patterns,
                                 .n_patterns = o->calls ? n : 0,
                                 .traced = o->calls ? &o->trace : patterns,
                                 .n_traced = !o->trace  ? 0
                                             : o->calls ? 1
                                                        : n,
                                 .ready_fd = -1};
    int code = o->trace ? prepare_trace(&setup) : EXIT_DONE;
    if (code != EXIT_DONE)
        return code;
    char names[PATH_MAX + 1];
    setup.several = fleet_is_meant(setup.node) || o->cluster;
    if (setup.several && check_names(&setup, names) != EXIT_DONE)
        return EXIT_USAGE;
    return start           ? record_start(&setup)
           : setup.several ? record_several(&setup)
                           : record_run(&setup);
}
