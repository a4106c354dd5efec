/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/web/page_parts.h"

#include "exporter/evaluation.h"
#include "metrics/expose/decision_text.h"
#include "metrics/model/store.h"
#include "metrics/rules/decision.h"
#include "metrics/rules/policy_versions.h"

enum {
    VERSIONS_MAX = 20, /* Known versions on the card of a policy. */
    SUBJECT_MAX_BYTES = 8192,
};

/* ---- cards of templates ---- */

/* Appends state, reason and phase as in the metrics, start, policy, and the version if behind. */
static void add_decision(const struct card_writer *c, const struct template_decision *d)
{
    const struct entry *policy = d->claimed ? d->claimed : d->governing;
    const char *reason = reason_name(d->state, d->reason);
    struct since since = template_since(d);

    strbuf_addf(c->out, "<p class=\"faint\">%s", state_names[d->state]);
    if (reason)
        strbuf_addf(c->out, ", %s", reason);
    if (d->state == STATE_STALE)
        strbuf_addf(c->out, ", %s", phase_names[d->phase]);
    html_since(c->out, since.time_ms, since.seen, c->now_ms);
    if (policy) {
        strbuf_adds(c->out, "; ");
        link_entry(c->out, policy);
    }
    if (d->version && policy_version_count_later(d->version) > 0)
        strbuf_addf(c->out, ", version %" PRIu32 ", %d behind", d->version->number,
                    policy_version_count_later(d->version));
    strbuf_adds(c->out, "</p>\n");
}

static void open_card(const struct card_writer *c, const struct entry *entry)
{
    strbuf_adds(c->out, "<li>\n<h3>");
    link_entry(c->out, entry);
    strbuf_adds(c->out, "</h3>\n");
}

void write_template_card(const struct card_writer *c, const struct entry *entry)
{
    const struct template_decision *d = template_decision(entry);
    enum takeover takeover = engine_takeover(c->engine);

    open_card(c, entry);
    strbuf_addf(c->out, "<p>%s</p>\n", state_text(d));
    add_decision(c, d);
    if (responsible_actor(d, takeover) != ACTOR_NONE)
        strbuf_addf(c->out, "<p>Who must act: <b>%s</b>. %s</p>\n",
                    responsible_actor_text(d, takeover), stage_action_of(d->stages.at).text);
    strbuf_adds(c->out, "</li>\n");
}

void write_delivery_card(const struct card_writer *c, const struct entry *entry)
{
    const struct template_stages *stages = &template_decision(entry)->stages;
    const char *message = engine_delivery_message(c->engine, entry);
    const struct stage_and_reason at = stages->delivery;
    struct stage_action end = stage_action_of(at);

    open_card(c, entry);
    strbuf_addf(c->out, "<p>%s %s</p>\n<p class=\"faint\">%s, %s", stage_texts[at.stage],
                stage_reason_texts[at.reason], stage_names[at.stage],
                stage_reason_names[at.reason]);
    html_since(c->out, (int64_t)stages->delivery_since_s * 1000, false, c->now_ms);
    strbuf_adds(c->out, "</p>\n");
    if (*message != '\0') {
        strbuf_adds(c->out, "<p>Karmada says: ");
        html_text(c->out, message);
        strbuf_adds(c->out, "</p>\n");
    }
    if (end.actor != ACTOR_NONE)
        strbuf_addf(c->out, "<p>Who must act: <b>%s</b>. %s</p>\n", stage_actor_text(end.actor),
                    end.text);
    strbuf_adds(c->out, "</li>\n");
}

/* ---- cards of conflicts ---- */

/* One side of a conflict: the referrers that request a value of a field. */
struct conflict_side {
    const struct card_writer *card_writer;
    enum dependency_field field;
    bool current; /* Values are `current` of struct dependency_referrer; false: `observed`. */
    bool value;
    size_t count; /* Number of referrers so far. */
};

static void add_referrer(void *context, const struct dependency_referrer *referrer)
{
    struct conflict_side *s = context;
    const struct entry *object = referrer->template ? referrer->template : referrer->binding;
    const struct dependency_values *values = s->current ? &referrer->current : &referrer->observed;
    struct policy_name policy = referrer_policy(referrer, s->current);

    if (!object || !(s->current ? referrer->counts_current : referrer->counts_observed) ||
        values->wants[s->field] != s->value || s->count++ >= s->card_writer->referrers_max)
        return;
    strbuf_adds(s->card_writer->out, "<li>");
    link_entry(s->card_writer->out, object);
    if (policy.kind) {
        strbuf_adds(s->card_writer->out, " by ");
        link_policy(s->card_writer->out, policy);
    }
    strbuf_adds(s->card_writer->out, "</li>\n");
}

static void add_conflict_side(const struct card_writer *c, const struct entry *dependency,
                              struct conflict_side side)
{
    strbuf_addf(c->out, "<div>\n<p>Who wants <b>%s</b></p>\n<ul>\n",
                dependency_value_name(side.field, side.value));
    engine_dependency_referrers(c->engine, dependency, add_referrer, &side);
    strbuf_adds(c->out, "</ul>\n");
    if (side.count > c->referrers_max)
        strbuf_addf(c->out, "<p class=\"faint\">And %zu more.</p>\n",
                    side.count - c->referrers_max);
    strbuf_adds(c->out, "</div>\n");
}

static void add_conflict(const struct card_writer *c, const struct entry *dependency,
                         enum dependency_field field)
{
    const struct dependency_decision *d = dependency_decision(dependency);
    const struct field_resolution *f = &d->fields[field];
    struct conflict_side side = {.card_writer = c, .field = field, .current = !f->conflict};
    bool resolved = f->conflict ? f->resolved : f->predicted_resolved;

    strbuf_adds(c->out, "<li>\n<h3>");
    link_dependency(c->out, resource_identity_of(dependency));
    strbuf_addf(c->out, "</h3>\n<p>%s %s to <b>%s</b>", dependency_field_names[field],
                f->conflict ? "resolves" : "will resolve", dependency_value_name(field, resolved));
    if (f->conflict && f->unapplied && f->stored != f->resolved)
        strbuf_addf(c->out, " (not applied: the binding still has <b>%s</b>)",
                    dependency_value_name(field, f->stored));
    html_since(c->out, f->conflict ? d->since_ms : 0, false, c->now_ms);
    strbuf_adds(c->out, "</p>\n<div class=\"sides\">\n");
    add_conflict_side(c, dependency, side);
    side.value = true;
    add_conflict_side(c, dependency, side);
    strbuf_addf(
        c->out,
        "</div>\n<p>Who must act: <b>whoever owns these policies</b>. It ends when they all say "
        "the same of spec.%c%s, and are in force.</p>\n</li>\n",
        dependency_field_names[field][0] - 'A' + 'a', &dependency_field_names[field][1]);
}

void write_conflict_cards(const struct card_writer *c, const struct entry *dependency)
{
    const struct dependency_decision *d = dependency_decision(dependency);

    for (unsigned i = 0; i < DEPENDENCY_FIELD_COUNT; i++) {
        if (d->fields[i].conflict || d->fields[i].predicted)
            add_conflict(c, dependency, i);
    }
}

/* ---- cards of rollouts ---- */

/* Appends a version: "version 2 (HASH), generation 5, since ..., by kubectl: 3 templates". */
static void add_version(const struct card_writer *c, const struct policy_version *v)
{
    char hash[POLICY_VERSION_HASH_SIZE];

    policy_version_hash(v, hash);
    if (policy_version_is_unknown(v))
        strbuf_adds(c->out, "<li>what no version is known to have said");
    else
        strbuf_addf(c->out, "<li>version <b>%" PRIu32 "</b> (%s)%s%s", v->number, hash,
                    v == policy_history_current_version(v->history) ? ", the present one" : "",
                    v->recovered ? ", recovered from its bindings" : "");
    if (v->generation)
        strbuf_addf(c->out, ", generation %" PRId64, v->generation);
    html_since(c->out, v->since_ms, v->since_seen, c->now_ms);
    if (v->by) {
        strbuf_adds(c->out, ", by ");
        html_text(c->out, v->by);
    }
    strbuf_addf(c->out, ": %" PRIu32 " template%s</li>\n", v->templates,
                v->templates == 1 ? "" : "s");
}

void write_rollout_card(const struct card_writer *c, const struct entry *policy)
{
    const struct policy_history *h = policy_decision(policy)->history;
    size_t shown = 0;

    open_card(c, policy);
    strbuf_adds(c->out, "<ul>\n");
    /* Versions without templates are omitted, except the current one. */
    for (size_t at = h->count; at-- > 0 && shown < VERSIONS_MAX;) {
        if (h->versions[at]->templates == 0 && at + 1 < h->count)
            continue;
        add_version(c, h->versions[at]);
        shown++;
    }
    if (h->unknown.templates > 0)
        add_version(c, &h->unknown);
    strbuf_adds(c->out, "</ul>\n</li>\n");
}

/* ---- pages with a list ---- */

/* Labels of the fields of the filter form; NULL for parameters without a field. */
static const char *const filter_labels[PARAMETER_COUNT] = {
    [PARAMETER_STATE] = "State",          [PARAMETER_KIND] = "Kind",
    [PARAMETER_GROUP] = "API group",      [PARAMETER_NAMESPACE] = "Namespace",
    [PARAMETER_REASON] = "Reason",        [PARAMETER_POLICY] = "Policy",
    [PARAMETER_VERSION] = "Version",      [PARAMETER_OWNER] = "Owner",
    [PARAMETER_SEARCH] = "Name contains", [PARAMETER_STAGE] = "Stage",
    [PARAMETER_ACTOR] = "Who must act",
};

/* Fields that the form also has if the request does not set them. */
enum {
    DEFAULT_FIELDS = PARAMETER_BIT(STATE) | PARAMETER_BIT(KIND) | PARAMETER_BIT(NAMESPACE) |
                     PARAMETER_BIT(POLICY) | PARAMETER_BIT(SEARCH),
};

static void add_state_options(struct strbuf *out, const char *chosen)
{
    strbuf_adds(out, "<select id=\"state\" name=\"state\">\n<option value=\"\">all</option>\n");
    for (unsigned i = 0; i < STATE_COUNT; i++)
        strbuf_addf(out, "<option%s>%s</option>\n",
                    chosen && strcmp(chosen, state_names[i]) == 0 ? " selected" : "",
                    state_names[i]);
    strbuf_adds(out, "</select>");
}

static void add_filter_field(struct strbuf *out, enum parameter parameter, const char *value)
{
    const char *name = parameter_names[parameter];

    strbuf_addf(out, "<div>\n<label for=\"%s\">%s</label>\n", name, filter_labels[parameter]);
    if (parameter == PARAMETER_STATE) {
        add_state_options(out, value);
    } else {
        strbuf_addf(out, "<input type=\"text\" id=\"%s\" name=\"%s\" value=\"", name, name);
        html_text(out, value ? value : "");
        strbuf_adds(out, "\">");
    }
    strbuf_adds(out, "\n</div>\n");
}

void list_page_open(struct queued_request *request, enum navigation_link current, const char *title)
{
    struct strbuf *out = &request->body;

    page_layout_open(out, current, title);
    strbuf_addf(out, "<form action=\"%s\" method=\"get\">\n", request->endpoint->path + 1);
    for (unsigned i = 0; i < PARAMETER_COUNT; i++) {
        const char *value = request->query.values[i];

        if (filter_labels[i] && (request->endpoint->known >> i & 1) &&
            (value || (DEFAULT_FIELDS >> i & 1)))
            add_filter_field(out, (enum parameter)i, value);
    }
    strbuf_adds(out, "<button type=\"submit\">Show</button>\n</form>\n");
}

/*
 * Appends a link with the parameters of the request, but with `token` as `continue`. Unless
 * `format` is NULL, the link has this format and no `limit`.
 */
static void add_list_link(struct queued_request *request, const char *path, const char *token,
                          const char *format, const char *text)
{
    struct link_value values[PARAMETER_COUNT];

    for (unsigned i = 0; i < PARAMETER_COUNT; i++)
        values[i] = (struct link_value){(enum parameter)i, request->query.values[i]};
    values[PARAMETER_CONTINUE].value = token;
    if (format) {
        values[PARAMETER_FORMAT].value = format;
        values[PARAMETER_LIMIT].value = NULL;
    }
    link_open(&request->body, path, values, PARAMETER_COUNT);
    strbuf_addf(&request->body, "%s</a>\n", text);
}

void list_page_close(struct queued_request *request, size_t count, const char *token,
                     const char *api)
{
    const char *path = request->endpoint->path + 1;

    if (count == 0)
        strbuf_adds(&request->body, "<p>There is none.</p>\n");
    strbuf_adds(&request->body, "<p class=\"ways\">\n");
    if (request->query.values[PARAMETER_CONTINUE])
        add_list_link(request, path, NULL, NULL, "First page");
    if (token)
        add_list_link(request, path, token, NULL, "Next page");
    add_list_link(request, api, NULL, "json", "All of them as JSON");
    add_list_link(request, api, NULL, "csv", "as CSV");
    strbuf_adds(&request->body, "</p>\n");
    page_layout_close(&request->body, paging_made_ms(request->paging));
}

/* Elements of a list as lines. */
struct element_lines {
    const struct queued_request *request;
    const struct list_elements *elements;
    struct card_writer card_writer; /* Appends to `element`. */
    struct strbuf element;          /* Reused memory for one element. */
    struct strbuf lines;
};

static void add_element_line(void *context, const struct entry *entry)
{
    struct element_lines *m = context;

    if (!query_matches_entry(&m->request->query, m->elements->list, entry))
        return;
    strbuf_reset(&m->element);
    m->elements->write(&m->card_writer, entry);
    if (m->element.len == 0)
        return;
    for (size_t i = 0; i < m->element.len; i++)
        strbuf_addc(&m->lines, m->element.data[i] == '\n' ? ' ' : m->element.data[i]);
    strbuf_addc(&m->lines, '\n');
}

/* Stores all elements of the list. Returns false after an error response. */
static bool store_elements(struct queued_request *request, const struct list_elements *e)
{
    struct element_lines m = {
        .request = request,
        .elements = e,
        .element = STRBUF_INIT(LIST_LINES_MAX),
        .lines = STRBUF_INIT(LIST_LINES_MAX),
    };

    m.card_writer = (struct card_writer){e->health->evaluation->engine, e->health->now_ms,
                                         LIST_REFERRERS_MAX, &m.element};
    report_each_entry(m.card_writer.engine, e->list, add_element_line, &m);
    strbuf_release(&m.element);
    return list_store_lines(request, &m.lines);
}

/* Body and number of elements of one page. */
struct element_page {
    struct strbuf *out;
    size_t *count;
};

static void append_element(void *context, const char *line, size_t len)
{
    const struct element_page *p = context;

    strbuf_add(p->out, line, len);
    strbuf_addc(p->out, '\n');
    ++*p->count;
}

bool list_write_elements(struct queued_request *request, const struct list_elements *e,
                         size_t *count, const char **token)
{
    struct element_page page = {&request->body, count};

    *count = 0;
    if (!paging_continues(request->paging) && !store_elements(request, e))
        return false;
    *token = page_each_line(request, append_element, &page);
    return true;
}

/* ---- findings ---- */

/* Sections about lists of findings, most severe first. */
static const struct section {
    const char *id;
    const char *title;
    const char *text;
    unsigned list; /* Index in the member `lists` of struct findings. */
    card_fn *card;
    const char *page;  /* Path of a page with all these objects, or NULL. */
    const char *state; /* Parameter `state` in the link to `page`, or NULL. */
} sections[] = {
    {"conflict", "Dependency conflicts",
     "Those that require a dependency want different things of it, and one value wins for all.",
     FINDING_CONFLICT, write_conflict_cards, "conflicts", NULL},
    {"pending", "Pending", "Nothing propagates them: they run in no member cluster.",
     FINDING_PENDING, write_template_card, "templates", "pending"},
    {"stale", "Stale", "They are not on what governs them now.", FINDING_STALE, write_template_card,
     "templates", "stale"},
    {"held", "Not healthy everywhere", "Their bindings have not come all the way.",
     FINDING_NOT_HEALTHY, write_delivery_card, NULL, NULL},
    {"orphaned", "Orphaned", "What runs is left of a policy that is gone.", FINDING_ORPHANED,
     write_template_card, "templates", "orphaned"},
    {"predicted", "Conflicts to come", "They will be in conflict once their policies are applied.",
     FINDING_PREDICTED, write_conflict_cards, "conflicts", NULL},
    {"rollout", "Rollouts under way", "Their templates run more than one version of them.",
     FINDING_ROLLOUT, write_rollout_card, "policies", NULL},
};

/* Returns the number of findings: of fields for conflicts, of objects for other sections. */
static size_t section_count(const struct findings *f, const struct section *s)
{
    return s->list < FINDING_CLASSES ? findings_count(f, (enum finding_class)s->list)
                                     : f->lists[s->list].found;
}

/* Appends how many objects are omitted, if any, with a link to the page of the section, if any. */
static void add_omitted_count(const struct card_writer *c, const struct section *s, size_t found,
                              const char *ns)
{
    if (found <= HTML_SHOWN_MAX)
        return;
    strbuf_adds(c->out, "<p>");
    if (s->page)
        link_open_with(c->out, s->page, {PARAMETER_STATE, s->state}, {PARAMETER_NAMESPACE, ns});
    strbuf_addf(c->out, "And %zu more.%s</p>\n", found - HTML_SHOWN_MAX, s->page ? "</a>" : "");
}

static void add_section(const struct card_writer *c, const struct findings *f,
                        const struct section *s, const char *ns)
{
    const struct finding_list *list = &f->lists[s->list];

    if (list->count == 0)
        return;
    html_section(c->out, s->id, s->title, section_count(f, s));
    strbuf_addf(c->out, "<p>%s</p>\n<ul class=\"cards\">\n", s->text);
    for (size_t i = 0; i < list->count; i++)
        s->card(c, list->entries[i]);
    strbuf_adds(c->out, "</ul>\n");
    add_omitted_count(c, s, list->found, ns);
    strbuf_adds(c->out, "</section>\n");
}

/* Appends the section of a class in which an object can have several problems. */
static void add_problem_section(const struct card_writer *c, const struct problem_class *w,
                                const struct finding_list *list)
{
    CLEANUP(strbuf_release) struct strbuf subject = STRBUF_INIT(SUBJECT_MAX_BYTES);

    if (list->count == 0)
        return;
    html_section(c->out, finding_names[w->class], w->title, list->found);
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
    html_remaining_count(c->out, list->found);
    strbuf_adds(c->out, "</section>\n");
}

static void add_tile(struct strbuf *out, const char *id, const char *title, size_t count)
{
    if (count > 0)
        strbuf_addf(out, "<li><a href=\"#%s\"><b>%zu</b> %s</a></li>\n", id, count, title);
}

/* Appends links to the sections with their numbers of findings, or that nothing was found. */
static void add_tiles(const struct card_writer *c, const struct findings *f)
{
    size_t found = 0;

    for (size_t i = 0; i < ARRAY_LEN(sections); i++)
        found += section_count(f, &sections[i]);
    for (size_t i = 0; i < PROBLEM_CLASSES; i++)
        found += f->lists[problem_class[i].class].found;
    if (found == 0) {
        strbuf_adds(c->out, "<p class=\"good\">Nothing is wrong: each template is where its policy "
                            "says, and all who require a dependency agree.</p>\n");
        return;
    }
    strbuf_adds(c->out, "<ul class=\"tiles\">\n");
    for (size_t i = 0; i < ARRAY_LEN(sections); i++)
        add_tile(c->out, sections[i].id, sections[i].title, section_count(f, &sections[i]));
    for (size_t i = 0; i < PROBLEM_CLASSES; i++)
        add_tile(c->out, finding_names[problem_class[i].class], problem_class[i].title,
                 f->lists[problem_class[i].class].found);
    strbuf_adds(c->out, "</ul>\n");
}

static void add_states(const struct card_writer *c, const struct findings *f, const char *ns)
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

void findings_section_write(const struct card_writer *c, const struct findings *f, const char *ns)
{
    add_tiles(c, f);
    add_states(c, f, ns);
    for (size_t i = 0; i < ARRAY_LEN(sections); i++)
        add_section(c, f, &sections[i], ns);
    for (size_t i = 0; i < PROBLEM_CLASSES; i++)
        add_problem_section(c, &problem_class[i], &f->lists[problem_class[i].class]);
}

/* ---- the API server ---- */

/*
 * Appends at most HTML_SHOWN_MAX kinds that cannot be read. Returns the number of all of them. Once
 * the source is ready, omits kinds that were never read: add_late_kinds() appends the late ones.
 */
static size_t add_failed_kinds(const struct kube_source *source, struct strbuf *out)
{
    size_t count = 0;

    for (size_t i = 0; i < kube_source_reflector_count(source); i++) {
        const struct reflector *f = kube_source_reflector(source, i);

        if (*f->failure.text == '\0' || (kube_source_ready(source) && !f->synced) ||
            count++ >= HTML_SHOWN_MAX)
            continue;
        strbuf_adds(out, "<li>");
        html_textf(out, "%s %s", f->api_version, f->resource);
        strbuf_addf(out, " cannot be read%s<br><span class=\"bad\">",
                    f->synced ? "; its last state counts" : "");
        html_text(out, f->failure.text);
        strbuf_adds(out, "</span></li>\n");
    }
    return count;
}

/* Appends at most HTML_SHOWN_MAX kinds that are listed, not watched. Returns the number of all. */
static size_t add_polled_kinds(const struct kube_source *source, struct strbuf *out)
{
    size_t count = 0;

    for (size_t i = 0; i < kube_source_reflector_count(source); i++) {
        const struct reflector *f = kube_source_reflector(source, i);

        if (!f->watch.polled || count++ >= HTML_SHOWN_MAX)
            continue;
        strbuf_adds(out, "<li>");
        html_textf(out, "%s %s", f->api_version, f->resource);
        strbuf_adds(out, " is listed every 30 s: no connection is left to watch it over HTTP/1.1"
                         "</li>\n");
    }
    return count;
}

/* Appends at most HTML_SHOWN_MAX kinds that are late. Returns the number of all of them. */
static size_t add_late_kinds(const struct kube_source *source, struct strbuf *out)
{
    size_t count = 0;

    for (size_t i = 0; i < kube_source_missing_kind_count(source); i++) {
        const struct missing_kind *k = kube_source_missing_kind(source, i);

        if (!k->late || count++ >= HTML_SHOWN_MAX)
            continue;
        strbuf_adds(out, "<li>");
        html_textf(out, "%s %s", k->api_version, k->kind);
        strbuf_adds(out, " has not been read yet; what depends on it is left out<br>"
                         "<span class=\"bad\">");
        html_text(out, missing_kind_reason(k->reflector));
        strbuf_adds(out, "</span></li>\n");
    }
    return count;
}

/* Appends at most HTML_SHOWN_MAX kinds that policies select but that are not watched. */
static void add_unserved_kinds(const struct kube_source *source, struct strbuf *out)
{
    static const char *const why[] = {
        [DISCOVERY_UNKNOWN] = "not known yet",
        [DISCOVERY_ABSENT] = "not served",
        [DISCOVERY_UNWATCHED] = "not watched by Karmada in this version",
    };

    for (size_t i = 0; i < kube_source_unserved_kind_count(source) && i < HTML_SHOWN_MAX; i++) {
        const struct unserved_kind *u = kube_source_unserved_kind(source, i);

        strbuf_adds(out, "<li>");
        html_textf(out, "%s %s", u->api_version, u->kind);
        strbuf_addf(out, " is selected by a policy and %s</li>\n", why[u->answer]);
    }
}

void source_cards_write(const struct kube_source *source, struct strbuf *out)
{
    size_t count;

    strbuf_adds(out, "<ul class=\"cards\">\n");
    count = add_failed_kinds(source, out);
    count += add_late_kinds(source, out);
    count += add_polled_kinds(source, out);
    add_unserved_kinds(source, out);
    strbuf_adds(out, "</ul>\n");
    html_remaining_count(out, count);
}

void source_section_write(const struct kube_session *session, struct strbuf *out)
{
    strbuf_adds(out, "<section aria-labelledby=\"source\">\n<h2 id=\"source\">Source</h2>\n<p>");
    html_textf(out, "%s, %s", kube_session_server_url(session),
               kube_session_config_origin(session));
    strbuf_adds(out, "</p>\n");
    source_cards_write(kube_session_source(session), out);
    strbuf_adds(out, "</section>\n");
}
