/* SPDX-License-Identifier: Apache-2.0 */
/* All that holds of assets, where another process reads the file. */
#define APART true
#include "tests/unit/files/test_assets.c"
