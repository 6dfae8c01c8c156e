/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A configuration: read without a crash, every error within its file; what it left is valid. */
#include <string.h>

#include "beamtop/base/buf.h"
#include "beamtop/base/limits.h"
#include "beamtop/ui/config.h"
#include "fuzz.h"

/* The input is also the file that `source` finds, so that depth and number are tried too. */
struct input {
    const uint8_t *data;
    size_t size;
};

static int read_again(void *ctx, const char *path, struct buf *out, struct error *err)
{
    const struct input *in = ctx;
    if (strlen(path) > 200)
        return error_set(err, ERR_NOT_FOUND, "%s is not there", path);
    buf_put(out, in->data, in->size < 512 ? in->size : 512);
    return 0;
}

static void check_options(struct config *c)
{
    for (int i = 0; i < OPTIONS; i++) {
        struct buf text;
        struct error err = {0};
        buf_init(&text, 0);
        option_print(c->options, (enum option)i, &text);
        uint32_t before = c->options->generation;
        FUZZ_REQUIRE(option_set(c->options, (enum option)i, buf_cstr(&text), &err) == 0);
        FUZZ_REQUIRE(option_table[i].type == OPTION_TYPE_DOUBLE ||
                     option_table[i].type == OPTION_TYPE_DURATION ||
                     option_table[i].type == OPTION_TYPE_BYTES || c->options->generation == before);
        buf_clear(&text);
    }
}

static void check_diags(const struct diags *d)
{
    struct buf text;
    buf_init(&text, 0);
    FUZZ_REQUIRE(d->len <= LIMIT_CONFIG_ERRORS);
    for (size_t i = 0; i < d->len; i++)
        FUZZ_REQUIRE(d->items[i].line > 0 && d->items[i].column > 0);
    diags_print(d, &text);
    for (size_t i = 0; i < text.len; i++)
        FUZZ_REQUIRE(text.data[i] == '\n' || (text.data[i] >= 0x20 && text.data[i] != 0x7f));
    buf_clear(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct options options;
    struct keymap keymap;
    struct theme theme;
    struct diags diags;
    struct input in = {data, size};
    options_init(&options);
    keymap_init(&keymap);
    theme_init(&theme);
    diags_init(&diags);
    struct tls_lines tls = {0};
    struct config c = {.options = &options,
                       .keymap = &keymap,
                       .theme = &theme,
                       .diags = &diags,
                       .tls = &tls,
                       .read = read_again,
                       .ctx = &in};
    config_parse(&c, "fuzz.conf", (const char *)data, size);
    check_options(&c);
    check_diags(&diags);
    for (size_t i = 0; i < keymap.len; i++) {
        char name[KEY_TEXT_BYTES];
        struct key again;
        key_format(keymap.bindings[i].key, name);
        FUZZ_REQUIRE(key_parse(name, strlen(name), &again));
        FUZZ_REQUIRE(key_equal(again, keymap.bindings[i].key));
    }
    options_clear(&options);
    keymap_clear(&keymap);
    tls_lines_clear(&tls);
    diags_clear(&diags);
    return 0;
}
