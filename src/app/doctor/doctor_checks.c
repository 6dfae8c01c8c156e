/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What each check makes of the facts. */
#include "doctor.h"

#include "config.h"

#include <stdlib.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

#include "beamtop/base/attr.h"
#include "beamtop/base/text.h"
#include "app/cli/exit_code.h"
#include "app/source/nodes.h"
#include "beamtop/link/tls.h"
#include "beamtop/link/way.h"

#define OLDEST_OTP 23
#define NEWEST_OTP 29

void doctor_say(struct doctor_line *out, enum doctor_state state, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    out->state = state;
    vsnprintf(out->text, sizeof out->text, format, args);
    va_end(args);
}

/* An error's last sentences say what to do next: they stand behind the first full stop. */
void doctor_say_error(struct doctor_line *out, enum doctor_state state, const struct error *err)
{
    doctor_say(out, state, "%s", err->text);
    for (char *at = strstr(out->text, ". "); at; at = strstr(at + 1, ". ")) {
        if (!text_is_capital(at[2]))
            continue;
        snprintf(out->fix, sizeof out->fix, "%.511s", at + 2);
        *at = '\0';
        return;
    }
}

/* ---- the node */

static void say_alike(struct doctor_line *out, const char *name, const struct discover_vm *vm)
{
    doctor_say(out, DOCTOR_NOTE, "no VM of this host is called %.255s, but OS process %d is %.255s",
               name, (int)vm->pid, vm->node);
    snprintf(out->fix, sizeof out->fix, "If that one is meant: beamtop doctor %d", (int)vm->pid);
}

/* A VM of this host whose name has the same part before '@': the host is probably mistyped, or in
 * the other form. */
static const struct discover_vm *find_alike(const struct doctor_facts *f, const char *name)
{
    const size_t len = strcspn(name, "@") + 1;
    for (size_t i = 0; !f->vm && f->vms && !f->target.conn.way && i < f->vms->count; i++)
        if (f->vms->vms[i].pid != 0 && strncmp(f->vms->vms[i].node, name, len) == 0)
            return &f->vms->vms[i];
    return NULL;
}

static void check_name(const struct doctor_facts *f, struct doctor_line *out)
{
    const char *name = f->vm ? f->vm->node : f->target.name, *at = strchr(name, '@');
    const struct discover_vm *alike;
    const bool is_long = f->vm && f->vm->form != DISCOVER_UNKNOWN ? f->vm->form == DISCOVER_LONG
                                                                  : at && strchr(at, '.');
    if (f->no_target.code != ERR_NONE && f->far.n > 0)
        out->state = DOCTOR_NONE; /* the connection says it */
    else if (f->no_target.code != ERR_NONE && (!at || !f->vm))
        doctor_say_error(out, DOCTOR_FAIL, &f->no_target);
    else if ((alike = find_alike(f, name)))
        say_alike(out, name, alike);
    else if (!at)
        doctor_say(out, DOCTOR_OK, "%.255s: taken for one of this host", name);
    else
        doctor_say(out, DOCTOR_OK, "%.255s: %s names", name, is_long ? "long" : "short");
}

static void check_process(const struct doctor_facts *f, struct doctor_line *out)
{
    const struct discover_vm *vm = f->vm;
    char left[160];
    const char *note = f->target.conn.way ? f->target.conn.way->note : NULL;
    if (f->several.code != ERR_NONE)
        doctor_say_error(out, DOCTOR_NOTE, &f->several);
    else if (!vm && note)
        doctor_say(out, DOCTOR_NOTE, "%s", note);
    else if (!vm && f->no_target.code != ERR_NONE && text_is_number(f->asked))
        out->state = DOCTOR_NONE; /* the name's check says it */
    else if (!vm && f->vms && nodes_left_out(left, sizeof left, f->vms))
        doctor_say(out, DOCTOR_NOTE, "not found on this host. %s", left);
    else if (!vm)
        doctor_say(out, DOCTOR_OK, "not on this host: not checked from outside");
    else if (vm->pid == 0)
        doctor_say(out, DOCTOR_NOTE, "not visible: only epmd knows it");
    else
        doctor_say(out, DOCTOR_OK, "OS process %d of user %s%s%s%s", (int)vm->pid, vm->user,
                   vm->other_network ? ", other network namespace" : "",
                   vm->other_root ? ", other root directory" : "",
                   vm->other_users ? ", other user namespace" : "");
}

/* What holds a VM that was not opened. */
static void check_state(const struct doctor_facts *f, struct doctor_line *out)
{
    static const enum doctor_state states[] = {[OUTSIDE_PLAIN] = DOCTOR_OK,
                                               [OUTSIDE_DIM] = DOCTOR_OK,
                                               [OUTSIDE_WARN] = DOCTOR_NOTE,
                                               [OUTSIDE_ALARM] = DOCTOR_FAIL};
    out->state = DOCTOR_NONE;
    if (!f->seen.label)
        return;
    doctor_say(out, states[f->seen.mark], "%s", f->seen.text);
    if (out->state != DOCTOR_OK && f->seen.next[0] != '\0')
        snprintf(out->fix, sizeof out->fix, "Next: %s", f->seen.next);
}

static bool goes_local(const struct doctor_facts *f)
{
    return f->target.conn.way || f->target.conn.local.port != 0;
}

static void check_host(const struct doctor_facts *f, struct doctor_line *out)
{
    const char *at = strchr(f->target.name, '@');
    if (!at || f->no_target.code != ERR_NONE || (f->target.conn.way && !f->vm))
        out->state = DOCTOR_NONE;
    else if (f->addresses > 0 && strcmp(f->address, at + 1) == 0)
        doctor_say(out, DOCTOR_OK, "%s: an address", f->address);
    else if (f->addresses > 0)
        doctor_say(out, DOCTOR_OK, "%.255s is %s%s", at + 1, f->address,
                   f->addresses > 1 ? " and others" : "");
    else if (goes_local(f))
        doctor_say(out, DOCTOR_OK, "%.255s has no address: not needed, the VM is on this host",
                   at + 1);
    else
        doctor_say_error(out, DOCTOR_FAIL, &f->no_address);
}

static bool epmd_fails(const struct doctor_facts *f)
{
    return f->down.code != ERR_NONE &&
           (f->why == CONN_FAILED_NO_EPMD || f->why == CONN_FAILED_EPMD_SILENT ||
            f->why == CONN_FAILED_NOT_EPMD || f->why == CONN_FAILED_NO_NAME);
}

static void check_epmd(const struct doctor_facts *f, struct doctor_line *out)
{
    const struct discover_vm *vm = f->vm;
    if (f->no_target.code != ERR_NONE)
        out->state = DOCTOR_NONE;
    else if (epmd_fails(f))
        doctor_say_error(out, DOCTOR_FAIL, &f->down);
    else if (vm && vm->in_epmd)
        doctor_say(out, DOCTOR_OK, "knows it, on port %u", f->epmd_port);
    else if (vm && vm->port != 0)
        doctor_say(out, DOCTOR_OK, "not needed: the port is known from the VM's %s",
                   vm->address[0] ? "sockets" : "flags");
    else if (vm && vm->epmd_port != 0)
        doctor_say(out, DOCTOR_OK, "the VM's is on port %u", vm->epmd_port);
    else if (f->target.conn.port != 0)
        doctor_say(out, DOCTOR_OK, "not asked: a port was given");
    else
        doctor_say(out, f->up ? DOCTOR_OK : DOCTOR_NOTE, "%s",
                   f->up ? "knows it" : "not asked: see the connection");
}

static void check_port(const struct doctor_facts *f, struct doctor_line *out)
{
    const uint16_t port = f->target.conn.port != 0 ? f->target.conn.port : f->vm ? f->vm->port : 0;
    if (port != 0)
        doctor_say(out, DOCTOR_OK, "%u", port);
    else
        out->state = DOCTOR_NONE;
}

static void check_transport(const struct doctor_facts *f, struct doctor_line *out)
{
    const char *protocol = f->vm ? f->vm->dist_protocol : "", *note = f->tls_note;
    const bool is_tls = f->is_tls || (f->vm && discover_is_tls(f->vm));
    if (f->vm && f->vm->node[0] == '\0')
        out->state = DOCTOR_NONE;
    else if (is_tls && !tls_available())
        doctor_say(out, DOCTOR_FAIL, "TLS, and beamtop is built without OpenSSL");
    else if (is_tls && *note)
        doctor_say(out, DOCTOR_NOTE, "TLS. %.220s", note);
    else if (f->up || protocol[0] != '\0')
        doctor_say(out, DOCTOR_OK, "%s", is_tls ? "TLS" : "TCP");
    else
        out->state = DOCTOR_NONE;
}

static void say_open_file(struct doctor_line *out, const char *path)
{
    doctor_say(out, DOCTOR_NOTE,
               "from --cookie-file, which other users may use: Erlang refuses such a file");
    if (!strchr(path, '\''))
        snprintf(out->fix, sizeof out->fix, "Next: chmod 600 '%.400s'", path);
}

static void check_cookie(const struct doctor_facts *f, struct doctor_line *out)
{
    const enum cookie_origin origin = f->target.cookie.origin;
    const char *place = f->vm && origin == COOKIE_DISCOVERED ? nodes_cookie_word(f->vm) : "";
    const bool rejected = f->down.code != ERR_NONE && f->why == CONN_FAILED_COOKIE;
    if (f->no_target.code != ERR_NONE)
        out->state = DOCTOR_NONE;
    else if (!f->target.conn.cookie)
        doctor_say_error(out, DOCTOR_FAIL, &f->target.no_cookie);
    else
        doctor_say(out, rejected ? DOCTOR_FAIL : DOCTOR_OK, "from %s%s%s",
                   *place ? "the VM's " : "", *place ? place : cookie_origin_text(origin),
                   rejected ? ": not this node's" : "");
    if (rejected)
        snprintf(out->fix, sizeof out->fix, "Give it with --cookie-file FILE or BEAMTOP_COOKIE");
    else if (out->state == DOCTOR_OK && f->open_file)
        say_open_file(out, f->open_file);
}

static void check_connection(const struct doctor_facts *f, struct doctor_line *out)
{
    const struct conn_way *way = f->target.conn.way;
    if (f->up)
        doctor_say(out, DOCTOR_OK, "to %.255s as %.255s%s%.200s", f->peer, f->own,
                   way ? ", by " : "", way ? way->text : "");
    else if (f->down.code != ERR_NONE)
        doctor_say_error(out, DOCTOR_FAIL, &f->down);
    else
        doctor_say_error(out, DOCTOR_FAIL, &f->no_target);
}

/* ---- versions */

static void check_otp(const struct doctor_facts *f, struct doctor_line *out)
{
    const int release = f->vm ? atoi(f->vm->otp) : 0;
    if (release == 0)
        out->state = DOCTOR_NONE;
    else if (release < OLDEST_OTP)
        doctor_say(out, DOCTOR_FAIL, "%s: beamtop needs %d or later", f->vm->otp, OLDEST_OTP);
    else
        doctor_say(out, release > NEWEST_OTP ? DOCTOR_NOTE : DOCTOR_OK, "%s%s", f->vm->otp,
                   release > NEWEST_OTP ? ": newer than those that beamtop is tested with" : "");
}

static void check_beamtop(const struct doctor_facts *f, struct doctor_line *out)
{
    struct utsname kernel;
    (void)f;
    const bool known = uname(&kernel) == 0;
    doctor_say(out, DOCTOR_OK, "%s, %s %s, %s", PACKAGE_VERSION, known ? kernel.sysname : "unknown",
               known ? kernel.release : "kernel", known ? kernel.machine : "unknown machine");
}

/* ---- rights */

static bool is_visible(const struct doctor_facts *f)
{
    return f->vm && f->vm->pid != 0;
}

static void say_right(const struct doctor_facts *f, struct doctor_line *out,
                      const struct error *refused, const char *allowed)
{
    if (!is_visible(f))
        out->state = DOCTOR_NONE;
    else if (refused->code != ERR_NONE)
        doctor_say_error(out, DOCTOR_NOTE, refused);
    else
        doctor_say(out, DOCTOR_OK, "%s", allowed);
}

static void check_namespace(const struct doctor_facts *f, struct doctor_line *out)
{
    if (!is_visible(f) || !f->vm->other_network)
        out->state = DOCTOR_NONE;
    else
        say_right(f, out, &f->no_entry, "its network namespace can be entered");
}

static void check_sample(const struct doctor_facts *f, struct doctor_line *out)
{
    say_right(f, out, &f->ladder.stacks, "sample, blame: samples with stacks");
}

static void check_pstack(const struct doctor_facts *f, struct doctor_line *out)
{
    say_right(f, out, &f->ladder.memory, "pstack, where: its memory can be read");
}

static void check_cpus(const struct doctor_facts *f, struct doctor_line *out)
{
    say_right(f, out, &f->ladder.times, "CPU time of each thread");
}

/* ---- all of them */

static const struct {
    const char *word;
    void (*check)(const struct doctor_facts *f, struct doctor_line *out);
} checks[] = {
    {"name", check_name},
    {"process", check_process},
    {"state", check_state},
    {"host", check_host},
    {"epmd", check_epmd},
    {"port", check_port},
    {"transport", check_transport},
    {"cookie", check_cookie},
    {"namespace", check_namespace},
    {"connection", check_connection},
    {"otp", check_otp},
    {"beamtop", check_beamtop},
    {"sample", check_sample},
    {"pstack", check_pstack},
    {"threads", check_cpus},
};
_Static_assert(ARRAY_LEN(checks) + DOCTOR_FAR_CHECKS == DOCTOR_CHECKS, "room for each check");

size_t doctor_check(struct doctor_line out[DOCTOR_CHECKS], const struct doctor_facts *f)
{
    size_t n = f->far.n;
    memcpy(out, f->far.lines, n * sizeof *out);
    for (size_t i = 0; i < ARRAY_LEN(checks); i++) {
        out[n] = (struct doctor_line){.check = checks[i].word};
        checks[i].check(f, &out[n]);
        n += out[n].state != DOCTOR_NONE;
    }
    return n;
}

const char *doctor_state_word(enum doctor_state state)
{
    static const char *const words[] = {
        [DOCTOR_OK] = "ok", [DOCTOR_NOTE] = "note", [DOCTOR_FAIL] = "fail", [DOCTOR_NONE] = ""};
    return words[state];
}

int doctor_exit_code(const struct doctor_facts *f)
{
    if (f->up)
        return EXIT_DONE;
    return f->no_target.code != ERR_NONE ? exit_code_of_error(f->no_target.code) : EXIT_CONNECT;
}
