/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/web/cards.h"

#include "exporter/web/html.h"
#include "exporter/web/link.h"
#include "metrics/expose/decision_text.h"
#include "metrics/rules/policy_versions.h"

enum { VERSIONS_MAX = 20 }; /* Of one policy, the newest ones; its page has all. */

/* ---- templates ---- */

/* What decides about it, in the words of the metrics, and by which policy. */
static void add_decision(const struct cards *c, const struct template_decision *d)
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

static void open_card(const struct cards *c, const struct entry *entry)
{
    strbuf_adds(c->out, "<li>\n<h3>");
    link_entry(c->out, entry);
    strbuf_adds(c->out, "</h3>\n");
}

void card_template(const struct cards *c, const struct entry *entry)
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

void card_delivery(const struct cards *c, const struct entry *entry)
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

/* ---- conflicts ---- */

/* One side of a conflict, while its parties are listed. */
struct side {
    const struct cards *cards;
    enum dependency_field field;
    bool current; /* What policies say now, rather than what bindings have. */
    bool value;
    size_t count;
};

static void add_referrer(void *context, const struct dependency_referrer *referrer)
{
    struct side *s = context;
    const struct entry *object = referrer->template ? referrer->template : referrer->binding;
    const struct dependency_values *values = s->current ? &referrer->current : &referrer->observed;
    struct policy_name policy = referrer_policy(referrer, s->current);

    if (!object || !(s->current ? referrer->counts_current : referrer->counts_observed) ||
        values->wants[s->field] != s->value || s->count++ >= s->cards->policy_names_max)
        return;
    strbuf_adds(s->cards->out, "<li>");
    link_entry(s->cards->out, object);
    if (policy.kind) {
        strbuf_adds(s->cards->out, " by ");
        link_policy(s->cards->out, policy);
    }
    strbuf_adds(s->cards->out, "</li>\n");
}

static void add_side(const struct cards *c, const struct entry *dependency, struct side side)
{
    strbuf_addf(c->out, "<div>\n<p>Who wants <b>%s</b></p>\n<ul>\n",
                dependency_value_name(side.field, side.value));
    engine_dependency_referrers(c->engine, dependency, add_referrer, &side);
    strbuf_adds(c->out, "</ul>\n");
    if (side.count > c->policy_names_max)
        strbuf_addf(c->out, "<p class=\"faint\">And %zu more.</p>\n",
                    side.count - c->policy_names_max);
    strbuf_adds(c->out, "</div>\n");
}

static void add_conflict(const struct cards *c, const struct entry *dependency,
                         enum dependency_field field)
{
    const struct dependency_decision *d = dependency_decision(dependency);
    const struct field_resolution *f = &d->fields[field];
    struct side side = {.cards = c, .field = field, .current = !f->conflict};
    bool resolved = f->conflict ? f->resolved : f->predicted_resolved;

    strbuf_adds(c->out, "<li>\n<h3>");
    link_conflict(c->out, resource_identity_of(dependency));
    strbuf_addf(c->out, "</h3>\n<p>%s %s to <b>%s</b>", dependency_field_names[field],
                f->conflict ? "resolves" : "will resolve", dependency_value_name(field, resolved));
    if (f->conflict && f->unapplied && f->stored != f->resolved)
        strbuf_addf(c->out, " (not applied: the binding still has <b>%s</b>)",
                    dependency_value_name(field, f->stored));
    html_since(c->out, f->conflict ? d->since_ms : 0, false, c->now_ms);
    strbuf_adds(c->out, "</p>\n<div class=\"sides\">\n");
    add_side(c, dependency, side);
    side.value = true;
    add_side(c, dependency, side);
    strbuf_addf(
        c->out,
        "</div>\n<p>Who must act: <b>whoever owns these policies</b>. It ends when they all say "
        "the same of spec.%c%s, and are in force.</p>\n</li>\n",
        dependency_field_names[field][0] - 'A' + 'a', &dependency_field_names[field][1]);
}

void card_conflicts(const struct cards *c, const struct entry *dependency)
{
    const struct dependency_decision *d = dependency_decision(dependency);

    for (unsigned i = 0; i < DEPENDENCY_FIELD_COUNT; i++) {
        if (d->fields[i].conflict || d->fields[i].predicted)
            add_conflict(c, dependency, i);
    }
}

/* ---- rollouts ---- */

/* Who runs a version: "version 2, generation 5, since ..., by kubectl: 3 templates". */
static void add_version(const struct cards *c, const struct policy_version *v)
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

void card_rollout(const struct cards *c, const struct entry *policy)
{
    const struct policy_history *h = policy_decision(policy)->history;
    size_t shown = 0;

    open_card(c, policy);
    strbuf_adds(c->out, "<ul>\n");
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
