/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/model/binding.h"
#include "metrics/model/store.h"
#include "metrics/rules/lease.h"

/*
 * Conflicts over the cloud resources that Config Connector manages, reported or silent
 * (seed 004): those that the objects show, and those that a snapshot of the leases shows.
 */
enum connector_conflict {
    CONNECTOR_REPORTED,           /* Config Connector says ManagementConflict. */
    CONNECTOR_DUPLICATE_IDENTITY, /* Another object stands for the same cloud resource. */
    CONNECTOR_MULTI_CLUSTER,      /* Placed on two member clusters or more, or about to be. */
    CONNECTOR_REFUSED,            /* It asks for the lease that another namespace holds. */
    CONNECTOR_SILENT,             /* It asks for none, and acts against who holds the lease. */
    CONNECTOR_UNKNOWN_HOLDER,     /* No namespace here has the id that holds the lease. */
    CONNECTOR_EXPIRED,            /* The lease has expired: the next to try gets the resource. */
    CONNECTOR_EXPIRING,           /* The holder of the lease should have extended it. */
    CONNECTOR_LAPSE_HAZARD,       /* Reconciled less often than a lease lasts. */
    CONNECTOR_UNPROTECTABLE,      /* A lease is asked for, but the kind has no labels for one. */
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
    const char *location; /* NULL if not set, as is the parent. */
    const char *parent;
    const char *name;
    bool unclear; /* The object leaves open which resource it is: it equals no other. */
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

/* All that connector_decide() goes by. */
struct connector_facts {
    const struct entry *entry;
    const struct connector *connector;
    const struct connector_defaults *defaults; /* Of its Namespace; NULL if it has none. */
    const struct binding *binding;             /* NULL if it has none. */
    const struct lease *lease;                 /* On its cloud resource; NULL if none is known. */
    const struct namespace_ids *ids;           /* NULL if no namespace's id is known. */
    struct lease_clock clock;
    bool several_clusters; /* It is, or will be, on two member clusters or more. */
};

/* The decision about a lease: NULL for an entry of another class, or not decided yet. */
static inline const struct lease_decision *lease_decision(const struct entry *entry)
{
    return entry_class(entry) == CLASS_LEASE ? entry->decision : NULL;
}

/* Bits by connector_conflict, of a template or a lease; 0 for any other entry. */
unsigned connector_conflicts(const struct entry *entry);

/* The cloud resource that an object stands for. The texts are borrowed from the facts. */
void connector_identify(const struct connector_facts *facts, struct connector_identity *out);

/*
 * Decide about a resource, but for duplicate identities: those only the engine can see. The
 * texts of the identity are borrowed from the facts.
 */
void connector_decide(const struct connector_facts *facts, struct connector_decision *out);

/*
 * Decide about a lease. `ids` is NULL if no namespace's id is known: then no holder counts as
 * unknown. `holder_ns` is borrowed from `ids`.
 */
void lease_decide(const struct lease *lease, const struct namespace_ids *ids,
                  struct lease_clock clock, struct lease_decision *out);

/* True if both objects, with these identities, stand for the same cloud resource. */
bool connector_same(const struct entry *a, const struct connector_identity *a_identity,
                    const struct entry *b, const struct connector_identity *b_identity);
/* The same for all objects that stand for the same cloud resource. */
uint64_t connector_hash(const struct entry *entry, const struct connector_identity *identity,
                        uint64_t seed);

/* The namespace that has this id; NULL if none has, or `ids` is NULL. Borrowed from `ids`. */
const char *namespace_of_id(const struct namespace_ids *ids, const char *id);
