/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/base/strbuf.h"

/*
 * Made-up control planes for benchmarks, as kubectl would print them. The same
 * numbers give the same bytes.
 */

/* How many objects, and how they are spread. */
struct generated {
    unsigned templates;  /* Deployments with three labels, a ConfigMap each of a shared few. */
    unsigned policies;   /* PropagationPolicies, one label selector each. */
    unsigned namespaces; /* Both are spread over these evenly. */
    bool bindings;       /* One ResourceBinding a template, as its policy's. */
};

/* The label `app` groups this many templates of a namespace under one policy. */
unsigned generated_per_policy(const struct generated *g);

/* Append one object as JSON. */
void generate_template(struct strbuf *out, const struct generated *g, unsigned at);
void generate_policy(struct strbuf *out, const struct generated *g, unsigned at,
                     const char *member_cluster);
void generate_binding(struct strbuf *out, const struct generated *g, unsigned at);

/* A directory of its own under the system's temporary one. The caller frees the name. */
char *generate_directory(void) MUST_USE;
/* Remove it with all that is in it. For CLEANUP on a `char *`: frees it too. */
void generate_cleanup(char **directory);

/* Write everything as one kind List, `directory`/`name`. How many bytes; aborts on failure. */
size_t generate_list(const struct generated *g, const char *directory, const char *name);
/* Write `text` as `directory`/`name`, in place at once (by renaming). */
void generate_file(const char *directory, const char *name, const char *text);
