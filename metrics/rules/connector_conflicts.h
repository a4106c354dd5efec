/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/model/binding.h"
#include "metrics/model/connector_resource.h"
#include "metrics/model/store.h"

/*
 * Config Connector's leases (seed 004; pkg/lease/leaser): two labels of a cloud resource say who
 * may manage it and until when. All times are seconds, points in time since the epoch.
 */
enum {
    LEASE_LIFE_S = 40 * 60,    /* How long a lease lasts once obtained or extended. */
    LEASE_RENEWAL_S = 20 * 60, /* Its holder extends it once less than this remains. */
};

/* The time, and by how much the clocks of others may differ from ours. */
struct lease_clock {
    int64_t now_s;
    int64_t skew_s;
};

/* What a snapshot of the labels shows, as far as it still holds. */
enum lease_state {
    LEASE_HELD,
    LEASE_EXPIRING, /* At the time of the snapshot its holder should have extended it. */
    LEASE_EXPIRED,  /* It was past at that time. */
    LEASE_ABSENT,   /* Nobody holds it. */
    /* It was alive then and is past by now, or the snapshot is older than a lease lasts. */
    LEASE_UNKNOWN,
};
enum { LEASE_STATE_COUNT = LEASE_UNKNOWN + 1 };
extern const char *const lease_state_names[LEASE_STATE_COUNT];

enum lease_state lease_state(const struct lease *l, struct lease_clock clock);

/* When the answer of lease_state() changes by time alone; INT64_MAX for never. */
int64_t lease_state_ends_s(const struct lease *l, struct lease_clock clock);

/* What becomes of a namespace's attempt to manage a resource. */
enum lease_verdict {
    VERDICT_UNPROTECTED, /* It asks for no lease, and manages the resource regardless. */
    VERDICT_OBTAINS,     /* Nobody holds the lease: it gets it. */
    VERDICT_KEEPS,       /* It holds the lease, with time enough left. */
    VERDICT_RENEWS,      /* It holds the lease, and extends it. */
    VERDICT_TAKES_OVER,  /* Another's lease has expired: it gets it. */
    VERDICT_REFUSED,     /* Another holds the lease: ManagementConflict. */
};
extern const char *const lease_verdict_names[VERDICT_REFUSED + 1];

/* `own_id` is the namespace's id, from the ConfigMap namespace-id; NULL if it has none yet. */
enum lease_verdict lease_verdict(enum prevention prevention, const struct lease *l,
                                 const char *own_id, struct lease_clock clock);

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

/* Where a store has what Config Connector goes by, and its leases (seed 004). All is borrowed. */

/*
 * The ids of namespaces, from the ConfigMap cnrm-system/namespace-id; NULL if it does not exist
 * or lists none (a source may read metadata alone): then no holder of a lease counts as unknown.
 */
const struct namespace_ids *connector_known_ids(const struct store *s);

/* What the annotations of a template's Namespace set for all its resources; NULL if nothing. */
const struct connector_defaults *connector_defaults_of(const struct store *s,
                                                       const struct entry *template);

/* What becomes of the lease when the template's own namespace next tries to manage the resource. */
enum lease_verdict connector_lease_verdict(const struct store *s, const struct entry *template,
                                           const struct entry *lease, struct lease_clock clock);
