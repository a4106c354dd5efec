/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/model/other.h"

void *other_decode(struct decode *d, const cJSON *json)
{
    (void)d;
    (void)json;
    /* Its address says that the object exists. */
    return xmalloc(1);
}

void other_release(struct intern *strings, void *object)
{
    (void)strings;
    free(object);
}
