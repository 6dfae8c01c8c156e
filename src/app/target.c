#include "target.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <stdio.h>
#include <sys/stat.h>

#include "beamtop/base/text.h"

int target_epmd_port(const struct cli_options *o, const struct app_env *env, uint16_t *port,
                     struct error *err)
{
    *port = (uint16_t)o->epmd_port;
    if (*port || !env->epmd_port)
        return 0;
    char *end = NULL;
    long v = strtol(env->epmd_port, &end, 10);
    if (end == env->epmd_port || *end || v < 1 || v > 65535)
        return error_set(err, ERR_USAGE, "ERL_EPMD_PORT is “%s”, which is no port",
                         env->epmd_port);
    *port = (uint16_t)v;
    return 0;
}

/* The VM that is meant: by full name, or by the part before '@' when the name has no host. */
static const struct discover_vm *find_vm(const struct discover_list *vms, const char *name)
{
    size_t len = strlen(name);
    bool has_host = strchr(name, '@') != NULL;
    for (size_t i = 0; i < vms->count; i++) {
        const char *node = vms->vms[i].node;
        if (strcmp(node, name) == 0)
            return &vms->vms[i];
        if (!has_host && strncmp(node, name, len) == 0 && node[len] == '@')
            return &vms->vms[i];
    }
    return NULL;
}

static int find_cookie(struct target *t, const struct cli_options *o, const struct app_env *env,
                       const struct discover_vm *vm, struct error *err)
{
    struct cookie_sources sources = {
        .file = o->cookie_file,
        .env = env->cookie,
        .option = o->cookie,
        .discovered = vm && vm->cookie_from != DISCOVER_COOKIE_NONE ? vm->cookie.text : NULL,
        .home = env->home,
        .xdg_config_home = env->xdg_config_home,
    };
    return cookie_find(&t->cookie, &sources, err);
}

static bool cookie_given(const struct cli_options *o, const struct app_env *env)
{
    return o->cookie || o->cookie_file || env->cookie;
}

/* No host is called so: who names a recording that is not there need not hear of nodes. */
static bool is_recordings(const char *name)
{
    static const char end[] = ".btr";
    return text_ends_with(name, end) && strlen(name) > strlen(end);
}

int target_check_name(const char *name, struct error *err)
{
    struct stat st;
    if (!strchr(name, '/') && !is_recordings(name))
        return 0;
    if (stat(name, &st) != 0)
        return error_set(err, ERR_USAGE, "%.300s: %s", name, strerror(errno));
    return error_set(err, ERR_USAGE, "%.300s is neither a recording's file nor a node's name", name);
}

int target_init(struct target *t, const char *name, const struct cli_options *o,
                const struct app_env *env, const struct discover_list *vms, struct error *err)
{
    struct discover_list own = {.count = 0};
    uint16_t epmd_port = 0;
    memset(t, 0, sizeof *t);
    int rc = target_check_name(name, err);
    if (rc == 0)
        rc = target_epmd_port(o, env, &epmd_port, err);
    if (rc != 0)
        return rc;
    if (!vms && (!cookie_given(o, env) || !strchr(name, '@'))) {
        struct error ignored = {.code = ERR_NONE}; /* without /proc the other sources serve */
        const struct discover_options options = {.epmd_port = epmd_port};
        (void)discover_scan(&own, &options, &ignored);
        vms = &own;
    }
    const struct discover_vm *vm = vms ? find_vm(vms, name) : NULL;
    snprintf(t->name, sizeof t->name, "%s", vm ? vm->node : name);
    rc = find_cookie(t, o, env, vm, err);
    discover_clear(&own);
    t->conn = (struct conn_options){
        .target = t->name,
        .dial_host = o->host,
        .port = (uint16_t)o->port,
        .epmd_port = epmd_port,
        .cookie = t->cookie.text,
        .timeout_ms = (unsigned)(o->timeout_s * 1000),
    };
    return rc;
}

void target_clear(struct target *t)
{
    cookie_wipe(&t->cookie);
}
