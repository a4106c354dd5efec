/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/evaluation.h"
#include "exporter/web/objects/object_parts.h"
#include "metrics/expose/decision_text.h"
#include "metrics/expose/policy_names.h"
#include "metrics/expose/report.h"
#include "metrics/model/store.h"

/*
 * Page of a dependency: its problems and, for each field, the value in force and its consequence
 * for each party. A party is all referrers with one policy that request one value.
 */

enum { TITLE_MAX_BYTES = 4096, PARTY_REFERRERS_MAX = 5 };

/* ---- search ---- */

/* Search for the dependency that a query names. */
struct dependency_search {
    const struct query *query;
    const struct entry *found; /* Last match; NULL if there is no match. */
};

static void match_dependency(void *context, const struct entry *dependency)
{
    struct dependency_search *search = context;
    char *const *values = search->query->values;
    const char *group = values[PARAMETER_GROUP], *ns = values[PARAMETER_NAMESPACE];
    struct identity id = resource_identity_of(dependency);
    size_t len = api_group_len(id.api_version);

    if (strcmp(id.kind, values[PARAMETER_KIND]) == 0 &&
        strcmp(id.name, values[PARAMETER_NAME]) == 0 && strcmp(id.ns, ns ? ns : "") == 0 &&
        (!group || (strlen(group) == len && memcmp(group, id.api_version, len) == 0)))
        search->found = dependency;
}

/* ---- parties ---- */

/* Referrers with the same policy and the same requested value. */
struct party {
    struct policy_name policy;                          /* `kind` is NULL without a policy. */
    const struct entry *referrers[PARTY_REFERRERS_MAX]; /* Templates, else bindings. */
    size_t count;                                       /* Number of referrers. */
    bool value;                                         /* Requested value. */
};

/* Parties of one field of a dependency. */
struct field_parties {
    struct party *items; /* Owned. */
    size_t count;
    enum dependency_field field;
    bool current; /* Values once Karmada has applied the present policies; false: values now. */
};

static void field_parties_release(struct field_parties *parties)
{
    free(parties->items);
}

static bool policy_names_equal(const struct policy_name *a, const struct policy_name *b)
{
    if (!a->kind || !b->kind)
        return a->kind == b->kind;
    return strcmp(a->kind, b->kind) == 0 && strcmp(a->ns, b->ns) == 0 &&
           strcmp(a->name, b->name) == 0;
}

/* Returns the party, which is added if there is none. */
static struct party *find_or_add_party(struct field_parties *parties, struct policy_name policy,
                                       bool value)
{
    for (size_t i = 0; i < parties->count; i++) {
        if (parties->items[i].value == value &&
            policy_names_equal(&parties->items[i].policy, &policy))
            return &parties->items[i];
    }
    parties->items = xreallocarray(parties->items, parties->count + 1, sizeof(*parties->items));
    parties->items[parties->count] = (struct party){.policy = policy, .value = value};
    return &parties->items[parties->count++];
}

static void add_to_party(void *context, const struct dependency_referrer *referrer)
{
    struct field_parties *parties = context;
    const struct entry *object = referrer->template ? referrer->template : referrer->binding;
    bool current = parties->current;
    const struct dependency_values *values = current ? &referrer->current : &referrer->observed;
    struct party *party;

    if (!object || !(current ? referrer->counts_current : referrer->counts_observed))
        return;
    party = find_or_add_party(parties, referrer_policy(referrer, current),
                              values->wants[parties->field]);
    if (party->count < PARTY_REFERRERS_MAX)
        party->referrers[party->count] = object;
    party->count++;
}

/* ---- one field ---- */

/* Returns the consequence of the value in force for a party that requests another value. */
static const char *consequence_text(enum dependency_field field, bool in_force)
{
    static const char *const texts[DEPENDENCY_FIELD_COUNT][2] = {
        [DEPENDENCY_CONFLICT_RESOLUTION] =
            {"If a member cluster has an object of the same name, Karmada does not apply the "
             "dependency there. This policy requests to overwrite the object.",
             "Karmada overwrites an object of the same name in a member cluster, although this "
             "policy requests to keep the object."},
        [DEPENDENCY_PRESERVE] = {"Deletion of the template deletes its copies in member clusters, "
                                 "although this policy requests to keep them.",
                                 "Deletion of the template leaves its copies in member clusters, "
                                 "although this policy requests to delete them."},
    };

    return texts[field][in_force];
}

static void add_party_row(const struct field_parties *parties, const struct party *party,
                          bool in_force, struct html_table *t)
{
    html_row_open(t, party->value == in_force ? NULL : severity_names[SEVERITY_WARNING]);
    html_cell_open(t);
    if (party->policy.kind)
        link_policy(t->out, party->policy);
    else
        strbuf_adds(t->out, "unknown");
    html_cell_text(t, dependency_value_name(parties->field, party->value));
    html_cell_text(t, dependency_value_name(parties->field, in_force));
    html_cell_text(t, party->value == in_force ? "The requested value is in force."
                                               : consequence_text(parties->field, in_force));
    html_cell_number(t, (int64_t)party->count);
    html_cell_open(t);
    for (size_t i = 0; i < party->count && i < PARTY_REFERRERS_MAX; i++) {
        strbuf_adds(t->out, i > 0 ? ", " : "");
        link_entry(t->out, party->referrers[i]);
    }
    if (party->count > PARTY_REFERRERS_MAX)
        strbuf_addf(t->out, " and %zu more", party->count - PARTY_REFERRERS_MAX);
}

/* Appends the parties, first those that request another value than the one in force. */
static void add_parties_table(struct strbuf *out, const struct field_parties *parties,
                              bool in_force)
{
    static const struct html_column columns[] = {
        {.heading = "Policy", .style = "object"},
        {.heading = "Requested", .style = "word"},
        {.heading = "In force", .style = "word"},
        {.heading = "Effect", .style = "sentence"},
        {.heading = "Referrers", .style = "number"},
        {.heading = "Names"},
        {.heading = NULL},
    };
    struct html_table table;
    size_t rows = 0;

    if (parties->count == 0)
        return;
    table = html_table_open(out, dependency_field_names[parties->field], columns, NULL);
    for (unsigned other = 0; other < 2; other++) {
        for (size_t i = 0; i < parties->count; i++) {
            if ((parties->items[i].value == in_force) == (bool)other && rows++ < HTML_SHOWN_MAX)
                add_party_row(parties, &parties->items[i], in_force, &table);
        }
    }
    html_table_close(&table);
    html_remaining_count(out, parties->count);
}

/* Returns true if a party before the index has the same policy. */
static bool has_earlier_party(const struct field_parties *parties, size_t index)
{
    for (size_t i = 0; i < index; i++) {
        if (policy_names_equal(&parties->items[i].policy, &parties->items[index].policy))
            return true;
    }
    return false;
}

/* Appends the action, with links to the policies. */
static void add_action(struct strbuf *out, const struct field_parties *parties)
{
    const char *name = dependency_field_names[parties->field];
    size_t count = 0;

    strbuf_addf(out,
                "<p><b>Action (%s):</b> Set spec.%c%s to the same value in all policies of the "
                "referrers",
                actor_title(ACTOR_POLICY_OWNER), name[0] - 'A' + 'a', name + 1);
    for (size_t i = 0; i < parties->count; i++) {
        if (!parties->items[i].policy.kind || has_earlier_party(parties, i) ||
            count++ >= OBJECT_LINKS_MAX)
            continue;
        strbuf_adds(out, count > 1 ? ", " : ": ");
        link_policy(out, parties->items[i].policy);
    }
    if (count > OBJECT_LINKS_MAX)
        strbuf_addf(out, " and %zu more", count - OBJECT_LINKS_MAX);
    strbuf_adds(out, ".</p>\n");
}

static void add_field(struct strbuf *out, const struct health *h, const struct entry *dependency,
                      enum dependency_field field)
{
    const struct dependency_decision *d = dependency_decision(dependency);
    const struct field_resolution *f = &d->fields[field];
    const char *name = dependency_field_names[field];
    bool conflict = f->conflict || f->predicted;
    bool in_force = f->conflict || !f->predicted ? f->stored : f->predicted_resolved;
    CLEANUP(strbuf_release) struct strbuf value = STRBUF_INIT(TITLE_MAX_BYTES);
    CLEANUP(field_parties_release)
    struct field_parties parties = {.field = field, .current = f->predicted && !f->conflict};

    strbuf_addf(out, "<h2 id=\"%s\">%s</h2>\n<p>", name, name);
    if (f->conflict)
        strbuf_addf(out, "The referrers request different values. The value in force is <b>%s</b>",
                    dependency_value_name(field, in_force));
    else if (f->predicted)
        strbuf_addf(out,
                    "The referrers will request different values once Karmada has applied the "
                    "present policies. The value will be <b>%s</b>",
                    dependency_resolved_name(field, f->predicted_outcome, in_force));
    else
        strbuf_addf(out,
                    "<span class=\"good\">All referrers request the same value.</span> The "
                    "value in force is <b>%s</b>",
                    dependency_value_name(field, in_force));
    html_since(out, f->conflict ? d->since_ms : 0, false, h->now_ms);
    strbuf_adds(out, ".");
    dependency_describe_resolved(d, field, false, &value);
    if (!dependency_outcome_is_certain(f->outcome))
        strbuf_addf(out, " The value is %s.", value.data);
    else if (f->stored != f->resolved)
        strbuf_addf(out, " The binding should have <b>%s</b>.", value.data);
    strbuf_adds(out, "</p>\n");
    engine_dependency_referrers(h->evaluation->engine, dependency, add_to_party, &parties);
    if (conflict)
        add_action(out, &parties);
    add_parties_table(out, &parties, in_force);
}

/* ---- page ---- */

void conflict_page(struct queued_request *request, const struct health *h)
{
    CLEANUP(strbuf_release) struct strbuf title = STRBUF_INIT(TITLE_MAX_BYTES);
    struct dependency_search search = {&request->query, NULL};
    struct strbuf *out = &request->body;

    report_each_entry(h->evaluation->engine, REPORT_CONFLICTS, match_dependency, &search);
    if (!search.found) {
        api_refuse(request, MHD_HTTP_NOT_FOUND, "no template requires this object as a dependency");
        return;
    }

    struct identity id = resource_identity_of(search.found);

    strbuf_addf(&title, "Dependency %s %s%s%s", id.kind, id.ns, *id.ns ? "/" : "", id.name);
    page_layout_open(out, NAVIGATION_NONE, title.data);
    object_problems_write(out, h, search.found);
    strbuf_adds(out, "<p>Karmada creates one binding for a dependency, with one value of each "
                     "field for all its referrers.</p>\n");
    for (unsigned i = 0; i < DEPENDENCY_FIELD_COUNT; i++)
        add_field(out, h, search.found, i);
    facts_open(out, "related", "Related objects");
    fact_open(out, "Template");
    link_template(out, id);
    strbuf_adds(out, "</dd>\n");
    if (*id.ns) {
        fact_open(out, "Namespace");
        link_namespace(out, id.ns);
        strbuf_adds(out, "</dd>\n");
    }
    fact_number(out, "Required by", dependency_decision(search.found)->referrers);
    facts_close(out);
    page_layout_close(out, h->now_ms);
}
