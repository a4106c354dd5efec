/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/version.h"

/* The Makefile defines EXPORTER_REVISION for this file only, and recompiles it after a change. */
#ifndef EXPORTER_REVISION
#define EXPORTER_REVISION "unknown"
#endif

const char exporter_revision[] = EXPORTER_REVISION;
