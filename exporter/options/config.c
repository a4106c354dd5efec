/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/options/config.h"

#include <yaml.h>

#include "exporter/system/file.h"
#include "metrics/base/strbuf.h"

enum { CONFIG_MAX = 1024 * 1024 };

/* A document being bound to the options. */
struct reading {
    yaml_document_t *document;
    struct options *options;
    bool seen[OPTION_COUNT];
};

static const char *scalar_of(const yaml_node_t *node)
{
    return (const char *)node->data.scalar.value;
}

/* A NUL, which YAML can escape, would hide what follows it. */
static bool is_text(const yaml_node_t *node)
{
    return node->type == YAML_SCALAR_NODE && strlen(scalar_of(node)) == node->data.scalar.length;
}

/* Put the node's place in front of the reason. */
static bool fail_at(const char *path, const yaml_node_t *node, struct error *err)
{
    return fail_in(err, "%s:%zu:%zu", path, node->start_mark.line + 1, node->start_mark.column + 1);
}

/* A list for a set of choices is joined, so that it means what commas mean on the command line. */
static bool set_joined(struct reading *r, const struct option_def *def, const yaml_node_t *list,
                       struct error *err)
{
    CLEANUP(strbuf_release) struct strbuf joined = STRBUF_INIT(CONFIG_MAX);

    for (const yaml_node_item_t *i = list->data.sequence.items.start;
         i < list->data.sequence.items.top; i++) {
        const yaml_node_t *item = yaml_document_get_node(r->document, *i);

        if (!is_text(item))
            return fail(err, "'%s' takes a list of texts", def->name);
        strbuf_addf(&joined, "%s%s", joined.len > 0 ? "," : "", scalar_of(item));
    }
    return options_set(r->options, def, joined.data, true, err) || fail_in(err, "'%s'", def->name);
}

static bool set_each(struct reading *r, const struct option_def *def, const yaml_node_t *list,
                     struct error *err)
{
    const yaml_node_item_t *first = list->data.sequence.items.start;

    if (first == list->data.sequence.items.top)
        return fail(err, "'%s' is an empty list; leave the key out instead", def->name);
    for (const yaml_node_item_t *i = first; i < list->data.sequence.items.top; i++) {
        const yaml_node_t *item = yaml_document_get_node(r->document, *i);

        if (!is_text(item))
            return fail(err, "'%s' takes a list of texts", def->name);
        if (!options_set(r->options, def, scalar_of(item), i == first, err))
            return fail_in(err, "'%s'", def->name);
    }
    return true;
}

static bool set_value(struct reading *r, const struct option_def *def, const yaml_node_t *value,
                      struct error *err)
{
    if (value->type == YAML_SEQUENCE_NODE && option_type_grows(def->type))
        return set_each(r, def, value, err);
    if (value->type == YAML_SEQUENCE_NODE && def->type == OPTION_SET)
        return set_joined(r, def, value, err);
    if (!is_text(value))
        return fail(err, "'%s' takes a single value", def->name);
    return options_set(r->options, def, scalar_of(value), true, err) ||
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

        if (!def)
            return fail_at(path, key, err);
        if (!set_value(r, def, value, err))
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

/* Only one document: what a second one says would silently not count. */
static bool ends_here(const char *path, yaml_parser_t *parser, struct error *err)
{
    yaml_document_t next;
    bool ended;

    if (!yaml_parser_load(parser, &next))
        return fail_parse(path, parser, err);
    ended = yaml_document_get_root_node(&next) == NULL;
    yaml_document_delete(&next);
    return ended || fail(err, "%s: has more than one YAML document", path);
}

static bool read_parser(const char *path, yaml_parser_t *parser, struct options *o,
                        struct error *err)
{
    yaml_document_t document;
    struct reading r = {.document = &document, .options = o};
    bool done;

    if (!yaml_parser_load(parser, &document))
        return fail_parse(path, parser, err);
    done = bind_document(path, &r, err);
    if (done && yaml_document_get_root_node(&document))
        done = ends_here(path, parser, err);
    yaml_document_delete(&document);
    return done;
}

bool config_apply(const char *path, const char *text, size_t len, struct options *o,
                  struct error *err)
{
    yaml_parser_t parser;
    bool done;

    if (!yaml_parser_initialize(&parser))
        abort();
    yaml_parser_set_input_string(&parser, (const unsigned char *)text, len);
    done = read_parser(path, &parser, o, err);
    yaml_parser_delete(&parser);
    return done;
}

static bool read_file(const char *path, struct options *o, struct error *err)
{
    CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(CONFIG_MAX);

    if (!file_read(path, &text, err))
        return fail_in(err, "--config.file");
    return config_apply(path, text.data, text.len, o, err) || fail_in(err, "--config.file");
}

bool config_load(struct options *o, int argc, const char *const *argv, struct error *err)
{
    options_init(o);
    if (!options_parse(o, argc, argv, err))
        return false;
    if (*o->config_file == '\0')
        return true;

    /* Once more from the start, for the flags go on top of the file. */
    CLEANUP(free_cleanup) char *path = xstrdup(o->config_file);

    options_release(o);
    options_init(o);
    return read_file(path, o, err) && options_parse(o, argc, argv, err);
}
