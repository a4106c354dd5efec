/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/base/json.h"

/*
 * Recognition of files and documents that are no Kubernetes objects, in a repository as it is: they
 * are skipped and counted by kind. A file that cannot be parsed and is not recognized is an error.
 */

/* Rows ROW(suffix, id in reports, noun, noun in the plural) in order of output. */
#define SKIPPED_KINDS(ROW)                                                                         \
    ROW(HELM_TEMPLATE, "helm_template", "Helm template", "Helm templates")                         \
    ROW(OTHER_TEMPLATE, "other_template", "template of another engine",                            \
        "templates of other engines")                                                              \
    ROW(HELM_CHART, "helm_chart", "Chart.yaml of Helm", "Chart.yaml of Helm")                      \
    ROW(KUSTOMIZATION, "kustomization", "kustomization", "kustomizations")                         \
    ROW(KUSTOMIZE_PATCH, "kustomize_patch", "kustomize patch", "kustomize patches")                \
    ROW(UNLISTED, "unlisted", "file that its kustomization does not list",                         \
        "files that their kustomizations do not list")                                             \
    ROW(CONFIGURATION, "configuration", "configuration of a tool", "configurations of tools")      \
    ROW(OTHER_YAML, "other_yaml", "values file or other YAML", "values files or other YAML")       \
    ROW(COMMENTED_JSON, "commented_json", "JSON with comments", "JSON with comments")              \
    ROW(OTHER_JSON, "other_json", "other JSON", "other JSON")                                      \
    ROW(BINARY, "binary", "binary file", "binary files")

/* SKIPPED_NONE is the result for an object, valid or not, and for a text that is not recognized. */
#define SKIPPED_ENUMERATOR(suffix, ...) SKIPPED_##suffix,
enum skipped_kind { SKIPPED_NONE, SKIPPED_KINDS(SKIPPED_ENUMERATOR) SKIPPED_KIND_COUNT };
#undef SKIPPED_ENUMERATOR

struct skipped_noun {
    const char *id;
    const char *one;
    const char *many;
};

/* Indexed by enum skipped_kind; all texts of SKIPPED_NONE are NULL. */
extern const struct skipped_noun skipped_nouns[SKIPPED_KIND_COUNT];

/* Returns "no Kubernetes object: looks like a ..." as an error, with an action if there is one. */
struct error skipped_message(enum skipped_kind kind);

/*
 * Returns what a parsed document of the file at `path` is, or SKIPPED_NONE for an object. An object
 * that misses a part by mistake counts as an object: a name where an API server would require one,
 * or apiVersion or kind beside metadata. So does one with a misspelt kind or key, and a sequence of
 * objects.
 */
enum skipped_kind recognize_document(const char *path, const cJSON *document);

/*
 * Returns false with the correction for a document that recognize_document() takes for an object
 * and that no API server accepts: a sequence of objects, a misspelt key of its type, a List without
 * items, a policy of Karmada in a group that has no such kind.
 */
bool document_is_object(const cJSON *document, struct error *why) MUST_USE;

/*
 * Returns the kind of template of which a line of invalid YAML or JSON is a part, or SKIPPED_NONE.
 * `line` counts from 1. A text in quotes may contain expressions of other tools, such as alert
 * rules, and does not make a file a template.
 */
enum skipped_kind recognize_text_at(const char *text, size_t len, size_t line);

/*
 * Returns true for JSON with comments, such as tsconfig.json: `head` is the text, or its begin. A
 * text with a key apiVersion, or with kind and metadata, is not: it is an object that needs a
 * correction.
 */
bool is_commented_json(const char *head, size_t len);

/*
 * Returns true if the file that begins with `head` is no text: the first bytes contain a NUL byte
 * and another byte that no text contains. A NUL byte alone is a fault of a text. UTF-16 with its
 * mark is text.
 */
bool is_binary_text(const char *head, size_t len);
