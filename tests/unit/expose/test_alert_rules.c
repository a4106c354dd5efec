/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the table of problems for the alert rules: alerts/source/problem_table.libsonnet. */
#include "metrics/base/strbuf.h"
#include "metrics/expose/problem_alerts.h"
#include "metrics/expose/problem_sentences.h"
#include "metrics/expose/problem_text.h"
#include "metrics/rules/problems/problem_table.h"
#include "tests/unit/golden.h"
#include "tests/unit/suite.h"

enum { TABLE_MAX_BYTES = 1 << 18 };

/* Appends a string as the formatter prefers it: in single quotes if it has no single quote. */
static void add_string(struct strbuf *out, const char *text)
{
    char quote = strchr(text, '\'') ? '"' : '\'';

    assert_null(quote == '"' ? strchr(text, '"') : NULL);
    assert_null(strchr(text, '\\'));
    strbuf_addf(out, "%c%s%c", quote, text, quote);
}

static void add_member(struct strbuf *out, const char *indent, const char *name, const char *text)
{
    strbuf_addf(out, "%s%s: ", indent, name);
    add_string(out, text);
    strbuf_adds(out, ",\n");
}

/* Returns the action of the reason for any subject; the caller frees it. */
static char *action_of(enum problem_reason reason)
{
    static const char field[] = "{field}";
    struct strbuf out = STRBUF_INIT(TABLE_MAX_BYTES);
    const char *text = problem_sentences[reason].action;
    const char *at = strstr(text, field);

    if (at) {
        strbuf_add(&out, text, (size_t)(at - text));
        strbuf_addf(&out, "the field %s", problem_reasons[reason].name);
        text = at + strlen(field);
    }
    strbuf_adds(&out, text);
    /* Names of objects are not known to a rule. */
    assert_null(strchr(out.data, '{'));
    assert_null(strchr(out.data, '['));
    return strbuf_take(&out, NULL);
}

static void add_reason(struct strbuf *out, enum problem_reason reason)
{
    CLEANUP(free_cleanup) char *action = action_of(reason);

    strbuf_adds(out, "            { name: ");
    add_string(out, problem_reasons[reason].name);
    strbuf_adds(out, ", actor: ");
    add_string(out, actor_names[problem_reasons[reason].actor]);
    strbuf_adds(out, ", action: ");
    add_string(out, action);
    strbuf_adds(out, " },\n");
}

static void add_problem(struct strbuf *out, enum problem_id problem)
{
    static const char indent[] = "          ";
    const struct problem_row *row = &problem_table[problem];

    strbuf_adds(out, "        {\n");
    add_member(out, indent, "name", row->name);
    add_member(out, indent, "title", row->title);
    add_member(out, indent, "doc", problem_doc(problem));
    add_member(out, indent, "severity", severity_names[row->severity]);
    strbuf_addf(out, "%sreasons: [\n", indent);
    for (unsigned r = 0; r < PROBLEM_REASON_COUNT; r++) {
        if (problem_reasons[r].problem == problem)
            add_reason(out, (enum problem_reason)r);
    }
    strbuf_addf(out, "%s],\n        },\n", indent);
}

/*
 * Appends an alert and its problems. KarmadaPolicyReview and KarmadaPolicyProblem have the same
 * problems: the second one reports them if a site raises their severity.
 */
static void add_alert(struct strbuf *out, enum problem_alert_id alert)
{
    const struct problem_alert_row *row = &problem_alert_table[alert];

    strbuf_adds(out, "    {\n");
    add_member(out, "      ", "name", row->name);
    add_member(out, "      ", "summary", row->summary);
    add_member(out, "      ", "by",
               row->grouping & ALERT_BY_SUBJECT     ? "subject"
               : row->grouping & ALERT_BY_NAMESPACE ? "namespace"
               : row->grouping & ALERT_BY_REASON    ? "reason"
                                                    : "problem");
    strbuf_adds(out, "      problems: [\n");
    for (unsigned p = 0; p < PROBLEM_COUNT; p++) {
        enum problem_severity severity =
            alert == PROBLEM_ALERT_POLICY_PROBLEM ? SEVERITY_WARNING : problem_table[p].severity;

        if (problem_alert_of((enum problem_id)p, severity) == alert)
            add_problem(out, (enum problem_id)p);
    }
    strbuf_adds(out, "      ],\n    },\n");
}

TEST(the_rules_have_the_table_of_problems)
{
    CLEANUP(strbuf_release) struct strbuf out = STRBUF_INIT(TABLE_MAX_BYTES);

    strbuf_adds(&out,
                "// Alerts about problems, as the tables of the exporter define them; written "
                "by `make golden`.\n{\n  alerts: [\n");
    for (unsigned i = 0; i < PROBLEM_ALERT_DEGRADED; i++)
        add_alert(&out, (enum problem_alert_id)i);
    strbuf_adds(&out, "  ],\n}\n");
    golden_check_path("alerts/source/problem_table.libsonnet", out.data);
}
