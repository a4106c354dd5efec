/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/expose/families.h"

const struct family *family_find(const char *name)
{
    for (size_t i = 0; i < family_count; i++) {
        if (strcmp(families[i].name, name) == 0)
            return &families[i];
    }
    return NULL;
}

unsigned family_free_labels(const struct family *family)
{
    unsigned count = 0;

    while (family->labels[count].name && !family->labels[count].values)
        count++;
    return count;
}

unsigned family_rows(const struct family *family)
{
    unsigned rows = 1;

    for (const struct family_label *label = family->labels; label->name; label++)
        rows *= label->values ? (unsigned)label->value_count : 1;
    return rows;
}
