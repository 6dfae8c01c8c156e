/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "pod_debug.h"

#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "app/cli/tell.h"
#include "beamtop/base/attr.h"
#include "beamtop/base/clock.h"
#include "beamtop/base/text.h"
#include "pod.h"
#include "pod_cookie.h"

#define ASK_MS 10000    /* of one run of kubectl */
#define START_MS 120000 /* until it runs: its image may have to be pulled */
#define LOOK_MS 1000
#define MOST_OF_OURS 100 /* names of containers in one pod */

struct debug {
    const struct way_url *url;
    const char *image;
    const char *kind; /* what its name begins with (way_methods.h) */
    const char *lack; /* why one is needed */
    char name[64];
    char target[64]; /* whose processes it sees */
};

/* Of the recipe, where the program is the only file; any other has a shell. */
static bool has_program(const char *image)
{
    const char *slash = strrchr(image, '/'), *last = slash ? slash + 1 : image;
    return strncmp(last, "beamtop", 7) == 0 && strchr(":@", last[7]);
}

static bool is_image(const char *image)
{
    return *image != '-' && strlen(image) < 400 &&
           image[strspn(image, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                               "._-/:@")] == '\0' &&
           *image != '\0';
}

/* ---- whether it is needed */

/* In files of this host: for this node or for others. */
static bool has_cookies(const struct cli_options *o, const struct app_env *env)
{
    const struct cookie_places home = {.home = env->home, .xdg_config_home = env->xdg_config_home};
    char dir[512], path[600];
    struct cookie found = {0};
    struct error unused = {0};
    cli_config_dir(dir, sizeof dir, env);
    snprintf(path, sizeof path, "%s/cookies", dir);
    const bool in_home = cookie_find(&found, &home, &unused) == 0;
    cookie_wipe(&found);
    return in_home || (*dir != '\0' && !o->no_config && access(path, F_OK) == 0);
}

/* 1: the container or a forwarded port serves. 0: neither does. Else an error. Where no command
 * runs, the node's cookie is not read. */
static int serves(struct debug *d, const struct cli_options *o, const struct app_env *env,
                  struct error *err)
{
    const struct way_url *url = d->url;
    char relay[16];
    struct error unused = {0};
    if (way_has_program(url))
        return 1;
    if (pod_relay(relay, url, ASK_MS, &unused) == 0 && *relay != '\0')
        return 1;
    if (o->host) /* a forwarded port leads to the loopback there */
        return 0;
    const int may = pod_may(url, "create", "portforward", ASK_MS, err);
    if (may != 1 || !pod_cookie_is_sought(o, env) || has_cookies(o, env))
        return may;
    d->lack = "reads the node's cookie";
    return 0;
}

/* ---- its name */

/* One of ours that runs has its name in d; else the first name that is free has. */
static bool find_ours(struct debug *d, const struct pod *pod)
{
    for (size_t i = 0; i < pod->n; i++) {
        const struct pod_container *c = &pod->containers[i];
        if (c->kind == POD_EPHEMERAL && c->runs &&
            strncmp(c->name, d->kind, strlen(d->kind)) == 0) {
            memcpy(d->name, c->name, sizeof d->name);
            return true;
        }
    }
    for (unsigned n = 1; n <= MOST_OF_OURS; n++) {
        snprintf(d->name, sizeof d->name, "%s%u", d->kind, n);
        if (!pod_find(pod, d->name))
            break;
    }
    return false;
}

/* One beside a container that does not run is never started, and its entry would stay. */
static int check_target(const struct debug *d, const struct pod *pod, struct error *err)
{
    const struct pod_container *c = pod_find(pod, d->target);
    if (c && c->runs)
        return 0;
    return error_set(err, ERR_CONNECT,
                     "pod %s: its container %s does not run (%s): `kubectl describe pod` there "
                     "says why",
                     d->url->host, d->target, c && *c->reason ? c->reason : pod->phase);
}

/* ---- consent */

static int ask(const struct debug *d, const struct cli_options *o, const struct app_env *env,
               struct error *err)
{
    char line[16] = "";
    if (o->yes)
        return 0;
    tell_line("nothing %s in pod %s. An ephemeral container (%s, image %s) would: it "
              "sees the processes of %s, ends %d min after its last stream, and its entry stays "
              "until the pod ends",
              d->lack, d->url->host, d->name, d->image, d->target, WAY_DEBUG_IDLE_S / 60);
    if (!env->in_tty || !env->err_tty)
        return error_set(err, ERR_REFUSED, "no ephemeral container was started: add --yes");
    fputs("Start it? (y/N) ", stderr);
    if (fgets(line, sizeof line, stdin) && (*line == 'y' || *line == 'Y'))
        return 0;
    return error_set(err, ERR_REFUSED, "no ephemeral container was started");
}

/* ---- its start */

/* Ends by itself where nothing with the relay's variable is left; at most a day. */
#define WAIT_BY_SHELL                                                                              \
    "i=0; while [ $i -lt %d ]; do sleep %d; i=$((i+1)); "                                          \
    "grep -qs " WAY_RELAY_VARIABLE " /proc/[0-9]*/environ && i=0; :; done"

static void put_debug(struct way_words *words, const struct debug *d, const char *profile)
{
    way_put_kubectl(words, d->url, "debug");
    way_words_add(words, "%s", d->url->host);
    way_words_add(words, "--image=%s", d->image);
    way_words_add(words, "--container=%s", d->name);
    way_words_add(words, "--target=%s", d->target);
    if (profile)
        way_words_add(words, "--profile=%s", profile);
    way_words_add(words, "--");
    if (strcmp(d->kind, WAY_DEBUG_BY_PROGRAM) == 0) {
        way_words_add(words, WAY_DEBUG_PROGRAM);
        way_words_add(words, "relay");
        return;
    }
    way_words_add(words, "sh");
    way_words_add(words, "-c");
    way_words_add(words, WAIT_BY_SHELL, WAY_DEBUG_IDLE_S / WAY_DEBUG_LOOK_S, WAY_DEBUG_LOOK_S);
}

/* "general" lets it read what is another user's. The first row counts whose words were said. */
static const struct {
    const char *said, *profile; /* NULL: without the option */
} others[] = {
    {"violates PodSecurity", "restricted"},
    {"unknown profile", NULL}, /* an older kubectl has the option for its measurements */
    {"unknown flag: --profile", NULL},
};

static int start(const struct debug *d, struct error *err)
{
    struct way_ran ran = {0};
    size_t row = 0;
    const char *profile = "general";
    for (int tries = 0; tries < 2 && row < ARRAY_LEN(others); tries++) {
        struct way_words words = {0};
        put_debug(&words, d, profile);
        const int rc = way_run(&words, ASK_MS, &ran, err);
        if (rc != 0 || ran.code == 0)
            return rc;
        for (row = 0; row < ARRAY_LEN(others) && !strstr(ran.said, others[row].said); row++)
            ;
        if (row < ARRAY_LEN(others))
            profile = others[row].profile;
    }
    return way_fail_said("kubectl debug of", d->url, ran.said, err);
}

/* ---- until it runs */

/* Reasons that do not pass: the first row counts whose word is in the reason. */
static const struct {
    const char *reason, *text;
} ends[] = {
    {"ImagePull", "its image cannot be pulled: check its name and the registry's secrets"},
    {"ErrImage", "its image cannot be pulled: check its name and the registry's secrets"},
    {"InvalidImageName", "its image has an invalid name"},
    {"RunContainerError", "it cannot be started: the image has neither " WAY_DEBUG_PROGRAM
                          " nor a shell, or the pod's security settings forbid it"},
    {"CreateContainerConfigError", "the pod's security settings forbid it: probably its image "
                                   "has to name a numeric user other than root"},
    {"CreateContainer", "it cannot be created: the pod's security settings may forbid it"},
    {"StartError", "it cannot be started: the image lacks sh, or, if it is beamtop's, the "
                   "program " WAY_DEBUG_PROGRAM},
    {"ContainerCannotRun", "it cannot be started: the image lacks sh, or, if it is beamtop's, the "
                           "program " WAY_DEBUG_PROGRAM},
    {"Error", "it has ended at once: the image may lack what it was started with"},
    {"Completed", "it has ended at once: the image may lack what it was started with"},
};

static int judge(const struct debug *d, const struct pod_container *c, struct error *err)
{
    for (size_t i = 0; i < ARRAY_LEN(ends); i++)
        if (strstr(c->reason, ends[i].reason))
            return error_set(err, ERR_CONNECT,
                             "the ephemeral container %s of pod %s does not run (%s): %s", d->name,
                             d->url->host, c->reason, ends[i].text);
    return 0;
}

static int await_running(const struct debug *d, const struct app_env *env, struct error *err)
{
    const struct timespec pause = {.tv_nsec = LOOK_MS * 1000000L % 1000000000L,
                                   .tv_sec = LOOK_MS / 1000};
    const uint64_t begin_ns = clock_mono_ns(), limit_ns = START_MS * 1000000ull;
    struct pod pod;
    uint64_t since_ns;
    while ((since_ns = clock_mono_ns() - begin_ns) < limit_ns) {
        int rc = pod_read(&pod, d->url, ASK_MS, err);
        const struct pod_container *c = pod_find(&pod, d->name);
        if (rc == 0 && c && !c->runs)
            rc = judge(d, c, err);
        if (rc != 0 || (c && c->runs)) {
            if (env->err_tty)
                fputs("\n", stderr);
            return rc;
        }
        if (env->err_tty)
            tell_progress("ephemeral container %s: %s, %u s", d->name,
                          c && *c->reason ? c->reason : "waiting",
                          (unsigned)(since_ns / 1000000000u));
        nanosleep(&pause, NULL);
    }
    return error_set(err, ERR_TIMEOUT,
                     "the ephemeral container %s of pod %s does not run after %d s: `kubectl "
                     "describe pod` there says why",
                     d->name, d->url->host, START_MS / 1000);
}

int pod_debug_prepare(struct way_url *url, const struct cli_options *o, const struct app_env *env,
                      struct error *err)
{
    struct debug d = {.url = url,
                      .lack = "carries a stream",
                      .image = o->debug_image ? o->debug_image : env->debug_image};
    struct pod pod;
    if (!d.image || *d.image == '\0' || strcmp(o->command, "doctor") == 0)
        return 0;
    if (!is_image(d.image))
        return error_set(err, ERR_USAGE, "--debug-image: “%.100s” is not an image's name", d.image);
    d.kind = has_program(d.image) ? WAY_DEBUG_BY_PROGRAM : WAY_DEBUG_BY_SHELL;
    int rc = serves(&d, o, env, err);
    if (rc != 0)
        return rc > 0 ? 0 : rc;
    rc = pod_read(&pod, url, ASK_MS, err);
    if (rc != 0)
        return rc;
    snprintf(d.target, sizeof d.target, "%.63s",
             *url->container ? url->container : pod.default_container);
    if (!find_ours(&d, &pod)) {
        rc = check_target(&d, &pod, err);
        if (rc == 0)
            rc = ask(&d, o, env, err);
        if (rc == 0)
            rc = start(&d, err);
        if (rc == 0)
            rc = await_running(&d, env, err);
    }
    if (rc == 0)
        snprintf(url->container, sizeof url->container, "%s", d.name);
    return rc;
}
