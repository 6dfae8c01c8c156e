/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The nearest supervisors of processes: what is known of the processes above them, and what must be
 * asked next. Bounded. Pure: no clock, no connection. */
#ifndef BEAMTOP_QUERY_WHO_ABOVE_H
#define BEAMTOP_QUERY_WHO_ABOVE_H

#include "who_terms.h"

struct who_above;

struct who_above *who_above_new(const struct who_node *node); /* borrowed */
void who_above_free(struct who_above *a);
void who_above_forget(struct who_above *a); /* everything, and what is to be asked */

enum who_found { WHO_FOUND, WHO_NONE, WHO_TO_ASK };
/* `ancestors`: the list of WHO_ANCESTORS, for WHO_BY_KEYS only. *name: a term, until what is known
 * is forgotten. WHO_TO_ASK: again when all was asked. */
enum who_found who_above_find(struct who_above *a, const struct etf_pid *pid,
                              struct slice ancestors, struct slice *name);

/* The next ask; false: there is none. Its answer, or that it failed, comes before the one after. */
bool who_above_call(struct who_above *a, struct native_call *call);
bool who_above_take(struct who_above *a, struct slice value, double *us); /* false: other form */
void who_above_fail(struct who_above *a);

#endif
