/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/model/store.h"

/*
 * The object of an entry, by its class. NULL if the entry is of another class, has no object, or
 * is NULL itself. Borrowed from the store.
 */
struct binding;
struct cluster;
struct event;
struct lease;
struct override;
struct policy;
struct template;
struct work;

static inline const void *entry_object(const struct entry *e, enum object_class class)
{
    return e && entry_class(e) == class ? e->object : NULL;
}

static inline const struct template *entry_template(const struct entry *e)
{
    return entry_object(e, CLASS_TEMPLATE);
}

/* Objects of both classes are decoded as a struct template (kind.c). */
static inline const struct template *entry_template_or_setting(const struct entry *e)
{
    return e && entry_class(e) == CLASS_SETTING ? e->object : entry_template(e);
}

static inline const struct policy *entry_policy(const struct entry *e)
{
    return entry_object(e, CLASS_POLICY);
}

static inline const struct binding *entry_binding(const struct entry *e)
{
    return entry_object(e, CLASS_BINDING);
}

static inline const struct override *entry_override(const struct entry *e)
{
    return entry_object(e, CLASS_OVERRIDE);
}

static inline const struct cluster *entry_cluster(const struct entry *e)
{
    return entry_object(e, CLASS_CLUSTER);
}

static inline const struct event *entry_event(const struct entry *e)
{
    return entry_object(e, CLASS_EVENT);
}

static inline const struct lease *entry_lease(const struct entry *e)
{
    return entry_object(e, CLASS_LEASE);
}

static inline const struct work *entry_work(const struct entry *e)
{
    return entry_object(e, CLASS_WORK);
}
