/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/files/field_locator.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "exporter/files/json_fields.h"
#include "exporter/system/file.h"
#include "exporter/system/platform.h"
#include "exporter/yaml/yaml_fields.h"
#include "metrics/base/utf16.h"

/* A field of an object. */
struct located_field {
    struct object_source object;
    struct json_position where; /* Of the field; until it is found, that of the object. */
    char path[];
};

struct field_locator {
    const struct manifests *manifests;
    struct map fields;              /* struct located_field, owned. */
    uint64_t seed;                  /* Authors of files choose the places. */
    struct located_field **pending; /* Fields that field_locator_read() has to find. */
    size_t count;
    size_t capacity;
};

/* Key of `fields`. */
struct field_id {
    const struct object_source *object;
    const char *path;
};

static bool is_same_object(const struct object_source *a, const struct object_source *b)
{
    return a->file == b->file && a->place.line == b->place.line &&
           a->place.column == b->place.column && a->place.offset == b->place.offset;
}

static struct json_position position_of(const struct object_source *object)
{
    return (struct json_position){object->place.line, object->place.column};
}

static bool has_id(const void *item, const void *key)
{
    const struct located_field *field = item;
    const struct field_id *id = key;

    return is_same_object(&field->object, id->object) && strcmp(field->path, id->path) == 0;
}

static uint64_t hash_id(const struct field_locator *l, const struct field_id *id)
{
    uint64_t hash = map_hash(&id->object->place.offset, sizeof(id->object->place.offset), l->seed);

    return map_hash(id->path, strlen(id->path), hash ^ map_hash_address(id->object->file));
}

struct field_locator *field_locator_new(const struct manifests *manifests)
{
    struct field_locator *l = xcalloc(1, sizeof(*l));

    l->manifests = manifests;
    l->seed = platform_random_seed();
    l->fields = MAP_INIT(has_id);
    return l;
}

void field_locator_free(struct field_locator *l)
{
    void *field;

    if (!l)
        return;
    for (size_t at = 0; (field = map_next(&l->fields, &at));)
        free(field);
    map_release(&l->fields);
    free(l->pending);
    free(l);
}

/* ---- files ---- */

/* Fields of one file, sorted by their objects. */
struct file_fields {
    struct located_field **items;
    size_t count;
    size_t *objects;              /* Index of the first field of each object. */
    struct json_position *wanted; /* Position of each object. */
    size_t object_count;
    const struct manifest_limits *limits;
    int fd;
    struct strbuf text; /* UTF-8 of a file in UTF-16; else empty. */
    size_t at;          /* Number of bytes of `text` that were read. */
};

/* Reads the next bytes of the text. */
static size_t read_bytes(void *context, char *bytes, size_t size)
{
    struct file_fields *f = context;
    size_t done = 0;

    if (f->text.len > 0) {
        done = f->text.len - f->at < size ? f->text.len - f->at : size;
        memcpy(bytes, f->text.data + f->at, done);
        f->at += done;
        return done;
    }

    while (done < size) {
        ssize_t len = read(f->fd, bytes + done, size - done);

        if (len < 0 && errno == EINTR)
            continue;
        if (len <= 0)
            break;
        done += (size_t)len;
    }
    return done;
}

/* Goes to an offset in the text. */
static bool seek(struct file_fields *f, size_t offset)
{
    if (f->text.len == 0)
        return lseek(f->fd, (off_t)offset, SEEK_SET) == (off_t)offset;
    f->at = offset < f->text.len ? offset : f->text.len;
    return true;
}

/*
 * Converts a file in UTF-16 to f->text, which is limited: offsets of objects are those in UTF-8.
 * Returns false if that fails.
 */
static bool convert_utf16(struct file_fields *f)
{
    enum { CHUNK = 64 * 1024 };
    CLEANUP(free_cleanup) char *chunk = xmalloc(CHUNK);
    CLEANUP(strbuf_release) struct strbuf text = STRBUF_SECRET(f->limits->yaml_max_bytes);
    size_t len = read_bytes(f, chunk, CHUNK);
    struct utf16_converter converter = utf16_detect(chunk, len);

    if (!converter.active)
        return seek(f, 0);
    for (; len > 0; len = read_bytes(f, chunk, CHUNK)) {
        if (!utf16_convert(&converter, chunk, len, &text) || !strbuf_ok(&text))
            return false;
    }
    if (!utf16_convert(&converter, "", 0, &text) || !strbuf_ok(&text))
        return false;
    f->text = text;
    text = STRBUF_INIT(0);
    return true;
}

/* Stores the places of the fields of one object. */
static void receive_object(void *context, size_t index, const struct field_node *object)
{
    const struct file_fields *f = context;
    size_t end = index + 1 < f->object_count ? f->objects[index + 1] : f->count;

    for (size_t i = f->objects[index]; i < end; i++) {
        struct located_field *field = f->items[i];

        field->where = field_node_find(object, field->path);
        /* The column of the object was too large to be stored, and so is that of the field. */
        if (field->object.place.column == 0 && field->where.line == field->object.place.line)
            field->where.column = 0;
    }
}

static void read_json(struct file_fields *f)
{
    for (size_t i = 0; i < f->object_count; i++) {
        struct json_place start = f->items[f->objects[i]]->object.place;
        struct field_node *object = NULL;

        if (seek(f, start.offset))
            object = json_fields_read(read_bytes, f, start, f->limits->object_max_bytes);
        if (object)
            receive_object(f, i, object);
        field_node_free(object);
    }
}

/* Returns a descriptor of the unchanged file, or of the copy of its bytes; -1 without one. */
static int open_unchanged(const struct manifest_file *file)
{
    struct file_signature signature;
    struct stat about;
    struct error ignored;
    int fd;

    if (file->spool >= 0) {
        /* The copy shares its position with the descriptor of the source. */
        return lseek(file->spool, 0, SEEK_SET) == 0 ? fcntl(file->spool, F_DUPFD_CLOEXEC, 0) : -1;
    }
    if (file->read_once)
        return -1;
    fd = file_open(file->path, &about, &ignored);
    if (fd < 0)
        return -1;
    signature = file_signature_of(&about);
    if (file_signature_equal(&signature, &file->signature))
        return fd;
    file_close(&fd);
    return -1;
}

/* Returns true if the file changed while it was read. */
static bool has_changed(const struct manifest_file *file, int fd)
{
    struct file_signature signature;
    struct stat about;

    if (file->spool >= 0)
        return false;
    if (fstat(fd, &about) < 0)
        return true;
    signature = file_signature_of(&about);
    return !file_signature_equal(&signature, &file->signature);
}

/* Finds the first `count` fields, which are of one file and sorted by their objects. */
static void read_file(const struct field_locator *l, struct located_field **items, size_t count)
{
    const struct manifest_file *file = items[0]->object.file;
    CLEANUP(free_cleanup) size_t *objects = xcalloc(count, sizeof(*objects));
    CLEANUP(free_cleanup) struct json_position *wanted = xcalloc(count, sizeof(*wanted));
    CLEANUP(file_close) int fd = open_unchanged(file);
    struct file_fields f = {.items = items,
                            .count = count,
                            .objects = objects,
                            .wanted = wanted,
                            .limits = manifests_limits(l->manifests),
                            .fd = fd,
                            .text = STRBUF_INIT(0)};

    if (fd < 0 || !convert_utf16(&f))
        return;
    for (size_t i = 0; i < count; i++) {
        if (i > 0 && is_same_object(&items[i - 1]->object, &items[i]->object))
            continue;
        wanted[f.object_count] = position_of(&items[i]->object);
        objects[f.object_count++] = i;
    }
    if (file->format == FORMAT_JSON)
        read_json(&f);
    else
        yaml_fields_read(read_bytes, &f, manifest_yaml_limits(f.limits),
                         &(struct wanted_objects){wanted, f.object_count, receive_object, &f});
    for (size_t i = 0; has_changed(file, fd) && i < count; i++)
        items[i]->where = position_of(&items[i]->object);
    strbuf_release(&f.text);
}

static int compare_sizes(size_t a, size_t b)
{
    return a < b ? -1 : a > b;
}

static int compare_fields(const void *a, const void *b)
{
    const struct located_field *const *first = a, *const *second = b;
    const struct json_place *p = &(*first)->object.place, *q = &(*second)->object.place;
    int order = manifest_file_compare((*first)->object.file, (*second)->object.file);

    if (order == 0)
        order = compare_sizes(p->line, q->line);
    if (order == 0)
        order = compare_sizes(p->column, q->column);
    return order != 0 ? order : compare_sizes(p->offset, q->offset);
}

void field_locator_read(struct field_locator *l)
{
    size_t end;

    if (l->count > 1)
        qsort(l->pending, l->count, sizeof(struct located_field *), compare_fields);
    for (size_t i = 0; i < l->count; i = end) {
        for (end = i + 1;
             end < l->count && l->pending[end]->object.file == l->pending[i]->object.file;)
            end++;
        read_file(l, &l->pending[i], end - i);
    }
    l->count = 0;
}

/* ---- fields ---- */

/* Returns the field, and adds it to l->pending if it is new. */
static struct located_field *find_or_add(struct field_locator *l,
                                         const struct object_source *object, const char *path)
{
    const struct field_id id = {object, path};
    struct located_field *field = map_get(&l->fields, hash_id(l, &id), &id);
    size_t size = strlen(path) + 1;

    if (field)
        return field;
    field = xcalloc(1, sizeof(*field) + size);
    field->object = *object;
    field->where = position_of(object);
    memcpy(field->path, path, size);
    map_add(&l->fields, hash_id(l, &id), field);
    if (*path == '\0')
        return field;
    if (l->count == l->capacity) {
        l->capacity += l->capacity / 2 + 16;
        l->pending = xreallocarray(l->pending, l->capacity, sizeof(struct located_field *));
    }
    l->pending[l->count++] = field;
    return field;
}

void field_locator_want(struct field_locator *l, const struct object_source *object,
                        const char *field)
{
    find_or_add(l, object, field);
}

struct json_position field_locator_find(struct field_locator *l, const struct object_source *object,
                                        const char *field)
{
    const struct located_field *found = find_or_add(l, object, field);

    if (l->count > 0)
        field_locator_read(l);
    return found->where;
}
