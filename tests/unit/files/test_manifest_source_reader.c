/* SPDX-License-Identifier: Apache-2.0 */
/* All that holds of manifests, where other processes look at the disk. */
#define APART true
#include "tests/unit/files/test_manifest_source.c"
