/* What a person does with a trace. */
#include "tui_trace_internal.h"

bool tui_trace_act(struct tui_trace *tr, enum action action, const char *arg)
{
    (void)tr; (void)action; (void)arg;
    return false;
}
