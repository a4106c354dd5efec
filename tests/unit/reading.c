/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/reading.h"

#include <setjmp.h>

#include <cmocka.h>

#include "metrics/base/number.h"

void reading_init(struct reading *r)
{
    *r = (struct reading){.strings = intern_new(1)};
    r->decode = (struct decode){.strings = r->strings, .err = &r->err};
}

void reading_release(struct reading *r)
{
    size_t held = intern_count(r->strings);

    intern_free(r->strings);
    assert_int_equal(held, 0);
}

cJSON *json_of(const char *text)
{
    CLEANUP(free_cleanup) char *json = xstrdup(text);
    struct error err;

    for (char *c = json; *c; c++) {
        if (*c == '\'')
            *c = '"';
    }

    cJSON *tree = json_parse(json, strlen(json), NULL, &err);

    if (!tree)
        fail_msg("%s: %s", err.text, text);
    return tree;
}

/*
 * Returns the next step of a path, a key or an index of a list, and advances the path. Returns NULL
 * at the end.
 */
static char *next_step(char **path)
{
    char *step = *path + strspn(*path, ".[]");
    size_t len = strcspn(step, ".[]");

    if (len == 0)
        return NULL;
    *path = step + len + (step[len] != '\0');
    step[len] = '\0';
    return step;
}

static cJSON *child_of(cJSON *json, const char *step)
{
    uint64_t index = 0;

    if (!cJSON_IsArray(json))
        return cJSON_GetObjectItemCaseSensitive(json, step);
    assert_true(parse_uint(step, INT32_MAX, &index));
    return cJSON_GetArrayItem(json, (int)index);
}

void json_put(cJSON *json, const char *path, cJSON *value)
{
    CLEANUP(free_cleanup) char *copy = xstrdup(path);
    char *rest = copy;
    char *step = next_step(&rest);

    for (char *next; (next = next_step(&rest)); step = next) {
        json = child_of(json, step);
        assert_non_null(json);
    }

    cJSON *old = child_of(json, step);

    if (old && cJSON_IsObject(json))
        assert_true(cJSON_ReplaceItemInObjectCaseSensitive(json, step, value));
    else if (old)
        assert_true(cJSON_ReplaceItemViaPointer(json, old, value));
    else
        assert_true(cJSON_AddItemToObject(json, step, value));
}

void assert_text(const char *actual, const char *expected)
{
    if (!actual || !expected)
        assert_string_equal(actual ? actual : "NULL", expected ? expected : "NULL");
    else
        assert_string_equal(actual, expected);
}
