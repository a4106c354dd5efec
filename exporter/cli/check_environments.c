/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/cli/check_environments.h"

#include "metrics/base/shown.h"

void environments_release(struct environments *e)
{
    for (size_t i = 0; i < e->count; i++) {
        free(e->items[i].name);
        text_list_release(&e->items[i].paths);
    }
    free(e->items);
    *e = (struct environments){NULL, 0};
}

static bool is_dns_label(const char *name)
{
    size_t len = strlen(name);

    return len > 0 && len <= ENVIRONMENT_NAME_MAX &&
           strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-") == len && name[0] != '-' &&
           name[len - 1] != '-';
}

static bool add_paths(struct environment *e, const char *paths)
{
    for (size_t len; *paths; paths += len + (paths[len] == ',')) {
        len = strcspn(paths, ",");
        if (len == 0)
            return false;

        CLEANUP(free_cleanup) char *path = xmemdup0(paths, len);

        text_list_add(&e->paths, path);
    }
    return e->paths.count > 0;
}

static bool parse_value(const char *value, struct environments *out, struct error *err)
{
    const char *equals = strchr(value, '=');
    struct environment *e = &out->items[out->count];

    if (!equals)
        return fail(err, "'%s': write NAME=PATH[,PATH]", shown(value).text);
    *e = (struct environment){.name = xmemdup0(value, (size_t)(equals - value))};
    out->count++;
    if (!is_dns_label(e->name))
        return fail(err,
                    "'%s' is no name: use at most %d lower-case letters, digits and hyphens, with "
                    "no hyphen at an end",
                    shown(e->name).text, ENVIRONMENT_NAME_MAX);
    if (!add_paths(e, equals + 1))
        return fail(err, "'%s': a PATH is empty; write NAME=PATH[,PATH]", shown(value).text);
    for (size_t i = 0; i + 1 < out->count; i++) {
        if (strcmp(out->items[i].name, e->name) == 0)
            return fail(err, "'%s' is set twice: list its PATHs in one value", e->name);
    }
    return true;
}

bool environments_parse(const struct text_list *values, struct environments *out, struct error *err)
{
    *out = (struct environments){.items = xcalloc(values->count + 1, sizeof(*out->items))};
    if (values->count > ENVIRONMENTS_MAX)
        return fail(err, "more than %d environments", ENVIRONMENTS_MAX);
    for (size_t i = 0; i < values->count; i++) {
        if (!parse_value(values->items[i], out, err))
            return false;
    }
    if (out->count == 0)
        out->items[out->count++] = (struct environment){.name = xstrdup("")};
    return true;
}
