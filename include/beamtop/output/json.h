/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the writers of JSON share. */
#ifndef BEAMTOP_OUTPUT_JSON_H
#define BEAMTOP_OUTPUT_JSON_H

#include <jansson.h>

#include "beamtop/output/fields.h"

struct session_check; /* beamtop/trace/status.h */

json_t *json_slice(struct slice text); /* null when empty */
json_t *json_chars(const char *text);  /* the same */
json_t *json_texts(const struct slice *texts, size_t n);
json_t *json_known(int64_t v); /* null below zero */
json_t *json_number(double v); /* to six decimals; null when NaN or infinite */
void json_add_fields(json_t *object, const struct field_list *list, const void *row);
/* An object of these, an array of such objects. */
json_t *json_row(const struct field_list *list, const void *row);
json_t *json_rows(const struct field_list *list, const void *rows, size_t n, size_t row_bytes);
/* Back from that, into the struct at base: missing, null or of another type is unknown. Texts are
 * copied. Rows are of the arena, zeroed but for their fields. */
void json_read_fields(const struct field_list *list, void *base, struct arena *arena,
                      const json_t *object);
void *json_read_rows(const struct field_list *list, const json_t *array, size_t row_bytes,
                     struct arena *arena, size_t *n);
struct slice json_read_slice(struct arena *arena, const json_t *text); /* empty when it is none */
struct slice *json_read_texts(const json_t *array, struct arena *arena, size_t *n);
/* One line of the output; frees root. */
void json_put_line(struct buf *out, json_t *root);
void json_put_value(struct buf *out, json_t *v); /* the same without the end of the line */
void json_put_row(struct buf *out, const struct field_list *list, const void *row);
/* The i-th of an array that is written in pieces. */
void json_put_item(struct sink_pieces *out, size_t i, const struct field_list *list,
                   const void *row);
/* Whether anything of a session is left, and in which words. */
json_t *json_check(const struct session_check *check);

#endif
