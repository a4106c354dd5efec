/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/source_problems.h"

enum {
    NAME_MAX_BYTES = 4096,
    HOUR_MS = 60 * 60 * 1000,
    FIRST_EXPORT_MS = 25 * HOUR_MS, /* Age at which the only asset export seen is old. */
    INTERVALS_MAX = 5,              /* Last intervals of asset exports that are compared. */
};

/* A problem of a source. */
struct source_finding {
    char *api_version;
    char *kind;
    char *ns;
    char *name;
    enum problem_reason reason;
    int64_t since_ms; /* 0 if unknown. */
};

struct finding_set {
    struct source_finding *items;
    size_t count;
    size_t capacity;
};

/* Kind with objects that cannot be read as they are now. */
struct failing_kind {
    char *api_version;
    char *kind;
};

/* Times of the asset exports seen, in milliseconds since the epoch. */
struct export_times {
    int64_t last_ms;                     /* 0 before the first export. */
    int64_t intervals_ms[INTERVALS_MAX]; /* Ring of the last intervals. */
    size_t interval_count;               /* Number of intervals so far, including dropped ones. */
};

struct source_problems {
    struct source_set sources;
    struct finding_set reported;
    struct failing_kind *failing;
    size_t failing_count;
    unsigned failing_classes; /* Classes of the failing kinds that have been read before. */
    bool core_fails;          /* Policies or bindings cannot be read. */
    struct export_times exports;
};

struct source_problems *source_problems_new(struct source_set sources,
                                            const struct source_problems *last)
{
    struct source_problems *s = xcalloc(1, sizeof(*s));

    s->sources = sources;
    if (last && last->sources.assets && sources.assets &&
        strcmp(asset_source_path(last->sources.assets), asset_source_path(sources.assets)) == 0)
        s->exports = last->exports;
    return s;
}

/* ---- sets of problems ---- */

static void release_finding(struct source_finding *f)
{
    free(f->api_version);
    free(f->kind);
    free(f->ns);
    free(f->name);
}

static void finding_set_release(struct finding_set *set)
{
    for (size_t i = 0; i < set->count; i++)
        release_finding(&set->items[i]);
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
    set->items[set->count++] = (struct source_finding){xstrdup(subject.api_version),
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

static struct external_subject subject_of(const struct source_finding *f)
{
    return (struct external_subject){f->api_version, f->kind, f->ns, f->name};
}

/* Compares the subjects of two problems. */
static int compare_subjects(const void *a, const void *b)
{
    const struct source_finding *x = a, *y = b;
    int order = strcmp(x->name, y->name);

    order = order ? order : strcmp(x->kind, y->kind);
    order = order ? order : strcmp(x->ns, y->ns);
    return order ? order : strcmp(x->api_version, y->api_version);
}

/* Compares two problems by subject, and then by the precedence of the reasons. */
static int compare_findings(const void *a, const void *b)
{
    int order = compare_subjects(a, b);

    return order ? order
                 : (int)((const struct source_finding *)a)->reason -
                       (int)((const struct source_finding *)b)->reason;
}

/* Sorts the problems, and drops those of a subject that are not the first in precedence. */
static void settle_findings(struct finding_set *set)
{
    size_t kept = 0;

    if (set->count > 1)
        qsort(set->items, set->count, sizeof(*set->items), compare_findings);
    for (size_t i = 0; i < set->count; i++) {
        if (kept > 0 && compare_subjects(&set->items[kept - 1], &set->items[i]) == 0)
            release_finding(&set->items[i]);
        else
            set->items[kept++] = set->items[i];
    }
    set->count = kept;
}

/* Withdraws the problems of the last update that are not in `fresh`, and reports `fresh`. */
static void replace_reported(struct source_problems *s, struct finding_set *fresh,
                             struct problems *ps)
{
    size_t at = 0;

    settle_findings(fresh);
    for (size_t i = 0; i < s->reported.count; i++) {
        struct external_subject subject = subject_of(&s->reported.items[i]);

        while (at < fresh->count && compare_subjects(&fresh->items[at], &s->reported.items[i]) < 0)
            at++;
        if (at == fresh->count || compare_subjects(&fresh->items[at], &s->reported.items[i]) != 0)
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

/*
 * Returns the reason for data_incomplete; the count of reasons if there is none. Failures of
 * optional kinds are no reason, except those of Events about refused templates, which the exporter
 * needs where it may read them.
 */
static enum problem_reason failure_of(const struct reflector *r)
{
    if (r->failure.warned && r->optional &&
        (!reflector_reads_refusals(r) || r->last_end == END_FORBIDDEN))
        return PROBLEM_REASON_COUNT;
    if (r->failure.warned)
        return r->last_end == END_FORBIDDEN ? PROBLEM_REASON_DATA_INCOMPLETE_FORBIDDEN
                                            : PROBLEM_REASON_DATA_INCOMPLETE_FAILING;
    /* The missing kinds of the source do not include the Events about refused templates. */
    if (!r->synced && r->late && reflector_reads_refusals(r))
        return PROBLEM_REASON_DATA_INCOMPLETE_LATE;
    if (reflector_store_has_rejected(&r->objects))
        return PROBLEM_REASON_DATA_INCOMPLETE_REJECTED;
    return r->diverged ? PROBLEM_REASON_DATA_INCOMPLETE_DIVERGED : PROBLEM_REASON_COUNT;
}

static void find_failing_reflectors(struct source_problems *s, struct finding_set *out)
{
    CLEANUP(strbuf_release) struct strbuf name = STRBUF_INIT(NAME_MAX_BYTES);

    for (size_t i = 0; i < kube_source_reflector_count(s->sources.server); i++) {
        const struct reflector *r = kube_source_reflector(s->sources.server, i);
        enum problem_reason reason = failure_of(r);

        if (r->failure.warned)
            add_failing_kind(s, r);
        if (reason == PROBLEM_REASON_COUNT)
            continue;
        strbuf_reset(&name);
        reflector_append_name(r, &name);
        add_source_finding(out, name.data, reason, 0);
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
    for (size_t i = 0; i < manifests_problem_count(m); i++) {
        struct manifest_problem p = manifests_problem(m, i);

        if (problem_kind_blocks_evaluation(p.kind))
            add_source_finding(out, p.path,
                               p.kind == PROBLEM_REJECTED
                                   ? PROBLEM_REASON_DATA_INCOMPLETE_REJECTED
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
                        (struct external_subject){entry_type(object)->api_version,
                                                  entry_kind(object), entry_ns(object),
                                                  object->name},
                        PROBLEM_REASON_DUPLICATE_OBJECT, 0);
    }
}

/* ---- asset export ---- */

static int compare_times(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return (x > y) - (x < y);
}

/* Notes the time of the present export. An export that is older than the last one has no interval.
 */
static void note_export(struct export_times *e, int64_t snapshot_ms)
{
    if (e->last_ms > 0 && snapshot_ms > e->last_ms)
        e->intervals_ms[e->interval_count++ % INTERVALS_MAX] = snapshot_ms - e->last_ms;
    e->last_ms = snapshot_ms;
}

/*
 * Returns the age at which an export is old: twice the usual interval, the median of the last ones,
 * so that one export by hand changes nothing.
 */
static int64_t allowed_age_ms(const struct export_times *e)
{
    size_t count = e->interval_count < INTERVALS_MAX ? e->interval_count : INTERVALS_MAX;
    int64_t sorted_ms[INTERVALS_MAX];

    if (count == 0)
        return FIRST_EXPORT_MS;
    memcpy(sorted_ms, e->intervals_ms, count * sizeof(*sorted_ms));
    qsort(sorted_ms, count, sizeof(*sorted_ms), compare_times);
    return 2 * sorted_ms[count / 2] > HOUR_MS ? 2 * sorted_ms[count / 2] : HOUR_MS;
}

static void find_asset_problems(struct source_problems *s, int64_t now_ms, struct finding_set *out)
{
    const struct asset_source *assets = s->sources.assets;
    const char *path = asset_source_path(assets);
    int64_t snapshot_ms = asset_source_snapshot_ms(assets);
    int64_t allowed_ms;

    if (asset_source_is_broken(assets))
        add_source_finding(out, path, PROBLEM_REASON_DATA_INCOMPLETE_BROKEN_FILE, 0);
    if (asset_source_has_rejected(assets))
        add_source_finding(out, path, PROBLEM_REASON_DATA_INCOMPLETE_REJECTED, 0);
    if (snapshot_ms == 0)
        return;
    if (snapshot_ms != s->exports.last_ms)
        note_export(&s->exports, snapshot_ms);
    allowed_ms = allowed_age_ms(&s->exports);
    if (now_ms - snapshot_ms > allowed_ms)
        add_source_finding(out, path, PROBLEM_REASON_DATA_INCOMPLETE_SNAPSHOT_OLD,
                           snapshot_ms + allowed_ms);
}

/* ---- update ---- */

void source_problems_update(struct source_problems *s, struct problems *ps, int64_t now_ms)
{
    struct finding_set fresh = {0};

    release_failing_kinds(s);
    if (s->sources.server) {
        find_failing_reflectors(s, &fresh);
        find_late_kinds(s->sources.server, &fresh);
    }
    find_broken_files(s->sources.manifests, &fresh);
    find_duplicates(s->sources.manifests, &fresh);
    if (s->sources.assets)
        find_asset_problems(s, now_ms, &fresh);
    replace_reported(s, &fresh, ps);
}

void source_problems_free(struct source_problems *s)
{
    if (!s)
        return;
    finding_set_release(&s->reported);
    release_failing_kinds(s);
    free(s);
}
