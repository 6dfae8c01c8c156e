/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The exit codes of every command; documented in man/beamtop.1. */
#ifndef BEAMTOP_APP_CLI_EXIT_CODE_H
#define BEAMTOP_APP_CLI_EXIT_CODE_H

#include "beamtop/base/error.h"

enum exit_code {
    EXIT_DONE = 0,
    EXIT_FAILED = 1,
    EXIT_USAGE = 2,
    EXIT_CONNECT = 3,
    EXIT_LOST = 4,
    EXIT_REFUSED = 5,
};

int exit_code_of_error(enum err code);

#endif
