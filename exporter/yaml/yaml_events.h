/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>
#include <yaml.h>

#include "metrics/base/json.h"
#include "metrics/base/map.h"

/* Reads the next bytes of a text. Returns fewer than `size` only at the end of the text. */
typedef size_t yaml_read_fn(void *context, char *bytes, size_t size);

/* A text in memory as the context of yaml_read_text(). The text is borrowed. */
struct yaml_text {
    const char *bytes;
    size_t len;
};
yaml_read_fn yaml_read_text;

enum {
    YAML_INPUT_PIECE = 4096,           /* Bytes that one call hands out at most. */
    YAML_INPUT_BLANKS_MAX = 16 * 1024, /* Spaces, tabs and line breaks in a row. */
};

/*
 * The bytes of one YAML text on their way to libyaml. The input refuses texts that libyaml would
 * misread, and runs of blanks: libyaml clears a buffer as long as the longest run after each word
 * of a scalar, so a long run makes its time quadratic.
 */
struct yaml_input {
    yaml_read_fn *read;
    void *context;
    char recent[2 * YAML_INPUT_PIECE]; /* The last two pieces. */
    size_t recent_len;
    size_t last_len;            /* Length of the last piece. */
    size_t offset;              /* Offset of recent[0] in the text. */
    struct json_position start; /* Line and column of recent[0]. */
    size_t blanks;              /* Length of the run of blanks that ends the last piece. */
};

/* A time limit. */
struct yaml_time_limit {
    bool (*is_over)(void *context); /* True once the reader has to stop; NULL for no limit. */
    void *context;
};

static inline bool yaml_time_limit_is_over(const struct yaml_time_limit *term)
{
    return term->is_over && term->is_over(term->context);
}

/* Limits on the work of libyaml. */
struct yaml_event_limits {
    size_t span_max; /* Bytes of text from one event to the next: libyaml holds a whole scalar. */
    struct yaml_time_limit term;
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
    struct yaml_event_limits bounds;
    size_t count;               /* Events so far. */
    size_t span;                /* Bytes that libyaml has read since the last event. */
    struct json_position where; /* Place of the failure. */
    struct error *err;          /* Receives the reason; the caller's, set before the first event. */
    bool failed;
};

/* libyaml refers to `events`, which must not be moved. */
void yaml_events_init(struct yaml_events *events, yaml_read_fn *read, void *context,
                      struct yaml_event_limits bounds);
void yaml_events_release(struct yaml_events *events);

/* The next event, which the caller gives to yaml_event_delete. */
bool yaml_events_next(struct yaml_events *events, yaml_event_t *out) MUST_USE;

/* Fail, at `mark`. Returns false. */
bool yaml_events_refuse(struct yaml_events *events, yaml_mark_t mark, const char *what);

/* What an alias of a node costs. The height of a scalar is 0. */
struct weight {
    size_t nodes;
    size_t bytes;
    unsigned height;
};

/* Add the weight of a node to that of the one that contains it. */
void yaml_cost_add(struct weight *sum, struct weight part);

/* `node` is borrowed from the tree, NULL while it is still being read. */
struct anchor {
    const cJSON *node;
    struct weight weight;
    struct anchor *older;
    char name[];
};

/*
 * The anchors of one YAML document by name. A name that is given again means
 * the newer node from then on. Filled with zeros it is empty and ready.
 */
struct anchors {
    struct map by_name;
    struct anchor *newest;
};

/* Forget all; ready again. */
void anchors_release(struct anchors *a);

/*
 * Note the name of a node that is about to be read. NULL for no name. `seed` is always the same
 * number, which the author of the text cannot guess (platform_seed).
 */
struct anchor *anchors_add(struct anchors *a, uint64_t seed, const char *name);
/* The node is complete. Takes NULL. */
void anchor_set_node(struct anchor *anchor, const cJSON *node, struct weight weight);

/* NULL if nothing has the name. */
const struct anchor *anchors_find(const struct anchors *a, uint64_t seed, const char *name);
