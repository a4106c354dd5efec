/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/base/json_writer.h"
#include "metrics/expose/version_use.h"

/* Versions of policies (product contract 3.7), as members of the open object. */

/*
 * Of a template what it runs: "version", "behind" and "supersededSince", null where that is not
 * known or where it runs none (`v` is NULL); "versionUnknown" where no version ever had the values.
 */
void report_put_version(struct writer *w, const struct policy_version *v);

/* What a version is, and who runs it. Of the unknown one "version" and what it is are null. */
void report_put_version_use(struct writer *w, const struct version_use *use);

/* "versions" of a policy: newest first, that of now always; those of the unknown one last. */
void report_put_versions(struct writer *w, const struct entry *policy);
