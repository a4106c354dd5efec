/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/base/base.h"
#include "metrics/model/decode.h"

/* What an object is to the rules. */
enum object_class {
    CLASS_TEMPLATE, /* Anything that a policy could select. */
    CLASS_POLICY,
    CLASS_BINDING,
    CLASS_OVERRIDE,
    CLASS_CLUSTER,
    CLASS_EVENT,
    CLASS_WORK,
    CLASS_LEASE,
    CLASS_SETTING, /* What rules go by in an object's own content, read where it is no template. */
    CLASS_OTHER,   /* Karmada's own, of no interest to any rule. */
    CLASS_COUNT,
};

/* Whether an API server as a source watches the objects of a kind. */
enum watch_when {
    WATCH_ALWAYS = 1,       /* 0 is no answer: each row gives one, or a new kind is never read. */
    WATCH_WITH_CONNECTOR,   /* Once a policy selects a kind of Config Connector. */
    WATCH_WITH_PRIORITY,    /* While a policy names a PriorityClass, which its gate makes count. */
    WATCH_WITH_WORKS,       /* If people want Works to be read. */
    WATCH_WITH_OVERRIDES,   /* With Works, while there are override policies. */
    WATCH_IF_SELECTED,      /* While a policy selects the kind, or a binding refers to it. */
    WATCH_NEVER_USED,       /* Never: no rule uses its objects. */
    WATCH_NEVER_DUPLICATE,  /* Never: another row's resource serves the same objects. */
    WATCH_NEVER_FROM_FILES, /* Never: no API server has it, its objects come from files. */
};

/* How it watches them. For WATCH_ALWAYS and WATCH_WITH_... alone, but for `when`. */
struct kind_watch {
    enum watch_when when;
    const char *resource; /* The plural in paths: "propagationpolicies". */
    bool required;        /* The exporter is not ready before these have been read. */
    bool optional;        /* It does not wait for them: little depends on them. */
    bool supplement;      /* More of a kind that another row is about: complete without. */
    bool unfiltered;      /* They concern every namespace: no namespace filter applies. */
    bool by_binding;      /* Then one does, to the bindings of Works; Works of none are not kept. */
    bool metadata_only;
    const char *field_selector;   /* NULL: none. */
    const char *only_namespace;   /* NULL: all of them. */
    const char *read_api_version; /* NULL: the row's own, as which they are stored. */
};

/*
 * One input kind: how its objects are watched, read and let go. A kind without a row is
 * a template, watched while a policy selects it or a binding refers to it. To add a kind: one file
 * in this folder, one row in kind.c; no other list of kinds has to know it.
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
    /*
     * `fresh` is about to replace `old`: let it know what only the succession tells. `relisted`:
     * there may have been versions between the two. NULL: nothing.
     */
    void (*succeed)(void *fresh, const void *old, bool relisted);
    struct kind_watch watch;
};

/* The row of an apiVersion and kind: always one, the row of templates if no other. */
const struct kind_def *kind_of(const char *api_version, const char *kind);

/* All rows but those of templates and of Karmada's other kinds, in a lasting order. */
const struct kind_def *kind_table(size_t *count);

/* The kinds that others refer to by name; most have a namespaced and a cluster-wide form. */
const struct kind_def *kind_policy(bool cluster_scoped);
const struct kind_def *kind_binding(bool cluster_scoped);
const struct kind_def *kind_override(bool cluster_scoped);
const struct kind_def *kind_cluster(void);

/* The length of the group in an apiVersion: 0 for "v1". */
size_t api_group_len(const char *api_version);

/* Whether the objects of a kind belong to a namespace. */
enum scope {
    SCOPE_UNKNOWN, /* Only its CustomResourceDefinition says it. */
    SCOPE_NAMESPACED,
    SCOPE_CLUSTER,
};

/*
 * What is known without a server: the kinds of Karmada (kind.h) and those that Kubernetes itself
 * serves, in any version.
 */
enum scope scope_of(const char *api_version, const char *kind);
