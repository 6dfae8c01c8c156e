/* SPDX-License-Identifier: GPL-3.0-or-later */
/* No memory that is given back has a part of a key that an optfile has as a term. The linker has
 * free() and realloc() of all archives, libei's too, lead here (tests/local.mk). */
#include <malloc.h>
#include <stdlib.h>
#include <string.h>

#include "../../test.h"
#include "beamtop/base/buf.h"
#include "link/tls/optfile.h"

#define KEY_BYTES 3000u /* more than each buffer begins with */
#define PART_BYTES 12u  /* more would be chance */

static char forms[4][PART_BYTES * sizeof(int32_t)];
static size_t form_lens[4];
static size_t given_back, with_a_part;

/* Repeated; its parts have their form at any place but for base64, which needs a multiple of three.
 */
static const char key_part[] = "Key#of~term!";

static void look_at(const void *p)
{
    const size_t size = p ? malloc_usable_size((void *)(uintptr_t)p) : 0;
    given_back += size > 0;
    for (size_t i = 0; i < 4; i++)
        if (form_lens[i] > 0 && size > 0 && memmem(p, size, forms[i], form_lens[i]))
            with_a_part++;
}

void __real_free(void *p);
void *__real_realloc(void *p, size_t size);
void __wrap_free(void *p);
void *__wrap_realloc(void *p, size_t size);

void __wrap_free(void *p)
{
    look_at(p);
    __real_free(p);
}

void *__wrap_realloc(void *p, size_t size)
{
    look_at(p);
    return __real_realloc(p, size);
}

/* As bytes, as characters, as the text of bytes, and as PEM has them. */
static void begin_to_look(void)
{
    static const char text[] = "75,101,121,35,111";
    static const char pem[] = "S2V5I29mfnRlcm0h";
    for (size_t i = 0; i < PART_BYTES; i++) {
        const int32_t wide = key_part[i];
        forms[0][i] = key_part[i];
        memcpy(forms[1] + i * sizeof wide, &wide, sizeof wide);
    }
    memcpy(forms[2], text, sizeof text);
    memcpy(forms[3], pem, sizeof pem);
    form_lens[0] = PART_BYTES;
    form_lens[1] = PART_BYTES * sizeof(int32_t);
    form_lens[2] = sizeof text - 1;
    form_lens[3] = sizeof pem - 1;
    given_back = with_a_part = 0;
}

static void end_to_look(void)
{
    memset(form_lens, 0, sizeof form_lens);
}

/* Of the client an option that has the key as `open`, its bytes or its characters, and `shut`; and
 * so many others behind it that the term has to grow. */
static char *optfile_with(const char *open, bool as_bytes, const char *shut)
{
    struct buf text;
    buf_init_wiped(&text);
    buf_printf(&text, "[{server, []}, {client, [{verify, verify_peer}, %s", open);
    for (size_t i = 0; i < KEY_BYTES; i++) {
        const char c = key_part[i % PART_BYTES];
        if (as_bytes)
            buf_printf(&text, "%s%d", i > 0 ? "," : "", c);
        else
            buf_put(&text, &c, 1);
    }
    buf_puts(&text, shut);
    for (size_t i = 0; i < KEY_BYTES / 4; i++)
        buf_puts(&text, ", inet6");
    buf_puts(&text, "]}].");
    return buf_take(&text);
}

TEST(test_keys_are_wiped)
{
    static const struct {
        const char *open, *shut;
        bool as_bytes, refused;
    } cases[] = {
        {"{key, {'ECPrivateKey', <<", ">>}}", true, false},
        {"{key, {'ECPrivateKey', <<\"", "\">>}}", false, false},
        {"{certs_keys, [#{cert => <<1>>, key => {'RSAPrivateKey', <<", ">>}}]}", true, false},
        {"{password, \"", "\"}", false, false},
        {"{password, [", "]}", true, false},
        {"{key, {'ECPrivateKey', <<", ">>}", true, true},
        {"{key, f(<<\"", "\">>)}", false, true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct tls_options o = {0};
        struct error err = {0};
        char *text = optfile_with(cases[i].open, cases[i].as_bytes, cases[i].shut);
        begin_to_look();
        const int rc = tls_options_parse(&o, text, strlen(text), &err);
        tls_options_clear(&o);
        end_to_look();
        free(text);
        assert_int_equal(rc != 0, cases[i].refused);
        assert_true(given_back > 5);
        if (with_a_part > 0)
            fail_msg("case %zu: %zu blocks with a part of the key", i, with_a_part);
    }
}

/* Each of its forms is seen in a block that is not wiped. */
TEST(test_what_looks_sees)
{
    for (size_t i = 0; i < 4; i++) {
        char *block = calloc(1, 100);
        begin_to_look();
        memcpy(block + 7, forms[i], form_lens[i]);
        if (i % 2)
            block = realloc(block, 200);
        else
            free(block);
        end_to_look();
        if (i % 2)
            free(block);
        assert_int_equal(with_a_part, 1);
    }
}
