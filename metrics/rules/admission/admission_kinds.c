/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

#include "metrics/base/number.h"
#include "metrics/base/shown.h"
#include "metrics/model/metadata.h"
#include "metrics/rules/admission/admission_place.h"

/*
 * Rules of Karmada's webhooks for kinds that are no policies, equal in all releases. Only rules
 * that need the object alone, and the flags of no installation, are here. Values of a wrong type
 * are left to the schema.
 */

/* Elements of a list that are compared with each other: comparing all takes too long. */
enum { TAINTS_COMPARED = 1000, RESOURCES_COMPARED = 100 };

/* Returns NAN if the value is no number: all comparisons are then false. */
static double number_at(const struct place *p)
{
    const cJSON *value = p->value;

    return value && cJSON_IsNumber(value) ? value->valuedouble : NAN;
}

static bool is_word(const char *word, const char *const *words, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(word, words[i]) == 0)
            return true;
    }
    return false;
}

/* Returns true if the text is a name of a DNS label: lower-case letters, digits and "-". */
static bool is_dns_label(const char *text)
{
    enum { LABEL_MAX = 63 };

    return strlen(text) <= LABEL_MAX && !strchr(text, '.') && object_name_is_valid(text);
}

/* Refuses a name that no Cluster can have (Karmada: ValidateClusterName). */
static void check_cluster_name(struct review *r, const struct place *at)
{
    enum { CLUSTER_NAME_MAX = 48 };
    const char *name = cJSON_GetStringValue(at->value);

    if (name && strlen(name) > CLUSTER_NAME_MAX)
        review_refuse(r, at, at->releases, "must have at most %d characters", CLUSTER_NAME_MAX);
    else if (name && !is_dns_label(name))
        review_refuse(r, at, at->releases, "\"%s\" is no valid name of a Cluster",
                      shown(name).text);
}

/* Refuses a taint with the key and effect of a taint before it. */
static void check_unique_taint(struct review *r, const struct place *taint)
{
    const cJSON *other;

    if (taint->index >= TAINTS_COMPARED)
        return;
    cJSON_ArrayForEach (other, taint->parent->value) {
        if (other == taint->item)
            return;
        if (strcmp(json_str(other, "key", ""), json_str(taint->value, "key", "")) != 0 ||
            strcmp(json_str(other, "effect", ""), json_str(taint->value, "effect", "")) != 0)
            continue;
        review_refuse(r, taint, taint->releases, "has the key and effect of another taint");
        return;
    }
}

/* ---- Cluster (Karmada: pkg/apis/cluster/validation, ValidateCluster) ---- */

/* place_next_element() needs rows of crd_fields, which has none for Clusters. */
static bool next_unlisted_element(const struct place *list, struct place *element)
{
    const cJSON *item = element->item                ? element->item->next
                        : cJSON_IsArray(list->value) ? list->value->child
                                                     : NULL;

    *element = (struct place){.parent = list,
                              .index = element->item ? element->index + 1 : 0,
                              .item = item,
                              .value = item,
                              .releases = list->releases};
    return item != NULL;
}

static const char *unlisted_text(const struct place *p, const char *name)
{
    return json_str(p->value, name, "");
}

static void check_label_value(struct review *r, const struct place *at)
{
    const char *text = cJSON_GetStringValue(at->value);

    if (text && !label_value_is_valid(text))
        review_refuse(r, at, at->releases, "\"%s\" is no valid label value", shown(text).text);
}

/* Refuses a reference to a Secret without namespace or name. */
static void check_secret(struct review *r, const struct place *spec, const char *key)
{
    static const char *const members[] = {"namespace", "name"};
    struct place secret = place_unlisted_member(spec, key);

    for (size_t i = 0; secret.value && i < ARRAY_LEN(members); i++) {
        struct place at = place_unlisted_member(&secret, members[i]);

        if (!*unlisted_text(&secret, members[i]))
            review_refuse(r, &at, at.releases, "is required");
    }
}

static void check_locations(struct review *r, const struct place *spec)
{
    static const char *const keys[] = {"provider", "region", "zone"};
    struct place zones = place_unlisted_member(spec, "zones");
    struct place e = {0};

    for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
        struct place at = place_unlisted_member(spec, keys[i]);

        check_label_value(r, &at);
    }
    while (next_unlisted_element(&zones, &e))
        check_label_value(r, &e);
    if (*unlisted_text(spec, "zone") && place_has_elements(&zones))
        review_refuse(r, &zones, zones.releases, "must not be set with zone");
}

static void check_cluster_taints(struct review *r, const struct place *spec)
{
    static const char *const effects[] = {"NoSchedule", "NoExecute"};
    struct place taints = place_unlisted_member(spec, "taints");
    struct place e = {0};

    while (next_unlisted_element(&taints, &e)) {
        struct place key = place_unlisted_member(&e, "key");
        struct place value = place_unlisted_member(&e, "value");
        struct place effect = place_unlisted_member(&e, "effect");
        const char *word = unlisted_text(&e, "effect");

        if (!label_key_is_valid(unlisted_text(&e, "key")))
            review_refuse(r, &key, key.releases, "\"%s\" is no valid label key",
                          shown(unlisted_text(&e, "key")).text);
        check_label_value(r, &value);
        if (!is_word(word, effects, ARRAY_LEN(effects)))
            review_refuse(r, &effect, effect.releases,
                          "must be NoSchedule or NoExecute, not \"%s\"", shown(word).text);
        check_unique_taint(r, &e);
    }
}

void cluster_review(struct review *r, const struct place *root)
{
    struct place metadata = place_unlisted_member(root, "metadata");
    struct place name = place_unlisted_member(&metadata, "name");
    struct place spec = place_unlisted_member(root, "spec");
    struct place mode = place_unlisted_member(&spec, "syncMode");
    const char *word = unlisted_text(&spec, "syncMode");

    check_cluster_name(r, &name);
    if (!*word)
        review_refuse(r, &mode, mode.releases, "is required: Push or Pull");
    else if (strcmp(word, "Push") != 0 && strcmp(word, "Pull") != 0)
        review_refuse(r, &mode, mode.releases, "must be Push or Pull, not \"%s\"",
                      shown(word).text);
    check_secret(r, &spec, "secretRef");
    check_secret(r, &spec, "impersonatorSecretRef");
    check_locations(r, &spec);
    check_cluster_taints(r, &spec);
}

/* ---- FederatedResourceQuota (Karmada: pkg/webhook/federatedresourcequota) ---- */

static bool is_quota_resource(const char *name)
{
    static const char *const names[] = {
        "cpu",
        "memory",
        "ephemeral-storage",
        "requests.cpu",
        "requests.memory",
        "requests.storage",
        "requests.ephemeral-storage",
        "limits.cpu",
        "limits.memory",
        "limits.ephemeral-storage",
        "pods",
        "resourcequotas",
        "services",
        "replicationcontrollers",
        "secrets",
        "persistentvolumeclaims",
        "configmaps",
        "services.nodeports",
        "services.loadbalancers",
    };

    if (strchr(name, '/'))
        return label_key_is_valid(name);
    return is_word(name, names, ARRAY_LEN(names)) || strncmp(name, "hugepages-", 10) == 0 ||
           strncmp(name, "requests.hugepages-", 19) == 0;
}

/* Sets `amount` to a quantity; returns false if the value is none. */
static bool read_amount(const cJSON *value, double *amount)
{
    if (cJSON_IsNumber(value)) {
        *amount = value->valuedouble;
        return true;
    }
    return cJSON_IsString(value) && parse_quantity(value->valuestring, amount);
}

/* Returns the place of a member of a map; a search by its name would visit all others. */
static struct place place_of_value(const struct place *map, const cJSON *member)
{
    return (struct place){.parent = map,
                          .key = member->string,
                          .item = member,
                          .value = member,
                          .releases = map->releases};
}

/* Refuses resources that no quota has, and amounts that are no quantities or negative. */
static void check_amounts(struct review *r, const struct place *amounts)
{
    const cJSON *member;

    cJSON_ArrayForEach (member, json_object_or_null(amounts->value)) {
        struct place at = place_of_value(amounts, member);
        double amount = 0;

        if (cJSON_IsNull(member))
            continue;
        if (!is_quota_resource(member->string))
            review_refuse(r, &at, at.releases,
                          "is no resource of a quota, such as cpu, requests.memory or example.com/"
                          "gpu");
        if (!read_amount(member, &amount))
            review_refuse(r, &at, at.releases, "must be a quantity such as 500m or 1.5Gi");
        else if (amount < 0)
            review_refuse(r, &at, at.releases, "must not be negative");
    }
}

/* Returns the sum of the static assignments of a resource. */
static double sum_assignments(const struct place *assignments, const char *resource)
{
    struct place e = {0};
    double sum = 0, amount;

    while (place_next_element(assignments, &e)) {
        if (read_amount(json_get(json_get(e.value, "hard"), resource), &amount))
            sum += amount;
    }
    return sum;
}

static void check_assignment(struct review *r, const struct place *assignment,
                             const struct place *overall)
{
    struct place name = place_member(assignment, "clusterName");
    struct place hard = place_member(assignment, "hard");
    const cJSON *member;

    check_cluster_name(r, &name);
    check_amounts(r, &hard);
    cJSON_ArrayForEach (member, json_object_or_null(hard.value)) {
        struct place at = place_of_value(&hard, member);

        if (!json_get(overall->value, member->string))
            review_refuse(r, &at, at.releases, "needs an amount in spec.overall");
    }
}

static void check_quota(struct review *r, const struct place *spec)
{
    const double rounding = 1 + 1e-9;
    struct place overall = place_member(spec, "overall");
    struct place assignments = place_member(spec, "staticAssignments");
    struct place e = {0};
    const cJSON *member;

    check_amounts(r, &overall);
    if (cJSON_GetArraySize(overall.value) > RESOURCES_COMPARED)
        return;
    while (place_next_element(&assignments, &e))
        check_assignment(r, &e, &overall);
    cJSON_ArrayForEach (member, json_object_or_null(overall.value)) {
        struct place at = place_of_value(&overall, member);
        double amount;

        if (read_amount(member, &amount) &&
            sum_assignments(&assignments, member->string) > amount * rounding)
            review_refuse(r, &at, at.releases, "must be at least the sum of staticAssignments");
    }
}

/* ---- ClusterTaintPolicy (Karmada: pkg/webhook/clustertaintpolicy) ---- */

static void check_taints(struct review *r, const struct place *spec)
{
    struct place taints = place_member(spec, "taints");
    struct place e = {0};

    while (place_next_element(&taints, &e))
        check_unique_taint(r, &e);
}

/* ---- FederatedHPA (Karmada: pkg/util/lifted, ValidateFederatedHPA) ---- */

/* Refuses an empty kind or name of a reference; the schema refuses absent ones. */
static void check_reference(struct review *r, const struct place *parent, const char *key)
{
    static const char *const members[] = {"kind", "name"};
    struct place reference = place_member(parent, key);

    for (size_t i = 0; i < ARRAY_LEN(members); i++) {
        struct place at = place_member(&reference, members[i]);
        const char *text = cJSON_GetStringValue(at.value);

        if (text && !*text)
            review_refuse(r, &at, at.releases, "is required");
        else if (text && (strpbrk(text, "/%") || strcmp(text, ".") == 0 || strcmp(text, "..") == 0))
            review_refuse(r, &at, at.releases, "must not be \"%s\"", shown(text).text);
    }
}

/* Refuses a number outside the limits; `name` may be absent. */
static void check_limits(struct review *r, const struct place *parent, const char *name, int least,
                         int most)
{
    struct place at = place_member(parent, name);

    if (number_at(&at) < least)
        review_refuse(r, &at, at.releases, "must be at least %d", least);
    else if (number_at(&at) > most)
        review_refuse(r, &at, at.releases, "must be at most %d", most);
}

static void check_scaling_rules(struct review *r, const struct place *behavior, const char *key)
{
    enum { WINDOW_MAX_S = 3600, PERIOD_MAX_S = 1800 };
    static const char *const selections[] = {"Max", "Min", "Disabled"};
    static const char *const types[] = {"Pods", "Percent"};
    struct place rules = place_member(behavior, key);
    struct place select = place_member(&rules, "selectPolicy");
    struct place policies = place_member(&rules, "policies");
    struct place e = {0};

    check_limits(r, &rules, "stabilizationWindowSeconds", 0, WINDOW_MAX_S);
    if (cJSON_IsString(select.value) &&
        !is_word(select.value->valuestring, selections, ARRAY_LEN(selections)))
        review_refuse(r, &select, select.releases, "must be Max, Min or Disabled, not \"%s\"",
                      shown(select.value->valuestring).text);
    while (place_next_element(&policies, &e)) {
        struct place type = place_member(&e, "type");

        if (cJSON_IsString(type.value) &&
            !is_word(type.value->valuestring, types, ARRAY_LEN(types)))
            review_refuse(r, &type, type.releases, "must be Pods or Percent, not \"%s\"",
                          shown(type.value->valuestring).text);
        check_limits(r, &e, "value", 1, INT32_MAX);
        check_limits(r, &e, "periodSeconds", 1, PERIOD_MAX_S);
    }
}

/* Refuses a target by utilization that has neither or both of the values. */
static void check_resource_target(struct review *r, const struct place *source)
{
    struct place target = place_member(source, "target");
    bool utilization = place_member(&target, "averageUtilization").value != NULL;
    bool value = place_member(&target, "averageValue").value != NULL;

    if (target.value && utilization == value)
        review_refuse(r, &target, target.releases,
                      "must have either averageUtilization or averageValue");
}

static void check_metric(struct review *r, const struct place *metric)
{
    static const struct {
        const char *type;
        const char *member;
    } sources[] = {
        {"Object", "object"},
        {"Pods", "pods"},
        {"Resource", "resource"},
        {"ContainerResource", "containerResource"},
    };
    struct place type = place_member(metric, "type");
    const char *name = place_text(metric, "type");
    bool known = false;

    for (size_t i = 0; i < ARRAY_LEN(sources); i++) {
        struct place source = place_member(metric, sources[i].member);
        bool is_own = strcmp(name, sources[i].type) == 0;

        known |= is_own;
        if (is_own && !source.value)
            review_refuse(r, &source, source.releases, "is required with type %s", name);
        if (!is_own && source.value)
            review_refuse(r, &source, source.releases, "must not be set with type %s",
                          shown(name).text);
        if (is_own && strstr(sources[i].type, "Resource"))
            check_resource_target(r, &source);
    }
    if (cJSON_IsString(type.value) && !known)
        review_refuse(r, &type, type.releases,
                      "must be Object, Pods, Resource or ContainerResource, not \"%s\"",
                      shown(name).text);
}

static void check_federated_hpa(struct review *r, const struct place *spec)
{
    struct place least = place_member(spec, "minReplicas");
    struct place most = place_member(spec, "maxReplicas");
    struct place metrics = place_member(spec, "metrics");
    struct place behavior = place_member(spec, "behavior");
    struct place e = {0};

    check_limits(r, spec, "minReplicas", 1, INT32_MAX);
    check_limits(r, spec, "maxReplicas", 1, INT32_MAX);
    if (number_at(&most) < number_at(&least))
        review_refuse(r, &most, most.releases, "must be at least minReplicas");
    check_reference(r, spec, "scaleTargetRef");
    while (place_next_element(&metrics, &e))
        check_metric(r, &e);
    check_scaling_rules(r, &behavior, "scaleUp");
    check_scaling_rules(r, &behavior, "scaleDown");
}

/* ---- CronFederatedHPA (Karmada: pkg/webhook/cronfederatedhpa) ---- */

/* Returns true if a field of a schedule can be valid; a number must be within its limits. */
static bool is_cron_field(const char *field, size_t len, size_t index, size_t count)
{
    enum { FIELDS = 5 };
    static const int limits[FIELDS][2] = {{0, 59}, {0, 23}, {1, 31}, {1, 12}, {0, 7}};
    size_t digits = strspn(field, "0123456789");
    int number = 0;

    for (size_t i = 0; i < len; i++) {
        if (!strchr("0123456789*/,-?#", field[i]) && !(field[i] >= 'a' && field[i] <= 'z') &&
            !(field[i] >= 'A' && field[i] <= 'Z'))
            return false;
        number = number < 10000 ? number * 10 + field[i] - '0' : number;
    }
    return digits != len || count != FIELDS ||
           (number >= limits[index][0] && number <= limits[index][1]);
}

/*
 * Returns true if the text can be a cron schedule: a tag such as @daily, or five fields, with
 * seconds and years six or seven. Names and lists in the fields are not checked.
 */
static bool may_be_schedule(const char *text)
{
    enum { FIELDS_MIN = 5, FIELDS_MAX = 7 };
    static const char spaces[] = " \t";
    size_t count = 0, index = 0;

    text += strspn(text, spaces);
    if (*text == '@')
        return true;
    for (const char *at = text; *at; at += strspn(at, spaces)) {
        at += strcspn(at, spaces);
        count++;
    }
    if (count < FIELDS_MIN || count > FIELDS_MAX)
        return false;
    for (const char *at = text; *at; at += strspn(at, spaces)) {
        size_t len = strcspn(at, spaces);

        if (!is_cron_field(at, len, index++, count))
            return false;
        at += len;
    }
    return true;
}

static void check_rule_replicas(struct review *r, const struct place *rule, bool scales_hpa)
{
    struct place replicas = place_member(rule, "targetReplicas");
    struct place least = place_member(rule, "targetMinReplicas");
    struct place most = place_member(rule, "targetMaxReplicas");

    if (!scales_hpa) {
        if (!replicas.value)
            review_refuse(r, &replicas, replicas.releases,
                          "is required, unless the rule scales a FederatedHPA");
        check_limits(r, rule, "targetReplicas", 0, INT32_MAX);
        return;
    }
    if (!least.value && !most.value)
        review_refuse(r, &most, most.releases,
                      "or targetMinReplicas is required to scale a FederatedHPA");
    check_limits(r, rule, "targetMinReplicas", 1, INT32_MAX);
    check_limits(r, rule, "targetMaxReplicas", 1, INT32_MAX);
    if (number_at(&least) > number_at(&most))
        review_refuse(r, &least, least.releases, "must be at most targetMaxReplicas");
}

static void check_cron_hpa(struct review *r, const struct place *spec)
{
    struct place target = place_member(spec, "scaleTargetRef");
    struct place kind = place_member(&target, "kind");
    struct place rules = place_member(spec, "rules");
    bool scales_hpa =
        strcmp(place_text(&target, "apiVersion"), "autoscaling.karmada.io/v1alpha1") == 0;
    const char *twice = place_find_twice(&rules, "name", false);
    struct place e = {0};

    if (scales_hpa && strcmp(place_text(&target, "kind"), "FederatedHPA") != 0) {
        review_refuse(r, &kind, kind.releases, "must be FederatedHPA, not \"%s\"",
                      shown(place_text(&target, "kind")).text);
        return;
    }
    check_reference(r, spec, "scaleTargetRef");
    if (twice)
        review_refuse(r, &rules, rules.releases, "has two rules with name \"%s\"",
                      shown(twice).text);
    while (place_next_element(&rules, &e)) {
        struct place schedule = place_member(&e, "schedule");
        const char *text = cJSON_GetStringValue(schedule.value);

        if (text && !may_be_schedule(text))
            review_refuse(r, &schedule, schedule.releases, "\"%s\" is no cron schedule",
                          shown(text).text);
        check_rule_replicas(r, &e, scales_hpa);
    }
}

/* ---- MultiClusterService (Karmada: pkg/webhook/multiclusterservice) ---- */

static void check_types(struct review *r, const struct place *types)
{
    const char *first = NULL;
    bool differ = false;
    struct place e = {0};

    while (place_next_element(types, &e)) {
        const char *text = cJSON_GetStringValue(e.value);

        if (!text)
            continue;
        if (strcmp(text, "CrossCluster") != 0 && strcmp(text, "LoadBalancer") != 0)
            review_refuse(r, &e, e.releases, "must be CrossCluster or LoadBalancer, not \"%s\"",
                          shown(text).text);
        differ |= first && strcmp(first, text) != 0;
        first = text;
    }
    if (differ)
        review_refuse(r, types, types->releases, "must not have more than one type");
}

static void check_cluster_names(struct review *r, const struct place *spec, const char *key)
{
    struct place list = place_member(spec, key);
    struct place e = {0};

    while (place_next_element(&list, &e)) {
        struct place name = place_member(&e, "name");

        check_cluster_name(r, &name);
    }
}

static void check_multi_cluster_service(struct review *r, const struct place *spec)
{
    enum { PORT_MAX = 65535 };
    struct place ports = place_member(spec, "ports");
    struct place types = place_member(spec, "types");
    const char *twice = place_find_twice(&ports, "name", false);
    struct place e = {0};

    while (place_next_element(&ports, &e)) {
        struct place name = place_member(&e, "name");
        const char *text = place_text(&e, "name");

        if (*text && !is_dns_label(text))
            review_refuse(r, &name, name.releases, "\"%s\" is no valid name of a port",
                          shown(text).text);
        check_limits(r, &e, "port", 1, PORT_MAX);
    }
    if (twice)
        review_refuse(r, &ports, ports.releases, "has two ports with name \"%s\"",
                      shown(twice).text);
    check_types(r, &types);
    check_cluster_names(r, spec, "providerClusters");
    check_cluster_names(r, spec, "consumerClusters");
}

void webhook_review_other(struct review *r, const struct place *spec)
{
    static const struct {
        const char *kind;
        void (*check)(struct review *r, const struct place *spec);
    } checks[] = {
        {"FederatedResourceQuota", check_quota},
        {"ClusterTaintPolicy", check_taints},
        {"FederatedHPA", check_federated_hpa},
        {"CronFederatedHPA", check_cron_hpa},
        {"MultiClusterService", check_multi_cluster_service},
    };

    for (size_t i = 0; i < ARRAY_LEN(checks); i++) {
        if (strcmp(r->kind->kind, checks[i].kind) == 0)
            checks[i].check(r, spec);
    }
}
