/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/base/strbuf.h"
#include "metrics/model/metadata.h"

/*
 * Objects of the simulated control plane. Each kind has a fixed number of slots; a slot holds at
 * most one object. The name of an object follows from its slot, its labels and spec from its slot,
 * its value and the plan's template kinds. A write therefore consists of a slot and a number.
 */

enum sim_kind {
    SIM_POLICY,
    SIM_CLUSTER_POLICY,
    SIM_BINDING,
    SIM_CLUSTER_BINDING,
    SIM_OVERRIDE,
    SIM_CLUSTER_OVERRIDE,
    SIM_CLUSTER,
    SIM_EVENT,
    SIM_TEMPLATE, /* First kind of templates. A plan has the first few template kinds. */
    SIM_CONFIG_MAP = SIM_TEMPLATE,
    SIM_DEPLOYMENT,
    SIM_FOO, /* Custom resource, like Zone and Bar. */
    SIM_SECRET,
    SIM_ZONE, /* Cluster-scoped. */
    SIM_SERVICE,
    SIM_BAR,
    SIM_STATEFUL_SET,
    SIM_KIND_COUNT,
    SIM_DISCOVERY = SIM_KIND_COUNT, /* Target of requests and faults, but not a kind. */
    SIM_TARGET_COUNT,
};

enum {
    SIM_TEMPLATE_KINDS = SIM_KIND_COUNT - SIM_TEMPLATE,
    SIM_PLACES = 12, /* Slots of each kind. */
    SIM_SLOTS = SIM_KIND_COUNT * SIM_PLACES,
    SIM_VALUES = 1000,
};

/* Reason of every SIM_EVENT. */
#define EVENT_REASON "DependencyPolicyConflict"

struct sim_kind_row {
    const char *api_version;
    const char *kind;
    const char *resource;
    bool cluster_scoped;
};
extern const struct sim_kind_row sim_kinds[SIM_KIND_COUNT];

/* Content of a slot. */
struct cell {
    bool exists;
    uint32_t value;       /* Below SIM_VALUES. */
    uint32_t padding;     /* Bytes of filler; 0 for an object of ordinary size. */
    uint32_t incarnation; /* Part of the uid; differs after the object is created again. */
    uint32_t generation;
    uint64_t version;   /* resourceVersion of the last change. */
    int64_t written_ms; /* Time of the last change, including a deletion or restore. */
};

static inline enum sim_kind slot_kind(unsigned slot)
{
    return (enum sim_kind)(slot / SIM_PLACES);
}

/* Returns the namespace of the slot's object; "" for a cluster-scoped kind. */
const char *slot_ns(unsigned slot);
/* Writes the name of the slot's object to `out`. Returns `out`. */
const char *slot_name(unsigned slot, char out[static 48]);

/* Returns the slot of the template that the binding in this slot refers to. */
unsigned slot_bound(unsigned slot);
/* Returns true if a policy of this value selects the kind, in a plan with these template kinds. */
bool value_selects(uint32_t value, enum sim_kind kind, unsigned template_kinds);

/*
 * Appends the object as JSON, complete or as PartialObjectMetadata. `template_kinds` is the number
 * of template kinds in the plan.
 */
void object_write(unsigned slot, const struct cell *cell, unsigned template_kinds,
                  bool metadata_only, struct strbuf *out);
