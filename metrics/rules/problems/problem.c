/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/rules/problems/problem.h"

const char *const problem_status_names[PROBLEM_STATUS_COUNT] = {"open", "resolving", "pending",
                                                                "hidden"};

const char *problem_api_version(const struct problem *p)
{
    return p->subject ? p->subject->partition->type->api_version : p->external->api_version;
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
