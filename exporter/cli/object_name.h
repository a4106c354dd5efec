/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/model/store.h"

/*
 * The object that somebody means by KIND[.GROUP]/[NAMESPACE/]NAME, with kinds as
 * in kubectl: in any case, plural, or short for the most common ones.
 * `classes` has a bit for each enum object_class that may be meant. NULL, naming
 * the nearest ones, if there is none, and naming all if there are several.
 */
const struct entry *object_find(const struct store *store, unsigned classes, const char *typed,
                                struct error *err) MUST_USE;
