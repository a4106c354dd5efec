/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/evaluation.h"
#include "exporter/web/listed_problems.h"
#include "exporter/web/objects/object_parts.h"
#include "metrics/model/store.h"

/* Page of a namespace: problems of its objects, its templates by state, and its policies. */

enum { NAME_MAX_BYTES = 4096, LINKS_MAX_BYTES = 4 << 20 };

/* Numbers of the existing objects in a namespace. */
struct namespace_counts {
    size_t templates;
    size_t states[STATE_COUNT]; /* Of templates with a decision. */
    size_t policies;
    size_t bindings;
    size_t quotas;
};

static void count_object(const struct entry *entry, struct namespace_counts *counts)
{
    counts->policies += entry_class(entry) == CLASS_POLICY;
    counts->bindings += entry_class(entry) == CLASS_BINDING;
    counts->quotas += entry_class(entry) == CLASS_QUOTA;
    if (entry_class(entry) != CLASS_TEMPLATE)
        return;
    counts->templates++;
    if (template_decision(entry))
        counts->states[template_decision(entry)->state]++;
}

/* Appends the policy, unless OBJECT_LINKS_MAX policies are in the list. */
static void add_policy_link(const struct entry *policy, size_t count, struct strbuf *links)
{
    if (count > OBJECT_LINKS_MAX)
        return;
    strbuf_adds(links, count > 1 ? ", " : "");
    link_entry(links, policy);
}

/* Counts the objects of a namespace, and appends its policies to `links`. */
static struct namespace_counts count_objects(struct store *store, const char *ns,
                                             struct strbuf *links)
{
    struct store_walk walk = store_walk_begin(store, 1U << CLASS_TEMPLATE | 1U << CLASS_POLICY |
                                                         1U << CLASS_BINDING | 1U << CLASS_QUOTA);
    struct namespace_counts counts = {0};
    const struct entry *entry;

    while ((entry = store_walk_next(&walk)) != NULL) {
        if (!entry_exists(entry) || strcmp(entry_ns(entry), ns) != 0)
            continue;
        count_object(entry, &counts);
        if (entry_class(entry) == CLASS_POLICY)
            add_policy_link(entry, counts.policies, links);
    }
    store_walk_stop(&walk);
    return counts;
}

/* Appends the templates by state, and the policies, with links to the lists. */
static void add_objects(const struct namespace_counts *counts, const char *ns,
                        const struct strbuf *policies, struct strbuf *out)
{
    html_section(out, "states", "Templates by state", counts->templates);
    strbuf_adds(out, "<ul class=\"tiles\">\n");
    for (unsigned i = 0; i < STATE_COUNT; i++) {
        if (counts->states[i] == 0)
            continue;
        strbuf_adds(out, "<li>");
        link_open_with(out, "templates", {PARAMETER_STATE, state_names[i]},
                       {PARAMETER_NAMESPACE, ns});
        strbuf_addf(out, "<b>%zu</b> %s</a></li>\n", counts->states[i], state_names[i]);
    }
    strbuf_adds(out, "</ul>\n<p>");
    link_open_with(out, "templates", {PARAMETER_NAMESPACE, ns});
    strbuf_adds(out, "All templates of the namespace</a></p>\n</section>\n");
    html_section(out, "policies", "Policies", counts->policies);
    if (counts->policies == 0)
        strbuf_adds(out, "<p>The namespace has no policy of its own.</p>\n</section>\n");
    if (counts->policies == 0)
        return;
    strbuf_addf(out, "<p>%s", policies->data);
    if (counts->policies > OBJECT_LINKS_MAX)
        strbuf_addf(out, " and %zu more", counts->policies - OBJECT_LINKS_MAX);
    strbuf_adds(out, "</p>\n<p>");
    link_open_with(out, "policies", {PARAMETER_NAMESPACE, ns});
    strbuf_adds(out, "All policies of the namespace</a></p>\n</section>\n");
}

/* Appends the first problems of a namespace, and a link to all of them. */
static void add_problems(const struct health *h, const char *ns, struct strbuf *out)
{
    CLEANUP(listed_problems_release) struct listed_problems view;
    struct problem_query q = {.filter = PROBLEM_FILTER_ALL, .statuses = PROBLEMS_LISTED};

    q.filter.ns = ns;
    listed_problems_make(&view, h, &q);
    problem_verdict_write(&view, out);
    strbuf_adds(out, "<p>");
    link_open_with(out, "./", {PARAMETER_NAMESPACE, ns});
    strbuf_adds(out, "All problems of the namespace, with filters</a></p>\n");
}

static void count_line(void *context, enum explain_style style, const char *text)
{
    (void)style;
    (void)text;
    ++*(size_t *)context;
}

/* Appends the quotas of the namespace, or that they have not been read, as the explanation has it.
 */
static void add_quotas(const struct health *h, const char *ns, size_t count, struct strbuf *out)
{
    struct explanation x;
    size_t lines = 0;

    explanation_init(&x);
    explain_namespace(h->evaluation->engine, ns, h->now_ms, &x);
    explanation_finish(&x);
    explanation_each_line_of(&x, "quotas", count_line, &lines);
    if (lines > 0) {
        html_section(out, "quotas", "Quotas", count);
        explained_section_write(out, &x, "quotas");
        strbuf_adds(out, "</section>\n");
    }
    explanation_release(&x);
}

void namespace_page(struct queued_request *request, const struct health *h)
{
    const char *ns = request->query.values[PARAMETER_NAMESPACE];
    CLEANUP(strbuf_release) struct strbuf policies = STRBUF_INIT(LINKS_MAX_BYTES);
    struct namespace_counts counts = count_objects(h->evaluation->store, ns, &policies);
    CLEANUP(strbuf_release) struct strbuf title = STRBUF_INIT(NAME_MAX_BYTES);

    if (counts.templates + counts.policies + counts.bindings + counts.quotas == 0) {
        api_refuse(request, MHD_HTTP_NOT_FOUND,
                   "no template, policy, binding or quota has this namespace");
        return;
    }
    strbuf_addf(&title, "Namespace %s", ns);
    page_layout_open(&request->body, NAVIGATION_NONE, title.data);
    if (engine_problems(h->evaluation->engine))
        add_problems(h, ns, &request->body);
    add_objects(&counts, ns, &policies, &request->body);
    add_quotas(h, ns, counts.quotas, &request->body);
    page_layout_close(&request->body, h->now_ms);
}
