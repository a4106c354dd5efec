/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/base/json.h"

/* No name of an object is longer, in bytes (Kubernetes: DNS subdomains). */
enum { OBJECT_NAME_MAX = 253 };

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
 * What is left of metadata.resourceVersion of an object where only few bytes are to be had: the
 * low 32 bits of the number that it is, a hash of any other, 0 if there is none.
 */
uint32_t version_mark(const cJSON *json);
/* The same of a text. */
uint32_t version_mark_of(const char *version);

/* True if `a` is the newer one of two numbers of which neither is 2^31 versions older. */
static inline bool version_mark_is_newer(uint32_t a, uint32_t b)
{
    return (int32_t)(a - b) > 0;
}

/* Read the identity of an object; false if anything but the namespace is missing. */
bool identity_read(const cJSON *json, struct identity *out, struct error *err) MUST_USE;
