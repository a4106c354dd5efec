/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/rules/selector.h"

#include "metrics/model/store.h"
#include "metrics/model/template.h"
#include "metrics/rules/admission/admission.h"

static bool lists_value(const struct label_requirement *r, const char *value)
{
    for (size_t i = 0; i < r->value_count; i++) {
        if (r->values[i] == value)
            return true;
    }
    return false;
}

bool label_requirement_holds(const struct label_requirement *r, const struct labels *labels)
{
    const char *value = labels_get(labels, r->key);

    switch (r->op) {
    case LABEL_IN:
        return value && lists_value(r, value);
    case LABEL_NOT_IN:
        return !value || !lists_value(r, value);
    case LABEL_EXISTS:
        return value;
    case LABEL_DOES_NOT_EXIST:
        return !value;
    }
    abort();
}

bool label_selector_matches(const struct label_selector *selector, const struct labels *labels)
{
    if (selector->invalid)
        return false;
    for (size_t i = 0; i < selector->count; i++) {
        if (!label_requirement_holds(&selector->items[i], labels))
            return false;
    }
    return true;
}

void label_requirement_add_text(const struct label_requirement *r, struct strbuf *out)
{
    static const char *const operators[] = {
        [LABEL_IN] = " in (",
        [LABEL_NOT_IN] = " notin (",
    };

    if (r->op == LABEL_EXISTS || r->op == LABEL_DOES_NOT_EXIST) {
        strbuf_addf(out, "%s%s", r->op == LABEL_EXISTS ? "" : "!", r->key);
        return;
    }
    strbuf_addf(out, "%s%s", r->key, operators[r->op]);
    for (size_t i = 0; i < r->value_count; i++)
        strbuf_addf(out, "%s%s", i ? ", " : "", r->values[i]);
    strbuf_addc(out, ')');
}

static enum selector_miss subject_miss(const struct resource_selector *selector,
                                       const struct selector_subject *subject)
{
    if (selector->kind != subject->kind)
        return MISS_KIND;
    if (selector->api_version != subject->api_version)
        return MISS_API_VERSION;
    if (selector->ns && selector->ns != subject->ns)
        return MISS_NAMESPACE;
    if (selector->name)
        return strcmp(selector->name, subject->name) == 0 ? MISS_NOTHING : MISS_NAME;
    if (selector->labels && !label_selector_matches(selector->labels, &subject->labels))
        return MISS_LABELS;
    return MISS_NOTHING;
}

/* Returns the fields of a template with this apiVersion, which is interned. */
static struct selector_subject subject_of(const char *api_version, const struct entry *template)
{
    const struct partition *partition = entry_partition(template);

    return (struct selector_subject){api_version, partition->type->kind, partition->scope.ns,
                                     template->name, template_labels(entry_template(template))};
}

enum selector_miss selector_miss(const struct resource_selector *selector,
                                 const struct entry *template)
{
    const struct selector_subject subject = subject_of(entry_type(template)->api_version, template);

    return subject_miss(selector, &subject);
}

static enum selector_score subject_score(const struct resource_selector *selector,
                                         const struct selector_subject *subject)
{
    if (subject_miss(selector, subject) != MISS_NOTHING)
        return SCORE_NONE;
    if (selector->name)
        return SCORE_NAME;
    return selector->labels ? SCORE_LABELS : SCORE_ALL;
}

enum selector_score selector_score_in_version(const struct resource_selector *selector,
                                              const char *api_version, const struct entry *template)
{
    const struct selector_subject subject = subject_of(api_version, template);

    return subject_score(selector, &subject);
}

enum selector_score selector_score(const struct resource_selector *selector,
                                   const struct entry *template)
{
    return selector_score_in_version(selector, entry_type(template)->api_version, template);
}

static bool selects_by_labels(const struct resource_selector *rule)
{
    return rule->labels && (rule->labels->count > 0 || rule->labels->invalid);
}

bool exclusion_is_empty(const struct resource_selector *rule)
{
    return !rule->api_version && !rule->kind && !rule->ns && !rule->name &&
           !selects_by_labels(rule);
}

bool exclusion_matches(const struct resource_selector *rule, const struct entry *template)
{
    const struct partition *partition = entry_partition(template);
    const struct template *t = entry_template(template);

    if (exclusion_is_empty(rule))
        return false;
    if (rule->api_version && rule->api_version != partition->type->api_version)
        return false;
    if (rule->kind && rule->kind != partition->type->kind)
        return false;
    if (rule->ns && rule->ns != partition->scope.ns)
        return false;
    if (rule->name && strcmp(rule->name, template->name) != 0)
        return false;
    if (!selects_by_labels(rule))
        return true;

    const struct labels labels = template_labels(t);

    return label_selector_matches(rule->labels, &labels);
}

uint32_t policy_find_exclusion(const struct policy *policy, const struct entry *template)
{
    uint32_t i = 0;

    while (i < policy->exclusion_count && !exclusion_matches(&policy->exclusions[i], template))
        i++;
    return i;
}

bool policy_excludes_template(const struct policy *policy, const struct entry *template,
                              struct release_range release)
{
    return !admission_drops_exclusions(policy->admission, release) &&
           policy_find_exclusion(policy, template) < policy->exclusion_count;
}

enum selector_score selectors_score_subject(const struct resource_selector *selectors,
                                            uint32_t count, const struct selector_subject *subject)
{
    enum selector_score best = SCORE_NONE;

    for (uint32_t i = 0; i < count; i++) {
        enum selector_score score = subject_score(&selectors[i], subject);

        if (score > best)
            best = score;
    }
    return best;
}

enum selector_score selectors_best_score(const struct resource_selector *selectors, uint32_t count,
                                         const struct entry *template)
{
    const struct selector_subject subject = subject_of(entry_type(template)->api_version, template);

    return selectors_score_subject(selectors, count, &subject);
}

enum selector_score policy_best_score(const struct policy *policy, const struct entry *template)
{
    return selectors_best_score(policy->selectors, policy->selector_count, template);
}
