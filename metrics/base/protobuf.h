/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/base/error.h"
#include "metrics/base/strbuf.h"

/*
 * Reader of untrusted protobuf messages (proto2 and proto3 wire format), and their conversion to
 * JSON text by tables of fields. Groups are not supported.
 */

/* ---- wire format ---- */

/* Part of a message that has not been read. */
struct protobuf_reader {
    const char *at;
    const char *end;
};

enum protobuf_wire {
    PROTOBUF_VARINT = 0,
    PROTOBUF_FIXED64 = 1,
    PROTOBUF_BYTES = 2, /* Text, bytes or a message. */
    PROTOBUF_FIXED32 = 5,
};

struct protobuf_value {
    uint32_t number; /* Number of the field. */
    enum protobuf_wire wire;
    uint64_t varint;   /* With PROTOBUF_VARINT; negative integers in two's complement. */
    const char *bytes; /* With PROTOBUF_BYTES; points into the message. */
    size_t len;
};

enum protobuf_outcome {
    PROTOBUF_READ,
    PROTOBUF_CUT,     /* The bytes end inside of the value, or before it. */
    PROTOBUF_INVALID, /* No continuation makes the bytes valid. */
};

/* Reads a number and moves past it. Otherwise, the position is undefined. */
enum protobuf_outcome protobuf_read_varint(struct protobuf_reader *r, uint64_t *out) MUST_USE;

/*
 * Reads the tag of a field into `number` and `wire`; with PROTOBUF_BYTES, then the length of the
 * value into `varint`, else the value. Leaves `bytes` and `len` zero. Moves past that part. If the
 * outcome is not PROTOBUF_READ, the position is undefined.
 */
enum protobuf_outcome protobuf_read_head(struct protobuf_reader *r,
                                         struct protobuf_value *out) MUST_USE;

/*
 * Reads a field with its value and moves past it. Returns false, with the reason in `err`, if the
 * bytes are no field, or are cut. If they are cut in a value with PROTOBUF_BYTES, its first bytes
 * are in `out`; otherwise `bytes` is then NULL.
 */
bool protobuf_read_field(struct protobuf_reader *r, struct protobuf_value *out,
                         struct error *err) MUST_USE;

/* ---- conversion to JSON ---- */

enum protobuf_type {
    PROTOBUF_TEXT = 1, /* String. */
    PROTOBUF_INT,      /* int32 or int64. */
    PROTOBUF_BOOL,
    PROTOBUF_TIME, /* Message with the seconds since the epoch as field 1; RFC 3339 in JSON. */
    PROTOBUF_JSON, /* Message whose field 1 is JSON text, which is copied without a check. */
    PROTOBUF_MESSAGE,
    PROTOBUF_OTHER, /* Bytes that a function converts. */
};

enum protobuf_repeat {
    PROTOBUF_ONCE,
    PROTOBUF_ARRAY,
    PROTOBUF_MAP, /* Entries are messages with the key as field 1, the value as field 2: texts. */
};

struct protobuf_field {
    const char *key;         /* Member of the JSON object; NULL: the field is not converted. */
    enum protobuf_type type; /* With PROTOBUF_MAP: PROTOBUF_TEXT. */
    enum protobuf_repeat repeat;
    const struct protobuf_message *message; /* With PROTOBUF_MESSAGE. */
    /* With PROTOBUF_OTHER: like protobuf_write_object(). */
    bool (*write)(const char *bytes, size_t len, struct strbuf *out, struct error *err);
};

/* Fields of a message that are converted; messages must not contain themselves. */
struct protobuf_message {
    const struct protobuf_field *fields; /* By number. */
    uint32_t count;                      /* One more than the largest number, at most 32. */
};

/*
 * Appends the fields in their order as members of a JSON object, the first after `separator`, the
 * others after ','. Leaves out empty texts, 0 and empty times, as the API server does in JSON.
 * Returns the separator of the next member: ',' after a member, else `separator`.
 *
 * Returns '\0', with the reason in `err`, if the bytes are cut or invalid, a field has another type
 * than in the table, or a field occurs at two places. The text then ends after the last valid part,
 * which may be within nested messages that are not closed.
 */
char protobuf_write_members(const struct protobuf_message *message, const char *bytes, size_t len,
                            char separator, struct strbuf *out, struct error *err) MUST_USE;

/* Appends a message as JSON object. Returns false where protobuf_write_members() returns '\0'. */
bool protobuf_write_object(const struct protobuf_message *message, const char *bytes, size_t len,
                           struct strbuf *out, struct error *err) MUST_USE;

/* Appends the end of an object, after its last member returned `separator`. */
void protobuf_end_object(char separator, struct strbuf *out);
