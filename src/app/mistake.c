#include "mistake.h"

#include <stdio.h>
#include <string.h>

#include "beamtop/base/text.h"

void mistake_put(struct buf *out, const char *text, size_t offset, const struct error *err)
{
    size_t len = strlen(text);
    buf_printf(out, "beamtop: %s\n", err->text);
    if (strchr(text, '\n') != NULL || len == 0)
        return;
    buf_puts(out, "    ");
    text_put_safe(out, text, len, false);
    buf_puts(out, "\n    ");
    size_t columns = text_width(text, offset < len ? offset : len);
    for (size_t i = 0; i < columns; i++)
        buf_put_u8(out, ' ');
    buf_puts(out, "^\n");
}

void mistake_print(const char *text, size_t offset, const struct error *err)
{
    struct buf out;
    buf_init(&out, 0);
    mistake_put(&out, text, offset, err);
    fwrite(out.data, 1, out.len, stderr);
    buf_clear(&out);
}
