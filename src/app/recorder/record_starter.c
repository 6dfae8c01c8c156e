/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "record_starter.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/job/child.h"
#include "beamtop/base/alloc.h"
#include "beamtop/base/buf.h"
#include "record_status.h"

enum { PRINTED_BYTES = 4096, WORDS = 48 };

struct record_starter {
    struct child *child;
    struct buf printed; /* as errors */
    record_started_fn *fn;
    void *arg;
};

/* ---- its words */

struct arguments {
    const char *all[WORDS + 1];
    char numbers[WORDS][24];
    int n;
};

/* value: NULL leaves the option out. */
static void add_text_option(struct arguments *a, const char *option, const char *value)
{
    if (!value)
        return;
    a->all[a->n++] = option;
    a->all[a->n++] = value;
}

static void add_number_option(struct arguments *a, const char *option, double value)
{
    char *text = a->numbers[a->n];
    snprintf(text, sizeof a->numbers[0], "%.10g", value);
    add_text_option(a, option, text);
}

static void put_tls(struct arguments *a, const struct cli_options *cli)
{
    if (cli->tls || cli->no_tls)
        a->all[a->n++] = cli->tls ? "--tls" : "--no-tls";
    add_text_option(a, "--tls-cacert", cli->tls_cacert);
    add_text_option(a, "--tls-cert", cli->tls_cert);
    add_text_option(a, "--tls-key", cli->tls_key);
    add_text_option(a, "--tls-key-password-file", cli->tls_key_password_file);
    add_text_option(a, "--tls-crl", cli->tls_crl);
    add_text_option(a, "--tls-verify", cli->tls_verify);
}

/* No cookie is among them: others can read the arguments of a process. */
static void put_arguments(struct arguments *a, const struct record_start *start)
{
    const struct options *o = start->options;
    const struct cli_options *cli = start->cli;
    const char *calls = option_text(o, OPTION_RECORD_CALLS);
    *a = (struct arguments){.all = {"record", "start"}, .n = 2};
    add_text_option(a, "--output", start->file);
    add_number_option(a, "--interval", option_double(o, OPTION_RECORD_INTERVAL));
    add_number_option(a, "--max-size", option_double(o, OPTION_RECORD_MAX_SIZE));
    add_number_option(a, "--budget", option_double(o, OPTION_BUDGET));
    add_number_option(a, "--timeout", cli->timeout_s);
    add_text_option(a, "--cookie-file", cli->cookie_file);
    add_text_option(a, "--cookies", cli->cookies);
    if (cli->no_config) /* nor its file of cookies */
        a->all[a->n++] = "--no-config";
    add_text_option(a, "--config", cli->config);
    put_tls(a, cli);
    add_text_option(a, "--host", cli->host);
    if (cli->port > 0)
        add_number_option(a, "--port", (double)cli->port);
    if (cli->epmd_port > 0)
        add_number_option(a, "--epmd-port", (double)cli->epmd_port);
    add_text_option(a, "--calls", *calls ? calls : NULL);
    add_text_option(a, "--", start->node);
}

/* ---- its life */

static void starter_read(void *arg, const char *bytes, size_t n)
{
    struct record_starter *s = arg;
    if (s->printed.len + n <= PRINTED_BYTES)
        buf_put(&s->printed, bytes, n);
}

static void free_starter(struct record_starter *s)
{
    buf_clear(&s->printed);
    free(s);
}

static void starter_ended(void *arg, int64_t status, int signal)
{
    struct record_starter *s = arg;
    struct error err = {0};
    struct buf complaint;
    buf_init(&complaint, 0);
    record_complaint(&complaint, buf_cstr(&s->printed));
    if (status != 0 || signal != 0)
        error_set(&err, ERR_SYSTEM, "%s",
                  complaint.len > 0 ? buf_cstr(&complaint)
                                    : "the recorder ended without a message");
    buf_clear(&complaint);
    s->fn(s->arg, err.code == ERR_NONE ? NULL : &err);
    free_starter(s);
}

struct record_starter *record_starter_new(uv_loop_t *loop, const struct record_start *start,
                                          record_started_fn *fn, void *arg, struct error *err)
{
    static const struct child_handlers handlers = {.read = starter_read, .ended = starter_ended};
    struct record_starter *s = alloc_zero(1, sizeof *s);
    struct arguments args;
    /* As cookie_find(): the file and the environment go before it. */
    const bool has_cookie = start->cli->cookie && !start->cli->cookie_file && !start->env->cookie;
    char *variable = has_cookie ? alloc_printf("BEAMTOP_COOKIE=%s", start->cli->cookie) : NULL;
    s->fn = fn;
    s->arg = arg;
    buf_init(&s->printed, 0);
    put_arguments(&args, start);
    const struct child_start child = {.purpose = "for the recorder",
                                      .words = args.all,
                                      .variable = variable,
                                      .flags = CHILD_ERRORS | CHILD_OUTLIVES};
    const int rc = child_start(&s->child, loop, &child, &handlers, s, err);
    if (variable)
        explicit_bzero(variable, strlen(variable));
    free(variable);
    if (rc == 0)
        return s;
    free_starter(s);
    return NULL;
}

void record_starter_leave(struct record_starter *s)
{
    if (!s)
        return;
    child_leave(s->child);
    free_starter(s);
}
