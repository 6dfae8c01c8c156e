/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Options of nodes for TLS, of a file or of arguments, and which nodes are known. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../test.h"
#include "beamtop/base/limits.h"
#include "link/tls/known.h"
#include "link/tls/optfile.h"

static int parse(struct tls_options *o, const char *text)
{
    struct error err = {0};
    tls_options_clear(o);
    return tls_options_parse(o, text, strlen(text), &err);
}

TEST(test_optfile)
{
    struct tls_options o = {0};
    assert_int_equal(parse(&o,
                           "%% \"a comment\n"
                           "[{server, [{certfile, \"/s.pem\"}, {keyfile, <<\"/s%.key\">>}, % x\n"
                           "           {cacertfile, \"/ca.pem\"}, {verify, verify_peer}]},\n"
                           " {client, [inet6, {certfile, \"/c.pem\"}, {password, \"a\\\"%b\"},\n"
                           "           {verify, verify_none}, {depth, 2}, {reuse, a, b}]},\n"
                           " {'%other', 1}].\n"),
                     0);
    assert_true(o.server.given && o.client.given);
    assert_string_equal(o.server.one.certfile, "/s.pem");
    assert_string_equal(o.server.one.keyfile, "/s%.key");
    assert_string_equal(o.server.cacertfile, "/ca.pem");
    assert_true(o.server.verify_peer && !o.client.verify_peer);
    assert_string_equal(o.client.one.certfile, "/c.pem");
    assert_string_equal(o.client.one.password, "a\"%b");
    assert_string_equal(o.client.one.keyfile, "");
    assert_true(o.client.unused == 0 && o.server.unused == 0);
    assert_int_equal(parse(&o, "[]."), 0);
    tls_options_clear(&o);
}

/* The client's options that are not used. */
static const char *unused_of(const char *options)
{
    static char names[256];
    struct tls_options o = {0};
    char *text = NULL;
    assert_true(asprintf(&text, "[{client, [%s]}].", options) > 0);
    if (parse(&o, text) != 0)
        fail_msg("refused: %s", text);
    tls_options_name(names, sizeof names, o.client.unused);
    tls_options_clear(&o);
    free(text);
    return names;
}

TEST(test_functions)
{
    static const char *const cases[][2] = {
        {"{verify_fun, {fun inet_tls_dist:verify_client/3, []}}", "verify_fun"},
        {"{verify_fun,{fun 'a b' :% ' fun(\n f/3,x}},{certfile,\"fun() \"}", "verify_fun"},
        {"{partial_chain, fun(_) -> unknown_ca end}, {password, fun() -> \"x\" end}",
         "password, partial_chain"},
        {"{password, fun F() -> case x of y -> fun() -> F() end; _ -> fun f/0 end end}",
         "password"},
        {"{password, fun() -> \"end\" ++ [$\\', $\"] ++ 'end' end}", "password"}, /* no `end` */
        {"{sni_fun, fun(_) -> [] end}, {certfile, fun() -> \"/x\" end}", "certfile"},
        {"{key, #{algorithm => rsa, sign_fun => fun m:f/3}}", "key"},
        {"{key, {'X', <<1>>}}, {cert, []}, {cacerts, [1]}", "cert, key, cacerts"},
        {"{certs_keys, [#{cert => <<1>>, password => fun m:f/0}]}", "password"},
        {"{certs_keys, [#{certfile => \"/a\"}, #{keyfile => \"/k\"}]}", "certs_keys"},
        {"{certs_keys, #{}}, {cacertfile, 7}", "certs_keys, cacertfile"},
        {"{certfile, \"/a\"}, {fail_if_no_peer_cert, true}, {ciphers, [f, <<1>>]}", ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        assert_string_equal(unused_of(cases[i][0]), cases[i][1]);
}

/* A function without its end, of which each could have the rest of the text, ends the reading. */
TEST(test_open_functions)
{
    const size_t n = 200000;
    struct tls_options o = {0};
    struct error err = {0};
    char *text = calloc(n, 5);
    for (size_t i = 0; i < n; i++)
        memcpy(text + 5 * i, "fun( ", 5);
    assert_int_equal(tls_options_parse(&o, text, 5 * n, &err), ERR_FORMAT);
    free(text);
}

/* Terms instead of files, as `openssl enc -base64` has their bytes. */
TEST(test_inline)
{
    struct tls_options o = {0};
    size_t n = 0;
    assert_int_equal(parse(&o, "[{client, [{cert, [<<1,2>>, <<\"abcd\">>]}, {certfile, \"/c\"},\n"
                               " {key, {'ECPrivateKey', <<\"xyz\">>}},\n"
                               " {cacerts, [<<0:8/integer, 255>>]}]}]."),
                     ERR_FORMAT); /* a size is nothing that io:format writes */
    assert_int_equal(parse(&o, "[{client, [{cert, [<<1,2>>, <<\"abcd\">>]}, {certfile, \"/c\"},\n"
                               " {key, {'ECPrivateKey', <<\"xyz\">>}},\n"
                               " {cacerts, [<<0, 255>>]}]}]."),
                     0);
    assert_int_equal(o.client.unused, 0);
    const struct tls_pair *pair = tls_section_pairs(&o.client, &n);
    assert_int_equal(n, 1);
    assert_string_equal(pair->cert, "-----BEGIN CERTIFICATE-----\nAQI=\n-----END CERTIFICATE-----\n"
                                    "-----BEGIN CERTIFICATE-----\nYWJjZA==\n"
                                    "-----END CERTIFICATE-----\n");
    assert_string_equal(pair->key,
                        "-----BEGIN EC PRIVATE KEY-----\neHl6\n-----END EC PRIVATE KEY-----\n");
    assert_string_equal(o.client.cacerts,
                        "-----BEGIN CERTIFICATE-----\nAP8=\n-----END CERTIFICATE-----\n");
    tls_options_clear(&o);
}

/* Whole lines, and a rest of each length. */
TEST(test_long_inline)
{
    for (size_t len = 46; len < 50; len++) {
        struct tls_options o = {0};
        char text[256], bytes[64], wanted[128] = "";
        memset(bytes, 'a', sizeof bytes);
        snprintf(text, sizeof text, "[{server, [{cert, <<\"%.*s\">>}]}].", (int)len, bytes);
        for (size_t i = 0; i < len / 3; i++)
            strcat(wanted, i == 15 ? "YWFh\n" : "YWFh");
        strcat(wanted, len % 3 == 1 ? "YQ==\n" : len % 3 == 2 ? "YWE=\n" : "");
        assert_int_equal(parse(&o, text), 0);
        assert_non_null(strstr(o.server.one.cert, wanted));
        assert_string_equal(strstr(o.server.one.cert, wanted) + strlen(wanted),
                            "-----END CERTIFICATE-----\n");
        tls_options_clear(&o);
    }
}

/* They go before the options of one; more of them than are used is not silent. */
TEST(test_several)
{
    struct tls_options o = {0};
    size_t n = 0;
    assert_int_equal(parse(&o, "[{server, [{certfile, \"/one\"}, {certs_keys, [\n"
                               "#{certfile => \"/a\", keyfile => \"/k\", password => <<\"p\">>},\n"
                               "#{cert => <<1>>, key => {'RSAPrivateKey', <<2>>}}]}]}]."),
                     0);
    const struct tls_pair *pairs = tls_section_pairs(&o.server, &n);
    assert_int_equal(n, 2);
    assert_string_equal(pairs[0].certfile, "/a");
    assert_string_equal(pairs[0].keyfile, "/k");
    assert_string_equal(pairs[0].password, "p");
    assert_non_null(strstr(pairs[1].key, "BEGIN RSA PRIVATE KEY"));
    (void)tls_section_pairs(&o.client, &n);
    assert_int_equal(n, 0);
    char text[512] = "{certs_keys, [#{certfile => a}";
    for (size_t i = 1; i < TLS_IDENTITIES + 1; i++)
        strcat(text, ", #{certfile => a}");
    assert_string_equal(unused_of(strcat(text, "]}")), "certs_keys");
    tls_options_clear(&o);
}

/* What would have to be evaluated, or is anything else, is refused. */
TEST(test_other_optfiles)
{
    static const char *const texts[] = {
        "",
        ".",
        "%",
        "ok.",
        "[{server, [{certfile, os:getenv(\"X\")}]}].",
        "[a].",
        "\"text\".",
        "[{server, a}].",
        "[{server, [1]}].",
        "[{client, [{certfile, \"/a\"}]}",
        "[{1, []}].",
        "A = [], A.",
        "[{server, [{}]}|x].",
        "[{server, \"text\"}].",
        "#{}.",
        "$",
        "\"",
        "'",
        "$\\",
    };
    struct tls_options o = {0};
    struct error err = {0};
    char *deep = calloc(1, 100001);
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        if (parse(&o, texts[i]) != ERR_FORMAT)
            fail_msg("taken: %s", texts[i]);
    assert_int_equal(tls_options_parse(&o, "[]\0.", 4, &err), ERR_FORMAT);
    memset(deep, '[', 100000);
    assert_int_equal(parse(&o, deep), ERR_FORMAT);
    free(deep);
}

TEST(test_long_values)
{
    struct tls_options o = {0};
    char *text = NULL;
    char path[TLS_PATH_BYTES + 1];
    memset(path, 'a', TLS_PATH_BYTES);
    path[TLS_PATH_BYTES] = '\0';
    assert_true(
        asprintf(&text, "[{client, [{certfile, \"%s\"}, {password, \"%s\"}]}].", path, path) > 0);
    assert_int_equal(parse(&o, text), 0);
    assert_int_equal(o.client.unused, 1U << TLS_OPTION_CERTFILE | 1U << TLS_OPTION_PASSWORD);
    assert_string_equal(o.client.one.certfile, "");
    assert_string_equal(o.client.one.password, "");
    free(text);
}

TEST(test_arguments)
{
    struct tls_options o = {0};
    tls_options_take(&o, "client_certfile", "c.pem");
    tls_options_take(&o, "server_certfile", "s.pem");
    tls_options_take(&o, "server_verify", "verify_peer");
    tls_options_take(&o, "client_depth", "2");
    tls_options_take(&o, "other", "x");
    tls_options_take(&o, "client_", "x");
    assert_string_equal(o.client.one.certfile, "c.pem");
    assert_string_equal(o.server.one.certfile, "s.pem");
    assert_true(o.server.verify_peer && !o.client.verify_peer);
}

/* ---- nodes that are known */

TEST(test_known)
{
    char name[32];
    assert_false(tls_is_known("a@b"));
    tls_remember("a@b", false);
    assert_false(tls_is_known("a@b"));
    tls_remember("a@b", true);
    tls_remember("a@b", true);
    assert_true(tls_is_known("a@b"));
    tls_remember("a@b", false);
    assert_false(tls_is_known("a@b"));
    tls_remember("first@b", true);
    for (unsigned i = 0; i < LIMIT_TLS_KNOWN; i++) {
        snprintf(name, sizeof name, "n%u@b", i);
        tls_remember(name, true);
    }
    assert_false(tls_is_known("first@b"));
    assert_true(tls_is_known(name));
}

TEST(test_words)
{
    enum tls_verify v = TLS_VERIFY_USUAL;
    assert_true(tls_verify_of("full", &v) && v == TLS_VERIFY_FULL);
    assert_true(tls_verify_of("none", &v) && v == TLS_VERIFY_NONE);
    assert_true(tls_verify_of("ca", &v) && v == TLS_VERIFY_CA);
    assert_false(tls_verify_of("", &v) || tls_verify_of("CA", &v));
}
