/* SPDX-License-Identifier: Apache-2.0 */
/* Runs test_manifest_source.c with a file reader: threads read the files. */
#define WITH_READER true
#include "tests/unit/files/test_manifest_source.c"
