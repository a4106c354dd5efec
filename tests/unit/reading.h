/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/model/decode.h"

/*
 * A pool of strings and a decoder over it. Releasing it fails the test if
 * anything still holds a string: a release that forgot one.
 */
struct reading {
    struct intern *strings;
    struct error err;
    struct decode decode;
};

void reading_init(struct reading *r);
void reading_release(struct reading *r);

/* JSON with ' in place of ", so that C can hold it; the test fails if it is not JSON. */
cJSON *json_of(const char *text);

/* Put `value` at a path such as "spec.clusters[1].name", in the place of what is there, if
 * anything. */
void json_put(cJSON *json, const char *path, cJSON *value);

/* Both NULL, or the same text; the texts are printed if not. */
void assert_text(const char *actual, const char *expected);
