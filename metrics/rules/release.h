/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/base/error.h"

/* A release of Karmada: what it does not do yet is not held against it. */
struct release {
    unsigned major; /* 0: not known, which counts as the newest. */
    unsigned minor;
};

/*
 * Parse "1.15", "v1.15.2" or "v1.16.0-beta.0", as Karmada names its releases; "" is not known.
 * False with the reason.
 */
bool release_parse(const char *text, struct release *out, struct error *err) MUST_USE;

/* True if it resolves what referrers want of a dependency: from 1.16 on. Before, the last wins. */
bool release_resolves_dependencies(struct release release);
