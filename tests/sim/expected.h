/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "tests/sim/run.h"

/* Expected content of the exporter's store and page, derived from the servers' objects. */

enum { EXPECTED_DIFFERENCE_MAX = 300 };

/*
 * Returns true if the store has the slot's object in its present value, or has none and must have
 * none. Otherwise writes a description of the difference.
 */
bool expected_is(const struct run *r, unsigned slot, char difference[EXPECTED_DIFFERENCE_MAX]);

/* Returns true if the store has the object in the version of the change; false for a deletion. */
bool expected_knows(const struct run *r, const struct change *c);

/*
 * Returns true if the store has the object of a list without end. No server has this object, and
 * the exporter removes it with its next complete list, which may come after the end of the fault.
 */
bool expected_has_endless(const struct run *r, unsigned kind);
/* Returns true if the exporter reports the kind as unread. */
bool expected_is_missing(const struct run *r, unsigned kind);

/*
 * Evaluates the world, and fails the invariant unless its page, without history, equals that of a
 * fresh exporter with the servers' objects of all read kinds. Does nothing after a failure.
 */
void expected_page(struct run *r, const char *invariant);
