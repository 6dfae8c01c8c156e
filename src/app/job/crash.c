/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "crash.h"

#include <signal.h>
#include <stdatomic.h>

#include "beamtop/base/attr.h"

static const int fatal_signals[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGTRAP, SIGSYS};

/* The only global state: a signal handler cannot get it otherwise. */
static _Atomic(const struct tty_rescue *) protected_rescue;

static void on_fatal(int number)
{
    const struct tty_rescue *rescue = atomic_load(&protected_rescue);
    if (rescue)
        tty_rescue_now(rescue);
    /* SA_RESETHAND has restored the default: the program dies of the same signal. */
    raise(number);
}

void crash_protect(const struct tty_rescue *rescue)
{
    struct sigaction action;
    action = (struct sigaction){0};
    action.sa_handler = on_fatal;
    action.sa_flags = (int)SA_RESETHAND;
    atomic_store(&protected_rescue, rescue);
    for (size_t i = 0; i < ARRAY_LEN(fatal_signals); i++)
        if (rescue)
            sigaction(fatal_signals[i], &action, NULL);
        else
            signal(fatal_signals[i], SIG_DFL);
}
