/* What the forms of counted calls share. */
#ifndef BEAMTOP_STORE_CALLS_INTERNAL_H
#define BEAMTOP_STORE_CALLS_INTERNAL_H

#include "beamtop/store/calls_sink.h"
#include "internal.h"

extern const struct field_list calls_window_fields, calls_cost_fields, calls_function_fields,
    calls_module_fields, calls_application_fields;

void calls_text_put(struct buf *out, const struct calls_window *w, enum print_syntax syntax,
                    bool ascii);

#endif
