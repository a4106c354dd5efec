/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/yaml/yaml.h"

/*
 * Test file of the command `test`: cases with manifests, an optional change, and expectations. The
 * guide exporter/docs/guides/test-policies.md describes the format; the schema is
 * exporter/docs/test.schema.json.
 *
 * Nodes are those of a YAML tree that was read `as_written` (yaml.h): each scalar is a text, and
 * each node has a position for yaml_fail(). All names and values in the trees are valid.
 */

enum { TEST_FILE_MAX_BYTES = 8 * 1024 * 1024 };

/* A YAML document of a test file. */
struct test_document {
    cJSON *written; /* Owned. */
    cJSON *typed;   /* Owned. The same tree with numbers and booleans, for inline objects. */
};

/* A case of a test file. All members are borrowed from its documents. */
struct test_case {
    const char *name;
    const cJSON *node;     /* Element of `tests`. */
    const cJSON *document; /* Root of its document, with settings for all its cases. */
    /* Lists of inline objects with their types; NULL without any. */
    const cJSON *common_objects; /* Of the document. */
    const cJSON *objects;        /* Of the case. */
    const cJSON *change_objects; /* Of the change. */
};

struct test_suite {
    char *path;   /* Owned. */
    char *folder; /* Folder of the file, with '/' at its end; "" for the current one. Owned. */
    struct test_document *documents;
    size_t document_count;
    struct test_case *cases; /* In the order of the file. */
    size_t case_count;
};

/*
 * Reads a test file; `path` "-" is standard input. Returns false with an error that begins with
 * path, line and column if the file cannot be read, has no case, or has an unknown name or an
 * invalid value. The caller releases the suite in both cases.
 */
bool test_suite_read(struct test_suite *suite, const char *path, struct error *err) MUST_USE;
void test_suite_release(struct test_suite *suite);

/* Returns the member of the case, else that of its document; NULL without both. */
const cJSON *test_case_setting(const struct test_case *c, const char *key);

/*
 * Returns the first text of a node that is a text or a list of texts, and the next one after
 * `last`; NULL at the end. `node` may be NULL.
 */
const cJSON *test_first_text(const cJSON *node);
const cJSON *test_next_text(const cJSON *last);

/* Appends the value of `featureGates` as a value of --karmada.feature-gates. */
void test_add_gates(const cJSON *node, struct strbuf *out);

/* Returns the path of a file that the test file names. The caller frees it. */
char *test_resolve_path(const struct test_suite *suite, const char *path) MUST_USE;
