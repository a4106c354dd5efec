/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "tests/sim/run.h"

/* Invariants of a run. Each function calls run_fail() if one fails. */

enum { CHECK_EVERY_MS = 1000 };

/*
 * Checks that the source is ready in time and that the number of requests is bounded. Until the
 * storm ends, kinds without faults must be fresh; afterwards, all kinds within grace_of_calm().
 */
void check_audit(struct run *r);

/*
 * Checks that no row depends on an unread kind, by comparison with a fresh exporter. Does nothing
 * while the source is not ready, or the store lacks a change of a kind that has been read.
 */
void check_rows(struct run *r);

/* Checks that the last page equals that of a fresh exporter with the servers' objects. */
void check_end(struct run *r);
