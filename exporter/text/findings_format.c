/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/text/findings_format.h"

#include "exporter/text/place_text.h"
#include "exporter/text/text_table.h"
#include "metrics/base/json_writer.h"

enum { TEXT_MAX_BYTES = 1024 * 1024 };

/* Writers by format; NULL for the formats that have no findings. */
static findings_write_fn *const writers[OUTPUT_FORMAT_COUNT] = {
    [OUTPUT_SARIF] = findings_write_sarif,       [OUTPUT_JUNIT] = findings_write_junit,
    [OUTPUT_GITHUB] = findings_write_github,     [OUTPUT_GITLAB] = findings_write_gitlab,
    [OUTPUT_MARKDOWN] = findings_write_markdown,
};

bool findings_format_is(enum output_format format)
{
    return writers[format] != NULL;
}

void findings_write(const struct findings *f, enum output_format format,
                    const struct findings_end *end, struct strbuf *out)
{
    writers[format](f, end, out);
}

/* ---- common parts ---- */

void finding_add_text(const struct finding *finding, struct strbuf *out)
{
    strbuf_adds(out, finding->message);
    if (*finding->action)
        strbuf_addf(out, "%s%s", *finding->message ? " " : "", finding->action);
}

bool findings_have_common_part(const struct findings *f)
{
    for (size_t i = 0; i < f->count; i++) {
        if (!*f->items[i].environment)
            return true;
    }
    return f->environment_count == 0;
}

void findings_add_summary(const struct findings *f, struct strbuf *out)
{
    size_t failing = findings_count(f, FINDING_ERROR);
    size_t all = failing + findings_count(f, FINDING_WARNING) + findings_count(f, FINDING_NOTE);

    if (f->summary.len > 0) {
        strbuf_adds(out, f->summary.data);
        return;
    }
    if (all == 0)
        strbuf_addf(out, "The %s has no findings.", f->command);
    else if (failing == 0)
        strbuf_addf(out, "%zu finding%s; none fails the %s.", all, all == 1 ? "" : "s", f->command);
    else if (failing == all)
        strbuf_addf(out, "%zu finding%s the %s.", all, all == 1 ? " fails" : "s fail", f->command);
    else
        strbuf_addf(out, "%zu of %zu findings fail%s the %s.", failing, all,
                    failing == 1 ? "s" : "", f->command);
}

/* ---- GitLab: Code Quality report ---- */

static const char *gitlab_severity(const struct finding *finding)
{
    if (finding->unread)
        return "blocker";
    if (finding->level != FINDING_ERROR)
        return finding->level == FINDING_NOTE ? "info" : "minor";
    return finding->severity == SEVERITY_CRITICAL ? "critical" : "major";
}

/* GitLab needs a path: that of a subject from an API server is its name. */
static void write_gitlab_location(struct json_writer *w, const struct finding *finding)
{
    json_writer_open(w, "location", '{');
    json_writer_text(w, "path", finding->place.file ? finding->place.file : finding->subject);
    json_writer_open(w, "lines", '{');
    json_writer_int(w, "begin", finding->place.line > 0 ? (int64_t)finding->place.line : 1);
    json_writer_close(w, '}');
    json_writer_close(w, '}');
}

void findings_write_gitlab(const struct findings *f, const struct findings_end *end,
                           struct strbuf *out)
{
    struct json_writer w = {.out = out, .lines = 1};

    (void)end;
    json_writer_open(&w, NULL, '[');
    for (size_t i = 0; i < f->count; i++) {
        CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(TEXT_MAX_BYTES);
        const struct finding *finding = &f->items[i];
        char fingerprint[17];

        if (!finding_is_defect(finding))
            continue;
        if (*finding->environment)
            strbuf_addf(&text, "%s: ", finding->environment);
        finding_add_text(finding, &text);
        snprintf(fingerprint, sizeof(fingerprint), "%016" PRIx64, finding->fingerprint);
        json_writer_open(&w, NULL, '{');
        json_writer_text(&w, "description", text.data);
        json_writer_text(&w, "check_name", finding->rule);
        json_writer_text(&w, "fingerprint", fingerprint);
        json_writer_text(&w, "severity", gitlab_severity(finding));
        write_gitlab_location(&w, finding);
        json_writer_close(&w, '}');
    }
    json_writer_close(&w, ']');
    strbuf_addc(out, '\n');
}

/* ---- GitHub: text and workflow commands ---- */

/*
 * Appends a text for the log. The runner also takes "##[" within a line for a command, so a blank
 * separates its characters.
 */
static void add_log_text(struct strbuf *out, const char *text)
{
    CLEANUP(strbuf_release) struct strbuf safe = STRBUF_INIT(4 * TEXT_MAX_BYTES);
    const char *command;
    const char *rest;

    output_escape(&safe, text);
    for (rest = safe.data; (command = strstr(rest, "##[")); rest = command + 2) {
        strbuf_add(out, rest, (size_t)(command - rest));
        strbuf_adds(out, "## ");
    }
    strbuf_adds(out, rest);
}

/* Appends a text for a workflow command; `property` also escapes what ends a property. */
static void add_command_text(struct strbuf *out, const char *text, bool property)
{
    for (; *text != '\0'; text++) {
        if (*text == '%' || *text == '\r' || *text == '\n' ||
            (property && (*text == ':' || *text == ',')))
            strbuf_addf(out, "%%%02X", (unsigned)(unsigned char)*text);
        else
            strbuf_addc(out, *text);
    }
}

/* Appends a line such as "error  app.yaml:3:7  policy_tie  pp/shop/first". */
static void add_log_line(struct strbuf *out, const struct finding *finding)
{
    CLEANUP(strbuf_release) struct strbuf line = STRBUF_INIT(TEXT_MAX_BYTES);

    strbuf_addf(&line, "%-7s  ", finding_level_names[finding->level]);
    place_add(&line, &finding->place);
    if (finding->place.file)
        strbuf_adds(&line, "  ");
    strbuf_addf(&line, "%s  %s", finding->rule, finding->subject);
    if (*finding->environment)
        strbuf_addf(&line, "  (%s)", finding->environment);
    add_log_text(out, line.data);
    strbuf_addc(out, '\n');
}

/* Appends the workflow command that shows the finding beside its line. */
static void add_annotation(struct strbuf *out, const struct finding *finding)
{
    static const char *const commands[FINDING_LEVEL_COUNT] = {
        [FINDING_ERROR] = "error",
        [FINDING_WARNING] = "warning",
        [FINDING_NOTE] = "notice",
    };
    CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(TEXT_MAX_BYTES);
    CLEANUP(strbuf_release) struct strbuf safe = STRBUF_INIT(4 * TEXT_MAX_BYTES);

    strbuf_addf(out, "::%s ", commands[finding->level]);
    if (finding->place.file) {
        strbuf_adds(out, "file=");
        add_command_text(out, finding->place.file, true);
        strbuf_addc(out, ',');
    }
    if (finding->place.file && finding->place.line > 0)
        strbuf_addf(out, "line=%zu,", finding->place.line);
    if (finding->place.file && finding->place.line > 0 && finding->place.column > 0)
        strbuf_addf(out, "col=%zu,", finding->place.column);
    strbuf_adds(out, "title=");
    add_command_text(out, finding->rule, true);
    strbuf_adds(out, "::");
    if (*finding->environment)
        strbuf_addf(&text, "%s: ", finding->environment);
    finding_add_text(finding, &text);
    output_escape(&safe, text.data);
    add_command_text(out, safe.data, false);
    strbuf_addc(out, '\n');
}

/* Appends how many findings have no annotation, because GitHub shows only some of each level. */
static void add_omitted_annotations(const struct findings *f, struct strbuf *out)
{
    const char *between = "";

    for (unsigned level = 0; level < FINDING_LEVEL_COUNT; level++) {
        size_t count = findings_count(f, level);

        if (count <= GITHUB_ANNOTATIONS_MAX)
            continue;
        if (!*between)
            strbuf_addf(out, "GitHub shows %d annotations of each level. The list above has all: ",
                        GITHUB_ANNOTATIONS_MAX);
        count -= GITHUB_ANNOTATIONS_MAX;
        strbuf_addf(out, "%s%zu more %s%s", between, count, finding_level_names[level],
                    count == 1 ? "" : "s");
        between = ", ";
    }
    if (*between)
        strbuf_adds(out, ".\n");
}

void findings_write_github(const struct findings *f, const struct findings_end *end,
                           struct strbuf *out)
{
    CLEANUP(strbuf_release) struct strbuf summary = STRBUF_INIT(TEXT_MAX_BYTES);
    size_t shown[FINDING_LEVEL_COUNT] = {0};

    findings_add_summary(f, &summary);
    add_log_text(out, summary.data);
    strbuf_adds(out, end->complete ? "\n" : " Not all inputs could be read.\n");
    for (size_t i = 0; i < f->count; i++) {
        if (finding_is_defect(&f->items[i]))
            add_log_line(out, &f->items[i]);
    }
    for (size_t i = 0; i < f->count; i++) {
        if (finding_is_defect(&f->items[i]) && shown[f->items[i].level]++ < GITHUB_ANNOTATIONS_MAX)
            add_annotation(out, &f->items[i]);
    }
    add_omitted_annotations(f, out);
}
