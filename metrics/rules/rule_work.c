/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/rules/links.h"
#include "metrics/rules/rule.h"

static void mark_template(struct rule_context *c, const struct binding *b)
{
    struct entry *template = b ? binding_template(c->store, b) : NULL;

    if (template)
        graph_mark(c->graph, template);
}

static void mark_bound(struct rule_context *c)
{
    for (const struct type *type = store_types(c->store); type; type = type->next) {
        if (type->def->class != CLASS_BINDING)
            continue;
        for (const struct partition *p = type->partitions; p; p = p->next_of_type) {
            for (size_t i = 0; i < p->count; i++)
                mark_template(c, entry_binding(p->entries[i]));
        }
    }
}

void rule_works_changed(struct rule_context *c)
{
    bool incomplete = incomplete_classes(&c->incomplete) & 1u << CLASS_WORK;
    bool known = !incomplete && (c->works.followed || store_count(c->store, CLASS_WORK) > 0);

    if (known == c->works.known)
        return;
    c->works.known = known;
    mark_bound(c);
}

/* The template of the binding that it belongs to. */
static void mark_template_of(struct rule_context *c, const struct work *work)
{
    const struct kind_def *def;

    if (!work || !work->binding_name)
        return;
    def = kind_binding(!*work->binding_ns);
    mark_template(c, entry_binding(store_find(
                         c->store, &(struct identity){def->api_version, def->name, work->binding_ns,
                                                      work->binding_name})));
}

static void changed(struct rule_context *c, struct entry *entry, const void *old)
{
    if (works_changed(&c->works, entry, old)) {
        mark_template_of(c, old);
        mark_template_of(c, entry_work(entry));
    }
    rule_works_changed(c);
}

const struct rule rule_work = {.rank = RULE_RANK_LAST, .changed = changed};
