/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/web/findings_section.h"

#include "exporter/web/html.h"
#include "exporter/web/link.h"
#include "metrics/expose/decision_text.h"
#include "metrics/model/store.h"

enum { SUBJECT_MAX = 8192 };

/* THE table of sections, worst first. A new one is a row here. */
static const struct section {
    const char *id;
    const char *title;
    const char *text;
    unsigned list; /* Of struct findings. */
    card_fn *card;
    const char *more; /* The page that lists all of them, with its filter; NULL: none does. */
    const char *state;
} sections[] = {
    {"conflict", "Dependency conflicts",
     "Those that require a dependency want different things of it, and one value wins for all.",
     FINDING_CONFLICT, card_conflicts, "conflicts", NULL},
    {"pending", "Pending", "Nothing propagates them: they run in no member cluster.",
     FINDING_PENDING, card_template, "templates", "pending"},
    {"stale", "Stale", "They are not on what governs them now.", FINDING_STALE, card_template,
     "templates", "stale"},
    {"held", "Not healthy everywhere", "Their bindings have not come all the way.",
     FINDING_NOT_HEALTHY, card_delivery, NULL, NULL},
    {"orphaned", "Orphaned", "What runs is left of a policy that is gone.", FINDING_ORPHANED,
     card_template, "templates", "orphaned"},
    {"predicted", "Conflicts to come", "They will be in conflict once their policies are applied.",
     FINDING_PREDICTED, card_conflicts, "conflicts", NULL},
    {"rollout", "Rollouts under way", "Their templates run more than one version of them.",
     FINDING_ROLLOUT, card_rollout, "policies", NULL},
};

/* How many there are, as the metrics count them: fields in conflict, else objects. */
static size_t count_of(const struct findings *f, const struct section *s)
{
    return s->list < FINDING_CLASSES ? findings_count(f, (enum finding_class)s->list)
                                     : f->lists[s->list].found;
}

static void add_more(const struct cards *c, const struct section *s, size_t found, const char *ns)
{
    if (found <= HTML_SHOWN_MAX)
        return;
    strbuf_adds(c->out, "<p>");
    if (s->more)
        link_open_with(c->out, s->more, {PARAMETER_STATE, s->state}, {PARAMETER_NAMESPACE, ns});
    strbuf_addf(c->out, "And %zu more.%s</p>\n", found - HTML_SHOWN_MAX, s->more ? "</a>" : "");
}

static void add_section(const struct cards *c, const struct findings *f, const struct section *s,
                        const char *ns)
{
    const struct finding_list *list = &f->lists[s->list];

    if (list->count == 0)
        return;
    html_section(c->out, s->id, s->title, count_of(f, s));
    strbuf_addf(c->out, "<p>%s</p>\n<ul class=\"cards\">\n", s->text);
    for (size_t i = 0; i < list->count; i++)
        s->card(c, list->entries[i]);
    strbuf_adds(c->out, "</ul>\n");
    add_more(c, s, list->found, ns);
    strbuf_adds(c->out, "</section>\n");
}

/* Objects that can have several findings, each with a sentence. */
static void add_wrongs(const struct cards *c, const struct problem_class *w,
                       const struct finding_list *list)
{
    CLEANUP(strbuf_release) struct strbuf subject = STRBUF_INIT(SUBJECT_MAX);

    if (list->count == 0)
        return;
    html_section(c->out, fail_on_names[w->class], w->title, list->found);
    strbuf_adds(c->out, "<ul class=\"cards\">\n");
    for (size_t i = 0; i < list->count; i++) {
        strbuf_adds(c->out, "<li>\n<h3>");
        link_entry(c->out, list->entries[i]);
        strbuf_adds(c->out, "</h3>\n");
        for (unsigned k = 0; w->of(list->entries[i]) >> k != 0; k++) {
            if (!(w->of(list->entries[i]) & 1U << k))
                continue;
            strbuf_reset(&subject);
            if (w->class == FINDING_CONNECTOR)
                connector_conflict_add_subject(c->engine, list->entries[i], k, &subject);
            strbuf_addf(c->out, "<p class=\"bad\">%s", w->texts[k]);
            html_text(c->out, subject.data);
            strbuf_adds(c->out, "</p>\n");
        }
        strbuf_addf(c->out, "<p>Who must act: <b>%s</b>.</p>\n</li>\n", w->actor);
    }
    strbuf_adds(c->out, "</ul>\n");
    html_more(c->out, list->found);
    strbuf_adds(c->out, "</section>\n");
}

static void add_jump(struct strbuf *out, const char *id, const char *title, size_t count)
{
    if (count > 0)
        strbuf_addf(out, "<li><a href=\"#%s\"><b>%zu</b> %s</a></li>\n", id, count, title);
}

/* How much is wrong, with a way to each of it. */
static void add_jumps(const struct cards *c, const struct findings *f)
{
    size_t found = 0;

    for (size_t i = 0; i < ARRAY_LEN(sections); i++)
        found += count_of(f, &sections[i]);
    for (size_t i = 0; i < PROBLEM_CLASSES; i++)
        found += f->lists[problem_class[i].class].found;
    if (found == 0) {
        strbuf_adds(c->out, "<p class=\"good\">Nothing is wrong: each template is where its policy "
                            "says, and all who require a dependency agree.</p>\n");
        return;
    }
    strbuf_adds(c->out, "<ul class=\"tiles\">\n");
    for (size_t i = 0; i < ARRAY_LEN(sections); i++)
        add_jump(c->out, sections[i].id, sections[i].title, count_of(f, &sections[i]));
    for (size_t i = 0; i < PROBLEM_CLASSES; i++)
        add_jump(c->out, fail_on_names[problem_class[i].class], problem_class[i].title,
                 f->lists[problem_class[i].class].found);
    strbuf_adds(c->out, "</ul>\n");
}

static void add_states(const struct cards *c, const struct findings *f, const char *ns)
{
    html_section(c->out, "states", "Templates by state", f->templates);
    strbuf_adds(c->out, "<ul class=\"tiles\">\n");
    for (unsigned i = 0; i < STATE_COUNT; i++) {
        if (f->states[i] == 0)
            continue;
        strbuf_adds(c->out, "<li>");
        link_open_with(c->out, "templates", {PARAMETER_STATE, state_names[i]},
                       {PARAMETER_NAMESPACE, ns});
        strbuf_addf(c->out, "<b>%zu</b> %s</a></li>\n", f->states[i], state_names[i]);
    }
    strbuf_adds(c->out, "</ul>\n");
    if (f->not_selected > 0)
        strbuf_addf(c->out, "<p class=\"faint\">%zu pending of kinds that no policy selects.</p>\n",
                    f->not_selected);
    strbuf_adds(c->out, "</section>\n");
}

void findings_section_write(const struct cards *c, const struct findings *f, const char *ns)
{
    add_jumps(c, f);
    add_states(c, f, ns);
    for (size_t i = 0; i < ARRAY_LEN(sections); i++)
        add_section(c, f, &sections[i], ns);
    for (size_t i = 0; i < PROBLEM_CLASSES; i++)
        add_wrongs(c, &problem_class[i], &f->lists[problem_class[i].class]);
}
