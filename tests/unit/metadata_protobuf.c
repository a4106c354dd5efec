/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/metadata_protobuf.h"

#include "metrics/base/timestamp.h"

enum { BODY_MAX = 1 << 26 };

void append_varint(struct strbuf *out, uint64_t value)
{
    for (; value >= 0x80; value >>= 7)
        strbuf_addc(out, (char)(value | 0x80));
    strbuf_addc(out, (char)value);
}

void append_bytes_field(struct strbuf *out, unsigned number, const void *bytes, size_t len)
{
    append_varint(out, number << 3 | 2);
    append_varint(out, len);
    strbuf_add(out, bytes, len);
}

void append_text_field(struct strbuf *out, unsigned number, const char *text)
{
    append_bytes_field(out, number, text, strlen(text));
}

void append_int_field(struct strbuf *out, unsigned number, int64_t value)
{
    append_varint(out, number << 3);
    append_varint(out, (uint64_t)value);
}

static void append_message_field(struct strbuf *out, unsigned number, const struct strbuf *message)
{
    append_bytes_field(out, number, message->data, message->len);
}

/* Appends a text that Go encodes even if it is empty. */
static void append_member(struct strbuf *out, unsigned number, const cJSON *object, const char *key)
{
    append_text_field(out, number, json_str(object, key, ""));
}

static void append_time(struct strbuf *out, unsigned number, const cJSON *object, const char *key)
{
    CLEANUP(strbuf_release) struct strbuf time = STRBUF_INIT(BODY_MAX);
    int64_t ms = 0;

    if (parse_timestamp(json_str(object, key, ""), &ms)) {
        append_int_field(&time, 1, ms / 1000);
        append_int_field(&time, 2, 0);
    }
    if (time.len > 0 || strcmp(key, "creationTimestamp") == 0)
        append_message_field(out, number, &time);
}

static void append_map(struct strbuf *out, unsigned number, const cJSON *map)
{
    const cJSON *item;

    cJSON_ArrayForEach (item, map) {
        CLEANUP(strbuf_release) struct strbuf entry = STRBUF_INIT(BODY_MAX);

        append_text_field(&entry, 1, item->string);
        append_text_field(&entry, 2, item->valuestring);
        append_message_field(out, number, &entry);
    }
}

static void append_owners(struct strbuf *out, const cJSON *metadata)
{
    const cJSON *owner;

    cJSON_ArrayForEach (owner, json_get(metadata, "ownerReferences")) {
        CLEANUP(strbuf_release) struct strbuf message = STRBUF_INIT(BODY_MAX);

        append_member(&message, 1, owner, "kind");
        append_member(&message, 3, owner, "name");
        append_member(&message, 4, owner, "uid");
        append_member(&message, 5, owner, "apiVersion");
        if (json_get(owner, "controller"))
            append_int_field(&message, 6, json_bool(owner, "controller", false));
        append_message_field(out, 13, &message);
    }
}

static void append_managed_fields(struct strbuf *out, const cJSON *metadata)
{
    const cJSON *entry;

    cJSON_ArrayForEach (entry, json_get(metadata, "managedFields")) {
        CLEANUP(strbuf_release) struct strbuf message = STRBUF_INIT(BODY_MAX);
        CLEANUP(strbuf_release) struct strbuf fields = STRBUF_INIT(BODY_MAX);
        CLEANUP(free_cleanup)
        char *text = cJSON_PrintUnformatted(json_get(entry, "fieldsV1"));

        append_member(&message, 1, entry, "manager");
        append_member(&message, 2, entry, "operation");
        append_member(&message, 3, entry, "apiVersion");
        append_time(&message, 4, entry, "time");
        append_member(&message, 6, entry, "fieldsType");
        if (text) {
            append_text_field(&fields, 1, text);
            append_message_field(&message, 7, &fields);
        }
        append_member(&message, 8, entry, "subresource");
        append_message_field(out, 17, &message);
    }
}

void append_metadata_protobuf(const cJSON *object, struct strbuf *out)
{
    const cJSON *metadata = json_get(object, "metadata");
    CLEANUP(strbuf_release) struct strbuf message = STRBUF_INIT(BODY_MAX);

    append_member(&message, 1, metadata, "name");
    append_member(&message, 2, metadata, "generateName");
    append_member(&message, 3, metadata, "namespace");
    append_text_field(&message, 4, "");
    append_member(&message, 5, metadata, "uid");
    append_member(&message, 6, metadata, "resourceVersion");
    append_int_field(&message, 7, json_int(metadata, "generation", 0));
    append_time(&message, 8, metadata, "creationTimestamp");
    append_time(&message, 9, metadata, "deletionTimestamp");
    append_map(&message, 11, json_get(metadata, "labels"));
    append_map(&message, 12, json_get(metadata, "annotations"));
    append_owners(&message, metadata);
    append_managed_fields(&message, metadata);
    append_message_field(out, 1, &message);
}

/* Appends the envelope of an object. */
static void append_envelope(const char *api_version, const char *kind, const struct strbuf *raw,
                            struct strbuf *out)
{
    CLEANUP(strbuf_release) struct strbuf type = STRBUF_INIT(BODY_MAX);

    append_text_field(&type, 1, api_version);
    append_text_field(&type, 2, kind);
    strbuf_add(out, "k8s", sizeof("k8s"));
    append_message_field(out, 1, &type);
    append_message_field(out, 2, raw);
    append_text_field(out, 3, "");
    append_text_field(out, 4, "");
}

void append_list_protobuf(const cJSON *list, struct strbuf *out)
{
    const cJSON *metadata = json_get(list, "metadata");
    const cJSON *object;
    CLEANUP(strbuf_release) struct strbuf message = STRBUF_INIT(BODY_MAX);
    CLEANUP(strbuf_release) struct strbuf raw = STRBUF_INIT(BODY_MAX);

    append_text_field(&message, 1, "");
    append_member(&message, 2, metadata, "resourceVersion");
    append_member(&message, 3, metadata, "continue");
    if (json_get(metadata, "remainingItemCount"))
        append_int_field(&message, 4, json_int(metadata, "remainingItemCount", 0));
    if (json_get(metadata, "shardInfo")) {
        CLEANUP(strbuf_release) struct strbuf shard = STRBUF_INIT(BODY_MAX);

        append_member(&shard, 1, json_get(metadata, "shardInfo"), "selector");
        append_message_field(&message, 5, &shard);
    }
    append_message_field(&raw, 1, &message);
    cJSON_ArrayForEach (object, json_get(list, "items")) {
        CLEANUP(strbuf_release) struct strbuf item = STRBUF_INIT(BODY_MAX);

        append_metadata_protobuf(object, &item);
        append_message_field(&raw, 2, &item);
    }
    append_envelope("meta.k8s.io/v1", "PartialObjectMetadataList", &raw, out);
}

static void append_status(const cJSON *status, struct strbuf *out)
{
    const cJSON *details = json_get(status, "details"), *item;
    CLEANUP(strbuf_release) struct strbuf message = STRBUF_INIT(BODY_MAX);

    append_text_field(out, 1, "");
    append_text_field(out, 2, "Failure");
    append_member(out, 3, status, "message");
    append_member(out, 4, status, "reason");
    cJSON_ArrayForEach (item, json_get(details, "causes")) {
        CLEANUP(strbuf_release) struct strbuf cause = STRBUF_INIT(BODY_MAX);

        append_member(&cause, 1, item, "reason");
        append_message_field(&message, 4, &cause);
    }
    append_int_field(&message, 5, json_int(details, "retryAfterSeconds", 0));
    append_message_field(out, 5, &message);
    append_int_field(out, 6, json_int(status, "code", 0));
}

void append_event_protobuf(const cJSON *event, struct strbuf *out)
{
    const cJSON *object = json_get(event, "object");
    CLEANUP(strbuf_release) struct strbuf raw = STRBUF_INIT(BODY_MAX);
    CLEANUP(strbuf_release) struct strbuf envelope = STRBUF_INIT(BODY_MAX);
    CLEANUP(strbuf_release) struct strbuf extension = STRBUF_INIT(BODY_MAX);
    CLEANUP(strbuf_release) struct strbuf message = STRBUF_INIT(BODY_MAX);

    if (strcmp(json_str(object, "kind", ""), "Status") == 0) {
        append_status(object, &raw);
        append_envelope("v1", "Status", &raw, &envelope);
    } else {
        append_metadata_protobuf(object, &raw);
        append_envelope("meta.k8s.io/v1", "PartialObjectMetadata", &raw, &envelope);
    }
    append_message_field(&extension, 1, &envelope);
    append_member(&message, 1, event, "type");
    append_message_field(&message, 2, &extension);
    for (unsigned shift = 32; shift > 0; shift -= 8)
        strbuf_addc(out, (char)(message.len >> (shift - 8)));
    strbuf_add(out, message.data, message.len);
}
