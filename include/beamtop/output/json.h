/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the writers of JSON share. */
#ifndef BEAMTOP_OUTPUT_JSON_H
#define BEAMTOP_OUTPUT_JSON_H

#include <jansson.h>

#include "beamtop/output/fields.h"

struct session_check; /* beamtop/trace/status.h */

json_t *json_slice(struct slice text); /* null when empty */
json_t *json_texts(const struct slice *texts, size_t n);
json_t *json_known(int64_t v); /* null below zero */
json_t *json_number(double v); /* to six decimals; null when NaN or infinite */
json_t *json_section(const struct section *s);
void json_add_fields(json_t *object, const struct field_list *list, const void *row);
/* An array of objects of these. */
json_t *json_rows(const struct field_list *list, const void *rows, size_t n, size_t row_bytes);
/* Back from that, into the struct at base: missing, null or of another type is unknown. Texts are
 * copied. */
void json_read_fields(const struct field_list *list, void *base, struct arena *arena,
                      const json_t *object);
struct slice json_read_slice(struct arena *arena, const json_t *text); /* empty when it is none */
/* One line of the output; frees root. */
void json_put_line(struct buf *out, json_t *root);
void json_put_value(struct buf *out, json_t *v); /* the same without the end of the line */
void json_put_row(struct buf *out, const struct field_list *list, const void *row);
/* Whether anything of a session is left, and in which words. */
json_t *json_check(const struct session_check *check);

#endif
