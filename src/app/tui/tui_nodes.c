/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The node, or the recording, on the screen: opened and left; found, chosen from a picker, or one
 * of several that are shown in a row each. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "beamtop/base/alloc.h"
#include "app/fleet/fleet.h"
#include "app/fleet/fleet_hosts.h"
#include "app/fleet/fleet_recorded.h"
#include "app/source/nodes.h"
#include "app/source/target.h"
#include "tui_owners.h"

struct tui_fleet {
    struct tui *tui;
    struct fleet *fleet;             /* NULL: there is one node */
    struct fleet_recorded *recorded; /* of `replay DIR`: rows and files; else NULL */
    struct fleet_hosts *hosts;       /* of the prompt that was opened last; may be NULL */
    char *adds;                      /* names that wait until the VMs of this host are found */
    uint64_t mesh_ms;                /* when their links were last compared */
    void (*lost)(void *arg, size_t node, const struct error *why);
    void (*closes)(void *arg);
    void *follower; /* the arg of both */
};

#define MESH_OFTEN 200 /* nodes */
#define SETTLE_MS 10u  /* the answers of a tick come one after the other: one draw has them all */

/* ---- its source */

static void on_source_changed(void *arg, bool facts)
{
    struct tui *t = arg;
    if (facts)
        t->changed_ms = uv_now(&t->rt.loop);
    if (!t->paused || !facts || source_can(t->source, SOURCE_SEEKS))
        screen_update(t->screen);
    tui_announce(t, TUI_CHANGED);
    tui_draw_in(t, SETTLE_MS);
}

static void on_source_tick(void *arg)
{
    tui_announce(arg, TUI_TICK);
}

static void on_source_trouble(void *arg, const struct error *err)
{
    tui_message(arg, STYLE_ERROR, "%s", err->text);
}

static void on_source_notice(void *arg, bool trouble, const char *text)
{
    tui_message(arg, trouble ? STYLE_WARN : STYLE_MESSAGE, "%s", text);
}

static void on_source_link(void *arg, bool up)
{
    struct tui *t = arg;
    if (up) {
        /* Findings name pids: those of a node that was started again are of other processes. */
        uint32_t life = live_peer_creation(t->live);
        if (t->life != 0 && t->life != life) {
            tui_announce(t, TUI_RESTARTED);
            screen_forget_process(t->screen);
        }
        t->life = life;
        return;
    }
    t->copy_waits = false;
    tui_announce(t, TUI_LOST);
}

static void close_source(struct tui *t)
{
    if (!t->source)
        return;
    tui_announce(t, TUI_LEAVES);
    source_close(t->source, NULL, NULL);
    t->source = NULL;
    t->live = NULL;
}

/* `beamtop ndoes` names a node. */
static void tell_command(const struct tui *t, struct error *err)
{
    const char *target = t->cli->target;
    struct slice near = {NULL, 0};
    if (target && !strchr(target, '@'))
        near = cli_near_command(target);
    if (near.len > 0)
        error_context(err, "there is no command “%s” (did you mean `beamtop %.*s`?), and as a node",
                      target, (int)near.len, near.s);
}

/* What was chosen from the picker leaves the choice of another. */
static void end_without_source(struct tui *t, bool had_tick, const struct error *why)
{
    struct error copy = *why;
    if (t->picked || (t->vms.count > 1 && !t->cli->target)) {
        close_source(t);
        tui_message(t, STYLE_ERROR, "%s", copy.text);
        return;
    }
    if (!had_tick)
        tell_command(t, &copy);
    tui_quit(t, EXIT_CONNECT, &copy);
}

static void on_nothing_outside(struct tui *t, const struct error *trouble, const struct error *why)
{
    struct error both = *trouble;
    if (why->code == ERR_TIMEOUT) /* it may be one that was left out */
        error_set(&both, trouble->code, "%.500s. %.300s", trouble->text, why->text);
    end_without_source(t, false, &both);
}

static void on_source_end(void *arg, bool had_tick, const struct error *err)
{
    struct tui *t = arg;
    const struct error copy = *err;
    if (had_tick || !t->live) {
        end_without_source(t, had_tick, &copy);
        return;
    }
    close_source(t);
    tui_message(t, STYLE_ERROR, "%s", copy.text);
    tui_outside_open(t, t->opened, &copy, on_nothing_outside);
}

int tui_open_named(struct tui *t, const char *target, struct error *err)
{
    const int rc = tui_connect(t, target, 0, err);
    if (rc == 0 || rc == ERR_USAGE)
        return rc;
    const struct error trouble = *err;
    *err = (struct error){0};
    tui_outside_open(t, target, &trouble, on_nothing_outside);
    return 0;
}

/* A node of several is opened with the cookie of its row. */
static const struct cookie *lent_cookie(const struct tui *t, const char *name)
{
    const struct tui_fleet *f = t->own[OWNER_FLEET];
    return f->fleet ? fleet_cookie(f->fleet, name) : NULL;
}

/* Of several recordings the file of that row: what the one before has said is another node's. */
static int open_source(struct tui *t, const char *target, const struct source_setup *setup,
                       struct error *err)
{
    const struct tui_fleet *f = t->own[OWNER_FLEET];
    const char *file = f->recorded ? fleet_recorded_path(f->recorded, target) : NULL;
    struct error ignored = {0};
    if (file)
        model_forget(t->model);
    const int rc = source_open(&t->source, file ? file : target, setup, err);
    if (file)
        (void)fleet_recorded_take(f->recorded, t->model, &ignored);
    return rc;
}

/* A VM without distribution is only seen from outside. */
static bool is_no_node(const struct tui *t, int64_t os_pid)
{
    for (size_t i = 0; i < t->vms.count && os_pid > 0; i++)
        if (t->vms.vms[i].pid == os_pid)
            return t->vms.vms[i].node[0] == '\0';
    return false;
}

static void say_gone(struct tui *t, const struct error *trouble, const struct error *why)
{
    (void)trouble;
    tui_message(t, STYLE_ERROR, "%s", why->text);
}

/* Nothing else stays on the screen. */
static void open_outside(struct tui *t, int64_t os_pid)
{
    struct error none = {0};
    char target[24];
    snprintf(target, sizeof target, "%lld", (long long)os_pid);
    close_source(t);
    model_forget(t->model);
    t->opened[0] = '\0';
    error_set(&none, ERR_REFUSED,
              "none: the VM runs without distribution. Start it with -sname or -name to look "
              "inside");
    tui_outside_open(t, target, &none, say_gone);
}

int tui_connect(struct tui *t, const char *target, int64_t os_pid, struct error *err)
{
    static const struct source_handlers handlers = {.on_change = on_source_changed,
                                                    .on_tick = on_source_tick,
                                                    .on_trouble = on_source_trouble,
                                                    .on_notice = on_source_notice,
                                                    .on_link = on_source_link,
                                                    .on_end = on_source_end};
    const struct options *o = &t->settings.options;
    const struct source_setup setup = {
        .cli = t->cli,
        .env = t->env,
        .vms = t->vms.count ? &t->vms : NULL,
        .lent = lent_cookie(t, target),
        .os_pid = os_pid,
        .loop = &t->rt.loop,
        .model = t->model,
        .interval_s = option_double(o, OPTION_INTERVAL),
        .budget = option_double(o, OPTION_BUDGET) / 100,
        .reconnect = option_bool(o, OPTION_RECONNECT),
        .handlers = &handlers,
        .arg = t,
    };
    char filter[sizeof t->filter_text]; /* of a start, or of the node before */
    if (is_no_node(t, os_pid)) {
        open_outside(t, os_pid);
        return 0;
    }
    snprintf(t->opened, sizeof t->opened, "%s", target);
    close_source(t);
    if (t->paused) /* what stood still is gone: it would stay empty */
        tui_pause(t, false);
    tui_announce(t, TUI_OPENS);
    t->copy_waits = false;
    screen_forget_process(t->screen);
    t->changed_ms = uv_now(&t->rt.loop);
    int rc = open_source(t, target, &setup, err);
    if (rc != 0)
        return rc;
    t->live = source_live(t->source);
    memcpy(filter, t->filter_text, sizeof filter);
    t->target_filter[0] = '\n'; /* not known: it is set again */
    rc = tui_set_filter(t, filter, NULL, err);
    if (rc == 0)
        tui_want(t);
    return rc;
}

/* ---- the nodes of this host */

static void show_nodes(struct tui *t)
{
    struct screen_node *rows = alloc_zero(t->vms.count + 1, sizeof *rows);
    char(*notes)[160] = alloc_zero(t->vms.count + 1, sizeof *notes);
    size_t n = 0;
    for (size_t i = 0; i < t->vms.count; i++) {
        const struct discover_vm *vm = &t->vms.vms[i];
        nodes_note(notes[n], sizeof notes[n], vm);
        rows[n] = (struct screen_node){
            .name = *vm->node ? vm->node : vm->command,
            .otp = vm->otp,
            .elixir = "",
            .cookie = nodes_cookie_word(vm),
            .note = notes[n],
            .os_pid = vm->pid,
            .uptime_s = vm->uptime_s < 0 ? NAN : vm->uptime_s,
            .memory_bytes = vm->rss_bytes ? (double)vm->rss_bytes : NAN,
        };
        n++;
    }
    screen_choose_node(t->screen, rows, n);
    free(notes);
    free(rows);
}

static const struct discover_vm *only_node(const struct tui *t)
{
    const struct discover_vm *only = NULL;
    size_t nodes = 0;
    for (size_t i = 0; i < t->vms.count; i++) {
        if (!*t->vms.vms[i].node)
            continue;
        only = &t->vms.vms[i];
        nodes++;
    }
    return nodes == 1 ? only : NULL;
}

/* At the start, without a name. */
static void open_found(struct tui *t)
{
    const struct discover_vm *only = only_node(t);
    struct error err = {0};
    int rc = 0;
    screen_set_message(t->screen, STYLE_MESSAGE, "");
    if (t->vms.count == 0)
        rc = nodes_none(&t->vms, &err);
    else if (only)
        rc = tui_connect(t, only->node, only->pid, &err);
    else
        show_nodes(t);
    if (rc != 0)
        tui_quit(t, rc == ERR_USAGE ? EXIT_USAGE : EXIT_CONNECT, &err);
}

/* ---- several nodes: their connections stay while the screen of one of them is open */

/* Of many nodes there are many pairs. */
static int take_mesh(struct tui_fleet *f, struct error *err)
{
    const uint64_t now = uv_now(&f->tui->rt.loop);
    const uint64_t every_ms = fleet_size(f->fleet) > MESH_OFTEN ? 10000 : 1000;
    if (f->mesh_ms > 0 && now < f->mesh_ms + every_ms)
        return 0;
    f->mesh_ms = now;
    return fleet_take_mesh(f->fleet, f->tui->model, err);
}

static void on_fleet_changed(void *arg)
{
    struct tui_fleet *f = arg;
    struct tui *t = f->tui;
    struct error err = {0};
    if (t->paused)
        return;
    if (fleet_take(f->fleet, t->model, &err) != 0 || take_mesh(f, &err) != 0)
        tui_message(t, STYLE_ERROR, "%s", err.text);
    screen_update(t->screen);
    tui_touch(t);
}

static void on_fleet_lost(void *arg, size_t node, const struct error *why)
{
    struct tui_fleet *f = arg;
    if (f->lost)
        f->lost(f->follower, node, why);
}

struct fleet *tui_fleet(const struct tui *t)
{
    const struct tui_fleet *f = t->own[OWNER_FLEET];
    return f->fleet;
}

void tui_fleet_follow(struct tui *t, void (*lost)(void *arg, size_t node, const struct error *why),
                      void (*closes)(void *arg), void *arg)
{
    struct tui_fleet *f = t->own[OWNER_FLEET];
    f->lost = lost;
    f->closes = closes;
    f->follower = arg;
}

static int open_fleet(struct tui *t, const char *target, struct error *err)
{
    struct tui_fleet *f = t->own[OWNER_FLEET];
    const struct options *o = &t->settings.options;
    fleet_prepare();
    const struct fleet_setup setup = {
        .cli = t->cli,
        .env = t->env,
        .vms = &t->vms,
        .loop = &t->rt.loop,
        .interval_s = option_double(o, OPTION_INTERVAL),
        .budget = option_double(o, OPTION_BUDGET) / 100,
        .links = true,
        .facts = true,
        .changed = on_fleet_changed,
        .lost = on_fleet_lost,
        .arg = f,
    };
    int rc = fleet_open(&f->fleet, target, &setup, err);
    if (rc == 0)
        tui_act(t, ACTION_VIEW, "fleet");
    return rc;
}

int tui_fleet_open(struct tui *t, const char *target, struct error *err)
{
    struct error ignored = {0}; /* names with a host need no list */
    (void)nodes_find(&t->vms, t->cli, t->env, NODES_EPMD_MS, &ignored);
    return open_fleet(t, target, err);
}

int tui_recorded_open(struct tui *t, const char *dir, struct error *err)
{
    struct tui_fleet *f = t->own[OWNER_FLEET];
    int rc = fleet_recorded_open(&f->recorded, dir, err);
    if (rc == 0)
        rc = fleet_recorded_take(f->recorded, t->model, err);
    if (rc == 0)
        tui_act(t, ACTION_VIEW, "fleet");
    return rc;
}

/* ---- nodes that you add and remove */

/* One node on the screen becomes the first of several. */
static int add_nodes(struct tui_fleet *f, const char *names, struct error *err)
{
    struct tui *t = f->tui;
    if (f->fleet)
        return fleet_add(f->fleet, names, err);
    const char *peer = t->live ? live_peer_node(t->live) : NULL;
    if (!peer || *peer == '\0')
        return open_fleet(t, names, err);
    const int rc = open_fleet(t, peer, err);
    return rc == 0 ? fleet_add(f->fleet, names, err) : rc; /* names may be those of a file */
}

static void node_accepted(void *own, const char *names)
{
    struct tui_fleet *f = own;
    struct error err = {0};
    if (f->tui->finding) {
        free(f->adds);
        f->adds = alloc_strdup(names);
    } else if (names[strspn(names, " ")] != '\0' && add_nodes(f, names, &err) != 0)
        tui_message(f->tui, STYLE_ERROR, "%s", err.text);
}

static void add_waiting(struct tui_fleet *f)
{
    char *names = f->adds;
    f->adds = NULL;
    if (names)
        node_accepted(f, names);
    free(names);
}

static void on_tui_nodes(void *arg, struct discover_list *list)
{
    struct tui *t = arg;
    struct tui_fleet *f = t->own[OWNER_FLEET];
    char left[160];
    t->finding = NULL;
    discover_clear(&t->vms);
    t->vms = *list;
    if (t->starts && !t->source)
        open_found(t);
    else if (t->picks)
        show_nodes(t);
    if (nodes_left_out(left, sizeof left, &t->vms))
        tui_message(t, STYLE_WARN, "%s", left);
    add_waiting(f);
    tui_touch(t);
}

/* The list of before stays until they are found. picks: the picker opens then. */
static int find_nodes(struct tui *t, bool picks, struct error *err)
{
    discover_stop(t->finding);
    t->picks = picks;
    t->starts = false;
    return nodes_search(&t->finding, &t->rt.loop, t->cli, t->env, NODES_EPMD_MS, on_tui_nodes, t,
                        err);
}

int tui_find_node(struct tui *t, struct error *err)
{
    const int rc = find_nodes(t, false, err);
    t->starts = rc == 0;
    tui_message(t, STYLE_MESSAGE, "looking for the VMs of this host");
    return rc;
}

void tui_pick(struct tui *t)
{
    struct error err = {0};
    if (strcmp(screen_view(t->screen), "fleet") == 0)
        tui_act(t, ACTION_ADD_NODE, "");
    else if (find_nodes(t, true, &err) != 0)
        tui_message(t, STYLE_ERROR, "%s", err.text);
}

/* The word at the point of the line: the last of several. */
static void offer_node(struct completion *out, const char *line, size_t point, const char *name)
{
    if (*name && strncmp(name, line + out->from, point - out->from) == 0)
        completion_add(out, name, "");
}

/* The nodes of this host, and what epmd knows on those of the rows. */
static void complete_node(void *own, const char *line, size_t point, struct completion *out)
{
    const struct tui_fleet *f = own;
    const struct discover_list *vms = &f->tui->vms;
    for (out->to = out->from = point; out->from > 0 && line[out->from - 1] != ',';)
        out->from--;
    for (size_t i = 0; i < vms->count; i++)
        offer_node(out, line, point, vms->vms[i].node);
    const struct fleet_names *names = f->hosts ? fleet_hosts_names(f->hosts) : NULL;
    for (size_t i = 0; names && i < names->n; i++)
        offer_node(out, line, point, names->names[i]);
    completion_sort(out);
}

static void ask_hosts(struct tui_fleet *f)
{
    const struct tui *t = f->tui;
    struct error ignored = {0};
    uint16_t port = 0;
    fleet_hosts_close(f->hosts);
    f->hosts = NULL;
    if (f->fleet && nodes_epmd_port(t->cli, t->env, &port, &ignored) == 0)
        f->hosts = fleet_hosts_ask(f->fleet, &f->tui->rt.loop, port);
}

static void act_add_node(void *own, const char *names)
{
    struct tui_fleet *f = own;
    struct error err = {0};
    const struct prompt_calls calls = {
        .accepted = node_accepted, .complete = complete_node, .ctx = f};
    if (f->recorded) {
        tui_message(f->tui, STYLE_ERROR, "these are recordings: a node is added to live ones only");
        return;
    }
    if (find_nodes(f->tui, false, &err) != 0)
        tui_message(f->tui, STYLE_ERROR, "%s", err.text);
    if (*names) {
        node_accepted(f, names);
        return;
    }
    ask_hosts(f);
    prompt_open(f->tui->prompt, PROMPT_TEXT, "add node: ", "", &calls);
}

static void act_remove_node(void *own, const char *arg)
{
    struct tui_fleet *f = own;
    const struct view_link link = screen_link(f->tui->screen);
    (void)arg;
    if (!f->fleet || link.kind != TARGET_NODE || !fleet_remove(f->fleet, link.name))
        tui_message(f->tui, STYLE_ERROR, "there is no node under the cursor");
}

static void *make_fleet(struct tui *t)
{
    struct tui_fleet *f = alloc_zero(1, sizeof *f);
    f->tui = t;
    return f;
}

static void close_fleet(void *own)
{
    struct tui_fleet *f = own;
    discover_stop(f->tui->finding);
    f->tui->finding = NULL;
    free(f->adds);
    f->adds = NULL;
    if (f->closes)
        f->closes(f->follower);
    fleet_hosts_close(f->hosts);
    fleet_close(f->fleet);
    fleet_recorded_close(f->recorded);
    f->recorded = NULL;
    f->hosts = NULL;
    f->fleet = NULL;
}

static void retry_fleet(void *own)
{
    struct tui_fleet *f = own;
    if (f->fleet)
        fleet_retry(f->fleet);
}

const struct tui_owner tui_fleet_owner = {
    .acts = {[ACTION_ADD_NODE] = {.run = act_add_node},
             [ACTION_REMOVE_NODE] = {.run = act_remove_node}},
    .make = make_fleet,
    .at = {[TUI_RESUMES] = retry_fleet, [TUI_CLOSES] = close_fleet, [TUI_FREES] = free}};
