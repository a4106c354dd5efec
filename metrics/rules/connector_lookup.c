/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/rules/connector_lookup.h"

#include "metrics/model/template.h"
#include "metrics/rules/decision.h"

/* A Namespace or a ConfigMap is a template or, if no policy selects its kind, a setting. */
static const char *const setting_versions[] = {"v1", SETTING_API_VERSION};

/* NULL if the object does not exist. */
static const struct template *find_object(const struct store *s, const struct identity *id)
{
    return entry_template_or_setting(store_find(s, id));
}

const struct namespace_ids *connector_known_ids(const struct store *s)
{
    for (size_t i = 0; i < ARRAY_LEN(setting_versions); i++) {
        const struct namespace_ids *ids = template_namespace_ids(
            find_object(s, &(struct identity){setting_versions[i], "ConfigMap", "cnrm-system",
                                              "namespace-id"}));

        if (ids && ids->ids.count > 0)
            return ids;
    }
    return NULL;
}

const struct connector_defaults *connector_defaults_of(const struct store *s,
                                                       const struct entry *template)
{
    const struct connector_defaults *defaults = NULL;

    for (size_t i = 0; !defaults && i < ARRAY_LEN(setting_versions); i++)
        defaults = template_connector_defaults(find_object(
            s, &(struct identity){setting_versions[i], "Namespace", "", entry_ns(template)}));
    return defaults;
}

enum lease_verdict connector_lease_verdict(const struct store *s, const struct entry *template,
                                           const struct entry *lease, struct lease_clock clock)
{
    bool protects = template_decision(template)->connector->protection == PROTECTION_RESOURCE;
    const struct namespace_ids *ids = connector_known_ids(s);

    return lease_verdict(protects ? PREVENTION_RESOURCE : PREVENTION_NONE, entry_lease(lease),
                         ids ? labels_get(&ids->ids, entry_ns(template)) : NULL, clock);
}
