/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/model/claim.h"
#include "metrics/model/connector.h"
#include "metrics/model/references.h"

/*
 * What the rules look at in a resource template. From a metadata-only source
 * there are no references and no replicas.
 *
 * Labels and claim live in the template's own block and go with it: they are
 * never handed to labels_release or claim_free.
 */
struct template
{
    struct labels labels;
    struct claim *claim;          /* NULL if unclaimed. */
    const char *claimed_by;       /* resourcetemplate.karmada.io/claimed-by: another controller. */
    struct reference *references; /* As references_decode orders them. */
    uint32_t reference_count;
    int32_t replicas;   /* -1 where the source does not tell. */
    int64_t created_ms; /* 0 if unknown. */
    int64_t changed_ms; /* Last change by a user rather than by Karmada; 0 if unknown. */
    bool deleting;
    uint8_t role; /* To Config Connector: enum connector_role */
};

/* NULL where the template is no such object, or says nothing of the sort. */
const struct connector *template_connector(const struct template *t);
const struct connector_defaults *template_connector_defaults(const struct template *t);
const struct namespace_ids *template_namespace_ids(const struct template *t);

void *template_decode(struct decode *d, const cJSON *json);
void template_release(struct intern *strings, void *object);
