/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/base/json.h"

/*
 * Encoder of metadata in Kubernetes' protobuf, as an API server sends it: the inverse of
 * protobuf_frame.h.
 */

/* Appends a PartialObjectMetadata, as the item of a list. */
void append_metadata_protobuf(const cJSON *object, struct strbuf *out);

/* Appends the body of a list, given as JSON of any kind of list. */
void append_list_protobuf(const cJSON *list, struct strbuf *out);

/* Appends a watch event with its length: a PartialObjectMetadata, or a Status. */
void append_event_protobuf(const cJSON *event, struct strbuf *out);

/* Append fields of a message. */
void append_varint(struct strbuf *out, uint64_t value);
void append_bytes_field(struct strbuf *out, unsigned number, const void *bytes, size_t len);
void append_text_field(struct strbuf *out, unsigned number, const char *text);
void append_int_field(struct strbuf *out, unsigned number, int64_t value);
