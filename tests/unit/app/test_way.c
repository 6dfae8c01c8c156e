/* SPDX-License-Identifier: GPL-3.0-or-later */
/* URLs of nodes, the command lines that are made of them, and what errors of other programs mean.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../../test.h"
#include "app/pod/pod.h"
#include "app/way/container.h"
#include "app/way/way_carry.h"
#include "app/way/way_methods.h"
#include "app/way/way_server.h"
#include "app/way/way_wire.h"
#include "beamtop/base/spawn.h"
#include "beamtop/base/text.h"

TEST(test_parse)
{
    static const struct {
        const char *text, *user, *host;
        int port;
        const char *context, *space, *container, *node;
    } cases[] = {
        {"ssh://web1", "", "web1", 0, "", "", "", ""},
        {"ssh://web1/shop", "", "web1", 0, "", "", "", "shop"},
        {"ssh://me@web1:2222/shop@10.0.0.1", "me", "web1", 2222, "", "", "", "shop@10.0.0.1"},
        {"ssh://a@b@web1/", "a@b", "web1", 0, "", "", "", ""},
        {"ssh://[::1]:22/x", "", "::1", 22, "", "", "", "x"},
        {"ssh://web1/caf%C3%A9", "", "web1", 0, "", "", "", "caf\xc3\xa9"},
        {"docker://shop_1", "", "shop_1", 0, "", "", "", ""},
        {"docker://shop/app", "", "shop", 0, "", "", "", "app"},
        {"podman://shop/app", "", "shop", 0, "", "", "", "app"},
        {"k8s://ns/pod-0", "", "pod-0", 0, "", "ns", "", ""},
        {"k8s://ns/pod-0/app", "", "pod-0", 0, "", "ns", "app", ""},
        {"k8s://ns/pod-0/app@", "", "pod-0", 0, "", "ns", "", "app"},
        {"k8s://ns/pod-0/c/app@10.0.0.1", "", "pod-0", 0, "", "ns", "c", "app@10.0.0.1"},
        {"k8s://ctx/ns/pod-0/", "", "pod-0", 0, "ctx", "ns", "", ""},
        {"k8s://arn:aws%2Fx/ns/pod-0/c/app@", "", "pod-0", 0, "arn:aws/x", "ns", "c", "app"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct way_url url, again;
        struct error err = {0};
        struct buf out;
        print_message("# %s\n", cases[i].text);
        assert_true(way_is_url(cases[i].text));
        assert_int_equal(way_url_parse(&url, cases[i].text, &err), 0);
        assert_string_equal(url.user, cases[i].user);
        assert_string_equal(url.host, cases[i].host);
        assert_int_equal(url.port, cases[i].port);
        assert_string_equal(url.context, cases[i].context);
        assert_string_equal(url.space, cases[i].space);
        assert_string_equal(url.container, cases[i].container);
        assert_string_equal(url.node, cases[i].node);
        buf_init(&out, 0);
        way_url_put(&out, &url, url.node);
        assert_int_equal(way_url_parse(&again, buf_cstr(&out), &err), 0);
        assert_memory_equal(&url, &again, sizeof url);
        buf_clear(&out);
    }
}

#define X16 "xxxxxxxxxxxxxxxx"
#define X256 X16 X16 X16 X16 X16 X16 X16 X16 X16 X16 X16 X16 X16 X16 X16 X16

TEST(test_refuse)
{
    static const char *const cases[] = {
        "ssh://",
        "ssh:///x",
        "ssh://-oProxyCommand=x",
        "ssh://%2DoProxyCommand=x",
        "ssh://-l@web1",
        "ssh://@web1",
        "ssh://a;b@web1",
        "ssh://$(id)@web1",
        "ssh://web1;id",
        "ssh://web 1",
        "ssh://web1%00x",
        "ssh://web1%0Ax",
        "ssh://web1%4",
        "ssh://web1:0",
        "ssh://web1:65536",
        "ssh://web1:22x",
        "ssh://[::1",
        "ssh://[::1]x",
        "ssh://web1/a@b@c",
        "ssh://web1/a%1Bb",
        "ssh://web1/--output=x",
        "docker://web1/%2Do",
        "ssh://" X256 X256,
        "docker://",
        "docker://-v",
        "docker://a$b",
        "podman://--url=x",
        "k8s://pod",
        "k8s://ns/",
        "k8s:///pod",
        "k8s://ns/-pod",
        "k8s://ns/pod/-c",
        "k8s://ns/pod/",
        "k8s://a/b/c/d/e",
        "k8s://a/b/c/d/e/f@/g@",
        "k8s://--kubeconfig=x/ns/pod/",
        "http://web1/x",
        "SSH://web1",
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct way_url url;
        struct error err = {0};
        print_message("# %.80s\n", cases[i]);
        assert_int_equal(way_url_parse(&url, cases[i], &err), ERR_USAGE);
        assert_null(strchr(err.text, '\x1b'));
    }
    assert_false(way_is_url("shop@web1"));
    assert_false(way_is_url("://x"));
    assert_false(way_is_url(""));
    assert_false(way_is_url(NULL));
}

static void check_words(const char *url_text, size_t method, const char *expected)
{
    struct way_words words = {0};
    struct way_url url;
    struct error err = {0};
    struct buf out;
    assert_int_equal(way_url_parse(&url, url_text, &err), 0);
    const struct way_stop stop = {
        .url = &url, .address = "127.0.0.1", .port = 4369, .control = "/run/c", .timeout_s = 5};
    way_method(url.scheme, method)->put(&words, &stop);
    buf_init(&out, 0);
    for (size_t i = 0; i < words.n; i++)
        if (!strchr(words.all[i], '\n')) /* but for the shell's text */
            buf_printf(&out, "%s%s", i > 0 ? " " : "", words.all[i]);
    assert_string_equal(buf_cstr(&out), expected);
    assert_null(words.all[words.n]);
    buf_clear(&out);
    way_words_clear(&words);
}

TEST(test_skip)
{
    static const struct {
        const char *printed;
        bool found;
        const char *rest;
    } cases[] = {
        {"beamtop: open\nrest", true, "rest"},
        {"hi\nbeamtop: open\n", true, ""},
        {"hibbeamtop: open\n\n", true, "\n"},
        {"beamtop: beamtop: open\nbeamtop: open\n", true, "beamtop: open\n"},
        {"beamtop: open", false, ""},
        {"beamtop: open \n", false, ""},
        {"", false, ""},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const char *text = cases[i].printed;
        const size_t len = strlen(text);
        print_message("# %s\n", text);
        for (size_t piece = 1; piece <= len + 1; piece++) {
            struct way_carry y = {0};
            size_t at = 0;
            while (at < len && !y.found)
                at += way_carry_skip(&y, text + at, piece < len - at ? piece : len - at);
            assert_int_equal(y.found, cases[i].found);
            assert_string_equal(text + at, cases[i].rest);
            assert_int_equal(y.skipped, at);
        }
    }
}

static void hear(void *arg, const char *bytes, size_t n)
{
    buf_put(arg, bytes, n);
}

static void make_carried(int program[2], int stream[2])
{
    assert_int_equal(pipe2(program, O_NONBLOCK | O_CLOEXEC), 0);
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, stream), 0);
    assert_true(write(program[1], "hi\nbeamtop: open\n", 17) == 17);
}

/* A stream that takes little at a time, and that its receiver leaves in the end. */
TEST(test_carry)
{
    enum { ALL = 3000000 };
    static struct way_carry y;
    static uint8_t piece[50000];
    struct buf heard;
    int program[2], stream[2];
    size_t put = 0, got = 0;
    bool has_waited = false;
    make_carried(program, stream);
    buf_init(&heard, 0);
    while (got < ALL) {
        for (size_t i = 0; i < sizeof piece; i++)
            piece[i] = (uint8_t)((put + i) * 7 % 251);
        const ssize_t written =
            write(program[1], piece, ALL - put < sizeof piece ? ALL - put : sizeof piece);
        put += written > 0 ? (size_t)written : 0;
        way_carry(&y, &program[0], stream[0], hear, &heard);
        has_waited = has_waited || way_carry_waits(&y);
        const ssize_t n =
            way_carry_waits(&y) || put == ALL ? recv(stream[1], piece, 9000, MSG_DONTWAIT) : 0;
        for (ssize_t i = 0; i < n; i++)
            assert_int_equal(piece[i], (got + (size_t)i) * 7 % 251);
        got += n > 0 ? (size_t)n : 0;
    }
    assert_true(has_waited);
    assert_string_equal(buf_cstr(&heard), "hi\nbeamtop: open\n");
    close(stream[1]);
    assert_true(write(program[1], "more", 4) == 4);
    way_carry(&y, &program[0], stream[0], hear, &heard);
    assert_false(way_carry_waits(&y));
    close(program[1]);
    way_carry(&y, &program[0], stream[0], hear, &heard);
    assert_int_equal(program[0], -1);
    close(stream[0]);
    buf_clear(&heard);
}

TEST(test_words)
{
    check_words("ssh://me@web1:2222/x", 0,
                "ssh -T -a -x -oClearAllForwardings=yes -oLogLevel=INFO -oRemoteCommand=none "
                "-oServerAliveInterval=15 -oServerAliveCountMax=3 -S/run/c -p2222 "
                "-lme -oControlMaster=no -oBatchMode=yes "
                "-oConnectTimeout=5 -W127.0.0.1:4369 -- web1");
    check_words("ssh://web1/x", 1,
                "ssh -T -a -x -oClearAllForwardings=yes -oLogLevel=INFO -oRemoteCommand=none "
                "-oServerAliveInterval=15 -oServerAliveCountMax=3 -S/run/c -oControlMaster=no "
                "-oBatchMode=yes -oConnectTimeout=5 -- web1 'sh' '-c' 'beamtop' '4369' "
                "'127.0.0.1' '1'");
    check_words("docker://shop", 0, "docker exec -i shop sh -c beamtop 4369 127.0.0.1");
    check_words("podman://shop", 0, "podman exec -i shop sh -c beamtop 4369 127.0.0.1");
    check_words("k8s://c%2Fx/ns/pod/app", 0,
                "kubectl --context=c/x --namespace=ns exec -i --container=app pod -- sh -c beamtop "
                "4369 127.0.0.1");
    check_words("k8s://ns/pod", 1,
                "kubectl --namespace=ns port-forward --address=127.0.0.1 pod/pod :4369");
    assert_null(way_method(WAY_SSH, 2));
    assert_null(way_method(WAY_K8S, 2));
}

/* An ephemeral container that has only the program, by its name. */
TEST(test_program_words)
{
    check_words("k8s://ns/pod/beamtop-relay-1", 0,
                "kubectl --namespace=ns exec -i --container=beamtop-relay-1 pod -- /beamtop relay "
                "4369 127.0.0.1");
    check_words("k8s://ns/pod/beamtop-shell-1", 0,
                "kubectl --namespace=ns exec -i --container=beamtop-shell-1 pod -- sh -c beamtop "
                "4369 127.0.0.1");
}

TEST(test_pod)
{
    struct pod pod;
    pod_parse(&pod, "phase Running  \ndefault  app\n"
                    "container app true 2026-01-01T00:00:00Z \n"
                    "container side false  CrashLoopBackOff\n"
                    "init proxy true 2026-01-01T00:00:00Z \n"
                    "ephemeral beamtop-shell-1 false 2026-01-01T00:00:00Z \n");
    assert_string_equal(pod.phase, "Running");
    assert_false(pod.is_ending);
    assert_int_equal(pod.n, 4);
    assert_ptr_equal(pod_find(&pod, ""), &pod.containers[0]);
    assert_true(pod.containers[0].runs && pod.containers[0].is_ready);
    assert_ptr_equal(pod_find(&pod, "side"), &pod.containers[1]);
    assert_false(pod.containers[1].runs);
    assert_string_equal(pod.containers[1].reason, "CrashLoopBackOff");
    assert_true(pod.containers[2].kind == POD_INIT && pod.containers[2].runs);
    assert_true(pod.containers[3].kind == POD_EPHEMERAL && pod.containers[3].runs);
    assert_null(pod_find(&pod, "other"));
    pod_parse(&pod, "phase Failed Evicted 2026-01-01T00:00:00Z\ndefault side app\n");
    assert_string_equal(pod.reason, "Evicted");
    assert_true(pod.is_ending);
    assert_string_equal(pod.default_container, "side");
    for (const char *const *text =
             (const char *const[]){"", "\n", "phase", "container", "container \n\ncontainer", NULL};
         *text; text++) {
        pod_parse(&pod, *text);
        assert_string_equal(pod.phase, "");
        assert_null(pod_find(&pod, "x"));
    }
}

TEST(test_inspect_words)
{
    const struct way_url url = {.scheme = WAY_PODMAN, .host = "shop"};
    struct way_words words = {0};
    way_put_inspect(&words, &url);
    assert_string_equal(words.all[0], "podman");
    assert_string_equal(words.all[words.n - 1], "shop");
    assert_null(words.all[words.n]);
    assert_null(way_engine(WAY_SSH));
    way_words_clear(&words);
}

/* By its name, else the only one that has none yet. */
TEST(test_choose)
{
    static struct discover_vm vms[] = {{.pid = 7, .node = "a@x"},
                                       {.pid = 8, .node = "ab@x"},
                                       {.pid = 9, .node = ""},
                                       {.pid = 10, .node = ""}};
    static const struct {
        const char *node;
        size_t first, n;
        pid_t pid; /* 0: none */
    } cases[] = {{"", 0, 1, 7},    {"", 0, 2, 0},  {"a", 0, 2, 7}, {"a@x", 0, 2, 7},
                 {"a@y", 0, 2, 0}, {"b", 0, 2, 0}, {"", 2, 1, 9},  {"b", 0, 3, 9},
                 {"a", 0, 3, 7},   {"b", 0, 4, 0}, {"", 2, 2, 0},  {"a@y", 0, 3, 9}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct discover_list list = {.vms = vms + cases[i].first, .count = cases[i].n};
        struct way_url url = {.scheme = WAY_DOCKER, .host = "h"};
        struct error err = {0};
        snprintf(url.node, sizeof url.node, "%s", cases[i].node);
        print_message("# %zu\n", i);
        const struct discover_vm *vm = container_choose(&list, &url, &err);
        assert_int_equal(vm ? vm->pid : 0, cases[i].pid);
        assert_int_equal(err.code, vm ? ERR_NONE : ERR_USAGE);
    }
}

/* A shell reads the words there. */
TEST(test_far_words)
{
    static const char *const command[] = {"beamtop", "pstack", "it's; id", "$(id)"};
    struct way_words words = {0};
    struct way_url url;
    struct error err = {0};
    assert_int_equal(way_url_parse(&url, "ssh://web1", &err), 0);
    way_put_far(&words, &url, command, 4);
    assert_string_equal(words.all[words.n - 5], "'beamtop'");
    assert_string_equal(words.all[words.n - 3], "'pstack'");
    assert_string_equal(words.all[words.n - 2], "'it'\\''s; id'");
    assert_string_equal(words.all[words.n - 1], "'$(id)'");
    way_words_clear(&words);
    assert_int_equal(way_url_parse(&url, "docker://web1", &err), 0);
    way_put_far(&words, &url, command, 4);
    assert_string_equal(words.all[words.n - 1], "$(id)");
    way_words_clear(&words);
}

TEST(test_explain)
{
    static const struct {
        enum way_scheme scheme;
        const char *said;
        enum conn_failure why;
        bool another;
        const char *words;
    } cases[] = {
        {WAY_SSH, "Host key verification failed.\r\n", CONN_FAILED_WAY, false, "unknown host key"},
        {WAY_SSH, "channel 2: open failed: connect failed: Connection refused\r\n",
         CONN_FAILED_REFUSED, false, "that port there"},
        {WAY_SSH, "ssh: connect to host x port 22: Connection refused\r\n", CONN_FAILED_WAY, false,
         "ssh's port"},
        {WAY_SSH, "channel 2: open failed: administratively prohibited: open failed\r\n",
         CONN_FAILED_WAY, true, "AllowTcpForwarding"},
        {WAY_SSH, "Stdio forwarding request failed: Session open refused by peer\r\n",
         CONN_FAILED_WAY, true, "AllowTcpForwarding"},
        {WAY_SSH,
         "channel 2: open failed: connect failed: Connection refused\r\n"
         "Stdio forwarding request failed: Session open refused by peer\r\n",
         CONN_FAILED_REFUSED, false, "that port there"},
        {WAY_SSH,
         "bash: connect: Connection refused\nbash: line 1: /dev/tcp/127.0.0.1/1: Connection "
         "refused\n",
         CONN_FAILED_REFUSED, false, "that port there"},
        {WAY_SSH, "socat[7] E connect(5, AF=2 127.0.0.1:1, 16): Connection refused\n",
         CONN_FAILED_REFUSED, false, "that port there"},
        {WAY_SSH, "Connection closed by UNKNOWN port 65535\r\n", CONN_FAILED_WAY, false,
         "jump host"},
        {WAY_SSH, "", CONN_FAILED_WAY, false, "no reason was given"},
        {WAY_SSH, "first\r\nsomething new\r\n\r\n", CONN_FAILED_WAY, false, ": something new"},
        {WAY_DOCKER, "Cannot connect to the Docker daemon at unix:///x. Is it running?\n",
         CONN_FAILED_WAY, false, "DOCKER_HOST"},
        {WAY_DOCKER, "Error: No such container: h\n", CONN_FAILED_HOST, false, "docker ps"},
        {WAY_DOCKER, "Error response from daemon: Container h is paused, unpause the container\n",
         CONN_FAILED_WAY, false, "docker unpause"},
        {WAY_DOCKER, "Error response from daemon: Multiple IDs found with provided prefix: 0\n",
         CONN_FAILED_HOST, false, "more of it"},
        {WAY_DOCKER, "error during connect: Get \"http://x\": dial tcp: no such host\n",
         CONN_FAILED_WAY, false, "DOCKER_HOST"},
        {WAY_DOCKER,
         "Emulate Docker CLI using podman.\nError: inspecting object: no such container h\n",
         CONN_FAILED_HOST, false, "podman ps"},
        {WAY_PODMAN, "Error: no container with name or ID \"h\" found: no such container\n",
         CONN_FAILED_HOST, false, "podman ps"},
        {WAY_PODMAN,
         "Error: can only create exec sessions on running containers: container state improper\n",
         CONN_FAILED_WAY, false, "paused"},
        {WAY_PODMAN, "Error: more than one result for container ID 0: container already exists\n",
         CONN_FAILED_HOST, false, "more of it"},
        {WAY_PODMAN,
         "Error: runc: exec failed: unable to start container process: exec: \"sh\": executable "
         "file not found in $PATH: OCI runtime attempted to invoke a command that was not found\n",
         CONN_FAILED_WAY, true, "no shell"},
        {WAY_DOCKER, WAY_OPEN_LINE "\nconnect: Connection refused\n", CONN_FAILED_REFUSED, false,
         "that port there"},
        {WAY_DOCKER, WAY_OPEN_LINE "\n", CONN_FAILED_WAY, false, "no reason was given"},
        {WAY_K8S, "beamtop: no relay\ncommand terminated with exit code 127\n", CONN_FAILED_WAY,
         true, "socat"},
        {WAY_K8S,
         "an error occurred forwarding 40001 -> 4369: failed to connect to localhost:4369 inside "
         "namespace: dial tcp4 127.0.0.1:4369: connect: connection refused\n"
         "error: lost connection to pod\n",
         CONN_FAILED_REFUSED, false, "nothing listens"},
        {WAY_K8S,
         "Error from server: error dialing backend: dial tcp 10.0.0.9:10250: connect: connection "
         "refused\n",
         CONN_FAILED_WAY, false, "kubectl get nodes"},
        {WAY_K8S, "error: context \"nosuch\" does not exist\n", CONN_FAILED_WAY, false,
         "no such context"},
        {WAY_K8S, "error: auth info \"dev\" does not exist\n", CONN_FAILED_WAY, false,
         "a cluster or a user that is not in kubectl's configuration"},
        {WAY_K8S,
         "error: Internal error occurred: error sending request: Post "
         "\"https://n1:10250/exec/shop/web/app?command=sh\": dial tcp: lookup n1: no such host\n",
         CONN_FAILED_WAY, false, "does not reach the machine of the pod"},
        {WAY_K8S,
         "error: error reading from error stream: next reader: websocket: close 1006 (abnormal "
         "closure): unexpected EOF\n",
         CONN_FAILED_WAY, false, "the connection to the pod is lost"},
        {WAY_K8S, "error: unable to upgrade connection: pod does not exist\n", CONN_FAILED_WAY,
         false, "it was deleted"},
        {WAY_K8S,
         "error: Internal error occurred: error executing command in container: failed to exec in "
         "container: container is in CONTAINER_EXITED state\n",
         CONN_FAILED_WAY, false, "the container does not run"},
        {WAY_K8S,
         "E1130 19:27:10.140300    3894 memcache.go:265] \"Unhandled Error\" err=\"couldn't get "
         "current server API group list: Get \\\"https://10.0.0.1:6443/api?timeout=32s\\\": dial "
         "tcp 10.0.0.1:6443: connect: connection refused\"\n"
         "The connection to the server 10.0.0.1:6443 was refused - did you specify the right host "
         "or port?\n",
         CONN_FAILED_WAY, false, "cluster-info"},
        {WAY_K8S, "error: unable to upgrade connection: container not found (\"app\")\n",
         CONN_FAILED_WAY, false, "the container does not run"},
        {WAY_K8S,
         "error: unable to forward port because pod is not running. Current status=Pending",
         CONN_FAILED_WAY, false, "the pod does not run"},
        {WAY_K8S, "The connection to the server localhost:8080 was refused - did you\n",
         CONN_FAILED_WAY, false, "cluster-info"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct way_url url = {.scheme = cases[i].scheme, .host = "h"};
        enum conn_failure why = CONN_LOST;
        bool another = !cases[i].another;
        struct error err = {0};
        print_message("# %s\n", cases[i].words);
        way_explain_said(way_method(url.scheme, 0), &url, cases[i].said, &why, &another, &err);
        assert_int_equal(why, cases[i].why);
        assert_int_equal(another, cases[i].another);
        assert_non_null(strstr(err.text, cases[i].words));
    }
}

/* ---- the answer of an engine */

/* A program in place of another one. */
static void put_program(const char *dir, const char *name, const char *text, char *path,
                        size_t size)
{
    snprintf(path, size, "%s/%s", dir, name);
    const int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0700);
    assert_int_equal(write(fd, text, strlen(text)), strlen(text));
    close(fd);
}

#define ID "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define ANSWERS(words) "#!/bin/sh\necho " words "\n"

/* One that says that it does not run does not serve a connection that is tried again. */
TEST(test_last_answer)
{
    static const struct {
        const char *program, *says; /* says: of the engine; NULL: it runs */
    } turns[] = {{ANSWERS(ID " 0"), "`podman start"},
                 {ANSWERS("odd"), "something other than an id"},
                 {"#!/bin/sh\necho no such container >&2\nexit 1\n", "no such container"},
                 {ANSWERS(ID " 1"), NULL}};
    const struct way_url url = {.scheme = WAY_PODMAN, .host = "shop", .node = "shop"};
    char dir[] = "/tmp/beamtop-way-XXXXXX", path[64], *before = strdup(getenv("PATH"));
    struct container_answer *last = container_answer_new();
    assert_non_null(mkdtemp(dir));
    setenv("PATH", dir, 1);
    for (size_t i = 0; i < ARRAY_LEN(turns); i++) {
        struct discover_list list = {0};
        struct error err = {0};
        put_program(dir, "podman", turns[i].program, path, sizeof path);
        container_answer_retry(last);
        if (container_find(&list, &url, last, 60000, -1, &err) == 0)
            discover_clear(&list);
        print_message("# %zu: %s\n", i, err.text);
        if (turns[i].says)
            assert_non_null(strstr(err.text, turns[i].says));
        else
            assert_null(strstr(err.text, "podman"));
    }
    setenv("PATH", before, 1);
    free(before);
    container_answer_free(last);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(rmdir(dir), 0);
}

/* ---- the process of streams */

#define FEW_FILES 16

static void serve_with_few_files(int asks, const char *dir)
{
    const struct rlimit few = {FEW_FILES, FEW_FILES};
    setenv("PATH", dir, 1);
    (void)syscall(SYS_close_range, (unsigned)asks + 1, ~0U, 0U);
    if (setrlimit(RLIMIT_NOFILE, &few) == 0)
        way_server_run(asks, dir);
    _exit(0);
}

/* Each ask is answered at the end: one that gets no stream with the reason. */
TEST(test_no_files_left)
{
    char dir[] = "/tmp/beamtop-way-XXXXXX", path[64];
    int asks[2], answers[FEW_FILES][2], fd = -1;
    const struct way_ask ask = {.kind = WAY_ASKS_STREAM,
                                .port = 4369,
                                .timeout_ms = 1000,
                                .address = "127.0.0.1",
                                .url = "k8s://shop/web/x@"};
    struct way_say say = {0};
    assert_non_null(mkdtemp(dir));
    put_program(dir, "kubectl", "#!/bin/sh\nexec /bin/sleep 1000\n", path, sizeof path);
    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, asks), 0);
    const pid_t pid = fork();
    if (pid == 0) {
        close(asks[0]);
        serve_with_few_files(asks[1], dir);
    }
    close(asks[1]);
    for (int i = 0; i < FEW_FILES; i++) {
        assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, answers[i]), 0);
        while (way_wire_send(asks[0], &ask, sizeof ask, answers[i][1]) == EAGAIN)
            ;
        close(answers[i][1]);
    }
    struct pollfd last = {.fd = answers[FEW_FILES - 1][0], .events = POLLIN};
    assert_int_equal(poll(&last, 1, 60000), 1);
    assert_int_equal(way_wire_receive(last.fd, &say, sizeof say, &fd), 0);
    assert_int_equal(say.state, WAY_SAYS_FAILED);
    assert_non_null(strstr(say.text, "raise the limit (ulimit -n)"));
    close(asks[0]);
    assert_int_equal(spawn_wait(pid), 0);
    for (int i = 0; i < FEW_FILES; i++)
        close(answers[i][0]);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(rmdir(dir), 0);
}
