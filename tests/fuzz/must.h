/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/base/base.h"

/* What must hold for whatever input; a fuzzer reports the abort, and the text says which. */
#define MUST(claim)                                                                                \
    do {                                                                                           \
        if (!(claim)) {                                                                            \
            fprintf(stderr, "%s:%d: it does not hold: %s\n", __FILE__, __LINE__, #claim);          \
            abort();                                                                               \
        }                                                                                          \
    } while (0)
