/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/base/strbuf.h"
#include "metrics/rules/engine.h"
#include "metrics/rules/problems.h"

/*
 * Texts for people about problems, and the objects involved: the same in `check`, pages, the API
 * and notifications.
 */

/* Appends one sentence about the cause, which names the objects involved. */
void problem_add_cause(const struct engine *e, const struct problem *p, struct strbuf *out);
/* Appends one imperative sentence: the action that ends the problem; never empty. */
void problem_add_action(const struct engine *e, const struct problem *p, struct strbuf *out);
/* Appends one sentence: when the problem ends, with the time limit where one is known. */
void problem_add_end(const struct engine *e, const struct problem *p, struct strbuf *out);
/* Appends the subject, such as "Deployment shop/web". */
void problem_add_subject(const struct problem *p, struct strbuf *out);

/* Returns the name of the problem's runbook, which documentation and pages link to. */
const char *problem_doc(enum problem_id problem);

/* Returns the role that must act, one of actor_names. */
enum actor problem_actor(const struct problem *p);

/* Returns the policy that a problem is about, existing or not; NULL without one. */
const struct entry *problem_policy(const struct problem *p);

/* Returns the owner of the subject (template_owner()); NULL if unknown. */
const char *problem_owner(const struct problem *p);

/*
 * Calls `each` with the name of every member cluster that a problem is about, in byte order: the
 * failing targets, or the cluster that is the subject.
 */
void problem_each_cluster(const struct engine *e, const struct problem *p,
                          void (*each)(void *context, const char *cluster), void *context);

/* Calls `each` for every other party: competing policies, templates of one name, referrers. */
void problem_each_related(const struct engine *e, const struct problem *p,
                          void (*each)(void *context, const struct entry *related), void *context);
