/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/expose/transition_text.h"

#include "metrics/expose/report_parts.h"

static void write_moment(struct writer *w, const char *key, const struct moment *m)
{
    if (!m->decided) {
        writer_text(w, key, NULL);
        return;
    }
    writer_open(w, key, '{');
    writer_text(w, "state", state_names[m->state]);
    writer_text(w, "reason", reason_name((enum template_state)m->state, m->reason));
    writer_text(w, "phase", m->state == STATE_STALE ? phase_names[m->phase] : NULL);
    writer_text(w, "stage", m->stage != STAGE_NONE ? stage_names[m->stage] : NULL);
    writer_text(w, "stageReason",
                m->stage_reason != WHY_NONE ? stage_reason_names[m->stage_reason] : NULL);
    report_put_policy(w, "policy", policy_name_of(m->policy));
    report_put_policy(w, "claimed", policy_name_of(m->claimed));
    report_put_known(w, "version", m->version, m->version > 0);
    writer_int(w, "clusters", m->clusters);
    writer_close(w, '}');
}

void transition_write(struct writer *w, const struct transition *x)
{
    const struct entry *e = x->template;

    writer_open(w, NULL, '{');
    writer_int(w, "number", (int64_t)x->number);
    report_put_time(w, "time", x->time_ms);
    writer_text(w, "cause", cause_names[x->cause]);
    report_put_identity(
        w, (struct identity){e->partition->type->api_version, entry_kind(e), entry_ns(e), e->name});
    write_moment(w, "before", &x->before);
    write_moment(w, "after", &x->after);
    writer_bool(w, "otherClusters", x->before.cluster_hash != x->after.cluster_hash);
    writer_close(w, '}');
}

/* ---- for people ---- */

/* Append what begins the next part, and its name. */
static void begin(struct strbuf *out, size_t start, const char *part)
{
    strbuf_addf(out, "%s%s ", out->len > start ? "; " : "", part);
}

static void add_word(struct strbuf *out, const char *word, const char *why)
{
    strbuf_addf(out, "%s%s%s%s", word && *word ? word : "none", why && *why ? " (" : "",
                why ? why : "", why && *why ? ")" : "");
}

static void add_state(struct strbuf *out, const struct moment *m)
{
    add_word(out, state_names[m->state], reason_name((enum template_state)m->state, m->reason));
    if (m->state == STATE_STALE)
        strbuf_addf(out, " %s", phase_names[m->phase]);
}

static void add_stage(struct strbuf *out, const struct moment *m)
{
    add_word(out, stage_names[m->stage], stage_reason_names[m->stage_reason]);
}

static void add_policy(struct strbuf *out, const struct entry *policy)
{
    if (!policy)
        strbuf_adds(out, "none");
    else
        strbuf_addf(out, "%s %s%s%s", entry_kind(policy), entry_ns(policy),
                    *entry_ns(policy) ? "/" : "", policy->name);
}

static void say_policy(struct strbuf *out, size_t start, const char *part, const struct entry *a,
                       const struct entry *b)
{
    if (a == b)
        return;
    begin(out, start, part);
    add_policy(out, a);
    strbuf_adds(out, " to ");
    add_policy(out, b);
}

static void say_number(struct strbuf *out, size_t start, const char *part, uint32_t a, uint32_t b)
{
    if (a == b)
        return;
    begin(out, start, part);
    strbuf_addf(out, "%" PRIu32 " to %" PRIu32, a, b);
}

void transition_say(struct strbuf *out, const struct transition *x)
{
    const struct moment *a = &x->before, *b = &x->after;
    size_t start = out->len;

    if (!a->decided || !b->decided) {
        strbuf_adds(out, b->decided ? "it came, and is " : "it went, and was ");
        add_state(out, b->decided ? b : a);
        return;
    }
    if (a->state != b->state || a->reason != b->reason || a->phase != b->phase) {
        begin(out, start, "state");
        add_state(out, a);
        strbuf_adds(out, " to ");
        add_state(out, b);
    }
    if (a->stage != b->stage || a->stage_reason != b->stage_reason) {
        begin(out, start, "stage");
        add_stage(out, a);
        strbuf_adds(out, " to ");
        add_stage(out, b);
    }
    say_policy(out, start, "policy", a->policy, b->policy);
    say_policy(out, start, "claim", a->claimed, b->claimed);
    say_number(out, start, "version", a->version, b->version);
    say_number(out, start, "number of clusters", a->clusters, b->clusters);
    if (a->clusters == b->clusters && a->cluster_hash != b->cluster_hash)
        strbuf_addf(out, "%sother clusters", out->len > start ? "; " : "");
}
