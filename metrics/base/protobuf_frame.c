/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/base/protobuf_frame.h"

static const char magic[] = "k8s";

enum {
    MAGIC_BYTES = sizeof(magic), /* With its NUL. */
    LENGTH_BYTES = 4,
    /* A larger length is no length of an event: API servers accept objects of 3 MiB. */
    EVENT_MAX_BYTES = 1 << 28,
    /* Maximum of a type or of the metadata of a list, of which the continue token is a part. */
    REST_MAX_BYTES = 1 << 20,
    KIND_SHOWN_BYTES = 100,
};

/* ---- messages of k8s.io/apimachinery (pkg/runtime and pkg/apis/meta/v1, generated.proto) ---- */

#define FIELDS(array)                                                                              \
    {                                                                                              \
        array, ARRAY_LEN(array)                                                                    \
    }

/* Numbers of fields. The envelope is the message Unknown, which follows `magic`. */
enum {
    ENVELOPE_TYPE = 1,
    ENVELOPE_RAW = 2,
    TYPE_KIND = 2,
    EXTENSION_RAW = 1,
    LIST_METADATA = 1,
    LIST_ITEM = 2,
};

static const struct protobuf_field type_fields[] = {
    [1] = {.key = "apiVersion", .type = PROTOBUF_TEXT},
    [2] = {.key = "kind", .type = PROTOBUF_TEXT},
};
static const struct protobuf_message type_message = FIELDS(type_fields);

static const struct protobuf_field shard_fields[] = {
    [1] = {.key = "selector", .type = PROTOBUF_TEXT},
};
static const struct protobuf_message shard_message = FIELDS(shard_fields);

static const struct protobuf_field list_metadata_fields[] = {
    [2] = {.key = "resourceVersion", .type = PROTOBUF_TEXT},
    [3] = {.key = "continue", .type = PROTOBUF_TEXT},
    [4] = {.key = "remainingItemCount", .type = PROTOBUF_INT},
    [5] = {.key = "shardInfo", .type = PROTOBUF_MESSAGE, .message = &shard_message},
};
static const struct protobuf_message list_metadata_message = FIELDS(list_metadata_fields);

static const struct protobuf_field owner_fields[] = {
    [1] = {.key = "kind", .type = PROTOBUF_TEXT},
    [3] = {.key = "name", .type = PROTOBUF_TEXT},
    [4] = {.key = "uid", .type = PROTOBUF_TEXT},
    [5] = {.key = "apiVersion", .type = PROTOBUF_TEXT},
    [6] = {.key = "controller", .type = PROTOBUF_BOOL},
};
static const struct protobuf_message owner_message = FIELDS(owner_fields);

static const struct protobuf_field managed_fields_fields[] = {
    [1] = {.key = "manager", .type = PROTOBUF_TEXT},
    [2] = {.key = "operation", .type = PROTOBUF_TEXT},
    [4] = {.key = "time", .type = PROTOBUF_TIME},
    [7] = {.key = "fieldsV1", .type = PROTOBUF_JSON},
    [8] = {.key = "subresource", .type = PROTOBUF_TEXT},
};
static const struct protobuf_message managed_fields_message = FIELDS(managed_fields_fields);

static const struct protobuf_field metadata_fields[] = {
    [1] = {.key = "name", .type = PROTOBUF_TEXT},
    [3] = {.key = "namespace", .type = PROTOBUF_TEXT},
    [5] = {.key = "uid", .type = PROTOBUF_TEXT},
    [6] = {.key = "resourceVersion", .type = PROTOBUF_TEXT},
    [7] = {.key = "generation", .type = PROTOBUF_INT},
    [8] = {.key = "creationTimestamp", .type = PROTOBUF_TIME},
    [9] = {.key = "deletionTimestamp", .type = PROTOBUF_TIME},
    [11] = {.key = "labels", .type = PROTOBUF_TEXT, .repeat = PROTOBUF_MAP},
    [12] = {.key = "annotations", .type = PROTOBUF_TEXT, .repeat = PROTOBUF_MAP},
    [13] = {"ownerReferences", PROTOBUF_MESSAGE, PROTOBUF_ARRAY, &owner_message, NULL},
    [17] = {"managedFields", PROTOBUF_MESSAGE, PROTOBUF_ARRAY, &managed_fields_message, NULL},
};
static const struct protobuf_message metadata_message = FIELDS(metadata_fields);

static const struct protobuf_field object_fields[] = {
    [1] = {.key = "metadata", .type = PROTOBUF_MESSAGE, .message = &metadata_message},
};
static const struct protobuf_message object_message = FIELDS(object_fields);

static const struct protobuf_field cause_fields[] = {
    [1] = {.key = "reason", .type = PROTOBUF_TEXT},
};
static const struct protobuf_message cause_message = FIELDS(cause_fields);

static const struct protobuf_field details_fields[] = {
    [4] = {"causes", PROTOBUF_MESSAGE, PROTOBUF_ARRAY, &cause_message, NULL},
    [5] = {.key = "retryAfterSeconds", .type = PROTOBUF_INT},
};
static const struct protobuf_message details_message = FIELDS(details_fields);

static const struct protobuf_field status_fields[] = {
    [3] = {.key = "message", .type = PROTOBUF_TEXT},
    [5] = {.key = "details", .type = PROTOBUF_MESSAGE, .message = &details_message},
    [6] = {.key = "code", .type = PROTOBUF_INT},
};
static const struct protobuf_message status_message = FIELDS(status_fields);

/* Objects in watch events. */
static const struct {
    const char *kind;
    const struct protobuf_message *message;
} embedded_kinds[] = {
    {"PartialObjectMetadata", &object_message},
    {"Status", &status_message},
};

/* Sets `out` to the kind in a TypeMeta; to no bytes without a kind. */
static void read_kind(const char *bytes, size_t len, struct protobuf_value *out)
{
    struct protobuf_reader r = {bytes, bytes + len};
    struct error ignored;

    *out = (struct protobuf_value){.bytes = ""};
    while (r.at < r.end && protobuf_read_field(&r, out, &ignored)) {
        if (out->number == TYPE_KIND && out->bytes)
            return;
        *out = (struct protobuf_value){.bytes = ""};
    }
}

static bool text_equals(const struct protobuf_value *value, const char *text)
{
    return value->len == strlen(text) && memcmp(value->bytes, text, value->len) == 0;
}

/* Returns the message of an object with this TypeMeta; NULL for another kind. */
static const struct protobuf_message *find_embedded_kind(const struct protobuf_value *type)
{
    struct protobuf_value kind;

    read_kind(type->bytes, type->len, &kind);
    for (size_t i = 0; i < ARRAY_LEN(embedded_kinds); i++) {
        if (text_equals(&kind, embedded_kinds[i].kind))
            return embedded_kinds[i].message;
    }
    return NULL;
}

/* Appends the object in an envelope as JSON object. */
static bool write_enveloped_object(const char *bytes, size_t len, struct strbuf *out,
                                   struct error *err)
{
    struct protobuf_reader r = {bytes, bytes + len};
    const struct protobuf_message *message = NULL;
    struct protobuf_value value;
    char separator = '{';

    if (len < MAGIC_BYTES || memcmp(bytes, magic, MAGIC_BYTES) != 0)
        return fail(err, "not valid protobuf: an object does not begin with 'k8s'");
    r.at += MAGIC_BYTES;
    while (r.at < r.end && separator != '\0') {
        bool whole = protobuf_read_field(&r, &value, err);

        if (value.bytes && value.number == ENVELOPE_TYPE) {
            message = find_embedded_kind(&value);
            separator =
                protobuf_write_members(&type_message, value.bytes, value.len, separator, out, err);
        } else if (value.bytes && value.number == ENVELOPE_RAW) {
            if (!message)
                return fail(err, "the object is no PartialObjectMetadata");
            separator =
                protobuf_write_members(message, value.bytes, value.len, separator, out, err);
        }
        separator = whole ? separator : '\0';
    }
    protobuf_end_object(separator, out);
    return separator != '\0';
}

/* Appends the object in a RawExtension as JSON object. */
static bool write_extension(const char *bytes, size_t len, struct strbuf *out, struct error *err)
{
    struct protobuf_reader r = {bytes, bytes + len};
    struct protobuf_value raw;
    bool whole = protobuf_read_field(&r, &raw, err);

    if (raw.bytes && raw.number == EXTENSION_RAW)
        return write_enveloped_object(raw.bytes, raw.len, out, err) && whole;
    return fail(err, "not valid protobuf: an event has no object");
}

static const struct protobuf_field event_fields[] = {
    [1] = {.key = "type", .type = PROTOBUF_TEXT},
    [2] = {.key = "object", .type = PROTOBUF_OTHER, .write = write_extension},
};
static const struct protobuf_message event_message = FIELDS(event_fields);

/* ---- framing ---- */

void protobuf_frame_init(struct protobuf_frame *f, enum json_frame_mode mode, size_t max,
                         protobuf_frame_fn *on_object, void *context)
{
    *f = (struct protobuf_frame){
        .mode = mode,
        .on_object = on_object,
        .context = context,
        .state = mode == JSON_FRAME_LIST ? PROTOBUF_FRAME_MAGIC : PROTOBUF_FRAME_LENGTH,
        .value = STRBUF_INIT(max),
        .text = STRBUF_INIT(max),
        .rest = STRBUF_INIT(REST_MAX_BYTES),
    };
}

void protobuf_frame_release(struct protobuf_frame *f)
{
    strbuf_release(&f->value);
    strbuf_release(&f->text);
    strbuf_release(&f->rest);
}

/* Converts and emits an item or event. Returns false, with `err` unchanged, if the handler stops.
 */
static bool emit_object(struct protobuf_frame *f, const char *bytes, size_t len)
{
    const struct protobuf_message *message =
        f->mode == JSON_FRAME_LIST ? &object_message : &event_message;
    struct error fault;
    bool valid = protobuf_write_object(message, bytes, len, &f->text, &fault);
    struct protobuf_object object = {
        .json = f->text.data,
        .len = f->text.len,
        .cut = f->size > len || !strbuf_ok(&f->text),
        .fault = valid ? NULL : fault.text,
    };
    bool goes_on = f->on_object(f->context, &object);

    strbuf_reset(&f->text);
    return goes_on;
}

/* Reads the type of the body, which must be a list with metadata. */
static bool read_type(struct protobuf_frame *f, const char *bytes, size_t len, struct error *err)
{
    struct protobuf_value kind;

    read_kind(bytes, len, &kind);
    if (!text_equals(&kind, "PartialObjectMetadataList"))
        return fail(err, "the body is a %.*s and no list of metadata",
                    kind.len < KIND_SHOWN_BYTES ? (int)kind.len : KIND_SHOWN_BYTES, kind.bytes);
    if (f->rest.len > 0)
        return fail(err, "not valid protobuf: the list has two types");
    return protobuf_write_members(&type_message, bytes, len, '{', &f->rest, err) != '\0';
}

static bool read_list_metadata(struct protobuf_frame *f, const char *bytes, size_t len,
                               struct error *err)
{
    strbuf_adds(&f->rest, ",\"metadata\":");
    return protobuf_write_object(&list_metadata_message, bytes, len, &f->rest, err);
}

/* Returns true if the value has a meaning. */
static bool is_read(const struct protobuf_frame *f)
{
    if (f->mode == JSON_FRAME_EVENTS)
        return true;
    return f->in_list ? f->field == LIST_METADATA || f->field == LIST_ITEM
                      : f->field == ENVELOPE_TYPE;
}

/* Handles a complete value, of which `bytes` are at most the first f->value.max. */
static bool handle_value(struct protobuf_frame *f, const char *bytes, size_t len, struct error *err)
{
    if (!is_read(f))
        return true;
    if (f->mode == JSON_FRAME_LIST && !f->in_list)
        return read_type(f, bytes, len, err);
    if (f->mode == JSON_FRAME_LIST && f->field == LIST_METADATA)
        return read_list_metadata(f, bytes, len, err);
    return emit_object(f, bytes, len);
}

/* Changes to the state before the next head. Ends the list after its last byte. */
static void await_head(struct protobuf_frame *f)
{
    f->state = f->mode == JSON_FRAME_LIST ? PROTOBUF_FRAME_TAG : PROTOBUF_FRAME_LENGTH;
    f->head_len = 0;
    if (!f->in_list || f->list_left > 0)
        return;
    f->in_list = false;
    f->ended = true;
    strbuf_addc(&f->rest, '}');
}

/* Reads bytes of a value. Returns their number; sets f->stopped after a failure. */
static size_t read_value(struct protobuf_frame *f, const char *bytes, size_t len, struct error *err)
{
    size_t count = f->left < len ? (size_t)f->left : len;
    size_t room = is_read(f) ? f->value.max - f->value.len : 0;
    size_t kept = count < room ? count : room;
    bool in_one_piece = f->left == f->size && f->left == count;

    f->left -= count;
    if (!in_one_piece)
        strbuf_add(&f->value, bytes, kept);
    if (f->left > 0)
        return count;
    f->stopped = !(in_one_piece ? handle_value(f, bytes, kept, err)
                                : handle_value(f, f->value.data, f->value.len, err));
    strbuf_reset(&f->value);
    await_head(f);
    return count;
}

/* Begins the value of a field, or of an event, or the list message. */
static bool begin_value(struct protobuf_frame *f, uint32_t field, uint64_t size, struct error *err)
{
    bool is_list = f->mode == JSON_FRAME_LIST && !f->in_list && field == ENVELOPE_RAW;

    if (f->in_list && size > f->list_left)
        return fail(err, "not valid protobuf: an item is longer than its list");
    if (is_list && (f->ended || f->rest.len == 0))
        return fail(err, "not valid protobuf: a list without a type, or two lists");
    if (f->mode == JSON_FRAME_EVENTS && size > EVENT_MAX_BYTES)
        return fail(err, "the body is no stream of watch events in protobuf");
    if (f->mode == JSON_FRAME_LIST && !is_list && field != LIST_ITEM && size > REST_MAX_BYTES)
        return fail(err, "a list, not counting its items, is larger than %d bytes", REST_MAX_BYTES);
    if (f->in_list)
        f->list_left -= size;
    if (is_list) {
        f->in_list = true;
        f->list_left = size;
        await_head(f);
        return true;
    }
    f->state = PROTOBUF_FRAME_VALUE;
    f->field = field;
    f->size = f->left = size;
    return true;
}

/* Reads the head if all of its bytes have come. */
static bool read_head(struct protobuf_frame *f, struct error *err)
{
    struct protobuf_reader r = {f->head, f->head + f->head_len};
    struct protobuf_value value = {0};
    const unsigned char *length = (const unsigned char *)f->head;
    enum protobuf_outcome outcome;

    if (f->state == PROTOBUF_FRAME_MAGIC) {
        if (memcmp(f->head, magic, f->head_len) != 0)
            return fail(err, "the body is no Kubernetes protobuf");
        if (f->head_len == MAGIC_BYTES)
            await_head(f);
        return true;
    }
    if (f->state == PROTOBUF_FRAME_LENGTH)
        return f->head_len < LENGTH_BYTES ||
               begin_value(f, 0,
                           (uint32_t)length[0] << 24 | (uint32_t)length[1] << 16 |
                               (uint32_t)length[2] << 8 | length[3],
                           err);
    outcome = protobuf_read_head(&r, &value);
    if (outcome == PROTOBUF_INVALID || (f->in_list && f->head_len > f->list_left))
        return fail(err, "not valid protobuf: a tag or number is invalid");
    if (outcome == PROTOBUF_CUT)
        return true;
    if (f->in_list)
        f->list_left -= f->head_len;
    if (value.wire == PROTOBUF_BYTES)
        return begin_value(f, value.number, value.varint, err);
    await_head(f);
    return true;
}

bool protobuf_frame_feed(struct protobuf_frame *f, const char *bytes, size_t len, struct error *err)
{
    size_t at = 0;

    if (f->stopped)
        return fail(err, "cannot continue after an earlier failure");
    while (!f->stopped && (at < len || (f->state == PROTOBUF_FRAME_VALUE && f->left == 0))) {
        if (f->state == PROTOBUF_FRAME_VALUE) {
            at += read_value(f, bytes + at, len - at, err);
        } else {
            f->head[f->head_len++] = bytes[at++];
            f->stopped = !read_head(f, err);
        }
    }
    return !f->stopped;
}

bool protobuf_frame_is_complete(const struct protobuf_frame *f)
{
    return (f->mode == JSON_FRAME_EVENTS || f->ended) && f->head_len == 0 &&
           f->state != PROTOBUF_FRAME_VALUE;
}
