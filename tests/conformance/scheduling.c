/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/rules/scheduling/scheduling.h"
#include "metrics/model/canonical_json.h"
#include "metrics/model/metadata.h"
#include "tests/conformance/conformance.h"

/* Judges of the vectors about affinity, division and scheduling. */

/* The Clusters of a vector, and the placements resolved with them for one release. */
struct plane {
    struct store *store;
    struct placements *placements;
    enum release release;
};

static void plane_init(struct plane *p, const cJSON *objects, enum release release)
{
    struct error err = {""};
    const cJSON *object;

    p->store = store_new(1);
    p->placements = placements_new(p->store, 1);
    p->release = release;
    placements_set_release(p->placements,
                           (struct release_range){release, release, RELEASE_GIVEN, true});
    cJSON_ArrayForEach (object, objects) {
        if (store_put(p->store, object, (struct origin){1, 1}, &err) == STORE_REJECTED)
            abort();
    }
    placements_mark_outdated(p->placements);
}

static void plane_release(struct plane *p)
{
    placements_free(p->placements);
    store_free(p->store);
}

static const char *canonical_placement(struct plane *p, const cJSON *placement)
{
    struct error err;
    struct decode d = {.strings = store_string_pool(p->store), .err = &err};

    return canonical_text(&d, placement, CANONICAL_PLACEMENT);
}

/* ---- affinity ---- */

static bool lists_name(const cJSON *names, const char *name)
{
    const cJSON *item;

    cJSON_ArrayForEach (item, names) {
        if (strcmp(item->valuestring, name) == 0)
            return true;
    }
    return false;
}

enum verdict judge_affinity(const cJSON *vector, enum release release, struct strbuf *why)
{
    CLEANUP(json_cleanup) cJSON *placement = cJSON_CreateObject();
    const struct resolved_placement *resolved;
    const char *text;
    size_t wrong = 0;
    struct plane p;

    plane_init(&p, json_get(vector, "objects"), release);
    cJSON_AddItemToObject(placement, "clusterAffinity",
                          cJSON_Duplicate(json_get(vector, "clusterAffinity"), true));
    text = canonical_placement(&p, placement);
    resolved = placements_ref(p.placements, text);

    const struct cluster_set *set = resolved_group(resolved, 0, release);

    for (uint32_t i = 0; i < set->count; i++) {
        if (lists_name(json_get(vector, "expect"), set->members[i].name))
            continue;
        strbuf_addf(why, "%s matches here only; ", set->members[i].name);
        wrong++;
    }
    if (set->count - wrong != (size_t)cJSON_GetArraySize(json_get(vector, "expect"))) {
        strbuf_addf(why, "%" PRIu32 " clusters match, not %d", set->count,
                    cJSON_GetArraySize(json_get(vector, "expect")));
        wrong++;
    }
    placements_drop(p.placements, resolved);
    intern_drop(store_string_pool(p.store), text);
    plane_release(&p);
    return wrong ? VERDICT_WRONG : VERDICT_RIGHT;
}

/* ---- scheduling ---- */

static int compare_targets(const void *a, const void *b)
{
    return strcmp(((const struct target_cluster *)a)->name,
                  ((const struct target_cluster *)b)->name);
}

/* Result of the scheduler as text, "member1:2 member2:1 Success", with the affinity group. */
static void print_result(const struct binding *b, const struct schedule_result *r,
                         const struct placement *placement, struct strbuf *out)
{
    static const char *const reasons[] = {
        [SCHEDULED_NEVER] = "never",
        [SCHEDULED_TRUE] = "Success",
        [SCHEDULED_NO_CLUSTER_FIT] = "NoClusterFit",
        [SCHEDULED_UNSCHEDULABLE] = "Unschedulable",
        [SCHEDULED_QUOTA_EXCEEDED] = "QuotaExceeded",
        [SCHEDULED_ERROR] = "SchedulerError",
        [SCHEDULED_OTHER] = "other",
    };
    bool stays = !r->runs || r->scheduled == SCHEDULED_ERROR;
    const struct target_cluster *clusters = stays ? b->clusters : r->targets.clusters;
    uint32_t count = stays ? b->cluster_count : r->targets.count;
    CLEANUP(free_cleanup) struct target_cluster *sorted = xcalloc(count + 1, sizeof(*sorted));
    const char *group = binding_rare(b)->observed_affinity;

    if (count > 0)
        memcpy(sorted, clusters, count * sizeof(*sorted));
    qsort(sorted, count, sizeof(*sorted), compare_targets);
    if (r->runs && r->scheduled == SCHEDULED_TRUE && placement->has_groups)
        group = placement->groups[r->group].name;
    strbuf_adds(out, r->runs ? "called" : "not called");
    for (uint32_t i = 0; i < count; i++)
        strbuf_addf(out, " %s:%" PRId32, sorted[i].name, sorted[i].replicas);
    strbuf_addf(out, " %s", r->runs ? reasons[r->scheduled] : "Success");
    strbuf_addf(out, " %s", group ? group : "-");
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(json_str(*(const cJSON *const *)a, "name", ""),
                  json_str(*(const cJSON *const *)b, "name", ""));
}

/* Prints an answer of Karmada like print_result(). */
static void print_answer(const cJSON *answer, struct strbuf *out)
{
    const cJSON *clusters = json_get(answer, "clusters");
    size_t count = (size_t)cJSON_GetArraySize(clusters);
    const cJSON **sorted = xcalloc(count + 1, sizeof(*sorted));

    for (size_t i = 0; i < count; i++)
        sorted[i] = cJSON_GetArrayItem(clusters, (int)i);
    qsort(sorted, count, sizeof(*sorted), compare_names);
    strbuf_adds(out, cJSON_IsTrue(json_get(answer, "called")) ? "called" : "not called");
    for (size_t i = 0; i < count; i++)
        strbuf_addf(out, " %s:%d", json_str(sorted[i], "name", ""),
                    (int)json_int(sorted[i], "replicas", 0));
    strbuf_addf(out, " %s %s", json_str(answer, "reason", ""), json_str(answer, "affinity", "-"));
    free(sorted);
}

static enum verdict compare_with_answers(const cJSON *answers, const char *actual,
                                         struct strbuf *why)
{
    CLEANUP(strbuf_release) struct strbuf expected = STRBUF_INIT(4096);
    int count = cJSON_GetArraySize(answers);

    print_answer(cJSON_GetArrayItem(answers, 0), &expected);
    if (count == 1 && strcmp(actual, expected.data) == 0)
        return VERDICT_RIGHT;
    if (count > 1)
        strbuf_addf(why, "Karmada draws lots between %d results, such as ", count);
    strbuf_addf(why, "'%s', not '%s'", expected.data, actual);
    return VERDICT_WRONG;
}

static gate_set gates_of_vector(const cJSON *vector, enum release release)
{
    CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(1024);
    gate_set gates = 0;
    struct error err;
    const cJSON *gate;

    cJSON_ArrayForEach (gate, json_get(vector, "gates"))
        strbuf_addf(&text, "%s%s=true", text.len > 0 ? "," : "", gate->valuestring);
    if (!gates_parse(text.data, release, &gates, &err))
        abort();
    return gates;
}

/* Returns true if the answer lists the cluster as a target. */
static bool answer_has_cluster(const cJSON *answer, const char *name)
{
    const cJSON *item;

    cJSON_ArrayForEach (item, json_get(answer, "clusters")) {
        if (strcmp(json_str(item, "name", ""), name) == 0)
            return true;
    }
    return false;
}

/* Returns the affinity group with which an answer was computed; the first one without a name. */
static uint32_t group_of_answer(const struct scheduling *s, const cJSON *answer)
{
    const struct placement *placement = s->resolved->placement;
    const char *name = json_str(answer, "affinity", "");

    for (uint32_t i = 0; placement->has_groups && i < placement->group_count; i++) {
        if (placement->groups[i].name && strcmp(placement->groups[i].name, name) == 0)
            return i;
    }
    return 0;
}

/* Returns true if every selected cluster becomes a target. */
static bool places_all_passing(const struct scheduling *s, enum release release)
{
    const struct placement *placement = s->resolved->placement;

    return placement->spread_count == 0 &&
           (!assigns_replicas(s->binding, release) ||
            (placement->division == DIVISION_DUPLICATED && s->binding->replicas > 0));
}

/*
 * Compares the clusters that pass all filters with an answer: each target passes, without selection
 * each passing cluster is a target, and without a fitting cluster none passes in the first group.
 */
static enum verdict judge_passing(const struct scheduling *s, enum release release,
                                  const cJSON *answer, struct strbuf *why)
{
    const struct listing *clusters = placements_clusters(s->placements);
    const char *reason = json_str(answer, "reason", "");
    uint32_t group = strcmp(reason, "Success") == 0 ? group_of_answer(s, answer)
                                                    : scheduling_first_group(s, release);
    bool wants_none = strcmp(reason, "NoClusterFit") == 0;

    if (!cJSON_IsTrue(json_get(answer, "called")) || s->resolved->placement->unreadable ||
        (!wants_none && strcmp(reason, "Success") != 0))
        return VERDICT_RIGHT;
    for (size_t i = 0; i < clusters->count; i++) {
        const char *name = clusters->entries[i]->name;
        enum cluster_filter filter = scheduling_filter(s, release, group, clusters->entries[i]);
        bool target = answer_has_cluster(answer, name), passes = filter == FILTER_COUNT;

        if (filter == FILTER_WORKLOAD_AFFINITY || target == passes ||
            (passes && !wants_none && !places_all_passing(s, release)))
            continue;
        strbuf_addf(why, "%s %s the filters here only; ", name, passes ? "passes" : "fails");
        return VERDICT_WRONG;
    }
    return VERDICT_RIGHT;
}

enum verdict judge_schedule(const cJSON *vector, enum release release, struct strbuf *why)
{
    CLEANUP(strbuf_release) struct strbuf actual = STRBUF_INIT(4096);
    enum verdict verdict = VERDICT_UNDETERMINED;
    const struct resolved_placement *applied = NULL;
    struct error err = {""};
    struct schedule_result result;
    struct plane p;

    plane_init(&p, json_get(vector, "clusters"), release);

    struct intern *strings = store_string_pool(p.store);
    struct decode d = {.strings = strings, .err = &err};
    struct binding *b = binding_decode(&d, json_get(vector, "binding"));

    if (!b)
        abort();

    struct scheduling s = {
        .placements = p.placements,
        .binding = b,
        .resolved = placements_ref(p.placements, b->propagation->placement),
        .gates = gates_of_vector(vector, release),
        .keeps_empty = cJSON_IsTrue(json_get(vector, "emptyPropagation")),
    };

    if (b->was_scheduled)
        applied = placements_ref(p.placements, b->applied_placement);
    s.applied = applied ? applied->placement : NULL;
    scheduling_run(&s, release, &result);
    if (result.runs && !result.targets.determined) {
        strbuf_adds(why, undetermined_reason_names[result.targets.reason]);
    } else {
        print_result(b, &result, s.resolved->placement, &actual);
        verdict = compare_with_answers(json_get(vector, "answers"), actual.data, why);
    }
    if (judge_passing(&s, release, cJSON_GetArrayItem(json_get(vector, "answers"), 0), why) ==
        VERDICT_WRONG)
        verdict = VERDICT_WRONG;
    schedule_result_release(strings, &result);
    placements_drop(p.placements, applied);
    placements_drop(p.placements, s.resolved);
    binding_release(strings, b);
    plane_release(&p);
    return verdict;
}

/* ---- filters ---- */

enum verdict judge_filters(const cJSON *vector, enum release release, struct strbuf *why)
{
    enum verdict verdict = VERDICT_RIGHT;
    struct error err = {""};
    struct plane p;

    plane_init(&p, json_get(vector, "clusters"), release);

    struct intern *strings = store_string_pool(p.store);
    struct decode d = {.strings = strings, .err = &err};
    struct binding *b = binding_decode(&d, json_get(vector, "binding"));
    const cJSON *answer;

    if (!b)
        abort();

    struct scheduling s = {
        .placements = p.placements,
        .binding = b,
        .resolved = placements_ref(p.placements, b->propagation->placement),
    };

    cJSON_ArrayForEach (answer, json_get(vector, "filters")) {
        const struct entry *cluster = placements_find_cluster(p.placements, answer->string);
        enum cluster_filter filter =
            scheduling_filter(&s, release, scheduling_first_group(&s, release), cluster);
        const char *name = filter == FILTER_COUNT ? "" : cluster_filter_names[filter];

        if (strcmp(name, answer->valuestring) == 0)
            continue;
        strbuf_addf(why, "%s: '%s', not '%s'; ", answer->string, answer->valuestring, name);
        verdict = VERDICT_WRONG;
    }
    placements_drop(p.placements, s.resolved);
    binding_release(strings, b);
    plane_release(&p);
    return verdict;
}

enum verdict judge_schedule_after_change(const cJSON *vector, enum release release,
                                         struct strbuf *why)
{
    return judge_schedule(vector, release, why);
}

/* ---- division ---- */

/* Returns the replicas by cluster as an answer for compare_with_answers(). */
static cJSON *answer_of_replicas(const cJSON *replicas, bool fails)
{
    cJSON *answer = cJSON_CreateObject();
    cJSON *clusters = cJSON_AddArrayToObject(answer, "clusters");
    const cJSON *item;

    cJSON_AddBoolToObject(answer, "called", true);
    cJSON_AddStringToObject(answer, "reason", fails ? "NoClusterFit" : "Success");
    cJSON_ArrayForEach (item, replicas) {
        cJSON *target = cJSON_CreateObject();

        cJSON_AddStringToObject(target, "name", item->string);
        cJSON_AddNumberToObject(target, "replicas", item->valuedouble);
        cJSON_AddItemToArray(clusters, target);
    }
    return answer;
}

static cJSON *answers_of_division(const cJSON *vector)
{
    cJSON *answers = cJSON_CreateArray();
    const cJSON *any = json_get(vector, "expectAny");
    const cJSON *expect = json_get(vector, "expect");
    const cJSON *item;

    cJSON_ArrayForEach (item, any)
        cJSON_AddItemToArray(answers, answer_of_replicas(item, false));
    if (cJSON_GetArraySize(answers) == 0)
        cJSON_AddItemToArray(answers, answer_of_replicas(expect, !expect || cJSON_IsNull(expect)));
    return answers;
}

enum verdict judge_division(const cJSON *vector, enum release release, struct strbuf *why)
{
    CLEANUP(strbuf_release) struct strbuf actual = STRBUF_INIT(4096);
    CLEANUP(json_cleanup) cJSON *answers = answers_of_division(vector);
    static const struct object_scope scope = {"apps/v1", "Deployment", ""};
    const struct binding b = {
        .scope = &scope,
        .replicas = (int32_t)json_int(vector, "replicas", 0),
        .uid_hash = uid_hash(json_str(vector, "uid", "")),
        .has_requirements = true,
    };
    enum verdict verdict = VERDICT_UNDETERMINED;
    struct schedule_result result;
    struct scheduling s = {.binding = &b};
    const char *text;
    struct plane p;

    plane_init(&p, json_get(vector, "objects"), release);
    text = canonical_placement(&p, json_get(vector, "placement"));
    s.placements = p.placements;
    s.resolved = placements_ref(p.placements, text);
    scheduling_place(&s, release, &result);
    if (!result.targets.determined) {
        strbuf_adds(why, undetermined_reason_names[result.targets.reason]);
    } else {
        print_result(&b, &result, s.resolved->placement, &actual);
        verdict = compare_with_answers(answers, actual.data, why);
    }
    schedule_result_release(store_string_pool(p.store), &result);
    placements_drop(p.placements, s.resolved);
    intern_drop(store_string_pool(p.store), text);
    plane_release(&p);
    return verdict;
}
