/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/rules/admission/admission.h"
#include "tests/conformance/conformance.h"

/* Vectors of admission: `policy` as a user writes it, `allowed`, refused `fields`, `stored` spec.
 */

enum { FIELDS_MAX = 64 };

/* Different paths without the positions in lists, as the vectors have them. */
struct paths {
    char items[FIELDS_MAX][256];
    size_t count;
};

static void add_path(struct paths *paths, const char *field)
{
    char *out = paths->items[paths->count];
    size_t len = 0;

    for (const char *c = field; *c && len < sizeof(paths->items[0]) - 1; c++) {
        if (*c < '0' || *c > '9' || c == field || !strchr("[0123456789", c[-1]) ||
            !memchr(field, '[', (size_t)(c - field)))
            out[len++] = *c;
    }
    out[len] = '\0';
    for (size_t i = 0; i < paths->count; i++) {
        if (strcmp(paths->items[i], out) == 0)
            return;
    }
    paths->count += paths->count + 1 < FIELDS_MAX;
}

/* Karmada doubles the last part of this path. */
static const char doubled_path[] = "spec.suspension.suspension";

static bool has_path(const cJSON *expected, const char *path)
{
    const cJSON *item;

    if (strcmp(path, "spec.suspension") == 0)
        path = doubled_path;
    cJSON_ArrayForEach (item, expected) {
        if (cJSON_IsString(item) && strcmp(item->valuestring, path) == 0)
            return true;
    }
    return false;
}

/* Compares the refused fields; appends both lists if they differ. */
static bool fields_agree(const struct admission *a, enum release release, const cJSON *expected,
                         struct strbuf *why)
{
    struct paths paths = {.count = 0};
    bool agree;

    for (uint32_t i = 0; a && i < a->count; i++) {
        if (!a->items[i].pruned && (a->items[i].releases & 1U << release))
            add_path(&paths, a->items[i].field);
    }
    agree = (size_t)cJSON_GetArraySize(expected) == paths.count;
    for (size_t i = 0; i < paths.count; i++)
        agree = agree && has_path(expected, paths.items[i]);
    if (agree)
        return true;
    char *text = cJSON_PrintUnformatted(expected);

    strbuf_addf(why, "refused fields: expected %s, actual", text);
    cJSON_free(text);
    for (size_t i = 0; i < paths.count; i++)
        strbuf_addf(why, " %s", paths.items[i]);
    return false;
}

/* Compares the stored spec; appends both if they differ. */
static bool stored_agrees(const cJSON *policy, enum release release, const cJSON *expected,
                          struct strbuf *why)
{
    cJSON *stored = admission_make_stored(policy, release);
    bool agree = cJSON_Compare(json_get(stored, "spec"), expected, true);

    if (!agree) {
        char *wanted = cJSON_PrintUnformatted(expected);
        char *actual = cJSON_PrintUnformatted(json_get(stored, "spec"));

        strbuf_addf(why, "stored: expected %s, actual %s", wanted, actual);
        cJSON_free(wanted);
        cJSON_free(actual);
    }
    cJSON_Delete(stored);
    return agree;
}

enum verdict judge_admission(const cJSON *vector, enum release release, struct strbuf *why)
{
    const cJSON *policy = json_get(vector, "policy"), *expect = json_get(vector, "expect");
    struct admission *a = admission_review(policy);
    struct release_range range = {release, release, RELEASE_GIVEN, true};
    bool allowed = admission_refuses(a, range) == RELEASE_ANSWER_NO;
    bool right = fields_agree(a, release, json_get(expect, "fields"), why);

    if (allowed != json_bool(expect, "allowed", false)) {
        strbuf_addf(why, "allowed: actual %s", allowed ? "true" : "false");
        right = false;
    }
    if (right && allowed)
        right = stored_agrees(policy, release, json_get(expect, "stored"), why);
    free(a);
    return right ? VERDICT_RIGHT : VERDICT_WRONG;
}
