/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/base/strbuf.h"

/*
 * Generated control planes for benchmarks, as a kube-apiserver sends them (shape.h). The same
 * numbers give the same bytes.
 */

/* Numbers of objects, and their distribution. */
struct generated {
    unsigned templates;  /* Deployments with three labels, four with `bindings`. */
    unsigned policies;   /* PropagationPolicies with one label selector each. */
    unsigned namespaces; /* Templates and policies are distributed evenly. */
    bool bindings; /* One ResourceBinding per template, with the same claim as the template. */
};

/* Returns the number of templates that each policy selects, by their label `app`. */
unsigned generated_per_policy(const struct generated *g);

/* Append object number `at` as JSON. A binding has the number of its template. */
void generate_template(struct strbuf *out, const struct generated *g, unsigned at);
void generate_policy(struct strbuf *out, const struct generated *g, unsigned at,
                     const char *member_cluster);
void generate_binding(struct strbuf *out, const struct generated *g, unsigned at);
/* Appends the same binding with an eviction task, as a later version. */
void generate_evicted_binding(struct strbuf *out, const struct generated *g, unsigned at);

/* Creates a directory below /tmp. The caller frees the name. */
char *generate_directory(void) MUST_USE;
/* Removes the directory and the files in it, and frees the name. For CLEANUP on a `char *`. */
void generate_cleanup(char **directory);

/* Writes all objects as a List to `directory`/`name`. Returns the bytes; aborts on failure. */
size_t generate_list(const struct generated *g, const char *directory, const char *name);
/* Writes the text to `directory`/`name` atomically, by renaming. */
void generate_file(const char *directory, const char *name, const char *text);
