/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "tests/sim/run.h"

/* The invariants of a run. Each calls run_fail() where it does not hold. */

enum { CHECK_EVERY_MS = 1000 };

/* At any time: what is well is fresh, nobody asks too often, and it is ready in time. */
void check_audit(struct run *r);

/* Whenever nothing is under way: no row rests on what was never read. */
void check_rows(struct run *r);

/* After the calm: the page is that of an exporter that was just told what the servers have. */
void check_end(struct run *r);
