/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "tests/sim/run.h"

/* What the exporter should have, and show, given what the servers have. */

enum { EXPECTED_DIFFERENCE_MAX = 300 };

/* True if the store has of this place what it should have; else what differs. */
bool expected_is(const struct run *r, unsigned slot, char difference[EXPECTED_DIFFERENCE_MAX]);

/* True if the store has the object as the change has made it; not of one that was deleted. */
bool expected_knows(const struct run *r, const struct change *c);

/* True if the exporter says that it has not read the kind. */
bool expected_is_missing(const struct run *r, unsigned kind);

/*
 * The page is that of an exporter that was just told what the servers have of all kinds that have
 * been read; else the invariant does not hold.
 */
void expected_page(struct run *r, const char *invariant);
