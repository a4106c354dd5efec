/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/yaml/document.h"

static bool fail_parse(const char *path, const yaml_parser_t *parser, struct error *err)
{
    const yaml_mark_t *at = &parser->problem_mark;

    if (parser->error == YAML_MEMORY_ERROR)
        memory_exhausted(0);

    return fail(err, "%s:%zu:%zu: not YAML: %s", path, at->line + 1, at->column + 1,
                parser->problem);
}

bool document_read(const char *path, const char *text, size_t len, yaml_document_t *out,
                   struct error *err)
{
    yaml_parser_t parser;
    yaml_document_t next;
    bool single;

    if (!yaml_parser_initialize(&parser))
        memory_exhausted(0);
    yaml_parser_set_input_string(&parser, (const unsigned char *)text, len);
    if (!yaml_parser_load(&parser, out)) {
        fail_parse(path, &parser, err);
        yaml_parser_delete(&parser);
        return false;
    }
    /* Only one document: a second one would be ignored without a word. */
    single = yaml_document_get_root_node(out) == NULL;
    if (!single && !yaml_parser_load(&parser, &next)) {
        fail_parse(path, &parser, err);
    } else if (!single) {
        single = yaml_document_get_root_node(&next) == NULL ||
                 fail(err, "%s: has more than one YAML document", path);
        yaml_document_delete(&next);
    }
    yaml_parser_delete(&parser);
    if (!single)
        yaml_document_delete(out);
    return single;
}

void document_wipe(yaml_document_t *document)
{
    for (const yaml_node_t *node = document->nodes.start; node < document->nodes.top; node++) {
        if (node->type == YAML_SCALAR_NODE)
            explicit_bzero(node->data.scalar.value, node->data.scalar.length);
    }
    yaml_document_delete(document);
}

const char *document_text(const yaml_node_t *node)
{
    const char *text = (const char *)node->data.scalar.value;

    return node->type == YAML_SCALAR_NODE && strlen(text) == node->data.scalar.length ? text : NULL;
}

bool document_fail(const char *path, const yaml_node_t *node, struct error *err)
{
    return fail_in(err, "%s:%zu:%zu", path, node->start_mark.line + 1, node->start_mark.column + 1);
}
