/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/base/strbuf.h"
#include "metrics/rules/control_plane.h"

/*
 * Admission of the objects of Karmada's groups by the API server, for each release: the fields that
 * it drops because the CustomResourceDefinition does not have them (pruning), the values that its
 * schema refuses, and the policies that Karmada's webhooks refuse (Karmada: pkg/webhook,
 * pkg/util/validation). The findings of the schema and of the webhook are both reported.
 */

/*
 * Returns the findings about an object of any kind, in one allocation that the caller frees; NULL
 * without findings, or if the kind is not of Karmada's groups. Unknown kinds of the groups are
 * refused. Only the first findings are listed; the sets of releases count all of them.
 */
struct admission *admission_review(const cJSON *object) MUST_USE;

/*
 * Like admission_review(), for an object that a source has read. An object with a creation
 * time or a UID comes from an API server, which has dropped all fields that its
 * CustomResourceDefinition does not have: dropped fields are no findings then.
 */
struct admission *admission_review_read(const cJSON *object) MUST_USE;

/*
 * Returns the object as the API server of a release stores it, with defaults, without unknown
 * fields, and with the changes of the mutating webhooks. The caller frees the tree. Call it for
 * objects that the release accepts.
 */
cJSON *admission_make_stored(const cJSON *object, enum release release) MUST_USE;

/* Returns the findings about the object of an entry, borrowed; NULL without findings. */
const struct admission *admission_of_entry(const struct entry *entry);

/* Returns whether a range of releases refuses an object; `a` may be NULL. */
enum release_answer admission_refuses(const struct admission *a, struct release_range range);
/*
 * Returns whether a range of releases refuses an object that no API server stores, so that it has
 * no effect; `a` may be NULL. A stored object stays in force: only its next write is refused.
 */
enum release_answer admission_keeps_out(const struct admission *a, struct release_range range);
/*
 * Returns true if the API server drops excludedResources of a policy that it does not store yet.
 * Without schemas and --karmada.version, the control plane is assumed to have the field.
 */
bool admission_drops_exclusions(const struct admission *a, struct release_range range);
/* Returns whether a range of releases drops fields of an object; `a` may be NULL. */
enum release_answer admission_prunes(const struct admission *a, struct release_range range);

/*
 * Appends the findings that apply to all releases of a range, dropped or refused fields: "spec.x
 * must be y", at most three. Appends nothing without findings. `a` may be NULL.
 */
void admission_add_text(const struct admission *a, struct release_range range, bool pruned,
                        struct strbuf *out);

/*
 * Returns the path of the first field that admission_add_text() names; "" for the whole object, and
 * without findings.
 */
const char *admission_first_field(const struct admission *a, struct release_range range,
                                  bool pruned);

/*
 * Returns true if Karmada's webhook refuses to delete the object of the entry: it has the label
 * DELETION_PROTECTION_LABEL. Objects in classes that no simulation deletes count as not protected.
 */
bool admission_protects(const struct entry *entry);

/*
 * Appends the reasons for which Karmada's webhooks refuse to replace the object of the entry by
 * `sent`, the object of a user. Appends nothing without reasons, and if the entry has no object
 * that an API server of the range stores.
 */
void admission_add_update_text(const struct entry *entry, struct release_range range,
                               const cJSON *sent, struct strbuf *out);
