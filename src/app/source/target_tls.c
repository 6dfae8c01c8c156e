/* SPDX-License-Identifier: GPL-3.0-or-later */
/* TLS of a target: what the command line says, else what its VM says on this host. */
#include <stdio.h>

#include "target.h"

static bool files_given(const struct cli_options *o)
{
    return o->tls_cacert || o->tls_cert || o->tls_key || o->tls_key_password_file || o->tls_verify;
}

static int load_files(struct target *t, const struct cli_options *o, const struct app_env *env,
                      struct error *err)
{
    const bool pair = o->tls_cert || o->tls_key; /* of the options, not of two places */
    struct tls_files files = {.cacert = o->tls_cacert ? o->tls_cacert : env->tls_cacert,
                              .cert = pair ? o->tls_cert : env->tls_cert,
                              .key = pair ? o->tls_key : env->tls_key,
                              .password = env->tls_key_password,
                              .password_file = o->tls_key_password_file};
    if (o->tls_verify && !tls_verify_of(o->tls_verify, &files.verify))
        return error_set(err, ERR_USAGE, "--tls-verify takes none, ca or full, not “%.100s”",
                         o->tls_verify);
    return tls_context_load(&t->tls, &files, err);
}

static void take_of_node(struct target *t, const struct discover_vm *vm)
{
    const struct discover_options options = {0};
    struct error why = {0};
    if (discover_tls(&t->tls, vm, &options, &why) != 0)
        snprintf(t->tls_note, sizeof t->tls_note, "The node's own TLS options are not used: %.200s",
                 why.text);
}

int target_set_tls(struct target *t, const struct cli_options *o, const struct app_env *env,
                   const struct discover_vm *vm, struct error *err)
{
    const bool given = files_given(o);
    const bool in_environment = tls_available() && (env->tls_cacert || env->tls_cert);
    int rc = 0;
    if (o->no_tls && (o->tls || given))
        return error_set(err, ERR_USAGE, "--no-tls does not go with --tls or an option --tls-…");
    if (given || (in_environment && !o->no_tls))
        rc = load_files(t, o, env, err);
    else if (o->tls && !tls_available())
        rc = tls_context_load(&t->tls, &(struct tls_files){0}, err);
    const bool by_flags = vm && discover_is_tls(vm);
    if (by_flags && !t->tls && !o->no_tls && tls_available())
        take_of_node(t, vm);
    t->conn.tls = o->no_tls ? TLS_NEVER : o->tls || given || by_flags ? TLS_ALWAYS : TLS_FIND_OUT;
    t->conn.tls_context = t->tls;
    t->conn.tls_note = t->tls_note;
    return rc;
}
