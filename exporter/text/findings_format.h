/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/options/options.h"
#include "exporter/text/findings.h"

/* Documents with findings for CI systems: --output sarif, junit, github, gitlab and markdown. */

/* The end of the command, which SARIF reports. */
struct findings_end {
    unsigned exit_status;
    bool complete; /* All inputs were read. */
};

/* Returns true for the formats of findings. */
bool findings_format_is(enum output_format format);

/* Appends the document with the findings, after findings_finish(). */
void findings_write(const struct findings *f, enum output_format format,
                    const struct findings_end *end, struct strbuf *out);

/* ---- parts of the formats ---- */

typedef void findings_write_fn(const struct findings *f, const struct findings_end *end,
                               struct strbuf *out);

findings_write_fn findings_write_sarif;
findings_write_fn findings_write_junit;
findings_write_fn findings_write_github;
findings_write_fn findings_write_gitlab;
findings_write_fn findings_write_markdown;

/* Limits of the services that read the documents; the writers name what they leave out. */
enum {
    SARIF_RESULTS_MAX = 25000,       /* GitHub refuses a run with more, and shows 5,000 of them. */
    GITHUB_ANNOTATIONS_MAX = 10,     /* Of each level, in one step. */
    MARKDOWN_MAX_CHARACTERS = 65536, /* Of a comment on GitHub. */
};

/* Returns true if findings belong to no environment, or if there is no environment. */
bool findings_have_common_part(const struct findings *f);

/* Appends message and action as one paragraph. */
void finding_add_text(const struct finding *finding, struct strbuf *out);

/*
 * Appends the result as a sentence, such as "2 of 5 findings fail this check."; or the summary of
 * the findings, if set.
 */
void findings_add_summary(const struct findings *f, struct strbuf *out);

/* Appends a text for a cell of a table in Markdown: without markup, mentions and line breaks. */
void findings_add_cell(struct strbuf *out, const char *text);
