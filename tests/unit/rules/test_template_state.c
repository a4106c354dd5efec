/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/rules/template_state.h"

#include "metrics/base/timestamp.h"
#include "tests/unit/suite.h"
#include "tests/unit/world.h"

/* One Deployment test/nginx, the policies around it, and its binding, each from a few words. */
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
/* The rest of the only selector, then the rest of the spec. */
#define ALL         "}]"
#define NAMED(name) ",\"name\":\"" name "\"}]"
#define LAZY        ",\"activationPreference\":\"Lazy\""
#define ON(cluster) ",\"placement\":{\"clusterAffinity\":{\"clusterNames\":[\"" cluster "\"]}}"

#define CLAIM_LABEL(id) "\"propagationpolicy.karmada.io/permanent-id\":\"" id "\""
#define CLAIM_NOTES(name)                                                                          \
    "\"propagationpolicy.karmada.io/namespace\":\"test\","                                         \
    "\"propagationpolicy.karmada.io/name\":\"" name "\""
#define CLAIM(name, id) ",\"labels\":{" CLAIM_LABEL(id) "},\"annotations\":{" CLAIM_NOTES(name) "}"

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
/* Somebody else's: then the source is a control plane, not a folder of manifests. */
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
    const char *now; /* NOON unless told. */
    enum takeover takeover;
} cases[] = {
    /* The claim's policy governs. */
    {"claimed by an immediate policy, no binding yet: unbound",
     {NGINX(CLAIM("p", "1")), PP("p", "1", ALL), OTHER_BINDING},
     .state = STATE_UNBOUND,
     .reason = UNBOUND_STUCK,
     .governing = "p"},
    {"within the grace period Karmada is still to make the binding",
     {NGINX(CLAIM("p", "1")),
      POLICY_OF("PropagationPolicy", ",\"namespace\":\"test\"" CHANGED_BY_USER(NOON), "p",
                CLAIM_LABEL("1"), ALL),
      OTHER_BINDING},
     .state = STATE_UNBOUND,
     .reason = UNBOUND_WAITING,
     .governing = "p",
     .now = "2026-01-01T12:01:00Z"},
    {"no longer lazy, and claimed before: nothing happens until the template changes",
     {NGINX(CLAIM("p", "1")),
      POLICY_OF("PropagationPolicy", ",\"namespace\":\"test\"" CHANGED_BY_USER(NOON), "p",
                CLAIM_LABEL("1"), ALL),
      OTHER_BINDING},
     .state = STATE_UNBOUND,
     .reason = UNBOUND_STUCK,
     .governing = "p",
     .now = "2026-01-01T12:01:01Z"},
    {"the binding of a deleted object of its name is in the way",
     {NGINX(",\"uid\":\"new\"" CLAIM("p", "1")), PP("p", "1", ALL ON("m1")),
      BINDING_OF("old", CLAIM("p", "1"), ON("m1"))},
     .state = STATE_UNBOUND,
     .reason = UNBOUND_NAMESAKE,
     .governing = "p"},
    {"a binding that is being deleted is in the way",
     {NGINX(",\"uid\":\"new\"" CLAIM("p", "1")), PP("p", "1", ALL ON("m1")),
      BINDING_OF("new", ",\"deletionTimestamp\":\"" NOON "\"" CLAIM("p", "1"), ON("m1"))},
     .state = STATE_UNBOUND,
     .reason = UNBOUND_NAMESAKE,
     .governing = "p"},
    {"a namesake's claim is not the template's",
     {NGINX(",\"uid\":\"new\""), PP("p", "1", ALL ON("m1")), PP("q", "2", ALL ",\"priority\":2"),
      BINDING_OF("old", CLAIM("p", "1"), ON("m1"))},
     .state = STATE_UNBOUND,
     .reason = UNBOUND_NAMESAKE,
     .governing = "q"},
    {"the binding is its own by the uid",
     {NGINX(",\"uid\":\"same\"" CLAIM("p", "1")), PP("p", "1", ALL ON("m1")),
      BINDING_OF("same", CLAIM("p", "1"), ON("m1"))},
     .state = STATE_CURRENT,
     .governing = "p"},
    {"a manifest has no uid: the name counts",
     {NGINX(CLAIM("p", "1")), PP("p", "1", ALL ON("m1")),
      BINDING_OF("old", CLAIM("p", "1"), ON("m1"))},
     .state = STATE_CURRENT,
     .governing = "p"},
    {"claimed by a lazy policy that never made a binding",
     {NGINX(CLAIM("p", "1")), PP("p", "1", ALL LAZY), OTHER_BINDING},
     .state = STATE_STALE,
     .reason = STALE_NEVER_BOUND,
     .phase = PHASE_DEFERRED,
     .governing = "p"},
    {"an attached binding is no binding of the lazy policy",
     {NGINX(CLAIM("p", "1")), PP("p", "1", ALL LAZY),
      BINDING("", ",\"requiredBy\":[{\"namespace\":\"test\",\"name\":\"x\"}]")},
     .state = STATE_STALE,
     .reason = STALE_NEVER_BOUND,
     .phase = PHASE_DEFERRED,
     .governing = "p"},
    {"the binding says what the policy says",
     {NGINX(CLAIM("p", "1")), PP("p", "1", ALL ON("m1")), BINDING(CLAIM("p", "1"), ON("m1"))},
     .state = STATE_CURRENT,
     .governing = "p"},
    {"a claim on the binding alone counts too",
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
    {"a policy preempted the claim lazily, the binding is the old one's",
     {NGINX(CLAIM("p2", "2")), PP("p", "1", ALL), PP("p2", "2", ALL LAZY),
      BINDING(CLAIM("p", "1"), ON("m1"))},
     .state = STATE_STALE,
     .reason = STALE_POLICY_REPLACED,
     .phase = PHASE_DEFERRED,
     .governing = "p2"},
    {"the binding carries an older id of the policy's name",
     {NGINX(CLAIM("p", "2")), PP("p", "2", ALL), BINDING(CLAIM("p", "1"), ",\"placement\":{}")},
     .state = STATE_STALE,
     .reason = STALE_POLICY_REPLACED,
     .phase = PHASE_OVERDUE,
     .governing = "p"},
    {"every copied field is named",
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
    {"defaults, empty lists, order of keys and scheduling of its own are no drift",
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
    /* Phases in time. */
    {"within the grace period an immediate policy is not overdue",
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
    {"after it, it is",
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
    {"a template changed after its lazy policy is owed the change",
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
    {"a template changed before its lazy policy waits, however long",
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
    {"the policy of the claim is gone",
     {NGINX(CLAIM("p", "1")), BINDING(CLAIM("p", "1"), ON("m1"))},
     .state = STATE_STALE,
     .reason = STALE_POLICY_GONE,
     .phase = PHASE_OVERDUE},
    {"the policy of the claim was created again under its name",
     {NGINX(CLAIM("p", "1")), PP("p", "2", ALL), BINDING(CLAIM("p", "1"), ON("m1"))},
     .state = STATE_STALE,
     .reason = STALE_POLICY_GONE,
     .phase = PHASE_OVERDUE},
    {"it was created again, and does not select the template",
     {NGINX(CLAIM("p", "1")), PP("p", "2", NAMED("other")), BINDING(CLAIM("p", "1"), ON("m1"))},
     .state = STATE_STALE,
     .reason = STALE_SELECTOR_MISMATCH,
     .phase = PHASE_OVERDUE},
    {"a foreign claim names a policy of another namespace",
     {NGINX(",\"labels\":{" CLAIM_LABEL("1") "},\"annotations\":{"
                                             "\"propagationpolicy.karmada.io/namespace\":\"other\","
                                             "\"propagationpolicy.karmada.io/name\":\"p\"}"),
      POLICY_OF("PropagationPolicy", ",\"namespace\":\"other\"", "p", CLAIM_LABEL("1"), ALL),
      PP("q", "2", ALL), OTHER_BINDING},
     .state = STATE_STALE,
     .reason = STALE_SELECTOR_MISMATCH,
     .phase = PHASE_OVERDUE},
    /* Half a claim. */
    {"a claim with half its keys is none",
     {NGINX(HALF_CLAIM("1")), PP("p", "1", ALL), OTHER_BINDING},
     .state = STATE_UNBOUND,
     .reason = UNBOUND_WAITING,
     .governing = "p"},
    {"with half a claim the best-ranked match governs: its own binding",
     {NGINX(HALF_CLAIM("1")), PP("p", "1", ALL ON("m1")), BINDING(CLAIM("p", "1"), ON("m1"))},
     .state = STATE_CURRENT,
     .governing = "p"},
    {"its own binding, of older fields",
     {NGINX(HALF_CLAIM("1")), PP("p", "1", ALL ON("m2")), BINDING(CLAIM("p", "1"), ON("m1"))},
     .state = STATE_STALE,
     .reason = STALE_POLICY_UPDATED,
     .phase = PHASE_OVERDUE,
     .fields = 1U << FIELD_PLACEMENT,
     .governing = "p"},
    {"with half a claim a better policy takes over, which a claim would prevent",
     {NGINX(HALF_CLAIM("1")), PP("p", "1", ALL ON("m1")),
      PP("q", "2", ALL ON("m1") ",\"priority\":2"), BINDING(CLAIM("p", "1"), ON("m1"))},
     .state = STATE_STALE,
     .reason = STALE_POLICY_REPLACED,
     .phase = PHASE_OVERDUE,
     .governing = "q"},
    {"half a claim that nothing selects, with a binding: orphaned",
     {NGINX(HALF_CLAIM("1")), PP("p", "1", NAMED("other")), BINDING(CLAIM("p", "1"), ON("m1"))},
     .state = STATE_ORPHANED},
    /* Without a claim. */
    {"a match, no binding: unbound",
     {NGINX(""), PP("p", "1", ALL), OTHER_BINDING},
     .state = STATE_UNBOUND,
     .reason = UNBOUND_WAITING,
     .governing = "p"},
    {"a match, but an override that it depends on does not exist",
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
    {"no match, and times tell that the user changed it since",
     {NGINX(CHANGED_BY_USER("2026-01-01T11:00:00Z")),
      BINDING(WRITTEN("2026-01-01T10:00:00Z"), ON("m1"))},
     .state = STATE_PENDING,
     .reason = PENDING_POLICY_GONE},
    {"no match, and times tell that nobody did",
     {NGINX(CHANGED_BY_USER("2026-01-01T10:00:00Z")),
      BINDING(WRITTEN("2026-01-01T11:00:00Z"), ON("m1"))},
     .state = STATE_ORPHANED},
    {"an orphan that others require travels with them, changed or not",
     {NGINX(CHANGED_BY_USER("2026-01-01T11:00:00Z")),
      BINDING(WRITTEN("2026-01-01T10:00:00Z"),
              ON("m1") ",\"requiredBy\":[{\"namespace\":\"test\",\"name\":\"x\"}]")},
     .state = STATE_ORPHANED,
     .flags = 1U << FLAG_REQUIRED},
    {"no match, only required by others: attached",
     {NGINX(""), BINDING("", ",\"requiredBy\":[{\"namespace\":\"test\",\"name\":\"x\"}]")},
     .state = STATE_ATTACHED},
    {"required by nobody any more: pending",
     {NGINX(""), BINDING("", ""), CPP("c", "9", NAMED("other"))},
     .state = STATE_PENDING,
     .reason = PENDING_NO_MATCH},
    {"no policy selects its kind at all",
     {NGINX(""), OTHER_BINDING},
     .state = STATE_PENDING,
     .reason = PENDING_KIND_NOT_SELECTED},
    {"only an exclusion keeps the policy from it",
     {NGINX(""), CPP("c", "9", ALL ",\"excludedResources\":[{\"namespace\":\"test\"}]")},
     .state = STATE_PENDING,
     .reason = PENDING_EXCLUDED},
    {"only a policy that is being deleted selects it",
     {NGINX(""),
      POLICY_OF("ClusterPropagationPolicy", ",\"deletionTimestamp\":\"" NOON "\"", "c", "", ALL)},
     .state = STATE_PENDING,
     .reason = PENDING_POLICY_DELETING},
    /* Seed 001: static rules. */
    {"static: the best-ranked policy takes over at the next change",
     {NGINX(CLAIM("p", "1")), PP("p", "1", ALL ON("m1")), PP("p2", "2", ALL ",\"priority\":2"),
      BINDING(CLAIM("p", "1"), ON("m1"))},
     .state = STATE_STALE,
     .reason = STALE_POLICY_REPLACED,
     .phase = PHASE_DEFERRED,
     .governing = "p2",
     .takeover = TAKEOVER_STATIC},
    {"preemption: the same policy of higher priority takes nothing",
     {NGINX(CLAIM("p", "1")), PP("p", "1", ALL ON("m1")), PP("p2", "2", ALL ",\"priority\":2"),
      BINDING(CLAIM("p", "1"), ON("m1"))},
     .state = STATE_CURRENT,
     .governing = "p"},
    {"static: a change that an earlier policy saw is not owed by the next one",
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
    {"static: every policy behaves as lazy",
     {NGINX(CLAIM("p", "1")), PP("p", "1", ALL ON("m2")), BINDING(CLAIM("p", "1"), ON("m1"))},
     .state = STATE_STALE,
     .reason = STALE_POLICY_UPDATED,
     .phase = PHASE_DEFERRED,
     .fields = 1U << FIELD_PLACEMENT,
     .governing = "p",
     .takeover = TAKEOVER_STATIC},
    {"static: a policy that no longer selects leaves the template as it is",
     {NGINX(CLAIM("p", "1")), PP("p", "1", NAMED("other")), BINDING(CLAIM("p", "1"), ON("m1"))},
     .state = STATE_ORPHANED,
     .takeover = TAKEOVER_STATIC},
    {"static: a claim of a policy that is gone is as none",
     {NGINX(CLAIM("p", "1")), PP("p2", "2", ALL), BINDING(CLAIM("p", "1"), ON("m1"))},
     .state = STATE_STALE,
     .reason = STALE_POLICY_REPLACED,
     .phase = PHASE_DEFERRED,
     .governing = "p2",
     .takeover = TAKEOVER_STATIC},
    {"the binding carries a cluster-wide policy of the same name",
     {NGINX(CLAIM("p", "1")), PP("p", "1", ALL ON("m1")),
      BINDING(",\"labels\":{\"clusterpropagationpolicy.karmada.io/permanent-id\":\"1\"},"
              "\"annotations\":{\"clusterpropagationpolicy.karmada.io/name\":\"p\"}",
              ON("m1"))},
     .state = STATE_STALE,
     .reason = STALE_POLICY_REPLACED,
     .phase = PHASE_OVERDUE,
     .governing = "p"},
    {"the binding carries another name under the same id",
     {NGINX(CLAIM("p", "1")), PP("p", "1", ALL ON("m1")), BINDING(CLAIM("q", "1"), ON("m1"))},
     .state = STATE_STALE,
     .reason = STALE_POLICY_REPLACED,
     .phase = PHASE_OVERDUE,
     .governing = "p"},
    {"only the template's time is known: its replicas tell",
     {NGINX(CHANGED_BY_USER("2026-01-01T11:00:00Z")), BINDING("", ON("m1"))},
     .state = STATE_ORPHANED},
    {"only the binding's time is known: the template's replicas tell",
     {"{\"apiVersion\":\"apps/v1\",\"kind\":\"Deployment\",\"metadata\":{\"name\":\"nginx\","
      "\"namespace\":\"test\"},\"spec\":{\"replicas\":5}}",
      BINDING(WRITTEN("2026-01-01T11:00:00Z"), ON("m1"))},
     .state = STATE_PENDING,
     .reason = PENDING_POLICY_GONE},
    {"a policy that is being deleted and excludes it is no reason by itself",
     {NGINX(""), POLICY_OF("ClusterPropagationPolicy", ",\"deletionTimestamp\":\"" NOON "\"", "c",
                           "", ALL ",\"excludedResources\":[{\"namespace\":\"test\"}]")},
     .state = STATE_PENDING,
     .reason = PENDING_NO_MATCH},
    {"an exclusion counts before a deletion",
     {NGINX(""), CPP("c", "9", ALL ",\"excludedResources\":[{\"namespace\":\"test\"}]"),
      POLICY_OF("ClusterPropagationPolicy", ",\"deletionTimestamp\":\"" NOON "\"", "d", "", ALL)},
     .state = STATE_PENDING,
     .reason = PENDING_EXCLUDED},
    {"static: the best-ranked policy has the claim, under an id that is gone",
     {NGINX(CLAIM("p", "1")), PP("p", "2", ALL ON("m1")), BINDING(CLAIM("p", "1"), ON("m1"))},
     .state = STATE_STALE,
     .reason = STALE_POLICY_REPLACED,
     .phase = PHASE_DEFERRED,
     .governing = "p",
     .takeover = TAKEOVER_STATIC},
    {"static: the best-ranked policy has the claim, and its binding is as it says",
     {NGINX(CLAIM("p", "1")), PP("p", "1", ALL ON("m1")), BINDING(CLAIM("p", "1"), ON("m1"))},
     .state = STATE_CURRENT,
     .governing = "p",
     .takeover = TAKEOVER_STATIC},
    {"static: no claim, no match, nothing",
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
    /* Is the template's last change in its binding? */
    {"the template was changed after its binding was written",
     {NGINX(CLAIM("p", "1") CHANGED_BY_USER("2026-01-01T10:00:02Z")), PP("p", "1", ALL ON("m1")),
      BINDING(CLAIM("p", "1") WRITTEN("2026-01-01T10:00:00Z"), ON("m1"))},
     .state = STATE_STALE,
     .reason = STALE_TEMPLATE_UPDATED,
     .phase = PHASE_OVERDUE,
     .governing = "p"},
    {"within the grace period Karmada has time to follow it",
     {NGINX(CLAIM("p", "1") CHANGED_BY_USER("2026-01-01T11:59:00Z")), PP("p", "1", ALL ON("m1")),
      BINDING(CLAIM("p", "1") WRITTEN("2026-01-01T10:00:00Z"), ON("m1"))},
     .state = STATE_CURRENT,
     .governing = "p"},
    {"a second later is no proof: the times are whole seconds",
     {NGINX(CLAIM("p", "1") CHANGED_BY_USER("2026-01-01T10:00:01Z")), PP("p", "1", ALL ON("m1")),
      BINDING(CLAIM("p", "1") WRITTEN("2026-01-01T10:00:00Z"), ON("m1"))},
     .state = STATE_CURRENT,
     .governing = "p"},
    {"Karmada's own write of the template is no change",
     {NGINX(CLAIM("p", "1") WRITTEN("2026-01-01T11:00:00Z")), PP("p", "1", ALL ON("m1")),
      BINDING(CLAIM("p", "1") WRITTEN("2026-01-01T10:00:00Z"), ON("m1"))},
     .state = STATE_CURRENT,
     .governing = "p"},
    {"other replicas, and nothing else is known",
     {"{\"apiVersion\":\"apps/v1\",\"kind\":\"Deployment\",\"metadata\":{\"name\":\"nginx\","
      "\"namespace\":\"test\"" CLAIM("p", "1") "},\"spec\":{\"replicas\":5}}",
      PP("p", "1", ALL ON("m1")), BINDING(CLAIM("p", "1"), ON("m1"))},
     .state = STATE_STALE,
     .reason = STALE_TEMPLATE_UPDATED,
     .phase = PHASE_OVERDUE,
     .governing = "p"},
    {"what is being deleted need not be followed",
     {"{\"apiVersion\":\"apps/v1\",\"kind\":\"Deployment\",\"metadata\":{\"name\":\"nginx\","
      "\"namespace\":\"test\",\"deletionTimestamp\":\"" NOON
      "\"" CLAIM("p", "1") "},\"spec\":{\"replicas\":5}}",
      PP("p", "1", ALL ON("m1")), BINDING(CLAIM("p", "1"), ON("m1"))},
     .state = STATE_CURRENT,
     .governing = "p"},
    {"drift of the policy comes first",
     {NGINX(CLAIM("p", "1") CHANGED_BY_USER("2026-01-01T10:00:02Z")), PP("p", "1", ALL ON("m2")),
      BINDING(CLAIM("p", "1") WRITTEN("2026-01-01T10:00:00Z"), ON("m1"))},
     .state = STATE_STALE,
     .reason = STALE_POLICY_UPDATED,
     .phase = PHASE_OVERDUE,
     .fields = 1U << FIELD_PLACEMENT,
     .governing = "p"},
    {"static: the same of a policy that behaves as lazy",
     {NGINX(CLAIM("p", "1") CHANGED_BY_USER("2026-01-01T10:00:02Z")), PP("p", "1", ALL ON("m1")),
      BINDING(CLAIM("p", "1") WRITTEN("2026-01-01T10:00:00Z"), ON("m1"))},
     .state = STATE_STALE,
     .reason = STALE_TEMPLATE_UPDATED,
     .phase = PHASE_OVERDUE,
     .governing = "p",
     .takeover = TAKEOVER_STATIC},
    /* Never considered. */
    {"claimed by another controller",
     {NGINX(",\"labels\":{\"resourcetemplate.karmada.io/claimed-by\":\"MultiClusterService\"}"),
      PP("p", "1", ALL)},
     .state = STATE_IGNORED,
     .reason = IGNORED_CLAIMED_BY},
};

TEST_ROWS(decides, cases, title)
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
        assert_string_equal(d->governing ? d->governing->name : "none", c->governing);
    else
        assert_null(d->governing);
    world_release(&w);
}

/* By the passing of time alone, without any change. */
TEST(a_grace_period_ends_by_itself)
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
    /* A clock that is set back takes nothing back. */
    world_run(&w, noon_ms);
    assert_int_equal(template_decision(nginx)->phase, PHASE_OVERDUE);
    world_release(&w);
}

/* Since when: the change for what was changed, the creation for what never had a policy. */
TEST(pending_since_what_made_it_so)
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
        assert_true(d->since_ms == (bound ? changed_ms : created_ms));
        world_release(&w);
    }
}
