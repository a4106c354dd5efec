/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/rules/template_state.h"

#include "metrics/base/timestamp.h"
#include "tests/unit/suite.h"
#include "tests/unit/world.h"

/* Objects as JSON: the Deployment test/nginx, policies and its binding. */
#define POLICY_OF(kind, ns, name, id, spec)                                                        \
    "{\"apiVersion\":\"policy.karmada.io/v1alpha1\",\"kind\":\"" kind "\",\"metadata\":{"          \
    "\"name\":\"" name "\"" ns ",\"generation\":1,\"labels\":{" id "}},\"spec\":{"                 \
    "\"resourceSelectors\":[{\"apiVersion\":\"apps/v1\",\"kind\":\"Deployment\"" spec "}}"
#define PP(name, id, spec)                                                                         \
    POLICY_OF("PropagationPolicy", ",\"namespace\":\"test\"", name,                                \
              "\"propagationpolicy.karmada.io/permanent-id\":\"" id "\"", spec)
#define CPP(name, id, spec)                                                                        \
    POLICY_OF("ClusterPropagationPolicy", "", name,                                                \
              "\"clusterpropagationpolicy.karmada.io/permanent-id\":\"" id "\"", spec)
/* Rest of the only selector, and further members of the spec. */
#define ALL         "}]"
#define NAMED(name) ",\"name\":\"" name "\"}]"
#define LAZY        ",\"activationPreference\":\"Lazy\""
#define ON(cluster) ",\"placement\":{\"clusterAffinity\":{\"clusterNames\":[\"" cluster "\"]}}"

#define CLAIM_LABEL(id) "\"propagationpolicy.karmada.io/permanent-id\":\"" id "\""
#define CLAIM_ANNOTATIONS(name)                                                                    \
    "\"propagationpolicy.karmada.io/namespace\":\"test\","                                         \
    "\"propagationpolicy.karmada.io/name\":\"" name "\""
#define CLAIM(name, id)                                                                            \
    ",\"labels\":{" CLAIM_LABEL(id) "},\"annotations\":{" CLAIM_ANNOTATIONS(name) "}"

#define HALF_CLAIM(id) ",\"labels\":{" CLAIM_LABEL(id) "}"

#define CHANGED_BY_USER(time)                                                                      \
    ",\"managedFields\":[{\"manager\":\"kubectl\",\"operation\":\"Update\",\"time\":\"" time       \
    "\",\"fieldsV1\":{\"f:spec\":{}}}]"

#define WRITTEN(time)                                                                              \
    ",\"managedFields\":[{\"manager\":\"karmada\",\"operation\":\"Update\",\"time\":\"" time       \
    "\",\"fieldsV1\":{\"f:spec\":{\"f:resource\":{\"f:uid\":{}}}}}]"

#define NGINX(metadata)                                                                            \
    "{\"apiVersion\":\"apps/v1\",\"kind\":\"Deployment\",\"metadata\":{\"name\":\"nginx\","        \
    "\"namespace\":\"test\"" metadata "},\"spec\":{\"replicas\":2}}"
#define BINDING(metadata, spec)                                                                    \
    "{\"apiVersion\":\"work.karmada.io/v1alpha2\",\"kind\":\"ResourceBinding\",\"metadata\":{"     \
    "\"name\":\"nginx-deployment\",\"namespace\":\"test\"" metadata "},\"spec\":{\"replicas\":2,"  \
    "\"resource\":{\"apiVersion\":\"apps/v1\",\"kind\":\"Deployment\",\"namespace\":\"test\","     \
    "\"name\":\"nginx\"}" spec "}}"
#define BINDING_OF(uid, metadata, spec)                                                            \
    "{\"apiVersion\":\"work.karmada.io/v1alpha2\",\"kind\":\"ResourceBinding\",\"metadata\":{"     \
    "\"name\":\"nginx-deployment\",\"namespace\":\"test\"" metadata "},\"spec\":{\"replicas\":2,"  \
    "\"resource\":{\"apiVersion\":\"apps/v1\",\"kind\":\"Deployment\",\"namespace\":\"test\","     \
    "\"name\":\"nginx\",\"uid\":\"" uid "\"}" spec "}}"
/* Binding of another template: shows that the objects are from a control plane, not manifests. */
#define OTHER_BINDING                                                                              \
    "{\"apiVersion\":\"work.karmada.io/v1alpha2\",\"kind\":\"ResourceBinding\",\"metadata\":{"     \
    "\"name\":\"other-deployment\",\"namespace\":\"test\"},\"spec\":{\"placement\":{},"            \
    "\"resource\":{\"apiVersion\":\"apps/v1\",\"kind\":\"Deployment\",\"namespace\":\"test\","     \
    "\"name\":\"other\"}}}"

#define NOON "2026-01-01T12:00:00Z"

static const struct drift_case {
    const char *title;
    const char *objects[5];
    enum template_state state;
    unsigned reason;
    enum stale_phase phase;
    unsigned fields;
    const char *governing;
    unsigned flags;
    const char *now; /* Time of the evaluation; NULL for NOON. */
    enum takeover takeover;
} cases[] = {
    /* The claimed policy governs. */
    {"claimed by an immediate policy, no binding yet: unbound",
     {NGINX(CLAIM("p", "1")), PP("p", "1", ALL), OTHER_BINDING},
     .state = STATE_UNBOUND,
     .reason = UNBOUND_STUCK,
     .governing = "p"},
    {"within the grace period the binding may be missing",
     {NGINX(CLAIM("p", "1")),
      POLICY_OF("PropagationPolicy", ",\"namespace\":\"test\"" CHANGED_BY_USER(NOON), "p",
                CLAIM_LABEL("1"), ALL),
      OTHER_BINDING},
     .state = STATE_UNBOUND,
     .reason = UNBOUND_WAITING,
     .governing = "p",
     .now = "2026-01-01T12:01:00Z"},
    {"a policy that was lazy waits for a template change",
     {NGINX(CLAIM("p", "1")),
      POLICY_OF("PropagationPolicy", ",\"namespace\":\"test\"" CHANGED_BY_USER(NOON), "p",
                CLAIM_LABEL("1"), ALL),
      OTHER_BINDING},
     .state = STATE_UNBOUND,
     .reason = UNBOUND_STUCK,
     .governing = "p",
     .now = "2026-01-01T12:01:01Z"},
    {"the binding belongs to a deleted template of the name",
     {NGINX(",\"uid\":\"new\"" CLAIM("p", "1")), PP("p", "1", ALL ON("m1")),
      BINDING_OF("old", CLAIM("p", "1"), ON("m1"))},
     .state = STATE_UNBOUND,
     .reason = UNBOUND_NAMESAKE,
     .governing = "p"},
    {"the binding is being deleted",
     {NGINX(",\"uid\":\"new\"" CLAIM("p", "1")), PP("p", "1", ALL ON("m1")),
      BINDING_OF("new", ",\"deletionTimestamp\":\"" NOON "\"" CLAIM("p", "1"), ON("m1"))},
     .state = STATE_UNBOUND,
     .reason = UNBOUND_NAMESAKE,
     .governing = "p"},
    {"the claim on a binding of a deleted template",
     {NGINX(",\"uid\":\"new\""), PP("p", "1", ALL ON("m1")), PP("q", "2", ALL ",\"priority\":2"),
      BINDING_OF("old", CLAIM("p", "1"), ON("m1"))},
     .state = STATE_UNBOUND,
     .reason = UNBOUND_NAMESAKE,
     .governing = "q"},
    {"the binding has the UID of the template",
     {NGINX(",\"uid\":\"same\"" CLAIM("p", "1")), PP("p", "1", ALL ON("m1")),
      BINDING_OF("same", CLAIM("p", "1"), ON("m1"))},
     .state = STATE_CURRENT,
     .governing = "p"},
    {"without a UID in the template the name counts",
     {NGINX(CLAIM("p", "1")), PP("p", "1", ALL ON("m1")),
      BINDING_OF("old", CLAIM("p", "1"), ON("m1"))},
     .state = STATE_CURRENT,
     .governing = "p"},
    {"a lazy policy claimed the template and made no binding",
     {NGINX(CLAIM("p", "1")), PP("p", "1", ALL LAZY), OTHER_BINDING},
     .state = STATE_STALE,
     .reason = STALE_NEVER_BOUND,
     .phase = PHASE_DEFERRED,
     .governing = "p"},
    {"an attached binding is not from the lazy policy",
     {NGINX(CLAIM("p", "1")), PP("p", "1", ALL LAZY),
      BINDING("", ",\"requiredBy\":[{\"namespace\":\"test\",\"name\":\"x\"}]")},
     .state = STATE_STALE,
     .reason = STALE_NEVER_BOUND,
     .phase = PHASE_DEFERRED,
     .governing = "p"},
    {"the binding has the values of the policy",
     {NGINX(CLAIM("p", "1")), PP("p", "1", ALL ON("m1")), BINDING(CLAIM("p", "1"), ON("m1"))},
     .state = STATE_CURRENT,
     .governing = "p"},
    {"a claim on the binding alone counts",
     {NGINX(""), PP("p", "1", ALL ON("m1")), BINDING(CLAIM("p", "1"), ON("m1"))},
     .state = STATE_CURRENT,
     .governing = "p"},
    {"a lazy policy changed its placement: deferred",
     {NGINX(CLAIM("p", "1")), PP("p", "1", ALL LAZY ON("m2")), BINDING(CLAIM("p", "1"), ON("m1"))},
     .state = STATE_STALE,
     .reason = STALE_POLICY_UPDATED,
     .phase = PHASE_DEFERRED,
     .fields = 1U << FIELD_PLACEMENT,
     .governing = "p"},
    {"an immediate policy changed its placement: overdue",
     {NGINX(CLAIM("p", "1")), PP("p", "1", ALL ON("m2")), BINDING(CLAIM("p", "1"), ON("m1"))},
     .state = STATE_STALE,
     .reason = STALE_POLICY_UPDATED,
     .phase = PHASE_OVERDUE,
     .fields = 1U << FIELD_PLACEMENT,
     .governing = "p"},
    {"a lazy policy preempted, the binding is of the old one",
     {NGINX(CLAIM("p2", "2")), PP("p", "1", ALL), PP("p2", "2", ALL LAZY),
      BINDING(CLAIM("p", "1"), ON("m1"))},
     .state = STATE_STALE,
     .reason = STALE_POLICY_REPLACED,
     .phase = PHASE_DEFERRED,
     .governing = "p2"},
    {"the binding has an older id of the policy",
     {NGINX(CLAIM("p", "2")), PP("p", "2", ALL), BINDING(CLAIM("p", "1"), ",\"placement\":{}")},
     .state = STATE_STALE,
     .reason = STALE_POLICY_REPLACED,
     .phase = PHASE_OVERDUE,
     .governing = "p"},
    {"every copied field drifts",
     {NGINX(CLAIM("p", "1")),
      PP("p", "1",
         ALL ON("m2") ",\"conflictResolution\":\"Overwrite\",\"preserveResourcesOnDeletion\":true,"
                      "\"propagateDeps\":true,\"failover\":{\"cluster\":{\"purgeMode\":"
                      "\"Directly\"}},\"suspension\":{\"dispatching\":true},"
                      "\"schedulerName\":\"other\""),
      BINDING(CLAIM("p", "1"), ON("m1") ",\"schedulePriority\":{\"priority\":1}")},
     .state = STATE_STALE,
     .reason = STALE_POLICY_UPDATED,
     .phase = PHASE_OVERDUE,
     .fields = (1U << DRIFT_FIELD_COUNT) - 1,
     .governing = "p"},
    {"defaults, empty values and the order of keys are no drift",
     {NGINX(CLAIM("p", "1")),
      PP("p", "1",
         ALL ",\"placement\":{\"clusterTolerations\":[],\"replicaScheduling\":{"
             "\"replicaSchedulingType\":\"Divided\"},\"clusterAffinity\":{\"clusterNames\":["
             "\"m1\"],\"exclude\":null}},\"propagateDeps\":false,\"suspension\":{}"),
      BINDING(CLAIM("p", "1"),
              ",\"placement\":{\"clusterAffinity\":{\"clusterNames\":[\"m1\"]},"
              "\"replicaScheduling\":{\"replicaDivisionPreference\":\"Weighted\"}},"
              "\"conflictResolution\":\"Abort\",\"schedulerName\":\"default-scheduler\","
              "\"preserveResourcesOnDeletion\":false,\"suspension\":{\"scheduling\":true}")},
     .state = STATE_CURRENT,
     .governing = "p"},
    /* Phases over time. */
    {"within the grace period drift is deferred",
     {NGINX(CLAIM("p", "1")),
      POLICY_OF("PropagationPolicy", ",\"namespace\":\"test\"" CHANGED_BY_USER(NOON), "p",
                CLAIM_LABEL("1"), ALL ON("m2")),
      BINDING(CLAIM("p", "1"), ON("m1"))},
     .state = STATE_STALE,
     .reason = STALE_POLICY_UPDATED,
     .phase = PHASE_DEFERRED,
     .fields = 1U << FIELD_PLACEMENT,
     .governing = "p",
     .now = "2026-01-01T12:01:00Z"},
    {"after the grace period drift is overdue",
     {NGINX(CLAIM("p", "1")),
      POLICY_OF("PropagationPolicy", ",\"namespace\":\"test\"" CHANGED_BY_USER(NOON), "p",
                CLAIM_LABEL("1"), ALL ON("m2")),
      BINDING(CLAIM("p", "1"), ON("m1"))},
     .state = STATE_STALE,
     .reason = STALE_POLICY_UPDATED,
     .phase = PHASE_OVERDUE,
     .fields = 1U << FIELD_PLACEMENT,
     .governing = "p",
     .now = "2026-01-01T12:01:01Z"},
    {"a template changed after its lazy policy is overdue",
     {NGINX(CLAIM("p", "1") CHANGED_BY_USER("2026-01-01T12:05:00Z")),
      POLICY_OF("PropagationPolicy", ",\"namespace\":\"test\"" CHANGED_BY_USER(NOON), "p",
                CLAIM_LABEL("1"), ALL LAZY ON("m2")),
      BINDING(CLAIM("p", "1"), ON("m1"))},
     .state = STATE_STALE,
     .reason = STALE_POLICY_UPDATED,
     .phase = PHASE_OVERDUE,
     .fields = 1U << FIELD_PLACEMENT,
     .governing = "p",
     .now = "2026-01-01T12:07:00Z"},
    {"a template changed before its lazy policy is deferred",
     {NGINX(CLAIM("p", "1") CHANGED_BY_USER("2026-01-01T11:00:00Z")),
      POLICY_OF("PropagationPolicy", ",\"namespace\":\"test\"" CHANGED_BY_USER(NOON), "p",
                CLAIM_LABEL("1"), ALL LAZY ON("m2")),
      BINDING(CLAIM("p", "1"), ON("m1"))},
     .state = STATE_STALE,
     .reason = STALE_POLICY_UPDATED,
     .phase = PHASE_DEFERRED,
     .fields = 1U << FIELD_PLACEMENT,
     .governing = "p",
     .now = "2026-06-01T12:07:00Z"},
    /* The claim no longer counts. */
    {"the policy does not select the template any more",
     {NGINX(CLAIM("p", "1")), PP("p", "1", NAMED("other")), BINDING(CLAIM("p", "1"), ON("m1"))},
     .state = STATE_STALE,
     .reason = STALE_SELECTOR_MISMATCH,
     .phase = PHASE_OVERDUE},
    {"the policy excludes the template now",
     {NGINX(CLAIM("p", "1")), PP("p", "1", ALL ",\"excludedResources\":[{\"name\":\"nginx\"}]"),
      BINDING(CLAIM("p", "1"), ON("m1"))},
     .state = STATE_STALE,
     .reason = STALE_SELECTOR_MISMATCH,
     .phase = PHASE_OVERDUE},
    {"the claimed policy is deleted",
     {NGINX(CLAIM("p", "1")), BINDING(CLAIM("p", "1"), ON("m1"))},
     .state = STATE_STALE,
     .reason = STALE_POLICY_GONE,
     .phase = PHASE_OVERDUE},
    {"the claimed policy was created again",
     {NGINX(CLAIM("p", "1")), PP("p", "2", ALL), BINDING(CLAIM("p", "1"), ON("m1"))},
     .state = STATE_STALE,
     .reason = STALE_POLICY_GONE,
     .phase = PHASE_OVERDUE},
    {"the policy created again does not select the template",
     {NGINX(CLAIM("p", "1")), PP("p", "2", NAMED("other")), BINDING(CLAIM("p", "1"), ON("m1"))},
     .state = STATE_STALE,
     .reason = STALE_SELECTOR_MISMATCH,
     .phase = PHASE_OVERDUE},
    {"the claimed policy is in another namespace",
     {NGINX(",\"labels\":{" CLAIM_LABEL("1") "},\"annotations\":{"
                                             "\"propagationpolicy.karmada.io/namespace\":\"other\","
                                             "\"propagationpolicy.karmada.io/name\":\"p\"}"),
      POLICY_OF("PropagationPolicy", ",\"namespace\":\"other\"", "p", CLAIM_LABEL("1"), ALL),
      PP("q", "2", ALL), OTHER_BINDING},
     .state = STATE_STALE,
     .reason = STALE_SELECTOR_MISMATCH,
     .phase = PHASE_OVERDUE},
    /* The claim is incomplete. */
    {"an incomplete claim does not count",
     {NGINX(HALF_CLAIM("1")), PP("p", "1", ALL), OTHER_BINDING},
     .state = STATE_UNBOUND,
     .reason = UNBOUND_WAITING,
     .governing = "p"},
    {"incomplete claim: the best-ranked policy governs",
     {NGINX(HALF_CLAIM("1")), PP("p", "1", ALL ON("m1")), BINDING(CLAIM("p", "1"), ON("m1"))},
     .state = STATE_CURRENT,
     .governing = "p"},
    {"incomplete claim: the binding has older values",
     {NGINX(HALF_CLAIM("1")), PP("p", "1", ALL ON("m2")), BINDING(CLAIM("p", "1"), ON("m1"))},
     .state = STATE_STALE,
     .reason = STALE_POLICY_UPDATED,
     .phase = PHASE_OVERDUE,
     .fields = 1U << FIELD_PLACEMENT,
     .governing = "p"},
    {"incomplete claim: a higher priority takes over",
     {NGINX(HALF_CLAIM("1")), PP("p", "1", ALL ON("m1")),
      PP("q", "2", ALL ON("m1") ",\"priority\":2"), BINDING(CLAIM("p", "1"), ON("m1"))},
     .state = STATE_STALE,
     .reason = STALE_POLICY_REPLACED,
     .phase = PHASE_OVERDUE,
     .governing = "q"},
    {"incomplete claim: no policy selects the template",
     {NGINX(HALF_CLAIM("1")), PP("p", "1", NAMED("other")), BINDING(CLAIM("p", "1"), ON("m1"))},
     .state = STATE_ORPHANED},
    /* Without a claim. */
    {"a match, no binding: unbound",
     {NGINX(""), PP("p", "1", ALL), OTHER_BINDING},
     .state = STATE_UNBOUND,
     .reason = UNBOUND_WAITING,
     .governing = "p"},
    {"a match, but a dependent override does not exist",
     {NGINX(""), PP("p", "1", ALL ",\"dependentOverrides\":[\"missing\"]"), OTHER_BINDING},
     .state = STATE_PENDING,
     .reason = PENDING_OVERRIDE_MISSING,
     .governing = "p"},
    {"a match, and a binding that an earlier policy left",
     {NGINX(""), PP("p", "1", ALL), BINDING("", ON("m1"))},
     .state = STATE_STALE,
     .reason = STALE_POLICY_REPLACED,
     .phase = PHASE_OVERDUE,
     .governing = "p"},
    {"no match, a binding that an earlier policy left: orphaned",
     {NGINX(""), BINDING("", ON("m1"))},
     .state = STATE_ORPHANED},
    {"no match, and the replicas changed since: pending again",
     {"{\"apiVersion\":\"apps/v1\",\"kind\":\"Deployment\",\"metadata\":{\"name\":\"nginx\","
      "\"namespace\":\"test\"},\"spec\":{\"replicas\":5}}",
      BINDING("", ON("m1"))},
     .state = STATE_PENDING,
     .reason = PENDING_POLICY_GONE},
    {"no match, and a user change after the binding",
     {NGINX(CHANGED_BY_USER("2026-01-01T11:00:00Z")),
      BINDING(WRITTEN("2026-01-01T10:00:00Z"), ON("m1"))},
     .state = STATE_PENDING,
     .reason = PENDING_POLICY_GONE},
    {"no match, and a user change before the binding",
     {NGINX(CHANGED_BY_USER("2026-01-01T10:00:00Z")),
      BINDING(WRITTEN("2026-01-01T11:00:00Z"), ON("m1"))},
     .state = STATE_ORPHANED},
    {"no match, and referrers: orphaned even if changed",
     {NGINX(CHANGED_BY_USER("2026-01-01T11:00:00Z")),
      BINDING(WRITTEN("2026-01-01T10:00:00Z"),
              ON("m1") ",\"requiredBy\":[{\"namespace\":\"test\",\"name\":\"x\"}]")},
     .state = STATE_ORPHANED,
     .flags = 1U << FLAG_REQUIRED},
    {"no match, only referrers: attached",
     {NGINX(""), BINDING("", ",\"requiredBy\":[{\"namespace\":\"test\",\"name\":\"x\"}]")},
     .state = STATE_ATTACHED},
    {"no match, no referrer left: pending",
     {NGINX(""), BINDING("", ""), CPP("c", "9", NAMED("other"))},
     .state = STATE_PENDING,
     .reason = PENDING_NO_MATCH},
    {"no policy selects the kind",
     {NGINX(""), OTHER_BINDING},
     .state = STATE_PENDING,
     .reason = PENDING_KIND_NOT_SELECTED},
    {"the only matching policy excludes the template",
     {NGINX(""), CPP("c", "9", ALL ",\"excludedResources\":[{\"namespace\":\"test\"}]")},
     .state = STATE_PENDING,
     .reason = PENDING_EXCLUDED},
    {"the only matching policy is being deleted",
     {NGINX(""),
      POLICY_OF("ClusterPropagationPolicy", ",\"deletionTimestamp\":\"" NOON "\"", "c", "", ALL)},
     .state = STATE_PENDING,
     .reason = PENDING_POLICY_DELETING},
    /* Static takeover and preemption. */
    {"static: the best-ranked policy takes over at the next change",
     {NGINX(CLAIM("p", "1")), PP("p", "1", ALL ON("m1")), PP("p2", "2", ALL ",\"priority\":2"),
      BINDING(CLAIM("p", "1"), ON("m1"))},
     .state = STATE_STALE,
     .reason = STALE_POLICY_REPLACED,
     .phase = PHASE_DEFERRED,
     .governing = "p2",
     .takeover = TAKEOVER_STATIC},
    {"preemption: a higher priority alone does not take over",
     {NGINX(CLAIM("p", "1")), PP("p", "1", ALL ON("m1")), PP("p2", "2", ALL ",\"priority\":2"),
      BINDING(CLAIM("p", "1"), ON("m1"))},
     .state = STATE_CURRENT,
     .governing = "p"},
    {"static: a change before the binding's write is not due",
     {NGINX(CHANGED_BY_USER("2026-01-01T11:00:00Z")),
      POLICY_OF("PropagationPolicy",
                ",\"namespace\":\"test\"" CHANGED_BY_USER("2026-01-01T10:00:00Z"), "p",
                CLAIM_LABEL("1"), ALL ON("m2")),
      BINDING(CHANGED_BY_USER("2026-01-01T11:00:01Z"), ON("m1"))},
     .state = STATE_STALE,
     .reason = STALE_POLICY_REPLACED,
     .phase = PHASE_DEFERRED,
     .governing = "p",
     .takeover = TAKEOVER_STATIC},
    {"static: drift of an immediate policy is deferred",
     {NGINX(CLAIM("p", "1")), PP("p", "1", ALL ON("m2")), BINDING(CLAIM("p", "1"), ON("m1"))},
     .state = STATE_STALE,
     .reason = STALE_POLICY_UPDATED,
     .phase = PHASE_DEFERRED,
     .fields = 1U << FIELD_PLACEMENT,
     .governing = "p",
     .takeover = TAKEOVER_STATIC},
    {"static: the claimed policy selects no more: orphaned",
     {NGINX(CLAIM("p", "1")), PP("p", "1", NAMED("other")), BINDING(CLAIM("p", "1"), ON("m1"))},
     .state = STATE_ORPHANED,
     .takeover = TAKEOVER_STATIC},
    {"static: the claim of a deleted policy does not count",
     {NGINX(CLAIM("p", "1")), PP("p2", "2", ALL), BINDING(CLAIM("p", "1"), ON("m1"))},
     .state = STATE_STALE,
     .reason = STALE_POLICY_REPLACED,
     .phase = PHASE_DEFERRED,
     .governing = "p2",
     .takeover = TAKEOVER_STATIC},
    {"the binding has the claim of a cluster-wide policy",
     {NGINX(CLAIM("p", "1")), PP("p", "1", ALL ON("m1")),
      BINDING(",\"labels\":{\"clusterpropagationpolicy.karmada.io/permanent-id\":\"1\"},"
              "\"annotations\":{\"clusterpropagationpolicy.karmada.io/name\":\"p\"}",
              ON("m1"))},
     .state = STATE_STALE,
     .reason = STALE_POLICY_REPLACED,
     .phase = PHASE_OVERDUE,
     .governing = "p"},
    {"the binding has another policy name with the id",
     {NGINX(CLAIM("p", "1")), PP("p", "1", ALL ON("m1")), BINDING(CLAIM("q", "1"), ON("m1"))},
     .state = STATE_STALE,
     .reason = STALE_POLICY_REPLACED,
     .phase = PHASE_OVERDUE,
     .governing = "p"},
    {"no match, only the template's time is known: orphaned",
     {NGINX(CHANGED_BY_USER("2026-01-01T11:00:00Z")), BINDING("", ON("m1"))},
     .state = STATE_ORPHANED},
    {"no match, only the binding's time known: replicas count",
     {"{\"apiVersion\":\"apps/v1\",\"kind\":\"Deployment\",\"metadata\":{\"name\":\"nginx\","
      "\"namespace\":\"test\"},\"spec\":{\"replicas\":5}}",
      BINDING(WRITTEN("2026-01-01T11:00:00Z"), ON("m1"))},
     .state = STATE_PENDING,
     .reason = PENDING_POLICY_GONE},
    {"the only policy is being deleted, and excludes",
     {NGINX(""), POLICY_OF("ClusterPropagationPolicy", ",\"deletionTimestamp\":\"" NOON "\"", "c",
                           "", ALL ",\"excludedResources\":[{\"namespace\":\"test\"}]")},
     .state = STATE_PENDING,
     .reason = PENDING_NO_MATCH},
    {"an exclusion ranks before a deletion",
     {NGINX(""), CPP("c", "9", ALL ",\"excludedResources\":[{\"namespace\":\"test\"}]"),
      POLICY_OF("ClusterPropagationPolicy", ",\"deletionTimestamp\":\"" NOON "\"", "d", "", ALL)},
     .state = STATE_PENDING,
     .reason = PENDING_EXCLUDED},
    {"static: the claim has an older id of the policy",
     {NGINX(CLAIM("p", "1")), PP("p", "2", ALL ON("m1")), BINDING(CLAIM("p", "1"), ON("m1"))},
     .state = STATE_STALE,
     .reason = STALE_POLICY_REPLACED,
     .phase = PHASE_DEFERRED,
     .governing = "p",
     .takeover = TAKEOVER_STATIC},
    {"static: the binding has the values of the policy",
     {NGINX(CLAIM("p", "1")), PP("p", "1", ALL ON("m1")), BINDING(CLAIM("p", "1"), ON("m1"))},
     .state = STATE_CURRENT,
     .governing = "p",
     .takeover = TAKEOVER_STATIC},
    {"static: no claim, no match",
     {NGINX(""), CPP("c", "9", NAMED("other")), OTHER_BINDING},
     .state = STATE_PENDING,
     .reason = PENDING_NO_MATCH,
     .takeover = TAKEOVER_STATIC},
    {"static: a match without a claim",
     {NGINX(""), PP("p", "1", ALL), OTHER_BINDING},
     .state = STATE_UNBOUND,
     .reason = UNBOUND_WAITING,
     .governing = "p",
     .takeover = TAKEOVER_STATIC},
    /* Changes of the template that its binding may not have. */
    {"the template was changed after its binding was written",
     {NGINX(CLAIM("p", "1") CHANGED_BY_USER("2026-01-01T10:00:02Z")), PP("p", "1", ALL ON("m1")),
      BINDING(CLAIM("p", "1") WRITTEN("2026-01-01T10:00:00Z"), ON("m1"))},
     .state = STATE_STALE,
     .reason = STALE_TEMPLATE_UPDATED,
     .phase = PHASE_OVERDUE,
     .governing = "p"},
    {"the change of the template is within the grace period",
     {NGINX(CLAIM("p", "1") CHANGED_BY_USER("2026-01-01T11:59:00Z")), PP("p", "1", ALL ON("m1")),
      BINDING(CLAIM("p", "1") WRITTEN("2026-01-01T10:00:00Z"), ON("m1"))},
     .state = STATE_CURRENT,
     .governing = "p"},
    {"a change one second after the binding proves nothing",
     {NGINX(CLAIM("p", "1") CHANGED_BY_USER("2026-01-01T10:00:01Z")), PP("p", "1", ALL ON("m1")),
      BINDING(CLAIM("p", "1") WRITTEN("2026-01-01T10:00:00Z"), ON("m1"))},
     .state = STATE_CURRENT,
     .governing = "p"},
    {"Karmada's own write of the template is no change",
     {NGINX(CLAIM("p", "1") WRITTEN("2026-01-01T11:00:00Z")), PP("p", "1", ALL ON("m1")),
      BINDING(CLAIM("p", "1") WRITTEN("2026-01-01T10:00:00Z"), ON("m1"))},
     .state = STATE_CURRENT,
     .governing = "p"},
    {"the replicas differ, no time is known",
     {"{\"apiVersion\":\"apps/v1\",\"kind\":\"Deployment\",\"metadata\":{\"name\":\"nginx\","
      "\"namespace\":\"test\"" CLAIM("p", "1") "},\"spec\":{\"replicas\":5}}",
      PP("p", "1", ALL ON("m1")), BINDING(CLAIM("p", "1"), ON("m1"))},
     .state = STATE_STALE,
     .reason = STALE_TEMPLATE_UPDATED,
     .phase = PHASE_OVERDUE,
     .governing = "p"},
    {"a change of a template being deleted does not count",
     {"{\"apiVersion\":\"apps/v1\",\"kind\":\"Deployment\",\"metadata\":{\"name\":\"nginx\","
      "\"namespace\":\"test\",\"deletionTimestamp\":\"" NOON
      "\"" CLAIM("p", "1") "},\"spec\":{\"replicas\":5}}",
      PP("p", "1", ALL ON("m1")), BINDING(CLAIM("p", "1"), ON("m1"))},
     .state = STATE_CURRENT,
     .governing = "p"},
    {"drift of the policy ranks before a template change",
     {NGINX(CLAIM("p", "1") CHANGED_BY_USER("2026-01-01T10:00:02Z")), PP("p", "1", ALL ON("m2")),
      BINDING(CLAIM("p", "1") WRITTEN("2026-01-01T10:00:00Z"), ON("m1"))},
     .state = STATE_STALE,
     .reason = STALE_POLICY_UPDATED,
     .phase = PHASE_OVERDUE,
     .fields = 1U << FIELD_PLACEMENT,
     .governing = "p"},
    {"static: the template was changed after its binding",
     {NGINX(CLAIM("p", "1") CHANGED_BY_USER("2026-01-01T10:00:02Z")), PP("p", "1", ALL ON("m1")),
      BINDING(CLAIM("p", "1") WRITTEN("2026-01-01T10:00:00Z"), ON("m1"))},
     .state = STATE_STALE,
     .reason = STALE_TEMPLATE_UPDATED,
     .phase = PHASE_OVERDUE,
     .governing = "p",
     .takeover = TAKEOVER_STATIC},
    /* The template is ignored. */
    {"claimed by another controller",
     {NGINX(",\"labels\":{\"resourcetemplate.karmada.io/claimed-by\":\"MultiClusterService\"}"),
      PP("p", "1", ALL)},
     .state = STATE_IGNORED,
     .reason = IGNORED_CLAIMED_BY},
};

TEST_ROWS(the_state_follows_from_the_objects, cases, title)
{
    const struct drift_case *c = *state;
    struct rules_options options = rules_options_default;
    struct world w;
    int64_t now_ms;

    options.takeover = c->takeover;
    assert_true(parse_timestamp(c->now ? c->now : NOON, &now_ms));
    world_init(&w, &options, 1);
    for (size_t i = 0; i < ARRAY_LEN(c->objects) && c->objects[i]; i++)
        world_put_text(&w, c->objects[i]);
    world_run(&w, now_ms);

    const struct template_decision *d =
        template_decision(world_find(&w, "apps/v1", "Deployment", "test", "nginx"));
    assert_string_equal(state_names[d->state], state_names[c->state]);
    assert_int_equal(d->reason, c->reason);
    assert_int_equal(d->phase, c->phase);
    assert_int_equal(d->fields, c->fields);
    assert_int_equal(d->flags, c->flags);
    if (c->governing)
        assert_string_equal(decision_governing(d) ? decision_governing(d)->name : "none",
                            c->governing);
    else
        assert_null(decision_governing(d));
    world_release(&w);
}

TEST(a_grace_period_ends_without_a_change)
{
    int64_t noon_ms;
    struct world w;

    assert_true(parse_timestamp(NOON, &noon_ms));
    world_init(&w, &rules_options_default, 1);
    world_put_text(&w, NGINX(CLAIM("p", "1")));
    world_put_text(&w,
                   POLICY_OF("PropagationPolicy", ",\"namespace\":\"test\"" CHANGED_BY_USER(NOON),
                             "p", CLAIM_LABEL("1"), ALL ON("m2")));
    world_put_text(&w, BINDING(CLAIM("p", "1"), ON("m1")));
    world_run(&w, noon_ms);

    const struct entry *nginx = world_find(&w, "apps/v1", "Deployment", "test", "nginx");
    assert_int_equal(template_decision(nginx)->phase, PHASE_DEFERRED);
    assert_int_equal(engine_deadline(w.engine), noon_ms + 60 * 1000 + 1);
    world_run(&w, noon_ms + 60 * 1000);
    assert_int_equal(template_decision(nginx)->phase, PHASE_DEFERRED);
    world_run(&w, noon_ms + 60 * 1000 + 1);
    assert_int_equal(template_decision(nginx)->phase, PHASE_OVERDUE);
    assert_true(engine_deadline(w.engine) == INT64_MAX);
    /* An earlier time does not undo the phase. */
    world_run(&w, noon_ms);
    assert_int_equal(template_decision(nginx)->phase, PHASE_OVERDUE);
    world_release(&w);
}

/*
 * With a binding, since_ms is the time of the user's change after the binding was written; without
 * a binding, it is the time of creation.
 */
TEST(a_pending_template_is_dated_by_change_or_creation)
{
    static const char created[] =
        ",\"creationTimestamp\":\"2026-01-01T08:00:00Z\"" CHANGED_BY_USER("2026-01-01T11:00:00Z");
    int64_t created_ms, changed_ms, noon_ms;
    struct world w;

    assert_true(parse_timestamp("2026-01-01T08:00:00Z", &created_ms));
    assert_true(parse_timestamp("2026-01-01T11:00:00Z", &changed_ms));
    assert_true(parse_timestamp(NOON, &noon_ms));
    for (unsigned bound = 0; bound <= 1; bound++) {
        char template[1024];

        snprintf(template, sizeof(template),
                 "{\"apiVersion\":\"apps/v1\",\"kind\":\"Deployment\",\"metadata\":{\"name\":"
                 "\"nginx\",\"namespace\":\"test\"%s},\"spec\":{\"replicas\":2}}",
                 created);
        world_init(&w, &rules_options_default, 1);
        world_put_text(&w, template);
        if (bound)
            world_put_text(&w, BINDING(WRITTEN("2026-01-01T10:00:00Z"), ON("m1")));
        world_run(&w, noon_ms);
        const struct template_decision *d =
            template_decision(world_find(&w, "apps/v1", "Deployment", "test", "nginx"));
        assert_int_equal(d->state, STATE_PENDING);
        assert_true(decision_since_ms(d) == (bound ? changed_ms : created_ms));
        world_release(&w);
    }
}
