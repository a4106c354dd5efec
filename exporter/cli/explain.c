/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/cli/explain.h"

#include <strings.h>

#include "exporter/cli/load.h"
#include "exporter/cli/nearest.h"
#include "exporter/cli/output.h"
#include "metrics/expose/explain.h"
#include "metrics/expose/listing.h"
#include "metrics/expose/report_rows.h"

enum { NAMES_MAX_BYTES = 1 << 16, INDENT = 2, DETAIL_INDENT = 5, SUGGESTIONS_MAX = 5 };

/* KIND[.GROUP]/[NAMESPACE/]NAME, taken apart; parts that are not given are NULL. */
struct wanted {
    char *kind;
    char *group;
    char *ns;
    char *name;
};

static void wanted_release(struct wanted *w)
{
    free(w->kind);
    free(w->group);
    free(w->ns);
    free(w->name);
}

static bool wanted_parse(const char *text, struct wanted *out, struct error *err)
{
    const char *slash = strchr(text, '/');
    const char *last = strrchr(text, '/');
    const char *dot = slash ? memchr(text, '.', (size_t)(slash - text)) : NULL;
    const char *kind_end = dot ? dot : slash;

    if (!slash || slash == text || !last[1])
        return fail(err, "'%s' names no template: write KIND[.GROUP]/[NAMESPACE/]NAME", text);
    out->kind = xmemdup0(text, (size_t)(kind_end - text));
    if (dot)
        out->group = xmemdup0(dot + 1, (size_t)(slash - dot - 1));
    if (last > slash)
        out->ns = xmemdup0(slash + 1, (size_t)(last - slash - 1));
    out->name = xstrdup(last + 1);
    return true;
}

/* What kubectl takes for the kinds that people type most. */
static const struct {
    const char *abbreviation;
    const char *kind;
} short_names[] = {
    {"cj", "CronJob"},
    {"cm", "ConfigMap"},
    {"deploy", "Deployment"},
    {"ds", "DaemonSet"},
    {"ing", "Ingress"},
    {"ns", "Namespace"},
    {"po", "Pod"},
    {"pvc", "PersistentVolumeClaim"},
    {"sa", "ServiceAccount"},
    {"sts", "StatefulSet"},
    {"svc", "Service"},
};

/* As kubectl takes kinds: short, in any case, and the plural of a regular noun. */
static bool kind_fits(const char *kind, const char *typed)
{
    for (size_t i = 0; i < ARRAY_LEN(short_names); i++) {
        if (strcasecmp(typed, short_names[i].abbreviation) == 0)
            return strcmp(kind, short_names[i].kind) == 0;
    }

    size_t len = strlen(kind);
    size_t rest;

    if (kind[len - 1] == 'y' && strncasecmp(kind, typed, len - 1) == 0)
        return strcasecmp(typed + len - 1, "y") == 0 || strcasecmp(typed + len - 1, "ies") == 0;
    if (strncasecmp(kind, typed, len) != 0)
        return false;
    rest = strlen(typed) - len;
    return rest == 0 || strcasecmp(typed + len, "s") == 0 || strcasecmp(typed + len, "es") == 0;
}

static bool fits(const struct wanted *w, const struct entry *entry)
{
    return kind_fits(entry_kind(entry), w->kind) && strcmp(entry->name, w->name) == 0 &&
           (!w->group || strcmp(entry->scope->type->group, w->group) == 0) &&
           (!w->ns || strcmp(entry_ns(entry), w->ns) == 0);
}

static void add_name(struct strbuf *out, const struct entry *entry)
{
    const char *group = entry->scope->type->group;
    const char *ns = entry_ns(entry);

    strbuf_addf(out, "%s%s%s%s/%s%s%s", out->len > 0 ? ", " : "", entry_kind(entry),
                *group ? "." : "", group, ns, *ns ? "/" : "", entry->name);
}

/* The names nearest to what was typed, for the error. */
static void add_nearest(struct strbuf *out, const struct wanted *w, const struct listing *all)
{
    for (size_t distance = 0, found = 0; distance <= 2 && found < SUGGESTIONS_MAX; distance++) {
        for (size_t i = 0; i < all->count && found < SUGGESTIONS_MAX; i++) {
            if (edit_distance(all->entries[i]->name, w->name) != distance)
                continue;
            add_name(out, all->entries[i]);
            found++;
        }
    }
}

static const struct entry *find_one(const struct wanted *w, const char *typed,
                                    const struct store *store, struct error *err)
{
    CLEANUP(listing_release) struct listing all = listing_make(store, CLASS_TEMPLATE);
    CLEANUP(strbuf_release) struct strbuf names = STRBUF_INIT(NAMES_MAX_BYTES);
    const struct entry *found = NULL;
    size_t count = 0;

    for (size_t i = 0; i < all.count; i++) {
        if (!fits(w, all.entries[i]))
            continue;
        found = all.entries[i];
        add_name(&names, found);
        count++;
    }
    if (count == 1)
        return found;
    if (count > 1) {
        fail(err, "'%s' could be any of %s", typed, names.data);
        return NULL;
    }
    add_nearest(&names, w, &all);
    if (names.len > 0)
        fail(err, "there is no template '%s'; the nearest are %s", typed, names.data);
    else
        fail(err, "there is no template '%s'", typed);
    return NULL;
}

/* One line of the explanation, wrapped to the terminal. */
static void print_line(void *context, enum explain_style style, const char *text)
{
    CLEANUP(strbuf_release) struct strbuf safe = STRBUF_INIT(NAMES_MAX_BYTES);
    struct output *o = context;
    size_t indent = style == EXPLAIN_DETAIL ? DETAIL_INDENT : INDENT;

    output_safe(&safe, text);
    if (style == EXPLAIN_HEADING) {
        strbuf_addc(&o->text, '\n');
        output_styled(o, STYLE_HEADING, safe.data);
    } else {
        strbuf_addf(&o->text, "%*s", (int)indent, "");
        output_wrap(&o->text, safe.data, indent, indent, o->width);
    }
    strbuf_addc(&o->text, '\n');
}

static void print_entry(const struct evaluation *e, const struct entry *entry, struct output *o)
{
    struct writer w = {.out = &o->text, .lines = 2};

    if (e->options.output == OUTPUT_JSON) {
        report_template(&w, entry);
        strbuf_addc(&o->text, '\n');
        return;
    }
    CLEANUP(strbuf_release) struct strbuf name = STRBUF_INIT(NAMES_MAX_BYTES);
    const char *ns = entry_ns(entry);
    strbuf_addf(&name, "%s %s%s%s", entry_kind(entry), ns, *ns ? "/" : "", entry->name);
    output_safe(&o->text, name.data);
    strbuf_addc(&o->text, '\n');
    explain_template(e->engine, entry, print_line, o);
}

static enum exit_status explain(const struct evaluation *e, const char *typed,
                                const struct command *command)
{
    CLEANUP(wanted_release) struct wanted wanted = {0};
    CLEANUP(output_release) struct output o;
    const struct entry *entry = NULL;
    struct error err;

    output_init(&o, command->out);
    if (wanted_parse(typed, &wanted, &err))
        entry = find_one(&wanted, typed, e->store, &err);
    if (entry)
        print_entry(e, entry, &o);
    if (entry && output_flush(&o, command->out, &err))
        return STATUS_OK;
    verbs_complain(command->err, err.text, NULL);
    return STATUS_USAGE;
}

enum exit_status explain_run(struct command *command)
{
    struct options *o = &command->options;
    CLEANUP(free_cleanup) char *typed = NULL;
    struct evaluation *e;
    enum exit_status status;
    bool complete;

    if (o->arguments.count > 0)
        typed = text_list_take(&o->arguments, 0);
    if (!typed) {
        verbs_complain(command->err, "nothing to explain: name a template",
                       "See 'karmada-policy-exporter explain --help'.");
        return STATUS_USAGE;
    }
    e = load_manifests(command, &complete);
    if (!e)
        return STATUS_USAGE;
    if (!complete)
        load_complain(e, command);
    status = explain(e, typed, command);
    evaluation_free(e);
    return status;
}
