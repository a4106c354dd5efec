/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/files/yaml_file.h"

#include "exporter/files/list.h"

enum {
    /*
     * How much longer a text can be as JSON: "-" and a line break become "null,". Anything beyond
     * comes from aliases.
     */
    GROWTH_MAX = 4,
    /* Objects of the largest size that may be in memory at once: an item, and what it refers to. */
    OBJECTS_MAX = 2,
};

/* An object before its JSON. */
struct yaml_object {
    size_t line;
    size_t len;
    size_t list; /* Number of the list from which the object inherits its kind; 0 without one. */
};

/* `kubectl get -o yaml` sorts keys, so the kind of a list comes behind the items. */
struct yaml_list {
    char *api_version;
    char *kind;
};

static size_t grown(size_t bytes)
{
    return bytes > SIZE_MAX / (2 * GROWTH_MAX) ? SIZE_MAX / 2 : bytes * GROWTH_MAX;
}

void yaml_file_init(struct yaml_file *y, const struct manifest_limits *limits)
{
    *y = (struct yaml_file){.limits = *limits};
    compressed_queue_init(&y->text, limits->yaml_max_bytes);
    compressed_queue_init(&y->json, grown(limits->yaml_max_bytes));
}

void yaml_file_release(struct yaml_file *y)
{
    yaml_reader_free(y->reader);
    y->reader = NULL;
    compressed_queue_release(&y->text);
    compressed_queue_release(&y->json);
    for (size_t i = 0; i < y->list_count; i++) {
        free(y->lists[i].api_version);
        free(y->lists[i].kind);
    }
    free(y->lists);
    y->lists = NULL;
    y->list_count = 0;
}

bool yaml_file_add(struct yaml_file *y, const char *bytes, size_t len)
{
    return compressed_queue_add(&y->text, bytes, len);
}

static size_t read_text(void *context, char *bytes, size_t size)
{
    struct yaml_file *y = context;

    return compressed_queue_read(&y->text, bytes, size);
}

static struct yaml_reader *open_reader(struct yaml_file *y)
{
    return yaml_reader_new(read_text, y,
                           (struct yaml_limits){
                               .nodes_max = y->limits.nodes_max,
                               .bytes_max = y->limits.object_max_bytes * OBJECTS_MAX,
                               .by_item = true,
                               .term = y->limits.term,
                           });
}

static bool add_json(struct yaml_file *y, const cJSON *object, size_t line, size_t list)
{
    CLEANUP(free_cleanup) char *json = cJSON_PrintUnformatted(object);

    if (!json)
        memory_exhausted(0);

    struct yaml_object head = {line, strlen(json), list};

    y->count++;
    if (head.len > y->limits.object_max_bytes)
        return false;
    y->full = !compressed_queue_add(&y->json, (const char *)&head, sizeof(head)) ||
              !compressed_queue_add(&y->json, json, head.len);
    return !y->full;
}

static void keep(void *context, cJSON *object, size_t line)
{
    struct yaml_file *y = context;

    if (y->failed_line == 0 && !add_json(y, object, line, 0))
        y->failed_line = line;
}

/* Keeps an item. The kind that it inherits may be behind it, and is added later. */
static void keep_item(struct yaml_file *y, cJSON *item, size_t line)
{
    if (!list_item_inherits(item)) {
        list_each(item, line, keep, y);
        return;
    }
    y->inherits = true;
    if (!add_json(y, item, line, y->list_count + 1))
        y->failed_line = line;
}

static void keep_document(struct yaml_file *y, cJSON *document, size_t line)
{
    if (y->inherits) {
        y->lists = xreallocarray(y->lists, y->list_count + 1, sizeof(*y->lists));
        y->lists[y->list_count++] = (struct yaml_list){
            .api_version = xstrdup(json_str(document, "apiVersion", "")),
            .kind = xstrdup(json_str(document, "kind", "")),
        };
    }
    y->inherits = false;
    list_each(document, line, keep, y);
}

enum yaml_outcome yaml_file_parse(struct yaml_file *y, struct json_position *where,
                                  struct error *err)
{
    CLEANUP(json_cleanup) cJSON *tree = NULL;

    if (!y->reader)
        y->reader = open_reader(y);

    enum yaml_outcome outcome = yaml_reader_next(y->reader, &tree, where, err);

    if (outcome == YAML_READ_ITEM)
        keep_item(y, tree, where->line);
    else if (outcome == YAML_READ_DOCUMENT)
        keep_document(y, tree, where->line);
    if (y->failed_line > 0) {
        *where = (struct json_position){y->failed_line, 1};
        if (y->full)
            fail(err, "the file, with its anchors expanded, is too large");
        else
            fail(err, "the object is larger than %zu bytes", y->limits.object_max_bytes);
        return YAML_READ_MALFORMED;
    }
    if (outcome == YAML_READ_END) {
        yaml_reader_free(y->reader);
        y->reader = NULL;
        compressed_queue_release(&y->text);
    }
    return outcome;
}

/* Receiver of the objects of a list in a list. */
struct document_receiver {
    struct yaml_file *file;
    json_object_fn *each;
    void *context;
};

static void hand_out(void *context, cJSON *object, size_t line)
{
    const struct document_receiver *h = context;

    h->each(h->context, object, (struct json_place){line, ++h->file->order});
}

bool yaml_file_hand_out(struct yaml_file *y, json_object_fn *each, void *context)
{
    struct document_receiver h = {y, each, context};
    struct yaml_object head;
    struct error err;

    if (y->handed_out == y->count)
        return false;
    y->handed_out++;
    if (compressed_queue_read(&y->json, (char *)&head, sizeof(head)) != sizeof(head))
        abort();

    /* With a NUL behind it, as json_parse needs it. */
    CLEANUP(free_cleanup) char *json = xcalloc(1, head.len + 1);
    if (compressed_queue_read(&y->json, json, head.len) != head.len)
        abort();

    CLEANUP(json_cleanup) cJSON *tree = json_parse(json, head.len, NULL, &err);
    /* Cannot fail: the tree it was printed from came from YAML that was checked. */
    if (!tree)
        abort();
    if (head.list == 0) {
        hand_out(&h, tree, head.line);
        return true;
    }
    const struct yaml_list *list = &y->lists[head.list - 1];

    list_item_complete(tree, list->api_version, list->kind);
    list_each(tree, head.line, hand_out, &h);
    return true;
}
