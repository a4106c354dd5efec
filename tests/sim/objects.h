/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/base/strbuf.h"
#include "metrics/model/metadata.h"

/*
 * What there may be in a world of the simulation: a few kinds, and of each a fixed number of
 * places for objects. What an object says follows from its value alone, so that a write is a
 * place and a number.
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
    SIM_TEMPLATE, /* The first kind of templates; of those a world has some, in this order. */
    SIM_CONFIG_MAP = SIM_TEMPLATE,
    SIM_DEPLOYMENT,
    SIM_FOO, /* Of a CRD, as are Zone and Bar. */
    SIM_SECRET,
    SIM_ZONE, /* Cluster-scoped. */
    SIM_SERVICE,
    SIM_BAR,
    SIM_STATEFUL_SET,
    SIM_KIND_COUNT,
    SIM_DISCOVERY = SIM_KIND_COUNT, /* Not a kind, but can fail like one. */
    SIM_TARGET_COUNT,
};

enum {
    SIM_TEMPLATE_KINDS = SIM_KIND_COUNT - SIM_TEMPLATE,
    SIM_PLACES = 12, /* Of each kind. */
    SIM_SLOTS = SIM_KIND_COUNT * SIM_PLACES,
    SIM_VALUES = 1000,
};

/* Of every SIM_EVENT. */
#define EVENT_REASON "DependencyPolicyConflict"

struct sim_kind_row {
    const char *api_version;
    const char *kind;
    const char *resource;
    bool cluster_scoped;
};
extern const struct sim_kind_row sim_kinds[SIM_KIND_COUNT];

/* An object, or the place of one. */
struct cell {
    bool exists;
    uint32_t value;   /* Below SIM_VALUES. */
    uint32_t padding; /* How much longer than others it is, in bytes. */
    uint32_t incarnation;
    uint32_t generation;
    uint64_t version;
    int64_t written_ms; /* Also of what was deleted. */
};

static inline enum sim_kind slot_kind(unsigned slot)
{
    return (enum sim_kind)(slot / SIM_PLACES);
}

/* "" for what is cluster-scoped. */
const char *slot_ns(unsigned slot);
/* The name of its object; borrowed from `out`. */
const char *slot_name(unsigned slot, char out[static 48]);

/* The place of the template that the binding of this place refers to. */
unsigned slot_bound(unsigned slot);
/* True if a policy of this value has a selector of that kind. */
bool value_selects(uint32_t value, enum sim_kind kind, unsigned template_kinds);

/*
 * Append the object, whole or as its metadata alone. `template_kinds` is how many kinds of
 * templates the world has.
 */
void object_write(unsigned slot, const struct cell *cell, unsigned template_kinds,
                  bool metadata_only, struct strbuf *out);
