/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/explain/explain_versions.h"

#include "metrics/base/timestamp.h"
#include "metrics/explain/differences.h"
#include "metrics/explain/field_text.h"
#include "metrics/expose/decision_text.h"
#include "metrics/expose/report_parts.h"

enum {
    VERSIONS_MAX = 50,         /* Further ones are counted. */
    DIFFERENCE_LINES_MAX = 40, /* Of one version; so are these. */
    MINUTE_LEN = sizeof("2026-01-31T23:59") - 1,
};

/* ---- what has changed since ---- */

struct changes {
    struct explaining *x;
    const char *field;
    unsigned lines;
};

static void put_difference(void *context, const struct difference *d)
{
    const struct changes *changes = context;
    struct writer *w = &changes->x->out->facts;

    writer_open(w, NULL, '{');
    writer_text(w, "field", changes->field);
    writer_text(w, "path", d->path);
    writer_json(w, "version", d->before);
    writer_json(w, "now", d->after);
    writer_close(w, '}');
}

static void say_difference(void *context, const struct difference_line *line)
{
    struct changes *changes = context;
    bool bare = *line->path == '\0' || *line->path == '[';

    if (changes->lines++ < DIFFERENCE_LINES_MAX)
        explain_detail(changes->x, "%c %s%s%s: %s", line->sign, changes->field, bare ? "" : ".",
                       line->path, line->value);
}

/* Each field of a version against that of now: what it had, and what is there instead. */
static void explain_changes(struct explaining *x, const struct policy_version *v)
{
    const struct policy_version *now = policy_history_now(v->history);
    struct changes changes = {.x = x};

    explanation_open(x->out, "differences", '[');
    for (unsigned i = 0; v != now && !policy_version_is_unknown(v) && i < DRIFT_FIELD_COUNT; i++) {
        CLEANUP(strbuf_release) struct strbuf old_text = STRBUF_INIT(EXPLAIN_VALUE_MAX_BYTES);
        CLEANUP(strbuf_release) struct strbuf new_text = STRBUF_INIT(EXPLAIN_VALUE_MAX_BYTES);
        const char *before = explain_field_json(&v->values, i, &old_text);
        const char *after = explain_field_json(&now->values, i, &new_text);

        /* A binding has the number of a PriorityClass, not its name. */
        if (i == FIELD_SCHEDULE_PRIORITY && v->recovered && before && after)
            continue;
        changes.field = drift_field_names[i];
        differences_each(before, after, put_difference, &changes);
        difference_lines_each(before, after, say_difference, &changes);
    }
    explanation_close(x->out, ']');
    if (changes.lines > DIFFERENCE_LINES_MAX)
        explain_detail(x, "… and %u lines more", changes.lines - DIFFERENCE_LINES_MAX);
}

/* ---- the table ---- */

/* A time to the minute, in UTC. */
static void add_minute(struct strbuf *out, int64_t time_ms)
{
    char text[32];

    format_timestamp(time_ms, text);
    text[sizeof("2026-01-31") - 1] = ' ';
    strbuf_addf(out, "%.*sZ", MINUTE_LEN, text);
}

static void explain_row_of(struct explaining *x, const struct version_use *use)
{
    CLEANUP(strbuf_release) struct strbuf since = STRBUF_INIT(64);
    const struct policy_version *v = use->version;
    char number[16], generation[24];

    snprintf(number, sizeof(number), "%" PRIu32, v->number);
    snprintf(generation, sizeof(generation), "%" PRId64, v->generation);
    if (v->since_ms)
        add_minute(&since, v->since_ms);
    else
        strbuf_adds(&since, v->recovered ? "recovered" : "-");
    explain_row(x, "%7s  %10s  %-17s  %9" PRIu32 "  %8" PRId64 "  %5.4g  %10.0f",
                v->number ? number : "unknown", v->generation ? generation : "-", since.data,
                use->templates, use->replicas, use->cores, use->memory / (1 << 20));
}

/* Which clusters run it, who wrote it, and how that is known. */
static void explain_origin(struct explaining *x, const struct version_use *use)
{
    CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(EXPLAIN_VALUE_MAX_BYTES);
    const struct policy_version *v = use->version;
    char hash[POLICY_VERSION_HASH_SIZE];

    if (policy_version_is_unknown(v))
        strbuf_adds(&text, "; values that no version of it is known to have had: somebody else "
                           "wrote them into the bindings");
    else if (v == policy_history_now(v->history))
        strbuf_adds(&text, "; what it says now");
    if (v->by)
        strbuf_addf(&text, "; written by %s", v->by);
    if (v->since_seen)
        strbuf_adds(&text, "; since it was seen");
    if (v->recovered)
        strbuf_adds(&text, "; its bindings show it");
    if (v->recovered && v->evidence_ms) {
        strbuf_adds(&text, ", the last one written at ");
        add_minute(&text, v->evidence_ms);
    }
    if (v->recovered && policy_version_behind(v) < 0)
        strbuf_adds(&text, "; nothing tells whether it came before the others");
    for (size_t i = 0; i < use->cluster_count; i++)
        strbuf_addf(&text, "%s%s", i ? ", " : "; on ", use->clusters[i]);
    if (!policy_version_is_unknown(v)) {
        policy_version_hash(v, hash);
        strbuf_addf(&text, "; hash %s", hash);
    }
    explain_detail(x, "%s", text.data + 2);
}

void explain_versions(struct explaining *x, const struct entry *policy)
{
    CLEANUP(version_uses_release) struct version_uses uses = version_uses_of(policy);

    if (uses.count == 0)
        return;
    explain_section(x, "versions", "Its versions, newest first");
    explain_row(x,
                "VERSION  GENERATION  SINCE              TEMPLATES  REPLICAS    CPU  MEMORY MiB");
    explanation_open(x->out, "items", '[');
    for (size_t i = 0; i < uses.count && i < VERSIONS_MAX; i++) {
        explanation_open(x->out, NULL, '{');
        report_put_version_use(&x->out->facts, &uses.items[i]);
        explain_row_of(x, &uses.items[i]);
        explain_origin(x, &uses.items[i]);
        explain_changes(x, uses.items[i].version);
        explanation_close(x->out, '}');
    }
    explanation_close(x->out, ']');
    if (uses.count > VERSIONS_MAX)
        explain_say(x, "… and %zu more.", uses.count - VERSIONS_MAX);
    explanation_close(x->out, '}');
}

void explain_version_of(struct explaining *x, const struct entry *template)
{
    const struct template_decision *d = template_decision(template);
    const struct policy_version *v = d->version;
    int behind = v ? policy_version_behind(v) : 0;
    int64_t superseded_ms = v ? policy_version_superseded_ms(v) : 0;
    char since[32];

    report_put_version(&x->out->facts, v);
    if (!v)
        return;
    if (policy_version_is_unknown(v)) {
        explain_say(x,
                    "It runs what no version of %s is known to have said: somebody else wrote "
                    "that into its binding.",
                    explain_name(x, d->claimed));
        return;
    }
    if (behind == 0)
        explain_say(x, "It runs version %" PRIu32 " of %s, the present one.", v->number,
                    explain_name(x, d->claimed));
    else if (behind < 0)
        explain_say(x,
                    "It runs version %" PRIu32 " of %s, an older one; nothing tells which of those "
                    "came first.",
                    v->number, explain_name(x, d->claimed));
    else
        explain_say(x, "It runs version %" PRIu32 " of %s, %d behind what that says now.",
                    v->number, explain_name(x, d->claimed), behind);
    if (superseded_ms) {
        format_timestamp(superseded_ms, since);
        explain_say(x, "It could have had a newer one since %s.", since);
    }
}
