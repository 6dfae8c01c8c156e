/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"
#include "local/image/image_name.h"
#include "beamtop/local/machine.h"
#if defined HAVE_ELFUTILS && defined MACHINE_IS_SAMPLED

#include <ctype.h>
#include <libiberty/demangle.h>
#include <setjmp.h>
#include <signal.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "beamtop/base/limits.h"

#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id _sigev_un._tid
#endif

enum { MAX_NS = 10 * 1000 * 1000, TIMER_SIGNAL = SIGVTALRM, BINDER_DIGITS = 1 };

enum { FULL = 1, TOO_LONG };

typedef int demangler(const char *name, int options, demangle_callbackref piece, void *arg);

/*
 * A name of 100 bytes can stand for one of 2^30, and libiberty has no bound: what gives it the
 * pieces leaves it in the middle. What that may lose is one identifier of Rust in punycode. Another
 * one is searched for hours before it has a first piece: it is left by a signal, but never where
 * the demangler may allocate. */
struct pieces {
    char text[LIMIT_SYMBOL_BYTES];
    size_t len;
    sigjmp_buf out;
    timer_t timer;
    sigset_t signal, before;
};

static void take_piece(const char *bytes, size_t len, void *arg)
{
    struct pieces *p = arg;
    size_t room = sizeof p->text - p->len, take = len < room ? len : room;
    memcpy(p->text + p->len, bytes, take);
    p->len += take;
    if (take < len)
        siglongjmp(p->out, FULL);
}

/* ---- its bound: a timer of this thread's CPU time */

/* The VM's user may send the signal too: what comes with it is not looked at. NULL: no name is
 * being demangled. */
static _Thread_local struct pieces *volatile bounded;

static void on_name_timer(int signal)
{
    (void)signal;
    if (bounded)
        siglongjmp(bounded->out, TOO_LONG);
}

static bool bound_begin(struct pieces *p)
{
    struct sigaction action = {.sa_handler = on_name_timer, .sa_flags = SA_RESTART};
    struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = TIMER_SIGNAL};
    event.sigev_notify_thread_id = gettid();
    sigemptyset(&action.sa_mask);
    sigemptyset(&p->signal);
    sigaddset(&p->signal, TIMER_SIGNAL);
    if (sigaction(TIMER_SIGNAL, &action, NULL) != 0 ||
        timer_create(CLOCK_THREAD_CPUTIME_ID, &event, &p->timer) != 0)
        return false;
    pthread_sigmask(SIG_BLOCK, &p->signal, &p->before);
    bounded = p;
    return true;
}

/* A pending signal would interrupt the next name. */
static void bound_end(struct pieces *p)
{
    const struct timespec at_once = {0};
    pthread_sigmask(SIG_BLOCK, &p->signal, NULL);
    bounded = NULL;
    timer_delete(p->timer);
    while (sigtimedwait(&p->signal, NULL, &at_once) > 0)
        continue;
    pthread_sigmask(SIG_SETMASK, &p->before, NULL);
}

/* ---- names */

/* An identifier of Rust in punycode has `u` and its length; so do many other names. */
static bool may_allocate(const char *name)
{
    while ((name = strchr(name, 'u')) && !isdigit((unsigned char)*++name))
        continue;
    return name != NULL;
}

/* A number of lifetimes of Rust, in base 62: they are counted one by one, also where nothing is
 * written. A real one has one digit. */
static bool may_count_long(const char *name)
{
    while ((name = strchr(name, 'G'))) {
        const size_t digits = strspn(++name, "0123456789abcdefghijklmnopqrstuvwxyz"
                                             "ABCDEFGHIJKLMNOPQRSTUVWXYZ");
        if (digits > BINDER_DIGITS && name[digits] == '_')
            return true;
    }
    return false;
}

static bool demangle_freely(struct pieces *p, demangler *demangle, const char *name)
{
    p->len = 0;
    if (sigsetjmp(p->out, 0) != 0)
        return true; /* truncated */
    return demangle(name, DMGL_NO_OPTS, take_piece, p) != 0;
}

static bool demangle_in_time(struct pieces *p, demangler *demangle, const char *name,
                             unsigned *slow)
{
    const struct itimerspec most = {.it_value.tv_nsec = MAX_NS};
    bool done = false;
    p->len = 0;
    if (!bound_begin(p))
        return false;
    switch (sigsetjmp(p->out, 0)) {
    case 0:
        timer_settime(p->timer, 0, &most, NULL);
        pthread_sigmask(SIG_UNBLOCK, &p->signal, NULL);
        done = demangle(name, DMGL_NO_OPTS, take_piece, p) != 0;
        break;
    case FULL:
        done = true; /* truncated */
        break;
    default:
        --*slow;
        done = false;
        break;
    }
    bound_end(p);
    return done;
}

static bool demangle_rust(struct pieces *p, const char *name, unsigned *slow)
{
    if (!may_allocate(name))
        return demangle_in_time(p, rust_demangle_callback, name, slow);
    return !may_count_long(name) && demangle_freely(p, rust_demangle_callback, name);
}

static bool demangle_name(struct pieces *p, const char *name, unsigned *slow)
{
    return demangle_rust(p, name, slow) ||
           (*slow > 0 && demangle_in_time(p, cplus_demangle_v3_callback, name, slow));
}

struct slice image_demangle(struct arena *arena, const char *name, unsigned *slow)
{
    struct pieces p;
    struct slice all = {name, strnlen(name, LIMIT_SYMBOL_BYTES)};
    p.len = 0;
    if (name[0] == '_' && all.len<LIMIT_SYMBOL_BYTES && * slow> 0 &&
        demangle_name(&p, name, slow) && p.len > 0)
        all = (struct slice){p.text, p.len};
    return slice_keep(arena, all);
}

#endif
