/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/expose/problem_text.h"

#include <ctype.h>

#include "metrics/base/timestamp.h"
#include "metrics/base/utf8.h"
#include "metrics/expose/policy_names.h"
#include "metrics/expose/problem_fields.h"
#include "metrics/expose/problem_sentences.h"
#include "metrics/rules/admission/admission.h"
#include "metrics/rules/rule.h"

enum {
    NAMED_MAX = 3,            /* Number of names in a list; the others are counted. */
    MESSAGE_SHOWN_MAX = 400,  /* Bytes of Karmada's message; a longer one is cut. */
    PART_MAX_BYTES = 1 << 16, /* Expanded part in brackets. */
};

/* Data of the insertions. */
struct sentence {
    const struct engine *engine;
    const struct problem *problem;
    size_t start; /* Length of the output before the sentence. */
    /* For several problems with one reason: no subject, and no other parties, in the sentence. */
    bool without_subject;
    bool without_parties;
    bool of_reason; /* For a reason without an instance: `engine` is NULL. */
};

/* ---- names and lists ---- */

static void add_object(struct strbuf *out, const char *kind, const char *ns, const char *name)
{
    strbuf_addf(out, "%s %s%s%s", kind, ns, *ns ? "/" : "", name);
}

/*
 * Growing text of a list, such as "a, b and c" or "a, b, c and 2 more". The last name waits in
 * `last`, because the word before it is known only at the end.
 */
struct name_list {
    struct strbuf *out;
    struct strbuf last;
    size_t count;
};

#define NAME_LIST_INIT(buffer)                                                                     \
    ((struct name_list){.out = (buffer), .last = STRBUF_INIT(PART_MAX_BYTES)})

/* Counts one more name; returns the buffer for its text, or NULL if the list has enough names. */
static struct strbuf *name_list_add(struct name_list *list)
{
    if (list->count++ >= NAMED_MAX)
        return NULL;
    if (list->count > 2)
        strbuf_adds(list->out, ", ");
    strbuf_adds(list->out, list->last.data);
    strbuf_reset(&list->last);
    return &list->last;
}

/* Appends the rest of the list and frees its memory. */
static void name_list_end(struct name_list *list)
{
    if (list->count > NAMED_MAX)
        strbuf_addf(list->out, ", %s and %zu more", list->last.data, list->count - NAMED_MAX);
    else if (list->count > 0)
        strbuf_addf(list->out, "%s%s", list->count > 1 ? " and " : "", list->last.data);
    strbuf_release(&list->last);
}

static void add_name_to_list(void *context, const char *name)
{
    struct strbuf *out = name_list_add(context);

    if (out)
        strbuf_adds(out, name);
}

static void add_entry_to_list(void *context, const struct entry *entry)
{
    struct strbuf *out = name_list_add(context);

    if (out)
        entry_add_name(out, entry);
}

/* ---- insertions; an insertion that appends nothing has no data ---- */

void problem_add_subject(const struct problem *p, struct strbuf *out)
{
    const char *kind = problem_subject_kind(p);

    if (!p->subject && (strcmp(kind, "ControlPlane") == 0 || strcmp(kind, "Source") == 0))
        strbuf_adds(out, problem_name(p));
    else if (p->subject)
        entry_add_name(out, p->subject);
    else
        add_object(out, kind, problem_ns(p), problem_name(p));
}

static void put_subject(const struct sentence *s, struct strbuf *out)
{
    problem_add_subject(s->problem, out);
}

static void put_policy(const struct sentence *s, struct strbuf *out)
{
    const struct entry *policy = problem_policy(s->problem);

    if (policy)
        entry_add_name(out, policy);
}

/* Appends the template of a binding; nothing if the subject is the template itself. */
static void put_template(const struct sentence *s, struct strbuf *out)
{
    const struct entry *subject = s->problem->subject;
    struct identity id;

    if (!entry_binding(subject))
        return;
    id = resource_identity_of(subject);
    if (*id.kind && *id.name)
        add_object(out, id.kind, id.ns, id.name);
}

static void put_clusters(const struct sentence *s, struct strbuf *out)
{
    struct name_list list = NAME_LIST_INIT(out);

    problem_each_cluster_of_reason(s->engine, s->problem, add_name_to_list, &list);
    name_list_end(&list);
}

static void put_related(const struct sentence *s, struct strbuf *out)
{
    struct name_list list = NAME_LIST_INIT(out);

    problem_each_related(s->engine, s->problem, add_entry_to_list, &list);
    name_list_end(&list);
}

/* Appends the path of a dependency field as policies and bindings have it. */
static void put_field(const struct sentence *s, struct strbuf *out)
{
    enum dependency_field field = problem_dependency_field(s->problem);

    if (field < DEPENDENCY_FIELD_COUNT)
        strbuf_adds(out, dependency_field_paths[field]);
}

/* Appends the drifted fields of a stale template, such as "placement and failover". */
static void put_fields(const struct sentence *s, struct strbuf *out)
{
    const struct entry *subject = s->problem->subject;
    const struct template_decision *d = subject ? template_decision(subject) : NULL;
    struct name_list list = NAME_LIST_INIT(out);

    for (unsigned i = 0; d && d->state == STATE_STALE && i < DRIFT_FIELD_COUNT; i++) {
        if (d->fields & 1U << i)
            add_name_to_list(&list, drift_field_names[i]);
    }
    name_list_end(&list);
}

/* Returns the resolution of the field that the problem is about; NULL without one. */
static const struct field_resolution *resolution_of(const struct sentence *s)
{
    const struct entry *subject = s->problem->subject;
    const struct dependency_decision *d = subject ? dependency_decision(subject) : NULL;
    enum dependency_field field = problem_dependency_field(s->problem);

    return d && field < DEPENDENCY_FIELD_COUNT ? &d->fields[field] : NULL;
}

/* Referrers that request one value of a field. */
struct requests {
    struct name_list list;
    enum dependency_field field;
    bool value;
    bool current; /* Values of the present policies, not those in bindings. */
};

static void add_request(void *context, const struct dependency_referrer *referrer)
{
    struct requests *r = context;
    const struct dependency_values *values = r->current ? &referrer->current : &referrer->observed;
    const struct entry *object = referrer->template ? referrer->template : referrer->binding;

    if (object && (r->current ? referrer->counts_current : referrer->counts_observed) &&
        values->wants[r->field] == r->value)
        add_entry_to_list(&r->list, object);
}

/* Appends the requested values and their referrers: "Overwrite by Deployment a/b, Abort by ...". */
static void put_values(const struct sentence *s, struct strbuf *out)
{
    const struct problem *p = s->problem;
    size_t start = out->len;

    if (!resolution_of(s))
        return;
    for (unsigned i = 0; i < 2; i++) {
        CLEANUP(strbuf_release) struct strbuf names = STRBUF_INIT(PART_MAX_BYTES);
        struct requests r = {
            .list = NAME_LIST_INIT(&names),
            .field = problem_dependency_field(p),
            .value = i == 0,
            .current = problem_id(p) == PROBLEM_CONFLICT_PREDICTED,
        };

        engine_dependency_referrers(s->engine, p->subject, add_request, &r);
        name_list_end(&r.list);
        if (names.len > 0)
            strbuf_addf(out, "%s%s by %s", out->len > start ? ", " : "",
                        dependency_value_name(r.field, r.value), names.data);
    }
}

static void put_resolved(const struct sentence *s, struct strbuf *out)
{
    const struct field_resolution *f = resolution_of(s);

    if (f)
        dependency_describe_resolved(dependency_decision(s->problem->subject),
                                     problem_dependency_field(s->problem), false, out);
}

static void put_stored(const struct sentence *s, struct strbuf *out)
{
    const struct field_resolution *f = resolution_of(s);

    if (f)
        strbuf_adds(out, dependency_value_name(problem_dependency_field(s->problem), f->stored));
}

/* Appends the value that Karmada should have stored. */
static void put_expected(const struct sentence *s, struct strbuf *out)
{
    const struct field_resolution *f = resolution_of(s);
    const struct entry *subject = s->problem->subject;

    if (!f)
        return;
    if (dependency_decision(subject)->referrers == 0)
        strbuf_adds(out, "no referrer is left");
    else
        strbuf_addf(out, "the value resolved from its referrers is %s",
                    dependency_value_name(problem_dependency_field(s->problem), f->resolved));
}

/* Appends the setting that overrides a value: that of a policy or of an annotation. */
static void put_override(const struct sentence *s, struct strbuf *out)
{
    const struct field_resolution *f = resolution_of(s);
    bool overridden;

    /* An annotation sets conflict resolution only. */
    if ((f && f->overridden) ||
        problem_dependency_field(s->problem) != DEPENDENCY_CONFLICT_RESOLUTION)
        strbuf_adds(out, "its own policy sets another value than its referrers request");
    else if (s->problem->subject &&
             template_overrides_conflict_resolution(s->problem->subject, &overridden))
        strbuf_addf(out, "its annotation " CONFLICT_RESOLUTION_ANNOTATION " sets %s instead of %s",
                    dependency_value_name(DEPENDENCY_CONFLICT_RESOLUTION, !overridden),
                    dependency_value_name(DEPENDENCY_CONFLICT_RESOLUTION, overridden));
    else
        strbuf_adds(out, "its own annotation sets another value than its policy");
}

/* Appends the override policies that a policy names and that do not exist. */
static void add_missing_overrides(const struct sentence *s, const struct entry *policy,
                                  struct strbuf *out)
{
    struct name_list list = NAME_LIST_INIT(out);

    for (uint32_t i = 0; i < entry_policy(policy)->override_count; i++) {
        struct identity id = dependent_override_identity(policy, i);
        const struct entry *found = store_find(engine_store(s->engine), &id);
        struct strbuf *name = found && entry_exists(found) ? NULL : name_list_add(&list);

        if (name)
            add_object(name, id.kind, id.ns, id.name);
    }
    name_list_end(&list);
}

/* Appends the missing PriorityClass or override policies. */
static void put_wanted(const struct sentence *s, struct strbuf *out)
{
    const char *reason = problem_reasons[s->problem->reason].name;
    const struct entry *policy = problem_policy(s->problem);

    if (!entry_policy(policy))
        return;
    if (strcmp(reason, "override_missing") == 0)
        add_missing_overrides(s, policy, out);
    else if (entry_policy(policy)->priority_class)
        strbuf_adds(out, entry_policy(policy)->priority_class);
}

/* Appends an API version that Karmada does not watch, and the one that it watches, if known. */
static void add_unwatched_version(const struct api_version_source *source,
                                  const struct resource_selector *selector, struct strbuf *out)
{
    CLEANUP(strbuf_release) struct strbuf preferred = STRBUF_INIT(PART_MAX_BYTES);

    strbuf_addf(out, "%s of %s", selector->api_version, selector->kind);
    if (api_version_add_preferred(source, selector->api_version, selector->kind, &preferred)) {
        /* Equal: the API server does not let clients watch the kind. */
        if (strcmp(preferred.data, selector->api_version) != 0)
            strbuf_addf(out, " instead of %s", preferred.data);
    } else {
        strbuf_adds(out, " (the preferred version is unknown: no CustomResourceDefinition of the "
                         "kind has been read)");
    }
}

/* Appends a kind that no API server serves, and the one that is probably meant. */
static void add_absent_kind(const struct resource_selector *selector, struct strbuf *out)
{
    const struct builtin_kind *nearest =
        builtin_kind_suggest(selector->api_version, selector->kind);

    strbuf_addf(out, "%s of %s", selector->kind, selector->api_version);
    if (!nearest)
        return;
    strbuf_adds(out, " (the nearest kind is ");
    builtin_kind_add_name(nearest, out);
    strbuf_adds(out, ")");
}

/*
 * Appends the kinds in resourceSelectors that the API server does not serve (`absent`), or the
 * versions that Karmada does not watch.
 */
static void add_wrong_selectors(const struct sentence *s, bool absent, struct strbuf *out)
{
    struct api_version_source source = engine_api_version_source(s->engine);
    struct name_list list = NAME_LIST_INIT(out);
    uint32_t count;
    const struct resource_selector *selectors = problem_selectors(s->problem->subject, &count);

    for (uint32_t i = 0; i < count; i++) {
        struct strbuf *name;

        i = problem_find_wrong_selector(s->engine, s->problem->subject, absent, i);
        name = i < count ? name_list_add(&list) : NULL;
        if (name && absent)
            add_absent_kind(&selectors[i], name);
        else if (name)
            add_unwatched_version(&source, &selectors[i], name);
    }
    name_list_end(&list);
}

static void put_kinds(const struct sentence *s, struct strbuf *out)
{
    add_wrong_selectors(s, true, out);
}

static void put_versions(const struct sentence *s, struct strbuf *out)
{
    add_wrong_selectors(s, false, out);
}

/* Appends the findings of the admission of the subject, dropped or refused fields. */
static void add_admission(const struct sentence *s, bool pruned, struct strbuf *out)
{
    const struct entry *subject = s->problem->subject;

    if (subject)
        admission_add_text(admission_of_entry(subject), engine_context_const(s->engine)->release,
                           pruned, out);
}

static void put_pruned(const struct sentence *s, struct strbuf *out)
{
    add_admission(s, true, out);
}

static void put_refusal(const struct sentence *s, struct strbuf *out)
{
    add_admission(s, false, out);
}

/* Appends the action that the API server refuses, if it stored the object before. */
static void put_write(const struct sentence *s, struct strbuf *out)
{
    const struct entry *subject = s->problem->subject;
    const struct admission *a = subject ? admission_of_entry(subject) : NULL;

    if (a && a->stored)
        strbuf_adds(out, "the next write");
}

static void put_scheduler(const struct sentence *s, struct strbuf *out)
{
    const struct entry *subject = s->problem->subject;
    const struct template_decision *d = subject ? template_decision(subject) : NULL;
    const struct binding *b = entry_binding(d ? decision_binding(d) : subject);

    if (b && b->propagation->scheduler_name)
        strbuf_adds(out, b->propagation->scheduler_name);
}

/* Appends the name of the binding that Karmada makes for the template. */
static void put_binding(const struct sentence *s, struct strbuf *out)
{
    CLEANUP(strbuf_release) struct strbuf name = STRBUF_INIT(PART_MAX_BYTES);
    const struct entry *template = problem_template(s->problem);

    if (!template)
        return;
    binding_name(entry_kind(template), template->name, &name);
    strbuf_adds(out, name.data);
}

/* Appends the holder of the lease: its namespace, or its id if the namespace is unknown. */
static void put_holder(const struct sentence *s, struct strbuf *out)
{
    const struct entry *lease = s->problem->subject;
    const struct template_decision *d = lease ? template_decision(lease) : NULL;
    const struct lease_decision *l;

    if (d)
        lease = decision_connector(d) ? engine_lease_of(s->engine, lease) : NULL;
    l = lease ? lease_decision(lease) : NULL;
    if (l && l->holder_ns)
        strbuf_addf(out, "namespace %s", l->holder_ns);
    else if (l && entry_lease(lease) && entry_lease(lease)->holder)
        strbuf_addf(out, "id %s", entry_lease(lease)->holder);
}

/* Appends Karmada's message on one line, without full stop at its end. */
static void put_message(const struct sentence *s, struct strbuf *out)
{
    const char *text = problem_message(s->engine, s->problem);
    size_t len = strlen(text), end, start = out->len;
    bool cut = len > MESSAGE_SHOWN_MAX;

    if (cut)
        len = utf8_cut_length(text, MESSAGE_SHOWN_MAX);
    for (size_t i = 0; i < len; i++) {
        bool is_space = strchr(" \t\r\n", text[i]);

        if (!is_space)
            strbuf_addc(out, text[i]);
        else if (out->len > start && out->data[out->len - 1] != ' ')
            strbuf_addc(out, ' ');
    }
    for (end = out->len; end > start && strchr(" .", out->data[end - 1]);)
        end--;
    strbuf_cut(out, end);
    if (cut && out->len > start)
        strbuf_adds(out, "...");
}

static void put_failure(const struct sentence *s, struct strbuf *out)
{
    problem_add_override_failure(s->engine, s->problem, out);
}

static void put_deadline(const struct sentence *s, struct strbuf *out)
{
    struct time_limit limit = problem_time_limit(s->problem);
    char text[32];

    if (limit.time_ms <= 0)
        return;
    format_timestamp(limit.time_ms, text);
    strbuf_adds(out, text);
    if (limit.assumed)
        strbuf_adds(out, " (with Karmada's default timeout of 10 minutes)");
}

/* ---- expansion ---- */

struct insertion {
    const char *name;
    void (*put)(const struct sentence *s, struct strbuf *out);
    const char *fallback;
    const char *of_reason; /* Text in sentences about a reason; NULL for `fallback`. */
};

/*
 * Insertions. A row has the name, the function, the text without data outside brackets, and the
 * text in sentences about a reason. The subject is a column of PROBLEMS there.
 */
static const struct insertion insertions[] = {
    {"subject", put_subject, "the object", NULL},
    {"policy", put_policy, "its policy", "the policy"},
    {"template", put_template, "", NULL},
    {"clusters", put_clusters, "its member clusters", "a member cluster"},
    {"related", put_related, "another object", "another one"},
    {"hpa", put_related, "a HorizontalPodAutoscaler", NULL},
    {"federated_hpa", put_related, "a FederatedHPA", NULL},
    {"field", put_field, "", NULL},
    {"fields", put_fields, "", NULL},
    {"values", put_values, "", NULL},
    {"resolved", put_resolved, "", NULL},
    {"stored", put_stored, "", NULL},
    {"expected", put_expected, "", NULL},
    {"override", put_override, "another setting has precedence", NULL},
    {"wanted", put_wanted, "", NULL},
    {"versions", put_versions, "", NULL},
    {"kinds", put_kinds, "", NULL},
    {"pruned", put_pruned, "", NULL},
    {"refusal", put_refusal, "", NULL},
    {"write", put_write, "", NULL},
    {"scheduler", put_scheduler, "", NULL},
    {"binding", put_binding, "", NULL},
    {"holder", put_holder, "another namespace", NULL},
    {"message", put_message, "", NULL},
    {"failing", put_related, "an override policy", NULL},
    {"failure", put_failure, "", NULL},
    {"deadline", put_deadline, "", NULL},
};

static bool may_have_data(const struct sentence *s, const struct insertion *insertion)
{
    /* Without an instance only the field is known: the reason determines it. */
    if (s->of_reason)
        return insertion->put == put_field;
    /* An insertion without a text for this case depends on the reason alone, or is in brackets. */
    return *insertion->fallback == '\0' ||
           !(insertion->put == put_subject ? s->without_subject : s->without_parties);
}

static const char *fallback_of(const struct sentence *s, const struct insertion *insertion)
{
    if (!s->of_reason)
        return insertion->fallback;
    if (insertion->put == put_subject)
        return problem_table[problem_id(s->problem)].subject;
    return insertion->of_reason ? insertion->of_reason : insertion->fallback;
}

/* Appends the insertion named by `len` bytes. Returns false if it has no data. */
static bool insert(const struct sentence *s, const char *name, size_t len, bool use_fallback,
                   struct strbuf *out)
{
    size_t at = 0, start = out->len;

    /* The test of all reasons proves that every name in the table of sentences is known. */
    while (strlen(insertions[at].name) != len || strncmp(insertions[at].name, name, len) != 0) {
        at++;
        assert(at < ARRAY_LEN(insertions));
    }
    if (may_have_data(s, &insertions[at]))
        insertions[at].put(s, out);
    if (out->len > start)
        return true;
    if (use_fallback)
        strbuf_adds(out, fallback_of(s, &insertions[at]));
    /* A fallback is no name, so at the start of the sentence it needs a capital. */
    if (start == s->start && out->len > start && islower((unsigned char)out->data[start]))
        out->data[start] = (char)toupper((unsigned char)out->data[start]);
    return false;
}

/* Appends `len` bytes of a sentence, expanded. Returns false if an insertion has no data. */
static bool expand_part(const struct sentence *s, const char *text, size_t len, bool use_fallback,
                        struct strbuf *out)
{
    bool complete = true;

    while (len > 0) {
        const char *open = memchr(text, '{', len);
        size_t plain = open ? (size_t)(open - text) : len, name;

        strbuf_add(out, text, plain);
        text += plain;
        len -= plain;
        if (!open)
            break;
        name = (size_t)((const char *)memchr(text, '}', len) - text) - 1;
        complete &= insert(s, text + 1, name, use_fallback, out);
        text += name + 2;
        len -= name + 2;
    }
    return complete;
}

static void expand_sentence(const struct sentence *s, const char *text, struct strbuf *out)
{
    while (*text) {
        size_t plain = strcspn(text, "[");

        expand_part(s, text, plain, true, out);
        text += plain;
        if (*text == '[') {
            CLEANUP(strbuf_release) struct strbuf part = STRBUF_INIT(PART_MAX_BYTES);
            size_t len = strcspn(text, "]");

            if (expand_part(s, text + 1, len - 1, false, &part) && !s->without_parties)
                strbuf_adds(out, part.data);
            text += len + 1;
        }
    }
}

/* Appends a sentence of the table, expanded. */
static void expand(const struct engine *e, const struct problem *p, const char *text,
                   struct strbuf *out)
{
    const struct sentence s = {.engine = e, .problem = p, .start = out->len};

    expand_sentence(&s, text, out);
}

void problem_add_cause(const struct engine *e, const struct problem *p, struct strbuf *out)
{
    expand(e, p, problem_sentences[p->reason].cause, out);
}

void problem_add_common_cause(const struct engine *e, const struct problem *p, bool with_parties,
                              struct strbuf *out)
{
    const struct sentence s = {.engine = e,
                               .problem = p,
                               .start = out->len,
                               .without_subject = true,
                               .without_parties = !with_parties};

    expand_sentence(&s, problem_sentences[p->reason].cause, out);
}

void problem_add_action(const struct engine *e, const struct problem *p, struct strbuf *out)
{
    expand(e, p, problem_sentences[p->reason].action, out);
}

void problem_add_end(const struct engine *e, const struct problem *p, struct strbuf *out)
{
    expand(e, p, problem_sentences[p->reason].end, out);
}

/* ---- sentences about a reason ---- */

static void expand_of_reason(enum problem_reason reason, const char *text, struct strbuf *out)
{
    const struct problem p = {.reason = reason};
    const struct sentence s = {.problem = &p,
                               .start = out->len,
                               .without_subject = true,
                               .without_parties = true,
                               .of_reason = true};

    expand_sentence(&s, text, out);
}

void problem_reason_add_cause(enum problem_reason reason, struct strbuf *out)
{
    expand_of_reason(reason, problem_sentences[reason].cause, out);
}

void problem_reason_add_action(enum problem_reason reason, struct strbuf *out)
{
    expand_of_reason(reason, problem_sentences[reason].action, out);
}

void problem_reason_add_end(enum problem_reason reason, struct strbuf *out)
{
    expand_of_reason(reason, problem_sentences[reason].end, out);
}

/* ---- constants of a problem ---- */

const char *problem_doc(enum problem_id problem)
{
    static const char *const docs[PROBLEM_COUNT] = {
        [PROBLEM_LAST_COPY_AT_RISK] = "last-copy-at-risk",
        [PROBLEM_PLACEMENT_LOST] = "placement-lost",
        [PROBLEM_CONTROLLERS_STUCK] = "controllers-stuck",
        [PROBLEM_SCHEDULER_STUCK] = "scheduler-stuck",
        [PROBLEM_CLOUD_RESOURCE_CONFLICT] = "cloud-resource-conflict",
        [PROBLEM_PLACEMENT_AT_RISK] = "placement-at-risk",
        [PROBLEM_DEPENDENCY_CONFLICT] = "dependency-conflict",
        [PROBLEM_DEPENDENCY_NOT_RESOLVED] = "dependency-not-resolved",
        [PROBLEM_POLICY_NOT_IN_FORCE] = "policy-not-in-force",
        [PROBLEM_TEMPLATE_FROZEN] = "template-frozen",
        [PROBLEM_NOT_PROPAGATED] = "not-propagated",
        [PROBLEM_NOT_SCHEDULED] = "not-scheduled",
        [PROBLEM_NOT_DELIVERED] = "not-delivered",
        [PROBLEM_OVERRIDE_FAILED] = "override-failed",
        [PROBLEM_EVICTION_STUCK] = "eviction-stuck",
        [PROBLEM_POLICY_INVALID] = "policy-invalid",
        [PROBLEM_BINDING_NAME_COLLISION] = "binding-name-collision",
        [PROBLEM_REFERENCE_BROKEN] = "reference-broken",
        [PROBLEM_DELETION_STUCK] = "deletion-stuck",
        [PROBLEM_MEMBER_CLUSTER_UNAVAILABLE] = "member-cluster-unavailable",
        [PROBLEM_MANAGEMENT_CONFLICT] = "management-conflict",
        [PROBLEM_LEASE_AT_RISK] = "lease-at-risk",
        [PROBLEM_DECISION_FLAPPING] = "decision-flapping",
        [PROBLEM_DATA_INCOMPLETE] = "data-incomplete",
        [PROBLEM_UNHEALTHY] = "unhealthy",
        [PROBLEM_ORPHANED] = "orphaned",
        [PROBLEM_EXCLUDED] = "excluded",
        [PROBLEM_DEFERRED_TOO_LONG] = "deferred-too-long",
        [PROBLEM_ON_FALLBACK] = "on-fallback",
        [PROBLEM_TWO_COPIES_HELD] = "two-copies-held",
        [PROBLEM_CHANGE_SUSPENDED] = "change-suspended",
        [PROBLEM_FORBIDDEN_PLACEMENT] = "forbidden-placement",
        [PROBLEM_DRIFT_EXCEEDS_CAPACITY] = "drift-exceeds-capacity",
        [PROBLEM_DELETION_TRAP] = "deletion-trap",
        [PROBLEM_LEASE_UNPROTECTED] = "lease-unprotected",
        [PROBLEM_CONFLICT_PREDICTED] = "conflict-predicted",
        [PROBLEM_REPLICAS_CONTESTED] = "replicas-contested",
        [PROBLEM_VALUE_OVERRIDDEN] = "value-overridden",
        [PROBLEM_POLICY_TIE] = "policy-tie",
        [PROBLEM_POLICY_OUTRANKED] = "policy-outranked",
        [PROBLEM_POLICY_UNUSED] = "policy-unused",
        [PROBLEM_DUPLICATE_OBJECT] = "duplicate-object",
    };

    return docs[problem];
}

enum actor problem_actor(const struct problem *p)
{
    return problem_reasons[p->reason].actor;
}
