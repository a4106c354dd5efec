/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/evaluation.h"
#include "exporter/text/skipped_files.h"
#include "exporter/version.h"
#include "exporter/web/html.h"
#include "exporter/web/page_index.h"
#include "exporter/web/page_parts.h"
#include "metrics/rules/transitions.h"

enum { PLACE_MAX_BYTES = 8192 };

static void open_fact(struct strbuf *out, const char *name)
{
    strbuf_addf(out, "<dt>%s</dt>\n<dd>", name);
}

static void add_time_fact(struct strbuf *out, const char *name, int64_t time_ms, int64_t now_ms)
{
    if (time_ms <= 0)
        return;
    open_fact(out, name);
    html_time(out, time_ms, now_ms);
    strbuf_adds(out, "</dd>\n");
}

/* Appends the size of the history, and the time from which on it is complete. */
static void add_history_facts(const struct transitions *t, int64_t now_ms, struct strbuf *out)
{
    open_fact(out, "History");
    strbuf_addf(out, "%zu of %zu entries</dd>\n", transitions_count(t), transitions_limit(t));
    add_time_fact(out, "History since", t ? transitions_complete_since_ms(t) : 0, now_ms);
}

static void add_release_warning(void *context, const char *text)
{
    struct strbuf *out = context;

    strbuf_adds(out, "<br><span class=\"bad\">");
    html_text(out, text);
    strbuf_adds(out, "</span>");
}

/* Appends the release of Karmada that the rules follow, and doubts about it. */
static void add_release_facts(const struct evaluation *e, struct strbuf *out)
{
    CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(PLACE_MAX_BYTES);
    const char *failure =
        e->session ? kube_source_release(kube_session_source(e->session))->failure.text : "";

    release_range_describe(e->release.range, &text);
    open_fact(out, "Rules");
    html_text(out, text.data);
    if (*failure != '\0') {
        strbuf_reset(&text);
        strbuf_addf(&text, "The schemas of Karmada's kinds cannot be read: %s", failure);
        add_release_warning(out, text.data);
    }
    evaluation_each_release_warning(e, add_release_warning, out);
    strbuf_adds(out, "</dd>\n");
}

static void add_process_facts(const struct health *h, struct strbuf *out)
{
    strbuf_adds(out, "<dl class=\"facts\">\n");
    open_fact(out, "Version");
    html_textf(out, EXPORTER_VERSION " (revision %s)", exporter_revision);
    strbuf_adds(out, "</dd>\n");
    add_time_fact(out, "Started", h->started_ms, h->now_ms);
    open_fact(out, "Configuration");
    strbuf_adds(out, h->config_loaded
                         ? "the last load succeeded</dd>\n"
                         : "<span class=\"bad\">the last reload failed; the previous configuration "
                           "stays in force; the log has the reason</span></dd>\n");
    open_fact(out, "Evaluation");
    strbuf_adds(out, h->evaluation
                         ? "complete; changes are evaluated as they arrive</dd>\n"
                         : "<span class=\"bad\">everything is being read for the first time</span>"
                           "</dd>\n");
    if (h->evaluation)
        add_release_facts(h->evaluation, out);
    if (h->evaluation)
        add_history_facts(engine_transitions(h->evaluation->engine), h->now_ms, out);
    strbuf_adds(out, "</dl>\n");
}

/* Appends links to the addresses that are for programs. */
static void add_program_links(const struct health *h, struct strbuf *out)
{
    strbuf_adds(out, "<h2>For programs</h2>\n<ul>\n<li><a href=\"");
    html_text(out, h->telemetry_path + (*h->telemetry_path == '/'));
    strbuf_adds(out, "\">Metrics</a></li>\n"
                     "<li><a href=\"api/v1/openapi.json\">JSON API</a></li>\n"
                     "<li><a href=\"-/healthy?verbose\">Healthy</a></li>\n"
                     "<li><a href=\"-/ready?verbose\">Ready</a></li>\n</ul>\n");
}

/* ---- files and watches ---- */

static void add_file_facts(const struct evaluation *e, int64_t now_ms, struct strbuf *out)
{
    size_t files = manifests_file_count(e->manifests);
    const char *problem = asset_source_problem(e->assets);
    CLEANUP(strbuf_release) struct strbuf skipped = STRBUF_INIT(PLACE_MAX_BYTES);

    strbuf_adds(out, "<h2>Files</h2>\n<dl class=\"facts\">\n");
    open_fact(out, "Manifests");
    strbuf_addf(out, "%zu file%s, %zu with problems</dd>\n", files, files == 1 ? "" : "s",
                manifests_broken_file_count(e->manifests));
    skipped_files_add(e->manifests, &skipped);
    if (skipped.len > 0) {
        open_fact(out, "Skipped");
        html_text(out, skipped.data);
        strbuf_adds(out, "</dd>\n");
    }
    add_time_fact(out, "Asset export", asset_source_snapshot_ms(e->assets), now_ms);
    if (*problem != '\0') {
        open_fact(out, "Assets");
        strbuf_adds(out, "<span class=\"bad\">");
        html_text(out, problem);
        strbuf_adds(out, "</span></dd>\n");
    }
    strbuf_adds(out, "</dl>\n");
}

/* Appends the problems of manifests other than skipped documents: place and message of each. */
static void add_manifest_problems(const struct manifests *m, struct strbuf *out)
{
    CLEANUP(strbuf_release) struct strbuf place = STRBUF_INIT(PLACE_MAX_BYTES);
    size_t count = 0, shown = 0;

    for (size_t i = 0; i < manifests_problem_count(m); i++)
        count += manifests_problem(m, i).kind != PROBLEM_SKIPPED;
    if (count == 0)
        return;
    html_section(out, "problems", "Problems in manifests", count);
    strbuf_adds(out, "<ul class=\"cards\">\n");
    for (size_t i = 0; i < manifests_problem_count(m) && shown < HTML_SHOWN_MAX; i++) {
        struct manifest_problem p = manifests_problem(m, i);

        if (p.kind == PROBLEM_SKIPPED)
            continue;
        shown++;
        strbuf_adds(out, "<li>\n<p><b>");
        strbuf_reset(&place);
        manifest_problem_append_place(&p, &place);
        html_text(out, place.data);
        strbuf_addf(out, "</b> <span class=\"faint\">%s</span></p>\n<p class=\"bad\">",
                    problem_kind_name(p.kind));
        html_text(out, p.text);
        strbuf_adds(out, "</p>\n</li>\n");
    }
    strbuf_adds(out, "</ul>\n");
    html_remaining_count(out, count);
    strbuf_adds(out, "</section>\n");
}

static const char *watch_state_text(const struct reflector *r)
{
    if (*r->failure.text != '\0')
        return r->synced ? "fails; its last known objects are used" : "fails";
    if (!r->synced)
        return "is being read";
    return r->watch.polled ? "listed every 30 s" : "watched";
}

static void add_watch_row(const struct reflector *r, int64_t now_ms, struct html_table *t)
{
    html_row_open(t, NULL);
    html_cell_open(t);
    html_textf(t->out, "%s %s", r->api_version, r->resource);
    html_cell_text(t, r->ns ? r->ns : "all");
    html_cell_text(t, watch_state_text(r));
    html_cell_open(t);
    if (r->last_event_ms > 0)
        html_time(t->out, r->last_event_ms, now_ms);
    html_cell_text(t, r->failure.text);
}

static void add_watches_section(const struct kube_source *source, int64_t now_ms,
                                struct strbuf *out)
{
    static const struct html_column columns[] = {
        {.heading = "Resource"},   {.heading = "Namespace"}, {.heading = "State"},
        {.heading = "Last event"}, {.heading = "Problem"},   {.heading = NULL},
    };
    size_t count = kube_source_reflector_count(source);
    struct html_table table;

    html_section(out, "watches", "Watches", count);
    table = html_table_open(out, "Watches", columns, NULL);
    for (size_t i = 0; i < count && i < HTML_SHOWN_MAX; i++)
        add_watch_row(kube_source_reflector(source, i), now_ms, &table);
    html_table_close(&table);
    html_remaining_count(out, count);
    strbuf_adds(out, "</section>\n");
}

/* ---- Leases of Karmada's components ---- */

static const char *lease_state_text(const struct component_lease *lease)
{
    if (!lease->readable)
        return "cannot be read; whether the component runs is not judged";
    return lease->exists ? "read every 30 s"
                         : "does not exist; whether the component runs is not judged";
}

static void add_lease_row(const struct component_leases *leases, enum control_component component,
                          int64_t now_ms, struct html_table *t)
{
    struct component_lease lease;
    bool read = component_leases_last(leases, component, &lease);

    html_row_open(t, NULL);
    html_cell_open(t);
    html_textf(t->out, "%s/%s", leases->settings.ns, component_names[component]);
    html_cell_text(t, read ? lease_state_text(&lease) : "is being read");
    html_cell_text(t, read ? lease.holder : NULL);
    html_cell_open(t);
    if (read && lease.renew_ms > 0)
        html_time(t->out, lease.renew_ms, now_ms);
    html_cell_text(t, read ? lease.error : NULL);
}

static void add_leases_section(const struct component_leases *leases, int64_t now_ms,
                               struct strbuf *out)
{
    static const struct html_column columns[] = {
        {.heading = "Lease"},   {.heading = "State"},   {.heading = "Holder"},
        {.heading = "Renewed"}, {.heading = "Problem"}, {.heading = NULL},
    };
    struct html_table table;

    html_section(out, "leases", "Leases of Karmada's components", CONTROL_COUNT);
    table = html_table_open(out, "Leases of Karmada's components", columns, NULL);
    for (unsigned i = 0; i < CONTROL_COUNT; i++)
        add_lease_row(leases, (enum control_component)i, now_ms, &table);
    html_table_close(&table);
    strbuf_adds(out, "</section>\n");
}

/* Appends the page about the exporter itself: its process, its sources and their problems. */
void exporter_page_write(const struct health *h, struct strbuf *out)
{
    page_layout_open(out, NAVIGATION_EXPORTER, "The exporter");
    add_process_facts(h, out);
    if (h->session) {
        source_section_write(h->session, out);
        add_watches_section(kube_session_source(h->session), h->now_ms, out);
        if (kube_session_leases(h->session))
            add_leases_section(kube_session_leases(h->session), h->now_ms, out);
    }
    if (h->evaluation) {
        add_file_facts(h->evaluation, h->now_ms, out);
        add_manifest_problems(h->evaluation->manifests, out);
    }
    add_program_links(h, out);
    page_layout_close(out, h->now_ms);
}
