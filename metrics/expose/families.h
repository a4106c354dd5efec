/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/expose/family.h"

/*
 * All metric families, in the order of the page. Exposition, catalogue, documentation and
 * the lint of rules and boards read them here.
 *
 * A family is one row: in the file of its group, beside the function that collects it, or in
 * own_families.h if the exporter sets it about itself. Nothing else lists families by hand:
 * METRICS.md and the golden pages are written by `make golden`.
 */
struct family_group {
    const struct family_def *families;
    size_t count;
};

extern const struct family_group template_families;
extern const struct family_group stage_families;
extern const struct family_group policy_families;
extern const struct family_group version_families;
extern const struct family_group binding_families;
extern const struct family_group dependency_families;
extern const struct family_group capacity_families;
extern const struct family_group connector_families;
extern const struct family_group own_families; /* The last, by enum own_family. */

/* How many families there are in all groups. */
size_t family_count(void);

/* The family of an index below family_count(). */
const struct family_def *family_at(size_t index);

/* The family of a name, NULL if there is none. */
const struct family_def *family_find(const char *name);
