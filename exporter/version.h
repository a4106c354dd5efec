/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#define EXPORTER_NAME    "karmada-policy-exporter"
#define EXPORTER_VERSION "0.1.0"

#ifdef __clang__
#define EXPORTER_COMPILER "clang " __clang_version__
#else
#define EXPORTER_COMPILER "gcc " __VERSION__
#endif

/* Value of `make REVISION=...`, by default the Git commit of the sources; "unknown" if empty. */
extern const char exporter_revision[];
