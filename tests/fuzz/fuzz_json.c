/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/base/json.h"
#include "metrics/base/utf8.h"

/*
 * An accepted text is a tree within the depth limit, and each valid string in it is the same after
 * quoting and parsing. Any bytes are quoted to a valid JSON string.
 */

/* Checks that `s` is quoted to a JSON string, which parses to `s` if that is valid UTF-8. */
static void check_quoting(const char *s)
{
    CLEANUP(strbuf_release) struct strbuf quoted = STRBUF_INIT(SIZE_MAX);
    struct error err;
    bool valid = true;

    for (const char *at = s; *at != '\0' && valid;) {
        unsigned len = utf8_char_len(at);

        valid = len > 0;
        at += len;
    }
    json_quote(&quoted, s);

    CLEANUP(json_cleanup) cJSON *tree = json_parse(quoted.data, quoted.len, NULL, &err);

    if (!cJSON_IsString(tree) || (valid && strcmp(tree->valuestring, s) != 0))
        abort();
}

static void check_tree(const cJSON *item, unsigned depth)
{
    const cJSON *child;

    if (depth > JSON_DEPTH_MAX)
        abort();
    if (cJSON_IsString(item))
        check_quoting(item->valuestring);
    if (item->string)
        check_quoting(item->string);
    (void)json_get(item, "a");
    (void)json_str(item, "a", "");
    (void)json_int(item, "a", 0);
    (void)json_bool(item, "a", false);
    cJSON_ArrayForEach (child, item) {
        check_tree(child, depth + 1);
    }
}

static void check_parse(const char *json, size_t len)
{
    struct json_position where = {0};
    struct error err = {""};
    CLEANUP(json_cleanup) cJSON *tree = json_parse(json, len, &where, &err);

    if (tree) {
        check_tree(tree, 0);
        return;
    }
    if (err.text[0] == '\0' || where.line == 0 || where.column == 0 || where.column > len + 1)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    CLEANUP(free_cleanup) char *text = xmemdup0((const char *)data, size);

    check_parse(text, size);
    check_quoting(text);
    return 0;
}
