/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/expose/report_parts.h"

#include "metrics/base/timestamp.h"
#include "metrics/model/store.h"

/* Kinds and names that Kubernetes accepts are far shorter; a longer name is cut. */
enum { BINDING_NAME_MAX_BYTES = 4096 };

void report_put_policy(struct writer *w, const char *key, struct policy_name policy)
{
    if (!policy.kind) {
        writer_text(w, key, NULL);
        return;
    }
    writer_open(w, key, '{');
    writer_text(w, "kind", policy.kind);
    writer_text(w, "namespace", policy.ns);
    writer_text(w, "name", policy.name);
    writer_close(w, '}');
}

void report_put_object(struct writer *w, const struct entry *entry)
{
    writer_text(w, "kind", entry_kind(entry));
    writer_text(w, "namespace", entry_ns(entry));
    writer_text(w, "name", entry->name);
}

void report_put_known(struct writer *w, const char *key, int64_t value, bool known)
{
    if (known)
        writer_int(w, key, value);
    else
        writer_text(w, key, NULL);
}

void report_put_time(struct writer *w, const char *key, int64_t time_ms)
{
    char text[32];

    format_timestamp(time_ms, text);
    writer_text(w, key, time_ms > 0 ? text : NULL);
}

void report_put_binding(struct writer *w, const char *key, const struct entry *entry)
{
    CLEANUP(strbuf_release) struct strbuf name = STRBUF_INIT(BINDING_NAME_MAX_BYTES);

    if (entry_class(entry) == CLASS_BINDING)
        strbuf_adds(&name, entry->name);
    else
        binding_name(entry_kind(entry), entry->name, &name);
    writer_open(w, key, '{');
    writer_text(w, "namespace", entry_ns(entry));
    writer_text(w, "name", name.data);
    writer_close(w, '}');
}

void report_put_identity(struct writer *w, struct identity id)
{
    writer_text(w, "apiVersion", id.api_version);
    writer_text(w, "kind", id.kind);
    writer_text(w, "namespace", id.ns);
    writer_text(w, "name", id.name);
}

void report_put_clusters(struct writer *w, const char *key, const struct target_cluster *clusters,
                         uint32_t count)
{
    writer_open(w, key, '[');
    for (uint32_t i = 0; i < count; i++) {
        writer_open(w, NULL, '{');
        writer_text(w, "cluster", clusters[i].name);
        writer_int(w, "replicas", clusters[i].replicas);
        writer_close(w, '}');
    }
    writer_close(w, ']');
}

void report_put_value(struct writer *w, const char *key, enum dependency_field field, bool value)
{
    if (field == DEPENDENCY_PRESERVE)
        writer_bool(w, key, value);
    else
        writer_text(w, key, dependency_value_name(field, value));
}

void report_put_stored(struct writer *w, const struct entry *dependency,
                       enum dependency_field field)
{
    const struct dependency_decision *d = dependency_decision(dependency);

    if (d->derived || entry_class(dependency) != CLASS_BINDING)
        writer_text(w, "stored", NULL);
    else
        report_put_value(w, "stored", field, d->fields[field].stored);
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct target_cluster *)a)->name,
                  ((const struct target_cluster *)b)->name);
}

void report_put_assigned(struct writer *w, const struct binding *b)
{
    uint32_t count = b ? b->cluster_count : 0;
    CLEANUP(free_cleanup)
    struct target_cluster *sorted = xreallocarray(NULL, count + 1, sizeof(*sorted));

    for (uint32_t i = 0; i < count; i++)
        sorted[i] = b->clusters[i];
    qsort(sorted, count, sizeof(*sorted), by_name);
    report_put_clusters(w, "assigned", sorted, count);
}

void report_put_projected(struct writer *w, const struct capacity *c)
{
    if (!c || !c->governed)
        writer_text(w, "projected", NULL);
    else if (!c->projection.determined)
        writer_text(w, "undetermined", undetermined_reason_names[c->projection.reason]);
    else
        report_put_clusters(w, "projected", c->projection.clusters, c->projection.count);
}
