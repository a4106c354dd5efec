/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/expose/report_version.h"

#include "metrics/expose/report_parts.h"

void report_put_version(struct writer *w, const struct policy_version *v)
{
    int behind = v ? policy_version_behind(v) : -1;

    report_put_known(w, "version", v ? v->number : 0, v && v->number > 0);
    if (v && policy_version_is_unknown(v))
        writer_bool(w, "versionUnknown", true);
    report_put_known(w, "behind", behind, behind >= 0);
    report_put_time(w, "supersededSince", v ? policy_version_superseded_ms(v) : 0);
}

void report_put_version_use(struct writer *w, const struct version_use *use)
{
    const struct policy_version *v = use->version;
    char hash[POLICY_VERSION_HASH_SIZE];

    policy_version_hash(v, hash);
    report_put_known(w, "version", v->number, v->number > 0);
    report_put_known(w, "generation", v->generation, v->generation > 0);
    report_put_time(w, "since", v->since_ms);
    if (v->since_seen)
        writer_bool(w, "sinceSeen", true);
    writer_text(w, "by", v->by);
    writer_text(w, "hash", policy_version_is_unknown(v) ? NULL : hash);
    writer_bool(w, "recovered", v->recovered);
    writer_int(w, "templates", use->templates);
    writer_int(w, "replicas", use->replicas);
    writer_number(w, "cpu", use->cores);
    writer_number(w, "memory", use->memory);
    writer_open(w, "clusters", '[');
    for (size_t i = 0; i < use->cluster_count; i++)
        writer_text(w, NULL, use->clusters[i]);
    writer_close(w, ']');
}

void report_put_versions(struct writer *w, const struct entry *policy)
{
    CLEANUP(version_uses_release) struct version_uses uses = version_uses_of(policy);

    writer_open(w, "versions", '[');
    for (size_t i = 0; i < uses.count; i++) {
        writer_open(w, NULL, '{');
        report_put_version_use(w, &uses.items[i]);
        writer_close(w, '}');
    }
    writer_close(w, ']');
}
