/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "way_methods.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "beamtop/base/alloc.h"

/* How long ssh's shared connection outlives its last stream, if nobody ends it. */
#define PERSIST_S 60
/* So a cut is noticed as early as on TCP from here. */
#define ALIVE_S 15
#define ALIVE_COUNT 3

/* Run by a shell there, with port, address, and maybe 1: the stream's begin is said on its output.
 */
#define RELAY                                                                                      \
    "p=$1 a=$2 o=${3:-2}; export " WAY_RELAY_VARIABLE "\n"                                         \
    "if command -v socat >/dev/null 2>&1; then\n"                                                  \
    "  case $a in *:*) t=\"[$a]\" ;; *) t=$a ;; esac\n"                                            \
    "  echo '" WAY_OPEN_LINE "' >&\"$o\"; exec socat - \"TCP:$t:$p\"\n"                            \
    "elif command -v bash >/dev/null 2>&1; then\n"                                                 \
    "  exec bash --norc -c 'exec 3<>\"/dev/tcp/$2/$1\" || exit 1\n"                                \
    "    echo \"" WAY_OPEN_LINE "\" >&\"$3\"; exec 4<&0\n"                                         \
    "    cat <&3 & r=$!; cat <&4 >&3 & w=$!; wait -n; kill $r $w; exit 0' beamtop \"$p\" \"$a\" "  \
    "\"$o\"\n"                                                                                     \
    "elif command -v nc >/dev/null 2>&1; then\n"                                                   \
    "  echo '" WAY_OPEN_LINE "' >&\"$o\"; exec nc \"$a\" \"$p\"\n"                                 \
    "fi\n"                                                                                         \
    "echo 'beamtop: no relay' >&2; exit 127"

/* The program on an SSH host, in PATH or at home, with this version and its arguments. */
#define FAR_PROGRAM                                                                                \
    "v=$1; shift; PATH=$PATH:$HOME; command -v beamtop >/dev/null 2>&1 || exit 127\n"              \
    "t=$(beamtop --version)\n"                                                                     \
    "[ \"$t\" = \"$v\" ] || echo \"beamtop: that host has $t, this one $v\" >&2\n"                 \
    "exec beamtop \"$@\""

void way_words_add(struct way_words *words, const char *format, ...)
{
    va_list args;
    char *word = NULL;
    va_start(args, format);
    const int len = vasprintf(&word, format, args);
    va_end(args);
    if (len < 0)
        alloc_fail();
    assert(words->n + 1 < WAY_WORDS);
    words->all[words->n++] = word;
}

void way_words_clear(struct way_words *words)
{
    for (size_t i = 0; i < words->n; i++)
        free(words->all[i]);
    *words = (struct way_words){0};
}

/* ---- ssh */

/* One word of a command line that a shell reads there. */
static void add_quoted(struct way_words *w, const char *word)
{
    struct buf out;
    buf_init(&out, 0);
    buf_puts(&out, "'");
    for (; *word; word++) {
        if (*word == '\'')
            buf_puts(&out, "'\\''");
        else
            buf_put_u8(&out, (uint8_t)*word);
    }
    buf_puts(&out, "'");
    way_words_add(w, "%s", buf_cstr(&out));
    buf_clear(&out);
}

static void put_ssh(struct way_words *w, const struct way_url *url, const char *control)
{
    way_words_add(w, "ssh");
    way_words_add(w, "-T");
    way_words_add(w, "-a");
    way_words_add(w, "-x");
    way_words_add(w, "-oClearAllForwardings=yes");
    way_words_add(w, "-oLogLevel=INFO"); /* it says why it failed */
    way_words_add(w, "-oRemoteCommand=none");
    way_words_add(w, "-oServerAliveInterval=%d", ALIVE_S);
    way_words_add(w, "-oServerAliveCountMax=%d", ALIVE_COUNT);
    if (control)
        way_words_add(w, "-S%s", control);
    if (url->port != 0)
        way_words_add(w, "-p%u", url->port);
    if (*url->user)
        way_words_add(w, "-l%s", url->user);
}

static void put_ssh_host(struct way_words *w, const struct way_url *url)
{
    way_words_add(w, "--");
    way_words_add(w, "%s", url->host);
}

static void put_ssh_stream(struct way_words *w, const struct way_stop *stop)
{
    const bool six = strchr(stop->address, ':') != NULL;
    put_ssh(w, stop->url, stop->control);
    way_words_add(w, "-oControlMaster=no");
    way_words_add(w, "-oBatchMode=yes");
    way_words_add(w, "-oConnectTimeout=%u", stop->timeout_s);
    way_words_add(w, "-W%s%s%s:%u", six ? "[" : "", stop->address, six ? "]" : "", stop->port);
    put_ssh_host(w, stop->url);
}

/* What the host forbids to be forwarded, a command there carries. */
static void put_ssh_relay(struct way_words *w, const struct way_stop *stop)
{
    char port[8];
    snprintf(port, sizeof port, "%u", stop->port);
    const char *const command[] = {"sh", "-c", RELAY, "beamtop", port, stop->address, "1"};
    put_ssh(w, stop->url, stop->control);
    way_words_add(w, "-oControlMaster=no");
    way_words_add(w, "-oBatchMode=yes");
    way_words_add(w, "-oConnectTimeout=%u", stop->timeout_s);
    put_ssh_host(w, stop->url);
    for (size_t i = 0; i < sizeof command / sizeof *command; i++)
        add_quoted(w, command[i]);
}

void way_put_master(struct way_words *w, const struct way_stop *stop)
{
    put_ssh(w, stop->url, stop->control);
    way_words_add(w, "-fNM");
    way_words_add(w, "-E%s", stop->log);
    way_words_add(w, "-oControlPersist=%d", PERSIST_S);
    way_words_add(w, "-oConnectTimeout=%u", stop->timeout_s);
    way_words_add(w, "-oBatchMode=%s", stop->terminal ? "no" : "yes");
    put_ssh_host(w, stop->url);
}

static void put_control(struct way_words *w, const struct way_stop *stop, const char *command)
{
    put_ssh(w, stop->url, stop->control);
    way_words_add(w, "-O%s", command);
    put_ssh_host(w, stop->url);
}

void way_put_check(struct way_words *w, const struct way_stop *stop)
{
    put_control(w, stop, "check");
}

void way_put_master_end(struct way_words *w, const struct way_stop *stop)
{
    put_control(w, stop, "exit");
}

void way_put_master_stop(struct way_words *w, const struct way_stop *stop)
{
    put_control(w, stop, "stop");
}

/* ---- containers */

const char *way_engine(enum way_scheme scheme)
{
    return scheme == WAY_DOCKER ? "docker" : scheme == WAY_PODMAN ? "podman" : NULL;
}

void way_put_inspect(struct way_words *w, const struct way_url *url)
{
    way_words_add(w, "%s", way_engine(url->scheme));
    way_words_add(w, "inspect");
    way_words_add(w, "--type=container");
    way_words_add(w, "--format={{.Id}} {{.State.Pid}}");
    way_words_add(w, "%s", url->host);
}

static void put_container_exec(struct way_words *w, const struct way_url *url)
{
    way_words_add(w, "%s", way_engine(url->scheme));
    way_words_add(w, "exec");
    way_words_add(w, "-i");
    way_words_add(w, "%s", url->host);
}

void way_put_kubectl(struct way_words *w, const struct way_url *url, const char *verb)
{
    way_words_add(w, "kubectl");
    if (*url->context)
        way_words_add(w, "--context=%s", url->context);
    way_words_add(w, "--namespace=%s", url->space);
    way_words_add(w, "%s", verb);
}

static void put_kubectl_exec(struct way_words *w, const struct way_url *url)
{
    way_put_kubectl(w, url, "exec");
    way_words_add(w, "-i");
    if (*url->container)
        way_words_add(w, "--container=%s", url->container);
    way_words_add(w, "%s", url->host);
    way_words_add(w, "--");
}

static void put_relay(struct way_words *w, const struct way_stop *stop)
{
    way_words_add(w, "sh");
    way_words_add(w, "-c");
    way_words_add(w, "%s", RELAY);
    way_words_add(w, "beamtop");
    way_words_add(w, "%u", stop->port);
    way_words_add(w, "%s", stop->address);
}

static void put_container_stream(struct way_words *w, const struct way_stop *stop)
{
    put_container_exec(w, stop->url);
    put_relay(w, stop);
}

bool way_has_program(const struct way_url *url)
{
    return url->scheme == WAY_K8S &&
           strncmp(url->container, WAY_DEBUG_BY_PROGRAM, strlen(WAY_DEBUG_BY_PROGRAM)) == 0;
}

static void put_kubectl_stream(struct way_words *w, const struct way_stop *stop)
{
    put_kubectl_exec(w, stop->url);
    if (!way_has_program(stop->url)) {
        put_relay(w, stop);
        return;
    }
    way_words_add(w, WAY_DEBUG_PROGRAM);
    way_words_add(w, "relay");
    way_words_add(w, "%u", stop->port);
    way_words_add(w, "%s", stop->address);
}

static void put_kubectl_forward(struct way_words *w, const struct way_stop *stop)
{
    way_put_kubectl(w, stop->url, "port-forward");
    way_words_add(w, "--address=127.0.0.1");
    way_words_add(w, "pod/%s", stop->url->host);
    way_words_add(w, ":%u", stop->port);
}

/* ---- a command there */

static void put_far_program(struct way_words *w)
{
    static const char *const words[] = {"sh", "-c", FAR_PROGRAM, "beamtop", PACKAGE_STRING};
    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        add_quoted(w, words[i]);
}

void way_put_far(struct way_words *w, const struct way_url *url, const char *const *command,
                 size_t n)
{
    switch (url->scheme) {
    case WAY_SSH:
        put_ssh(w, url, NULL);
        put_ssh_host(w, url);
        put_far_program(w);
        break;
    case WAY_DOCKER:
    case WAY_PODMAN:
        put_container_exec(w, url);
        break;
    case WAY_K8S:
        put_kubectl_exec(w, url);
        break;
    case WAY_SCHEMES:
        break;
    }
    for (size_t i = url->scheme == WAY_SSH; i < n; i++) {
        if (url->scheme == WAY_SSH)
            add_quoted(w, command[i]);
        else
            way_words_add(w, "%s", command[i]);
    }
}

/* ---- the tables */

static const struct way_method methods[] = {
    {WAY_SSH, WAY_OPENS_AT_ONCE, "ssh to", put_ssh_stream},
    {WAY_SSH, WAY_OPENS_PRINTED, "ssh to", put_ssh_relay},
    {WAY_DOCKER, WAY_OPENS_SAID, "Docker container", put_container_stream},
    {WAY_PODMAN, WAY_OPENS_SAID, "Podman container", put_container_stream},
    {WAY_K8S, WAY_OPENS_SAID, "kubectl exec in", put_kubectl_stream},
    {WAY_K8S, WAY_OPENS_PORT, "kubectl port-forward to", put_kubectl_forward},
};

const struct way_method *way_method(enum way_scheme scheme, size_t n)
{
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++)
        if (methods[i].scheme == scheme && n-- == 0)
            return &methods[i];
    return NULL;
}

#define OF(scheme) (1u << (scheme))
#define ENGINES (OF(WAY_DOCKER) | OF(WAY_PODMAN)) /* `docker` may be Podman's */
#define CONTAINERS (ENGINES | OF(WAY_K8S))
#define ANY (OF(WAY_SSH) | CONTAINERS)

#define NOTHING_LISTENS                                                                            \
    "nothing listens at that port there: the node stopped, or listens on another address (--host)"

#define CONTAINER_RESTS "the container does not run: `kubectl describe pod` there says why"
#define POD_NOT_THERE                                                                              \
    "the machine of the pod does not have it: it was deleted, or starts. `kubectl get pods` "      \
    "there "                                                                                       \
    "lists those that run"
#define API_SILENT "the cluster's API does not answer: check `kubectl cluster-info`"
#define MACHINE_UNREACHED                                                                          \
    "the cluster does not reach the machine of the pod: `kubectl get nodes` shows its state"

/* The first row counts whose words are in what was said. */
static const struct {
    unsigned schemes;
    enum conn_failure why;
    bool another; /* the next method may do it */
    const char *said;
    const char *text;
} meanings[] = {
    {OF(WAY_SSH), CONN_FAILED_WAY, false, "IDENTIFICATION HAS CHANGED",
     "the host's key is not the one in known_hosts: it was installed again, or another machine "
     "answers. Compare the key, then remove the old one with `ssh-keygen -R`"},
    {OF(WAY_SSH), CONN_FAILED_WAY, false, "Host key verification failed",
     "unknown host key (:login asks): start beamtop at a terminal, and compare the key that ssh "
     "shows"},
    {OF(WAY_SSH), CONN_FAILED_WAY, false, "Too many authentication failures",
     "the host refused the login: ssh offered too many keys. Name one with IdentityFile and "
     "IdentitiesOnly in ssh's configuration"},
    {OF(WAY_SSH), CONN_FAILED_WAY, false, "Permission denied",
     "login refused (:login asks): no key of yours is allowed there, or the host wants a password. "
     "Load the key (`ssh-add`), start beamtop at a terminal, where ssh asks, "
     "or set SSH_ASKPASS"},
    {OF(WAY_SSH), CONN_FAILED_HOST, false, "Could not resolve hostname",
     "the host's name is not found: check it, or set HostName in ssh's configuration"},
    {OF(WAY_SSH), CONN_FAILED_WAY, true, "administratively prohibited",
     "sshd there forbids the stream: AllowTcpForwarding or PermitOpen in its configuration"},
    {OF(WAY_SSH), CONN_FAILED_WAY, false, "beamtop: no relay",
     "sshd there forbids the stream (AllowTcpForwarding, PermitOpen), and the host has neither "
     "socat, bash nor nc to carry one"},
    {OF(WAY_SSH), CONN_FAILED_REFUSED, false, "open failed: connect failed", NOTHING_LISTENS},
    /* Of relays there. */
    {OF(WAY_SSH), CONN_FAILED_REFUSED, false, "/dev/tcp/", NOTHING_LISTENS},
    {OF(WAY_SSH), CONN_FAILED_REFUSED, false, "E connect(", NOTHING_LISTENS},
    {OF(WAY_SSH), CONN_FAILED_REFUSED, false, "Ncat: ", NOTHING_LISTENS},
    /* The reason is in the log of the shared connection, and the user's has none of ours. */
    {OF(WAY_SSH), CONN_FAILED_WAY, true, "Session open refused by peer",
     "sshd there refuses the stream: nothing listens at that port, or AllowTcpForwarding or "
     "PermitOpen in its configuration forbid it"},
    {OF(WAY_SSH), CONN_FAILED_WAY, false, "UNKNOWN port",
     "the jump host (ProxyJump or ProxyCommand in ssh's configuration) does not lead there: ssh "
     "to the host shows why"},
    {OF(WAY_SSH), CONN_FAILED_WAY, false, "not responding",
     "the host stopped answering: it is down, or the network is cut"},
    {OF(WAY_SSH), CONN_FAILED_WAY, false, "Connection refused",
     "nothing listens at ssh's port: sshd does not run there, or has another port "
     "(ssh://HOST:PORT)"},
    {OF(WAY_SSH), CONN_FAILED_WAY, false, "timed out",
     "the host does not answer: a firewall may block ssh's port, or the host is down"},
    {OF(WAY_SSH), CONN_FAILED_WAY, false, "No route to host",
     "no network leads to the host: check VPN and routes, or name a jump host (ProxyJump)"},
    {OF(WAY_SSH), CONN_FAILED_WAY, false, "unreachable",
     "no network leads to the host: check VPN and routes, or name a jump host (ProxyJump)"},
    {OF(WAY_SSH), CONN_FAILED_WAY, false, "closed by",
     "the host ended the connection: ssh to it shows why"},
    {OF(WAY_SSH), CONN_FAILED_WAY, false, "reset by",
     "the host ended the connection: ssh to it shows why"},
    {OF(WAY_SSH), CONN_FAILED_WAY, false, "stdio forwarding failed",
     "no stream to that port: nothing listens there, or sshd forbids it (AllowTcpForwarding, "
     "PermitOpen)"},
    {OF(WAY_SSH), CONN_FAILED_WAY, false, "Broken pipe", "the SSH connection is lost"},
    {OF(WAY_DOCKER), CONN_FAILED_HOST, false, "No such container",
     "there is no such container: `docker ps` lists those that run"},
    {ENGINES, CONN_FAILED_HOST, false, "no such container",
     "there is no such container of this user: `podman ps` lists those that run"},
    {OF(WAY_DOCKER), CONN_FAILED_WAY, false, "is not running",
     "it does not run: `docker ps` lists those that do"},
    {OF(WAY_DOCKER), CONN_FAILED_WAY, false, "is paused",
     "it is paused: `docker unpause` lets it go on"},
    {ENGINES, CONN_FAILED_WAY, false, "container state improper",
     "it does not run, or is paused: `podman ps --all` shows which"},
    {OF(WAY_DOCKER), CONN_FAILED_HOST, false, "Multiple IDs found",
     "several containers have an id that begins so: give more of it, or the name"},
    {ENGINES, CONN_FAILED_HOST, false, "more than one result",
     "several containers have an id that begins so: give more of it, or the name"},
    {OF(WAY_DOCKER), CONN_FAILED_WAY, false, "permission denied while trying to connect",
     "you may not use the Docker daemon: run beamtop as root, or as a user of the group docker"},
    {OF(WAY_DOCKER), CONN_FAILED_WAY, false, "Cannot connect to the Docker daemon",
     "the Docker daemon does not answer: start it, or set DOCKER_HOST or `docker context use`"},
    {OF(WAY_DOCKER), CONN_FAILED_WAY, false, "error during connect",
     "the Docker daemon of DOCKER_HOST, or of the context, does not answer: `docker info` shows "
     "why"},
    {OF(WAY_DOCKER), CONN_FAILED_WAY, false, "unable to resolve docker endpoint",
     "docker has no such context: `docker context ls` lists them"},
    {OF(WAY_K8S), CONN_FAILED_WAY, false, "pod does not exist", POD_NOT_THERE},
    {OF(WAY_K8S), CONN_FAILED_WAY, false, "pod not found", POD_NOT_THERE},
    {OF(WAY_K8S), CONN_FAILED_WAY, false, "error: context ",
     "kubectl's configuration has no such context: `kubectl config get-contexts` lists them"},
    {OF(WAY_K8S), CONN_FAILED_WAY, false, "does not exist",
     "the context names a cluster or a user that is not in kubectl's configuration: "
     "`kubectl config view` shows them"},
    {OF(WAY_K8S), CONN_FAILED_WAY, false, "is not valid for pod",
     "the pod has no such container: `kubectl describe pod` lists them"},
    {OF(WAY_K8S), CONN_FAILED_WAY, false, "container is in CONTAINER_", CONTAINER_RESTS},
    {OF(WAY_K8S), CONN_FAILED_WAY, false, "container not found", CONTAINER_RESTS},
    {OF(WAY_K8S), CONN_FAILED_WAY, false, "in a completed pod",
     "the pod has ended: `kubectl get pods` there lists those that run"},
    {OF(WAY_K8S), CONN_FAILED_WAY, false, "pod is not running",
     "the pod does not run: `kubectl describe pod` there says why"},
    {OF(WAY_K8S), CONN_FAILED_WAY, false, "does not have a host assigned",
     "the pod has no machine yet: `kubectl describe pod` there says why"},
    {OF(WAY_K8S), CONN_FAILED_HOST, false, " not found\n",
     "there is no such pod or namespace: `kubectl get pods -A` lists them. A URL with a context "
     "ends in a slash: k8s://CONTEXT/NAMESPACE/POD/"},
    {OF(WAY_K8S), CONN_FAILED_WAY, true, "cannot create resource \"pods/exec\"",
     "you may not run commands in pods there (pods/exec)"},
    {OF(WAY_K8S), CONN_FAILED_WAY, false, "cannot create resource \"pods/portforward\"",
     "you may not forward ports there (pods/portforward). Ask for a right that is missing; with "
     "pods/exec, --debug-image IMAGE serves, too"},
    {OF(WAY_K8S), CONN_FAILED_WAY, false, "resource \"pods/ephemeralcontainers\"",
     "you may not start ephemeral containers there (pods/ephemeralcontainers)"},
    {OF(WAY_K8S), CONN_FAILED_WAY, false, "ephemeral containers are disabled",
     "the cluster has no ephemeral containers: they came with Kubernetes 1.23"},
    {OF(WAY_K8S), CONN_FAILED_WAY, false, "violates PodSecurity",
     "the pod security of the namespace forbids it: an administrator can allow it"},
    {OF(WAY_K8S), CONN_FAILED_WAY, false, "cannot get resource \"pods\"",
     "you may not read pods there (get pods), and kubectl needs that"},
    {OF(WAY_K8S), CONN_FAILED_WAY, false, "forbidden",
     "the cluster does not allow it: ask for pods/exec or pods/portforward in that namespace"},
    {OF(WAY_K8S), CONN_FAILED_WAY, false, "must be logged in",
     "the cluster does not know you: log in again (kubectl's configuration)"},
    {OF(WAY_K8S), CONN_FAILED_WAY, false, "Unauthorized",
     "the cluster does not know you: log in again (kubectl's configuration)"},
    {OF(WAY_K8S), CONN_FAILED_WAY, false, "connection to the server", API_SILENT},
    {OF(WAY_K8S), CONN_FAILED_WAY, false, "nable to connect to the server", API_SILENT},
    {OF(WAY_K8S), CONN_FAILED_WAY, false, "websocket: close",
     "the connection to the pod is lost: the pod, or the cluster's API, ended the stream"},
    {OF(WAY_K8S), CONN_FAILED_WAY, false, "error sending request: Post", MACHINE_UNREACHED},
    {OF(WAY_K8S), CONN_FAILED_WAY, false, "error dialing backend", MACHINE_UNREACHED},
    {OF(WAY_K8S), CONN_FAILED_REFUSED, false, "connect: connection refused", NOTHING_LISTENS},
    {OF(WAY_K8S), CONN_FAILED_WAY, false, "lost connection to pod",
     "the connection to the pod is lost: it stopped, or the cluster ended the stream"},
    {CONTAINERS, CONN_FAILED_WAY, true, "beamtop: no relay",
     "the container has neither socat, bash nor nc to carry a stream"},
    {CONTAINERS, CONN_FAILED_WAY, true, "executable file not found",
     "the container has no shell to carry a stream"},
    {CONTAINERS, CONN_FAILED_WAY, true, "no such file or directory",
     "the container has no shell to carry a stream"},
    {CONTAINERS, CONN_FAILED_REFUSED, false, "onnection refused", NOTHING_LISTENS},
};

bool way_may_prompt(const char *said)
{
    return strstr(said, "Permission denied") || (strstr(said, "Host key verification failed") &&
                                                 !strstr(said, "IDENTIFICATION HAS CHANGED"));
}

/* The last line that is not empty, without what marks the stream as open. */
static struct slice last_line(const char *said)
{
    struct slice line = {"", 0};
    for (const char *at = said; *at != '\0';) {
        const size_t len = strcspn(at, "\r\n");
        if (len > 0 && strncmp(at, WAY_OPEN_LINE, len) != 0)
            line = (struct slice){at, len};
        at += len + (at[len] != '\0');
    }
    return line;
}

void way_explain_said(const struct way_method *method, const struct way_url *url, const char *said,
                      enum conn_failure *why, bool *another, struct error *err)
{
    *another = false;
    for (size_t i = 0; i < sizeof meanings / sizeof *meanings; i++) {
        if (!(meanings[i].schemes & OF(method->scheme)) || !strstr(said, meanings[i].said))
            continue;
        *why = meanings[i].why;
        *another = meanings[i].another;
        error_set(err, ERR_CONNECT, "%s %s: %s", method->name, url->host, meanings[i].text);
        return;
    }
    const struct slice line = last_line(said);
    *why = CONN_FAILED_WAY;
    if (line.len > 0)
        error_set(err, ERR_CONNECT, "%s %s: %.*s", method->name, url->host,
                  (int)(line.len < 300 ? line.len : 300), line.s);
    else
        error_set(err, ERR_CONNECT, "%s %s: the stream ended, and no reason was given",
                  method->name, url->host);
}

int way_fail_said(const char *name, const struct way_url *url, const char *said, struct error *err)
{
    const struct way_method as = {.scheme = url->scheme, .name = name};
    enum conn_failure why;
    bool another;
    way_explain_said(&as, url, said, &why, &another, err);
    return (int)err->code;
}
