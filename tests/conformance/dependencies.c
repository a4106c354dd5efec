/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/conformance/conformance.h"

#include "metrics/base/json.h"
#include "metrics/rules/engine.h"

static const char *const members[DEPENDENCY_FIELD_COUNT] = {
    [DEPENDENCY_CONFLICT_RESOLUTION] = "conflictResolution",
    [DEPENDENCY_PRESERVE] = "preserveResourcesOnDeletion",
};
static const char event_start[] = "Warning DependencyPolicyConflict ";

enum { MESSAGE_BYTES = 1024, SEED = 1 };

/* Returns the value of a field in an answer; an unset value counts as false (rules/dependency.h).
 */
static bool value_in_answer(const cJSON *answer, enum dependency_field field)
{
    if (field == DEPENDENCY_CONFLICT_RESOLUTION)
        return strcmp(json_str(answer, members[field], "Abort"), "Overwrite") == 0;
    return json_bool(answer, members[field], false);
}

static enum verdict worse_of(enum verdict a, enum verdict b)
{
    return a > b ? a : b;
}

/* Judges the value of one field. The answers are those of all orders of reconciling referrers. */
static enum verdict judge_field(const struct dependency_decision *d, enum dependency_field field,
                                const cJSON *answers, struct strbuf *why)
{
    enum dependency_outcome outcome = d->fields[field].outcome;
    const cJSON *answer;

    if (!dependency_outcome_is_certain(outcome)) {
        strbuf_addf(why, " %s: %s;", dependency_field_names[field],
                    dependency_outcome_reasons[outcome]);
        return VERDICT_UNDETERMINED;
    }
    cJSON_ArrayForEach (answer, answers) {
        bool expected = value_in_answer(answer, field);

        if (expected == (outcome == DEPENDENCY_OUTCOME_TRUE))
            continue;
        strbuf_addf(why, " %s: Karmada %s, the rules %s;", dependency_field_names[field],
                    dependency_value_name(field, expected),
                    dependency_value_name(field, !expected));
        return VERDICT_WRONG;
    }
    return VERDICT_RIGHT;
}

/* Judges which conflicts Karmada reports in an Event, in releases that resolve them. */
static enum verdict judge_event(const struct dependency_decision *d, enum release release,
                                const cJSON *answer, struct strbuf *why)
{
    CLEANUP(strbuf_release) struct strbuf message = STRBUF_INIT(MESSAGE_BYTES);
    const char *event = json_str(answer, "event", "");
    unsigned conflicts = dependency_conflicts(d);

    if (conflicts && d->dangling == 0 && release_has(release, BEHAVIOUR_RESOLVES_DEPENDENCIES)) {
        strbuf_adds(&message, event_start);
        conflict_event_message(conflicts, &message);
    }
    if (strcmp(event, message.data) == 0)
        return VERDICT_RIGHT;
    strbuf_addf(why, " Event: Karmada '%s', the rules '%s';", event, message.data);
    return VERDICT_WRONG;
}

static enum verdict judge_binding(const struct store *store, enum release release,
                                  const cJSON *expect, struct strbuf *why)
{
    const struct identity id = {"work.karmada.io/v1alpha2", "ResourceBinding",
                                json_str(expect, "namespace", ""), json_str(expect, "name", "")};
    const struct entry *binding = store_find(store, &id);
    const struct dependency_decision *d = binding ? dependency_decision(binding) : NULL;
    const cJSON *answers = json_array(expect, "answers");
    enum verdict verdict = VERDICT_RIGHT;

    if (!d || cJSON_GetArraySize(answers) == 0) {
        strbuf_addf(why, " %s is no dependency;", id.name);
        return VERDICT_WRONG;
    }
    bool blocked = d->dangling > 0 && release_has(release, BEHAVIOUR_REQUIRES_ALL_REFERRERS);
    const cJSON *first = cJSON_GetArrayItem(answers, 0);

    if ((int64_t)d->referrers != json_int(expect, "referrers", -1) ||
        blocked != json_bool(first, "error", false)) {
        strbuf_addf(why, " %s: %u referrers, %smissing;", id.name, d->referrers,
                    blocked ? "" : "none ");
        verdict = VERDICT_WRONG;
    }
    for (unsigned field = 0; field < DEPENDENCY_FIELD_COUNT; field++)
        verdict = worse_of(verdict, judge_field(d, field, answers, why));
    return worse_of(verdict, judge_event(d, release, first, why));
}

enum verdict judge_dependency(const cJSON *vector, enum release release, struct strbuf *why)
{
    struct rules_options options = rules_options_default;
    struct store *store = store_new(SEED);
    enum verdict verdict = VERDICT_RIGHT;
    struct engine *engine;
    const cJSON *item;
    struct error err;

    options.karmada_version = release_name(release);
    engine = engine_new(store, &options, SEED, &err);
    cJSON_ArrayForEach (item, json_array(vector, "objects")) {
        if (store_put(store, item, (struct origin){0}, &err) == STORE_REJECTED)
            verdict = VERDICT_WRONG;
    }
    while (!engine_run(engine, 0, SIZE_MAX))
        continue;
    cJSON_ArrayForEach (item, json_array(vector, "expect"))
        verdict = worse_of(verdict, judge_binding(store, release, item, why));
    engine_free(engine);
    store_free(store);
    return verdict;
}
