/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/base/strbuf.h"
#include "metrics/expose/problem_parties.h"

/*
 * Texts for people about problems: the same in `check`, pages, the API and notifications. The
 * objects involved are those of problem_parties.h. Sentences begin with a capital and end with a
 * full stop. All decisions must be up to date.
 */

/* Appends one sentence about the cause, which names the objects involved. */
void problem_add_cause(const struct engine *e, const struct problem *p, struct strbuf *out);
/*
 * Appends the cause of several instances with the reason of `p`: "the object" replaces the subject.
 * Unless `with_parties`, "its policy" and the like replace the other objects, and what only some
 * instances have is left out, so that the sentence depends on the reason alone.
 */
void problem_add_common_cause(const struct engine *e, const struct problem *p, bool with_parties,
                              struct strbuf *out);
/*
 * Appends one imperative sentence of at most 160 characters: the action that ends the problem;
 * never empty.
 */
void problem_add_action(const struct engine *e, const struct problem *p, struct strbuf *out);
/* Appends one sentence: when the problem ends, with the time limit where one is known. */
void problem_add_end(const struct engine *e, const struct problem *p, struct strbuf *out);
/*
 * Append the same sentences about a reason, without objects: "the template", "the policy" and the
 * like replace names, and what only some instances have is left out.
 */
void problem_reason_add_cause(enum problem_reason reason, struct strbuf *out);
void problem_reason_add_action(enum problem_reason reason, struct strbuf *out);
void problem_reason_add_end(enum problem_reason reason, struct strbuf *out);
/*
 * Appends the subject, such as "Deployment shop/web". Components of the control plane and sources
 * are named without their kind: "karmada-scheduler", "deployments.apps". Templates that need the
 * same binding name have their apiVersion behind the name: "Deployment shop/web (apps/v1)".
 */
void problem_add_subject(const struct problem *p, struct strbuf *out);

/*
 * Returns the name of the problem's runbook, which documentation and pages link to: the word of the
 * problem with '-' for '_', such as "not-propagated".
 */
const char *problem_doc(enum problem_id problem);

/* Returns the role that must act, one of actor_names. */
enum actor problem_actor(const struct problem *p);
