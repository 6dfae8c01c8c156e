/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "nodes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "beamtop/local/rights.h"

int nodes_epmd_port(const struct cli_options *o, const struct app_env *env, uint16_t *port,
                    struct error *err)
{
    *port = (uint16_t)o->epmd_port;
    if (*port || !env->epmd_port)
        return 0;
    char *end = NULL;
    long v = strtol(env->epmd_port, &end, 10);
    if (end == env->epmd_port || *end || v < 1 || v > 65535)
        return error_set(err, ERR_USAGE, "ERL_EPMD_PORT is “%s”, not a port", env->epmd_port);
    *port = (uint16_t)v;
    return 0;
}

/* found: in place of what /proc says; NULL: it is read. */
static int search_more(struct discover **out, struct discover_list *found, uv_loop_t *loop,
                       const struct cli_options *o, const struct app_env *env, unsigned epmd_ms,
                       void (*done)(void *arg, struct discover_list *list), void *arg,
                       struct error *err)
{
    struct discover_options options = {.timeout_ms = epmd_ms, .found = found};
    *out = NULL;
    const int rc = nodes_epmd_port(o, env, &options.epmd_port, err);
    return rc != 0 ? rc : discover_start(out, loop, &options, done, arg, err);
}

int nodes_search(struct discover **out, uv_loop_t *loop, const struct cli_options *o,
                 const struct app_env *env, unsigned epmd_ms,
                 void (*done)(void *arg, struct discover_list *list), void *arg, struct error *err)
{
    return search_more(out, NULL, loop, o, env, epmd_ms, done, arg, err);
}

static void on_nodes_found(void *arg, struct discover_list *list)
{
    *(struct discover_list *)arg = *list;
}

static int find_more(struct discover_list *out, struct discover_list *found,
                     const struct cli_options *o, const struct app_env *env, unsigned epmd_ms,
                     struct error *err)
{
    uv_loop_t loop;
    struct discover *search = NULL;
    uv_loop_init(&loop);
    const int rc = search_more(&search, found, &loop, o, env, epmd_ms, on_nodes_found, out, err);
    uv_run(&loop, UV_RUN_DEFAULT);
    uv_loop_close(&loop);
    return rc;
}

int nodes_find(struct discover_list *out, const struct cli_options *o, const struct app_env *env,
               unsigned epmd_ms, struct error *err)
{
    *out = (struct discover_list){0};
    return find_more(out, NULL, o, env, epmd_ms, err);
}

int nodes_ask_epmd(struct discover_list *list, const struct cli_options *o,
                   const struct app_env *env, unsigned epmd_ms, struct error *err)
{
    return find_more(list, list, o, env, epmd_ms, err);
}

bool nodes_left_out(char *out, size_t size, const struct discover_list *list)
{
    char of[80] = "";
    if (list->unread == 0)
        return false;
    if (list->blocked != 0)
        snprintf(of, sizeof of, ". Next: ps -o pid,stat,wchan,comm -p %ld", (long)list->blocked);
    snprintf(out, size, "/proc is slow: %zu OS process%s not looked at%s", list->unread,
             list->unread == 1 ? " was" : "es were", of);
    return true;
}

void nodes_add_left_out(struct error *err, const struct discover_list *list)
{
    const size_t len = strlen(err->text);
    char left[160];
    if (err->code != ERR_NONE && nodes_left_out(left, sizeof left, list))
        snprintf(err->text + len, sizeof err->text - len, ". %s", left);
}

int nodes_none(const struct discover_list *list, struct error *err)
{
    char left[160];
    if (nodes_left_out(left, sizeof left, list))
        return error_set(err, ERR_NOT_FOUND, "no BEAM VM was found on this host. %s", left);
    if (list->hidden)
        return error_set(err, ERR_NOT_FOUND,
                         "no BEAM VM of this user was found: " RIGHTS_HIDDEN
                         ", or give a node's name: beamtop NAME@HOST");
    return error_set(err, ERR_NOT_FOUND,
                     "no BEAM VM was found on this host. Give a node's name: beamtop NAME@HOST");
}

const char *nodes_cookie_word(const struct discover_vm *vm)
{
    static const char *const words[] = {
        [DISCOVER_COOKIE_NONE] = "",
        [DISCOVER_COOKIE_ARGUMENT] = "command line",
        [DISCOVER_COOKIE_OWNER_HOME] = "owner's home",
        [DISCOVER_COOKIE_ENVIRONMENT] = "environment",
    };
    return words[vm->cookie_from];
}

void nodes_note(char *out, size_t size, const struct discover_vm *vm)
{
    const char *note = "";
    if (!*vm->node)
        note = "no distribution";
    else if (vm->other_network)
        note = "other network namespace";
    else if (discover_is_tls(vm))
        note = tls_available() ? "TLS" : "TLS: built without OpenSSL";
    else if (!vm->in_epmd && vm->port != 0)
        note = "not in epmd: by its port";
    else if (!vm->in_epmd)
        note = "not in epmd: use --port";
    else if (vm->pid == 0)
        note = "epmd only";
    snprintf(out, size, "%s", note);
}

static bool is_shell_word(const char *name)
{
    static const char characters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                     "0123456789_.@-";
    return *name != '\0' && *name != '-' && name[strspn(name, characters)] == '\0';
}

void nodes_put_words(struct buf *out, const struct discover_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        if (is_shell_word(list->vms[i].node))
            buf_printf(out, "%s\n", list->vms[i].node);
}
