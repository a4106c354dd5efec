/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/explain/explanation.h"
#include "metrics/expose/report_parts.h"

/* What the explanations of templates, policies and bindings have in common. */

enum { EXPLAIN_NAMES = 4 };

/* An explanation that is being made. */
struct explaining {
    struct engine *engine;
    int64_t now_ms; /* The time it is. */
    struct explanation *out;
    struct strbuf names[EXPLAIN_NAMES]; /* Memory for explain_name(). */
    unsigned turn;
};

/* "Deployment default/web"; true until the EXPLAIN_NAMES-th next call. */
const char *explain_name(struct explaining *x, const struct entry *entry);

/* Open the object `key`, which is a section with this heading. */
void explain_section(struct explaining *x, const char *key, const char *heading);

/* A line of a section. */
#define explain_say(x, ...)    explanation_line((x)->out, EXPLAIN_PARAGRAPH, __VA_ARGS__)
#define explain_detail(x, ...) explanation_line((x)->out, EXPLAIN_DETAIL, __VA_ARGS__)
#define explain_row(x, ...)    explanation_line((x)->out, EXPLAIN_ROW, __VA_ARGS__)

/* "since", null if unknown. */
void explain_since(struct explaining *x, int64_t since_ms);

/* "fields": each field in which a binding differs from a policy, value by value. */
void explain_fields(struct explaining *x, unsigned fields, const struct entry *policy,
                    const struct entry *binding);

/* Where a binding's replicas are, and whether the scheduler has yet to look at it again. */
void explain_assigned(struct explaining *x, const struct binding *b);

/* The section "requiredBy": who requires a dependency, what each wants, and what comes of it. */
void explain_required(struct explaining *x, const struct entry *dependency);

/* The section "broken": the defects of a template or a binding, if it has any. */
void explain_defects(struct explaining *x, const struct entry *entry);
