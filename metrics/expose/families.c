/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/expose/families.h"

static const struct family_group *const groups[] = {
    &template_families, &stage_families,     &policy_families,
    &version_families,  &binding_families,   &dependency_families,
    &capacity_families, &connector_families, &own_families,
};

size_t family_count(void)
{
    size_t count = 0;

    for (size_t i = 0; i < ARRAY_LEN(groups); i++)
        count += groups[i]->count;
    return count;
}

const struct family_def *family_at(size_t index)
{
    size_t group = 0;

    for (; index >= groups[group]->count; group++)
        index -= groups[group]->count;
    return &groups[group]->families[index];
}

const struct family_def *family_find(const char *name)
{
    for (size_t i = 0; i < family_count(); i++) {
        if (strcmp(family_at(i)->name, name) == 0)
            return family_at(i);
    }
    return NULL;
}
