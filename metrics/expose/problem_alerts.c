/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/expose/problem_alerts.h"

#include "metrics/base/json.h"
#include "metrics/base/map.h"
#include "metrics/base/timestamp.h"
#include "metrics/base/utf8.h"
#include "metrics/expose/problem_text.h"

#define PRODUCT     "karmada-policy-exporter"
#define RUNBOOK_URL "https://runbooks.example/karmada-policy-exporter"
#define OTHERS      "_others"

enum {
    TEXT_MAX_BYTES = 16 * 1024, /* Maximum of an annotation. */
    URL_MAX_BYTES = 4 * 1024,
    LABELS_MAX_BYTES = 1024 * 1024,
};

#define PROBLEM_ALERT_ROW(id, name_, grouping_, summary_)                                          \
    [PROBLEM_ALERT_##id] = {.name = (name_), .summary = (summary_), .grouping = (grouping_)},
const struct problem_alert_row problem_alert_table[PROBLEM_ALERT_COUNT] = {
    PROBLEM_ALERTS(PROBLEM_ALERT_ROW)};

/* Alerts of the problems that have one; the severity `info` is always POLICY_REVIEW. */
static const struct {
    enum problem_id problem;
    enum problem_alert_id alert;
} assignments[] = {
    {PROBLEM_LAST_COPY_AT_RISK, PROBLEM_ALERT_LAST_COPY_AT_RISK},
    {PROBLEM_PLACEMENT_LOST, PROBLEM_ALERT_PLACEMENT_LOST},
    {PROBLEM_CLOUD_RESOURCE_CONFLICT, PROBLEM_ALERT_CLOUD_RESOURCE_CONFLICT},
    {PROBLEM_MEMBER_CLUSTER_UNAVAILABLE, PROBLEM_ALERT_MEMBER_CLUSTER_UNAVAILABLE},
    {PROBLEM_CONTROLLERS_STUCK, PROBLEM_ALERT_CONTROLLERS_STUCK},
    {PROBLEM_SCHEDULER_STUCK, PROBLEM_ALERT_CONTROLLERS_STUCK},
    {PROBLEM_DEPENDENCY_CONFLICT, PROBLEM_ALERT_DEPENDENCY_POLICY_CONFLICT},
    {PROBLEM_DEPENDENCY_NOT_RESOLVED, PROBLEM_ALERT_DEPENDENCY_POLICY_CONFLICT},
    {PROBLEM_POLICY_NOT_IN_FORCE, PROBLEM_ALERT_POLICY_NOT_IN_FORCE},
    {PROBLEM_TEMPLATE_FROZEN, PROBLEM_ALERT_POLICY_NOT_IN_FORCE},
    {PROBLEM_NOT_PROPAGATED, PROBLEM_ALERT_NOT_PROPAGATED},
    {PROBLEM_BINDING_NAME_COLLISION, PROBLEM_ALERT_NOT_PROPAGATED},
    {PROBLEM_NOT_SCHEDULED, PROBLEM_ALERT_NOT_SCHEDULED},
    {PROBLEM_PLACEMENT_AT_RISK, PROBLEM_ALERT_NOT_SCHEDULED},
    {PROBLEM_NOT_DELIVERED, PROBLEM_ALERT_NOT_DELIVERED},
    {PROBLEM_OVERRIDE_FAILED, PROBLEM_ALERT_NOT_DELIVERED},
    {PROBLEM_EVICTION_STUCK, PROBLEM_ALERT_EVICTION_STUCK},
    {PROBLEM_POLICY_INVALID, PROBLEM_ALERT_POLICY_BROKEN},
    {PROBLEM_REFERENCE_BROKEN, PROBLEM_ALERT_POLICY_BROKEN},
    {PROBLEM_DELETION_STUCK, PROBLEM_ALERT_POLICY_BROKEN},
    {PROBLEM_MANAGEMENT_CONFLICT, PROBLEM_ALERT_LEASE_AT_RISK},
    {PROBLEM_LEASE_AT_RISK, PROBLEM_ALERT_LEASE_AT_RISK},
    {PROBLEM_DECISION_FLAPPING, PROBLEM_ALERT_DECISION_FLAPPING},
    {PROBLEM_DATA_INCOMPLETE, PROBLEM_ALERT_DATA_INCOMPLETE},
};

enum problem_alert_id problem_alert_of(enum problem_id problem, enum problem_severity severity)
{
    if (severity == SEVERITY_INFO)
        return PROBLEM_ALERT_POLICY_REVIEW;
    for (size_t i = 0; i < ARRAY_LEN(assignments); i++) {
        if (assignments[i].problem == problem)
            return assignments[i].alert;
    }
    return PROBLEM_ALERT_POLICY_PROBLEM;
}

/* ---- lists of alerts ---- */

static int compare_names(const void *a, const void *b)
{
    const cJSON *const *x = a;
    const cJSON *const *y = b;

    return strcmp((*x)->string, (*y)->string);
}

static void sort_members(cJSON *object)
{
    size_t count = (size_t)cJSON_GetArraySize(object);
    cJSON **members = xcalloc(count ? count : 1, sizeof(cJSON *));

    for (size_t i = 0; i < count; i++)
        members[i] = cJSON_DetachItemViaPointer(object, object->child);
    qsort(members, count, sizeof(cJSON *), compare_names);
    for (size_t i = 0; i < count; i++)
        cJSON_AddItemToArray(object, members[i]);
    free(members);
}

void problem_alert_list_add(struct problem_alert_list *list, struct problem_alert alert)
{
    sort_members(alert.labels);
    if (list->count == list->capacity) {
        list->capacity = list->capacity ? 2 * list->capacity : 16;
        list->items = xreallocarray(list->items, list->capacity, sizeof(*list->items));
    }
    list->items[list->count++] = alert;
}

void problem_alert_list_release(struct problem_alert_list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        cJSON_Delete(list->items[i].labels);
        cJSON_Delete(list->items[i].annotations);
    }
    free(list->items);
    *list = (struct problem_alert_list){.items = NULL};
}

/* Labels with an empty value do not exist for Alertmanager. */
static void add_label(cJSON *labels, const char *name, const char *value)
{
    if (*value != '\0')
        cJSON_AddStringToObject(labels, name, value);
}

/* Returns the labels that each alert of this row and severity has. */
static cJSON *common_labels(const struct problem_alert_row *row, const char *severity,
                            const struct problem_alert_settings *settings)
{
    cJSON *labels = cJSON_CreateObject();

    add_label(labels, "alertname", row->name);
    add_label(labels, "severity", severity);
    add_label(labels, "product", PRODUCT);
    add_label(labels, "job", PRODUCT);
    for (size_t i = 0; i < settings->label_count; i++)
        add_label(labels, settings->labels[i].name, settings->labels[i].value);
    return labels;
}

/* ---- groups ---- */

struct alert_group {
    enum problem_alert_id alert;
    enum problem_severity severity;
    enum problem_id problem;
    enum problem_reason reason; /* PROBLEM_REASON_COUNT if the alert has no label for it. */
    const char *ns;             /* "" without one, or if the alert has all namespaces. */
    size_t count;
    int64_t opened_ms; /* Earliest opening. */
    size_t worst_count;
    const struct problem *worst[ALERT_OBJECTS_MAX]; /* In the order of compare_problems(). */
};

struct alert_groups {
    struct map by_key; /* Groups other than those for one subject. */
    uint64_t seed;
    struct alert_group **all; /* Owned. */
    size_t count;
    size_t capacity;
};

static bool same_key(const void *item, const void *key)
{
    const struct alert_group *a = item;
    const struct alert_group *b = key;

    return a->alert == b->alert && a->problem == b->problem && a->reason == b->reason &&
           strcmp(a->ns, b->ns) == 0;
}

static uint64_t hash_key(const struct alert_groups *g, const struct alert_group *key)
{
    uint64_t numbers = (uint64_t)key->reason * PROBLEM_COUNT + (uint64_t)key->problem;

    return map_hash(key->ns, strlen(key->ns), g->seed ^ numbers * 0x9e3779b97f4a7c15U);
}

struct alert_groups *alert_groups_new(uint64_t seed)
{
    struct alert_groups *g = xcalloc(1, sizeof(*g));

    g->by_key = MAP_INIT(same_key);
    g->seed = seed;
    return g;
}

void alert_groups_free(struct alert_groups *g)
{
    if (!g)
        return;
    for (size_t i = 0; i < g->count; i++)
        free(g->all[i]);
    free(g->all);
    map_release(&g->by_key);
    free(g);
}

/* Order of the contract within one problem: oldest first, unknown last; then kind and names. */
static int compare_problems(const struct problem *a, const struct problem *b)
{
    uint64_t x = a->since_ms > 0 ? (uint64_t)a->since_ms : UINT64_MAX;
    uint64_t y = b->since_ms > 0 ? (uint64_t)b->since_ms : UINT64_MAX;
    int by_text = 0;

    if (x != y)
        return x < y ? -1 : 1;
    by_text = strcmp(problem_subject_kind(a), problem_subject_kind(b));
    by_text = by_text ? by_text : strcmp(problem_ns(a), problem_ns(b));
    by_text = by_text ? by_text : strcmp(problem_name(a), problem_name(b));
    return by_text ? by_text : (int)a->reason - (int)b->reason;
}

/* Adds a problem to its group, and keeps the oldest ones in order. */
static void group_add(struct alert_group *group, const struct problem *p)
{
    size_t at = group->worst_count;

    if (group->count++ == 0 || p->opened_ms < group->opened_ms)
        group->opened_ms = p->opened_ms;
    while (at > 0 && compare_problems(p, group->worst[at - 1]) < 0)
        at--;
    if (at == ALERT_OBJECTS_MAX)
        return;
    if (group->worst_count < ALERT_OBJECTS_MAX)
        group->worst_count++;
    memmove(&group->worst[at + 1], &group->worst[at],
            (group->worst_count - 1 - at) * sizeof(struct problem *));
    group->worst[at] = p;
}

static struct alert_group *groups_add(struct alert_groups *g, const struct alert_group *key)
{
    struct alert_group *group = xmalloc(sizeof(*group));

    *group = *key;
    if (g->count == g->capacity) {
        g->capacity = g->capacity ? 2 * g->capacity : 64;
        g->all = xreallocarray(g->all, g->capacity, sizeof(struct alert_group *));
    }
    g->all[g->count++] = group;
    return group;
}

void alert_groups_add(struct alert_groups *g, const struct problem *p,
                      enum problem_severity severity)
{
    enum problem_alert_id alert = problem_alert_of(problem_id(p), severity);
    unsigned grouping = problem_alert_table[alert].grouping;
    const struct alert_group key = {
        .alert = alert,
        .severity = severity,
        .problem = problem_id(p),
        .reason = grouping & ALERT_BY_REASON ? p->reason : PROBLEM_REASON_COUNT,
        .ns = grouping & (ALERT_BY_NAMESPACE | ALERT_BY_SUBJECT) ? problem_ns(p) : "",
    };
    struct alert_group *group = NULL;

    if (!(grouping & ALERT_BY_SUBJECT))
        group = map_get(&g->by_key, hash_key(g, &key), &key);
    if (!group) {
        group = groups_add(g, &key);
        if (!(grouping & ALERT_BY_SUBJECT))
            map_add(&g->by_key, hash_key(g, &key), group);
    }
    group_add(group, p);
}

static int compare_groups(const void *a, const void *b)
{
    const struct alert_group *const *x = a;
    const struct alert_group *const *y = b;
    int order = (int)(*x)->severity - (int)(*y)->severity;

    if (order == 0)
        order = compare_problems((*x)->worst[0], (*y)->worst[0]);
    return order ? order : (int)(*x)->problem - (int)(*y)->problem;
}

/* Adds all problems of a group to the group of the namespaces without their own alert. */
static void merge_into_others(struct alert_groups *g, const struct alert_group *from)
{
    struct alert_group key = {.alert = from->alert,
                              .severity = from->severity,
                              .problem = from->problem,
                              .reason = from->reason,
                              .ns = OTHERS};
    struct alert_group *others = map_get(&g->by_key, hash_key(g, &key), &key);
    size_t count;

    if (!others) {
        others = groups_add(g, &key);
        map_add(&g->by_key, hash_key(g, &key), others);
    }
    count = others->count + from->count;
    for (size_t i = 0; i < from->worst_count; i++)
        group_add(others, from->worst[i]);
    others->count = count;
    others->opened_ms = earlier_of(others->opened_ms, from->opened_ms);
}

/* Sorts the groups; removes those beyond the limits. Returns the number of subjects removed. */
static size_t apply_limits(struct alert_groups *g)
{
    size_t namespaces[PROBLEM_REASON_COUNT] = {0};
    size_t subjects = 0;
    size_t kept = 0;
    size_t omitted = 0;
    size_t count = g->count;

    if (count == 0)
        return 0;
    qsort(g->all, count, sizeof(struct alert_group *), compare_groups);
    for (size_t i = 0; i < count; i++) {
        struct alert_group *group = g->all[i];
        unsigned grouping = problem_alert_table[group->alert].grouping;
        bool keeps = true;

        if (grouping & ALERT_BY_SUBJECT) {
            keeps = subjects++ < ALERT_SUBJECTS_MAX;
            omitted += !keeps;
        } else if (grouping & ALERT_BY_NAMESPACE) {
            keeps = namespaces[group->reason]++ < ALERT_NAMESPACES_MAX;
        }
        if (keeps) {
            g->all[kept++] = group;
            continue;
        }
        if (!(grouping & ALERT_BY_SUBJECT)) {
            map_take(&g->by_key, hash_key(g, group), group);
            merge_into_others(g, group);
        }
        free(group);
    }
    /* merge_into_others() has added groups behind those that the loop has read. */
    memmove(&g->all[kept], &g->all[count], (g->count - count) * sizeof(struct alert_group *));
    g->count = kept + g->count - count;
    return omitted;
}

/* ---- labels and texts ---- */

static cJSON *group_labels(const struct alert_group *group,
                           const struct problem_alert_settings *settings)
{
    const struct problem_alert_row *row = &problem_alert_table[group->alert];
    cJSON *labels = common_labels(row, severity_names[group->severity], settings);
    const struct problem *p = group->worst[0];

    add_label(labels, "problem", problem_table[group->problem].name);
    if (group->reason != PROBLEM_REASON_COUNT)
        add_label(labels, "reason", problem_reasons[group->reason].name);
    add_label(labels, "namespace", group->ns);
    if (!(row->grouping & ALERT_BY_SUBJECT))
        return labels;

    const struct entry *policy = problem_policy(p);
    const char *owner = problem_owner(p);
    const char *api_version = problem_api_version(p);
    CLEANUP(free_cleanup) char *group_name = xmemdup0(api_version, api_group_len(api_version));

    add_label(labels, "api_group", group_name);
    add_label(labels, "kind", problem_subject_kind(p));
    add_label(labels, "name", problem_name(p));
    add_label(labels, "owner", owner ? owner : "");
    if (policy) {
        add_label(labels, "policy_kind", entry_kind(policy));
        add_label(labels, "policy_namespace", entry_ns(policy));
        add_label(labels, "policy", policy->name);
    }
    return labels;
}

/* Appends an object and its start, such as "Deployment shop/web since 2026-01-31T23:59:59Z". */
static void add_object(struct strbuf *out, const struct problem *p)
{
    char since[32];

    problem_add_subject(p, out);
    if (p->since_ms <= 0)
        return;
    format_timestamp(p->since_ms, since);
    strbuf_addf(out, " %s %s", p->since_seen ? "first seen" : "since", since);
}

static void add_description(struct strbuf *out, const struct engine *e,
                            const struct alert_group *group)
{
    const struct problem *p = group->worst[0];

    for (size_t i = 0; i < group->worst_count; i++) {
        strbuf_adds(out, i > 0 ? ", " : "");
        add_object(out, group->worst[i]);
    }
    /* The alert about a subject has no label for the reason, which can change. */
    if (problem_alert_table[group->alert].grouping & ALERT_BY_SUBJECT)
        strbuf_addf(out, " (%s)", problem_reasons[p->reason].name);
    if (group->count > group->worst_count)
        strbuf_addf(out, " and %zu more", group->count - group->worst_count);
    strbuf_adds(out, group->count > 1 ? ". The first: " : ". ");
    problem_add_cause(e, p, out);
    strbuf_addc(out, ' ');
    problem_add_action(e, p, out);
}

/* Appends a value for a query; other characters than letters, digits and "-._~" are escaped. */
static void add_escaped(struct strbuf *out, const char *value)
{
    for (; *value != '\0'; value++) {
        unsigned char c = (unsigned char)*value;

        if (c < 0x80 && (strchr("-._~", c) || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
                         (c >= 'A' && c <= 'Z')))
            strbuf_addc(out, (char)c);
        else
            strbuf_addf(out, "%%%02X", c);
    }
}

static void add_page_url(cJSON *annotations, const struct problem_alert_settings *settings,
                         const char *problem, const char *ns)
{
    CLEANUP(strbuf_release) struct strbuf url = STRBUF_INIT(URL_MAX_BYTES);

    if (*settings->site_url == '\0')
        return;
    strbuf_addf(&url, "%s/?problem=", settings->site_url);
    add_escaped(&url, problem);
    if (*ns != '\0') {
        strbuf_adds(&url, "&namespace=");
        add_escaped(&url, ns);
    }
    cJSON_AddStringToObject(annotations, "page_url", url.data);
}

/* Appends the address of the runbook of an alert; `section` is an anchor in it, or NULL. */
static void add_address(struct strbuf *out, const struct problem_alert_row *row,
                        const char *section)
{
    strbuf_addf(out, RUNBOOK_URL "/%s.md", row->name);
    if (section)
        strbuf_addf(out, "#%s", section);
}

void problem_add_runbook_url(enum problem_id problem, struct strbuf *out)
{
    add_address(out,
                &problem_alert_table[problem_alert_of(problem, problem_table[problem].severity)],
                problem_doc(problem));
}

static void add_runbook_url(cJSON *annotations, const struct problem_alert_row *row,
                            const char *section)
{
    CLEANUP(strbuf_release) struct strbuf url = STRBUF_INIT(URL_MAX_BYTES);

    add_address(&url, row, section);
    cJSON_AddStringToObject(annotations, "runbook_url", url.data);
}

/* Appends a text with U+FFFD for characters that control a terminal or change the direction. */
static void add_safe(struct strbuf *out, const char *text)
{
    while (*text != '\0') {
        const char *begin = text;
        uint32_t point = utf8_next(&text);

        if (point == UTF8_BROKEN || utf8_is_unsafe(point))
            strbuf_adds(out, "\xEF\xBF\xBD");
        else
            strbuf_add(out, begin, (size_t)(text - begin));
    }
}

static cJSON *group_annotations(const struct engine *e, const struct alert_group *group,
                                const struct problem_alert_settings *settings)
{
    CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(TEXT_MAX_BYTES);
    CLEANUP(strbuf_release) struct strbuf description = STRBUF_INIT(TEXT_MAX_BYTES);
    const struct problem_alert_row *row = &problem_alert_table[group->alert];
    cJSON *annotations = cJSON_CreateObject();
    bool others = strcmp(group->ns, OTHERS) == 0;

    cJSON_AddStringToObject(annotations, "summary", row->summary);
    /* Names from files and messages of member clusters have any characters. */
    add_description(&text, e, group);
    add_safe(&description, text.data);
    cJSON_AddStringToObject(annotations, "description", description.data);
    add_runbook_url(annotations, row, problem_doc(group->problem));
    add_page_url(annotations, settings, problem_table[group->problem].name,
                 others ? "" : group->ns);
    return annotations;
}

void alert_groups_write(struct alert_groups *g, const struct engine *e,
                        const struct problem_alert_settings *settings,
                        struct problem_alert_list *out)
{
    out->omitted += apply_limits(g);
    for (size_t i = 0; i < g->count; i++)
        problem_alert_list_add(
            out, (struct problem_alert){.labels = group_labels(g->all[i], settings),
                                        .annotations = group_annotations(e, g->all[i], settings),
                                        .starts_ms = g->all[i]->opened_ms});
}

void problem_alerts_collect(const struct engine *e, const struct problem_alert_settings *settings,
                            uint64_t seed, struct problem_alert_list *out)
{
    const struct problems *ps = engine_problems(e);
    struct alert_groups *g = alert_groups_new(seed);
    struct problem_walk walk = {.at = NULL};
    const struct problem *p;

    while (ps && (p = problems_next(ps, &walk))) {
        if (problem_counts(p))
            alert_groups_add(g, p, problem_severity(ps, problem_id(p)));
    }
    alert_groups_write(g, e, settings, out);
    alert_groups_free(g);
}

/* ---- alerts about the exporter ---- */

static struct problem_alert own_alert(enum problem_alert_id id, const char *severity,
                                      const struct problem_alert_settings *settings,
                                      const char *description, int64_t since_ms)
{
    const struct problem_alert_row *row = &problem_alert_table[id];
    struct problem_alert alert = {
        .labels = common_labels(row, severity, settings),
        .annotations = cJSON_CreateObject(),
        .starts_ms = since_ms,
    };
    CLEANUP(strbuf_release) struct strbuf url = STRBUF_INIT(URL_MAX_BYTES);

    cJSON_AddStringToObject(alert.annotations, "summary", row->summary);
    cJSON_AddStringToObject(alert.annotations, "description", description);
    if (id == PROBLEM_ALERT_DEGRADED)
        add_runbook_url(alert.annotations, row, NULL);
    strbuf_addf(&url, "%s/exporter", settings->site_url);
    if (*settings->site_url != '\0')
        cJSON_AddStringToObject(alert.annotations, "page_url", url.data);
    return alert;
}

void problem_alerts_add_watchdog(struct problem_alert_list *out,
                                 const struct problem_alert_settings *settings, int64_t since_ms)
{
    static const char description[] = "Route this alert to a dead man's switch: if this alert "
                                      "stops, no exporter reports problems of this control plane.";

    problem_alert_list_add(
        out, own_alert(PROBLEM_ALERT_WATCHDOG, "none", settings, description, since_ms));
}

void problem_alerts_add_degraded(struct problem_alert_list *out,
                                 const struct problem_alert_settings *settings,
                                 const char *instance, int64_t since_ms)
{
    CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(TEXT_MAX_BYTES);
    struct problem_alert alert;
    char since[32];

    format_timestamp(since_ms, since);
    strbuf_addf(&text,
                "The replica %s has no current data of policies and bindings since %s, and reports "
                "no problems. See /-/ready of this replica and its log.",
                instance, since);
    alert = own_alert(PROBLEM_ALERT_DEGRADED, severity_names[SEVERITY_WARNING], settings, text.data,
                      since_ms);
    add_label(alert.labels, "instance", instance);
    add_label(alert.labels, "reason", "not_synced");
    problem_alert_list_add(out, alert);
}

/* ---- alerts of an earlier run ---- */

bool problem_alert_has_label(const char *name)
{
    static const char *const names[] = {
        "alertname",   "severity",         "product",   "job",  "problem", "reason",
        "instance",    "namespace",        "api_group", "kind", "name",    "owner",
        "policy_kind", "policy_namespace", "policy"};

    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        if (strcmp(names[i], name) == 0)
            return true;
    }
    return false;
}

/* Returns the alert about problems with this name; NULL without one. */
static const struct problem_alert_row *find_problem_alert(const char *alertname)
{
    for (size_t i = 0; i < PROBLEM_ALERT_DEGRADED; i++) {
        if (strcmp(problem_alert_table[i].name, alertname) == 0)
            return &problem_alert_table[i];
    }
    return NULL;
}

/* Returns true for labels of group_labels() with the labels of the settings. */
static bool are_our_labels(const cJSON *labels, const struct problem_alert_settings *settings)
{
    const struct problem_alert_row *row = find_problem_alert(json_str(labels, "alertname", ""));
    const cJSON *label;

    /* An earlier version gave the alerts about one subject a reason: without renewal they end. */
    if (!row || (!(row->grouping & ALERT_BY_REASON) && json_get(labels, "reason")) ||
        problem_find(json_str(labels, "problem", "")) == PROBLEM_COUNT ||
        strcmp(json_str(labels, "product", ""), PRODUCT) != 0 ||
        strcmp(json_str(labels, "job", ""), PRODUCT) != 0 || json_get(labels, "instance"))
        return false;
    for (size_t i = 0; i < settings->label_count; i++) {
        if (strcmp(json_str(labels, settings->labels[i].name, ""), settings->labels[i].value) != 0)
            return false;
    }
    cJSON_ArrayForEach (label, labels) {
        bool known = cJSON_IsString(label) && problem_alert_has_label(label->string);

        for (size_t i = 0; i < settings->label_count; i++)
            known |= strcmp(settings->labels[i].name, label->string) == 0;
        if (!known)
            return false;
    }
    return true;
}

static cJSON *copy_texts(const cJSON *object)
{
    cJSON *copy = cJSON_CreateObject();
    const cJSON *text;

    cJSON_ArrayForEach (text, object) {
        if (cJSON_IsString(text))
            cJSON_AddStringToObject(copy, text->string, text->valuestring);
    }
    return copy;
}

int problem_alerts_parse(const char *json, const struct problem_alert_settings *settings,
                         struct problem_alert_list *out)
{
    struct error ignored;
    CLEANUP(json_cleanup) cJSON *response = json_parse(json, strlen(json), NULL, &ignored);
    const cJSON *item;
    int count = 0;

    if (!cJSON_IsArray(response))
        return -1;
    cJSON_ArrayForEach (item, response) {
        const cJSON *labels = json_object_or_null(json_get(item, "labels"));
        const cJSON *annotations = json_object_or_null(json_get(item, "annotations"));
        int64_t starts_ms;

        if (!are_our_labels(labels, settings) ||
            !parse_timestamp(json_str(item, "startsAt", ""), &starts_ms))
            continue;
        problem_alert_list_add(out, (struct problem_alert){.labels = copy_texts(labels),
                                                           .annotations = copy_texts(annotations),
                                                           .starts_ms = starts_ms});
        count++;
    }
    return count;
}

/* Item of a map: an alert of `list`, found by its labels. */
struct known_alert {
    char *labels; /* From print_labels(). */
    size_t index;
};

static bool same_labels(const void *item, const void *key)
{
    return strcmp(((const struct known_alert *)item)->labels, key) == 0;
}

/* Returns a text that is equal for equal labels; the caller frees it. */
static char *print_labels(const cJSON *labels)
{
    struct strbuf text = STRBUF_INIT(LABELS_MAX_BYTES);
    const cJSON *label;

    cJSON_ArrayForEach (label, labels) {
        json_quote(&text, label->string);
        json_quote(&text, label->valuestring);
    }
    return strbuf_take(&text, NULL);
}

static bool is_disabled(const struct problem_alert *alert, const struct engine *e)
{
    enum problem_id problem = problem_find(json_str(alert->labels, "problem", ""));
    const struct problems *ps = engine_problems(e);

    return ps && problem != PROBLEM_COUNT &&
           (unsigned)problem_severity(ps, problem) == (unsigned)SEVERITY_OFF;
}

/* Adds an alert of `list` unless one with the same labels is there. Takes over `labels`. */
static void add_known(struct map *by_labels, struct known_alert *known, char *labels, size_t index,
                      uint64_t seed)
{
    uint64_t hash = map_hash(labels, strlen(labels), seed);

    *known = (struct known_alert){.labels = labels, .index = index};
    if (!map_get(by_labels, hash, labels))
        map_add(by_labels, hash, known);
}

void problem_alerts_renew(const struct problem_alert_list *from, const struct engine *e,
                          uint64_t seed, struct problem_alert_list *out)
{
    struct known_alert *known = xcalloc(out->count + from->count + 1, sizeof(*known));
    struct map by_labels = MAP_INIT(same_labels);
    size_t count = out->count;

    for (size_t i = 0; i < count; i++)
        add_known(&by_labels, &known[i], print_labels(out->items[i].labels), i, seed);
    for (size_t i = 0; i < from->count; i++) {
        const struct problem_alert *alert = &from->items[i];
        char *labels = print_labels(alert->labels);
        const struct known_alert *same =
            map_get(&by_labels, map_hash(labels, strlen(labels), seed), labels);

        if (same)
            out->items[same->index].starts_ms =
                earlier_of(out->items[same->index].starts_ms, alert->starts_ms);
        if (same || is_disabled(alert, e)) {
            free(labels);
            continue;
        }
        add_known(&by_labels, &known[count++], labels, out->count, seed);
        problem_alert_list_add(
            out, (struct problem_alert){.labels = cJSON_Duplicate(alert->labels, true),
                                        .annotations = cJSON_Duplicate(alert->annotations, true),
                                        .starts_ms = alert->starts_ms});
    }
    for (size_t i = 0; i < count; i++)
        free(known[i].labels);
    map_release(&by_labels);
    free(known);
}
