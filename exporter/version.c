/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/version.h"

/* Only this file is compiled again when the commit changes; the Makefile says which it is. */
#ifndef EXPORTER_REVISION
#define EXPORTER_REVISION "unknown"
#endif

const char exporter_revision[] = EXPORTER_REVISION;
