/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/evaluation.h"
#include "exporter/findings.h"
#include "exporter/version.h"
#include "exporter/web/pages/html.h"
#include "exporter/web/pages/pages.h"
#include "exporter/web/pages/source_section.h"
#include "metrics/base/timestamp.h"
#include "metrics/expose/connector_words.h"
#include "metrics/expose/parties.h"
#include "metrics/rules/policy_history.h"

enum {
    PLACE_MAX = 8192,
    VERSIONS_MAX = 20, /* Of one policy, the newest ones; `explain` has all. */
};

static const char head[] =
    "<!DOCTYPE html>\n"
    "<html lang=\"en\">\n"
    "<head>\n"
    "<meta charset=\"utf-8\">\n"
    "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
    "<meta http-equiv=\"refresh\" content=\"30\">\n"
    "<title>" EXPORTER_NAME "</title>\n"
    "<style>\n"
    ":root { color-scheme: light dark; --text: #1d2733; --faint: #57636f; --page: #f6f7f9;\n"
    "  --card: #ffffff; --line: #d5dbe1; --link: #0b5cad; --bad: #b3261e; --good: #1a6b3c; }\n"
    "@media (prefers-color-scheme: dark) {\n"
    "  :root { --text: #e4e8ec; --faint: #9aa7b4; --page: #12171c; --card: #1b2229;\n"
    "    --line: #37424d; --link: #7ab8f5; --bad: #ff8a80; --good: #7fd6a2; } }\n"
    "* { box-sizing: border-box; }\n"
    "body { margin: 0; background: var(--page); color: var(--text); overflow-wrap: anywhere;\n"
    "  font: 16px/1.5 system-ui, sans-serif; }\n"
    "main, header, footer { max-width: 60rem; margin: 0 auto; padding: 0 1rem; }\n"
    "header { padding-top: 1rem; }\n"
    "h1 { font-size: 1.4rem; margin: 0; }\n"
    "h2 { font-size: 1.1rem; margin: 2rem 0 .5rem; }\n"
    "h3 { font-size: 1rem; margin: 0; }\n"
    "a { color: var(--link); }\n"
    "nav a { display: inline-block; padding: .5rem 1rem .5rem 0; }\n"
    "p { margin: .5rem 0; }\n"
    ".faint { color: var(--faint); }\n"
    ".bad { color: var(--bad); }\n"
    ".good { color: var(--good); }\n"
    ".tiles { display: grid; gap: .5rem; padding: 0; margin: .5rem 0; list-style: none;\n"
    "  grid-template-columns: repeat(auto-fill, minmax(6.5rem, 1fr)); }\n"
    ".tiles li, .cards > li { background: var(--card); border: 1px solid var(--line);\n"
    "  border-radius: .4rem; padding: .5rem .75rem; }\n"
    ".tiles b { display: block; font-size: 1.5rem; line-height: 1.2; }\n"
    ".cards { display: grid; gap: .5rem; padding: 0; margin: .5rem 0; list-style: none; }\n"
    ".cards ul { margin: .25rem 0 0; padding-left: 1.2rem; }\n"
    "footer { padding: 1rem; margin-top: 2rem; }\n"
    "</style>\n"
    "</head>\n"
    "<body>\n";

/* "<kind> <namespace>/<name>". */
static void add_name(struct strbuf *out, const char *kind, const char *ns, const char *name)
{
    html_textf(out, "%s %s%s%s", kind, ns, *ns != '\0' ? "/" : "", name);
}

static void add_entry(struct strbuf *out, const struct entry *e)
{
    add_name(out, entry_kind(e), entry_ns(e), e->name);
}

static void add_heading(struct strbuf *out, const char *title, size_t count)
{
    strbuf_addf(out, "<h2>%s <span class=\"faint\">%zu</span></h2>\n", title, count);
}

struct wants {
    struct strbuf *out;
    enum dependency_field field;
};

static void add_want(void *context, const struct ballot *ballot)
{
    const struct wants *w = context;
    const struct entry *referrer = ballot->template ? ballot->template : ballot->binding;
    struct policy_name policy = ballot_policy(ballot, false);

    if (!referrer || !ballot->counts_observed)
        return;
    strbuf_adds(w->out, "<li>");
    add_entry(w->out, referrer);
    strbuf_addf(w->out, " wants <b>%s</b>",
                dependency_value_name(w->field, ballot->observed.wants[w->field]));
    if (policy.kind) {
        strbuf_adds(w->out, " by ");
        add_name(w->out, policy.kind, policy.ns, policy.name);
    }
    strbuf_adds(w->out, "</li>\n");
}

static void add_conflict(const struct engine *engine, const struct entry *dependency,
                         enum dependency_field field, struct strbuf *out)
{
    const struct field_resolution *f = &dependency_decision(dependency)->fields[field];
    struct identity id = dependency_resource(dependency);
    struct wants wants = {out, field};

    strbuf_adds(out, "<li><h3>");
    add_name(out, id.kind, id.ns, id.name);
    strbuf_addf(out, "</h3>\n%s resolves to <b>%s</b>\n", dependency_field_names[field],
                dependency_value_name(field, f->resolved));
    if (f->unapplied && f->stored != f->resolved)
        strbuf_addf(out, "(not applied: the binding still has <b>%s</b>)\n",
                    dependency_value_name(field, f->stored));
    strbuf_adds(out, "<ul>\n");
    engine_ballots(engine, dependency, add_want, &wants);
    strbuf_adds(out, "</ul></li>\n");
}

static void add_conflicts(const struct engine *engine, const struct findings *f, struct strbuf *out)
{
    const struct finding_list *list = &f->lists[FINDING_CONFLICT];

    add_heading(out, "Dependency conflicts", findings_count(f, FINDING_CONFLICT));
    if (list->count == 0)
        strbuf_adds(out, "<p class=\"good\">All who refer to a dependency agree.</p>\n");
    strbuf_adds(out, "<ul class=\"cards\">\n");
    for (size_t i = 0; i < list->count; i++) {
        for (unsigned k = 0; k < DEPENDENCY_FIELD_COUNT; k++) {
            if (dependency_decision(list->entries[i])->fields[k].conflict)
                add_conflict(engine, list->entries[i], k, out);
        }
    }
    strbuf_adds(out, "</ul>\n");
    html_more(out, list->found);
}

static void add_templates(const char *title, const struct finding_list *list, struct strbuf *out)
{
    if (list->count == 0)
        return;
    add_heading(out, title, list->found);
    strbuf_adds(out, "<ul class=\"cards\">\n");
    for (size_t i = 0; i < list->count; i++) {
        const struct template_decision *d = template_decision(list->entries[i]);
        const char *reason = reason_name(d->state, d->reason);

        strbuf_adds(out, "<li>");
        add_entry(out, list->entries[i]);
        strbuf_addf(out, " <span class=\"faint\">%s%s%s", reason ? reason : "",
                    d->state == STATE_STALE ? ", " : "",
                    d->state == STATE_STALE ? phase_names[d->phase] : "");
        if (d->version && policy_version_behind(d->version) > 0)
            strbuf_addf(out, ", version %" PRIu32 ", %d behind", d->version->number,
                        policy_version_behind(d->version));
        strbuf_adds(out, "</span></li>\n");
    }
    strbuf_adds(out, "</ul>\n");
    html_more(out, list->found);
}

/* Who runs a version: "version 2, generation 5, since ..., by kubectl: 3 templates". */
static void add_version(const struct policy_version *v, struct strbuf *out)
{
    char since[32], hash[POLICY_VERSION_HASH_SIZE];

    policy_version_hash(v, hash);
    if (policy_version_is_unknown(v))
        strbuf_adds(out, "<li>what no version is known to have said");
    else
        strbuf_addf(out, "<li>version <b>%" PRIu32 "</b> (%s)%s%s", v->number, hash,
                    v == policy_history_now(v->history) ? ", the present one" : "",
                    v->recovered ? ", recovered from its bindings" : "");
    if (v->generation)
        strbuf_addf(out, ", generation %" PRId64, v->generation);
    if (v->since_ms) {
        format_timestamp(v->since_ms, since);
        strbuf_addf(out, ", since %s", since);
    }
    if (v->by) {
        strbuf_adds(out, ", by ");
        html_text(out, v->by);
    }
    strbuf_addf(out, ": %" PRIu32 " template%s</li>\n", v->templates, v->templates == 1 ? "" : "s");
}

/* Policies of which templates run several versions, each with those in force, newest first. */
static void add_rollouts(const struct finding_list *list, struct strbuf *out)
{
    if (list->count == 0)
        return;
    add_heading(out, "Rollouts under way", list->found);
    strbuf_adds(out, "<ul class=\"cards\">\n");
    for (size_t i = 0; i < list->count; i++) {
        const struct policy_history *h = policy_decision(list->entries[i])->history;
        size_t shown = 0;

        strbuf_adds(out, "<li><h3>");
        add_entry(out, list->entries[i]);
        strbuf_adds(out, "</h3>\n<ul>\n");
        for (size_t at = h->count; at-- > 0 && shown < VERSIONS_MAX;) {
            if (h->versions[at]->templates == 0 && at + 1 < h->count)
                continue;
            add_version(h->versions[at], out);
            shown++;
        }
        if (h->unknown.templates > 0)
            add_version(&h->unknown, out);
        strbuf_adds(out, "</ul></li>\n");
    }
    strbuf_adds(out, "</ul>\n");
    html_more(out, list->found);
}

/* Objects that can have several findings, each with a sentence. */
static void add_wrongs(const struct engine *engine, const struct finding_wrongs *w,
                       const struct finding_list *list, struct strbuf *out)
{
    CLEANUP(strbuf_release) struct strbuf subject = STRBUF_INIT(PLACE_MAX);

    if (list->count == 0)
        return;
    add_heading(out, w->title, list->found);
    strbuf_adds(out, "<ul class=\"cards\">\n");
    for (size_t i = 0; i < list->count; i++) {
        strbuf_adds(out, "<li>");
        add_entry(out, list->entries[i]);
        for (unsigned k = 0; w->of(list->entries[i]) >> k != 0; k++) {
            if (!(w->of(list->entries[i]) & 1U << k))
                continue;
            strbuf_reset(&subject);
            if (w->class == FINDING_CONNECTOR)
                connector_subject_add(engine, list->entries[i], k, &subject);
            strbuf_addf(out, "<br><span class=\"bad\">%s", w->texts[k]);
            html_text(out, subject.data);
            strbuf_adds(out, "</span>");
        }
        strbuf_adds(out, "</li>\n");
    }
    strbuf_adds(out, "</ul>\n");
    html_more(out, list->found);
}

static void add_problems(const struct manifests *m, struct strbuf *out)
{
    CLEANUP(strbuf_release) struct strbuf place = STRBUF_INIT(PLACE_MAX);
    size_t count = manifests_problem_count(m);

    if (count == 0)
        return;
    add_heading(out, "Problems in manifests", count);
    strbuf_adds(out, "<ul class=\"cards\">\n");
    for (size_t i = 0; i < count && i < HTML_SHOWN_MAX; i++) {
        struct manifest_problem p = manifests_problem(m, i);

        strbuf_adds(out, "<li>");
        strbuf_reset(&place);
        manifest_problem_place(&p, &place);
        html_text(out, place.data);
        strbuf_addf(out, " <span class=\"faint\">%s</span><br>", problem_kind_name(p.kind));
        html_text(out, p.text);
        strbuf_adds(out, "</li>\n");
    }
    strbuf_adds(out, "</ul>\n");
    html_more(out, count);
}

/* The API server, and which of its resources cannot be read. */
static void add_session(const struct kube_session *session, struct strbuf *out)
{
    strbuf_adds(out, "<h2>Source</h2>\n<p>");
    html_textf(out, "%s, %s", kube_session_server(session), kube_session_origin(session));
    strbuf_adds(out, "</p>\n");
    source_section_write(kube_session_source(session), out);
}

static void add_evaluation(const struct evaluation *e, const struct findings *f, struct strbuf *out)
{
    add_conflicts(e->engine, f, out);
    strbuf_adds(out, "<h2>Templates</h2>\n<ul class=\"tiles\">\n");
    for (unsigned i = 0; i < STATE_COUNT; i++)
        strbuf_addf(out, "<li><b>%zu</b>%s</li>\n", f->states[i], state_names[i]);
    strbuf_adds(out, "</ul>\n");
    if (f->not_selected > 0)
        strbuf_addf(out, "<p class=\"faint\">%zu pending of kinds that no policy selects.</p>\n",
                    f->not_selected);
    add_templates("Pending", &f->lists[FINDING_PENDING], out);
    add_templates("Stale", &f->lists[FINDING_STALE], out);
    add_rollouts(&f->lists[FINDING_ROLLOUT], out);
    add_templates("Orphaned", &f->lists[FINDING_ORPHANED], out);
    for (size_t i = 0; i < FINDING_WRONGS; i++)
        add_wrongs(e->engine, &finding_wrongs[i], &f->lists[finding_wrongs[i].class], out);
    add_problems(e->manifests, out);
}

/*
 * The findings, for people: plain HTML without any script, light or dark as the browser is, and for
 * telephones, too.
 */
void index_page_write(const struct health *h, struct strbuf *out)
{
    char now[32];

    format_timestamp(h->now_ms, now);
    strbuf_adds(out, head);
    strbuf_adds(out, "<header>\n<h1>" EXPORTER_NAME "</h1>\n<p class=\"faint\">Version ");
    html_textf(out, "%s (revision %s)", EXPORTER_VERSION, exporter_revision);
    /* Relative links also work behind a proxy that adds a prefix. */
    strbuf_adds(out, "</p>\n<nav><a href=\"");
    html_text(out, h->telemetry_path + (*h->telemetry_path == '/'));
    strbuf_adds(out, "\">Metrics</a><a href=\"-/healthy\">Healthy</a>"
                     "<a href=\"-/ready\">Ready</a></nav>\n</header>\n<main>\n");
    if (!h->config_loaded)
        strbuf_adds(out, "<p class=\"bad\">The last reload failed; the old configuration stays in "
                         "force. The log says why.</p>\n");
    if (h->evaluation)
        add_evaluation(h->evaluation, h->findings, out);
    else
        strbuf_adds(out, "<p>Everything is being read for the first time.</p>\n");
    if (h->session)
        add_session(h->session, out);
    strbuf_addf(out, "</main>\n<footer class=\"faint\">As of %s</footer>\n</body>\n</html>\n", now);
}
