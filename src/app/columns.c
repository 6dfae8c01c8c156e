#include "columns.h"

#include <stdio.h>
#include <string.h>

#include "beamtop/base/buf.h"

static int unknown(struct error *err, const char *key, bool sortable)
{
    struct buf names;
    buf_init(&names, 0);
    for (int i = 0; i < proc_columns_len; i++)
        if (!sortable || proc_columns[i].sweep)
            buf_printf(&names, "%s%s", names.len ? ", " : "", proc_columns[i].key);
    error_set(err, ERR_USAGE, "%s “%s”; there are: %s",
              sortable ? "processes cannot be ranked by" : "there is no column", key,
              buf_cstr(&names));
    buf_clear(&names);
    return err->code;
}

int columns_choose(struct column_choice *out, const char *list, struct error *err)
{
    out->n = 0;
    if (!list || !*list) {
        for (int i = 0; i < proc_columns_len && out->n < COLUMNS_MOST; i++)
            if (proc_columns[i].is_default)
                out->columns[out->n++] = &proc_columns[i];
        return 0;
    }
    while (*list) {
        char key[64];
        size_t len = strcspn(list, ",");
        snprintf(key, sizeof key, "%.*s", (int)len, list);
        const struct proc_column *c = proc_column_find(key);
        if (!c)
            return unknown(err, key, false);
        if (out->n == COLUMNS_MOST)
            return error_set(err, ERR_USAGE, "more than %d columns", COLUMNS_MOST);
        out->columns[out->n++] = c;
        list += len;
        list += *list == ',';
    }
    return 0;
}

int columns_want(const struct column_choice *c, const struct cli_options *o,
                 struct want_scan *want, struct error *err)
{
    const struct proc_column *sort = proc_column_find(o->sort);
    if (!sort || !sort->sweep)
        return unknown(err, o->sort, true);
    *want = (struct want_scan){
        .sort_key = sort->key,
        .by_delta = sort->sweep_by_delta,
        .ascending = o->reverse,
        .rows = (int)o->rows,
        .items = sort->items,
        .own = o->own,
    };
    for (int i = 0; i < c->n; i++)
        want->items |= c->columns[i]->items;
    return 0;
}
