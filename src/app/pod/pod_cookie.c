/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "pod_cookie.h"

#include <string.h>

#include "app/way/way_run.h"
#include "beamtop/base/attr.h"

/* Run by a shell there, with the node's name as its argument. The root of the VM counts: it is in
   another one where its container is not this one. A pipe or a file without an end, named as the
   cookie's, would keep a shell there for ever. */
#define LOOK                                                                                       \
    "exec 2>/dev/null; ulimit -t 5\n"                                                              \
    "words() { tr '\\0' '\\n' <\"$1\"; }\n"                                                        \
    "IFS='\n'\n"                                                                                   \
    "n=$1 u=; set -- /proc/[0-9]*; set -f\n"                                                       \
    "for p; do\n"                                                                                  \
    "  c= h= r= at= was=\n"                                                                        \
    "  for w in $(words \"$p/cmdline\"); do\n"                                                     \
    "    [ \"$at$was\" ] || case $w in *beam|*beam.smp) ;; *) break ;; esac\n"                     \
    "    case $was in -setcookie) c=$w ;; -name|-sname) at=${w%%@*} ;; esac\n"                     \
    "    was=$w\n"                                                                                 \
    "  done\n"                                                                                     \
    "  [ \"$was\" ] && { [ -z \"$at\" ] || [ \"$at\" = \"$n\" ]; } || continue\n"                  \
    "  for w in $([ \"$c\" ] || words \"$p/environ\"); do\n"                                       \
    "    case $w in HOME=*) h=${w#*=} ;; RELEASE_COOKIE=*) r=${w#*=} ;; esac\n"                    \
    "  done\n"                                                                                     \
    "  f=$p/root$h/.erlang.cookie\n"                                                               \
    "  [ \"$c\" ] || ! [ -f \"$f\" ] || { read -r c <\"$f\"; }\n"                                  \
    "  c=${c:-$r}\n"                                                                               \
    "  [ \"$at\" ] || { u=${u:-$c}; continue; }\n"                                                 \
    "  [ -z \"$c\" ] || { printf '" POD_COOKIE_LINE "%s\\n' \"$c\"; exit; }\n"                     \
    "done\n"                                                                                       \
    "[ -z \"$u\" ] || printf '" POD_COOKIE_LINE "%s\\n' \"$u\""

bool pod_cookie_is_sought(const struct cli_options *o, const struct app_env *env)
{
    return !o->cookie && !o->cookie_file && !o->cookies && !env->cookie;
}

bool pod_cookie(struct cookie *out, const struct way_url *url, unsigned timeout_ms)
{
    char node[sizeof url->node];
    const char *const by_shell[] = {"sh", "-c", LOOK, "beamtop", node};
    const char *const by_program[] = {WAY_DEBUG_PROGRAM, "relay", "cookie", node};
    const bool has_program = way_has_program(url);
    struct way_words words = {0};
    struct way_ran ran;
    struct error err = {0};
    memcpy(node, url->node, sizeof node);
    node[strcspn(node, "@")] = '\0';
    way_put_far(&words, url, has_program ? by_program : by_shell,
                has_program ? ARRAY_LEN(by_program) : ARRAY_LEN(by_shell));
    bool found = way_run(&words, timeout_ms, &ran, &err) == 0 && ran.code == 0;
    const char *line = found ? strstr(ran.printed, POD_COOKIE_LINE) : NULL;
    const char *text = line ? line + strlen(POD_COOKIE_LINE) : "";
    found = line && cookie_set(out, text, strcspn(text, "\r\n"), COOKIE_FAR, &err) == 0;
    explicit_bzero(ran.printed, sizeof ran.printed);
    return found;
}
