/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/model/binding.h"

/*
 * What one pod of a template requests, as Karmada adds it up for a binding's replicaRequirements
 * (AddPodTemplateRequest): the containers together, no less than any init container, and the
 * overhead. A shared text, because templates of few sizes are many: "cpu 0.1\nmemory 64\n", by
 * resource, in base units.
 */

/* The text of the PodSpec `pod`, which the caller drops; NULL if it requests nothing. */
const char *requests_decode(struct decode *d, const cJSON *pod);

/*
 * The requests of a text, as many as *count; NULL for none. The names are shared: the caller drops
 * them, and frees the array.
 */
struct resource_request *requests_of(struct intern *strings, const char *text, uint32_t *count);
