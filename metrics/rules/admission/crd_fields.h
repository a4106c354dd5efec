/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/base/base.h"

/*
 * Fields of Karmada's custom resources by release. tests/gates/crd_fields.py writes crd_fields.c
 * from the fields of the CustomResourceDefinitions in Karmada's repository.
 */

enum crd_type {
    CRD_OBJECT,
    CRD_ARRAY,
    CRD_STRING,
    CRD_BOOLEAN,
    CRD_INTEGER,
    CRD_ANY, /* Any JSON value. */
};

enum crd_flag {
    CRD_REQUIRED = 1U << 0,
    CRD_PRESERVED = 1U << 1, /* Unknown fields below are kept. */
    CRD_INT32 = 1U << 2,     /* The integer has 32 bits. */
};

enum crd_pattern {
    CRD_PATTERN_NONE,
    CRD_PATTERN_QUANTITY, /* Kubernetes quantity, such as 500m. */
    CRD_PATTERN_REASON,   /* Letters, digits, "_", "," and ":", beginning with a letter. */
};

/* Constraints of a value; all zero without any. */
struct crd_limit {
    const char *values;   /* Allowed strings, separated by "|"; NULL: all. */
    const char *fallback; /* Default value as JSON; NULL without a default. */
    enum crd_pattern pattern;
    int32_t minimum;
    int32_t maximum;
    uint32_t min_length; /* Of a string in characters, or of an array. */
    uint32_t max_length; /* Likewise; 0: no limit. */
    bool has_minimum;
    bool has_maximum;
};

/*
 * A field with one type and one set of constraints, and the releases with a
 * CustomResourceDefinition that has it so: bits by enum release. The name is "[]" for the elements
 * of an array, and "{}" for the values of a map. The fields of an object are consecutive rows,
 * sorted by name (strcmp); rows of one name have different releases and the same fields below.
 */
struct crd_field {
    const char *name;
    enum crd_type type : 8;
    unsigned flags : 8; /* Bits of enum crd_flag. */
    uint8_t releases;
    uint8_t limit; /* Row of crd_limits. */
    uint16_t count;
    uint16_t first; /* First of the `count` rows of crd_fields with the fields below. */
};

struct crd_kind {
    const char *group;
    const char *version;
    const char *kind;
    uint8_t releases; /* Releases that serve the kind, bits by enum release. */
    uint16_t first;   /* First of the `count` rows of crd_fields; 0 rows: no schema is known. */
    uint16_t count;
};

/* All kinds, sorted by group, version and kind. */
extern const struct crd_kind crd_kinds[];
extern const size_t crd_kind_count;
extern const struct crd_limit crd_limits[];
extern const struct crd_field crd_fields[];
