/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `beamtop where`: the source file and line of functions, as the VM has them for its debugger. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "app/cli/commands.h"
#include "app/cli/output.h"
#include "app/cli/tell.h"
#include "beamtop/base/limits.h"
#include "beamtop/base/text.h"
#include "local_read.h"
#include "app/search/local_target.h"

enum { NAME_BYTES = 3 * LIMIT_ATOM_BYTES };

/* Without the quotes of atoms, which the two may not agree about. */
static size_t copy_unquoted(char *out, size_t size, struct slice name)
{
    size_t n = 0;
    for (size_t i = 0; i < name.len && n + 1 < size; i++)
        if (name.s[i] != '\'')
            out[n++] = name.s[i];
    out[n] = '\0';
    return n;
}

/* "shop:checkout/1", "shop:checkout", "shop"; in Elixir "Shop.Cart.add/1". */
static void wanted_name(char *out, size_t size, const char *word)
{
    char elixir[NAME_BYTES];
    const char *dot = strrchr(word, '.');
    const bool is_elixir = isupper((unsigned char)word[0]) && !strchr(word, ':');
    const bool has_function = dot && islower((unsigned char)dot[1]);
    if (is_elixir)
        snprintf(elixir, sizeof elixir, "Elixir.%.*s%s%s",
                 (int)(has_function ? dot - word : (ptrdiff_t)strlen(word)), word,
                 has_function ? ":" : "", has_function ? dot + 1 : "");
    copy_unquoted(out, size, slice_of(is_elixir ? elixir : word));
}

static bool is_wanted_function(const char *wanted, struct slice name)
{
    char plain[NAME_BYTES];
    const size_t len = copy_unquoted(plain, sizeof plain, name), n = strlen(wanted);
    if (len < n || memcmp(plain, wanted, n) != 0)
        return false;
    return len == n || (plain[n] == '/' && strchr(wanted, ':')) ||
           (plain[n] == ':' && !strchr(wanted, ':'));
}

/* "lists::codeHeader" */
static bool is_header(struct slice name)
{
    return memmem(name.s, name.len, "::", 2) != NULL;
}

static void put_code_places(struct buf *out, const struct jit *j, const void *arg)
{
    for (size_t i = 0; i < jit_count(j); i++) {
        const struct jit_function *f = jit_function(j, i);
        struct slice file;
        uint32_t line = 0;
        if (f->global || f->prologue || is_header(f->name) || !is_wanted_function(arg, f->name))
            continue;
        text_put_safe(out, f->name.s, f->name.len, false);
        if (jit_first_line(j, f, &file, &line)) {
            buf_puts(out, "  ");
            text_put_safe(out, file.s, file.len, false);
            buf_printf(out, ":%u\n", line);
        } else {
            buf_puts(out, "  no line is recorded\n");
        }
    }
}

int command_where(const struct cli_options *o, const struct app_env *env)
{
    struct error err = {0};
    struct buf text;
    char wanted[NAME_BYTES];
    pid_t pid = 0;
    int code = EXIT_DONE;
    buf_init(&text, 0);
    wanted_name(wanted, sizeof wanted, o->rest[0]);
    int rc = local_target_find(&pid, o->target, o, env, &err);
    if (rc == 0)
        rc = local_read(&text, pid, put_code_places, wanted, &err);
    if (rc == 0 && text.len == 0)
        rc = error_set(&err, ERR_NOT_FOUND,
                       "%.200s is not loaded, or not a function: give MODULE:FUNCTION/ARITY, "
                       "MODULE:FUNCTION or MODULE",
                       o->rest[0]);
    if (rc == 0)
        code = output_put(&text);
    if (rc != 0)
        code = tell_error(&err);
    buf_clear(&text);
    return code;
}
