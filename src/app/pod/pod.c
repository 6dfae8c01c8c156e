/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "pod.h"

#include <stdio.h>
#include <string.h>

#include "beamtop/base/attr.h"
#include "beamtop/base/slice.h"

/* A line for the phase, for the containers' names as they were given, and for each container: one
   that init has started may stay, beside the others. */
#define STATUSES(kind, list)                                                                       \
    "{range .status." list "[*]}" kind " {.name} {.ready} {.state.running.startedAt} "             \
    "{.state.waiting.reason}{.state.terminated.reason}{\"\\n\"}{end}"
#define FIELDS                                                                                     \
    "-o=jsonpath=phase {.status.phase} {.status.reason} "                                          \
    "{.metadata.deletionTimestamp}{\"\\n\"}"                                                       \
    "default {.metadata.annotations.kubectl\\.kubernetes\\.io/default-container} "                 \
    "{.spec.containers[0].name}{\"\\n\"}" STATUSES("container", "containerStatuses")               \
        STATUSES("init", "initContainerStatuses")                                                  \
            STATUSES("ephemeral", "ephemeralContainerStatuses")

/* Takes a word up to the next blank, and that blank: two in a row have an empty word between. */
static void take_word(char *out, size_t size, const char **at)
{
    const size_t len = strcspn(*at, " \n");
    snprintf(out, size, "%.*s", (int)(len < size ? len : size - 1), *at);
    *at += len + ((*at)[len] == ' ');
}

static void take_phase(struct pod *out, const char *at)
{
    char deleted[40];
    take_word(out->phase, sizeof out->phase, &at);
    take_word(out->reason, sizeof out->reason, &at);
    take_word(deleted, sizeof deleted, &at);
    out->is_ending = *deleted != '\0';
}

static void take_container(struct pod *out, const char *at, enum pod_kind kind)
{
    char ready[8], started[40];
    if (out->n == POD_CONTAINERS)
        return;
    struct pod_container *c = &out->containers[out->n++];
    *c = (struct pod_container){.kind = kind};
    take_word(c->name, sizeof c->name, &at);
    take_word(ready, sizeof ready, &at);
    take_word(started, sizeof started, &at);
    take_word(c->reason, sizeof c->reason, &at);
    c->is_ready = strcmp(ready, "true") == 0;
    c->runs = *started != '\0';
}

void pod_parse(struct pod *out, const char *printed)
{
    static const char *const kinds[] = {"container", "init", "ephemeral"}; /* enum pod_kind */
    *out = (struct pod){0};
    for (const char *at = printed; *at != '\0'; at += strcspn(at, "\n"), at += *at == '\n') {
        char key[16];
        const char *rest = at;
        take_word(key, sizeof key, &rest);
        if (strcmp(key, "phase") == 0)
            take_phase(out, rest);
        for (unsigned kind = 0; kind < ARRAY_LEN(kinds); kind++)
            if (strcmp(key, kinds[kind]) == 0)
                take_container(out, rest, (enum pod_kind)kind);
        if (strcmp(key, "default") != 0)
            continue;
        take_word(out->default_container, sizeof out->default_container, &rest);
        if (*out->default_container == '\0')
            take_word(out->default_container, sizeof out->default_container, &rest);
    }
}

const struct pod_container *pod_find(const struct pod *pod, const char *name)
{
    const char *meant = *name != '\0' ? name : pod->default_container;
    for (size_t i = 0; i < pod->n; i++)
        if (strcmp(pod->containers[i].name, meant) == 0)
            return &pod->containers[i];
    return NULL;
}

int pod_read(struct pod *out, const struct way_url *url, unsigned timeout_ms, struct error *err)
{
    struct way_words words = {0};
    struct way_ran ran;
    way_put_kubectl(&words, url, "get");
    way_words_add(&words, "pod");
    way_words_add(&words, "%s", url->host);
    way_words_add(&words, "%s", FIELDS);
    int rc = way_run(&words, timeout_ms, &ran, err);
    if (rc == 0 && ran.code != 0)
        rc = way_fail_said("kubectl get of", url, ran.said, err);
    pod_parse(out, rc == 0 ? ran.printed : "");
    return rc;
}

int pod_may(const struct way_url *url, const char *verb, const char *subresource,
            unsigned timeout_ms, struct error *err)
{
    struct way_words words = {0};
    struct way_ran ran;
    way_put_kubectl(&words, url, "auth");
    way_words_add(&words, "can-i");
    way_words_add(&words, "%s", verb);
    way_words_add(&words, "pods/%s", url->host);
    way_words_add(&words, "--subresource=%s", subresource);
    const int rc = way_run(&words, timeout_ms, &ran, err);
    if (rc != 0)
        return rc;
    if (strncmp(ran.printed, "yes", 3) == 0)
        return 1;
    return strncmp(ran.printed, "no", 2) == 0
               ? 0
               : way_fail_said("kubectl auth can-i of", url, ran.said, err);
}

int pod_relay(char out[16], const struct way_url *url, unsigned timeout_ms, struct error *err)
{
    static const char *const command[] = {"sh", "-c",
                                          "for i in socat bash nc; do "
                                          "command -v $i >/dev/null 2>&1 && echo $i && exit; done; "
                                          "echo none"};
    static const char *const relays[] = {"socat", "bash", "nc"};
    struct way_words words = {0};
    struct way_ran ran;
    way_put_far(&words, url, command, ARRAY_LEN(command));
    const int rc = way_run(&words, timeout_ms, &ran, err);
    *out = '\0';
    if (rc != 0)
        return rc;
    for (size_t i = 0; i < ARRAY_LEN(relays); i++)
        if (strncmp(ran.printed, relays[i], strlen(relays[i])) == 0)
            snprintf(out, 16, "%s", relays[i]);
    return ran.code == 0 ? 0 : way_fail_said(way_method(url->scheme, 0)->name, url, ran.said, err);
}
