/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/base/json_filter.h"

#include <limits.h>

/* ---- memory of trees ---- */

enum { BLOCK_BYTES = 16 * 1024, NODE_ALIGNMENT = 16 };

struct json_block {
    struct json_block *next;
    size_t used;
    size_t size;
    _Alignas(NODE_ALIGNMENT) char bytes[];
};

static void add_block(struct json_memory *m, size_t needed)
{
    size_t size = needed > BLOCK_BYTES ? needed : BLOCK_BYTES;
    struct json_block *block = xmalloc(sizeof(*block) + size);

    block->next = m->blocks;
    block->used = 0;
    block->size = size;
    m->blocks = block;
}

/* Returns `size` uninitialized bytes, aligned for a node. */
static inline void *allocate(struct json_memory *m, size_t size)
{
    size = (size + NODE_ALIGNMENT - 1) & ~(size_t)(NODE_ALIGNMENT - 1);
    if (!m->blocks || m->blocks->size - m->blocks->used < size)
        add_block(m, size);

    void *bytes = m->blocks->bytes + m->blocks->used;

    m->blocks->used += size;
    return bytes;
}

void json_memory_release(struct json_memory *m)
{
    while (m->blocks) {
        struct json_block *block = m->blocks;

        m->blocks = block->next;
        free(block);
    }
}

static cJSON *add_node(struct json_memory *m, int type)
{
    cJSON *node = allocate(m, sizeof(*node));

    *node = (cJSON){.type = type | cJSON_IsReference};
    return node;
}

/* ---- parser ---- */

/* A filter for objects of which only the existence is read. */
static const struct json_filter empty_object = {.others = JSON_FILTER_DROP};

struct filter_parser {
    const char *at;
    const char *end;
    struct json_memory *memory;
    unsigned levels; /* Arrays and objects that may still be opened. */
    size_t values_left;
    bool marked;
    /* A key with an escape sequence may equal the key of a row: marks are not reliable then. */
    bool has_escaped_key;
};

/* An open array or object. `filter` NULL keeps all members and elements. */
struct open_container {
    cJSON *node;
    cJSON *last; /* Last child; NULL without children. */
    const struct json_filter *filter;
    uint64_t seen; /* Bits of the rows that have matched. */
};

static cJSON *parse_object(struct filter_parser *p, const struct json_filter *filter);
static cJSON *parse_array(struct filter_parser *p, const struct json_filter *filter);

/* Moves past white space and returns the next byte. */
static char next_byte(struct filter_parser *p)
{
    p->at = json_skip_space(p->at);
    return *p->at;
}

/* Moves to `at`. Returns false if that is NULL. */
static bool move_to(struct filter_parser *p, const char *at)
{
    p->at = at ? at : p->end;
    return at;
}

static cJSON *new_value(struct filter_parser *p, int type)
{
    if (p->values_left == 0)
        return NULL;
    p->values_left--;
    return add_node(p->memory, type);
}

static void append_child(struct open_container *c, cJSON *child)
{
    if (c->last) {
        c->last->next = child;
        child->prev = c->last;
    } else {
        c->node->child = child;
    }
    c->last = child;
    /* In cJSON, the first child refers to the last. */
    c->node->child->prev = child;
}

/* Returns the character for the escape sequence with this letter, except 'u'. */
static char unescape(char letter)
{
    switch (letter) {
    case 'b':
        return '\b';
    case 'f':
        return '\f';
    case 'n':
        return '\n';
    case 'r':
        return '\r';
    case 't':
        return '\t';
    default:
        return letter;
    }
}

/* Copies a valid string with its quotes and with \u to `to`. */
static void unescape_with_cjson(const char *quoted, size_t len, char *to)
{
    cJSON *string = cJSON_ParseWithLength(quoted, len);

    if (!cJSON_IsString(string))
        memory_exhausted(len);
    memcpy(to, string->valuestring, strlen(string->valuestring) + 1);
    cJSON_Delete(string);
}

/* Returns the text of a valid string; `len` bytes with its quotes. */
static char *copy_string(struct filter_parser *p, const char *quoted, size_t len)
{
    const char *end = quoted + len - 1;
    const char *escape = memchr(quoted, '\\', len);
    char *text = allocate(p->memory, len - 1);
    char *to = text;

    if (!escape) {
        memcpy(text, quoted + 1, len - 2);
        text[len - 2] = '\0';
        return text;
    }
    for (const char *from = quoted + 1; from < end; from = escape + 2) {
        escape = memchr(from, '\\', (size_t)(end - from));

        size_t plain = (size_t)((escape ? escape : end) - from);

        memcpy(to, from, plain);
        to += plain;
        if (!escape)
            break;
        if (escape[1] == 'u') {
            unescape_with_cjson(quoted, len, text);
            return text;
        }
        *to++ = unescape(escape[1]);
    }
    *to = '\0';
    return text;
}

/* Sets the number as cJSON does. */
static void set_number(cJSON *node, const char *text, size_t len)
{
    enum { EXACT_DIGITS = 9 };
    double value = 0;
    size_t digits = 0;

    while (digits < len && text[digits] >= '0' && text[digits] <= '9')
        digits++;
    if (digits == len && digits <= EXACT_DIGITS) {
        for (size_t i = 0; i < len; i++)
            value = value * 10 + (text[i] - '0');
    } else {
        value = strtod(text, NULL);
    }

    node->valuedouble = value;
    if (value >= INT_MAX)
        node->valueint = INT_MAX;
    else if (value <= (double)INT_MIN)
        node->valueint = INT_MIN;
    else
        node->valueint = (int)value;
}

static int type_of_word(char first)
{
    return first == 't' ? cJSON_True : first == 'f' ? cJSON_False : cJSON_NULL;
}

/* Parses a string, number or word. Returns NULL on failure. */
static cJSON *parse_scalar(struct filter_parser *p)
{
    enum { NUMBER_MAX_BYTES = 63 }; /* Limit of cJSON. */
    const char *text = p->at;
    bool is_string = *text == '"';
    bool is_number = *text == '-' || (*text >= '0' && *text <= '9');
    int type = is_string ? cJSON_String : is_number ? cJSON_Number : type_of_word(*text);
    cJSON *node;

    if (!move_to(p, json_skip_scalar(text, p->end)))
        return NULL;

    size_t len = (size_t)(p->at - text);

    node = new_value(p, type);
    if (!node || (is_number && len > NUMBER_MAX_BYTES))
        return NULL;
    if (is_string)
        node->valuestring = copy_string(p, text, len);
    if (is_number)
        set_number(node, text, len);
    node->valueint |= type == cJSON_True;
    return node;
}

/* Parses the value at the current byte. Returns NULL on failure. */
static cJSON *parse_value(struct filter_parser *p, const struct json_filter_row *row)
{
    const struct json_filter *inside = row->inside ? row->inside : &empty_object;
    char byte = *p->at;

    if (byte == '{')
        return parse_object(p, row->action == JSON_FILTER_OBJECT ? inside : NULL);
    if (byte == '[')
        return parse_array(p, row->action == JSON_FILTER_ELEMENTS ? inside : NULL);
    return parse_scalar(p);
}

/* Begins an object or array at its bracket. Returns false on failure. */
static bool open_container(struct filter_parser *p, struct open_container *c, int type,
                           const struct json_filter *filter)
{
    *c = (struct open_container){.node = p->levels > 0 ? new_value(p, type) : NULL,
                                 .filter = filter};
    if (!c->node)
        return false;
    p->levels--;
    p->at++;
    return true;
}

/* Moves behind a comma. Returns false at another byte. */
static bool take_comma(struct filter_parser *p)
{
    if (next_byte(p) != ',')
        return false;
    p->at++;
    return true;
}

/* Ends an array or object at its closing bracket. Returns its node; NULL at another byte. */
static cJSON *close_container(struct filter_parser *p, const struct open_container *c, char closer)
{
    if (*p->at != closer)
        return NULL;
    p->levels++;
    p->at++;
    return c->node;
}

/* Parses an array; `filter` applies to its objects. */
static cJSON *parse_array(struct filter_parser *p, const struct json_filter *filter)
{
    const struct json_filter_row row = {
        .action = filter ? JSON_FILTER_OBJECT : JSON_FILTER_KEEP,
        .inside = filter,
    };
    struct open_container c;

    if (!open_container(p, &c, cJSON_Array, filter))
        return NULL;
    if (next_byte(p) == ']')
        return close_container(p, &c, ']');
    do {
        next_byte(p);

        cJSON *element = parse_value(p, &row);

        if (!element)
            return NULL;
        append_child(&c, element);
    } while (take_comma(p));
    return close_container(p, &c, ']');
}

/* Returns the row of the key between its quotes; NULL without one. */
static const struct json_filter_row *find_row(const struct json_filter *filter, const char *key,
                                              size_t len)
{
    for (unsigned i = 0; i < filter->row_count; i++) {
        const struct json_filter_row *row = &filter->rows[i];

        if (row->key[0] == key[0] && strncmp(row->key, key, len) == 0 && row->key[len] == '\0')
            return row;
    }
    return NULL;
}

/*
 * Returns the handling of the member whose key has the text `key` between its quotes. The result
 * has a key only if a row is found.
 */
static struct json_filter_row choose_row(struct filter_parser *p, struct open_container *c,
                                         const char *key, size_t len)
{
    const struct json_filter *filter = c->filter;
    const struct json_filter_row *row = find_row(filter, key, len);

    if (!row) {
        bool escaped = filter->row_count > 0 && memchr(key, '\\', len);

        p->has_escaped_key |= escaped;
        return (struct json_filter_row){.action = escaped ? JSON_FILTER_KEEP : filter->others};
    }

    uint64_t bit = UINT64_C(1) << (row - filter->rows);
    bool again = c->seen & bit;

    c->seen |= bit;
    if (again || (row->condition == JSON_FILTER_IF_MARKED && !p->marked))
        return (struct json_filter_row){.key = row->key, .action = JSON_FILTER_KEEP};
    return *row;
}

/* Parses or drops the member at the current byte. Returns false on failure. */
static bool parse_member(struct filter_parser *p, struct open_container *c)
{
    struct json_filter_row row = {.action = JSON_FILTER_KEEP};
    const char *key = p->at;
    size_t len;
    cJSON *value;

    if (*key != '"' || !move_to(p, json_skip_string(key, p->end)))
        return false;
    len = (size_t)(p->at - key);
    if (c->filter)
        row = choose_row(p, c, key + 1, len - 2);
    if (next_byte(p) != ':')
        return false;
    p->at++;
    next_byte(p);
    if (row.action == JSON_FILTER_DROP)
        return move_to(p, json_skip_value(p->at, p->end, p->levels));
    value = parse_value(p, &row);
    if (!value)
        return false;
    value->string = row.key ? (char *)(uintptr_t)row.key : copy_string(p, key, len);
    append_child(c, value);
    if (row.condition == JSON_FILTER_MARK && !p->has_escaped_key)
        p->marked |= cJSON_IsNumber(value) && value->valuedouble >= 1;
    return true;
}

/* Parses an object. JSON_DEPTH_MAX limits the recursion. */
static cJSON *parse_object(struct filter_parser *p, const struct json_filter *filter)
{
    struct open_container c;

    if (!open_container(p, &c, cJSON_Object, filter))
        return NULL;
    if (next_byte(p) == '}')
        return close_container(p, &c, '}');
    do {
        next_byte(p);
        if (!parse_member(p, &c))
            return NULL;
    } while (take_comma(p));
    return close_container(p, &c, '}');
}

cJSON *json_filter_parse_first(const struct json_filter *filter, const char *json, size_t len,
                               size_t max_values, struct json_memory *memory, size_t *used)
{
    struct filter_parser p = {
        .at = json,
        .end = json + len,
        .memory = memory,
        .levels = JSON_DEPTH_MAX,
        .values_left = max_values,
    };
    cJSON *tree = next_byte(&p) == '{' ? parse_object(&p, filter) : NULL;

    *used = (size_t)(p.at - json);
    return tree;
}

cJSON *json_filter_parse(const struct json_filter *filter, const char *json, size_t len,
                         size_t max_values, struct json_memory *memory)
{
    size_t used;
    cJSON *tree = json_filter_parse_first(filter, json, len, max_values, memory, &used);

    return json_skip_space(json + used) == json + len ? tree : NULL;
}

void json_set_text(cJSON *item, const char *text)
{
    if (item->type & cJSON_IsReference)
        item->valuestring = (char *)(uintptr_t)text;
    else if (!cJSON_SetValuestring(item, text))
        memory_exhausted(0);
}

/* Adds a first member to an object of json_filter_parse(). */
static void prepend_text(struct json_memory *m, cJSON *object, const char *key, const char *text)
{
    cJSON *node = add_node(m, cJSON_String);
    cJSON *first = object->child;

    node->string = (char *)(uintptr_t)key;
    node->valuestring = (char *)(uintptr_t)text;
    node->next = first;
    node->prev = first ? first->prev : node;
    if (first)
        first->prev = node;
    object->child = node;
}

void json_set_member_text(struct json_memory *m, cJSON *object, const char *key, const char *text)
{
    cJSON *item = cJSON_GetObjectItemCaseSensitive(object, key);

    if (cJSON_IsString(item)) {
        json_set_text(item, text);
    } else if (object->type & cJSON_IsReference) {
        prepend_text(m, object, key, text);
    } else {
        cJSON_DeleteItemFromObjectCaseSensitive(object, key);
        if (!cJSON_AddStringToObject(object, key, text))
            memory_exhausted(0);
    }
}
