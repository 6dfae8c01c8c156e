/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which versions of applications differ between the nodes. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "beamtop/base/alloc.h"
#include "beamtop/base/attr.h"
#include "beamtop/base/text.h"
#include "fleet_internal.h"

#define MORE ", …"
#define EVERY_MS 1000u /* while answers come, each with its versions */

/* These come with a release: nodes of another release are expected to have others. */
static const char *const otp_apps[] = {
    "asn1",       "common_test", "compiler",      "crypto",     "debugger",      "dialyzer",
    "diameter",   "edoc",        "eldap",         "erl_docgen", "erl_interface", "erts",
    "et",         "eunit",       "ftp",           "inets",      "jinterface",    "kernel",
    "megaco",     "mnesia",      "observer",      "odbc",       "os_mon",        "parsetools",
    "public_key", "reltool",     "runtime_tools", "sasl",       "snmp",          "ssh",
    "ssl",        "stdlib",      "syntax_tools",  "tftp",       "tools",         "wx",
    "xmerl",
};

struct version {
    struct slice app, release, version; /* release: of an application of OTP, else "" */
    struct member *member;
};

static bool is_of_otp(struct slice app)
{
    for (size_t i = 0; i < ARRAY_LEN(otp_apps); i++)
        if (slice_is(app, otp_apps[i]))
            return true;
    return false;
}

static int compare_versions(const void *a, const void *b)
{
    const struct version *x = a, *y = b;
    int order = slice_order(x->app, y->app);
    order = order ? order : slice_order(x->release, y->release);
    return order ? order : slice_order(x->version, y->version);
}

static struct slice next_text(const struct buf *apps, size_t *at)
{
    const struct slice text = slice_of((const char *)apps->data + *at);
    *at += text.len + 1;
    return text;
}

/* In order; the caller's to free, borrowed of the members. */
static struct version *list_versions(const struct fleet *f, size_t *n)
{
    struct version *all = NULL;
    *n = 0;
    for (size_t i = 0; i < f->n; i++) {
        struct member *m = f->members[i];
        for (size_t at = 0; at < m->facts.apps.len; (*n)++) {
            const struct slice app = next_text(&m->facts.apps, &at);
            const struct slice release = is_of_otp(app) ? fleet_release(m) : (struct slice){"", 0};
            all = alloc_grow(all, *n, sizeof *all);
            all[*n] = (struct version){app, release, next_text(&m->facts.apps, &at), m};
        }
    }
    if (*n > 0)
        qsort(all, *n, sizeof *all, compare_versions);
    return all;
}

/* The first has room in any case. */
static void note_version(const struct version *v, struct slice common)
{
    struct member_facts *facts = &v->member->facts;
    const size_t used = strlen(facts->apart), room = sizeof facts->apart - used;
    char of_most[FLEET_VERSION_BYTES + 12] = "", text[sizeof facts->apart];
    if (common.len > 0)
        snprintf(of_most, sizeof of_most, " (most: %.*s)", (int)common.len, common.s);
    const int len = snprintf(text, sizeof text, "%s%.*s %.*s%s", used > 0 ? ", " : "",
                             (int)v->app.len, v->app.s, (int)v->version.len, v->version.s, of_most);
    facts->is_apart = facts->is_apart || common.len > 0;
    if ((size_t)len + sizeof MORE <= room)
        strcpy(facts->apart + used, text);
    else if (!text_ends_with(facts->apart, MORE))
        strcpy(facts->apart + used, MORE);
}

/* Of one application: those that others do not have. */
static void note_apart(const struct version *all, size_t n)
{
    if (slice_equal(all[0].version, all[n - 1].version))
        return;
    struct slice *texts = alloc_zero(n, sizeof *texts), common;
    size_t most;
    for (size_t i = 0; i < n; i++)
        texts[i] = all[i].version;
    if (!fleet_find_common(texts, n, &common, &most))
        common.len = 0;
    free(texts);
    for (size_t i = 0; i < n; i++)
        if (!slice_equal(all[i].version, common))
            note_version(&all[i], common);
}

static bool is_asking(const struct fleet *f)
{
    for (size_t i = 0; i < f->n; i++)
        if (f->members[i]->facts.waits[ASK_VM])
            return true;
    return false;
}

void fleet_compare_versions(struct fleet *f)
{
    const uint64_t now_ms = uv_now(f->setup.loop);
    size_t n, known = 0;
    if (!f->versions_changed || (is_asking(f) && now_ms < f->versions_ms + EVERY_MS))
        return;
    f->versions_changed = false;
    f->versions_ms = now_ms;
    for (size_t i = 0; i < f->n; i++) {
        f->members[i]->facts.apart[0] = '\0';
        f->members[i]->facts.is_apart = false;
        known += f->members[i]->facts.apps.len > 0;
    }
    struct version *all = list_versions(f, &n);
    for (size_t from = 0, to; from < n; from = to) {
        for (to = from; to < n && slice_equal(all[from].app, all[to].app) &&
                        slice_equal(all[from].release, all[to].release);)
            to++;
        note_apart(all + from, to - from);
    }
    free(all);
    for (size_t i = 0; i < f->n; i++)
        if (known > 1 && f->members[i]->facts.apps.len > 0 && !*f->members[i]->facts.apart)
            strcpy(f->members[i]->facts.apart, "same");
    f->changed = true;
}
