/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/text/baseline.h"

#include "exporter/system/file.h"
#include "exporter/text/report_reader.h"
#include "metrics/base/map.h"

enum { KEY_MAX_BYTES = 16 * 1024 };

/* Word of an item that is no problem. */
static const char environment_word[] = "environment";
static const char unread_word[] = "unread";

struct item {
    char *key;                  /* Owned; see add_key(). */
    enum problem_reason reason; /* PROBLEM_REASON_COUNT unless the item is a problem. */
    char *ns;                   /* Namespace of the subject, in `key`. */
    size_t environment_len;     /* Bytes of the environment at the start of `key`. */
    bool found;
};

struct baseline {
    struct map items; /* Owned items: struct item. */
    size_t unknown;
};

static bool item_has_key(const void *item, const void *key)
{
    const struct item *i = item;

    return strcmp(i->key, key) == 0;
}

struct baseline *baseline_new(void)
{
    struct baseline *b = xcalloc(1, sizeof(*b));

    b->items = MAP_INIT(item_has_key);
    return b;
}

void baseline_free(struct baseline *b)
{
    struct item *item;
    size_t at = 0;

    if (!b)
        return;
    while ((item = map_next(&b->items, &at)) != NULL) {
        free(item->key);
        free(item);
    }
    map_release(&b->items);
    free(b);
}

/* ---- items ---- */

/* Parts of the key of an item. Line breaks, which names of objects cannot have, separate them. */
struct key {
    const char *environment;
    const char *word;
    const char *ns;
    const char *name;
    const char *kind;
    const char *api_version; /* Only its group is part of the key. */
};

static void add_key(struct strbuf *out, const struct key *k)
{
    strbuf_addf(out, "%s\n%s\n%s\n%s\n%s\n", k->environment, k->word, k->ns, k->name, k->kind);
    strbuf_add(out, k->api_version, api_group_len(k->api_version));
}

static struct item *find_item(const struct baseline *b, const struct key *k)
{
    CLEANUP(strbuf_release) struct strbuf key = STRBUF_INIT(KEY_MAX_BYTES);

    add_key(&key, k);
    return strbuf_ok(&key) ? map_get(&b->items, map_hash(key.data, key.len, 0), key.data) : NULL;
}

static void add_item(struct baseline *b, const struct key *k, enum problem_reason reason)
{
    struct strbuf key = STRBUF_INIT(KEY_MAX_BYTES);
    struct item *item;

    add_key(&key, k);
    if (!strbuf_ok(&key) || find_item(b, k)) {
        strbuf_release(&key);
        return;
    }
    item = xmalloc(sizeof(*item));
    *item = (struct item){.reason = reason, .environment_len = strlen(k->environment)};
    map_add(&b->items, map_hash(key.data, key.len, 0), item);
    item->key = strbuf_take(&key, NULL);
    item->ns = item->key + item->environment_len + strlen(k->word) + 2;
}

/* Sets the key of an item. `word` receives the problem or the condition. */
static struct key key_of(const char *environment, const struct baseline_item *item,
                         struct strbuf *word)
{
    if (item->reason < PROBLEM_REASON_COUNT)
        strbuf_addf(word, "%s/%s", problem_names[problem_reasons[item->reason].problem],
                    problem_reasons[item->reason].name);
    else
        strbuf_addf(word, "normal:%s", normal_condition_names[item->condition]);
    return (struct key){
        .environment = environment,
        .word = word->data,
        .ns = item->subject.ns,
        .name = item->subject.name,
        .kind = item->subject.kind,
        .api_version = item->subject.api_version,
    };
}

void baseline_add(struct baseline *b, const char *environment, const struct baseline_item *item)
{
    CLEANUP(strbuf_release) struct strbuf word = STRBUF_INIT(KEY_MAX_BYTES);
    struct key key = key_of(environment, item, &word);

    add_item(b, &key, item->reason);
}

bool baseline_has(struct baseline *b, const char *environment, const struct baseline_item *item)
{
    CLEANUP(strbuf_release) struct strbuf word = STRBUF_INIT(KEY_MAX_BYTES);
    struct key key = key_of(environment, item, &word);
    struct item *found = find_item(b, &key);

    if (found)
        found->found = true;
    return found != NULL;
}

static struct key environment_key(const char *environment)
{
    return (struct key){environment, environment_word, "", "", "", ""};
}

void baseline_add_environment(struct baseline *b, const char *environment)
{
    struct key key = environment_key(environment);

    add_item(b, &key, PROBLEM_REASON_COUNT);
}

bool baseline_has_environment(const struct baseline *b, const char *environment)
{
    struct key key = environment_key(environment);

    return find_item(b, &key) != NULL;
}

static struct key unread_key(const char *environment, const char *path, const char *text)
{
    return (struct key){environment, unread_word, "", path, text, ""};
}

void baseline_add_unread(struct baseline *b, const char *environment, const char *path,
                         const char *text)
{
    struct key key = unread_key(environment, path, text);

    add_item(b, &key, PROBLEM_REASON_COUNT);
}

bool baseline_has_unread(const struct baseline *b, const char *environment, const char *path,
                         const char *text)
{
    struct key key = unread_key(environment, path, text);

    return find_item(b, &key) != NULL;
}

static bool filter_selects(const struct problem_filter *f, const struct item *item)
{
    size_t len = strcspn(item->ns, "\n");

    return (f->problem == PROBLEM_COUNT || f->problem == problem_reasons[item->reason].problem) &&
           (!f->reason || strcmp(f->reason, problem_reasons[item->reason].name) == 0) &&
           (!f->ns || (strlen(f->ns) == len && strncmp(f->ns, item->ns, len) == 0));
}

size_t baseline_count_gone(const struct baseline *b, const char *environment,
                           const struct problem_filter *filter)
{
    size_t len = strlen(environment), count = 0, at = 0;
    const struct item *item;

    while ((item = map_next(&b->items, &at)) != NULL)
        count += !item->found && item->reason < PROBLEM_REASON_COUNT &&
                 item->environment_len == len && strncmp(item->key, environment, len) == 0 &&
                 filter_selects(filter, item);
    return count;
}

/* ---- reports ---- */

/* Adds a problem of a report, unless an exception covered it. */
static void add_reported_problem(struct baseline *b, const char *environment, const cJSON *problem)
{
    const cJSON *subject = json_get(problem, "subject");
    struct baseline_item item = {
        .subject = {json_str(subject, "apiVersion", ""), json_str(subject, "kind", ""),
                    json_str(subject, "namespace", ""), json_str(subject, "name", "")}};
    enum problem_id id = problem_find(json_str(problem, "problem", ""));

    if (strcmp(json_str(json_get(problem, "suppressed"), "by", ""), "exception") == 0)
        return;
    item.reason = id < PROBLEM_COUNT ? problem_find_reason(id, json_str(problem, "reason", ""))
                                     : PROBLEM_REASON_COUNT;
    if (item.reason >= PROBLEM_REASON_COUNT)
        b->unknown++;
    else
        baseline_add(b, environment, &item);
}

/* Adds a template of a report with a condition that --fail-on can name. */
static void add_reported_template(struct baseline *b, const char *environment,
                                  const cJSON *template)
{
    static const struct {
        const char *state;
        const char *reason;
    } rows[NORMAL_CONDITION_COUNT] = {
        [NORMAL_KIND_NOT_SELECTED] = {"pending", "kind_not_selected"},
        [NORMAL_NO_MATCH] = {"pending", "no_match"},
        [NORMAL_WAITING] = {"unbound", "waiting"},
    };
    struct baseline_item item = {
        .reason = PROBLEM_REASON_COUNT,
        .subject = {json_str(template, "apiVersion", ""), json_str(template, "kind", ""),
                    json_str(template, "namespace", ""), json_str(template, "name", "")}};

    for (unsigned i = 0; i < NORMAL_CONDITION_COUNT; i++) {
        item.condition = i;
        if (strcmp(json_str(template, "state", ""), rows[i].state) == 0 &&
            strcmp(json_str(template, "reason", ""), rows[i].reason) == 0)
            baseline_add(b, environment, &item);
    }
}

static void add_reported_document(struct baseline *b, const char *environment,
                                  const cJSON *document)
{
    if (strcmp(json_str(document, "kind", ""), "Manifest") == 0)
        baseline_add_unread(b, environment, json_str(document, "path", ""),
                            json_str(document, "text", ""));
}

static void add_reported(void *context, const char *environment, enum report_part part,
                         const cJSON *element)
{
    struct baseline *b = context;

    switch (part) {
    case REPORT_PART_ENVIRONMENT:
        baseline_add_environment(b, environment);
        break;
    case REPORT_PART_PROBLEM:
        add_reported_problem(b, environment, element);
        break;
    case REPORT_PART_TEMPLATE:
        add_reported_template(b, environment, element);
        break;
    case REPORT_PART_INVALID:
        add_reported_document(b, environment, element);
        break;
    }
}

bool baseline_read_text(struct baseline *b, const char *path, const char *text, size_t len,
                        struct error *err)
{
    return report_read_text(text, len, add_reported, b, err) ||
           fail_in(err, "%s", shown_path(path).text);
}

bool baseline_read_report(struct baseline *b, const char *path, struct error *err)
{
    CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(REPORT_MAX_BYTES);

    return file_read(path, &text, err) && baseline_read_text(b, path, text.data, text.len, err);
}

size_t baseline_unknown_count(const struct baseline *b)
{
    return b->unknown;
}
