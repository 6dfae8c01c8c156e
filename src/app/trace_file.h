/* `beamtop trace FILE`: the traces of a recording, printed as they were live. */
#ifndef BEAMTOP_APP_TRACE_FILE_H
#define BEAMTOP_APP_TRACE_FILE_H

#include "cli.h"

int trace_file_print(const struct cli_options *o, const struct app_env *env); /* the exit code */

#endif
