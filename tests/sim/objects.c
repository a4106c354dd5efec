/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/sim/objects.h"

#include <ctype.h>

#include "tests/sim/rng.h"

#define POLICY_V1  "policy.karmada.io/v1alpha1"
#define WORK_V2    "work.karmada.io/v1alpha2"
#define CLUSTER_V1 "cluster.karmada.io/v1alpha1"

const struct sim_kind_row sim_kinds[SIM_KIND_COUNT] = {
    [SIM_POLICY] = {POLICY_V1, "PropagationPolicy", "propagationpolicies", false},
    [SIM_CLUSTER_POLICY] = {POLICY_V1, "ClusterPropagationPolicy", "clusterpropagationpolicies",
                            true},
    [SIM_BINDING] = {WORK_V2, "ResourceBinding", "resourcebindings", false},
    [SIM_CLUSTER_BINDING] = {WORK_V2, "ClusterResourceBinding", "clusterresourcebindings", true},
    [SIM_OVERRIDE] = {POLICY_V1, "OverridePolicy", "overridepolicies", false},
    [SIM_CLUSTER_OVERRIDE] = {POLICY_V1, "ClusterOverridePolicy", "clusteroverridepolicies", true},
    [SIM_CLUSTER] = {CLUSTER_V1, "Cluster", "clusters", true},
    [SIM_EVENT] = {"v1", "Event", "events", false},
    [SIM_CONFIG_MAP] = {"v1", "ConfigMap", "configmaps", false},
    [SIM_DEPLOYMENT] = {"apps/v1", "Deployment", "deployments", false},
    [SIM_FOO] = {"example.io/v1", "Foo", "foos", false},
    [SIM_SECRET] = {"v1", "Secret", "secrets", false},
    [SIM_ZONE] = {"geo.example.io/v1", "Zone", "zones", true},
    [SIM_SERVICE] = {"v1", "Service", "services", false},
    [SIM_BAR] = {"example.io/v1", "Bar", "bars", false},
    [SIM_STATEFUL_SET] = {"apps/v1", "StatefulSet", "statefulsets", false},
};

enum { NAMESPACES = 3, NAMES = SIM_PLACES / NAMESPACES };
static const char *const namespaces[NAMESPACES] = {"a", "b", "c"};
static const char *const names[NAMES] = {"app", "db", "job", "web"};

const char *slot_ns(unsigned slot)
{
    return sim_kinds[slot_kind(slot)].cluster_scoped ? "" : namespaces[slot % NAMESPACES];
}

static const char *write_plain_name(unsigned slot, char out[static 48])
{
    const char *name = names[slot / NAMESPACES % NAMES];

    if (sim_kinds[slot_kind(slot)].cluster_scoped)
        snprintf(out, 48, "%s-%s", name, namespaces[slot % NAMESPACES]);
    else
        snprintf(out, 48, "%s", name);
    return out;
}

static bool is_binding(unsigned slot)
{
    return slot_kind(slot) == SIM_BINDING || slot_kind(slot) == SIM_CLUSTER_BINDING;
}

unsigned slot_bound(unsigned slot)
{
    /* Most are kinds that every drawn plan has: ConfigMap, Deployment and Foo. */
    static const enum sim_kind kinds[SIM_PLACES] = {
        SIM_CONFIG_MAP, SIM_DEPLOYMENT, SIM_FOO,     SIM_DEPLOYMENT, SIM_FOO,     SIM_SECRET,
        SIM_FOO,        SIM_CONFIG_MAP, SIM_SERVICE, SIM_BAR,        SIM_SERVICE, SIM_DEPLOYMENT,
    };
    unsigned place = slot % SIM_PLACES;
    enum sim_kind kind = slot_kind(slot) == SIM_CLUSTER_BINDING ? SIM_ZONE : kinds[place];

    return kind * SIM_PLACES + place;
}

const char *slot_name(unsigned slot, char out[static 48])
{
    size_t len = strlen(write_plain_name(slot, out));

    if (!is_binding(slot))
        return out;
    /* Karmada names a binding <template name>-<template kind>, in lower case. */
    snprintf(out + len, 48 - len, "-%s", sim_kinds[slot_kind(slot_bound(slot))].kind);
    for (char *c = out + len; *c; c++)
        *c = (char)tolower((unsigned char)*c);
    return out;
}

/* Writes the kinds of a policy's resource selectors; both are equal if it has one selector. */
static void derive_selected_kinds(uint32_t value, unsigned template_kinds, enum sim_kind out[2])
{
    out[0] = (enum sim_kind)(SIM_TEMPLATE + value % template_kinds);
    out[1] = value % 3 == 0
                 ? (enum sim_kind)(SIM_TEMPLATE + value / template_kinds % template_kinds)
                 : out[0];
}

bool value_selects(uint32_t value, enum sim_kind kind, unsigned template_kinds)
{
    enum sim_kind kinds[2];

    derive_selected_kinds(value, template_kinds, kinds);
    return kinds[0] == kind || kinds[1] == kind;
}

/* ---- JSON of objects ---- */

static void write_claim(unsigned slot, uint32_t value, struct strbuf *out)
{
    const char *ns = slot_ns(slot);
    unsigned policy = value / 8 % SIM_PLACES;
    char name[48];

    strbuf_addf(out, ",\"labels\":{\"v\":\"%u\"", value);
    if (value % 4 == 0 || (value % 4 == 1 && !*ns)) {
        strbuf_adds(out, "}");
    } else if (value % 4 == 1) {
        write_plain_name(SIM_POLICY * SIM_PLACES + policy, name);
        strbuf_addf(out,
                    ",\"propagationpolicy.karmada.io/permanent-id\":\"id-%s\"},\"annotations\":{"
                    "\"propagationpolicy.karmada.io/namespace\":\"%s\","
                    "\"propagationpolicy.karmada.io/name\":\"%s\"}",
                    name, ns, name);
    } else {
        write_plain_name(SIM_CLUSTER_POLICY * SIM_PLACES + policy, name);
        strbuf_addf(out,
                    ",\"clusterpropagationpolicy.karmada.io/permanent-id\":\"id-%s\"},"
                    "\"annotations\":{\"clusterpropagationpolicy.karmada.io/name\":\"%s\"}",
                    name, name);
    }
}

static void write_labels(unsigned slot, uint32_t value, struct strbuf *out)
{
    char name[48];

    if (is_binding(slot) || slot_kind(slot) >= SIM_TEMPLATE) {
        write_claim(slot, value, out);
        return;
    }
    strbuf_addf(out, ",\"labels\":{\"v\":\"%u\"", value);
    if (slot_kind(slot) == SIM_POLICY || slot_kind(slot) == SIM_CLUSTER_POLICY)
        strbuf_addf(out, ",\"%spropagationpolicy.karmada.io/permanent-id\":\"id-%s\"",
                    slot_kind(slot) == SIM_POLICY ? "" : "cluster", write_plain_name(slot, name));
    strbuf_adds(out, "}");
}

static const char *const placements[] = {
    "{}",
    "{\"clusterAffinity\":{\"clusterNames\":[\"app-a\"]}}",
    "{\"clusterAffinity\":{\"labelSelector\":{\"matchLabels\":{\"env\":\"prod\"}}},"
    "\"replicaScheduling\":{\"replicaSchedulingType\":\"Divided\"}}",
    "{\"clusterAffinities\":[{\"affinityName\":\"a\",\"clusterNames\":[\"db-b\"]},"
    "{\"affinityName\":\"b\",\"exclude\":[\"app-a\"]}]}",
};

static void write_propagation(uint32_t value, struct strbuf *out)
{
    strbuf_addf(out, "\"placement\":%s", placements[value / 16 % ARRAY_LEN(placements)]);
    if (value & 1)
        strbuf_addf(out, ",\"conflictResolution\":\"%s\"", value & 2 ? "Overwrite" : "Abort");
    if (value & 4)
        strbuf_addf(out, ",\"propagateDeps\":true,\"preserveResourcesOnDeletion\":%s",
                    value & 8 ? "true" : "false");
}

static void write_selector(enum sim_kind kind, uint32_t value, struct strbuf *out)
{
    strbuf_addf(out, "{\"apiVersion\":\"%s\",\"kind\":\"%s\"", sim_kinds[kind].api_version,
                sim_kinds[kind].kind);
    if (value % 5 == 1)
        strbuf_addf(out, ",\"name\":\"%s\"", names[value / 5 % NAMES]);
    strbuf_adds(out, "}");
}

static void write_policy(uint32_t value, unsigned template_kinds, struct strbuf *out)
{
    enum sim_kind kinds[2];

    derive_selected_kinds(value, template_kinds, kinds);
    strbuf_addf(out, ",\"spec\":{\"priority\":%u,", value);
    write_propagation(value, out);
    if (value % 11 == 0)
        strbuf_addf(out, ",\"dependentOverrides\":[\"%s\"]", names[value % NAMES]);
    strbuf_adds(out, ",\"resourceSelectors\":[");
    write_selector(kinds[0], value, out);
    if (kinds[1] != kinds[0]) {
        strbuf_adds(out, ",");
        write_selector(kinds[1], value / 7, out);
    }
    strbuf_adds(out, "]}");
}

static void write_binding(unsigned slot, uint32_t value, struct strbuf *out)
{
    unsigned bound = slot_bound(slot);
    const struct sim_kind_row *row = &sim_kinds[slot_kind(bound)];
    char name[48];

    strbuf_addf(out, ",\"spec\":{\"replicas\":%u,", value);
    write_propagation(value, out);
    strbuf_addf(out,
                ",\"clusters\":[{\"name\":\"app-%c\",\"replicas\":%u}],\"resource\":{"
                "\"apiVersion\":\"%s\",\"kind\":\"%s\",\"name\":\"%s\"",
                'a' + (char)(value % 3), value, row->api_version, row->kind,
                write_plain_name(bound, name));
    if (!row->cluster_scoped)
        strbuf_addf(out, ",\"namespace\":\"%s\"", slot_ns(bound));
    strbuf_adds(out, "}}");
}

static void write_spec(unsigned slot, uint32_t value, unsigned template_kinds, struct strbuf *out)
{
    switch ((int)slot_kind(slot)) {
    case SIM_POLICY:
    case SIM_CLUSTER_POLICY:
        write_policy(value, template_kinds, out);
        break;
    case SIM_BINDING:
    case SIM_CLUSTER_BINDING:
        write_binding(slot, value, out);
        break;
    case SIM_OVERRIDE:
    case SIM_CLUSTER_OVERRIDE:
        strbuf_adds(out, ",\"spec\":{\"overrideRules\":[]}");
        break;
    case SIM_CLUSTER:
        strbuf_addf(out,
                    ",\"spec\":{\"syncMode\":\"Push\",\"region\":\"r%u\"},\"status\":{"
                    "\"conditions\":[{\"type\":\"Ready\",\"status\":\"%s\"}],\"resourceSummary\":{"
                    "\"allocatable\":{\"cpu\":\"%u\",\"pods\":\"110\"},\"allocated\":{\"cpu\":"
                    "\"1\"}}}",
                    value, value % 4 ? "True" : "False", 2 + value % 7);
        break;
    case SIM_EVENT:
        strbuf_addf(out,
                    ",\"reason\":\"" EVENT_REASON "\",\"count\":%u,\"involvedObject\":{"
                    "\"kind\":\"ResourceBinding\",\"namespace\":\"%s\",\"name\":\"%s-t\"},"
                    "\"message\":\"Dependency policy conflict detected\"",
                    1 + value, slot_ns(slot), names[value % NAMES]);
        break;
    default:
        break;
    }
}

void object_write(unsigned slot, const struct cell *cell, unsigned template_kinds,
                  bool metadata_only, struct strbuf *out)
{
    static const char filler[] = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";
    const struct sim_kind_row *row = &sim_kinds[slot_kind(slot)];
    char name[48];

    strbuf_addf(out, "{\"apiVersion\":\"%s\",\"kind\":\"%s\",\"metadata\":{\"name\":\"%s\"",
                metadata_only ? "meta.k8s.io/v1" : row->api_version,
                metadata_only ? "PartialObjectMetadata" : row->kind, slot_name(slot, name));
    if (!row->cluster_scoped)
        strbuf_addf(out, ",\"namespace\":\"%s\"", slot_ns(slot));
    strbuf_addf(out,
                ",\"uid\":\"u%u-%u\",\"creationTimestamp\":\"2026-01-01T00:%02u:00Z\","
                "\"generation\":%u,\"resourceVersion\":\"%" PRIu64 "\"",
                slot, cell->incarnation, cell->incarnation % 60, cell->generation, cell->version);
    write_labels(slot, cell->value, out);
    strbuf_adds(out, "}");
    if (!metadata_only)
        write_spec(slot, cell->value, template_kinds, out);
    if (cell->padding > 0) {
        strbuf_adds(out, ",\"padding\":\"");
        for (uint32_t at = 0; at < cell->padding; at += sizeof(filler) - 1)
            strbuf_add(out, filler, sizeof(filler) - 1);
        strbuf_adds(out, "\"");
    }
    strbuf_adds(out, "}");
}
