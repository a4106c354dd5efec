/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/expose/parties.h"

#include "metrics/model/binding.h"
#include "metrics/model/object.h"

struct policy_name policy_name_of(const struct entry *policy)
{
    return policy ? (struct policy_name){entry_kind(policy), entry_ns(policy), policy->name}
                  : (struct policy_name){0};
}

const struct entry *stale_policy(const struct template_decision *d)
{
    return d->governing ? d->governing : d->claimed;
}

static struct policy_name claimed_policy(const struct claim *claim)
{
    return (struct policy_name){kind_policy(claim->cluster_scoped)->name, claim->ns, claim->name};
}

struct policy_name ballot_policy(const struct ballot *ballot, bool current)
{
    const struct binding *b = entry_binding(ballot->binding);
    const struct template_decision *d =
        ballot->template ? template_decision(ballot->template) : NULL;

    if (!current && b && b->claim)
        return claimed_policy(b->claim);
    return policy_name_of(d ? d->governing : NULL);
}

static const char *or_empty(const char *text)
{
    return text ? text : "";
}

struct identity dependency_resource(const struct entry *dependency)
{
    const struct binding *b = entry_binding(dependency);

    if (!b)
        return (struct identity){dependency->partition->type->api_version, entry_kind(dependency),
                                 entry_ns(dependency), dependency->name};
    return (struct identity){or_empty(b->api_version), or_empty(b->kind), or_empty(b->ns),
                             or_empty(b->name)};
}
