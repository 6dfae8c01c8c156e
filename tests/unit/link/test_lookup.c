/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Hosts of a service, of answers that a name server may give. The resolver is this file's. */
#include <netinet/in.h>

#include <arpa/nameser.h>
#include <netdb.h>
#include <resolv.h>
#include <stdio.h>
#include <string.h>
#include <uv.h>

#include "../../test.h"
#include "beamtop/base/attr.h"
#include "beamtop/link/lookup.h"

/* Question: x SRV; the first target is a.shop, the second b and a pointer to its shop. */
#define HEAD(answers)                                                                              \
    "\0\1\x81\x80\0\1\0" answers "\0\0\0\0"                                                        \
    "\1x\0"                                                                                        \
    "\0\x21\0\1"
#define RECORD(len)                                                                                \
    "\xc0\x0c"                                                                                     \
    "\0\x21\0\1"                                                                                   \
    "\0\0\0\x1e"                                                                                   \
    "\0" len "\0\0\0\0\x11\x11"
#define FIRST RECORD("\x0e") "\1a\4shop\0"
#define SECOND RECORD("\x0a") "\1b\xc0\x27"

static struct {
    const char *bytes;
    int len;
} answer;

int res_search(const char *name, int class, int type, unsigned char *out, int size)
{
    assert_string_equal(name, "_epmd._tcp.shop");
    assert_true(class == 1 && type == 33);
    h_errno = HOST_NOT_FOUND;
    if (answer.len > 0 && answer.len <= size)
        memcpy(out, answer.bytes, (size_t)answer.len);
    return answer.len;
}

struct found {
    char text[400];
    size_t count;
    struct error err;
};

static void on_hosts(void *arg, const struct address *addresses, size_t count,
                     const struct error *err)
{
    struct found *f = arg;
    f->count = count;
    f->err = *err;
    for (size_t i = 0; i < count && i < 10; i++) {
        char host[LIMIT_NODE_NAME_BYTES + 1];
        lookup_text(host, sizeof host, &addresses[i]);
        snprintf(f->text + strlen(f->text), sizeof f->text - strlen(f->text), "%s ", host);
    }
}

static struct found look_up(const char *bytes, size_t len)
{
    struct found f = {0};
    struct error err = {0};
    struct lookup *lookup;
    uv_loop_t loop;
    answer.bytes = bytes;
    answer.len = (int)len;
    assert_int_equal(uv_loop_init(&loop), 0);
    assert_int_equal(lookup_service(&lookup, &loop, "_epmd._tcp.shop", 30000, on_hosts, &f, &err),
                     0);
    uv_run(&loop, UV_RUN_DEFAULT);
    assert_int_equal(uv_loop_close(&loop), 0);
    return f;
}
#define LOOK_UP(bytes) look_up(bytes, sizeof(bytes) - 1)

TEST(test_targets)
{
    struct found f = LOOK_UP(HEAD("\2") FIRST SECOND);
    assert_string_equal(f.text, "a.shop b.shop ");
    f = LOOK_UP(HEAD("\3") FIRST SECOND FIRST); /* each once */
    assert_int_equal(f.count, 2);
    f = LOOK_UP(HEAD("\2") RECORD("\7") "\0" FIRST); /* the root: there is no such service */
    assert_string_equal(f.text, "a.shop ");
    f = LOOK_UP(HEAD("\2") RECORD("\x0b") "\3a@b\0" FIRST); /* no host's name */
    assert_string_equal(f.text, "a.shop ");
}

/* Of one that breaks off nothing counts: who is missing would seem to be gone. */
TEST(test_broken)
{
    static const char broken[] = HEAD("\2") FIRST SECOND;
    for (size_t len = 1; len < sizeof broken - 1; len++)
        if (look_up(broken, len).count > 0)
            fail_msg("taken after %zu bytes", len);
    assert_int_equal(LOOK_UP(HEAD("\3") FIRST SECOND).count, 0);
    assert_int_equal(LOOK_UP(HEAD("\1") RECORD("\x08") "\xc0\x25").count, 0); /* to itself */
    assert_int_equal(LOOK_UP(HEAD("\1") RECORD("\x09") "\1b\xc0\x25").count, 0);
    assert_int_equal(LOOK_UP(HEAD("\1") RECORD("\x08") "\xc0").count, 0);
}

TEST(test_none)
{
    struct found f = look_up("", (size_t)-1);
    assert_int_equal(f.err.code, ERR_CONNECT);
    if (!strstr(f.err.text, "no SRV records of _epmd._tcp.shop"))
        fail_msg("%s", f.err.text);
    assert_int_equal(LOOK_UP(HEAD("\0")).count, 0);
}
