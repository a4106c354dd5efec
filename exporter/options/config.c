/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/options/config.h"

#include <yaml.h>

#include "exporter/system/file.h"
#include "metrics/base/strbuf.h"

enum { CONFIG_MAX = 1024 * 1024 };

/* A document whose values are being set in the options. */
struct reading {
    yaml_document_t *document;
    struct options *options;
    bool seen[OPTION_COUNT];
};

static const char *scalar_of(const yaml_node_t *node)
{
    return (const char *)node->data.scalar.value;
}

/* A NUL, which YAML can write as an escape, would hide what follows it. */
static bool is_text(const yaml_node_t *node)
{
    return node->type == YAML_SCALAR_NODE && strlen(scalar_of(node)) == node->data.scalar.length;
}

/* Put the node's line and column before the reason. */
static bool fail_at(const char *path, const yaml_node_t *node, struct error *err)
{
    return fail_in(err, "%s:%zu:%zu", path, node->start_mark.line + 1, node->start_mark.column + 1);
}

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

        if (!is_text(item))
            return fail(err, "'%s' takes a list of texts", def->name);
        if (def->type == OPTION_SET)
            strbuf_addf(&joined, "%s%s", joined.len > 0 ? "," : "", scalar_of(item));
        else if (!options_set(r->options, def, scalar_of(item), i == first, err))
            return fail_in(err, "'%s'", def->name);
    }
    return def->type != OPTION_SET || options_set(r->options, def, joined.data, true, err) ||
           fail_in(err, "'%s'", def->name);
}

static const struct option_def *find_key(struct reading *r, const yaml_node_t *key,
                                         struct error *err)
{
    const struct option_def *def;

    if (!is_text(key)) {
        fail(err, "a key is not the name of an option");
        return NULL;
    }
    def = option_find(scalar_of(key), err);
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
        return fail_at(path, root, err);
    }
    for (const yaml_node_pair_t *pair = root->data.mapping.pairs.start;
         pair < root->data.mapping.pairs.top; pair++) {
        const yaml_node_t *key = yaml_document_get_node(r->document, pair->key);
        const yaml_node_t *value = yaml_document_get_node(r->document, pair->value);
        const struct option_def *def = find_key(r, key, err);
        bool done;

        if (!def)
            return fail_at(path, key, err);
        if (value->type == YAML_SEQUENCE_NODE &&
            (option_type_grows(def->type) || def->type == OPTION_SET))
            done = set_list(r, def, value, err);
        else if (!is_text(value))
            done = fail(err, "'%s' takes a single value", def->name);
        else
            done = options_set(r->options, def, scalar_of(value), true, err) ||
                   fail_in(err, "'%s'", def->name);
        if (!done)
            return fail_at(path, value, err);
    }
    return true;
}

static bool fail_parse(const char *path, const yaml_parser_t *parser, struct error *err)
{
    const yaml_mark_t *at = &parser->problem_mark;

    return fail(err, "%s:%zu:%zu: not YAML: %s", path, at->line + 1, at->column + 1,
                parser->problem ? parser->problem : "out of memory");
}

bool config_apply(const char *path, const char *text, size_t len, struct options *o,
                  struct error *err)
{
    yaml_parser_t parser;
    yaml_document_t document, next;
    struct reading r = {.document = &document, .options = o};
    bool done, empty;

    if (!yaml_parser_initialize(&parser))
        abort();
    yaml_parser_set_input_string(&parser, (const unsigned char *)text, len);
    if (!yaml_parser_load(&parser, &document)) {
        fail_parse(path, &parser, err);
        yaml_parser_delete(&parser);
        return false;
    }
    done = bind_document(path, &r, err);
    empty = yaml_document_get_root_node(&document) == NULL;
    yaml_document_delete(&document);
    /* Only one document: a second one would be ignored without a word. */
    if (done && !empty && !yaml_parser_load(&parser, &next)) {
        done = fail_parse(path, &parser, err);
    } else if (done && !empty) {
        done = yaml_document_get_root_node(&next) == NULL ||
               fail(err, "%s: has more than one YAML document", path);
        yaml_document_delete(&next);
    }
    yaml_parser_delete(&parser);
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
