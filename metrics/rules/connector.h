/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/model/binding.h"
#include "metrics/model/store.h"
#include "metrics/rules/lease.h"

/*
 * Who fights over one resource of Config Connector, openly or in silence (seed 004): what the
 * objects alone tell, and what a snapshot of the leases tells.
 */
enum connector_conflict {
    CONNECTOR_REPORTED,           /* Config Connector says ManagementConflict. */
    CONNECTOR_DUPLICATE_IDENTITY, /* Another object is the same cloud resource. */
    CONNECTOR_MULTI_CLUSTER,      /* Placed on two member clusters or more, or about to be. */
    CONNECTOR_UNKNOWN_HOLDER,     /* The lease is held under an id that is no namespace's here. */
    CONNECTOR_EXPIRED,            /* So is the lease: whoever comes next takes the resource. */
    CONNECTOR_EXPIRING,           /* Its holder should have extended it. */
    CONNECTOR_LAPSE_HAZARD,       /* Reconciled less often than a lease lasts. */
    CONNECTOR_UNPROTECTABLE,      /* Protection is asked for, and the kind has no labels. */
    CONNECTOR_DELETION_TRAP,      /* Leaving one cluster deletes what the others use. */
};
enum { CONNECTOR_CONFLICT_COUNT = CONNECTOR_DELETION_TRAP + 1 };
extern const char *const connector_conflict_names[CONNECTOR_CONFLICT_COUNT];
/* One sentence for people. */
extern const char *const connector_conflict_texts[CONNECTOR_CONFLICT_COUNT];

enum protection { PROTECTION_NONE, PROTECTION_RESOURCE, PROTECTION_UNPROTECTABLE };
enum { PROTECTION_COUNT = PROTECTION_UNPROTECTABLE + 1 };
extern const char *const protection_names[PROTECTION_COUNT];

/* The cloud resource that an object stands for. */
struct connector_identity {
    struct container container;
    const char *location; /* NULL if not told, as is the parent. */
    const char *parent;
    const char *name;
    bool unclear; /* Cannot be told, and is compared with nothing. */
};

/* About a template that is a resource of Config Connector. */
struct connector_decision {
    struct connector_identity identity;
    enum protection protection;
    uint16_t conflicts; /* Bit by connector_conflict. */
};

/* About a lease. */
struct lease_decision {
    enum lease_state state;
    uint16_t conflicts;    /* Bit by connector_conflict. */
    const char *holder_ns; /* The namespace whose id holds it; NULL if none is known. Shared. */
};

/* What a decision about a resource depends on. */
struct connector_facts {
    const struct entry *entry;
    const struct connector *connector;
    const struct connector_defaults *defaults; /* Of its Namespace; NULL if it has none. */
    const struct binding *binding;             /* NULL if it has none. */
    bool several_clusters;                     /* It is, or will be, on two or more. */
};

/* NULL for anything but a lease that has been looked at. */
static inline const struct lease_decision *lease_decision(const struct entry *entry)
{
    return entry_class(entry) == CLASS_LEASE ? entry->decision : NULL;
}

/* Bits by connector_conflict, of a template or a lease; 0 for any other entry. */
unsigned connector_conflicts(const struct entry *entry);

/* All but the duplicates, which only the engine knows. The identity's texts are borrowed. */
void connector_decide(const struct connector_facts *facts, struct connector_decision *out);

/* `ids`: NULL where no namespace's id is known. Then nobody is unknown. */
void lease_decide(const struct lease *lease, const struct namespace_ids *ids,
                  struct lease_clock clock, struct lease_decision *out);

/* True if both objects, whose decisions these are, stand for one cloud resource. */
bool connector_same(const struct entry *a, const struct connector_identity *a_identity,
                    const struct entry *b, const struct connector_identity *b_identity);
uint64_t connector_hash(const struct entry *entry, const struct connector_identity *identity,
                        uint64_t seed);

/* The namespace that an id is of; NULL if it is nobody's here, or `ids` is NULL. */
const char *namespace_of_id(const struct namespace_ids *ids, const char *id);
