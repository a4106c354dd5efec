/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/evaluation.h"

/* Expectations about one template: its fields in a test file, compared with the decisions. */

/* An expectation that does not hold. Texts are owned; `why` is NULL if no cause is known. */
struct failed_expectation {
    struct json_position where; /* Of the expected value in the test file. */
    char *object;               /* Name of the object for people; NULL: the whole case. */
    char *field;                /* Name in the test file, such as "next.clusters". */
    char *expected;
    char *got;
    char *why;
};

struct failed_expectations {
    struct failed_expectation *items;
    size_t count;
};
void failed_expectations_release(struct failed_expectations *list);

/* State that expectations are compared with. The engine has no evaluation left to do. */
struct observation {
    const struct evaluation *evaluation;
    const struct plan_result *plan; /* Before plan_undo(); NULL without a change. */
    struct plan *simulation; /* For changes that follow; NULL if no expectation needs them. */
    /* Objects of `expect` before the change, by index, pinned; NULL: missing. */
    struct entry *const *objects;
    const struct present_bindings *bindings; /* Before the change; NULL without one. */
};

/* Facts about a template: as the objects have them and as predicted, or after the change. */
struct propagation_facts;
struct propagation_facts *propagation_facts_new(const struct observation *o,
                                                const struct entry *template) MUST_USE;
void propagation_facts_free(struct propagation_facts *f, struct store *store);

/* Comparison of the fields of one object. */
struct comparison {
    const struct observation *observation;
    const struct entry *object;            /* NULL: the whole case. */
    const char *name;                      /* Name of the object for people; NULL likewise. */
    const char *prefix;                    /* Before the names of fields, such as "next.". */
    const struct propagation_facts *facts; /* NULL for objects that are no templates. */
    const struct change_object *changed;   /* The object in the change; NULL: applied as it is. */
    struct failed_expectations *out;
};

/* Adds a failure about the node `wanted` of the test file. `why` may be NULL or "". */
void comparison_fail(const struct comparison *x, const cJSON *wanted, const char *expected,
                     const char *got, const char *why);

/* Appends the sentence about the policy that governs the template, or about its state. */
void comparison_add_policy_cause(const struct comparison *x, struct strbuf *out);

/* Returns true for the name of a field of templates. */
bool template_field_exists(const char *name);

/*
 * Compares such a field. The comparison must have facts or, for the outcome and its reason, an
 * object of the change.
 */
void template_field_compare(const struct comparison *x, const cJSON *wanted);
