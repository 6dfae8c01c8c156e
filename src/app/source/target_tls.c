/* SPDX-License-Identifier: GPL-3.0-or-later */
/* TLS of a target: what the command line says, else the environment, the configuration, its VM on
 * this host. */
#include <string.h>

#include "beamtop/ui/tls_lines.h"
#include "target.h"

#define IN_ENVIRONMENT "the environment (BEAMTOP_TLS_...)"

static bool files_given(const struct cli_options *o)
{
    return o->tls_cacert || o->tls_cert || o->tls_key || o->tls_key_password_file || o->tls_crl ||
           o->tls_verify;
}

static int set_verify(struct tls_files *files, const char *word, struct error *err)
{
    if (!word || tls_verify_of(word, &files->verify))
        return 0;
    return error_set(err, ERR_USAGE, "--tls-verify takes none, ca or full, not “%.100s”", word);
}

static int use_options(struct target *t, const struct cli_options *o, const struct app_env *env,
                       struct error *err)
{
    const bool pair = o->tls_cert || o->tls_key; /* of the options, not of two places */
    struct tls_files files = {.cacert = o->tls_cacert ? o->tls_cacert : env->tls_cacert,
                              .cert = pair ? o->tls_cert : env->tls_cert,
                              .key = pair ? o->tls_key : env->tls_key,
                              .password = env->tls_key_password,
                              .password_file = o->tls_key_password_file,
                              .crl = o->tls_crl,
                              .place = files_given(o) ? NULL : IN_ENVIRONMENT};
    const int rc = set_verify(&files, o->tls_verify, err);
    if (rc == 0)
        t->tls = tls_source_files(&files);
    return rc;
}

/* The configuration's line for the node; NULL: none. ERR_USAGE: some line is invalid, which may be
 * the one that is meant. */
static int find_line(const struct tls_line **out, const struct target *t, const struct app_env *env,
                     struct error *err)
{
    struct name full;
    *out = NULL;
    if (!env->tls_lines || !target_full_name(&full, t))
        return 0;
    if (env->tls_lines->invalid.code != ERR_NONE) {
        *err = env->tls_lines->invalid;
        return ERR_USAGE;
    }
    *out = tls_lines_find(env->tls_lines, full.full);
    return 0;
}

static bool line_uses(const struct tls_line *line, const char *word)
{
    return line && line->values[TLS_WORD_USE] && strcmp(line->values[TLS_WORD_USE], word) == 0;
}

static int use_line(struct target *t, const struct tls_line *line, const struct app_env *env,
                    struct error *err)
{
    char *const *v = line->values;
    struct tls_files files = {.cacert = v[TLS_WORD_CACERT],
                              .cert = v[TLS_WORD_CERT],
                              .key = v[TLS_WORD_KEY],
                              .password = env->tls_key_password,
                              .password_file = v[TLS_WORD_KEY_PASSWORD_FILE],
                              .crl = v[TLS_WORD_CRL],
                              .place = line->place};
    const bool named = files.cacert || files.cert || files.crl || v[TLS_WORD_VERIFY];
    const int rc = set_verify(&files, v[TLS_WORD_VERIFY], err);
    if (rc == 0 && named)
        t->tls = tls_source_files(&files);
    return rc;
}

int target_set_tls(struct target *t, const struct cli_options *o, const struct app_env *env,
                   const struct discover_vm *vm, struct error *err)
{
    const struct discover_options options = {0};
    const bool given = files_given(o);
    const bool in_environment = tls_available() && (env->tls_cacert || env->tls_cert);
    const bool by_flags = vm && vm->pid != 0 && discover_is_tls(vm);
    const struct tls_line *line = NULL;
    struct tls_context *none = NULL;
    int rc = 0;
    if (o->no_tls && (o->tls || given))
        return error_set(err, ERR_USAGE, "--no-tls does not go with --tls or an option --tls-…");
    if ((o->tls || given) && !tls_available())
        return tls_context_new(&none, &(struct tls_material){0}, "TLS", err);
    if (given || (in_environment && !o->no_tls))
        rc = use_options(t, o, env, err);
    else if (!o->no_tls)
        rc = find_line(&line, t, env, err);
    if (rc == 0 && line)
        rc = use_line(t, line, env, err);
    const bool never = o->no_tls || (line_uses(line, "never") && !o->tls);
    const bool always = o->tls || given || by_flags || line_uses(line, "always");
    if (by_flags && !t->tls && !never && tls_available())
        t->tls = discover_tls(vm, &options);
    t->conn.tls = never ? TLS_NEVER : always ? TLS_ALWAYS : TLS_FIND_OUT;
    t->conn.tls_source = t->tls;
    return rc;
}
