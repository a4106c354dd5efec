/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/yaml/yaml_events.h"

enum {
    EVENTS_BETWEEN_LOOKS = 256,
    TAGS_OF_LIBYAML = 2, /* "!" and "!!", in every document. */
};

bool yaml_events_refuse(struct yaml_events *events, yaml_mark_t mark, const char *what)
{
    events->failed = true;
    events->where = (struct json_position){mark.line + 1, mark.column + 1};
    return fail(events->err, "not valid YAML: %s", what);
}

static bool refuse_byte(struct yaml_events *events, size_t offset, const char *what)
{
    events->failed = true;
    events->where = yaml_input_position(&events->input, offset);
    return fail(events->err, "not valid YAML: %s", what);
}

static bool refuse_when_over(struct yaml_events *events)
{
    return !yaml_term_is_over(&events->bounds.term) ||
           yaml_events_refuse(events, events->parser.mark, "reading it takes too long");
}

/*
 * libyaml compares each %TAG directive with all before it, and returns from that only for bytes:
 * this is the one place to stop it. libyaml is somewhere in the line of a later directive then.
 */
static bool refuse_tags(struct yaml_events *events)
{
    const yaml_parser_t *p = &events->parser;
    yaml_mark_t mark = {.line = p->mark.line};

    return p->tag_directives.top - p->tag_directives.start <= YAML_TAGS_MAX + TAGS_OF_LIBYAML ||
           yaml_events_refuse(events, mark, "more than 100 %TAG directives in a document");
}

static bool refuse_span(struct yaml_events *events)
{
    char what[96];

    if (events->span <= events->bounds.span_max)
        return true;
    snprintf(what, sizeof(what), "a text or comment of more than %zu bytes",
             events->bounds.span_max);
    return yaml_events_refuse(events, events->parser.mark, what);
}

static int read_bytes(void *context, unsigned char *bytes, size_t size, size_t *out_len)
{
    struct yaml_events *events = context;
    const char *problem;
    size_t offset;

    if (!refuse_tags(events) || !refuse_span(events) || !refuse_when_over(events))
        return 0;
    problem = yaml_input_read(&events->input, (char *)bytes, size, out_len, &offset);
    events->span += *out_len;
    return !problem || refuse_byte(events, offset, problem);
}

void yaml_events_init(struct yaml_events *events, yaml_read_fn *read, void *context,
                      struct yaml_bounds bounds)
{
    *events = (struct yaml_events){.bounds = bounds};
    yaml_input_init(&events->input, read, context);
    if (!yaml_parser_initialize(&events->parser))
        memory_exhausted(0);
    yaml_parser_set_input(&events->parser, read_bytes, events);
}

void yaml_events_release(struct yaml_events *events)
{
    yaml_parser_delete(&events->parser);
    yaml_input_release(&events->input);
}

/* libyaml copies the prefix for every node with the tag. */
static bool check_directives(struct yaml_events *events, const yaml_event_t *event)
{
    const yaml_tag_directive_t *first = event->data.document_start.tag_directives.start;
    const yaml_tag_directive_t *end = event->data.document_start.tag_directives.end;

    if (end - first > YAML_TAGS_MAX)
        return yaml_events_refuse(events, event->start_mark,
                                  "more than 100 %TAG directives in a document");
    for (const yaml_tag_directive_t *tag = first; tag < end; tag++) {
        if (strlen((const char *)tag->prefix) > YAML_TAG_PREFIX_BYTES_MAX)
            return yaml_events_refuse(events, event->start_mark,
                                      "a %TAG directive for more than 256 bytes");
    }
    return true;
}

/* Fails with the error of libyaml's parser. Returns false. */
static bool fail_parser(struct yaml_events *events)
{
    const yaml_parser_t *p = &events->parser;
    char what[256];

    if (events->failed)
        return false;
    if (p->error == YAML_MEMORY_ERROR)
        memory_exhausted(0);
    if (p->error == YAML_READER_ERROR)
        return refuse_byte(events, p->problem_offset, p->problem);
    snprintf(what, sizeof(what), "%s%s%s", p->context ? p->context : "", p->context ? ": " : "",
             p->problem ? p->problem : "it cannot be read");
    return yaml_events_refuse(events, p->problem_mark, what);
}

bool yaml_events_next(struct yaml_events *events, yaml_event_t *out)
{
    if (++events->count % EVENTS_BETWEEN_LOOKS == 0 && !refuse_when_over(events))
        return false;
    if (!yaml_parser_parse(&events->parser, out))
        return fail_parser(events);
    events->span = 0;
    return out->type != YAML_DOCUMENT_START_EVENT || check_directives(events, out);
}
