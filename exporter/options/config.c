/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/options/config.h"

#include "exporter/system/file.h"
#include "exporter/yaml/document.h"
#include "metrics/base/strbuf.h"

enum { CONFIG_MAX = 1024 * 1024 };

/* A document whose values are being set in the options. */
struct reading {
    yaml_document_t *document;
    struct options *options;
    bool seen[OPTION_COUNT];
};

/* A list of choices is joined, so that it means what commas mean on the command line. */
static bool set_list(struct reading *r, const struct option_def *def, const yaml_node_t *list,
                     struct error *err)
{
    CLEANUP(strbuf_release) struct strbuf joined = STRBUF_INIT(CONFIG_MAX);
    const yaml_node_item_t *first = list->data.sequence.items.start;
    const yaml_node_item_t *end = list->data.sequence.items.top;

    if (first == end && def->type != OPTION_SET)
        return fail(err, "'%s' is an empty list; leave the key out instead", def->name);
    for (const yaml_node_item_t *i = first; i < end; i++) {
        const yaml_node_t *item = yaml_document_get_node(r->document, *i);

        if (!document_text(item))
            return fail(err, "'%s' takes a list of texts", def->name);
        if (def->type == OPTION_SET)
            strbuf_addf(&joined, "%s%s", joined.len > 0 ? "," : "", document_text(item));
        else if (!options_set(r->options, def, document_text(item), i == first, err))
            return fail_in(err, "'%s'", def->name);
    }
    return def->type != OPTION_SET || options_set(r->options, def, joined.data, true, err) ||
           fail_in(err, "'%s'", def->name);
}

static const struct option_def *find_key(struct reading *r, const yaml_node_t *key,
                                         struct error *err)
{
    const struct option_def *def;

    if (!document_text(key)) {
        fail(err, "a key is not the name of an option");
        return NULL;
    }
    def = option_find(document_text(key), err);
    if (!def)
        return NULL;
    if (def->flag_only) {
        fail(err, "'%s' is for the command line only", def->name);
        return NULL;
    }
    if (r->seen[def - option_defs]) {
        fail(err, "'%s' is there twice", def->name);
        return NULL;
    }
    r->seen[def - option_defs] = true;
    return def;
}

static bool bind_document(const char *path, struct reading *r, struct error *err)
{
    const yaml_node_t *root = yaml_document_get_root_node(r->document);

    if (!root)
        return true;
    if (root->type != YAML_MAPPING_NODE) {
        fail(err, "expected 'option: value' lines");
        return document_fail(path, root, err);
    }
    for (const yaml_node_pair_t *pair = root->data.mapping.pairs.start;
         pair < root->data.mapping.pairs.top; pair++) {
        const yaml_node_t *key = yaml_document_get_node(r->document, pair->key);
        const yaml_node_t *value = yaml_document_get_node(r->document, pair->value);
        const struct option_def *def = find_key(r, key, err);
        bool done;

        if (!def)
            return document_fail(path, key, err);
        if (value->type == YAML_SEQUENCE_NODE &&
            (option_type_grows(def->type) || def->type == OPTION_SET))
            done = set_list(r, def, value, err);
        else if (!document_text(value))
            done = fail(err, "'%s' takes a single value", def->name);
        else
            done = options_set(r->options, def, document_text(value), true, err) ||
                   fail_in(err, "'%s'", def->name);
        if (!done)
            return document_fail(path, value, err);
    }
    return true;
}

bool config_apply(const char *path, const char *text, size_t len, struct options *o,
                  struct error *err)
{
    yaml_document_t document;
    struct reading r = {.document = &document, .options = o};

    if (!document_read(path, text, len, &document, err))
        return false;
    bool done = bind_document(path, &r, err);

    yaml_document_delete(&document);
    return done;
}

bool config_load(struct options *o, int argc, const char *const *argv, struct error *err)
{
    CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(CONFIG_MAX);

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
