/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/model/binding.h"
#include "metrics/model/federated_quota.h"
#include "metrics/model/store.h"
#include "metrics/rules/control_plane.h"

/*
 * Enforcement of FederatedResourceQuotas (Karmada: pkg/webhook/resourcebinding,
 * validateFederatedResourceQuota; feature gate FederatedQuotaEnforcement). The webhook checks each
 * write of a ResourceBinding that changes its usage: the requests of one replica times the replicas
 * over all clusters. It refuses the write if, in any quota of the namespace that limits a changed
 * resource, the usage of the namespace after the write exceeds the limit of any resource of the
 * quota. A write that lowers the usage is refused too, as long as the usage stays above a limit.
 *
 * All amounts are quota_units().
 */

/* Usage of a binding. */
struct quota_load {
    const struct resource_request *requests; /* Of one replica. Borrowed. */
    uint32_t request_count;
    int64_t replicas; /* Sum over the clusters. */
};

/* Returns the usage of a binding in its present clusters; all zero for NULL. */
struct quota_load quota_load_of(const struct binding *b);
/* Returns the replicas of `count` clusters. */
int64_t quota_count_replicas(const struct target_cluster *clusters, uint32_t count);
/* Returns the usage of a resource (Karmada: CalculateResourceUsage). At most INT64_MAX. */
int64_t quota_usage(const struct quota_load *load, const char *resource);

/* Returns true if the usage of the binding is known: no spec.components, no undetermined targets.
 */
bool quota_usage_is_known(const struct binding *b);

/* Appends the existing quotas of a namespace (any string), sorted by name. */
void quotas_of_namespace(const struct store *store, const char *ns, struct entry_list *out);

/* Usage of a resource in a namespace. */
struct quota_sum {
    int64_t amount;   /* Sum over the bindings with a known usage. */
    bool is_complete; /* The usage of all bindings is known. */
    bool requested;   /* A binding requests the resource. */
};
/* Returns the usage of a resource by all ResourceBindings of a namespace (any string). */
struct quota_sum quota_sum_bindings(const struct store *store, const char *ns,
                                    const char *resource);

/*
 * Sums of quota_sum_bindings(), each computed once and updated afterwards: a simulation judges each
 * binding of a namespace, and needs the sum each time.
 */
struct quota_totals;
/* Returns totals without sums, which borrow the store. */
struct quota_totals *quota_totals_new(const struct store *store) MUST_USE;
/* Accepts NULL. */
void quota_totals_free(struct quota_totals *totals);
/* Returns the result of quota_sum_bindings() for interned texts. */
struct quota_sum quota_totals_sum(struct quota_totals *totals, const char *ns,
                                  const char *resource);
/*
 * Updates the sums after the object of a ResourceBinding in the store was replaced; `old` and
 * `fresh` may be NULL. Call it for each replacement, except of ClusterResourceBindings.
 */
void quota_totals_update(struct quota_totals *totals, const char *ns, const struct binding *old,
                         const struct binding *fresh);

/* A quota that refuses a write of a binding, with the first resource that exceeds its limit. */
struct quota_excess {
    const struct entry *quota; /* Borrowed from the store. */
    const char *resource;      /* Borrowed from the quota. */
    int64_t limit;
    int64_t used;   /* By the namespace before the write. */
    int64_t needed; /* Usage of the binding after the write, minus its usage before. */
};

enum quota_answer {
    QUOTA_ALLOWS,
    QUOTA_REFUSES,
    QUOTA_UNKNOWN, /* Not all quotas or usages are known. */
};

/* The control plane with the quotas. */
struct quota_scope {
    const struct store *store;
    gate_set gates;
    struct release_range release;
    const struct incomplete *incomplete;
    struct quota_totals *totals; /* Of the store; NULL: the sums are computed. */
};

/*
 * Returns true unless all releases that Karmada may have refuse the quota, and no API server stores
 * it: it then limits nothing.
 */
bool quota_is_admitted(const struct quota_scope *scope, const struct entry *quota);

/* Returns true if Karmada's webhook enforces quotas: the feature gate is on. */
bool quotas_are_enforced(gate_set gates);

/*
 * Returns whether the quotas of a namespace allow a write that changes the usage of one binding
 * from `before`, which the store has, to `after`. Sets `excess`, by name of quota and resource, if
 * the answer is QUOTA_REFUSES. Without enforcement all writes are allowed. `by_status`: a usage in
 * the status of a quota counts if it is above the sum of the bindings in the store.
 */
enum quota_answer quota_judge(const struct quota_scope *scope, const char *ns,
                              const struct quota_load *before, const struct quota_load *after,
                              bool by_status, struct quota_excess *excess);

/* Appends a sentence about an excess, such as "FederatedResourceQuota shop/limit allows cpu …". */
void quota_excess_add_text(const struct quota_excess *excess, struct strbuf *out);

/*
 * Returns the namespace and name of the quota in the message of a refusal ("ns/name", without end
 * mark, `*len` bytes); NULL if the message is none of Karmada's webhook about quotas.
 */
const char *quota_of_message(const char *message, size_t *len);
