/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/kube/namespace_filter.h"
#include "exporter/system/log.h"
#include "metrics/model/store.h"

/*
 * What one reflector puts into the store that all sources share. Its objects carry its
 * origin: it touches no other source's, and after a pass over all objects it removes
 * those that are gone.
 */
struct reflector_store {
    struct store *store; /* Borrowed, as is all that follows. */
    const struct log *log;
    const struct namespace_filter *filter; /* NULL: objects of all namespaces. */
    const char *resource;                  /* For log lines, as is the apiVersion. */
    const char *api_version;
    /* Keep only what rules go by, as settings of this apiVersion rather than as templates. */
    const char *settings; /* NULL: keep all, as what they are. */
    struct origin origin;
    uint64_t rejected; /* Objects that could not be read. */
};

/* The object exists, as given. Outside the filter it is skipped; an unreadable one is rejected. */
void reflector_store_put(struct reflector_store *s, const cJSON *object);

/* The object was deleted. One that another source brought stays. */
void reflector_store_remove(struct reflector_store *s, const cJSON *object);

/*
 * An object exists and cannot be read: count and log it. Its last readable version stays, if
 * `object` (NULL: not even that could be read) says which one it is.
 */
void reflector_store_reject(struct reflector_store *s, const cJSON *object, const char *reason);

/* Begin a pass over all objects. */
void reflector_store_begin_pass(struct reflector_store *s);
/* The pass is complete: remove the objects that it did not bring. */
void reflector_store_end_pass(struct reflector_store *s);
/* Remove all objects. */
void reflector_store_clear(struct reflector_store *s);
