/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/base/csv.h"

#include <cjson/cJSON.h>

enum { JOINED_MAX = 1024 * 1024 };

/*
 * Returns true if a spreadsheet may evaluate the text as a formula. White space can precede the
 * operator, and the operator can be a full-width character. Returns true also for every text that
 * begins with a tab or a line break.
 */
static bool may_be_formula(const char *text)
{
    static const char *const wide[] = {"\uff1d", "\uff0b", "\uff0d", "\uff20"};

    if (*text == '\t' || *text == '\r' || *text == '\n')
        return true;
    text += strspn(text, " \t\r\n");
    for (size_t i = 0; i < ARRAY_LEN(wide); i++) {
        if (strncmp(text, wide[i], strlen(wide[i])) == 0)
            return true;
    }
    return *text != '\0' && strchr("=+-@", *text);
}

static void add_text(struct strbuf *out, const char *text)
{
    bool guarded = may_be_formula(text);

    if (!guarded && !strpbrk(text, "\",\r\n")) {
        strbuf_adds(out, text);
        return;
    }
    strbuf_adds(out, guarded ? "\"'" : "\"");
    for (; *text; text++) {
        if (*text == '"')
            strbuf_addc(out, '"');
        strbuf_addc(out, *text);
    }
    strbuf_addc(out, '"');
}

static bool is_string_list(const cJSON *list)
{
    const cJSON *item;

    cJSON_ArrayForEach (item, list) {
        if (!cJSON_IsString(item))
            return false;
    }
    return cJSON_IsArray(list);
}

static void add_joined(struct strbuf *out, const cJSON *list)
{
    CLEANUP(strbuf_release) struct strbuf joined = STRBUF_INIT(JOINED_MAX);
    const cJSON *item;

    cJSON_ArrayForEach (item, list) {
        strbuf_adds(&joined, joined.len > 0 ? "; " : "");
        strbuf_adds(&joined, item->valuestring);
    }
    add_text(out, joined.data);
}

static void add_cell(struct strbuf *out, const cJSON *value)
{
    char *text;

    if (!value || cJSON_IsNull(value))
        return;
    if (cJSON_IsString(value)) {
        add_text(out, value->valuestring);
        return;
    }
    if (is_string_list(value)) {
        add_joined(out, value);
        return;
    }
    text = cJSON_PrintUnformatted(value);
    if (!text)
        memory_exhausted(0);
    /* A number of a JSON row is no formula, even if it begins with '-'. */
    if (cJSON_IsNumber(value))
        strbuf_adds(out, text);
    else
        add_text(out, text);
    free(text);
}

/* Returns the member at a path; NULL if there is no such member. */
static const cJSON *find_member(const cJSON *object, const char *path)
{
    const char *dot;

    for (; (dot = strchr(path, '.')) != NULL; path = dot + 1) {
        CLEANUP(free_cleanup) char *key = xmemdup0(path, (size_t)(dot - path));

        object = cJSON_GetObjectItemCaseSensitive(object, key);
    }
    return cJSON_GetObjectItemCaseSensitive(object, path);
}

void csv_add_headings(struct strbuf *out, const char *const *columns)
{
    for (size_t i = 0; columns[i]; i++) {
        strbuf_adds(out, i > 0 ? "," : "");
        add_text(out, columns[i]);
    }
    strbuf_adds(out, "\r\n");
}

bool csv_add_row(struct strbuf *out, const char *const *columns, const char *json, size_t len)
{
    cJSON *row = cJSON_ParseWithLength(json, len);

    if (!cJSON_IsObject(row)) {
        cJSON_Delete(row);
        return false;
    }
    for (size_t i = 0; columns[i]; i++) {
        strbuf_adds(out, i > 0 ? "," : "");
        add_cell(out, find_member(row, columns[i]));
    }
    strbuf_adds(out, "\r\n");
    cJSON_Delete(row);
    return true;
}
