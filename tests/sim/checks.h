/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "tests/sim/run.h"

/* Invariants of a run. Each function calls run_fail() if an invariant fails. */

enum { CHECK_EVERY_MS = 1000 };

/*
 * Checks that the source is ready in time, unless policies or bindings had faults, that requests
 * are bounded, and that each kind has one watch. Until the storm ends, kinds without faults must be
 * fresh; afterwards, all kinds within grace_of_calm(). Notes differed_ms, and ready_ms and busiest
 * of the verdict.
 */
void check_audit(struct run *r);

/*
 * Checks that no row depends on an unread kind, by comparison with a fresh exporter. Does nothing
 * while the source is not ready, or the store lacks a change of a kind that has been read, or an
 * object of such a kind is oversized.
 */
void check_rows(struct run *r);

/* Adds the last page to the hash, and checks it as expected_page() does. */
void check_end(struct run *r);
