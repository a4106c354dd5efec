/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/expose/report_parts.h"

#include "metrics/base/map.h"
#include "metrics/base/timestamp.h"
#include "metrics/model/store.h"

enum { BINDING_NAME_MAX_BYTES = 4096 }; /* Above Kubernetes' limit; a longer name is cut. */

/* ---- objects and values ---- */

void report_put_policy(struct json_writer *w, const char *key, struct policy_name policy)
{
    if (!policy.kind) {
        json_writer_text(w, key, NULL);
        return;
    }
    json_writer_open(w, key, '{');
    json_writer_text(w, "kind", policy.kind);
    json_writer_text(w, "namespace", policy.ns);
    json_writer_text(w, "name", policy.name);
    json_writer_close(w, '}');
}

void report_put_quota_excess(struct json_writer *w, const char *key, const struct quota_excess *e)
{
    if (!e) {
        json_writer_text(w, key, NULL);
        return;
    }
    json_writer_open(w, key, '{');
    json_writer_text(w, "namespace", entry_ns(e->quota));
    json_writer_text(w, "name", e->quota->name);
    json_writer_text(w, "resource", e->resource);
    json_writer_number(w, "limit", quota_base_units(e->resource, e->limit));
    json_writer_number(w, "used", quota_base_units(e->resource, e->used));
    json_writer_number(w, "needed", quota_base_units(e->resource, e->needed));
    json_writer_close(w, '}');
}

void report_put_object(struct json_writer *w, const struct entry *entry)
{
    json_writer_text(w, "kind", entry_kind(entry));
    json_writer_text(w, "namespace", entry_ns(entry));
    json_writer_text(w, "name", entry->name);
}

void report_put_number_or_null(struct json_writer *w, const char *key, int64_t value, bool known)
{
    if (known)
        json_writer_int(w, key, value);
    else
        json_writer_text(w, key, NULL);
}

void report_put_time(struct json_writer *w, const char *key, int64_t time_ms)
{
    char text[32];

    format_timestamp(time_ms, text);
    json_writer_text(w, key, time_ms > 0 ? text : NULL);
}

void report_put_binding(struct json_writer *w, const char *key, const struct entry *entry)
{
    CLEANUP(strbuf_release) struct strbuf name = STRBUF_INIT(BINDING_NAME_MAX_BYTES);

    if (entry_class(entry) == CLASS_BINDING)
        strbuf_adds(&name, entry->name);
    else
        binding_name(entry_kind(entry), entry->name, &name);
    json_writer_open(w, key, '{');
    json_writer_text(w, "namespace", entry_ns(entry));
    json_writer_text(w, "name", name.data);
    json_writer_close(w, '}');
}

void report_put_identity(struct json_writer *w, struct identity id)
{
    json_writer_text(w, "apiVersion", id.api_version);
    json_writer_text(w, "kind", id.kind);
    json_writer_text(w, "namespace", id.ns);
    json_writer_text(w, "name", id.name);
}

void report_put_clusters(struct json_writer *w, const char *key,
                         const struct target_cluster *clusters, uint32_t count)
{
    json_writer_open(w, key, '[');
    for (uint32_t i = 0; i < count; i++) {
        json_writer_open(w, NULL, '{');
        json_writer_text(w, "cluster", clusters[i].name);
        json_writer_int(w, "replicas", clusters[i].replicas);
        if (clusters[i].item.suspended)
            json_writer_bool(w, "suspended", true);
        json_writer_close(w, '}');
    }
    json_writer_close(w, ']');
}

void report_put_value(struct json_writer *w, const char *key, enum dependency_field field,
                      bool value)
{
    if (field == DEPENDENCY_PRESERVE)
        json_writer_bool(w, key, value);
    else
        json_writer_text(w, key, dependency_value_name(field, value));
}

void report_put_resolved(struct json_writer *w, enum dependency_field field,
                         enum dependency_outcome outcome, bool resolved)
{
    if (dependency_outcome_is_certain(outcome)) {
        report_put_value(w, "resolved", field, resolved);
        return;
    }
    json_writer_text(w, "resolved", NULL);
    json_writer_text(w, "undetermined", dependency_outcome_reasons[outcome]);
}

void report_put_release(struct json_writer *w, struct release_range range)
{
    json_writer_open(w, "karmada", '{');
    json_writer_open(w, "release", '{');
    json_writer_text(w, "oldest", release_name(range.oldest));
    json_writer_text(w, "newest", release_name(range.newest));
    json_writer_close(w, '}');
    json_writer_text(w, "origin", release_origin_name(range.origin));
    json_writer_close(w, '}');
}

bool dependency_value_is_stored(const struct entry *dependency)
{
    return !dependency_decision(dependency)->derived && entry_class(dependency) == CLASS_BINDING;
}

void report_put_stored(struct json_writer *w, const struct entry *dependency,
                       enum dependency_field field)
{
    if (dependency_value_is_stored(dependency))
        report_put_value(w, "stored", field, dependency_decision(dependency)->fields[field].stored);
    else
        json_writer_text(w, "stored", NULL);
}

static int by_cluster_name(const void *a, const void *b)
{
    return strcmp(((const struct target_cluster *)a)->name,
                  ((const struct target_cluster *)b)->name);
}

void report_put_assigned(struct json_writer *w, const struct binding *b)
{
    uint32_t count = b ? b->cluster_count : 0;
    CLEANUP(free_cleanup)
    struct target_cluster *sorted = xreallocarray(NULL, count + 1, sizeof(*sorted));

    for (uint32_t i = 0; i < count; i++)
        sorted[i] = b->clusters[i];
    qsort(sorted, count, sizeof(*sorted), by_cluster_name);
    report_put_clusters(w, "assigned", sorted, count);
}

void report_put_projected(struct json_writer *w, const struct capacity *c)
{
    if (!c || !c->governed)
        json_writer_text(w, "projected", NULL);
    else if (!c->projection.determined)
        json_writer_text(w, "undetermined", undetermined_reason_names[c->projection.reason]);
    else
        report_put_clusters(w, "projected", c->projection.clusters, c->projection.count);
}

/* ---- transitions of templates ---- */

static void write_moment(struct json_writer *w, const char *key, const struct moment *m)
{
    if (!m->decided) {
        json_writer_text(w, key, NULL);
        return;
    }
    json_writer_open(w, key, '{');
    json_writer_text(w, "state", state_names[m->state]);
    json_writer_text(w, "reason", reason_name((enum template_state)m->state, m->reason));
    json_writer_text(w, "phase", m->state == STATE_STALE ? phase_names[m->phase] : NULL);
    json_writer_text(w, "stage", m->stage != STAGE_NONE ? stage_names[m->stage] : NULL);
    json_writer_text(w, "stageReason",
                     m->stage_reason != WHY_NONE ? stage_reason_names[m->stage_reason] : NULL);
    report_put_policy(w, "policy", policy_name_of(m->policy));
    report_put_policy(w, "claimed", policy_name_of(m->claimed));
    report_put_number_or_null(w, "version", m->version, m->version > 0);
    json_writer_int(w, "clusters", m->clusters);
    json_writer_close(w, '}');
}

void transition_write(struct json_writer *w, const struct transition *x)
{
    json_writer_open(w, NULL, '{');
    json_writer_int(w, "number", (int64_t)x->number);
    report_put_time(w, "time", x->time_ms);
    json_writer_text(w, "cause", cause_names[x->cause]);
    report_put_identity(w, entry_identity(x->template));
    write_moment(w, "before", &x->before);
    write_moment(w, "after", &x->after);
    json_writer_bool(w, "otherClusters", x->before.cluster_hash != x->after.cluster_hash);
    json_writer_close(w, '}');
}

/* Appends the name of a changed part, after "; " unless it is the first part since `start`. */
static void add_part_name(struct strbuf *out, size_t start, const char *part)
{
    strbuf_addf(out, "%s%s ", out->len > start ? "; " : "", part);
}

static void add_with_reason(struct strbuf *out, const char *word, const char *reason)
{
    strbuf_addf(out, "%s%s%s%s", word && *word ? word : "none", reason && *reason ? " (" : "",
                reason ? reason : "", reason && *reason ? ")" : "");
}

static void add_state(struct strbuf *out, const struct moment *m)
{
    add_with_reason(out, state_names[m->state],
                    reason_name((enum template_state)m->state, m->reason));
    if (m->state == STATE_STALE)
        strbuf_addf(out, " %s", phase_names[m->phase]);
}

static void add_stage(struct strbuf *out, const struct moment *m)
{
    add_with_reason(out, stage_names[m->stage], stage_reason_names[m->stage_reason]);
}

static void add_policy(struct strbuf *out, const struct entry *policy)
{
    if (!policy)
        strbuf_adds(out, "none");
    else
        strbuf_addf(out, "%s %s%s%s", entry_kind(policy), entry_ns(policy),
                    *entry_ns(policy) ? "/" : "", policy->name);
}

static void add_policy_change(struct strbuf *out, size_t start, const char *part,
                              const struct entry *a, const struct entry *b)
{
    if (a == b)
        return;
    add_part_name(out, start, part);
    add_policy(out, a);
    strbuf_adds(out, " to ");
    add_policy(out, b);
}

static void add_number_change(struct strbuf *out, size_t start, const char *part, uint32_t a,
                              uint32_t b)
{
    if (a == b)
        return;
    add_part_name(out, start, part);
    strbuf_addf(out, "%" PRIu32 " to %" PRIu32, a, b);
}

void transition_add_text(struct strbuf *out, const struct transition *x)
{
    const struct moment *a = &x->before, *b = &x->after;
    size_t start = out->len;

    if (!a->decided || !b->decided) {
        strbuf_adds(out, b->decided ? "created: " : "deleted; before: ");
        add_state(out, b->decided ? b : a);
        return;
    }
    if (a->state != b->state || a->reason != b->reason || a->phase != b->phase) {
        add_part_name(out, start, "state");
        add_state(out, a);
        strbuf_adds(out, " to ");
        add_state(out, b);
    }
    if (a->stage != b->stage || a->stage_reason != b->stage_reason) {
        add_part_name(out, start, "stage");
        add_stage(out, a);
        strbuf_adds(out, " to ");
        add_stage(out, b);
    }
    add_policy_change(out, start, "policy", a->policy, b->policy);
    add_policy_change(out, start, "claim", a->claimed, b->claimed);
    add_number_change(out, start, "version", a->version, b->version);
    add_number_change(out, start, "number of clusters", a->clusters, b->clusters);
    if (a->clusters == b->clusters && a->cluster_hash != b->cluster_hash)
        strbuf_addf(out, "%sother clusters", out->len > start ? "; " : "");
}

/* ---- versions of policies ---- */

static double requested_amount(const struct binding *b, const char *resource)
{
    for (uint32_t i = 0; i < b->request_count; i++) {
        if (strcmp(b->requests[i].resource, resource) == 0)
            return b->requests[i].amount;
    }
    return 0;
}

static bool is_same_address(const void *item, const void *key)
{
    return item == key;
}

/*
 * Counts a template with the binding `b` for a version: its replicas, their requests and its
 * clusters. Names of clusters are interned, so equal names have equal addresses.
 */
static void add_binding_to_use(struct version_use *use, struct map *clusters,
                               const struct binding *b)
{
    use->templates++;
    for (uint32_t i = 0; i < b->cluster_count; i++) {
        const struct target_cluster *c = &b->clusters[i];
        uint64_t hash = map_hash_address(c->name);

        use->replicas += c->replicas;
        use->cores += c->replicas * requested_amount(b, "cpu");
        use->memory += c->replicas * requested_amount(b, "memory");
        if (!map_get(clusters, hash, c->name))
            map_add(clusters, hash, (void *)(uintptr_t)c->name);
    }
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Returns the use of a version by the templates of its policy. */
static struct version_use version_use_of(const struct entry *policy, const struct policy_version *v)
{
    struct version_use use = {.version = v};
    struct map clusters = MAP_INIT(is_same_address);
    const char *name;

    for (uint32_t i = 0; v->templates > 0 && i < entry_reader_count(policy); i++) {
        const struct template_decision *d = template_decision(entry_reader(policy, i));

        if (d && decision_version(d) == v)
            add_binding_to_use(&use, &clusters, entry_binding(decision_binding(d)));
    }
    use.clusters = xreallocarray(NULL, clusters.count + 1, sizeof(const char *));
    for (size_t at = 0; (name = map_next(&clusters, &at)) != NULL;)
        use.clusters[use.cluster_count++] = name;
    qsort(use.clusters, use.cluster_count, sizeof(const char *), by_text);
    map_release(&clusters);
    return use;
}

struct version_uses version_uses_of(const struct entry *policy)
{
    const struct policy_decision *d = policy_decision(policy);
    const struct policy_history *h = d ? d->history : NULL;
    struct version_uses uses = {0};

    if (!h)
        return uses;
    uses.items = xreallocarray(NULL, h->count + 1, sizeof(*uses.items));
    for (size_t i = h->count; i-- > 0;)
        uses.items[uses.count++] = version_use_of(policy, h->versions[i]);
    if (h->unknown && h->unknown->templates > 0)
        uses.items[uses.count++] = version_use_of(policy, h->unknown);
    return uses;
}

void version_uses_release(struct version_uses *uses)
{
    for (size_t i = 0; i < uses->count; i++)
        free(uses->items[i].clusters);
    free(uses->items);
    *uses = (struct version_uses){0};
}

void report_put_version(struct json_writer *w, const struct policy_version *v)
{
    int behind = v ? policy_version_count_later(v) : -1;

    report_put_number_or_null(w, "version", v ? v->number : 0, v && v->number > 0);
    if (v && policy_version_is_unknown(v))
        json_writer_bool(w, "versionUnknown", true);
    report_put_number_or_null(w, "behind", behind, behind >= 0);
    report_put_time(w, "supersededSince", v ? policy_version_superseded_ms(v) : 0);
}

void report_put_version_use(struct json_writer *w, const struct version_use *use)
{
    const struct policy_version *v = use->version;
    char hash[POLICY_VERSION_HASH_SIZE];

    policy_version_hash(v, hash);
    report_put_number_or_null(w, "version", v->number, v->number > 0);
    report_put_number_or_null(w, "generation", v->generation, v->generation > 0);
    report_put_time(w, "since", v->since_ms);
    if (v->since_seen)
        json_writer_bool(w, "sinceSeen", true);
    json_writer_text(w, "by", v->by);
    json_writer_text(w, "hash", policy_version_is_unknown(v) ? NULL : hash);
    json_writer_bool(w, "recovered", v->recovered);
    json_writer_int(w, "templates", use->templates);
    json_writer_int(w, "replicas", use->replicas);
    json_writer_number(w, "cpu", use->cores);
    json_writer_number(w, "memory", use->memory);
    json_writer_open(w, "clusters", '[');
    for (size_t i = 0; i < use->cluster_count; i++)
        json_writer_text(w, NULL, use->clusters[i]);
    json_writer_close(w, ']');
}

void report_put_versions(struct json_writer *w, const struct entry *policy)
{
    CLEANUP(version_uses_release) struct version_uses uses = version_uses_of(policy);

    json_writer_open(w, "versions", '[');
    for (size_t i = 0; i < uses.count; i++) {
        json_writer_open(w, NULL, '{');
        report_put_version_use(w, &uses.items[i]);
        json_writer_close(w, '}');
    }
    json_writer_close(w, ']');
}
