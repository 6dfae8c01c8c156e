/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Keys at a prompt: each byte is a key, 0xff begins a paste. The line stays bounded and
 * is drawn. */
#include <locale.h>
#include <string.h>

#include "beamtop/base/limits.h"
#include "beamtop/ui/prompt.h"
#include "fuzz.h"

/* Readline keeps a block of its own now and then (its xmalloc; ours is alloc_zero). */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
    return "leak:xmalloc\nleak:xrealloc\n";
}

static void on_line(void *ctx, const char *line)
{
    (void)ctx;
    FUZZ_REQUIRE(strlen(line) <= LIMIT_PROMPT_BYTES);
}

static void on_complete(void *ctx, const char *line, size_t point, struct completion *out)
{
    (void)ctx;
    complete_command(out, line, point, NULL);
    FUZZ_REQUIRE(out->from <= out->to && out->to <= strlen(line));
}

static struct key key_of(uint8_t byte)
{
    struct key key = {byte, 0};
    if (byte >= 0x80 && byte < 0xa0)
        key.code = KEYS_FIRST + (uint32_t)(byte - 0x80);
    else if (byte >= 0xe0)
        key = (struct key){(uint32_t)byte - 0x80, KEY_MOD_META};
    else if (byte >= 0xa0)
        key.code = 0x4e00u + byte;
    else if (byte < 0x20)
        key = (struct key){byte + 0x60u, KEY_MOD_CTRL};
    return key;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct prompt_calls calls = {on_line, on_line, .complete = on_complete};
    struct canvas canvas;
    struct tty_cursor cursor;
    setlocale(LC_CTYPE, "C.UTF-8");
    setenv("INPUTRC", "/dev/null", 1);
    struct prompt *p = prompt_new(NULL);
    canvas_init(&canvas, 4, 30, false);
    for (size_t i = 0; i < size && i < 2000; i++) {
        if (!prompt_is_open(p))
            prompt_open(p, (enum prompt_kind)(data[i] % PROMPT_KINDS), ":", "se", &calls);
        if (data[i] == 0xff) {
            prompt_paste(p, (const char *)data + i, size - i < 50 ? size - i : 50);
        } else {
            prompt_key(p, key_of(data[i]));
        }
        int rows = prompt_rows(p, 30, 4);
        prompt_draw(p, &canvas, (struct rect){4 - rows, 0, rows, 30}, &cursor);
        FUZZ_REQUIRE(cursor.row < 4);
    }
    canvas_clear(&canvas);
    prompt_free(p);
    return 0;
}
