/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `beamtop doctor`: whose checks, and their lines as text, JSON or CSV. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/cli/commands.h"
#include "app/cli/tell.h"
#include "app/source/nodes.h"
#include "app/way/container.h"
#include "app/way/reach.h"
#include "app/way/way_methods.h"
#include "beamtop/base/alloc.h"
#include "beamtop/base/clock.h"
#include "beamtop/link/epmd.h"
#include "beamtop/output/sink.h"
#include "doctor.h"

struct doctor {
    const struct cli_options *options;
    const struct app_env *env;
    struct discover_list vms;
    struct doctor_facts *facts;
    size_t n;
    struct doctor_line (*lines)[DOCTOR_CHECKS];
    size_t *n_lines; /* of each */
};

/* ---- whose */

/* A container of this host has its VM; NULL: it is reached in another way, or not at all. */
static const struct discover_vm *find_contained(struct discover_list *vms, const char *text,
                                                const struct cli_options *o,
                                                const struct app_env *env)
{
    struct error ignored = {0}; /* target_init() has it */
    struct way_url url;
    if (way_url_parse(&url, text, &ignored) != 0 || !way_engine(url.scheme) ||
        container_find(vms, &url, reach_container_answer(env->reach), cli_timeout_ms(o), -1,
                       &ignored) != 0)
        return NULL;
    return container_choose(vms, &url, &ignored);
}

static void add_facts(struct doctor *d, const char *asked, const struct discover_vm *vm,
                      uint16_t epmd_port)
{
    d->facts[d->n++] =
        (struct doctor_facts){.asked = asked, .vm = vm, .vms = &d->vms, .epmd_port = epmd_port};
}

/* One that was named, or all nodes of this host. */
static int gather(struct doctor *d, struct error *err)
{
    const char *asked = d->options->target;
    struct target_choice c;
    uint16_t port = 0;
    int rc = nodes_epmd_port(d->options, d->env, &port, err);
    port = port != 0 ? port : EPMD_PORT;
    rc = rc == 0 && asked ? target_check_name(asked, err) : rc;
    const bool is_url = way_is_url(asked);
    if (rc == 0 && !is_url)
        rc = nodes_find(&d->vms, d->options, d->env, NODES_EPMD_MS, err);
    if (rc != 0)
        return rc;
    const struct discover_vm *contained =
        is_url ? find_contained(&d->vms, asked, d->options, d->env) : NULL;
    d->facts = alloc_zero(d->vms.count + 1, sizeof *d->facts);
    if (is_url) {
        add_facts(d, asked, contained, port);
    } else if (asked) {
        target_choose(&c, &d->vms, asked, 0);
        add_facts(d, asked, c.sure ? c.vm : NULL, port);
        if (c.vm && !c.sure)
            (void)target_several(&d->vms, asked, &d->facts[0].several);
    }
    for (size_t i = 0; !asked && i < d->vms.count; i++)
        if (d->vms.vms[i].node[0] != '\0')
            add_facts(d, d->vms.vms[i].node, &d->vms.vms[i], port);
    if (d->vms.count == 0 && d->n == 0)
        return nodes_none(&d->vms, err);
    return d->n > 0 ? 0
                    : error_set(err, ERR_NOT_FOUND,
                                "no Erlang or Elixir node was found on this host. Give its name: "
                                "beamtop doctor NAME@HOST");
}

/* ---- their lines */

static const char *facts_name(const struct doctor_facts *f)
{
    return f->vm && f->vm->node[0] ? f->vm->node : f->target.name[0] ? f->target.name : f->asked;
}

static void put_texts(const struct doctor *d)
{
    for (size_t i = 0; i < d->n; i++) {
        tell_to(stdout, "%s%s\n", i > 0 ? "\n" : "", facts_name(&d->facts[i]));
        for (size_t k = 0; k < d->n_lines[i]; k++) {
            const struct doctor_line *l = &d->lines[i][k];
            tell_to(stdout, "  %-4s  %-10s  %s%s%s\n", doctor_state_word(l->state), l->check,
                    l->text, l->fix[0] ? ". " : "", l->fix);
        }
    }
}

static int put_rows(const struct doctor *d, struct error *err)
{
    const struct sink_options options = {
        .format = d->options->format == FORMAT_JSON ? SINK_JSON : SINK_CSV,
        .spreadsheet = d->options->spreadsheet,
    };
    struct sink_check *rows = alloc_zero(d->n * DOCTOR_CHECKS + 1, sizeof *rows);
    size_t n = 0;
    for (size_t i = 0; i < d->n; i++)
        for (size_t k = 0; k < d->n_lines[i]; k++) {
            const struct doctor_line *l = &d->lines[i][k];
            const struct discover_vm *vm = d->facts[i].vm;
            rows[n++] = (struct sink_check){
                .node = slice_of(facts_name(&d->facts[i])),
                .os_pid = vm && vm->pid > 0 ? vm->pid : -1,
                .check = slice_of(l->check),
                .state = slice_of(doctor_state_word(l->state)),
                .text = slice_of(l->text),
                .fix = slice_of(l->fix),
            };
        }
    struct sink *sink = sink_open_file(stdout, &options);
    const int rc = sink_put_checks(sink, rows, n, clock_wall_us(), err);
    sink_close(sink);
    free(rows);
    return rc;
}

/* The exit code is the first that is not 0. */
static int report(struct doctor *d, struct error *err)
{
    int code = 0;
    d->lines = alloc_zero(d->n, sizeof *d->lines);
    d->n_lines = alloc_zero(d->n, sizeof *d->n_lines);
    for (size_t i = 0; i < d->n; i++) {
        d->n_lines[i] = doctor_check(d->lines[i], &d->facts[i]);
        code = code != 0 ? code : doctor_exit_code(&d->facts[i]);
    }
    if (d->options->format == FORMAT_TEXT)
        put_texts(d);
    else if (put_rows(d, err) != 0)
        code = tell_error(err);
    free(d->lines);
    free(d->n_lines);
    return code;
}

int command_doctor(const struct cli_options *o, const struct app_env *env)
{
    struct doctor d = {.options = o, .env = env};
    struct error err = {0};
    int code = 0;
    if (gather(&d, &err) != 0) {
        code = tell_error(&err);
    } else {
        doctor_try(d.facts, d.n, o, env);
        code = report(&d, &err);
    }
    for (size_t i = 0; i < d.n; i++)
        target_clear(&d.facts[i].target);
    free(d.facts);
    discover_clear(&d.vms);
    return code;
}
