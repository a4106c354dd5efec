/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/yaml/document.h"

#include "exporter/yaml/yaml_events.h"

/*
 * libyaml's loader compares each anchor and each alias with all anchors before it, and allows any
 * depth, which its scanner walks through for each token.
 */
enum { DEPTH_MAX = 64, ANCHORS_MAX = 100 };

/* Counts of the events of a text. */
struct census {
    unsigned depth;
    unsigned documents;
    unsigned anchors; /* And aliases. */
};

static bool count_event(struct yaml_events *events, const yaml_event_t *event, struct census *c)
{
    bool opens =
        event->type == YAML_MAPPING_START_EVENT || event->type == YAML_SEQUENCE_START_EVENT;
    const yaml_char_t *anchor =
        event->type == YAML_SCALAR_EVENT           ? event->data.scalar.anchor
        : event->type == YAML_MAPPING_START_EVENT  ? event->data.mapping_start.anchor
        : event->type == YAML_SEQUENCE_START_EVENT ? event->data.sequence_start.anchor
                                                   : NULL;

    c->anchors += anchor || event->type == YAML_ALIAS_EVENT;
    if (c->anchors > ANCHORS_MAX)
        return yaml_events_refuse(events, event->start_mark, "more than 100 anchors and aliases");
    c->depth += opens;
    if (c->depth > DEPTH_MAX)
        return yaml_events_refuse(events, event->start_mark, "nested deeper than 64 levels");
    c->depth -= event->type == YAML_MAPPING_END_EVENT || event->type == YAML_SEQUENCE_END_EVENT;
    c->documents += event->type == YAML_DOCUMENT_START_EVENT;
    return true;
}

/* Reads the text to its end, so that the loader meets only what it can handle. */
static bool take_census(struct yaml_events *events, struct census *out)
{
    yaml_event_type_t type = YAML_NO_EVENT;

    *out = (struct census){0};
    while (type != YAML_STREAM_END_EVENT) {
        CLEANUP(yaml_event_delete) yaml_event_t event = {0};

        if (!yaml_events_next(events, &event) || !count_event(events, &event, out))
            return false;
        type = event.type;
    }
    return true;
}

static bool load(struct yaml_events *events, yaml_document_t *out)
{
    return yaml_parser_load(&events->parser, out) || yaml_events_fail(events);
}

/* Reads the text once more, or for the first time with `out` NULL. */
static bool pass(const char *path, const char *text, size_t len, yaml_document_t *out,
                 struct error *err)
{
    CLEANUP(yaml_events_release) struct yaml_events events;
    struct yaml_text source = {text, len};
    struct census census = {0};

    yaml_events_init(&events, yaml_read_text, &source, (struct yaml_bounds){.span_max = len});
    events.err = err;
    if (!(out ? load(&events, out) : take_census(&events, &census)))
        return fail_in(err, "%s:%zu:%zu", path, events.where.line, events.where.column);
    /* Only one document: a second one would be ignored without a word. */
    return census.documents <= 1 || fail(err, "%s: has more than one YAML document", path);
}

bool document_read(const char *path, const char *text, size_t len, yaml_document_t *out,
                   struct error *err)
{
    return pass(path, text, len, NULL, err) && pass(path, text, len, out, err);
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
