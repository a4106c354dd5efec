/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/base/json.h"

/* What identifies an object. Cluster-scoped objects have the namespace "". Borrowed texts. */
struct identity {
    const char *api_version;
    const char *kind;
    const char *ns;
    const char *name;
};

/*
 * 32-bit FNV-1a of metadata.uid; its last bit decides ties when replicas are divided (Karmada >=
 * 1.16). That of "" stands for an unknown one.
 */
uint32_t uid_hash(const char *uid);

/* True if both are known, and of different objects. */
bool uid_hashes_differ(uint32_t a, uint32_t b);

/*
 * metadata.resourceVersion of an object: the number below 2^63 that it is, a hash above that of any
 * other, 0 if there is none.
 */
uint64_t version_mark(const cJSON *json);
/* The same of a text. */
uint64_t version_mark_of(const char *version);

/* Read the identity of an object; false if anything but the namespace is missing. */
bool identity_read(const cJSON *json, struct identity *out, struct error *err) MUST_USE;
