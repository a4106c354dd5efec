/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/options/config.h"

#include "exporter/system/file.h"
#include "exporter/yaml/yaml.h"
#include "metrics/base/strbuf.h"

/* A list of choices is joined, so that it means what commas mean on the command line. */
static bool set_list(struct options *o, const struct option_def *def, const cJSON *list,
                     struct error *err)
{
    CLEANUP(strbuf_release) struct strbuf joined = STRBUF_INIT(YAML_CONFIG_MAX);
    const cJSON *item;

    if (!list->child && def->type != OPTION_SET)
        return fail(err, "'%s' is an empty list; leave the key out instead", def->name);
    cJSON_ArrayForEach (item, list) {
        const char *text = item->valuestring;

        if (!text)
            return fail(err, "'%s' takes a list of texts", def->name);
        if (def->type == OPTION_SET)
            strbuf_addf(&joined, "%s%s", joined.len > 0 ? "," : "", text);
        else if (!options_set(o, def, text, item == list->child, err))
            return fail_in(err, "'%s'", def->name);
    }
    return def->type != OPTION_SET || options_set(o, def, joined.data, true, err) ||
           fail_in(err, "'%s'", def->name);
}

static bool set_member(struct options *o, const cJSON *member, struct error *err)
{
    const struct option_def *def = option_find(member->string, err);

    if (!def)
        return false;
    if (def->flag_only)
        return fail(err, "'%s' is for the command line only", def->name);
    if (cJSON_IsArray(member) && (option_type_grows(def->type) || def->type == OPTION_SET))
        return set_list(o, def, member, err);
    if (!member->valuestring)
        return fail(err, "'%s' takes a single value", def->name);
    return options_set(o, def, member->valuestring, true, err) || fail_in(err, "'%s'", def->name);
}

bool config_apply(const char *path, const char *text, size_t len, struct options *o,
                  struct error *err)
{
    CLEANUP(json_cleanup) cJSON *root = NULL;
    const cJSON *member;

    if (!yaml_read_config(path, text, len, &root, err))
        return false;
    if (root && !cJSON_IsObject(root))
        return fail(err, "expected 'option: value' lines") || yaml_fail(path, root, err);
    cJSON_ArrayForEach (member, root) {
        if (!set_member(o, member, err))
            return yaml_fail(path, member, err);
    }
    return true;
}

bool config_load(struct options *o, int argc, const char *const *argv, struct error *err)
{
    CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(YAML_CONFIG_MAX);

    options_init(o);
    if (!options_parse(o, argc, argv, err))
        return false;
    if (*o->config_file == '\0')
        return true;

    CLEANUP(free_cleanup) char *path = xstrdup(o->config_file);

    /* Once more from the start: flags go before the file. */
    options_release(o);
    options_init(o);
    if (!file_read(path, &text, err) || !config_apply(path, text.data, text.len, o, err))
        return fail_in(err, "--config.file");
    return options_parse(o, argc, argv, err);
}
