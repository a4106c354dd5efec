/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#define EXPORTER_NAME    "karmada-policy-exporter"
#define EXPORTER_VERSION "0.1.0"

/* What it was built from; whoever builds a release says so: CPPFLAGS='-DEXPORTER_REVISION="..."'.
 */
#ifndef EXPORTER_REVISION
#define EXPORTER_REVISION "unknown"
#endif

#ifdef __clang__
#define EXPORTER_COMPILER "clang " __clang_version__
#else
#define EXPORTER_COMPILER "gcc " __VERSION__
#endif
