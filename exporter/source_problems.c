/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/source_problems.h"

enum {
    NAME_MAX_BYTES = 4096,
    HOUR_MS = 60 * 60 * 1000,
    FIRST_EXPORT_MS = 25 * HOUR_MS, /* Age at which the only asset export seen is old. */
};

/* A problem of a source. */
struct finding {
    char *api_version;
    char *kind;
    char *ns;
    char *name;
    enum problem_reason reason;
    int64_t since_ms; /* 0 if unknown. */
};

struct finding_set {
    struct finding *items;
    size_t count;
    size_t capacity;
};

/* A kind whose objects cannot be read as they are now. */
struct failing_kind {
    char *api_version;
    char *kind;
};

/* Result of the audits of a reflector so far. */
struct audit_record {
    uint32_t source; /* Number of the reflector as an origin in the store. */
    uint64_t audits;
    uint64_t divergences;
    bool diverged; /* The last audit found a difference. */
};

struct source_problems {
    struct source_set sources;
    struct finding_set reported;
    struct failing_kind *failing;
    size_t failing_count;
    struct audit_record *audits;
    size_t audit_count;
    unsigned failing_classes; /* Classes of the failing kinds that have been read before. */
    bool core_fails;          /* Policies or bindings cannot be read. */
    int64_t snapshot_ms;
    int64_t interval_ms; /* Time between the last two asset exports; 0 before the second. */
};

struct source_problems *source_problems_new(struct source_set sources)
{
    struct source_problems *s = xcalloc(1, sizeof(*s));

    s->sources = sources;
    return s;
}

/* ---- sets of problems ---- */

static void finding_set_release(struct finding_set *set)
{
    for (size_t i = 0; i < set->count; i++) {
        free(set->items[i].api_version);
        free(set->items[i].kind);
        free(set->items[i].ns);
        free(set->items[i].name);
    }
    free(set->items);
    *set = (struct finding_set){0};
}

static void add_finding(struct finding_set *set, struct external_subject subject,
                        enum problem_reason reason, int64_t since_ms)
{
    if (set->count == set->capacity) {
        set->capacity = set->capacity ? 2 * set->capacity : 8;
        set->items = xreallocarray(set->items, set->capacity, sizeof(*set->items));
    }
    set->items[set->count++] = (struct finding){xstrdup(subject.api_version),
                                                xstrdup(subject.kind),
                                                xstrdup(subject.ns),
                                                xstrdup(subject.name),
                                                reason,
                                                since_ms};
}

static void add_source_finding(struct finding_set *set, const char *name,
                               enum problem_reason reason, int64_t since_ms)
{
    add_finding(set, (struct external_subject){"", "Source", "", name}, reason, since_ms);
}

static struct external_subject subject_of(const struct finding *f)
{
    return (struct external_subject){f->api_version, f->kind, f->ns, f->name};
}

/* Compares the subjects of two problems. */
static int compare_findings(const void *a, const void *b)
{
    const struct finding *x = a, *y = b;
    int order = strcmp(x->name, y->name);

    order = order ? order : strcmp(x->kind, y->kind);
    order = order ? order : strcmp(x->ns, y->ns);
    return order ? order : strcmp(x->api_version, y->api_version);
}

/* Withdraws the problems of the last update that are not in `fresh`, and reports `fresh`. */
static void replace_reported(struct source_problems *s, struct finding_set *fresh,
                             struct problems *ps)
{
    size_t at = 0;

    if (fresh->count > 1)
        qsort(fresh->items, fresh->count, sizeof(*fresh->items), compare_findings);
    for (size_t i = 0; i < s->reported.count; i++) {
        struct external_subject subject = subject_of(&s->reported.items[i]);

        while (at < fresh->count && compare_findings(&fresh->items[at], &s->reported.items[i]) < 0)
            at++;
        if (at == fresh->count || compare_findings(&fresh->items[at], &s->reported.items[i]) != 0)
            problems_withdraw(ps, &subject, problem_reasons[s->reported.items[i].reason].problem);
    }
    for (size_t i = 0; i < fresh->count; i++) {
        struct external_subject subject = subject_of(&fresh->items[i]);

        problems_report(ps, &subject, fresh->items[i].reason, fresh->items[i].since_ms);
    }
    finding_set_release(&s->reported);
    s->reported = *fresh;
}

/* ---- kinds of the API server ---- */

static void add_failing_kind(struct source_problems *s, const struct reflector *r)
{
    enum object_class class = kind_of(r->api_version, r->kind)->class;

    s->core_fails |= class == CLASS_POLICY || class == CLASS_BINDING;
    /* Of kinds that were never read, the rules know that their objects are not known. */
    if (r->synced)
        s->failing_classes |= 1U << class;
    s->failing = xreallocarray(s->failing, s->failing_count + 1, sizeof(*s->failing));
    s->failing[s->failing_count++] =
        (struct failing_kind){xstrdup(r->api_version), xstrdup(r->kind)};
}

static void release_failing_kinds(struct source_problems *s)
{
    for (size_t i = 0; i < s->failing_count; i++) {
        free(s->failing[i].api_version);
        free(s->failing[i].kind);
    }
    free(s->failing);
    s->failing = NULL;
    s->failing_count = 0;
    s->failing_classes = 0;
    s->core_fails = false;
}

static struct audit_record *audit_record_of(struct source_problems *s, uint32_t source)
{
    for (size_t i = 0; i < s->audit_count; i++) {
        if (s->audits[i].source == source)
            return &s->audits[i];
    }
    s->audits = xreallocarray(s->audits, s->audit_count + 1, sizeof(*s->audits));
    s->audits[s->audit_count] = (struct audit_record){.source = source};
    return &s->audits[s->audit_count++];
}

/* Returns true if the last audit by the reflector found a difference to the store. */
static bool has_diverged(struct source_problems *s, const struct reflector *r)
{
    const struct watch_counts *counts = &r->watch.counts;
    struct audit_record *record = audit_record_of(s, r->objects.origin.source);

    if (counts->audits != record->audits || counts->divergences != record->divergences)
        record->diverged = counts->divergences > record->divergences;
    record->audits = counts->audits;
    record->divergences = counts->divergences;
    return record->diverged;
}

static void find_failing_reflectors(struct source_problems *s, const struct kube_source *source,
                                    struct finding_set *out)
{
    CLEANUP(strbuf_release) struct strbuf name = STRBUF_INIT(NAME_MAX_BYTES);

    for (size_t i = 0; i < kube_source_reflector_count(source); i++) {
        const struct reflector *r = kube_source_reflector(source, i);

        strbuf_reset(&name);
        reflector_append_name(r, &name);
        if (r->failure.warned) {
            add_failing_kind(s, r);
            if (!r->optional)
                add_source_finding(out, name.data,
                                   r->last_end == END_FORBIDDEN
                                       ? PROBLEM_REASON_DATA_INCOMPLETE_FORBIDDEN
                                       : PROBLEM_REASON_DATA_INCOMPLETE_FAILING,
                                   0);
        } else if (has_diverged(s, r)) {
            add_source_finding(out, name.data, PROBLEM_REASON_DATA_INCOMPLETE_DIVERGED, 0);
        }
    }
}

static void find_late_kinds(const struct kube_source *source, struct finding_set *out)
{
    CLEANUP(strbuf_release) struct strbuf name = STRBUF_INIT(NAME_MAX_BYTES);

    for (size_t i = 0; i < kube_source_missing_kind_count(source); i++) {
        const struct missing_kind *k = kube_source_missing_kind(source, i);

        if (!k->late || (k->reflector && k->reflector->failure.warned))
            continue;
        strbuf_reset(&name);
        append_resource_name_of(&name, k->api_version, k->kind);
        add_source_finding(out, name.data, PROBLEM_REASON_DATA_INCOMPLETE_LATE, 0);
    }
}

bool source_problems_core_is_readable(const struct source_problems *s)
{
    return !s->core_fails;
}

bool source_problems_is_unreadable(const void *context, const struct type *type)
{
    const struct source_problems *s = context;

    static const unsigned template_inputs =
        1U << CLASS_CLUSTER | 1U << CLASS_WORK | 1U << CLASS_OVERRIDE;
    enum object_class class = type->def->class;

    if (s->core_fails || (class == CLASS_TEMPLATE && s->failing_classes & template_inputs) ||
        (class == CLASS_POLICY && s->failing_classes & 1U << CLASS_OVERRIDE))
        return true;
    for (size_t i = 0; i < s->failing_count; i++) {
        if (strcmp(s->failing[i].kind, type->kind) == 0 &&
            strcmp(s->failing[i].api_version, type->api_version) == 0)
            return true;
    }
    return false;
}

/* ---- files ---- */

static void find_broken_files(const struct manifests *m, struct finding_set *out)
{
    const char *last = "";

    for (size_t i = 0; i < manifests_problem_count(m); i++) {
        struct manifest_problem p = manifests_problem(m, i);

        /* The problems of one file follow each other; the first one stands for all. */
        if (!problem_kind_blocks_evaluation(p.kind) || strcmp(p.path, last) == 0)
            continue;
        last = p.path;
        add_source_finding(out, p.path,
                           p.kind == PROBLEM_REJECTED ? PROBLEM_REASON_DATA_INCOMPLETE_REJECTED
                                                      : PROBLEM_REASON_DATA_INCOMPLETE_BROKEN_FILE,
                           0);
    }
}

static void find_duplicates(const struct manifests *m, struct finding_set *out)
{
    for (size_t i = 0; i < manifests_problem_count(m); i++) {
        const struct entry *object = manifests_problem(m, i).object;

        if (object)
            add_finding(out,
                        (struct external_subject){object->partition->type->api_version,
                                                  entry_kind(object), entry_ns(object),
                                                  object->name},
                        PROBLEM_REASON_DUPLICATE_OBJECT, 0);
    }
}

static void find_old_snapshot(struct source_problems *s, int64_t now_ms, struct finding_set *out)
{
    int64_t snapshot_ms = asset_source_snapshot_ms(s->sources.assets);
    int64_t allowed_ms = FIRST_EXPORT_MS;

    if (snapshot_ms == 0)
        return;
    if (s->snapshot_ms > 0 && snapshot_ms > s->snapshot_ms)
        s->interval_ms = snapshot_ms - s->snapshot_ms;
    s->snapshot_ms = snapshot_ms;
    if (s->interval_ms > 0)
        allowed_ms = 2 * s->interval_ms > HOUR_MS ? 2 * s->interval_ms : HOUR_MS;
    if (now_ms - snapshot_ms > allowed_ms)
        add_source_finding(out, "asset export", PROBLEM_REASON_DATA_INCOMPLETE_SNAPSHOT_OLD,
                           snapshot_ms + allowed_ms);
}

/* ---- update ---- */

void source_problems_update(struct source_problems *s, struct problems *ps, int64_t now_ms)
{
    struct finding_set fresh = {0};

    release_failing_kinds(s);
    if (s->sources.session) {
        const struct kube_source *source = kube_session_source(s->sources.session);

        find_failing_reflectors(s, source, &fresh);
        find_late_kinds(source, &fresh);
    }
    find_broken_files(s->sources.manifests, &fresh);
    find_duplicates(s->sources.manifests, &fresh);
    if (s->sources.assets)
        find_old_snapshot(s, now_ms, &fresh);
    replace_reported(s, &fresh, ps);
}

void source_problems_free(struct source_problems *s)
{
    if (!s)
        return;
    finding_set_release(&s->reported);
    release_failing_kinds(s);
    free(s->audits);
    free(s);
}
