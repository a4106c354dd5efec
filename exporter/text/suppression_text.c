/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/text/suppression_text.h"

#include "exporter/text/object_name.h"
#include "exporter/text/place_text.h"
#include "metrics/expose/problem_text.h"

enum { LINE_MAX_BYTES = 64 * 1024, SAFE_MAX_BYTES = 4 * LINE_MAX_BYTES, INDENT = 2 };

/* ---- numbers ---- */

void suppression_add_counts(const struct check_result *r, struct strbuf *line)
{
    const char *between = "; ";

    if (r->numbers.known > 0) {
        strbuf_addf(line, "%s%zu known", between, r->numbers.known);
        between = ", ";
    }
    if (r->numbers.excepted > 0)
        strbuf_addf(line, "%s%zu excepted", between, r->numbers.excepted);
}

static void print_line(struct output *o, size_t indent, const char *text)
{
    CLEANUP(strbuf_release) struct strbuf safe = STRBUF_INIT(SAFE_MAX_BYTES);

    output_escape(&safe, text);
    strbuf_addf(&o->text, "%*s", (int)indent, "");
    output_wrap(&o->text, safe.data, indent, indent, o->width);
    strbuf_addc(&o->text, '\n');
}

static const char *plural(size_t count)
{
    return count == 1 ? "" : "s";
}

void suppression_print_numbers(const struct check_result *r, struct output *o)
{
    CLEANUP(strbuf_release) struct strbuf line = STRBUF_INIT(LINE_MAX_BYTES);
    const struct suppressed_counts *n = &r->numbers;

    if (r->suppressions && r->suppressions->baseline)
        strbuf_addf(&line, "%zu problem%s %s in the baseline; %zu of the baseline %s gone. ",
                    n->known, plural(n->known), n->known == 1 ? "is" : "are", n->gone,
                    n->gone == 1 ? "is" : "are");
    if (n->excepted > 0)
        strbuf_addf(&line, "%zu problem%s %s accepted by exceptions. ", n->excepted,
                    plural(n->excepted), n->excepted == 1 ? "is" : "are");
    if (n->unread > 0)
        strbuf_addf(&line,
                    "%zu file%s or document%s could not be read, as in the baseline, and %s not "
                    "evaluated. ",
                    n->unread, plural(n->unread), plural(n->unread), n->unread == 1 ? "is" : "are");
    if (line.len == 0)
        return;
    strbuf_cut(&line, line.len - 1);
    print_line(o, 0, line.data);
}

void suppression_write_numbers(const struct check_result *r, struct strbuf *out)
{
    struct json_writer w = {.out = out};

    json_writer_open(&w, NULL, '{');
    json_writer_int(&w, "baseline", (int64_t)r->numbers.known);
    json_writer_int(&w, "exception", (int64_t)r->numbers.excepted);
    json_writer_int(&w, "gone", (int64_t)r->numbers.gone);
    json_writer_int(&w, "unread", (int64_t)r->numbers.unread);
    json_writer_close(&w, '}');
}

/* ---- exceptions ---- */

static struct location place_of(const struct exception *e)
{
    return (struct location){e->file, e->line, e->column};
}

static void add_place(const struct exception *e, struct strbuf *out)
{
    struct location at = place_of(e);

    place_add(out, &at);
}

static void add_expired_problem(const struct expired_problem *expired, struct strbuf *out)
{
    if (expired->problem) {
        problem_reason_name_add(out, expired->problem->reason);
        strbuf_adds(out, " of ");
        problem_add_subject(expired->problem, out);
    } else {
        strbuf_addf(out, "%s of ", normal_condition_names[expired->condition]);
        object_name_add(out, expired->template);
    }
}

static const char expired_action[] = "Solve the problem, or agree on a later date.";

/* Appends the date of an expired exception, and the problem that it covered. */
static void add_expired(const struct expired_problem *expired, struct strbuf *out)
{
    const struct exception *e = expired->exception;

    strbuf_addf(out, "expired after %s; it covered ", e->until);
    add_expired_problem(expired, out);
    strbuf_addf(out, " (%s).", e->reason);
}

void suppression_print_expired(const struct check_result *r, struct output *o)
{
    if (r->expired_count == 0)
        return;
    strbuf_addc(&o->text, '\n');
    output_add_section(o, "Expired exceptions", r->expired_count);
    for (size_t i = 0; i < r->expired_count; i++) {
        CLEANUP(strbuf_release) struct strbuf line = STRBUF_INIT(LINE_MAX_BYTES);

        add_place(r->expired[i].exception, &line);
        strbuf_adds(&line, ": ");
        add_expired(&r->expired[i], &line);
        strbuf_addf(&line, " %s", expired_action);
        print_line(o, INDENT, line.data);
    }
}

/* Adds a finding about an exception, at its place. */
static void add_finding(struct findings *f, const struct exception *e,
                        const struct finding *finding)
{
    CLEANUP(strbuf_release) struct strbuf subject = STRBUF_INIT(LINE_MAX_BYTES);
    struct finding added = *finding;

    strbuf_addf(&subject, "exception for %s", e->problem);
    if (e->object)
        strbuf_addf(&subject, " of %s", e->object);
    added.severity = SEVERITY_COUNT;
    added.object = (struct identity){"", "Exception", e->file, subject.data};
    added.subject = subject.data;
    added.place = place_of(e);
    findings_add(f, &added);
}

void findings_add_expired(struct findings *f, const struct check_result *r, bool fails,
                          const char *environment)
{
    for (size_t i = 0; i < r->expired_count; i++) {
        CLEANUP(strbuf_release) struct strbuf line = STRBUF_INIT(LINE_MAX_BYTES);

        strbuf_adds(&line, "The exception ");
        add_expired(&r->expired[i], &line);
        add_finding(f, r->expired[i].exception,
                    &(struct finding){.rule = "exception/expired",
                                      .level = fails ? FINDING_ERROR : FINDING_WARNING,
                                      .message = line.data,
                                      .action = expired_action,
                                      .environment = environment});
    }
}

static bool is_unused(const struct exception *e)
{
    return e->covered == 0;
}

/* Appends the rest of a sentence that begins with "The": why the exception covers no problem. */
static void add_unused(const struct exception *e, bool expired, struct strbuf *out)
{
    if (e->superseded)
        strbuf_addf(out, " exception for %s has expired, and a later one covers its problem.",
                    e->problem);
    else if (e->object && !e->object_exists)
        strbuf_addf(out, " exception for %s names %s, and no such object exists.", e->problem,
                    e->object);
    else
        strbuf_addf(out, " exception for %s of %s covers no problem%s.", e->problem,
                    e->object ? e->object : "this object", expired ? " and has expired" : "");
    strbuf_adds(out, e->object && !e->object_exists && !e->superseded
                         ? " Correct the object, or remove the exception."
                         : " Remove it.");
}

void exceptions_print_unused(const struct exceptions *x, int64_t now_ms, struct output *o)
{
    size_t count = 0;

    for (size_t i = 0; i < exceptions_count(x); i++)
        count += is_unused(exceptions_at(x, i));
    if (count == 0)
        return;
    strbuf_addc(&o->text, '\n');
    output_add_section(o, "Unused exceptions", count);
    for (size_t i = 0; i < exceptions_count(x); i++) {
        CLEANUP(strbuf_release) struct strbuf line = STRBUF_INIT(LINE_MAX_BYTES);
        const struct exception *e = exceptions_at(x, i);

        if (!is_unused(e))
            continue;
        add_place(e, &line);
        strbuf_adds(&line, ": the");
        add_unused(e, exception_is_expired(e, now_ms), &line);
        print_line(o, INDENT, line.data);
    }
}

void findings_add_unused(struct findings *f, const struct exceptions *x, int64_t now_ms)
{
    for (size_t i = 0; i < exceptions_count(x); i++) {
        CLEANUP(strbuf_release) struct strbuf line = STRBUF_INIT(LINE_MAX_BYTES);
        const struct exception *e = exceptions_at(x, i);

        if (!is_unused(e))
            continue;
        strbuf_adds(&line, "The");
        add_unused(e, exception_is_expired(e, now_ms), &line);
        add_finding(f, e,
                    &(struct finding){
                        .rule = "exception/unused", .level = FINDING_NOTE, .message = line.data});
    }
}

static const char *state_of(const struct exception *e, int64_t now_ms)
{
    if (is_unused(e))
        return "unused";
    return exception_is_expired(e, now_ms) ? "expired" : "used";
}

void exceptions_write(const struct exceptions *x, int64_t now_ms, struct strbuf *out)
{
    struct json_writer w = {.out = out};

    json_writer_open(&w, NULL, '[');
    for (size_t i = 0; i < exceptions_count(x); i++) {
        const struct exception *e = exceptions_at(x, i);

        json_writer_open(&w, NULL, '{');
        json_writer_text(&w, "problem", e->problem);
        json_writer_text(&w, "object", e->object);
        json_writer_text(&w, "reason", e->reason);
        json_writer_text(&w, "until", e->until);
        json_writer_text(&w, "state", state_of(e, now_ms));
        json_writer_int(&w, "problems", (int64_t)e->covered);
        json_writer_open(&w, "location", '{');
        json_writer_text(&w, "file", e->file);
        json_writer_int(&w, "line", (int64_t)e->line);
        json_writer_int(&w, "column", (int64_t)e->column);
        json_writer_close(&w, '}');
        json_writer_close(&w, '}');
    }
    json_writer_close(&w, ']');
}

/* ---- report ---- */

static bool find_suppression(const void *context, const struct problem *p, struct suppression *out)
{
    const struct suppressed_problem *s = check_result_suppression(context, p);

    if (!s)
        return false;
    *out = (struct suppression){.by = s->exception ? "exception" : "baseline"};
    if (s->exception) {
        out->reason = s->exception->reason;
        out->until = s->exception->until;
        out->at = (struct location){s->exception->file, s->exception->line, s->exception->column};
    }
    return true;
}

struct suppression_source suppression_source_of(const struct check_result *r)
{
    return (struct suppression_source){find_suppression, r};
}
