/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which nodes: a list with commas, or a file with a name on each line. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "beamtop/base/alloc.h"
#include "app/way/way_url.h"
#include "beamtop/link/name.h"
#include "fleet_internal.h"

#define HOST_OF "dns:"
#define SERVICE_OF "srv:"
#define NAME_LINE 1024 /* bytes of a line of the file */

bool fleet_is_meant(const char *target)
{
    return target && (target[0] == '@' || strchr(target, ',') || fleet_name_resolves(target));
}

bool fleet_is_asked(const struct cli_options *cli)
{
    return cli->cluster || fleet_is_meant(cli->target);
}

static bool has_prefix(const char *name, const char *prefix)
{
    const char *at = strchr(name, '@');
    return at && !way_is_url(name) && strncmp(at + 1, prefix, strlen(prefix)) == 0;
}

bool fleet_name_is_service(const char *name)
{
    return has_prefix(name, SERVICE_OF);
}

bool fleet_name_resolves(const char *name)
{
    return has_prefix(name, HOST_OF) || fleet_name_is_service(name);
}

static int add_name(struct slice text, int (*add)(void *arg, const char *name, struct error *err),
                    void *arg, struct error *err)
{
    char name[LIMIT_NODE_NAME_BYTES + 1];
    struct name parsed;
    struct way_url url;
    if (text.len > LIMIT_NODE_NAME_BYTES)
        return error_set(err, ERR_USAGE, "a node's name has more than %u bytes",
                         LIMIT_NODE_NAME_BYTES);
    memcpy(name, text.s, text.len);
    name[text.len] = '\0';
    if (way_is_url(name))
        return way_url_parse(&url, name, err) != 0 ? err->code : add(arg, name, err);
    int rc = name_parse(&parsed, name, "localhost", err);
    if (rc == 0 && (strcmp(parsed.host, HOST_OF) == 0 || strcmp(parsed.host, SERVICE_OF) == 0))
        rc = error_set(err, ERR_USAGE, "%.255s: a %s follows %s", name,
                       *parsed.host == *HOST_OF ? "host" : "service", parsed.host);
    return rc != 0 ? rc : add(arg, name, err);
}

/* Without the blanks around it. */
static struct slice trim(struct slice text)
{
    while (text.len > 0 && strchr(" \t\r\n", text.s[0]))
        text.s++, text.len--;
    while (text.len > 0 && strchr(" \t\r\n", text.s[text.len - 1]))
        text.len--;
    return text;
}

static int read_list(const char *target, int (*add)(void *, const char *, struct error *),
                     void *arg, struct error *err)
{
    for (const char *at = target; *at != '\0';) {
        const size_t len = strcspn(at, ",");
        const struct slice name = trim((struct slice){at, len});
        const int rc = name.len > 0 ? add_name(name, add, arg, err) : 0;
        if (rc != 0)
            return rc;
        at += len + (at[len] == ',');
    }
    return 0;
}

/* What follows a # is a comment. */
static int read_names_file(const char *path, int (*add)(void *, const char *, struct error *),
                           void *arg, struct error *err)
{
    char line[NAME_LINE];
    int rc = 0;
    FILE *file = fopen(path, "re");
    if (!file)
        return error_set(err, ERR_USAGE, "%.300s: %s", path, strerror(errno));
    for (int number = 1; rc == 0 && fgets(line, sizeof line, file); number++) {
        const struct slice name = trim((struct slice){line, strcspn(line, "#")});
        if (strlen(line) + 1 == sizeof line && line[strlen(line) - 1] != '\n')
            rc = error_set(err, ERR_USAGE, "the line has more than %d bytes", NAME_LINE - 2);
        else if (name.len > 0)
            rc = add_name(name, add, arg, err);
        if (rc != 0)
            error_context(err, "%.300s, line %d", path, number);
    }
    fclose(file);
    return rc;
}

int fleet_read_names(const char *target, int (*add)(void *arg, const char *name, struct error *err),
                     void *arg, struct error *err)
{
    return target[0] == '@' ? read_names_file(target + 1, add, arg, err)
                            : read_list(target, add, arg, err);
}

void fleet_names_put(struct fleet_names *names, const char *name)
{
    names->names = alloc_grow(names->names, names->n, sizeof *names->names);
    snprintf(names->names[names->n++], sizeof *names->names, "%s", name);
}

static int add_once(void *arg, const char *name, struct error *err)
{
    struct fleet_names *names = arg;
    for (size_t i = 0; i < names->n; i++)
        if (strcmp(names->names[i], name) == 0)
            return 0;
    if (names->n == FLEET_MOST)
        return error_set(err, ERR_LIMIT, "more than %d nodes", FLEET_MOST);
    fleet_names_put(names, name);
    return 0;
}

int fleet_names_take(struct fleet_names *out, const char *target, struct error *err)
{
    *out = (struct fleet_names){0};
    const int rc = fleet_read_names(target, add_once, out, err);
    return rc == 0 && out->n == 0 ? error_set(err, ERR_USAGE, "%.300s names no node", target) : rc;
}

void fleet_names_clear(struct fleet_names *names)
{
    free(names->names);
    cookie_wipe(&names->lent);
    *names = (struct fleet_names){0};
}

const struct cookie *fleet_lent(const struct fleet_names *names, size_t i)
{
    return names->lent.origin != COOKIE_NONE && i >= names->lent_from ? &names->lent : NULL;
}
