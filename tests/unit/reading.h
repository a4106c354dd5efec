/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/model/decode.h"

/*
 * A string pool and a decoder that uses it. reading_release() fails the test if a string is still
 * in use: some release function has leaked it.
 */
struct reading {
    struct intern *strings;
    struct error err;
    struct decode decode;
};

void reading_init(struct reading *r);
void reading_release(struct reading *r);

/* Parses JSON with ' in place of ", which needs no escapes in C. Fails if it is invalid. */
cJSON *json_of(const char *text);

/*
 * Sets the value at a path such as "spec.clusters[1].name". Frees the previous value, if any, and
 * takes ownership of `value`.
 */
void json_put(cJSON *json, const char *path, cJSON *value);

/* Fails and prints both texts unless they are equal; NULL equals NULL. */
void assert_text(const char *actual, const char *expected);
