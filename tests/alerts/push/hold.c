/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hold ALERT...: what the exporter itself makes of the rules of these alerts, in virtual time, so
 * that it can be held against promtool. Standard input has a line for each step:
 *
 *     sample MS FAMILY VALUE LABELS   a number of a series, "gone" where it ends
 *     page MS FILE                    a page of metrics
 *     turn MS                         the rules are held against what there is
 *     show                            prints what fires, an alert a line, and an empty one
 *     reset                           everything is forgotten
 *
 * Of all alerts without arguments.
 */
#include "exporter/serve/alerting/alert_batch.h"
#include "exporter/system/file.h"
#include "metrics/base/number.h"

enum { SEED = 1, PAGE_MAX_BYTES = 256 * 1024 * 1024 };

struct state {
    struct alert_rules rules;
    struct series_store *store;
    struct alerts alerts;
    int64_t now_ms;
};

static void begin(struct state *s)
{
    const struct label_list none = {NULL, 0};

    s->store = series_store_new(&none, SEED);
    alert_rules_want(&s->rules, s->store);
    alerts_init(&s->alerts, SEED);
}

static void end(struct state *s)
{
    series_store_free(s->store);
    alerts_release(&s->alerts);
}

static bool wanted(const char *name, char **names)
{
    for (char **n = names; *n; n++) {
        if (strcmp(*n, name) == 0)
            return true;
    }
    return !*names;
}

static void turn(struct state *s, char **names)
{
    const struct label_list more = {NULL, 0};
    const struct alert_moment now = {s->now_ms, s->now_ms, s->now_ms, false};

    for (size_t i = 0; i < s->rules.count; i++) {
        const struct alert_rule *rule = &s->rules.items[i];

        if (rule->severity && !wanted(rule->name, names))
            continue;
        CLEANUP(vector_release)
        struct vector v = promql_eval(rule->expression, s->store, s->now_ms);

        if (rule->severity)
            alerts_update(&s->alerts, rule, &v, &more, &now);
        else
            series_store_record(s->store, rule->name, &v, s->now_ms);
    }
}

static void show(const struct state *s)
{
    const struct alert_batch_settings settings = {s->store, "", s->now_ms};

    for (const struct alert *a = s->alerts.first; a; a = a->next) {
        if (a->state != ALERT_FIRING)
            continue;
        CLEANUP(json_cleanup) cJSON *json = alert_json(a, &settings);
        char *text = cJSON_PrintUnformatted(json);

        puts(text);
        free(text);
    }
    puts("");
    fflush(stdout);
}

/* Cut the word off that the text begins with. */
static char *word(char **at)
{
    char *start = *at;

    *at += strcspn(*at, " ");
    if (**at != '\0')
        *(*at)++ = '\0';
    return start;
}

int main(int argc, char **argv)
{
    struct state s = {.now_ms = 0};
    struct error err;
    char *line = NULL;
    size_t room = 0;
    ssize_t len;

    (void)argc;
    if (!alert_rules_load(&s.rules, &err)) {
        fprintf(stderr, "%s\n", err.text);
        return 1;
    }
    begin(&s);
    while ((len = getline(&line, &room, stdin)) > 0) {
        char *at = line;

        line[len - 1] = '\0';
        const char *what = word(&at);

        if (strcmp(what, "sample") == 0) {
            struct point point = {.at_ms = 0};
            bool known = parse_int64(word(&at), &point.at_ms);
            const char *family = word(&at);
            const char *value = word(&at);

            assert(known);
            point.gone = strcmp(value, "gone") == 0;
            point.value = point.gone ? 0 : strtod(value, NULL);
            series_store_add(s.store, family, at, point);
        } else if (strcmp(what, "page") == 0) {
            CLEANUP(strbuf_release) struct strbuf page = STRBUF_INIT(PAGE_MAX_BYTES);
            bool known = parse_int64(word(&at), &s.now_ms) && file_read(at, &page, &err);

            assert(known);
            series_store_page(s.store, page.data, s.now_ms);
        } else if (strcmp(what, "turn") == 0) {
            bool known = parse_int64(word(&at), &s.now_ms);

            assert(known);
            turn(&s, argv + 1);
        } else if (strcmp(what, "show") == 0) {
            show(&s);
        } else {
            end(&s);
            begin(&s);
        }
    }
    end(&s);
    alert_rules_release(&s.rules);
    free(line);
    return 0;
}
