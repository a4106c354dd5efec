/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/expose/family.h"

struct registry;

/*
 * Families of problems (product contract 3.10 and 4): PROBLEM_FAMILY(id, type, name, help, other
 * members of family_def), in the order of the page. Open and resolving problems count. All labels
 * are free, because the severities follow the settings.
 */
#define PROBLEM_LABELS FREE_LABEL("problem"), FREE_LABEL("severity")
#define PROBLEM_FAMILIES(PROBLEM_FAMILY)                                                           \
    PROBLEM_FAMILY(PROBLEM_FAMILY_OPEN, FAMILY_GAUGE, "karmada_policy_problems",                   \
                   "Open problems, by problem; a disabled problem has no row.",                    \
                   .bound = "problems", .labels = {PROBLEM_LABELS})                                \
    PROBLEM_FAMILY(PROBLEM_FAMILY_BY_NAMESPACE, FAMILY_GAUGE, "karmada_policy_namespace_problems", \
                   "Open problems by namespace of the subject (empty for cluster-scoped "          \
                   "subjects) and by reason. For each reason the 100 namespaces with the oldest "  \
                   "problems have rows; the others are added up in the namespace _others.",        \
                   .bound = "2000",                                                                \
                   .labels = {FREE_LABEL("namespace"), PROBLEM_LABELS, FREE_LABEL("reason")})      \
    PROBLEM_FAMILY(PROBLEM_FAMILY_HIDDEN, FAMILY_GAUGE, "karmada_policy_problems_hidden",          \
                   "Problems that are hidden because another open problem is their cause.",        \
                   .bound = "problems x 9",                                                        \
                   .labels = {FREE_LABEL("problem"), FREE_LABEL("cause")})                         \
    PROBLEM_FAMILY(PROBLEM_FAMILY_OLDEST, FAMILY_GAUGE,                                            \
                   "karmada_policy_problem_oldest_timestamp_seconds",                              \
                   "Start of the oldest open problem, in seconds since the epoch.",                \
                   .unit = "seconds", .bound = "problems", .labels = {PROBLEM_LABELS})             \
    PROBLEM_FAMILY(PROBLEM_FAMILY_SINCE, FAMILY_GAUGE,                                             \
                   "karmada_policy_problem_since_timestamp_seconds",                               \
                   "Start of each open problem, in seconds since the epoch, with subject, "        \
                   "policy, owner and actor. For each problem and namespace the oldest problems "  \
                   "up to --metrics.problem-limit have rows.",                                     \
                   .unit = "seconds", .bound = "1000",                                             \
                   .labels = {PROBLEM_LABELS, FREE_LABEL("reason"), FREE_LABEL("api_group"),       \
                              FREE_LABEL("kind"), FREE_LABEL("namespace"), FREE_LABEL("name"),     \
                              FREE_LABEL("policy_kind"), FREE_LABEL("policy_namespace"),           \
                              FREE_LABEL("policy"), FREE_LABEL("owner"), FREE_LABEL("actor")})     \
    PROBLEM_FAMILY(PROBLEM_FAMILY_OPENED, FAMILY_COUNTER, "karmada_policy_problems_opened_total",  \
                   "Problems that opened since the start; problems that were open at the start "   \
                   "do not count.",                                                                \
                   .of_process = true, .bound = "problems", .labels = {PROBLEM_LABELS})            \
    PROBLEM_FAMILY(PROBLEM_FAMILY_RESOLVED, FAMILY_COUNTER,                                        \
                   "karmada_policy_problems_resolved_total",                                       \
                   "Problems that were open and have been resolved since the start.",              \
                   .of_process = true, .bound = "problems", .labels = {PROBLEM_LABELS})

#define PROBLEM_FAMILY_ID(id, ...) id,
enum problem_family { PROBLEM_FAMILIES(PROBLEM_FAMILY_ID) PROBLEM_FAMILIES_COUNT };
#undef PROBLEM_FAMILY_ID

/*
 * Fills the families from the problems of the engine if the problems or any decision changed since
 * the last call; without engine_judge_problems(), they stay empty. Also sets OWN_DETAIL_DROPPED of
 * families with a limit. Call it before registry_prepare(). With n problems, it takes O(n) steps
 * beside the selection of a fixed number of rows.
 */
void problem_families_fill(struct registry *r, const struct engine *engine);
