/* SPDX-License-Identifier: GPL-3.0-or-later */
/* TLS of a target: what the command line says, else what its VM says on this host. */
#include <string.h>

#include "target.h"

static bool files_given(const struct cli_options *o)
{
    return o->tls_cacert || o->tls_cert || o->tls_key || o->tls_key_password_file || o->tls_verify;
}

static int load_files(struct target *t, const struct cli_options *o, const struct app_env *env,
                      struct error *err)
{
    struct tls_files files = {.cacert = o->tls_cacert,
                              .cert = o->tls_cert,
                              .key = o->tls_key,
                              .password = env->tls_key_password,
                              .password_file = o->tls_key_password_file};
    if (o->tls_verify && !tls_verify_of(o->tls_verify, &files.verify))
        return error_set(err, ERR_USAGE, "--tls-verify takes none, ca or full, not “%.100s”",
                         o->tls_verify);
    return tls_context_load(&t->tls, &files, err);
}

int target_set_tls(struct target *t, const struct cli_options *o, const struct app_env *env,
                   const struct discover_vm *vm, struct error *err)
{
    const bool given = files_given(o);
    int rc = 0;
    if (o->no_tls && (o->tls || given))
        return error_set(err, ERR_USAGE, "--no-tls does not go with --tls or an option --tls-…");
    if (given)
        rc = load_files(t, o, env, err);
    else if (o->tls && !tls_available())
        rc = tls_context_load(&t->tls, &(struct tls_files){0}, err);
    const bool by_flags = vm && discover_is_tls(vm);
    t->conn.tls = o->no_tls ? TLS_NEVER : o->tls || given || by_flags ? TLS_ALWAYS : TLS_FIND_OUT;
    t->conn.tls_context = t->tls;
    t->conn.tls_note = t->tls_note;
    return rc;
}
