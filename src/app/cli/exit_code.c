/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "exit_code.h"

int exit_code_of_error(enum err code)
{
    switch (code) {
    case ERR_USAGE:
        return EXIT_USAGE;
    case ERR_CONNECT:
        return EXIT_CONNECT;
    case ERR_LOST:
        return EXIT_LOST;
    case ERR_REFUSED:
        return EXIT_REFUSED;
    case ERR_NONE:
    case ERR_FORMAT:
    case ERR_LIMIT:
    case ERR_SYSTEM:
    case ERR_TIMEOUT:
    case ERR_TARGET:
    case ERR_NOT_FOUND:
    case ERR_CANCELLED:
        break;
    }
    return EXIT_FAILED;
}
