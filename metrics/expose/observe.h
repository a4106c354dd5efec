/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/expose/samples.h"

/*
 * The functions that the table of families points at, a file for each class of
 * entries. What each gives is said by the help text of its family.
 */

/* In the order of their label's values. */
enum relation { RELATION_CLAIMED, RELATION_SELECTED, RELATION_WON, RELATION_EXCLUDED };

void observe_templates(const struct entry *entry, struct samples *out);
void observe_namespace_templates(const struct entry *entry, struct samples *out);
void observe_stale(const struct entry *entry, struct samples *out);
void observe_stale_fields(const struct entry *entry, struct samples *out);
void observe_stale_info(const struct entry *entry, struct samples *out);
void observe_pending_info(const struct entry *entry, struct samples *out);
void observe_stale_oldest(const struct entry *entry, struct samples *out);
void observe_pending(const struct entry *entry, struct samples *out);
void observe_pending_oldest(const struct entry *entry, struct samples *out);
void observe_ignored(const struct entry *entry, struct samples *out);
void observe_outranked(const struct entry *entry, struct samples *out);
void observe_unbound_oldest(const struct entry *entry, struct samples *out);
void observe_overlaps(const struct entry *entry, struct samples *out);

/* Of policies and of templates. */
void observe_policy_templates(const struct entry *entry, struct samples *out);
void observe_policy_info(const struct entry *entry, struct samples *out);
void observe_policy_generation(const struct entry *entry, struct samples *out);
void observe_policy_problems(const struct entry *entry, struct samples *out);

enum binding_origin { ORIGIN_POLICY, ORIGIN_DEPENDENCY, ORIGIN_BOTH, ORIGIN_UNCLAIMED };
enum { BINDING_ORIGIN_COUNT = ORIGIN_UNCLAIMED + 1 };

void observe_bindings(const struct entry *entry, struct samples *out);
/*
 * From the later of the template's and the claimed policy's creation to the binding's.
 * Nothing while one of the three is unknown, or where the binding was there before its
 * policy; nor of a Lazy policy that came after its template, which waits by design.
 */
void observe_binding_delay(const struct entry *entry, struct samples *out);
void observe_not_rescheduled(const struct entry *entry, struct samples *out);

/* In the order of their label's values. */
enum claim_holder { HOLDER_TEMPLATE, HOLDER_BINDING };

/* Of templates, of both, and of bindings: what is broken about them, whatever their state. */
void observe_collisions(const struct entry *entry, struct samples *out);
void observe_dangling_claims(const struct entry *entry, struct samples *out);
void observe_without_template(const struct entry *entry, struct samples *out);

/* Of stale templates; a member cluster only makes its rows present. */
void observe_stale_replicas(const struct entry *entry, struct samples *out);
void observe_stale_requests(const struct entry *entry, struct samples *out);
void observe_forbidden_replicas(const struct entry *entry, struct samples *out);
void observe_projected_replicas(const struct entry *entry, struct samples *out);
void observe_projected_requests(const struct entry *entry, struct samples *out);
void observe_undetermined(const struct entry *entry, struct samples *out);

/* Of member clusters. */
void observe_allocatable(const struct entry *entry, struct samples *out);
void observe_allocated(const struct entry *entry, struct samples *out);

/* Of bindings, and of templates where there are none. */
void observe_conflicts(const struct entry *entry, struct samples *out);
void observe_conflicted(const struct entry *entry, struct samples *out);
void observe_conflict_events(const struct entry *entry, struct samples *out);
void observe_conflict_info(const struct entry *entry, struct samples *out);
void observe_conflict_parties(const struct entry *entry, struct samples *out);
void observe_conflict_oldest(const struct entry *entry, struct samples *out);
void observe_predicted(const struct entry *entry, struct samples *out);
void observe_unapplied(const struct entry *entry, struct samples *out);
void observe_overridden(const struct entry *entry, struct samples *out);
void observe_dangling(const struct entry *entry, struct samples *out);
void observe_shared(const struct entry *entry, struct samples *out);

/* Of Config Connector's resources, of both, and of leases. */
void observe_connector_resources(const struct entry *entry, struct samples *out);
void observe_connector_conflicts(const struct entry *entry, struct samples *out);
void observe_connector_info(const struct entry *entry, struct samples *out);
void observe_leases(const struct entry *entry, struct samples *out);
void observe_lease_expiration(const struct entry *entry, struct samples *out);
