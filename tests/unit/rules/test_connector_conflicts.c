/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/rules/connector_conflicts.h"

#include "metrics/base/strbuf.h"
#include "metrics/explain/explain.h"
#include "metrics/rules/decision.h"
#include "tests/unit/suite.h"
#include "tests/unit/world.h"

enum { TEXT_MAX = 1 << 16, NOW_S = 1767225600 };

#define ANNOTATE(key, value) "\"cnrm.cloud.google.com/" key "\":\"" value "\""
#define RESOURCE             ANNOTATE("management-conflict-prevention-policy", "resource")
#define OBJECT(api, kind, ns, name, annotations, rest)                                             \
    "{\"apiVersion\":\"" api "\",\"kind\":\"" kind "\",\"metadata\":{\"name\":\"" name             \
    "\",\"namespace\":\"" ns "\",\"annotations\":{" annotations "}}" rest "}"
#define TOPIC(ns, name, annotations, rest)                                                         \
    OBJECT("pubsub.cnrm.cloud.google.com/v1beta1", "PubSubTopic", ns, name, annotations, rest)
#define PREVENTION(value) ANNOTATE("management-conflict-prevention-policy", value)
#define RESOURCE_ID(text) ",\"spec\":{\"resourceID\":\"" text "\"}"
#define FOLDER(ns, name, annotations, rest)                                                        \
    OBJECT("resourcemanager.cnrm.cloud.google.com/v1beta1", "Folder", ns, name, annotations, rest)
#define NETWORK(ns, name, annotations, rest)                                                       \
    OBJECT("compute.cnrm.cloud.google.com/v1beta1", "ComputeNetwork", ns, name, annotations, rest)
#define NAMESPACE(name, annotations)                                                               \
    "{\"apiVersion\":\"v1\",\"kind\":\"Namespace\",\"metadata\":{\"name\":\"" name                 \
    "\",\"annotations\":{" annotations "}}}"
#define CONFLICT(holder)                                                                           \
    "{\"conditions\":[{\"type\":\"Ready\",\"status\":\"False\",\"reason\":\"ManagementConflict\"," \
    "\"message\":\"error obtaining lease: resource is under lease by '" holder                     \
    "' for an additional 12m3s second(s)\"}]}"
#define BINDING(clusters, status)                                                                  \
    "{\"apiVersion\":\"work.karmada.io/v1alpha2\",\"kind\":\"ResourceBinding\",\"metadata\":{"     \
    "\"name\":\"t-pubsubtopic\",\"namespace\":\"a\"},\"spec\":{\"resource\":{\"apiVersion\":"      \
    "\"pubsub.cnrm.cloud.google.com/v1beta1\",\"kind\":\"PubSubTopic\",\"namespace\":\"a\","       \
    "\"name\":\"t\"},\"placement\":{},\"clusters\":[" clusters "]},\"status\":{"                   \
    "\"aggregatedStatus\":[" status "]}}"
#define POLICY(clusters, placement)                                                                \
    "{\"apiVersion\":\"policy.karmada.io/v1alpha1\",\"kind\":\"PropagationPolicy\",\"metadata\":{" \
    "\"name\":\"p\",\"namespace\":\"a\"},\"spec\":{\"resourceSelectors\":[{\"apiVersion\":"        \
    "\"pubsub.cnrm.cloud.google.com/v1beta1\",\"kind\":\"PubSubTopic\"}],\"placement\":{"          \
    "\"clusterAffinity\":{\"clusterNames\":[" clusters "]}" placement "}}}"
#define CLUSTER(name)                                                                              \
    "{\"apiVersion\":\"cluster.karmada.io/v1alpha1\",\"kind\":\"Cluster\",\"metadata\":{\"name\":" \
    "\"" name "\"}}"
#define ON(cluster) "{\"name\":\"" cluster "\"}"

#define LEASE(name, rest)                                                                          \
    "{\"apiVersion\":\"cloudasset.googleapis.com/v1\",\"kind\":\"Asset\",\"metadata\":{\"name\":"  \
    "\"" name "\"},\"assetType\":\"pubsub.googleapis.com/Topic\","                                 \
    "\"snapshotMilliseconds\":1767225600000" rest "}"
#define IDS(data)                                                                                  \
    "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"namespace-id\","       \
    "\"namespace\":\"cnrm-system\"},\"data\":{" data "}}"
#define TOPIC_LEASE(rest) LEASE("//pubsub.googleapis.com/projects/a/topics/t", rest)
/* Lease that expires 30 minutes after NOW_S. */
#define HELD_BY(id) TOPIC_LEASE(",\"holder\":\"" id "\",\"expiration\":\"1767227400\"")
#define BOTH_IDS    IDS("\"a\":\"abc\",\"b\":\"def\"")

/* Objects, and the expected decision about the first one. */
static struct connector_case {
    const char *name;
    const char *objects;
    /*
     * "<number of enum container_kind> <container id> <location, or -> <name> <protection>:
     * <conflicts>"
     */
    const char *wanted;
} connector_cases[] = {
    {"the namespace is the project; default is no protection", TOPIC("a", "t", "", ""),
     "1 a - t none:"},
    {"project, resource id and location",
     TOPIC("a", "t", ANNOTATE("project-id", "p"),
           ",\"spec\":{\"resourceID\":\"r\",\"region\":\"eu\"}"),
     "1 p eu r none:"},
    {"a folder", TOPIC("a", "t", ANNOTATE("folder-id", "7"), ""), "2 7 - t none:"},
    {"an organization", TOPIC("a", "t", ANNOTATE("organization-id", "9"), ""), "3 9 - t none:"},
    {"a reference to a project",
     TOPIC("a", "t", "", ",\"spec\":{\"projectRef\":{\"external\":\"projects/p\"}}"),
     "1 p - t none:"},
    {"the project of the namespace",
     TOPIC("a", "t", "", "") "," NAMESPACE("a", ANNOTATE("project-id", "p")), "1 p - t none:"},
    {"the template requests a lease", TOPIC("a", "t", RESOURCE, ""), "1 a - t resource:"},
    {"the namespace requests a lease", TOPIC("a", "t", "", "") "," NAMESPACE("a", RESOURCE),
     "1 a - t resource:"},
    {"the template overrides the namespace",
     TOPIC("a", "t", ANNOTATE("management-conflict-prevention-policy", "none"),
           "") "," NAMESPACE("a", RESOURCE),
     "1 a - t none:"},
    {"an unknown value is an error", TOPIC("a", "t", PREVENTION("project"), ""),
     "1 a - t invalid: invalid_prevention"},
    {"values differ by case", TOPIC("a", "t", PREVENTION("Resource"), ""),
     "1 a - t invalid: invalid_prevention"},
    {"an empty value is an error, too", TOPIC("a", "t", PREVENTION(""), ""),
     "1 a - t invalid: invalid_prevention"},
    {"an unknown value of the namespace",
     TOPIC("a", "t", "", "") "," NAMESPACE("a", PREVENTION("project")),
     "1 a - t invalid: invalid_prevention"},
    {"the template has a valid value, its namespace has not",
     TOPIC("a", "t", RESOURCE, "") "," NAMESPACE("a", PREVENTION("project")), "1 a - t resource:"},
    {"an unknown value is no silent conflict",
     TOPIC("a", "t", PREVENTION("project"), "") "," HELD_BY("def") "," BOTH_IDS,
     "1 a - t invalid: invalid_prevention"},
    {"an unknown value of a kind without labels", NETWORK("a", "n", PREVENTION("project"), ""),
     "1 a - n invalid: invalid_prevention"},
    {"a placeholder is no identity",
     TOPIC("a", "t", ANNOTATE("project-id", "${PROJECT}"),
           "") "," TOPIC("b", "t", ANNOTATE("project-id", "${PROJECT}"), ""),
     "1 ${PROJECT} - t none:"},
    {"a placeholder within a name",
     TOPIC("a", "t", "", RESOURCE_ID("${ENV}-topic")) "," TOPIC("a", "u", "",
                                                                RESOURCE_ID("${ENV}-topic")),
     "1 a - ${ENV}-topic none:"},
    {"a placeholder of the namespace",
     TOPIC("a", "t", "", "") "," NAMESPACE("a", ANNOTATE("project-id", "${P?}")) "," TOPIC(
         "b", "t", ANNOTATE("project-id", "${P?}"), ""),
     "1 ${P?} - t none:"},
    {"a placeholder in another object is no conflict either",
     TOPIC("a", "t", "", RESOURCE_ID("${ENV}")) "," TOPIC("a", "u", "", RESOURCE_ID("t")),
     "1 a - ${ENV} none:"},
    {"a dollar sign is no placeholder",
     TOPIC("a", "t", "", RESOURCE_ID("$x")) "," TOPIC("a", "u", "", RESOURCE_ID("$x")),
     "1 a - $x none: duplicate_identity"},
    {"the cloud generates the id", FOLDER("a", "f", "", "") "," FOLDER("b", "f", "", ""),
     "0  - f none:"},
    {"a generated id is unique in the cloud",
     FOLDER(
         "a", "f", "",
         ",\"spec\":{\"resourceID\":\"7\",\"folderRef\":{\"external\":\"1\"}}") "," FOLDER("b", "g",
                                                                                           ANNOTATE(
                                                                                               "org"
                                                                                               "ani"
                                                                                               "zat"
                                                                                               "ion"
                                                                                               "-i"
                                                                                               "d",
                                                                                               "9"),
                                                                                           RESOURCE_ID(
                                                                                               "7")),
     "0  - 7 none: duplicate_identity"},
    {"a kind without labels cannot be protected", NETWORK("a", "n", RESOURCE, ""),
     "1 a - n unprotectable: unprotectable"},
    {"a kind without labels ignores its namespace",
     NETWORK("a", "n", "", "") "," NAMESPACE("a", RESOURCE), "1 a - n none:"},
    {"reconciled every 40 minutes",
     TOPIC("a", "t", RESOURCE "," ANNOTATE("reconcile-interval-in-seconds", "2400"), ""),
     "1 a - t resource:"},
    {"reconciled every 40 minutes and a second",
     TOPIC("a", "t", RESOURCE "," ANNOTATE("reconcile-interval-in-seconds", "2401"), ""),
     "1 a - t resource: lapse_hazard"},
    {"never reconciled",
     TOPIC("a", "t", RESOURCE "," ANNOTATE("reconcile-interval-in-seconds", "0"), ""),
     "1 a - t resource: lapse_hazard"},
    {"an interval that is no number",
     TOPIC("a", "t", RESOURCE "," ANNOTATE("reconcile-interval-in-seconds", "1h"), ""),
     "1 a - t resource:"},
    {"no lease can lapse without protection",
     TOPIC("a", "t", ANNOTATE("reconcile-interval-in-seconds", "0"), ""), "1 a - t none:"},
    {"two namespaces, one resource",
     TOPIC("a", "t", ANNOTATE("project-id", "p"), "") "," TOPIC("b", "t",
                                                                ANNOTATE("project-id", "p"), ""),
     "1 p - t none: duplicate_identity"},
    {"one namespace, one resource id, two names",
     TOPIC("a", "t", "", ",\"spec\":{\"resourceID\":\"r\"}") "," TOPIC(
         "a", "u", "", ",\"spec\":{\"resourceID\":\"r\"}"),
     "1 a - r none: duplicate_identity"},
    {"the same name in another project", TOPIC("a", "t", "", "") "," TOPIC("b", "t", "", ""),
     "1 a - t none:"},
    {"the same name in another region",
     TOPIC("a", "t", "", ",\"spec\":{\"region\":\"eu\"}") "," TOPIC(
         "b", "t", ANNOTATE("project-id", "a"), ",\"spec\":{\"region\":\"us\"}"),
     "1 a eu t none:"},
    {"the same name of another kind", TOPIC("a", "t", "", "") "," NETWORK("a", "t", "", ""),
     "1 a - t none:"},
    {"the same name within another parent",
     TOPIC(
         "a", "t", "",
         ",\"spec\":{\"instanceRef\":{\"name\":\"i\"},\"resourceID\":\"r\"}") "," TOPIC("a", "u",
                                                                                        "",
                                                                                        ",\"spec\":"
                                                                                        "{\"instanc"
                                                                                        "eRef\":{"
                                                                                        "\"name\":"
                                                                                        "\"j\"},"
                                                                                        "\"resource"
                                                                                        "ID\":"
                                                                                        "\"r\"}"),
     "1 a - r none:"},
    {"contradicting annotations leave the identity unclear",
     TOPIC("a", "t", ANNOTATE("project-id", "p") "," ANNOTATE("folder-id", "7"),
           "") "," TOPIC("b", "t", ANNOTATE("project-id", "p"), ""),
     "1 p - t none:"},
    {"contradicting annotations of the Namespace",
     TOPIC("a", "t", "", "") "," TOPIC("b", "t", ANNOTATE("project-id", "p"), "") "," NAMESPACE(
         "a", ANNOTATE("project-id", "p") "," ANNOTATE("folder-id", "7")),
     "1 p - t none:"},
    {"contradicting annotations of the Namespace, overridden",
     TOPIC("a", "t", ANNOTATE("project-id", "p"), "") "," TOPIC(
         "b", "t", ANNOTATE("project-id", "p"),
         "") "," NAMESPACE("a", ANNOTATE("project-id", "p") "," ANNOTATE("folder-id", "7")),
     "1 p - t none: duplicate_identity"},
    {"a region by path and by name",
     TOPIC("a", "t", "", ",\"spec\":{\"region\":\"projects/x/regions/eu\"}") "," TOPIC(
         "b", "t", ANNOTATE("project-id", "a"), ",\"spec\":{\"region\":\"eu\"}"),
     "1 a eu t none: duplicate_identity"},
    {"global, and no location",
     TOPIC("a", "t", "", ",\"spec\":{\"location\":\"global\"}") "," TOPIC(
         "b", "t", ANNOTATE("project-id", "a"), ""),
     "1 a - t none: duplicate_identity"},
    {"the template reports a refusal", TOPIC("a", "t", "", ",\"status\":" CONFLICT("abc")),
     "1 a - t none: reported"},
    {"another reason is no conflict",
     TOPIC("a", "t", "",
           ",\"status\":{\"conditions\":[{\"type\":\"Ready\",\"status\":\"False\",\"reason\":"
           "\"UpdateFailed\"}]}"),
     "1 a - t none:"},
    {"a status of another shape", TOPIC("a", "t", "", ",\"status\":{\"conditions\":\"none\"}"),
     "1 a - t none:"},
    {"on two member clusters", TOPIC("a", "t", "", "") "," BINDING(ON("m1") "," ON("m2"), ""),
     "1 a - t none: multi_cluster_placement deletion_trap"},
    {"on two member clusters, with deletion policy abandon",
     TOPIC("a", "t", ANNOTATE("deletion-policy", "abandon"), "") "," BINDING(ON("m1") "," ON("m2"),
                                                                             ""),
     "1 a - t none: multi_cluster_placement"},
    {"on one member cluster", TOPIC("a", "t", "", "") "," BINDING(ON("m1"), ""), "1 a - t none:"},
    {"the policy selects two clusters",
     TOPIC("a", "t", "", "") "," POLICY("\"m1\",\"m2\"", "") "," CLUSTER("m1") "," CLUSTER("m2"),
     "1 a - t none: multi_cluster_placement deletion_trap"},
    {"the policy selects two clusters, one of which exists",
     TOPIC("a", "t", "", "") "," POLICY("\"m1\",\"m2\"", "") "," CLUSTER("m1"), "1 a - t none:"},
    {"the policy selects one cluster",
     TOPIC("a", "t", "", "") "," POLICY("\"m1\"", "") "," CLUSTER("m1") "," CLUSTER("m2"),
     "1 a - t none:"},
    {"the policy spreads over one of two clusters",
     TOPIC("a", "t", "", "") "," POLICY("\"m1\",\"m2\"",
                                        ",\"spreadConstraints\":[{\"spreadByField\":\"cluster\","
                                        "\"maxGroups\":1}]") "," CLUSTER("m1") "," CLUSTER("m2"),
     "1 a - t none:"},
    {"the policy selects two clusters, the binding has one",
     TOPIC("a", "t", "", "") "," POLICY("\"m1\",\"m2\"", "") "," CLUSTER("m1") "," CLUSTER(
         "m2") "," BINDING(ON("m1"), ""),
     "1 a - t none:"},
    {"the policy names two clusters, no Cluster exists",
     TOPIC("a", "t", "", "") "," POLICY("\"m1\",\"m2\"", ""),
     "1 a - t none: multi_cluster_placement deletion_trap"},
    {"the policy names one cluster twice", TOPIC("a", "t", "", "") "," POLICY("\"m1\",\"m1\"", ""),
     "1 a - t none:"},
    {"the policy names two clusters and excludes one",
     TOPIC("a", "t", "", "") "," POLICY("\"m1\",\"m2\"],\"exclude\":[\"m1\"", ""), "1 a - t none:"},
    {"the policy names two clusters and labels, no Cluster exists",
     TOPIC("a", "t", "", "") "," POLICY(
         "\"m1\",\"m2\"],\"labelSelector\":{\"matchLabels\":{\"x\":\"y\"}},\"exclude\":[", ""),
     "1 a - t none:"},
    {"the policy names two clusters and spreads over one",
     TOPIC("a", "t", "", "") "," POLICY("\"m1\",\"m2\"",
                                        ",\"spreadConstraints\":[{\"spreadByField\":\"cluster\","
                                        "\"maxGroups\":1}]"),
     "1 a - t none:"},
    {"the policy names no cluster, no Cluster exists", TOPIC("a", "t", "", "") "," POLICY("", ""),
     "1 a - t none:"},
    {"the policy names two clusters, the binding has one",
     TOPIC("a", "t", "", "") "," POLICY("\"m1\",\"m2\"", "") "," BINDING(ON("m1"), ""),
     "1 a - t none:"},
    {"another namespace holds the requested lease",
     TOPIC("a", "t", RESOURCE, "") "," HELD_BY("def") "," BOTH_IDS, "1 a - t resource: refused"},
    {"its own namespace holds the requested lease",
     TOPIC("a", "t", RESOURCE, "") "," HELD_BY("abc") "," BOTH_IDS, "1 a - t resource:"},
    {"an unknown id holds the requested lease",
     TOPIC("a", "t", RESOURCE, "") "," HELD_BY("xyz") "," BOTH_IDS, "1 a - t resource:"},
    {"another namespace holds the lease, own id missing",
     TOPIC("a", "t", RESOURCE, "") "," HELD_BY("def") "," IDS("\"b\":\"def\""),
     "1 a - t resource: refused"},
    {"a lease is requested, no id is known", TOPIC("a", "t", RESOURCE, "") "," HELD_BY("def"),
     "1 a - t resource:"},
    {"another holds the lease for under 20 more minutes",
     TOPIC("a", "t", RESOURCE,
           "") "," TOPIC_LEASE(",\"holder\":\"def\",\"expiration\":\"1767226799\"") "," BOTH_IDS,
     "1 a - t resource: refused"},
    {"the requested lease of another namespace is expired",
     TOPIC("a", "t", RESOURCE,
           "") "," TOPIC_LEASE(",\"holder\":\"def\",\"expiration\":\"1767225599\"") "," BOTH_IDS,
     "1 a - t resource:"},
    {"the requested lease has no holder",
     TOPIC("a", "t", RESOURCE, "") "," TOPIC_LEASE("") "," BOTH_IDS, "1 a - t resource:"},
    {"another namespace holds the lease of another topic",
     TOPIC("a", "u", RESOURCE, "") "," TOPIC(
         "a", "t", RESOURCE, ",\"spec\":{\"resourceID\":\"u\"}") "," HELD_BY("def") "," BOTH_IDS,
     "1 a - u resource: duplicate_identity"},
    {"the namespace requests a lease that another holds",
     TOPIC("a", "t", "", "") "," NAMESPACE("a", RESOURCE) "," HELD_BY("def") "," BOTH_IDS,
     "1 a - t resource: refused"},
    {"no lease requested, another namespace holds one",
     TOPIC("a", "t", "", "") "," HELD_BY("def") "," BOTH_IDS, "1 a - t none: silent"},
    {"no lease requested, an unknown id holds one",
     TOPIC("a", "t", "", "") "," HELD_BY("xyz") "," BOTH_IDS, "1 a - t none: silent"},
    {"no lease requested, its own namespace holds one",
     TOPIC("a", "t", "", "") "," HELD_BY("abc") "," BOTH_IDS, "1 a - t none:"},
    {"no lease requested, one is held, no id is known", TOPIC("a", "t", "", "") "," HELD_BY("def"),
     "1 a - t none:"},
    {"no lease requested, another's is expired",
     TOPIC("a", "t", "",
           "") "," TOPIC_LEASE(",\"holder\":\"def\",\"expiration\":\"1767225599\"") "," BOTH_IDS,
     "1 a - t none:"},
    {"a member cluster reports a refusal",
     TOPIC("a", "t", "", "") "," BINDING(ON("m1"),
                                         "{\"clusterName\":\"m1\",\"status\":" CONFLICT("abc") "}"),
     "1 a - t none: reported"},
};

static void put_list(struct world *w, const char *objects)
{
    CLEANUP(strbuf_release) struct strbuf list = STRBUF_INIT(TEXT_MAX);
    struct error err = {""};

    strbuf_addf(&list, "[%s]", objects);
    CLEANUP(json_cleanup) cJSON *array = json_parse(list.data, list.len, NULL, &err);
    assert_string_equal(err.text, "");
    world_put_all(w, array);
    world_run(w, (int64_t)NOW_S * 1000);
}

static void append_decision(const struct entry *entry, struct strbuf *out)
{
    const struct connector_decision *c = decision_connector(template_decision(entry));

    strbuf_addf(out, "%d %s %s %s %s:", c->identity.container.kind, c->identity.container.id,
                c->identity.location ? c->identity.location : "-", c->identity.name,
                protection_names[c->protection]);
    for (unsigned i = 0; i < CONNECTOR_CONFLICT_COUNT; i++) {
        if (c->conflicts & 1u << i)
            strbuf_addf(out, " %s", connector_conflict_names[i]);
    }
}

static struct entry *find_first(struct world *w, const char *objects)
{
    bool network = strstr(objects, "ComputeNetwork") &&
                   (!strstr(objects, "PubSubTopic") ||
                    strstr(objects, "ComputeNetwork") < strstr(objects, "PubSubTopic"));

    if (strstr(objects, "\"Folder\""))
        return world_find(w, "resourcemanager.cnrm.cloud.google.com/v1beta1", "Folder", "a", "f");
    return network
               ? world_find(w, "compute.cnrm.cloud.google.com/v1beta1", "ComputeNetwork", "a", "n")
               : world_find(w, "pubsub.cnrm.cloud.google.com/v1beta1", "PubSubTopic", "a", "t");
}

TEST_ROWS(identity_protection_and_conflicts_are_decided, connector_cases, name)
{
    const struct connector_case *c = *state;
    CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(TEXT_MAX);
    struct world w;

    world_init(&w, &rules_options_default, 1);
    put_list(&w, c->objects);
    append_decision(find_first(&w, c->objects), &text);
    assert_string_equal(text.data, c->wanted);
    world_release(&w);
}

/* ---- leases in an engine ---- */

static const struct entry *lease(const struct world *w)
{
    return world_find(w, LEASE_API_VERSION, LEASE_KIND, "", "x");
}

/* Only the clock advances, minute by minute; no object changes. */
TEST(a_lease_changes_its_state_by_time_alone)
{
    struct world w;
    unsigned minutes[LEASE_STATE_COUNT] = {0};

    world_init(&w, &rules_options_default, 1);
    /* The lease expires 30 minutes after NOW_S. */
    put_list(&w, LEASE("x", ",\"holder\":\"abc\",\"expiration\":\"1767227400\""));
    for (int64_t minute = 0; minute < 60; minute++) {
        int64_t now_ms = ((int64_t)NOW_S + minute * 60 + 1) * 1000;

        if (engine_deadline(w.engine) <= now_ms)
            world_run(&w, now_ms);
        minutes[lease_decision(lease(&w))->state]++;
    }
    assert_int_equal(minutes[LEASE_HELD], 30);
    assert_int_equal(minutes[LEASE_UNKNOWN], 30);
    world_release(&w);
}

TEST(namespace_ids_identify_the_holder)
{
    struct world w;

    world_init(&w, &rules_options_default, 1);
    put_list(&w, LEASE("x", ",\"holder\":\"abc\",\"expiration\":\"1767228000\""));
    assert_int_equal(connector_conflicts(lease(&w)), 0);
    /* Without data, for example if only metadata was read, the ids are unknown, not missing. */
    put_list(&w, IDS(""));
    assert_int_equal(connector_conflicts(lease(&w)), 0);
    put_list(&w, IDS("\"a\":\"def\""));
    assert_int_equal(connector_conflicts(lease(&w)), 1u << CONNECTOR_UNKNOWN_HOLDER);
    put_list(&w, IDS("\"a\":\"def\",\"b\":\"abc\""));
    assert_int_equal(connector_conflicts(lease(&w)), 0);
    assert_string_equal(lease_decision(lease(&w))->holder_ns, "b");
    assert_string_equal(engine_namespace_of_id(w.engine, "def"), "a");
    assert_null(engine_namespace_of_id(w.engine, "ghi"));
    store_remove(w.store, world_find(&w, "v1", "ConfigMap", "cnrm-system", "namespace-id"));
    world_run(&w, (int64_t)NOW_S * 1000);
    assert_null(lease_decision(lease(&w))->holder_ns);
    world_release(&w);
}

/* Conflicts of topic a/t while its lease, its settings and the ids of namespaces change. */
TEST(changes_of_lease_and_ids_update_the_topic)
{
    const unsigned refused = 1u << CONNECTOR_REFUSED, silent = 1u << CONNECTOR_SILENT;
    const int64_t past_ms = (1767227400 + 1) * (int64_t)1000;
    struct world w;

    world_init(&w, &rules_options_default, 1);
    put_list(&w, TOPIC("a", "t", RESOURCE, "") "," BOTH_IDS);
    const struct entry *topic = find_first(&w, "PubSubTopic");
    assert_int_equal(connector_conflicts(topic), 0);
    put_list(&w, HELD_BY("def"));
    assert_int_equal(connector_conflicts(topic), refused);
    put_list(&w, HELD_BY("abc"));
    assert_int_equal(connector_conflicts(topic), 0);
    put_list(&w, HELD_BY("def"));
    put_list(&w, TOPIC("a", "t", "", ""));
    assert_int_equal(connector_conflicts(topic), silent);
    put_list(&w, NAMESPACE("a", RESOURCE));
    assert_int_equal(connector_conflicts(topic), refused);
    put_list(&w, IDS("\"a\":\"def\",\"b\":\"abc\""));
    assert_int_equal(connector_conflicts(topic), 0);
    put_list(&w, BOTH_IDS);
    assert_int_equal(connector_conflicts(topic), refused);
    store_remove(w.store, world_find(&w, LEASE_API_VERSION, LEASE_KIND, "",
                                     "//pubsub.googleapis.com/projects/a/topics/t"));
    world_run(&w, (int64_t)NOW_S * 1000);
    assert_int_equal(connector_conflicts(topic), 0);
    put_list(&w, HELD_BY("def"));
    assert_int_equal(connector_conflicts(topic), refused);
    put_list(&w, TOPIC("a", "t", "", ",\"spec\":{\"resourceID\":\"u\"}"));
    assert_int_equal(connector_conflicts(topic), 0);
    put_list(&w, HELD_BY("abc") "," TOPIC("a", "t", "", "") "," HELD_BY("def"));
    assert_int_equal(connector_conflicts(topic), refused);

    /* An expired lease refuses no namespace. */
    assert_true(engine_deadline(w.engine) <= past_ms);
    world_run(&w, past_ms);
    assert_int_equal(connector_conflicts(topic), 0);
    world_release(&w);
}

static void add_line(void *context, enum explain_style style, const char *text)
{
    (void)style;
    strbuf_addf(context, "%s\n", text);
}

/* Appends the explanation of topic a/t, line by line. */
static void explain_topic(struct world *w, struct strbuf *text)
{
    struct explanation x;

    explanation_init(&x);
    explain_object(w->engine, find_first(w, "PubSubTopic"), NOW_S * INT64_C(1000), &x);
    explanation_finish(&x);
    explanation_each_line(&x, add_line, text);
    explanation_release(&x);
}

TEST(explain_names_the_holder_of_the_lease)
{
    CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(TEXT_MAX);
    struct world w;

    world_init(&w, &rules_options_default, 1);
    put_list(&w, TOPIC("a", "t", RESOURCE, ",\"status\":" CONFLICT("xyz")) "," IDS(
                     "\"b\":\"abc\"") "," BINDING(ON("m1"),
                                                  "{\"clusterName\":\"m1\",\"status\":" CONFLICT(
                                                      "abc") "}"));
    explain_topic(&w, &text);
    assert_non_null(strstr(text.data,
                           "The template declares t in the project a. The template requests a "
                           "lease, but Config Connector could not obtain it.\n"));
    assert_non_null(strstr(text.data, "m1: the namespace b holds the lease (id abc)\n"));
    assert_non_null(strstr(text.data, "the id xyz holds the lease; no"));
    world_release(&w);
}

/* Leases on the resource of topic a/t, and the expected texts of its explanation. */
static struct lease_words_case {
    const char *name;
    const char *annotation;
    const char *lease;
    const char *words;
    const char *outcome;
    const char *protection;
} lease_words[] = {
    {"own lease", RESOURCE, ",\"holder\":\"abc\",\"expiration\":\"1767227400\"",
     "The namespace a holds the lease on the cloud resource until 2026-01-01T00:30:00Z.",
     "The holder is the template's namespace; the lease need not be renewed yet.",
     "A lease protects the resource."},
    {"own lease, to be renewed", RESOURCE, ",\"holder\":\"abc\",\"expiration\":\"1767226200\"",
     "The namespace a holds the lease on the cloud resource until 2026-01-01T00:10:00Z, and is "
     "late to renew it.",
     "The holder is the template's namespace, which renews the lease at its next reconcile.",
     "A lease protects the resource."},
    {"own lease, expired", RESOURCE, ",\"holder\":\"abc\",\"expiration\":\"1767225000\"",
     "The namespace a held the lease on the cloud resource until 2025-12-31T23:50:00Z, and has not "
     "renewed it.",
     "The holder is the template's namespace, which renews the lease at its next reconcile.",
     "The template requests a lease. The lease has expired and does not protect the resource."},
    {"another's lease", RESOURCE, ",\"holder\":\"def\",\"expiration\":\"1767227400\"",
     "The namespace b holds the lease on the cloud resource until 2026-01-01T00:30:00Z.",
     "Config Connector does not obtain the lease for the template's namespace.",
     "The template requests a lease that another namespace holds."},
    {"another's lease, expired", RESOURCE, ",\"holder\":\"def\",\"expiration\":\"1767225000\"",
     "The namespace b held the lease on the cloud resource until 2025-12-31T23:50:00Z, and has not "
     "renewed it.",
     "The template's namespace takes over the lease at its next reconcile.",
     "The template requests a lease; the lease of another namespace has expired."},
    {"lease of an unknown id without expiration", RESOURCE, ",\"holder\":\"xyz\"",
     "The id xyz held the lease on the cloud resource without an expiration, and has not renewed "
     "it.",
     "The template's namespace takes over the lease at its next reconcile.",
     "The template requests a lease; the lease of another namespace has expired."},
    {"lease without a holder", RESOURCE, "", "No namespace holds the lease on the cloud resource.",
     "The template's namespace obtains the lease at its next reconcile.",
     "The template requests a lease that no namespace holds: no lease protects the resource now."},
    {"another's lease, no lease requested", "", ",\"holder\":\"def\",\"expiration\":\"1767227400\"",
     "The namespace b holds the lease on the cloud resource until 2026-01-01T00:30:00Z.",
     "The template's namespace requests no lease, and reconciles the resource without one.",
     "The template requests no lease: each controller that reconciles the resource overwrites the "
     "others."},
};

TEST_ROWS(explain_describes_the_lease, lease_words, name)
{
    const struct lease_words_case *c = *state;
    CLEANUP(strbuf_release) struct strbuf objects = STRBUF_INIT(TEXT_MAX);
    CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(TEXT_MAX);
    struct world w;

    world_init(&w, &rules_options_default, 1);
    strbuf_addf(&objects, "%s," LEASE("//pubsub.googleapis.com/projects/a/topics/t", "%s"),
                IDS("\"a\":\"abc\",\"b\":\"def\""), c->lease);
    put_list(&w, objects.data);
    put_list(&w, LEASE("//pubsub.googleapis.com/projects/b/topics/t",
                       ",\"holder\":\"other\",\"expiration\":\"1767227400\""));
    put_list(&w, *c->annotation ? TOPIC("a", "t", RESOURCE, "") : TOPIC("a", "t", "", ""));
    explain_topic(&w, &text);
    if (!strstr(text.data, c->words) || !strstr(text.data, c->outcome) ||
        !strstr(text.data, c->protection))
        fail_msg("%s", text.data);
    world_release(&w);
}

/*
 * Bucket names are unique across projects. The name of an IAMPolicyMember identifies no cloud
 * resource.
 */
TEST(duplicates_across_projects_depend_on_the_kind)
{
    static const struct {
        const char *api;
        const char *kind;
        bool duplicate;
    } cases[] = {
        {"storage.cnrm.cloud.google.com/v1beta1", "StorageBucket", true},
        {"pubsub.cnrm.cloud.google.com/v1beta1", "PubSubTopic", false},
        {"iam.cnrm.cloud.google.com/v1beta1", "IAMPolicyMember", false},
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        CLEANUP(strbuf_release) struct strbuf objects = STRBUF_INIT(TEXT_MAX);
        struct world w;

        for (unsigned k = 0; k < 2; k++)
            strbuf_addf(&objects,
                        "%s{\"apiVersion\":\"%s\",\"kind\":\"%s\",\"metadata\":{\"name\":\"x\","
                        "\"namespace\":\"%s\"}}",
                        k ? "," : "", cases[i].api, cases[i].kind, k ? "b" : "a");
        world_init(&w, &rules_options_default, 1);
        put_list(&w, objects.data);
        assert_int_equal(connector_conflicts(world_find(&w, cases[i].api, cases[i].kind, "a", "x")),
                         cases[i].duplicate ? 1u << CONNECTOR_DUPLICATE_IDENTITY : 0);
        world_release(&w);
    }
}

TEST(kinds_without_labels_are_recognized)
{
    static const char *const without[] = {"AccessContextManagerAccessPolicy",
                                          "ComputeNetwork",
                                          "DNSRecordSet",
                                          "DataflowJob",
                                          "IAMPolicyMember",
                                          "IAMServiceAccount",
                                          "SQLDatabase",
                                          "SQLUser",
                                          "Service",
                                          "StorageNotification"};
    static const char *const with[] = {"PubSubTopic", "StorageBucket", "SQLInstance", "", "Zebra"};

    for (size_t i = 0; i < ARRAY_LEN(without); i++)
        assert_true(connector_traits(without[i]) & CONNECTOR_NO_LABELS);
    for (size_t i = 0; i < ARRAY_LEN(with); i++)
        assert_false(connector_traits(with[i]) & CONNECTOR_NO_LABELS);
    assert_true(is_connector_api_version("pubsub.cnrm.cloud.google.com/v1beta1"));
    assert_false(is_connector_api_version("core.cnrm.cloud.google.com/v1beta1"));
    assert_false(is_connector_api_version("cnrm.cloud.google.com/v1"));
    assert_false(is_connector_api_version("v1"));
}
