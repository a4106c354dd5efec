/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/expose/family.h"

const char *family_type_name(enum family_type type)
{
    static const char *const names[] = {
        [FAMILY_GAUGE] = "gauge",
        [FAMILY_COUNTER] = "counter",
        [FAMILY_HISTOGRAM] = "histogram",
    };

    return names[type];
}

unsigned family_free_labels(const struct family_def *family)
{
    unsigned count = 0;

    while (family->labels[count].name && !family->labels[count].values)
        count++;
    return count;
}

unsigned family_fold_labels(enum fold fold)
{
    static const unsigned labels[FOLD_COUNT] = {[FOLD_POLICY] = 3, [FOLD_NAMESPACE] = 1};

    return labels[fold];
}

const char *family_rest_value(enum fold fold)
{
    /* A namespace is a DNS label, so that its name never begins with '_'. */
    static const char *const values[FOLD_COUNT] = {
        [FOLD_NONE] = "", [FOLD_POLICY] = "", [FOLD_NAMESPACE] = "_others"};

    return values[fold];
}

unsigned family_series_per_set(const struct family_def *family)
{
    unsigned count = 1;

    for (const struct family_label *label = family->labels; label->name; label++)
        count *= label->values ? (unsigned)label->value_count : 1;
    return count;
}

bool family_has_series(const struct family_def *family, unsigned index)
{
    const struct family_label *label = &family->labels[family_free_labels(family)];
    unsigned last_count;

    if (!family->pairs)
        return true;
    last_count = (unsigned)label[1].value_count;
    return family->pairs(index / last_count, index % last_count);
}

unsigned family_shown_per_set(const struct family_def *family)
{
    unsigned count = 0;

    for (unsigned i = 0; i < family_series_per_set(family); i++)
        count += family_has_series(family, i);
    return count;
}
