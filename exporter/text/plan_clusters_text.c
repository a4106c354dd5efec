/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/text/plan_clusters_text.h"

#include "metrics/base/shown.h"
#include "metrics/base/suggest.h"
#include "metrics/model/kind.h"
#include "metrics/model/store.h"

enum { INDENT = 2, TEXT_MAX_BYTES = 1 << 20, BYTES_PER_MIB = 1 << 20, CLUSTERS_SHOWN = 6 };

/* ---- sums by cluster ---- */

/* Differences of replicas, the largest first. */
static int compare_replica_changes(const void *a, const void *b)
{
    const struct plan_cluster *x = *(const struct plan_cluster *const *)a;
    const struct plan_cluster *y = *(const struct plan_cluster *const *)b;
    int64_t left = x->replicas[PLAN_AFTER] - x->replicas[PLAN_BEFORE];
    int64_t right = y->replicas[PLAN_AFTER] - y->replicas[PLAN_BEFORE];
    uint64_t l = left < 0 ? (uint64_t)-left : (uint64_t)left;
    uint64_t r = right < 0 ? (uint64_t)-right : (uint64_t)right;

    return l != r ? (l < r) - (l > r) : (x > y) - (x < y);
}

void plan_print_replica_changes(const struct plan_result *r, struct output *o)
{
    CLEANUP(strbuf_release) struct strbuf line = STRBUF_INIT(TEXT_MAX_BYTES);
    CLEANUP(strbuf_release) struct strbuf full = STRBUF_INIT(TEXT_MAX_BYTES);
    CLEANUP(free_cleanup)
    const struct plan_cluster **changed =
        xcalloc(r->clusters.count + 1, sizeof(const struct plan_cluster *));
    size_t count = 0;

    for (size_t i = 0; i < r->clusters.count; i++) {
        const struct plan_cluster *row = &r->clusters.items[i];

        if (row->replicas[PLAN_AFTER] != row->replicas[PLAN_BEFORE])
            changed[count++] = row;
        if (row->exceeded)
            strbuf_addf(&full, "%s%s", full.len > 0 ? ", " : "Exceeds the free capacity of ",
                        row->name);
    }
    if (count > CLUSTERS_SHOWN)
        qsort(changed, count, sizeof(struct plan_cluster *), compare_replica_changes);
    for (size_t i = 0; i < count && i < CLUSTERS_SHOWN; i++)
        strbuf_addf(&line, "%s%s %+" PRId64, i ? ", " : "Replicas: ", changed[i]->name,
                    changed[i]->replicas[PLAN_AFTER] - changed[i]->replicas[PLAN_BEFORE]);
    if (count > CLUSTERS_SHOWN)
        strbuf_addf(&line, " and %zu more clusters", count - CLUSTERS_SHOWN);
    if (line.len > 0) {
        strbuf_addc(&line, '.');
        output_add_line(o, 0, line.data);
    }
    if (full.len > 0) {
        strbuf_addc(&full, '.');
        output_add_line(o, 0, full.data);
    }
}

static bool exceeds_any(const struct plan_result *r)
{
    for (size_t i = 0; i < r->clusters.count; i++) {
        if (r->clusters.items[i].exceeded)
            return true;
    }
    return false;
}

/* Adds a cell such as "cpu, pods": the resources that exceed the free capacity. */
static void add_exceeded(struct table *t, const struct plan_cluster *row)
{
    CLEANUP(strbuf_release) struct strbuf names = STRBUF_INIT(TEXT_MAX_BYTES);

    for (unsigned i = 0; i < PLAN_RESOURCE_COUNT; i++) {
        if (row->exceeded >> i & 1)
            strbuf_addf(&names, "%s%s", names.len > 0 ? ", " : "", plan_resource_names[i]);
    }
    table_add(t, row->exceeded ? STYLE_BAD : STYLE_PLAIN, names.len > 0 ? names.data : "-");
}

void plan_print_clusters(const struct plan_result *r, struct output *o)
{
    static const char *const headings[] = {"MEMBER CLUSTER", "REPLICAS", "CPU", "MEMORY MiB",
                                           "EXCEEDS FREE"};
    CLEANUP(table_release)
    struct table t = table_make(headings, ARRAY_LEN(headings) - (exceeds_any(r) ? 0 : 1), INDENT);

    if (r->clusters.count == 0)
        return;
    t.shortened = 1U << 0;
    strbuf_addc(&o->text, '\n');
    output_add_section(o, "Member clusters, sums over these templates", r->clusters.count);
    for (size_t i = 0; i < r->clusters.count; i++) {
        const struct plan_cluster *row = &r->clusters.items[i];

        table_addf(&t, row->exceeded || row->lost ? STYLE_BAD : STYLE_PLAIN, "%s%s", row->name,
                   row->lost ? " (lost)" : "");
        table_addf(&t, STYLE_PLAIN, "%" PRId64 " -> %" PRId64, row->replicas[PLAN_BEFORE],
                   row->replicas[PLAN_AFTER]);
        table_addf(&t, STYLE_PLAIN, "%g -> %g", row->cores[PLAN_BEFORE], row->cores[PLAN_AFTER]);
        table_addf(&t, STYLE_PLAIN, "%.0f -> %.0f", row->memory_bytes[PLAN_BEFORE] / BYTES_PER_MIB,
                   row->memory_bytes[PLAN_AFTER] / BYTES_PER_MIB);
        if (exceeds_any(r))
            add_exceeded(&t, row);
    }
    table_print(&t, o);
}

/* ---- lost clusters ---- */

struct name_walk {
    struct listing clusters;
    size_t at;
};

/* Callback of suggest_name(): returns the name of the next Cluster, or NULL. */
static const char *next_cluster_name(void *context)
{
    struct name_walk *w = context;

    return w->at < w->clusters.count ? w->clusters.entries[w->at++]->name : NULL;
}

bool plan_lose_typed(struct plan *p, const struct store *store, const char *name, struct error *err)
{
    const struct kind_def *def = kind_of_clusters();
    struct entry *entry =
        store_find(store, &(struct identity){def->api_version, def->name, "", name});
    CLEANUP(listing_release) struct listing all = listing_make(store, CLASS_CLUSTER);
    struct name_walk walk = {all, 0};
    const char *nearest;

    if (entry_cluster(entry))
        return plan_lose(p, entry) || fail(err, "'%s' is named twice", name);
    nearest = suggest_name(name, next_cluster_name, &walk);
    if (all.count == 0)
        return fail(err, "there is no Cluster '%s': the sources have no Clusters",
                    shown(name).text);
    if (nearest)
        return fail(err, "there is no Cluster '%s'; did you mean '%s'?", shown(name).text, nearest);
    return fail(err, "there is no Cluster '%s'", shown(name).text);
}

const char *plan_loss_sentence(const struct plan_template *t)
{
    switch (t->loss.fate) {
    case LOSS_STAYS:
        return t->loss.last_copy ? "copies stay in the lost cluster; no other cluster has a copy"
                                 : "copies stay in the lost cluster; other clusters have copies";
    case LOSS_NOWHERE:
        return "no copy is left";
    case LOSS_MOVES:
    case LOSS_UNDETERMINED:
        return t->loss.last_copy ? "no copy runs before other clusters have one" : NULL;
    case LOSS_LEAVES:
    case LOSS_FATE_COUNT:
        break;
    }
    return NULL;
}

/* Texts for a number of templates, by fate: for one, and for several. */
static const struct {
    const char *one;
    const char *many;
} fate_texts[LOSS_FATE_COUNT] = {
    [LOSS_MOVES] = {"moves to other clusters", "move to other clusters"},
    [LOSS_LEAVES] = {"leaves the lost cluster without a replacement",
                     "leave the lost cluster without a replacement"},
    [LOSS_NOWHERE] = {"has no cluster left", "have no cluster left"},
    [LOSS_STAYS] = {"stays assigned to the lost cluster, where it does not run",
                    "stay assigned to the lost cluster, where they do not run"},
    [LOSS_UNDETERMINED] = {"gets clusters that the plan cannot compute",
                           "get clusters that the plan cannot compute"},
};

static size_t count_templates(const struct plan_result *r)
{
    size_t count = 0;

    for (unsigned i = 0; i < LOSS_FATE_COUNT; i++)
        count += r->fates[i];
    return count;
}

static void add_cluster_names(const struct plan_result *r, struct strbuf *out)
{
    for (size_t i = 0; i < r->lost->count && i < CLUSTERS_SHOWN; i++)
        strbuf_addf(out, "%s%s", i ? ", " : "", r->lost->items[i]->name);
    if (r->lost->count > CLUSTERS_SHOWN)
        strbuf_addf(out, " and %zu more", r->lost->count - CLUSTERS_SHOWN);
}

/* Prints text such as "Loss of m3: 5 templates have copies there, 2 of them in no other cluster."
 */
static void print_total(const struct plan_result *r, struct output *o)
{
    CLEANUP(strbuf_release) struct strbuf line = STRBUF_INIT(TEXT_MAX_BYTES);
    size_t count = count_templates(r);

    strbuf_adds(&line, "Loss of ");
    add_cluster_names(r, &line);
    if (count == 0)
        strbuf_adds(&line, ": no template has a copy there.");
    else
        strbuf_addf(&line, ": %zu template%s %s copies there, %zu of them in no other cluster.",
                    count, count == 1 ? "" : "s", count == 1 ? "has" : "have", r->last_copies);
    output_add_line(o, 0, line.data);
}

/* Prints a sentence for each reason why templates stay, after the number of these templates. */
static void print_reasons(const struct plan_result *r, struct output *o)
{
    size_t counts[LOSS_REASON_COUNT] = {0};

    for (size_t i = 0; i < r->template_count; i++) {
        const struct lost_copies *copies = &r->templates[i].loss;

        if (copies->clusters > 0 && copies->fate == LOSS_STAYS)
            counts[copies->reason]++;
    }
    for (unsigned i = 0; i < LOSS_REASON_COUNT; i++) {
        CLEANUP(strbuf_release) struct strbuf line = STRBUF_INIT(TEXT_MAX_BYTES);

        if (counts[i] == 0)
            continue;
        strbuf_addf(&line, "%zu stay%s: %s", counts[i], counts[i] == 1 ? "s" : "",
                    loss_reason_texts[i]);
        output_add_line(o, 0, line.data);
    }
}

void plan_print_losses(const struct plan_result *r, struct output *o)
{
    if (r->lost->count == 0)
        return;
    strbuf_addc(&o->text, '\n');
    print_total(r, o);
    for (unsigned i = 0; i < LOSS_FATE_COUNT; i++) {
        CLEANUP(strbuf_release) struct strbuf line = STRBUF_INIT(TEXT_MAX_BYTES);

        if (r->fates[i] == 0)
            continue;
        strbuf_addf(&line, "%zu %s.", r->fates[i],
                    r->fates[i] == 1 ? fate_texts[i].one : fate_texts[i].many);
        output_add_line(o, 2, line.data);
    }
    print_reasons(r, o);
}
