/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/expose/report.h"

#include "metrics/expose/parties.h"
#include "metrics/expose/report_items.h"
#include "metrics/model/listing.h"

/* Everything that the report is made from, gathered before the first byte. */
struct report {
    const struct engine *engine;
    struct listing templates;
    struct listing policies;
    struct listing bindings;
    struct listing leases;
    struct listing dependencies;  /* By the resource that they are about. */
    struct policy_counts *counts; /* As `policies`. */
    struct map counts_by_policy;
};

static bool is_of_policy(const void *item, const void *key)
{
    const struct policy_counts *counts = item;

    return counts->policy == key;
}

/* The counts of a policy; those that nobody reads if there is no such policy. */
static struct policy_counts *counts_of(struct report *r, const struct entry *policy)
{
    struct policy_counts *counts =
        policy ? map_get(&r->counts_by_policy, map_hash_address(policy), policy) : NULL;

    return counts ? counts : &r->counts[r->policies.count];
}

/* A template counts for the policies that select it and for the one that it claims. */
static void count_template(struct report *r, const struct template_decision *d)
{
    bool counted = false;

    for (uint32_t i = 0; i < d->candidate_count; i++) {
        policy_counts_add(counts_of(r, d->candidates[i].policy), d);
        counted |= d->candidates[i].policy == d->claimed;
    }
    if (d->claimed && !counted)
        policy_counts_add(counts_of(r, d->claimed), d);
}

static void count_policies(struct report *r)
{
    r->counts = xcalloc(r->policies.count + 1, sizeof(*r->counts));
    for (size_t i = 0; i < r->policies.count; i++) {
        r->counts[i].policy = r->policies.entries[i];
        map_add(&r->counts_by_policy, map_hash_address(r->policies.entries[i]), &r->counts[i]);
    }
    for (size_t i = 0; i < r->templates.count; i++)
        count_template(r, template_decision(r->templates.entries[i]));
}

/* Of a kind that has not been read as a whole no template has a decision. */
static struct listing list_decided(const struct store *store)
{
    struct listing all = listing_make(store, CLASS_TEMPLATE);
    size_t count = 0;

    for (size_t i = 0; i < all.count; i++) {
        if (template_decision(all.entries[i]))
            all.entries[count++] = all.entries[i];
    }
    all.count = count;
    return all;
}

/* Keep those that are attached; the rest of the listing is of no interest. */
static void add_dependencies(struct listing *out, const struct listing *from)
{
    for (size_t i = 0; i < from->count; i++) {
        const struct dependency_decision *d = dependency_decision(from->entries[i]);

        if (d && d->attached)
            out->entries[out->count++] = from->entries[i];
    }
}

static int by_resource(const void *a, const void *b)
{
    const struct entry *left = *(const struct entry *const *)a;
    const struct entry *right = *(const struct entry *const *)b;
    struct identity l = dependency_resource(left);
    struct identity r = dependency_resource(right);
    int order = strcmp(l.kind, r.kind);

    if (order == 0)
        order = strcmp(l.ns, r.ns);
    if (order == 0)
        order = strcmp(l.name, r.name);
    if (order == 0)
        order = strcmp(l.api_version, r.api_version);
    return order ? order : entry_compare(left, right);
}

static struct listing list_dependencies(const struct listing *templates,
                                        const struct listing *bindings)
{
    struct listing out = {0};
    size_t count = templates->count + bindings->count;

    out.entries = xreallocarray(NULL, count + 1, sizeof(const struct entry *));
    add_dependencies(&out, templates);
    add_dependencies(&out, bindings);
    qsort(out.entries, out.count, sizeof(const struct entry *), by_resource);
    return out;
}

static void put_summary(struct writer *w, const struct report *r)
{
    int64_t states[STATE_COUNT] = {0};
    int64_t conflicts[DEPENDENCY_FIELD_COUNT] = {0};

    for (size_t i = 0; i < r->templates.count; i++)
        states[template_decision(r->templates.entries[i])->state]++;
    for (size_t i = 0; i < r->dependencies.count; i++) {
        const struct dependency_decision *d = dependency_decision(r->dependencies.entries[i]);

        for (unsigned k = 0; k < DEPENDENCY_FIELD_COUNT; k++)
            conflicts[k] += d->fields[k].conflict;
    }
    writer_open(w, "summary", '{');
    writer_open(w, "templates", '{');
    for (unsigned i = 0; i < STATE_COUNT; i++)
        writer_int(w, state_names[i], states[i]);
    writer_close(w, '}');
    writer_open(w, "conflicts", '{');
    for (unsigned i = 0; i < DEPENDENCY_FIELD_COUNT; i++)
        writer_int(w, dependency_field_names[i], conflicts[i]);
    writer_close(w, '}');
    writer_close(w, '}');
}

typedef void put_fn(struct writer *w, const struct entry *entry);

static void put_each(struct writer *w, const struct listing *listing, put_fn *put)
{
    for (size_t i = 0; i < listing->count; i++)
        put(w, listing->entries[i]);
}

static void put_list(struct writer *w, const char *key, const struct listing *listing, put_fn *put)
{
    writer_open(w, key, '[');
    put_each(w, listing, put);
    writer_close(w, ']');
}

static void put_documents(struct writer *w, bool duplicates, const struct report_invalid *invalid,
                          size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (invalid[i].duplicate != duplicates)
            continue;
        writer_open(w, NULL, '{');
        writer_text(w, "kind", invalid[i].kind);
        writer_text(w, "path", invalid[i].path);
        writer_int(w, "line", (int64_t)invalid[i].line);
        writer_int(w, "column", (int64_t)invalid[i].column);
        writer_text(w, "text", invalid[i].text);
        writer_close(w, '}');
    }
}

static void put_invalid(struct writer *w, const struct report *r,
                        const struct report_invalid *invalid, size_t count)
{
    writer_open(w, "invalid", '[');
    put_documents(w, false, invalid, count);
    put_each(w, &r->policies, report_problems);
    put_each(w, &r->templates, report_defects);
    put_each(w, &r->bindings, report_defects);
    writer_close(w, ']');
    writer_open(w, "duplicates", '[');
    put_documents(w, true, invalid, count);
    writer_close(w, ']');
}

static void put_lists(struct writer *w, const struct report *r)
{
    writer_open(w, "templates", '[');
    for (size_t i = 0; i < r->templates.count; i++)
        report_template(w, r->engine, r->templates.entries[i]);
    writer_close(w, ']');
    writer_open(w, "conflicts", '[');
    for (size_t i = 0; i < r->dependencies.count; i++)
        report_conflicts(w, r->engine, r->dependencies.entries[i]);
    writer_close(w, ']');
    put_list(w, "dependencies", &r->dependencies, report_dependency);
    put_list(w, "leases", &r->leases, report_lease);
    writer_open(w, "policies", '[');
    for (size_t i = 0; i < r->policies.count; i++)
        report_policy(w, &r->counts[i]);
    writer_close(w, ']');
}

void report_write(const struct engine *engine, const struct report_invalid *invalid,
                  size_t invalid_count, struct strbuf *out)
{
    const struct store *store = engine_store(engine);
    struct writer w = {.out = out, .lines = 2};
    struct report r = {
        .engine = engine,
        .templates = list_decided(store),
        .policies = listing_make(store, CLASS_POLICY),
        .bindings = listing_make(store, CLASS_BINDING),
        .leases = listing_make(store, CLASS_LEASE),
        .counts_by_policy = MAP_INIT(is_of_policy),
    };

    r.dependencies = list_dependencies(&r.templates, &r.bindings);
    count_policies(&r);
    writer_open(&w, NULL, '{');
    writer_text(&w, "apiVersion", "karmada-policy-exporter/v1");
    put_summary(&w, &r);
    put_lists(&w, &r);
    put_invalid(&w, &r, invalid, invalid_count);
    writer_close(&w, '}');
    strbuf_addc(out, '\n');

    listing_release(&r.templates);
    listing_release(&r.policies);
    listing_release(&r.bindings);
    listing_release(&r.leases);
    listing_release(&r.dependencies);
    free(r.counts);
    map_release(&r.counts_by_policy);
}
