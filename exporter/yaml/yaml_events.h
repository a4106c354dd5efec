/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <yaml.h>

#include "exporter/yaml/yaml_input.h"

/* A time limit. */
struct yaml_term {
    bool (*is_over)(void *context); /* True once the reader has to stop; NULL for no limit. */
    void *context;
};

static inline bool yaml_term_is_over(const struct yaml_term *term)
{
    return term->is_over && term->is_over(term->context);
}

/* Limits on the work of libyaml. */
struct yaml_bounds {
    size_t span_max; /* Bytes of text from one event to the next: libyaml holds a whole scalar. */
    struct yaml_term term;
};

enum {
    YAML_TAGS_MAX = 100,            /* %TAG directives of one document, */
    YAML_TAG_PREFIX_BYTES_MAX = 256 /* and the length of what each stands for. */
};

/*
 * Events of libyaml in time that is proportional to the text. Every failure is one line of text
 * with its place; after a failure there are no more events.
 */
struct yaml_events {
    yaml_parser_t parser;
    struct yaml_input input;
    struct yaml_bounds bounds;
    size_t count;               /* Events so far. */
    size_t span;                /* Bytes that libyaml has read since the last event. */
    struct json_position where; /* Place of the failure. */
    struct error *err;          /* Receives the reason; the caller's, set before the first event. */
    bool failed;
};

/* libyaml refers to `events`, which must not be moved. */
void yaml_events_init(struct yaml_events *events, yaml_read_fn *read, void *context,
                      struct yaml_bounds bounds);
void yaml_events_release(struct yaml_events *events);

/* The next event, which the caller gives to yaml_event_delete. */
bool yaml_events_next(struct yaml_events *events, yaml_event_t *out) MUST_USE;

/* Fail, at `mark`. Returns false. */
bool yaml_events_refuse(struct yaml_events *events, yaml_mark_t mark, const char *what);
