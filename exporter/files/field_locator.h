/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/files/manifest_source.h"

/*
 * Places of fields in manifests. The source of manifests keeps the place of each object only,
 * because places of all fields would take more memory than the objects. The locator reads the files
 * again on demand: each file once for all fields that were asked for before field_locator_read().
 *
 * A file that has changed since the source has read it, that cannot be read again, or that exceeds
 * a limit, has only the places of its objects. Reading blocks: for commands, not for `serve`.
 */
struct field_locator;

/* Returns a locator for a source, which is borrowed and must not read files meanwhile. */
struct field_locator *field_locator_new(const struct manifests *manifests) MUST_USE;
/* Accepts NULL. */
void field_locator_free(struct field_locator *l);

/* Notes a field of an object for the next field_locator_read(), unless it is known already. */
void field_locator_want(struct field_locator *l, const struct object_source *object,
                        const char *field);
/* Reads the files of all noted fields. */
void field_locator_read(struct field_locator *l);

/*
 * Returns the position of a field (field_node_find()); that of the object, if `field` is "" or the
 * position is not known. Reads the file if the field was not noted.
 */
struct json_position field_locator_find(struct field_locator *l, const struct object_source *object,
                                        const char *field);
