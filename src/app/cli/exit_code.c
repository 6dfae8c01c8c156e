/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "exit_code.h"

int exit_code_of_error(enum err code)
{
    return code == ERR_USAGE     ? EXIT_USAGE
           : code == ERR_CONNECT ? EXIT_CONNECT
           : code == ERR_LOST    ? EXIT_LOST
           : code == ERR_REFUSED ? EXIT_REFUSED
                                 : EXIT_FAILED;
}
