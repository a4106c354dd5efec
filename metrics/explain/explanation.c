/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/explain/explanation.h"

#include "metrics/base/json.h"
#include "metrics/base/timestamp.h"
#include "metrics/expose/decision_text.h"
#include "metrics/expose/report_items.h"
#include "metrics/model/binding.h"
#include "metrics/model/store.h"

enum {
    JSON_MAX_BYTES = 256 << 20,
    RESOLVED_MAX_BYTES = 512,
    JSON_LINES = 3, /* Levels of the JSON with a line for each member. */
};

struct explanation_line {
    char *text;
    enum explain_style style;
    unsigned object;
    const char *section; /* NULL outside of sections. */
};

void explanation_init(struct explanation *x)
{
    *x = (struct explanation){.json = STRBUF_INIT(JSON_MAX_BYTES)};
    x->facts = (struct json_writer){.out = &x->json, .lines = JSON_LINES};
    explanation_open(x, NULL, '{');
}

void explanation_finish(struct explanation *x)
{
    explanation_close(x, '}');
    assert(x->depth == 0);
    strbuf_addc(&x->json, '\n');
}

void explanation_release(struct explanation *x)
{
    for (size_t i = 0; i < x->line_count; i++)
        free(x->lines[i].text);
    free(x->lines);
    strbuf_release(&x->json);
    *x = (struct explanation){0};
}

void explanation_open(struct explanation *x, const char *key, char bracket)
{
    assert(x->depth < EXPLANATION_DEPTH_MAX);
    if (x->depth == 1)
        x->section = key;
    x->levels[x->depth].first_line = x->line_count;
    x->levels[x->depth].object =
        bracket == '{' || x->depth == 0 ? x->depth : x->levels[x->depth - 1].object;
    x->depth++;
    json_writer_open(&x->facts, key, bracket);
}

/* Writes the lines of an object as its member "text", before the object is closed. */
static void write_text(struct explanation *x, size_t first_line)
{
    bool open = false;

    for (size_t i = first_line; i < x->line_count; i++) {
        const struct explanation_line *line = &x->lines[i];

        if (line->object != x->depth || line->style == EXPLAIN_HEADING)
            continue;
        if (!open)
            json_writer_open(&x->facts, "text", '[');
        open = true;
        json_writer_text(&x->facts, NULL, line->text);
    }
    if (open)
        json_writer_close(&x->facts, ']');
}

void explanation_close(struct explanation *x, char bracket)
{
    assert(x->depth > 0);
    x->depth--;
    if (x->depth <= 1)
        x->section = NULL;
    if (bracket == '}')
        write_text(x, x->levels[x->depth].first_line);
    json_writer_close(&x->facts, bracket);
}

void explanation_add_line(struct explanation *x, enum explain_style style, const char *fmt, ...)
{
    struct strbuf text = STRBUF_INIT(JSON_MAX_BYTES);
    va_list args;
    size_t len;

    va_start(args, fmt);
    strbuf_vaddf(&text, fmt, args);
    va_end(args);
    if (x->line_count == x->line_capacity) {
        x->line_capacity = x->line_capacity ? 2 * x->line_capacity : 32;
        x->lines = xreallocarray(x->lines, x->line_capacity, sizeof(*x->lines));
    }
    x->lines[x->line_count++] = (struct explanation_line){
        .text = strbuf_take(&text, &len),
        .style = style,
        .object = x->levels[x->depth - 1].object,
        .section = x->section,
    };
}

void explanation_each_line(const struct explanation *x, explain_fn *line, void *context)
{
    for (size_t i = 0; i < x->line_count; i++)
        line(context, x->lines[i].style, x->lines[i].text);
}

void explanation_each_line_of(const struct explanation *x, const char *section, explain_fn *line,
                              void *context)
{
    for (size_t i = 0; i < x->line_count; i++) {
        if (x->lines[i].section && strcmp(x->lines[i].section, section) == 0)
            line(context, x->lines[i].style, x->lines[i].text);
    }
}

static bool is_in_sections(const struct explanation_line *line, const char *const *sections)
{
    for (size_t i = 0; line->section && sections[i]; i++) {
        if (strcmp(line->section, sections[i]) == 0)
            return true;
    }
    return false;
}

void explanation_each_other_line(const struct explanation *x, const char *const *sections,
                                 explain_fn *line, void *context)
{
    for (size_t i = 0; i < x->line_count; i++) {
        if (!is_in_sections(&x->lines[i], sections))
            line(context, x->lines[i].style, x->lines[i].text);
    }
}

/* ---- differences of two JSON texts ---- */

enum { PATH_MAX_BYTES = 1 << 20 };

struct difference_walk {
    difference_fn *each;
    void *context;
    struct strbuf path;
};

static cJSON *parse_json(const char *text)
{
    struct error err;

    return text ? json_parse(text, strlen(text), NULL, &err) : NULL;
}

static void emit_value_difference(struct difference_walk *w, const cJSON *before,
                                  const cJSON *after)
{
    char *old_text = before ? cJSON_PrintUnformatted(before) : NULL;
    char *new_text = after ? cJSON_PrintUnformatted(after) : NULL;

    w->each(w->context, &(struct difference){w->path.data, old_text, new_text});
    free(old_text);
    free(new_text);
}

/* Returns true for values that are compared by part: objects, and arrays that begin with one. */
static bool is_compared_by_part(const cJSON *item)
{
    return cJSON_IsObject(item) || (cJSON_IsArray(item) && cJSON_IsObject(item->child));
}

static void compare_values(struct difference_walk *w, const cJSON *before, const cJSON *after);

/* Compares one member (`key`) or one array element (`index`, if `key` is NULL). */
static void compare_part(struct difference_walk *w, const char *key, int index, const cJSON *before,
                         const cJSON *after)
{
    size_t len = w->path.len;

    if (key)
        strbuf_addf(&w->path, "%s%s", len > 0 ? "." : "", key);
    else
        strbuf_addf(&w->path, "[%d]", index);
    compare_values(w, before, after);
    strbuf_cut(&w->path, len);
}

static void compare_members(struct difference_walk *w, const cJSON *before, const cJSON *after)
{
    const cJSON *a = before->child;
    const cJSON *b = after->child;

    /* The keys of both objects are sorted, because the texts are canonical. */
    while (a || b) {
        int order = !a ? 1 : !b ? -1 : strcmp(a->string, b->string);
        const cJSON *left = order <= 0 ? a : NULL;
        const cJSON *right = order >= 0 ? b : NULL;

        compare_part(w, left ? left->string : right->string, 0, left, right);
        a = left ? a->next : a;
        b = right ? b->next : b;
    }
}

/* Recursion is safe: json_parse() rejects texts that are nested too deeply. */
static void compare_values(struct difference_walk *w, const cJSON *before, const cJSON *after)
{
    if (before && after && cJSON_Compare(before, after, true))
        return;
    if (!before || !after || !is_compared_by_part(before) || !is_compared_by_part(after) ||
        cJSON_IsObject(before) != cJSON_IsObject(after)) {
        emit_value_difference(w, before, after);
        return;
    }
    if (cJSON_IsObject(before)) {
        compare_members(w, before, after);
        return;
    }

    const cJSON *a = before->child;
    const cJSON *b = after->child;

    for (int i = 0; a || b; i++) {
        compare_part(w, NULL, i, a, b);
        a = a ? a->next : NULL;
        b = b ? b->next : NULL;
    }
}

void differences_each(const char *before, const char *after, difference_fn *each, void *context)
{
    CLEANUP(json_cleanup) cJSON *old_tree = parse_json(before);
    CLEANUP(json_cleanup) cJSON *new_tree = parse_json(after);
    struct difference_walk w = {
        .each = each, .context = context, .path = STRBUF_INIT(PATH_MAX_BYTES)};

    if (old_tree || new_tree)
        compare_values(&w, old_tree, new_tree);
    strbuf_release(&w.path);
}

/* ---- difference lines ---- */

struct line_walk {
    difference_line_fn *each;
    void *context;
    struct strbuf path;
    char sign;
    const cJSON *others; /* Array with the elements to omit, or NULL. */
};

static bool has_element(const cJSON *list, const cJSON *element)
{
    const cJSON *item;

    cJSON_ArrayForEach (item, list) {
        if (cJSON_Compare(item, element, true))
            return true;
    }
    return false;
}

static void emit_difference_line(const struct line_walk *l, const cJSON *value)
{
    CLEANUP(free_cleanup)
    char *printed = cJSON_IsString(value) ? NULL : cJSON_PrintUnformatted(value);

    l->each(l->context, &(struct difference_line){l->sign, l->path.data,
                                                  printed ? printed : value->valuestring});
}

/*
 * Calls `each` for every plain value inside `value`, except elements of l->others. Recursion is
 * safe: json_parse() rejects texts that are nested too deeply.
 */
static void emit_leaves(struct line_walk *l, const cJSON *value)
{
    size_t len = l->path.len;
    const cJSON *item;
    int index = 0;

    if (!value->child) {
        emit_difference_line(l, value);
        return;
    }
    cJSON_ArrayForEach (item, value) {
        if (cJSON_IsObject(value))
            strbuf_addf(&l->path, "%s%s", len > 0 ? "." : "", item->string);
        else if (is_compared_by_part(value))
            strbuf_addf(&l->path, "[%d]", index++);
        if (item->child || !has_element(l->others, item))
            emit_leaves(l, item);
        strbuf_cut(&l->path, len);
    }
}

static bool is_plain_list(const cJSON *value)
{
    return cJSON_IsArray(value) && !is_compared_by_part(value);
}

/* Returns true if both values are arrays of the same plain values, in any order and number. */
static bool is_reordered(const cJSON *before, const cJSON *after)
{
    const cJSON *item;

    if (!is_plain_list(before) || !is_plain_list(after))
        return false;
    cJSON_ArrayForEach (item, before) {
        if (!has_element(after, item))
            return false;
    }
    cJSON_ArrayForEach (item, after) {
        if (!has_element(before, item))
            return false;
    }
    return true;
}

/*
 * Emits the lines of a value on one side, without the array elements that the other side has. An
 * array of which is_reordered() is true becomes one line.
 */
static void emit_side(struct line_walk *l, char sign, const cJSON *side, const cJSON *other)
{
    l->sign = sign;
    l->others = is_plain_list(side) && is_plain_list(other) ? other : NULL;
    if (side && is_reordered(side, other))
        emit_difference_line(l, side);
    else if (side)
        emit_leaves(l, side);
}

static void emit_difference(void *context, const struct difference *d)
{
    CLEANUP(json_cleanup) cJSON *before = parse_json(d->before);
    CLEANUP(json_cleanup) cJSON *after = parse_json(d->after);
    struct line_walk *l = context;

    strbuf_cut(&l->path, 0);
    strbuf_adds(&l->path, d->path);
    emit_side(l, '-', before, after);
    emit_side(l, '+', after, before);
}

void difference_lines_each(const char *before, const char *after, difference_line_fn *each,
                           void *context)
{
    struct line_walk l = {.each = each, .context = context, .path = STRBUF_INIT(PATH_MAX_BYTES)};

    differences_each(before, after, emit_difference, &l);
    strbuf_release(&l.path);
}

/* ---- fields that Karmada copies from policies into bindings ---- */

/*
 * Returns the value of a field as text, or as JSON for objects; NULL if the field is not set and
 * has no default.
 */
static const char *field_text(const struct propagation *p, enum drift_field field)
{
    switch (field) {
    case FIELD_PLACEMENT:
        return p->placement;
    case FIELD_CONFLICT_RESOLUTION:
        return p->conflict_resolution == CONFLICT_RESOLUTION_OVERWRITE ? "Overwrite" : "Abort";
    case FIELD_PRESERVE:
        return p->preserve == OPTIONAL_TRUE ? "true" : "false";
    case FIELD_PROPAGATE_DEPS:
        return p->propagate_deps ? "true" : "false";
    case FIELD_FAILOVER:
        return p->failover;
    case FIELD_SUSPENSION:
        return p->suspension;
    case FIELD_SCHEDULER_NAME:
        return p->scheduler_name;
    case FIELD_SCHEDULE_PRIORITY:
        return p->schedule_priority;
    case DRIFT_FIELD_COUNT:
        break;
    }
    abort();
}

const char *explain_field_json(const struct propagation *p, enum drift_field field,
                               struct strbuf *out)
{
    const char *text = field_text(p, field);

    if (!text || (field != FIELD_CONFLICT_RESOLUTION && field != FIELD_SCHEDULER_NAME))
        return text;
    json_quote(out, text);
    return out->data;
}

/* ---- names and sections ---- */

const char *explain_name(struct explain_context *x, const struct entry *entry)
{
    struct strbuf *text = &x->names[x->next_name++ % EXPLAIN_NAMES];

    strbuf_reset(text);
    entry_add_name(text, entry);
    return text->data;
}

void explain_open_section(struct explain_context *x, const char *key, const char *heading)
{
    explanation_open(x->out, key, '{');
    explanation_add_line(x->out, EXPLAIN_HEADING, "%s", heading);
}

void explain_since(struct explain_context *x, int64_t since_ms)
{
    char since[32];

    if (since_ms > 0)
        format_timestamp(since_ms, since);
    report_put_time(&x->out->facts, "since", since_ms);
    if (since_ms > 0)
        explain_paragraph(x, "Since %s, according to the objects.", since);
}

/* ---- parts about bindings ---- */

/* Context of put_field_difference() and add_field_difference_line(). */
struct field {
    struct explain_context *x;
    const char *name;
};

static void put_field_difference(void *context, const struct difference *d)
{
    const struct field *field = context;
    struct explain_context *x = field->x;

    json_writer_open(&x->out->facts, NULL, '{');
    json_writer_text(&x->out->facts, "path", d->path);
    json_writer_raw_json(&x->out->facts, "binding", d->before);
    json_writer_raw_json(&x->out->facts, "policy", d->after);
    json_writer_close(&x->out->facts, '}');
}

static void add_field_difference_line(void *context, const struct difference_line *line)
{
    const struct field *field = context;
    bool bare = *line->path == '\0' || *line->path == '[';

    explain_detail(field->x, "%c %s%s%s: %s", line->sign, field->name, bare ? "" : ".", line->path,
                   line->value);
}

/*
 * Returns the JSON of a field as Karmada copies it from the policy: in schedulePriority, the number
 * of the PriorityClass, if known, replaces the name.
 */
static const char *policy_field_json(const struct entry *policy, enum drift_field field,
                                     struct strbuf *out)
{
    const struct policy_decision *d = policy_decision(policy);

    if (field != FIELD_SCHEDULE_PRIORITY || !d || d->priority.state != PRIORITY_VALUE)
        return explain_field_json(entry_policy(policy)->propagation, field, out);
    strbuf_addf(out, "{\"priority\":%" PRId32 "}", d->priority.value);
    return out->data;
}

/* Adds the differences of one field, which exist. */
static void explain_field_difference(struct explain_context *x, enum drift_field field,
                                     const struct entry *policy, const struct entry *binding)
{
    CLEANUP(strbuf_release) struct strbuf old_text = STRBUF_INIT(EXPLAIN_VALUE_MAX_BYTES);
    CLEANUP(strbuf_release) struct strbuf new_text = STRBUF_INIT(EXPLAIN_VALUE_MAX_BYTES);
    const char *before = explain_field_json(entry_binding(binding)->propagation, field, &old_text);
    const char *after = policy_field_json(policy, field, &new_text);
    struct field context = {x, drift_field_names[field]};

    explanation_open(x->out, NULL, '{');
    json_writer_text(&x->out->facts, "field", context.name);
    explanation_open(x->out, "differences", '[');
    differences_each(before, after, put_field_difference, &context);
    explanation_close(x->out, ']');
    difference_lines_each(before, after, add_field_difference_line, &context);
    explanation_close(x->out, '}');
}

void explain_field_differences(struct explain_context *x, unsigned fields,
                               const struct entry *policy, const struct entry *binding)
{
    bool known = entry_policy(policy) && entry_binding(binding);

    if (known && fields != 0)
        explain_paragraph(x, "Values in the binding (-) that differ from the policy (+):");
    explanation_open(x->out, "fields", '[');
    for (unsigned i = 0; known && i < DRIFT_FIELD_COUNT; i++) {
        if (fields & 1U << i)
            explain_field_difference(x, i, policy, binding);
    }
    explanation_close(x->out, ']');
}

/* Lines of a JSON text that are being added. */
struct json_lines {
    struct explain_context *x;
    struct strbuf path; /* Path of the line that is being collected. */
    struct strbuf values;
};

static void add_json_line(struct json_lines *lines)
{
    if (lines->values.len > 0)
        explain_detail(lines->x, "%s%s%s", lines->path.data, lines->path.len > 0 ? ": " : "",
                       lines->values.data);
    strbuf_reset(&lines->path);
    strbuf_reset(&lines->values);
}

static void collect_json_line(void *context, const struct difference_line *line)
{
    struct json_lines *lines = context;

    if (strcmp(lines->path.data, line->path) != 0)
        add_json_line(lines);
    if (lines->values.len == 0)
        strbuf_adds(&lines->path, line->path);
    strbuf_addf(&lines->values, "%s%s", lines->values.len > 0 ? ", " : "", line->value);
}

void explain_json(struct explain_context *x, const char *json)
{
    struct json_lines lines = {.x = x,
                               .path = STRBUF_INIT(EXPLAIN_VALUE_MAX_BYTES),
                               .values = STRBUF_INIT(EXPLAIN_VALUE_MAX_BYTES)};

    if (json)
        difference_lines_each(NULL, json, collect_json_line, &lines);
    else
        explain_detail(x, EXPLAIN_NOT_SET);
    add_json_line(&lines);
    strbuf_release(&lines.path);
    strbuf_release(&lines.values);
}

void explain_assigned_replicas(struct explain_context *x, const struct binding *b)
{
    CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(EXPLAIN_VALUE_MAX_BYTES);

    report_put_assigned(&x->out->facts, b);
    for (uint32_t i = 0; b && i < b->cluster_count; i++)
        strbuf_addf(&text, "%s%s: %" PRId32, i ? ", " : "", b->clusters[i].name,
                    b->clusters[i].replicas);
    if (text.len > 0)
        explain_paragraph(x, "Replicas now: %s.", text.data);
    if (!b || !b->has_placement || b->propagation->placement == b->applied_placement)
        return;
    json_writer_raw_json(&x->out->facts, "appliedPlacement", b->applied_placement);
    explain_paragraph(x, "The scheduler has not applied the placement yet. Placement that "
                         "it applied last:");
    explain_json(x, b->applied_placement);
}

/* ---- referrers of a dependency ---- */

/* Writes the values that a referrer requests as member `key`; null if `values` is NULL. */
static void put_dependency_values(struct explain_context *x, const char *key,
                                  const struct dependency_values *values)
{
    if (!values) {
        json_writer_text(&x->out->facts, key, NULL);
        return;
    }
    json_writer_open(&x->out->facts, key, '{');
    for (unsigned i = 0; i < DEPENDENCY_FIELD_COUNT; i++)
        report_put_value(&x->out->facts, dependency_field_names[i], i, values->wants[i]);
    json_writer_close(&x->out->facts, '}');
}

/*
 * Adds the values that count at present ("wants"), and the values that count once Karmada has
 * applied the referrer's present policy ("willWant").
 */
static void explain_dependency_values(struct explain_context *x,
                                      const struct dependency_referrer *referrer)
{
    put_dependency_values(x, "wants", referrer->counts_observed ? &referrer->observed : NULL);
    put_dependency_values(x, "willWant", referrer->counts_current ? &referrer->current : NULL);
    for (unsigned i = 0; i < DEPENDENCY_FIELD_COUNT; i++) {
        const char *now = dependency_value_name(i, referrer->observed.wants[i]);
        const char *then = dependency_value_name(i, referrer->current.wants[i]);

        if (referrer->counts_observed && referrer->counts_current && now != then)
            explain_detail(x, "%s %s, and %s once Karmada has applied the present policy",
                           dependency_field_names[i], now, then);
        else
            explain_detail(x, "%s %s", dependency_field_names[i],
                           referrer->counts_observed ? now : then);
    }
}

/*
 * Adds where the values of a referrer come from: to the facts, the policy and the origin (derived,
 * observed, predicted); to the text, the policy, and the binding or that the values are derived.
 */
static void explain_value_origin(struct explain_context *x,
                                 const struct dependency_referrer *referrer)
{
    struct policy_name policy = referrer_policy(referrer, !referrer->counts_observed);
    struct json_writer *w = &x->out->facts;

    report_put_policy(w, "policy", policy);
    json_writer_text(w, "origin",
                     referrer->derived           ? "derived"
                     : referrer->counts_observed ? "observed"
                                                 : "predicted");
    if (policy.kind)
        explain_detail(x, "by %s %s%s%s", policy.kind, policy.ns, *policy.ns ? "/" : "",
                       policy.name);
    if (referrer->derived)
        explain_detail(x, "derived from the references of the template, which has no binding yet");
    else if (referrer->binding)
        explain_detail(x, "in %s", explain_name(x, referrer->binding));
}

static void explain_referrer(void *context, const struct dependency_referrer *referrer)
{
    struct explain_context *x = context;
    bool missing = referrer->binding && !entry_exists(referrer->binding);
    const struct entry *subject = referrer->template ? referrer->template : referrer->binding;

    assert(subject);
    explanation_open(x->out, NULL, '{');
    report_put_object(&x->out->facts, subject);
    if (referrer->binding)
        report_put_binding(&x->out->facts, "binding", referrer->binding);
    json_writer_bool(&x->out->facts, "exists", !missing);
    if (missing) {
        explain_paragraph(x, "%s is listed in requiredBy, but does not exist.",
                          explain_name(x, referrer->binding));
        explain_detail(x, "Karmada does not update the dependency's binding while requiredBy "
                          "lists it");
    } else {
        explain_paragraph(x, "%s %s:", explain_name(x, subject),
                          referrer->counts_observed
                              ? "requests"
                              : "will request, once Karmada has applied its policy");
        explain_dependency_values(x, referrer);
        explain_value_origin(x, referrer);
    }
    explanation_close(x->out, '}');
}

static void explain_resolved_value(struct explain_context *x, const struct dependency_decision *d,
                                   enum dependency_field field)
{
    const struct field_resolution *f = &d->fields[field];
    CLEANUP(strbuf_release) struct strbuf value = STRBUF_INIT(RESOLVED_MAX_BYTES);
    bool certain = dependency_outcome_is_certain(f->outcome);

    dependency_describe_resolved(d, field, false, &value);
    explain_paragraph(x, "%s %s%s %s.", dependency_field_names[field],
                      f->conflict ? "is in conflict, and " : "",
                      certain ? "resolves to" : "its value is", value.data);
}

static void explain_predicted_value(struct explain_context *x, const struct dependency_decision *d,
                                    enum dependency_field field)
{
    CLEANUP(strbuf_release) struct strbuf value = STRBUF_INIT(RESOLVED_MAX_BYTES);
    bool certain = dependency_outcome_is_certain(d->fields[field].predicted_outcome);

    dependency_describe_resolved(d, field, true, &value);
    explain_detail(x,
                   "the field will be in conflict, and %s %s, once Karmada has applied the present "
                   "policies",
                   certain ? "resolve to" : "its value", value.data);
}

static void explain_resolution(struct explain_context *x, const struct entry *dependency,
                               enum dependency_field field)
{
    const struct field_resolution *f = &dependency_decision(dependency)->fields[field];
    struct json_writer *w = &x->out->facts;

    explanation_open(x->out, NULL, '{');
    json_writer_text(w, "field", dependency_field_names[field]);
    json_writer_bool(w, "conflict", f->conflict);
    report_put_resolved(w, field, f->outcome, f->resolved);
    report_put_stored(w, dependency, field);
    json_writer_bool(w, "overridden", f->overridden);
    json_writer_bool(w, "predicted", f->predicted);
    if (f->unsupported)
        json_writer_bool(w, "unsupported", true);
    explain_resolved_value(x, dependency_decision(dependency), field);
    if (f->overridden)
        explain_detail(x, "the dependency's own policy sets another value: %s",
                       dependency_value_name(field, f->stored));
    else if (f->unapplied)
        explain_detail(x, "the binding still has %s", dependency_value_name(field, f->stored));
    else if (f->unsupported)
        explain_detail(x,
                       "not resolved: Karmada before 1.16 uses the value of the last referrer, so "
                       "the binding has %s",
                       dependency_value_name(field, f->stored));
    if (f->predicted)
        explain_predicted_value(x, dependency_decision(dependency), field);
    explanation_close(x->out, '}');
}

void explain_referrers(struct explain_context *x, const struct entry *dependency)
{
    const struct dependency_decision *d = dependency ? dependency_decision(dependency) : NULL;

    if (!d || d->referrers + d->dangling == 0)
        return;
    explain_open_section(x, "requiredBy", "Required by");
    explanation_open(x->out, "referrers", '[');
    engine_dependency_referrers(x->engine, dependency, explain_referrer, x);
    explanation_close(x->out, ']');
    explanation_open(x->out, "fields", '[');
    for (unsigned i = 0; i < DEPENDENCY_FIELD_COUNT; i++)
        explain_resolution(x, dependency, i);
    explanation_close(x->out, ']');
    explanation_close(x->out, '}');
}

/* ---- defects of templates and bindings ---- */

void explain_defects(struct explain_context *x, const struct entry *entry)
{
    unsigned defects = entry_defects(entry);

    if (defects == 0)
        return;
    explain_open_section(x, "broken", "Defects");
    explanation_open(x->out, "defects", '[');
    report_defects(&x->out->facts, entry);
    explanation_close(x->out, ']');
    for (unsigned i = 0; i < DEFECT_COUNT; i++) {
        CLEANUP(strbuf_release) struct strbuf subject = STRBUF_INIT(EXPLAIN_VALUE_MAX_BYTES);

        if (!(defects & 1u << i))
            continue;
        defect_add_subject(entry, i, &subject);
        explain_paragraph(x, "%s: %s (%s).", defect_names[i], defect_texts[i], subject.data);
    }
    explanation_close(x->out, '}');
}
