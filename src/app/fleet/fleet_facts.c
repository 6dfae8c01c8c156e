/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What nodes are asked for seldom, beside their ticks. An answer is read once and let go of: of
 * hundreds of nodes each would keep more than its row has. */
#include <stdio.h>
#include <string.h>

#include "beamtop/base/attr.h"
#include "beamtop/base/clock.h"
#include "beamtop/etf/build.h"
#include "fleet_internal.h"

#define DEADLINE_MS 10000u
#define APPS_BYTES 32768u /* of names and versions that are kept of a node */

/* One at most of a kind waits at a node, FLEET_OPENING of all nodes. */
static const struct {
    enum question question;
    uint64_t every_ms;
    void (*take)(struct member *m, const struct table_detail *table);
} asks[MEMBER_ASKS] = {
    [ASK_VM] = {QUESTION_VM, 60000, fleet_take_vm},
    [ASK_LINKS] = {QUESTION_LINKS, 30000, fleet_take_queues},
};

void fleet_forget_facts(struct member *m)
{
    struct buf apps = m->facts.apps;
    m->fleet->versions_changed = m->fleet->versions_changed || apps.len > 0;
    buf_clear(&apps);
    m->findings = -1;
    m->facts = (struct member_facts){
        .memory_limit = -1, .resident_bytes = -1, .apps = apps, .queue_bytes = -1, .busy = -1};
}

/* ---- answers */

static bool is_text(struct slice text, size_t most)
{
    return text.len > 0 && text.len <= most && !memchr(text.s, '\0', text.len);
}

static void keep_version(struct buf *apps, struct slice app, struct slice version)
{
    if (!is_text(app, FLEET_APP_BYTES) || !is_text(version, FLEET_VERSION_BYTES) ||
        apps->len + app.len + version.len + 2 > APPS_BYTES)
        return;
    buf_put(apps, app.s, app.len);
    buf_put_u8(apps, 0);
    buf_put(apps, version.s, version.len);
    buf_put_u8(apps, 0);
}

static void take_versions(struct member *m, struct buf *apps)
{
    struct buf *kept = &m->facts.apps;
    if (apps->len == kept->len &&
        (kept->len == 0 || memcmp(apps->data, kept->data, kept->len) == 0))
        return;
    buf_reset(kept);
    buf_put(kept, apps->data, apps->len);
    m->fleet->versions_changed = true;
}

void fleet_take_vm(struct member *m, const struct table_detail *table)
{
    const struct vm_row *rows = table->rows;
    struct member_facts *facts = &m->facts;
    struct buf apps;
    buf_init(&apps, 0);
    facts->memory_limit = facts->resident_bytes = -1;
    for (size_t i = 0; i < table->n_rows; i++) {
        if (slice_is(rows[i].id, "cgroup.memory"))
            facts->memory_limit = rows[i].limit_number;
        else if (slice_is(rows[i].id, "os.resident memory"))
            facts->resident_bytes = rows[i].number;
        else if (slice_is(rows[i].section, "applications"))
            keep_version(&apps, rows[i].item, rows[i].value);
    }
    take_versions(m, &apps);
    buf_clear(&apps);
}

void fleet_take_queues(struct member *m, const struct table_detail *table)
{
    const struct links_row *rows = table->rows;
    struct member_facts *facts = &m->facts;
    facts->queue_bytes = -1;
    facts->busy = 0;
    for (size_t i = 0; i < table->n_rows; i++) {
        facts->busy += rows[i].busy;
        if (rows[i].queue_bytes <= facts->queue_bytes)
            continue;
        facts->queue_bytes = rows[i].queue_bytes;
        snprintf(facts->queue_node, sizeof facts->queue_node, "%.*s", (int)rows[i].node.len,
                 rows[i].node.s);
    }
}

/* Decoded by a separate model, which goes at once: the member's would keep all of it. */
static void take_answer(struct member *m, enum member_ask ask, const struct answer *answer)
{
    struct error ignored = {0};
    m->facts.waits[ask] = false;
    m->facts.is_told = m->facts.is_told || ask == ASK_VM;
    m->fleet->changed = true;
    if (!answer->value)
        return;
    struct model *model = model_new_small();
    if (model_take(model, answer->question, answer->value, answer->len, NULL, clock_mono_ns(),
                   &ignored) == 0)
        asks[ask].take(m, model_answer(model, answer->question));
    model_free(model);
}

static void on_vm(void *arg, const struct answer *answer)
{
    take_answer(arg, ASK_VM, answer);
}

static void on_links(void *arg, const struct answer *answer)
{
    take_answer(arg, ASK_LINKS, answer);
}

/* ---- asking */

/* With `links` its model has them anyhow. */
static bool is_asked(const struct member *m, enum member_ask ask)
{
    return m->state == MEMBER_UP && m->live && !m->ended && m->ticks >= 2 &&
           (ask != ASK_LINKS || !m->fleet->setup.links);
}

static bool ask_member(struct member *m, enum member_ask ask)
{
    static answer_fn *const takers[MEMBER_ASKS] = {[ASK_VM] = on_vm, [ASK_LINKS] = on_links};
    struct error ignored = {0};
    struct builder *arg = builder_new();
    build_nil(arg);
    m->facts.due_ms[ask] = uv_now(m->fleet->setup.loop) + asks[ask].every_ms;
    m->facts.waits[ask] =
        live_ask(m->live, asks[ask].question, arg, DEADLINE_MS, takers[ask], m, &ignored) == 0;
    builder_free(arg);
    return m->facts.waits[ask];
}

static void ask_all(struct fleet *f, enum member_ask ask)
{
    size_t waiting = 0;
    for (size_t i = 0; i < f->n; i++)
        waiting += f->members[i]->facts.waits[ask];
    for (size_t i = 0; i < f->n && waiting < FLEET_OPENING; i++) {
        struct member *m = f->members[i];
        const bool is_due = m->facts.due_ms[ask] <= uv_now(f->setup.loop);
        if (is_due && !m->facts.waits[ask] && is_asked(m, ask))
            waiting += ask_member(m, ask);
    }
}

void fleet_ask_facts(struct fleet *f)
{
    for (unsigned ask = 0; f->setup.facts && ask < MEMBER_ASKS; ask++)
        ask_all(f, ask);
}
