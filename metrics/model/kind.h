/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/model/decode.h"

/* What the rules take an object for. */
enum object_class {
    CLASS_TEMPLATE, /* Anything that a policy could select. */
    CLASS_POLICY,
    CLASS_BINDING,
    CLASS_OVERRIDE,
    CLASS_CLUSTER,
    CLASS_EVENT,
    CLASS_LEASE,
    CLASS_SETTING, /* What Config Connector goes by, read where it is no template. */
    CLASS_OTHER,   /* Karmada's own, of no interest to any rule. */
    CLASS_COUNT,
};

/*
 * One input kind: how its objects are read and let go. A kind without a row
 * is a template. To add a kind: one file in this folder, one row in kind.c.
 */
struct kind_def {
    const char *group;
    const char *name;
    /* Every served version is read as this one: it names the object. */
    const char *api_version;
    enum object_class class;
    bool cluster_scoped;
    /* A new object, or NULL with the reason in `d`. */
    void *(*decode)(struct decode *d, const cJSON *json);
    /* Takes NULL. */
    void (*release)(struct intern *strings, void *object);
};

/* The row of an apiVersion and kind: always one, the row of templates if no other. */
const struct kind_def *kind_of(const char *api_version, const char *kind);

/* The two kinds that come in a namespaced and a cluster-wide form, for references by name. */
const struct kind_def *kind_policy(bool cluster_scoped);
const struct kind_def *kind_binding(bool cluster_scoped);
const struct kind_def *kind_override(bool cluster_scoped);

/* The length of the group in an apiVersion: 0 for "v1". */
size_t api_group_len(const char *api_version);
