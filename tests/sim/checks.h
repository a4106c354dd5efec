/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "tests/sim/run.h"

/* Invariants of a run. Each function calls run_fail() if an invariant fails. */

enum { CHECK_EVERY_MS = 1000 };

/*
 * Checks readiness, the number of requests, and one watch per kind. Until the storm ends, kinds
 * without faults must be fresh; afterwards, all kinds within grace_of_calm(). Sets r->differed_ms,
 * and ready_ms and busiest of the verdict.
 */
void check_audit(struct run *r);

/*
 * Checks that no row depends on an unread kind, by comparison with a fresh exporter. Does nothing
 * while the source is not ready, or a read kind has an oversized object or an unstored change.
 */
void check_rows(struct run *r);

/* Adds the last page to the hash, and checks it as expected_page() does. */
void check_end(struct run *r);
