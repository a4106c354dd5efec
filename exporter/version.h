/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#define EXPORTER_NAME    "karmada-policy-exporter"
#define EXPORTER_VERSION "0.1.0"

#ifdef __clang__
#define EXPORTER_COMPILER "clang " __clang_version__
#else
#define EXPORTER_COMPILER "gcc " __VERSION__
#endif

/* Git commit of the build, or the value of `make REVISION=...`; "unknown" if there is neither. */
extern const char exporter_revision[];
