/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/yaml/yaml_events.h"

void yaml_events_init(struct yaml_events *events, const char *text, size_t len)
{
    *events = (struct yaml_events){.text = text, .len = len};
    if (!yaml_parser_initialize(&events->parser))
        memory_exhausted(0);
    yaml_parser_set_input_string(&events->parser, (const unsigned char *)text, len);
}

void yaml_events_release(struct yaml_events *events)
{
    yaml_parser_delete(&events->parser);
}

bool yaml_events_refuse(struct yaml_events *events, yaml_mark_t mark, const char *what)
{
    events->failed = true;
    events->where = (struct json_position){mark.line + 1, mark.column + 1};
    return fail(events->err, "not valid YAML: %s", what);
}

static bool refuse_byte(struct yaml_events *events, size_t offset, const char *what)
{
    events->failed = true;
    events->where = json_position_of(events->text, offset < events->len ? offset : events->len);
    return fail(events->err, "not valid YAML: %s", what);
}

bool yaml_events_check(struct yaml_events *events)
{
    const char *text = events->text;
    const char *nul = events->len > 0 ? memchr(text, '\0', events->len) : NULL;

    if (events->len >= 2 && (memcmp(text, "\xff\xfe", 2) == 0 || memcmp(text, "\xfe\xff", 2) == 0))
        return refuse_byte(events, 0, "the text is UTF-16: save it as UTF-8");
    return !nul || refuse_byte(events, (size_t)(nul - text), "a NUL byte");
}

bool yaml_events_next(struct yaml_events *events, yaml_event_t *out)
{
    const yaml_parser_t *p = &events->parser;

    if (yaml_parser_parse(&events->parser, out))
        return true;
    if (p->error == YAML_MEMORY_ERROR)
        memory_exhausted(0);
    if (p->error == YAML_READER_ERROR)
        return refuse_byte(events, p->problem_offset, p->problem);

    char what[256];

    snprintf(what, sizeof(what), "%s%s%s", p->context ? p->context : "", p->context ? ": " : "",
             p->problem ? p->problem : "it cannot be read");
    return yaml_events_refuse(events, p->problem_mark, what);
}
