/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/kube/lookup.h"
#include "exporter/kube/source.h"

/* Finds templates that people name and that no watch keeps in the store. */

/* A template as somebody names it. */
struct template_name {
    const char *kind;  /* As in kubectl: in any case, plural, or short. */
    const char *group; /* NULL if it was left out. */
    const char *ns;    /* Where it is, if its kind is namespaced. */
    const char *name;
};

struct template_finder {
    const struct kube_source *source; /* Borrowed, as is all that follows. */
    const struct namespace_filter *filter;
    struct store *store;
    struct lookup *lookup; /* Owned. */
};

void finder_init(struct template_finder *f, const struct kube_source *source,
                 const struct kube_settings *settings);
void finder_release(struct template_finder *f);

/*
 * Ask for a template that is not in the store. All of it if its spec says what it references or
 * Config Connector manages it; of others, Secrets among them, no more than the metadata. `id`
 * gets what it is, borrowed until the next turn, unless the answer is LOOKUP_UNKNOWN. One of a
 * kind that is read anyway is missing.
 */
struct lookup_answer finder_ask(struct template_finder *f, const struct template_name *name,
                                enum lookup_client client, struct identity *id, int64_t now_ms);

/*
 * Put what was found into the store, where nothing keeps it up to date: for whoever looks once.
 * NULL with the reason if it is not valid.
 */
const struct entry *finder_keep(struct template_finder *f, const cJSON *object, struct error *err);
