/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/web/query.h"
#include "metrics/expose/policy_names.h"

/* Links from page to page, and the names of objects that carry them: "Deployment default/web". */

/* A parameter of a link; NULL as its value: not given. */
struct link_value {
    enum parameter parameter;
    const char *value;
};

/* "<a href=...>" to the page at `path` (without a '/' before it) with these parameters. */
void link_open(struct strbuf *out, const char *path, const struct link_value *values, size_t count);
#define link_open_with(out, path, ...)                                                             \
    link_open(out, path, (const struct link_value[]){__VA_ARGS__},                                 \
              ARRAY_LEN(((const struct link_value[]){__VA_ARGS__})))

/*
 * The name of an object, with a link to its page if it has one: templates and policies that exist
 * do. Reads the entry's object: the caller has the evaluation.
 */
void link_entry(struct strbuf *out, const struct entry *entry);
/* The same of a policy, which may not exist. */
void link_policy(struct strbuf *out, struct policy_name policy);
/* Appends the name of a policy without a link. */
void link_policy_name(struct strbuf *out, struct policy_name policy);
/* The same of a template, which may not be known. */
void link_template(struct strbuf *out, struct identity template);
/* The same of what a dependency is about, with a link to what is asked of it. */
void link_conflict(struct strbuf *out, struct identity resource);
/* The name of a namespace, with a link to its page. */
void link_namespace(struct strbuf *out, const char *ns);
