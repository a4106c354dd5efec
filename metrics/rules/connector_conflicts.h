/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/model/binding.h"
#include "metrics/model/connector_resource.h"
#include "metrics/model/store.h"

/*
 * Conflicts over the cloud resources that Config Connector manages (seed 004): the state of their
 * leases, the cloud resource that an object stands for, and the conflicts. Most conflicts follow
 * from objects and a snapshot of the leases, even if Config Connector does not report them.
 */

/*
 * ---- leases (Config Connector: pkg/lease/leaser) ----
 *
 * A lease consists of two labels of a cloud resource: the id of the namespace that may manage the
 * resource, and the time at which the lease expires. Points in time are seconds since the epoch.
 */
enum {
    LEASE_LIFE_S = 40 * 60,    /* Duration of a lease after it is obtained or extended. */
    LEASE_RENEWAL_S = 20 * 60, /* The holder extends the lease when less than this remains. */
};

/* Present time by the clock of the exporter, and the tolerated difference of other clocks. */
struct lease_clock {
    int64_t now_s;
    int64_t skew_s;
};

/* State of a lease, from a snapshot of the cloud resource's labels. */
enum lease_state {
    LEASE_HELD,
    LEASE_EXPIRING, /* The holder should have extended the lease before the snapshot. */
    LEASE_EXPIRED,  /* The lease had expired at the time of the snapshot. */
    LEASE_ABSENT,   /* The lease has no holder. */
    LEASE_UNKNOWN,  /* The lease has expired since the snapshot, or LEASE_LIFE_S has passed. */
};
enum { LEASE_STATE_COUNT = LEASE_UNKNOWN + 1 };
extern const char *const lease_state_names[LEASE_STATE_COUNT];

/* Returns the state of a lease at clock.now_s. */
enum lease_state lease_state(const struct lease *l, struct lease_clock clock);

/* Returns the next time at which lease_state() changes without a new snapshot; INT64_MAX: never. */
int64_t lease_state_ends_s(const struct lease *l, struct lease_clock clock);

/* Result of a namespace's next attempt to manage a resource. */
enum lease_verdict {
    VERDICT_UNPROTECTED, /* The object requests no lease: leases do not affect it. */
    VERDICT_OBTAINS,     /* The lease is free: the namespace gets it. */
    VERDICT_KEEPS,       /* The namespace holds the lease, with enough time left. */
    VERDICT_RENEWS,      /* The namespace holds the lease, and extends it. */
    VERDICT_TAKES_OVER,  /* The lease of another namespace has expired: the namespace gets it. */
    VERDICT_REFUSED,     /* Another namespace holds the lease: ManagementConflict. */
};
extern const char *const lease_verdict_names[VERDICT_REFUSED + 1];

/*
 * Returns the result of a namespace's next attempt to manage the resource. `own_id` is the id of
 * the namespace; NULL if unknown, then every holder counts as another namespace.
 */
enum lease_verdict lease_verdict(enum prevention prevention, const struct lease *l,
                                 const char *own_id, struct lease_clock clock);

/* ---- conflicts between resources of Google Config Connector ---- */

/* Conflicts of objects, and three conflicts of leases: UNKNOWN_HOLDER, EXPIRED and EXPIRING. */
enum connector_conflict {
    CONNECTOR_REPORTED,           /* Condition ManagementConflict, here or in a member cluster. */
    CONNECTOR_DUPLICATE_IDENTITY, /* Another object stands for the same cloud resource. */
    CONNECTOR_MULTI_CLUSTER,      /* Present or future placement on several member clusters. */
    CONNECTOR_REFUSED,            /* A lease is requested, but another known namespace holds it. */
    CONNECTOR_SILENT,             /* No lease is requested, but another namespace holds one. */
    CONNECTOR_UNKNOWN_HOLDER,     /* No known namespace has the holder's id. */
    CONNECTOR_EXPIRED,            /* LEASE_EXPIRED: the next applicant gets the lease. */
    CONNECTOR_EXPIRING,           /* LEASE_EXPIRING: the holder does not extend the lease. */
    CONNECTOR_LAPSE_HAZARD,       /* The requested lease lapses before the next reconciliation. */
    CONNECTOR_UNPROTECTABLE,      /* A lease is requested, but the kind has no labels for it. */
    CONNECTOR_DELETION_TRAP,      /* Removal from one of several clusters deletes the resource. */
    CONNECTOR_INVALID_PREVENTION, /* PREVENTION_INVALID: Config Connector does not manage it. */
};
enum { CONNECTOR_CONFLICT_COUNT = CONNECTOR_INVALID_PREVENTION + 1 };
extern const char *const connector_conflict_names[CONNECTOR_CONFLICT_COUNT];
extern const char *const connector_conflict_texts[CONNECTOR_CONFLICT_COUNT];

/* Protection of a cloud resource by the lease that its object requests. */
enum protection {
    PROTECTION_NONE,
    PROTECTION_RESOURCE,
    PROTECTION_UNPROTECTABLE,
    PROTECTION_INVALID, /* The request is invalid: Config Connector does not manage the object. */
    PROTECTION_COUNT,
};
extern const char *const protection_names[PROTECTION_COUNT];

/* Identity of the cloud resource that an object stands for. */
struct connector_identity {
    struct container container;
    const char *location; /* NULL if not set. */
    const char *parent;   /* NULL if not set. */
    const char *name;
    bool unclear;     /* Object and Namespace do not determine the resource: do not compare. */
    bool placeholder; /* `unclear`, because a part has a placeholder such as "${PROJECT}". */
};

/* Decision about a template that is a resource of Config Connector. */
struct connector_decision {
    struct connector_identity identity;
    enum protection protection;
    uint16_t conflicts; /* Bits by connector_conflict. */
};

/* Decision about a lease. */
struct lease_decision {
    enum lease_state state;
    uint16_t conflicts;    /* Bits by connector_conflict. */
    const char *holder_ns; /* Namespace with the holder's id; NULL if unknown. Interned. */
};

/* Facts about an object that is a resource of Config Connector; all borrowed. */
struct connector_facts {
    const struct entry *entry;
    const struct connector *connector;
    const struct connector_defaults *defaults; /* Defaults set by the Namespace, or NULL. */
    const struct binding *binding;             /* Binding of the object, or NULL. */
    const struct lease *lease;                 /* Lease on the cloud resource; NULL if unknown. */
    const struct namespace_ids *ids;           /* NULL if no namespace's id is known. */
    struct lease_clock clock;
    bool several_clusters; /* The object is, or will be, on several member clusters. */
};

/* Returns the decision about a lease; NULL for other classes and undecided entries. */
static inline const struct lease_decision *lease_decision(const struct entry *entry)
{
    return entry_class(entry) == CLASS_LEASE ? entry_decision(entry) : NULL;
}

/*
 * Returns the conflicts in the decision about a template or lease, bits by connector_conflict; 0
 * for other and undecided entries.
 */
unsigned connector_conflicts(const struct entry *entry);

/*
 * Stores the identity of an object's cloud resource. Reads only `entry`, `connector` and `defaults`
 * of the facts, and borrows the texts from them.
 */
void connector_identify(const struct connector_facts *facts, struct connector_identity *out);

/*
 * Stores the decision about a template that is a resource of Config Connector. Does not detect
 * duplicate identities, which need all other resources. Borrows the identity's texts from `facts`.
 */
void connector_decide(const struct connector_facts *facts, struct connector_decision *out);

/*
 * Stores the decision about a lease. `ids` is NULL if no namespace's id is known: then
 * CONNECTOR_UNKNOWN_HOLDER is never set. `holder_ns` is borrowed from `ids`.
 */
void lease_decide(const struct lease *lease, const struct namespace_ids *ids,
                  struct lease_clock clock, struct lease_decision *out);

/*
 * Returns true if both objects, which have these identities, stand for the same cloud resource.
 * Neither identity may be `unclear`.
 */
bool connector_is_same_resource(const struct entry *a, const struct connector_identity *a_identity,
                                const struct entry *b, const struct connector_identity *b_identity);
/* Returns a hash that is equal for all objects that stand for the same cloud resource. */
uint64_t connector_resource_hash(const struct entry *entry,
                                 const struct connector_identity *identity, uint64_t seed);

/* Returns the namespace with this id, borrowed from `ids`; NULL if unknown or `ids` is NULL. */
const char *namespace_of_id(const struct namespace_ids *ids, const char *id);

/* ---- settings of Config Connector in the store; results are borrowed from the store ---- */

/*
 * Returns the id of each namespace, from the ConfigMap cnrm-system/namespace-id; NULL if the store
 * has no such ConfigMap or only its metadata, or the ConfigMap has no ids.
 */
const struct namespace_ids *connector_namespace_ids(const struct store *s);

/*
 * Returns the defaults in the annotations of the template's Namespace; NULL if it sets no defaults,
 * or is not in the store.
 */
const struct connector_defaults *connector_defaults_of(const struct store *s,
                                                       const struct entry *template);

/*
 * Returns the result of the next attempt of the template's namespace to manage its cloud resource,
 * on which `lease` is. The template must have a decision about Config Connector.
 */
enum lease_verdict connector_lease_verdict(const struct store *s, const struct entry *template,
                                           const struct entry *lease, struct lease_clock clock);
