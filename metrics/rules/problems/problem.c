/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/rules/problems/problem.h"

#include "metrics/model/template.h"
#include "metrics/rules/decision.h"

const char *const problem_status_names[PROBLEM_STATUS_COUNT] = {"open", "resolving", "pending",
                                                                "hidden"};

const char *problem_api_version(const struct problem *p)
{
    return p->subject ? entry_type(p->subject)->api_version : p->external->api_version;
}

const char *problem_subject_kind(const struct problem *p)
{
    return p->subject ? entry_kind(p->subject) : p->external->kind;
}

const char *problem_ns(const struct problem *p)
{
    return p->subject ? entry_ns(p->subject) : p->external->ns;
}

const char *problem_name(const struct problem *p)
{
    return p->subject ? p->subject->name : p->external->name;
}

struct identity problem_identity(const struct problem *p)
{
    return (struct identity){problem_api_version(p), problem_subject_kind(p), problem_ns(p),
                             problem_name(p)};
}

/* ---- policy, owner and template ---- */

/* Returns the decision about the subject if it is a template; NULL else. */
static const struct template_decision *decision_of(const struct problem *p)
{
    return p->subject ? template_decision(p->subject) : NULL;
}

/* Returns the first candidate that is excluded or, with false, in deletion; NULL without one. */
static const struct entry *ineligible_candidate(const struct template_decision *d, bool excluded)
{
    for (uint32_t i = 0; i < d->candidate_count; i++) {
        const struct candidate c = decision_candidate(d, i);

        if (excluded ? c.excluded : c.deleting)
            return c.policy;
    }
    return NULL;
}

static const struct entry *policy_of_template(const struct template_decision *d,
                                              enum problem_reason reason)
{
    enum problem_id problem = problem_reasons[reason].problem;

    if (problem == PROBLEM_EXCLUDED)
        return ineligible_candidate(d, true);
    if (reason == PROBLEM_REASON_NOT_PROPAGATED_POLICY_DELETING)
        return ineligible_candidate(d, false);
    if (problem == PROBLEM_TEMPLATE_FROZEN ||
        reason == PROBLEM_REASON_REFERENCE_BROKEN_CLAIM_MISSING)
        return decision_claimed(d);
    if (policy_of_stale_template(d))
        return policy_of_stale_template(d);
    if (decision_winner(d) || !decision_binding(d))
        return decision_winner(d) ? decision_winner(d) : decision_refused_policy(d);
    return binding_claimed_policy(decision_binding(d));
}

const struct entry *problem_policy(const struct problem *p)
{
    if (!p->subject)
        return NULL;
    if (entry_class(p->subject) == CLASS_POLICY)
        return p->subject;
    if (decision_of(p))
        return policy_of_template(decision_of(p), p->reason);
    return binding_decision(p->subject) ? binding_claimed_policy(p->subject) : NULL;
}

const struct entry *problem_template(const struct problem *p)
{
    if (!p->subject)
        return NULL;
    if (entry_class(p->subject) == CLASS_TEMPLATE)
        return p->subject;
    return binding_decision(p->subject) ? binding_decision_template(binding_decision(p->subject))
                                        : NULL;
}

const char *problem_owner(const struct problem *p)
{
    const struct template *t = entry_template(problem_template(p));

    return t ? template_owner(t) : NULL;
}
