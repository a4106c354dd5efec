/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/base/base.h"

/* Aborts and prints the claim if it is false. The fuzzer reports the abort with its input. */
#define MUST(claim)                                                                                \
    do {                                                                                           \
        if (!(claim)) {                                                                            \
            fprintf(stderr, "%s:%d: claim is false: %s\n", __FILE__, __LINE__, #claim);            \
            abort();                                                                               \
        }                                                                                          \
    } while (0)
