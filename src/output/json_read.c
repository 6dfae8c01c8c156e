/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Fields read back from the JSON that json_add_fields() wrote. */
#include <math.h>

#include "beamtop/output/json.h"

struct slice json_read_slice(struct arena *arena, const json_t *text)
{
    size_t len = json_string_length(text);
    return len == 0 ? (struct slice){0}
                    : (struct slice){arena_strndup(arena, json_string_value(text), len), len};
}

struct slice *json_read_texts(const json_t *array, struct arena *arena, size_t *n)
{
    *n = json_array_size(array);
    struct slice *texts = arena_alloc(arena, (*n + 1) * sizeof *texts);
    for (size_t i = 0; i < *n; i++)
        texts[i] = json_read_slice(arena, json_array_get(array, i));
    return texts;
}

static void read_field(const struct field *f, void *base, struct arena *arena, const json_t *object)
{
    void *at = (char *)base + f->offset;
    const json_t *v = json_object_get(object, f->key);
    const char *old = v ? NULL : field_old_key(f->key);
    if (old)
        v = json_object_get(object, old);
    switch (f->form) {
    case FIELD_SLICE:
        *(struct slice *)at = json_read_slice(arena, v);
        break;
    case FIELD_INT:
    case FIELD_MS:
    case FIELD_WALL_US:
    case FIELD_SIGNED:
        *(int64_t *)at = json_is_integer(v) ? json_integer_value(v) : -1;
        break;
    case FIELD_REAL:
    case FIELD_CPUS:
        *(double *)at = json_is_number(v) ? json_number_value(v) : (double)NAN;
        break;
    case FIELD_BOOL:
        *(bool *)at = json_is_true(v);
        break;
    case FIELD_SCHEDULER_KIND:
    case FIELD_CHARS:
    case FIELD_UNSIGNED:
    case FIELD_PID:
    case FIELD_MADE:
    case FIELD_NONE:
        break; /* in nothing that is read back */
    }
}

void json_read_fields(const struct field_list *list, void *base, struct arena *arena,
                      const json_t *object)
{
    for (size_t i = 0; i < list->n; i++)
        read_field(&list->fields[i], base, arena, object);
}

void *json_read_rows(const struct field_list *list, const json_t *array, size_t row_bytes,
                     struct arena *arena, size_t *n)
{
    *n = json_array_size(array);
    char *rows = arena_alloc(arena, (*n + 1) * row_bytes);
    for (size_t i = 0; i < *n; i++)
        json_read_fields(list, rows + i * row_bytes, arena, json_array_get(array, i));
    return rows;
}
