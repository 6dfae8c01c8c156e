/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What leads to a node that is named by a URL: the program, the place, what may be done there. */
#include <stdio.h>
#include <string.h>

#include "app/pod/pod.h"
#include "doctor.h"

#define ASK_MS 10000

/* One check of a place; the next ones are left out where it returns false. */
struct far_check {
    enum way_scheme scheme;
    const char *word;
    bool (*check)(const struct way_url *url, struct doctor_far *far, struct doctor_line *out);
};

static void put_kubectl(struct buf *out, const struct way_url *url)
{
    buf_puts(out, "kubectl ");
    if (*url->context)
        buf_printf(out, "--context=%s ", url->context);
    buf_printf(out, "-n %s ", url->space);
}

static void take_fix(struct doctor_line *out, struct buf *fix)
{
    snprintf(out->fix, sizeof out->fix, "%s", buf_cstr(fix));
    buf_clear(fix);
}

static void put_describe(struct doctor_line *out, const struct way_url *url)
{
    struct buf fix;
    buf_init(&fix, 0);
    put_kubectl(&fix, url);
    buf_printf(&fix, "describe pod %s", url->host);
    take_fix(out, &fix);
}

/* For an administrator: a role, and who has it. */
static void put_role(struct doctor_line *out, const struct way_url *url, const char *verb,
                     const char *subresource)
{
    struct buf fix;
    buf_init(&fix, 0);
    put_kubectl(&fix, url);
    buf_printf(&fix, "create role beamtop-%s --verb=%s --resource=pods/%s && ", subresource, verb,
               subresource);
    put_kubectl(&fix, url);
    buf_printf(&fix, "create rolebinding beamtop-%s --role=beamtop-%s --user=USER", subresource,
               subresource);
    take_fix(out, &fix);
}

static bool check_pod(const struct way_url *url, struct doctor_far *far, struct doctor_line *out)
{
    struct error err = {0};
    if (pod_read(&far->pod, url, ASK_MS, &err) != 0) {
        doctor_say_error(out, DOCTOR_FAIL, &err);
        return false;
    }
    const struct pod *pod = &far->pod;
    const bool runs = strcmp(pod->phase, "Running") == 0;
    const enum doctor_state ending = pod->is_ending ? DOCTOR_NOTE : DOCTOR_OK;
    doctor_say(out, runs ? ending : DOCTOR_FAIL, "%.255s is %s%s%s%s", url->host, pod->phase,
               *pod->reason ? ": " : "", pod->reason,
               pod->is_ending ? ", and was deleted: its containers end" : "");
    if (!runs)
        put_describe(out, url);
    return true;
}

/* The init container that the others wait for; NULL: none. */
static const struct pod_container *find_awaited(const struct pod *pod)
{
    for (size_t i = 0; i < pod->n; i++) {
        const struct pod_container *c = &pod->containers[i];
        if (c->kind == POD_INIT && !c->is_ready)
            return c;
    }
    return NULL;
}

static void say_waits(struct doctor_line *out, const struct pod *pod, const struct pod_container *c)
{
    const struct pod_container *awaited = find_awaited(pod);
    const char *reason = *c->reason ? c->reason : "no reason is given";
    if (strcmp(c->reason, "PodInitializing") != 0 || !awaited)
        doctor_say(out, DOCTOR_FAIL, "%s does not run: %s", c->name, reason);
    else
        doctor_say(out, DOCTOR_FAIL, "%s does not run: it waits for the init container %s (%s)",
                   c->name, awaited->name, awaited->runs ? "runs" : awaited->reason);
}

static void say_runs(struct doctor_line *out, const struct pod_container *c)
{
    const bool serves = c->is_ready || c->kind == POD_EPHEMERAL;
    doctor_say(out, serves ? DOCTOR_OK : DOCTOR_NOTE, "%s runs%s", c->name,
               serves ? "" : ", but is not ready");
}

static bool check_container(const struct way_url *url, struct doctor_far *far,
                            struct doctor_line *out)
{
    const struct pod_container *c = pod_find(&far->pod, url->container);
    const char *name = *url->container ? url->container : far->pod.default_container;
    if (!c)
        doctor_say(out, DOCTOR_FAIL, "%.255s: the pod has none of that name that was started",
                   name);
    else if (!c->runs)
        say_waits(out, &far->pod, c);
    else
        say_runs(out, c);
    if (out->state != DOCTOR_OK)
        put_describe(out, url);
    return true;
}

static void check_right(const struct way_url *url, struct doctor_line *out, int *may,
                        const char *verb, const char *subresource, const char *use)
{
    struct error err = {0};
    *may = pod_may(url, verb, subresource, ASK_MS, &err);
    if (*may < 0) {
        doctor_say_error(out, DOCTOR_NOTE, &err);
        return;
    }
    doctor_say(out, *may ? DOCTOR_OK : DOCTOR_NOTE, "%s: %s %s pods/%s",
               *may ? "allowed" : "not allowed", use, verb, subresource);
    if (!*may)
        put_role(out, url, verb, subresource);
}

static bool check_exec(const struct way_url *url, struct doctor_far *far, struct doctor_line *out)
{
    check_right(url, out, &far->may_exec, "create", "exec", "a stream by kubectl exec needs");
    return true;
}

static bool check_forward(const struct way_url *url, struct doctor_far *far,
                          struct doctor_line *out)
{
    check_right(url, out, &far->may_forward, "create", "portforward",
                "a stream by kubectl port-forward needs");
    return true;
}

static bool check_debug(const struct way_url *url, struct doctor_far *far, struct doctor_line *out)
{
    int may;
    (void)far;
    check_right(url, out, &may, "patch", "ephemeralcontainers", "--debug-image needs");
    return true;
}

static bool check_tools(const struct way_url *url, struct doctor_far *far, struct doctor_line *out)
{
    char relay[16];
    struct error err = {0};
    if (far->may_exec == 0) {
        out->state = DOCTOR_NONE;
        return true;
    }
    const int rc = way_has_program(url) ? 0 : pod_relay(relay, url, ASK_MS, &err);
    const enum doctor_state lacking = far->may_forward == 0 ? DOCTOR_FAIL : DOCTOR_NOTE;
    if (rc == 0 && (way_has_program(url) || *relay != '\0')) {
        doctor_say(out, DOCTOR_OK, "%s carries streams",
                   way_has_program(url) ? WAY_DEBUG_PROGRAM : relay);
        return true;
    }
    if (rc != 0)
        doctor_say_error(out, lacking, &err);
    else
        doctor_say(out, lacking, "the container has neither socat, bash nor nc");
    if (url->scheme == WAY_K8S && out->fix[0] == '\0' &&
        (rc == 0 || strstr(out->text, "to carry a stream")))
        snprintf(out->fix, sizeof out->fix, "Name an image that has: --debug-image IMAGE");
    return true;
}

static const struct far_check checks[] = {
    {WAY_K8S, "pod", check_pod},         {WAY_K8S, "container", check_container},
    {WAY_K8S, "exec", check_exec},       {WAY_K8S, "forward", check_forward},
    {WAY_K8S, "ephemeral", check_debug}, {WAY_K8S, "tools", check_tools},
    {WAY_DOCKER, "tools", check_tools},  {WAY_PODMAN, "tools", check_tools},
};

void doctor_look_far(struct doctor_far *far, const char *asked)
{
    struct way_url url;
    struct error err = {0};
    if (!way_is_url(asked) || way_url_parse(&url, asked, &err) != 0)
        return;
    far->may_exec = far->may_forward = -1;
    for (size_t i = 0; i < ARRAY_LEN(checks); i++) {
        if (checks[i].scheme != url.scheme)
            continue;
        struct doctor_line *line = &far->lines[far->n];
        *line = (struct doctor_line){.check = checks[i].word};
        const bool more = checks[i].check(&url, far, line);
        far->n += line->state != DOCTOR_NONE;
        if (!more)
            break;
    }
}
