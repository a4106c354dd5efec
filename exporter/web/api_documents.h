/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/web/api.h"
#include "metrics/model/store.h"

/*
 * Returns the object that a request selects by kind, group, namespace (or default-namespace) and
 * name. `classes` has the accepted classes, bits by enum object_class. If CLASS_BINDING is
 * accepted, a template's name also selects its binding. Writes an error response and returns NULL
 * if a parameter has a '/', or if no object or several objects match.
 */
const struct entry *find_requested_object(struct queued_request *request, const struct health *h,
                                          unsigned classes) MUST_USE;
