/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/web/page_parts.h"
#include "metrics/base/base.h"
#include "metrics/expose/problem_alerts.h"
#include "metrics/expose/problem_text.h"

/*
 * Page of a runbook: the file in alerts/runbooks/ of the alert about a problem. The program
 * contains the files, so that the pages have them without another site.
 */

#define RUNBOOKS(RUNBOOK)                                                                          \
    RUNBOOK(LAST_COPY_AT_RISK, "KarmadaLastCopyAtRisk")                                            \
    RUNBOOK(PLACEMENT_LOST, "KarmadaPlacementLost")                                                \
    RUNBOOK(CLOUD_RESOURCE_CONFLICT, "KarmadaCloudResourceConflict")                               \
    RUNBOOK(MEMBER_CLUSTER_UNAVAILABLE, "KarmadaMemberClusterUnavailable")                         \
    RUNBOOK(CONTROLLERS_STUCK, "KarmadaControllersStuck")                                          \
    RUNBOOK(DEPENDENCY_POLICY_CONFLICT, "KarmadaDependencyPolicyConflict")                         \
    RUNBOOK(POLICY_NOT_IN_FORCE, "KarmadaPolicyNotInForce")                                        \
    RUNBOOK(NOT_PROPAGATED, "KarmadaNotPropagated")                                                \
    RUNBOOK(NOT_SCHEDULED, "KarmadaNotScheduled")                                                  \
    RUNBOOK(NOT_DELIVERED, "KarmadaNotDelivered")                                                  \
    RUNBOOK(EVICTION_STUCK, "KarmadaEvictionStuck")                                                \
    RUNBOOK(POLICY_BROKEN, "KarmadaPolicyBroken")                                                  \
    RUNBOOK(LEASE_AT_RISK, "KarmadaLeaseAtRisk")                                                   \
    RUNBOOK(DECISION_FLAPPING, "KarmadaDecisionFlapping")                                          \
    RUNBOOK(POLICY_REVIEW, "KarmadaPolicyReview")                                                  \
    RUNBOOK(POLICY_PROBLEM, "KarmadaPolicyProblem")                                                \
    RUNBOOK(DATA_INCOMPLETE, "KarmadaPolicyExporterDataIncomplete")

/* The build runs in the root of the repository. */
#define RUNBOOK_FILE(id, name)                                                                     \
    extern const char runbook_##id[];                                                              \
    __asm__(".pushsection .rodata\nrunbook_" #id ":\n.incbin \"alerts/runbooks/" name              \
            ".md\"\n.byte 0\n.popsection\n");
RUNBOOKS(RUNBOOK_FILE)

#define RUNBOOK_ROW(id, name) [PROBLEM_ALERT_##id] = runbook_##id,
static const char *const runbooks[PROBLEM_ALERT_COUNT] = {RUNBOOKS(RUNBOOK_ROW)};

/* ---- Markdown, as far as runbooks use it ---- */

enum block { BLOCK_NONE, BLOCK_PARAGRAPH, BLOCK_LIST, BLOCK_TABLE, BLOCK_CODE };

/* A runbook that is being written as HTML. */
struct runbook_writer {
    struct strbuf *out;
    enum block block; /* The open element. */
    unsigned tables;  /* Number of tables so far: each needs a label of its own. */
};

static void close_block(struct runbook_writer *w)
{
    static const char *const ends[] = {
        [BLOCK_NONE] = "",
        [BLOCK_PARAGRAPH] = "</p>\n",
        [BLOCK_LIST] = "</li>\n</ul>\n",
        [BLOCK_TABLE] = "</tbody>\n</table>\n</div>\n",
        [BLOCK_CODE] = "</pre>\n",
    };

    strbuf_adds(w->out, ends[w->block]);
    w->block = BLOCK_NONE;
}

static void add_text(struct strbuf *out, const char *text, size_t len)
{
    CLEANUP(free_cleanup) char *part = xmemdup0(text, len);

    html_text(out, part);
}

/* Appends the text of a link "[text](address)" at `text`. Returns its length; 0 if there is none.
 */
static size_t add_link_text(struct strbuf *out, const char *text, size_t len)
{
    const char *middle = memmem(text, len, "](", 2);
    const char *end = middle ? memchr(middle, ')', len - (size_t)(middle - text)) : NULL;

    if (!end)
        return 0;
    add_text(out, text + 1, (size_t)(middle - text - 1));
    return (size_t)(end - text) + 1;
}

/* Appends text with `code` and links. Links become texts: their files are not on this site. */
static void add_inline(struct strbuf *out, const char *text, size_t len)
{
    while (len > 0) {
        const char *end = *text == '`' ? memchr(text + 1, '`', len - 1) : NULL;
        size_t done = *text == '[' ? add_link_text(out, text, len) : 0;

        if (end) {
            done = (size_t)(end - text) + 1;
            strbuf_adds(out, "<code>");
            add_text(out, text + 1, done - 2);
            strbuf_adds(out, "</code>");
        } else if (done == 0) {
            done = 1;
            while (done < len && text[done] != '`' && text[done] != '[')
                done++;
            add_text(out, text, done);
        }
        text += done;
        len -= done;
    }
}

/* Appends a heading with its text as id, as links to its section have it. */
static void add_heading(struct runbook_writer *w, unsigned level, const char *text, size_t len)
{
    close_block(w);
    strbuf_addf(w->out, "<h%u id=\"", level);
    for (size_t i = 0; i < len; i++) {
        bool upper = text[i] >= 'A' && text[i] <= 'Z';

        strbuf_addc(w->out, text[i] == ' ' ? '-' : (char)(text[i] + (upper ? 'a' - 'A' : 0)));
    }
    strbuf_adds(w->out, "\">");
    add_inline(w->out, text, len);
    strbuf_addf(w->out, "</h%u>\n", level);
}

/* Appends the cells of a row "| a | b |". */
static void add_cells(struct strbuf *out, const char *tag, const char *line, size_t len)
{
    const char *end = line + len;

    strbuf_adds(out, "<tr>");
    for (const char *at = line + 1; at < end;) {
        const char *bar = memchr(at, '|', (size_t)(end - at));
        const char *stop = bar ? bar : end, *next = stop + 1;

        while (at < stop && *at == ' ')
            at++;
        while (stop > at && stop[-1] == ' ')
            stop--;
        strbuf_addf(out, "<%s>", tag);
        add_inline(out, at, (size_t)(stop - at));
        strbuf_addf(out, "</%.2s>", tag);
        at = next;
    }
    strbuf_adds(out, "</tr>\n");
}

static void add_table_line(struct runbook_writer *w, const char *line, size_t len)
{
    if (w->block == BLOCK_TABLE) {
        if (strspn(line, "|-: ") < len)
            add_cells(w->out, "td", line, len);
        return;
    }
    close_block(w);
    strbuf_addf(w->out,
                "<div class=\"wide\" role=\"region\" tabindex=\"0\" "
                "aria-label=\"Table %u\">\n<table>\n<thead>\n",
                ++w->tables);
    add_cells(w->out, "th scope=\"col\"", line, len);
    strbuf_adds(w->out, "</thead>\n<tbody>\n");
    w->block = BLOCK_TABLE;
}

static void add_text_line(struct runbook_writer *w, const char *line, size_t len)
{
    bool item = len > 2 && strncmp(line, "- ", 2) == 0;

    if (item && w->block == BLOCK_LIST) {
        strbuf_adds(w->out, "</li>\n<li>");
    } else if (item) {
        close_block(w);
        strbuf_adds(w->out, "<ul>\n<li>");
        w->block = BLOCK_LIST;
    } else if (w->block == BLOCK_PARAGRAPH || (w->block == BLOCK_LIST && *line == ' ')) {
        strbuf_addc(w->out, '\n');
    } else {
        close_block(w);
        strbuf_adds(w->out, "<p>");
        w->block = BLOCK_PARAGRAPH;
    }
    add_inline(w->out, line + (item ? 2 : 0), len - (item ? 2 : 0));
}

static void add_line(struct runbook_writer *w, const char *line, size_t len)
{
    size_t level = strspn(line, "#");

    if (strncmp(line, "```", 3) == 0) {
        bool opens = w->block != BLOCK_CODE;

        close_block(w);
        strbuf_adds(w->out, opens ? "<pre tabindex=\"0\">" : "");
        w->block = opens ? BLOCK_CODE : BLOCK_NONE;
    } else if (w->block == BLOCK_CODE) {
        add_text(w->out, line, len);
        strbuf_addc(w->out, '\n');
    } else if (len == 0) {
        close_block(w);
    } else if (level > 1 && len > level + 1) {
        add_heading(w, (unsigned)level, line + level + 1, len - level - 1);
    } else if (*line == '|') {
        add_table_line(w, line, len);
    } else if (level == 0) {
        add_text_line(w, line, len);
    }
}

/* ---- the page ---- */

void runbook_page(struct queued_request *request, const struct health *h)
{
    struct runbook_writer w = {.out = &request->body};
    enum problem_id problem = problem_find(request->query.values[PARAMETER_PROBLEM]);
    enum problem_alert_id alert;

    (void)h;
    if (problem == PROBLEM_COUNT) {
        api_refuse(request, MHD_HTTP_NOT_FOUND, "there is no problem of this name");
        return;
    }
    alert = problem_alert_of(problem, problem_table[problem].severity);
    page_layout_open(w.out, NAVIGATION_NONE, problem_alert_table[alert].name);
    strbuf_addf(w.out, "<p>Runbook about <b>%s</b>. ", problem_table[problem].title);
    link_open_with(w.out, "./", {PARAMETER_PROBLEM, problem_names[problem]});
    strbuf_adds(w.out, "Open problems of this kind</a></p>\n<div class=\"runbook\">\n");
    for (const char *line = runbooks[alert]; *line;) {
        size_t len = strcspn(line, "\n");

        add_line(&w, line, len);
        line += len + (line[len] == '\n');
    }
    close_block(&w);
    strbuf_adds(w.out, "</div>\n");
    page_layout_close(w.out, 0);
}
