/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/yaml/yaml_events.h"

/*
 * Blanks, and all bytes of the line breaks U+0085, U+2028 and U+2029 of YAML 1.1. A few other
 * characters consist of these bytes, too, but no usual text has thousands of them in a row.
 */
static const bool is_blank[256] = {
    [' '] = true,  ['\t'] = true, ['\n'] = true, ['\r'] = true, [0xC2] = true,
    [0x85] = true, [0xE2] = true, [0x80] = true, [0xA8] = true, [0xA9] = true,
};

size_t yaml_read_text(void *context, char *bytes, size_t size)
{
    struct yaml_text *text = context;
    size_t len = text->len < size ? text->len : size;

    if (len > 0)
        memcpy(bytes, text->bytes, len);
    text->bytes += len;
    text->len -= len;
    return len;
}

static void yaml_input_init(struct yaml_input *in, yaml_read_fn *read, void *context)
{
    *in = (struct yaml_input){.read = read, .context = context, .start = {1, 1}};
}

/* Wipes the pieces: the text may be a kubeconfig. */
static void yaml_input_release(struct yaml_input *in)
{
    explicit_bzero(in->recent, sizeof(in->recent));
}

/* Returns line and column of an offset, which is in the last two pieces or behind them. */
static struct json_position yaml_input_position(const struct yaml_input *in, size_t offset)
{
    size_t len = offset > in->offset ? offset - in->offset : 0;
    struct json_position inside =
        json_position_of(in->recent, len < in->recent_len ? len : in->recent_len);

    if (inside.line == 1)
        inside.column += in->start.column - 1;
    inside.line += in->start.line - 1;
    return inside;
}

/* Appends a piece to in->recent, which keeps the last two pieces only. */
static void keep_piece(struct yaml_input *in, const char *piece, size_t len)
{
    size_t old = in->recent_len - in->last_len;

    in->start = yaml_input_position(in, in->offset + old);
    in->offset += old;
    memmove(in->recent, in->recent + old, in->last_len);
    memcpy(in->recent + in->last_len, piece, len);
    in->recent_len = in->last_len + len;
    in->last_len = len;
}

/* Returns the index of the byte that makes a run of blanks too long, or `len`. */
static size_t find_long_run(struct yaml_input *in, const char *piece, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        in->blanks = is_blank[(unsigned char)piece[i]] ? in->blanks + 1 : 0;
        if (in->blanks > YAML_INPUT_BLANKS_MAX)
            return i;
    }
    return len;
}

/*
 * Stores the next bytes and their number, 0 at the end of the text. Returns NULL, or the reason to
 * reject the text; `out_offset` is then the offset of the error in the text.
 */
static MUST_USE const char *yaml_input_read(struct yaml_input *in, char *bytes, size_t size,
                                            size_t *out_len, size_t *out_offset)
{
    size_t begin = in->offset + in->recent_len;
    size_t len = in->read(in->context, bytes, size < YAML_INPUT_PIECE ? size : YAML_INPUT_PIECE);
    const char *nul = memchr(bytes, '\0', len);

    keep_piece(in, bytes, len);
    *out_len = len;
    *out_offset = begin;
    if (begin == 0 && len >= 2 &&
        (memcmp(bytes, "\xff\xfe", 2) == 0 || memcmp(bytes, "\xfe\xff", 2) == 0))
        return "the text is UTF-16: save it as UTF-8";
    if (nul) {
        *out_offset = begin + (size_t)(nul - bytes);
        return "a NUL byte";
    }
    size_t run = find_long_run(in, bytes, len);

    *out_offset = begin + run;
    return run < len ? "more than 16,384 spaces, tabs and line breaks in a row" : NULL;
}

enum {
    EVENTS_PER_TIME_CHECK = 256,
    DEFAULT_TAGS = 2, /* "!" and "!!", which libyaml adds to every document. */
};

bool yaml_events_fail(struct yaml_events *events, yaml_mark_t mark, const char *reason)
{
    events->failed = true;
    events->where = (struct json_position){mark.line + 1, mark.column + 1};
    return fail(events->err, "not valid YAML: %s", reason);
}

static bool fail_at_byte(struct yaml_events *events, size_t offset, const char *reason)
{
    events->failed = true;
    events->where = yaml_input_position(&events->input, offset);
    return fail(events->err, "not valid YAML: %s", reason);
}

static bool check_time(struct yaml_events *events)
{
    return !yaml_time_limit_is_over(&events->limits.time_limit) ||
           yaml_events_fail(events, events->parser.mark, "reading it takes too long");
}

/*
 * Returns false with an error if a document has too many %TAG directives. Called by read_bytes(),
 * because libyaml compares each directive with all earlier ones before it returns an event. The
 * line of the error is that of a later directive.
 */
static bool check_tag_count(struct yaml_events *events)
{
    const yaml_parser_t *p = &events->parser;
    yaml_mark_t mark = {.line = p->mark.line};

    return p->tag_directives.top - p->tag_directives.start <= YAML_TAGS_MAX + DEFAULT_TAGS ||
           yaml_events_fail(events, mark, "more than 100 %TAG directives in a document");
}

static bool check_span(struct yaml_events *events)
{
    char reason[96];

    if (events->span <= events->limits.span_max)
        return true;
    snprintf(reason, sizeof(reason), "a text or comment of more than %zu bytes",
             events->limits.span_max);
    return yaml_events_fail(events, events->parser.mark, reason);
}

static int read_bytes(void *context, unsigned char *bytes, size_t size, size_t *out_len)
{
    struct yaml_events *events = context;
    const char *problem;
    size_t offset;

    if (!check_tag_count(events) || !check_span(events) || !check_time(events))
        return 0;
    problem = yaml_input_read(&events->input, (char *)bytes, size, out_len, &offset);
    events->span += *out_len;
    return !problem || fail_at_byte(events, offset, problem);
}

void yaml_events_init(struct yaml_events *events, yaml_read_fn *read, void *context,
                      struct yaml_event_limits limits)
{
    *events = (struct yaml_events){.limits = limits};
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

/* Limits number and length of tag prefixes: libyaml copies a prefix for each node with its tag. */
static bool check_directives(struct yaml_events *events, const yaml_event_t *event)
{
    const yaml_tag_directive_t *first = event->data.document_start.tag_directives.start;
    const yaml_tag_directive_t *end = event->data.document_start.tag_directives.end;

    if (end - first > YAML_TAGS_MAX)
        return yaml_events_fail(events, event->start_mark,
                                "more than 100 %TAG directives in a document");
    for (const yaml_tag_directive_t *tag = first; tag < end; tag++) {
        if (strlen((const char *)tag->prefix) > YAML_TAG_PREFIX_BYTES_MAX)
            return yaml_events_fail(events, event->start_mark,
                                    "a %TAG directive with a prefix of more than 256 bytes");
    }
    return true;
}

/* Fails with the error of libyaml's parser, unless an error is set already. Returns false. */
static bool fail_parser(struct yaml_events *events)
{
    const yaml_parser_t *p = &events->parser;
    char reason[256];

    if (events->failed)
        return false;
    if (p->error == YAML_MEMORY_ERROR)
        memory_exhausted(0);
    if (p->error == YAML_READER_ERROR)
        return fail_at_byte(events, p->problem_offset, p->problem);
    snprintf(reason, sizeof(reason), "%s%s%s", p->context ? p->context : "", p->context ? ": " : "",
             p->problem ? p->problem : "cannot be read");
    return yaml_events_fail(events, p->problem_mark, reason);
}

bool yaml_events_next(struct yaml_events *events, yaml_event_t *out)
{
    if (++events->count % EVENTS_PER_TIME_CHECK == 0 && !check_time(events))
        return false;
    if (!yaml_parser_parse(&events->parser, out))
        return fail_parser(events);
    events->span = 0;
    return out->type != YAML_DOCUMENT_START_EVENT || check_directives(events, out);
}

struct yaml_excerpt yaml_events_excerpt(const struct yaml_events *events)
{
    const struct yaml_input *in = &events->input;

    const yaml_parser_t *p = &events->parser;

    return (struct yaml_excerpt){in->recent, in->recent_len, in->start.line,
                                 p->context ? p->context_mark.line + 1 : 0};
}

void yaml_cost_add(struct yaml_cost *sum, struct yaml_cost child)
{
    sum->nodes += child.nodes;
    sum->bytes += child.bytes;
    if (child.height + 1 > sum->height)
        sum->height = child.height + 1;
}

static bool has_name(const void *item, const void *key)
{
    return strcmp(((const struct anchor *)item)->name, key) == 0;
}

static uint64_t hash_name(const char *name, uint64_t seed)
{
    return map_hash(name, strlen(name), seed);
}

void anchors_release(struct anchors *a)
{
    while (a->newest) {
        struct anchor *anchor = a->newest;

        a->newest = anchor->older;
        free(anchor);
    }
    map_release(&a->by_name);
    *a = (struct anchors){0};
}

struct anchor *anchors_add(struct anchors *a, uint64_t seed, const char *name)
{
    if (!name)
        return NULL;

    size_t size = strlen(name) + 1;
    struct anchor *anchor = xcalloc(1, sizeof(*anchor) + size);

    memcpy(anchor->name, name, size);
    anchor->older = a->newest;
    a->newest = anchor;
    a->by_name.equal = has_name;
    map_take(&a->by_name, hash_name(name, seed), name);
    map_add(&a->by_name, hash_name(name, seed), anchor);
    return anchor;
}

void anchor_set_node(struct anchor *anchor, const void *node, struct yaml_cost cost)
{
    if (!anchor)
        return;
    anchor->node = node;
    anchor->cost = cost;
}

const struct anchor *anchors_find(const struct anchors *a, uint64_t seed, const char *name)
{
    return a->newest ? map_get(&a->by_name, hash_name(name, seed), name) : NULL;
}
