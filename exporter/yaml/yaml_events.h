/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>
#include <yaml.h>

#include "metrics/base/json.h"
#include "metrics/base/map.h"

/* Reads the next bytes of a text. Returns fewer than `size` only at the end of the text. */
typedef size_t yaml_read_fn(void *context, char *bytes, size_t size);

/* Unread text in memory: the context of yaml_read_text(). `bytes` is borrowed. */
struct yaml_text {
    const char *bytes;
    size_t len;
};
yaml_read_fn yaml_read_text;

enum {
    YAML_INPUT_PIECE = 4096,           /* Maximum bytes of one read by libyaml. */
    YAML_INPUT_BLANKS_MAX = 16 * 1024, /* Maximum run of spaces, tabs and line breaks, in bytes. */
};

/*
 * Input of libyaml. Rejects texts that libyaml would misread, and long runs of blanks: after each
 * word of a scalar, libyaml clears a buffer as long as the longest run, so that a long run makes
 * its time quadratic.
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

/* Part of a text, at least some thousand bytes unless the text is shorter. */
struct yaml_excerpt {
    const char *text;
    size_t len;
    size_t line;         /* Line of the first byte in the whole text. */
    size_t context_line; /* Line of the part of the text that the error ends; 0 if unknown. */
};

struct yaml_time_limit {
    bool (*is_over)(void *context); /* Returns true if the time is over; NULL for no limit. */
    void *context;
};

static inline bool yaml_time_limit_is_over(const struct yaml_time_limit *limit)
{
    return limit->is_over && limit->is_over(limit->context);
}

/* Limits on the work of libyaml. */
struct yaml_event_limits {
    size_t span_max; /* Bytes of text between two events: libyaml stores a whole scalar. */
    struct yaml_time_limit time_limit;
};

/* Limits on the %TAG directives of a document. */
enum { YAML_TAGS_MAX = 100, YAML_TAG_PREFIX_BYTES_MAX = 256 };

/* Events of libyaml. The time to read a text is proportional to its length. */
struct yaml_events {
    yaml_parser_t parser;
    struct yaml_input input;
    struct yaml_event_limits limits;
    size_t count;               /* Number of events. */
    size_t span;                /* Bytes that libyaml has read since the last event. */
    struct json_position where; /* Position of the error. */
    struct error *err;          /* Destination of an error; set before the first event. */
    bool failed;                /* True after an error, which ends the events. */
};

/* `events` must not move in memory, because libyaml stores its address. */
void yaml_events_init(struct yaml_events *events, yaml_read_fn *read, void *context,
                      struct yaml_event_limits limits);
void yaml_events_release(struct yaml_events *events);

/*
 * Stores the next event, which the caller gives to yaml_event_delete(). Returns false with an error
 * in events->err and its position in events->where.
 */
bool yaml_events_next(struct yaml_events *events, yaml_event_t *out) MUST_USE;

/* Returns the text before the current position that is still in memory, borrowed; see the struct.
 */
struct yaml_excerpt yaml_events_excerpt(const struct yaml_events *events);

/* Sets an error at `mark`. Returns false. */
bool yaml_events_fail(struct yaml_events *events, yaml_mark_t mark, const char *reason);

/* Size of a node, including all nodes below: the cost of an alias of the node. */
struct yaml_cost {
    size_t nodes;
    size_t bytes;
    unsigned height; /* Levels of sequences and mappings; 0 for a scalar. */
};

/* Adds the cost of a child node to the cost of its parent. */
void yaml_cost_add(struct yaml_cost *sum, struct yaml_cost child);

struct anchor {
    const void *node; /* Node in the tree of the reader. Borrowed; NULL until it has been read. */
    struct yaml_cost cost;
    struct anchor *older;
    char name[];
};

/*
 * Anchors of a YAML document by name. A repeated name refers to the newest node. A struct filled
 * with zeros is empty. `seed` is the same number in all calls, from platform_random_seed().
 */
struct anchors {
    struct map by_name;
    struct anchor *newest;
};

/* Frees all anchors. `a` is empty then. */
void anchors_release(struct anchors *a);

/* Adds and returns an anchor, borrowed, for the node that is read next; NULL if `name` is NULL. */
struct anchor *anchors_add(struct anchors *a, uint64_t seed, const char *name);

/* Stores the node after it has been read. Accepts NULL for `anchor`. */
void anchor_set_node(struct anchor *anchor, const void *node, struct yaml_cost cost);

/* Returns the newest anchor of the name; NULL if the name is unknown. */
const struct anchor *anchors_find(const struct anchors *a, uint64_t seed, const char *name);
