/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hold [ALERT...]: evaluates the rules of these alerts, or of all, with the exporter's own code and
 * in virtual time, for a comparison with promtool. Standard input has one command per line:
 *
 *     sample MS FAMILY VALUE LABELS   adds a sample to a series; the value "gone" ends the series
 *     page MS FILE                    adds a page of metrics
 *     turn MS                         evaluates the rules
 *     show                            prints each firing alert on a line, then an empty line
 *     reset                           discards all series and alerts
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

static void create_state(struct state *s)
{
    const struct label_list none = {NULL, 0};

    s->store = series_store_new(&none, SEED);
    alert_rules_want(&s->rules, s->store);
    alerts_init(&s->alerts, SEED);
}

static void release_state(struct state *s)
{
    series_store_free(s->store);
    alerts_release(&s->alerts);
}

static bool is_selected(const char *name, char **names)
{
    for (char **n = names; *n; n++) {
        if (strcmp(*n, name) == 0)
            return true;
    }
    return !*names;
}

static void evaluate_rules(struct state *s, char **names)
{
    const struct label_list more = {NULL, 0};
    const struct alert_moment now = {s->now_ms, s->now_ms, s->now_ms, false};

    for (size_t i = 0; i < s->rules.count; i++) {
        const struct alert_rule *rule = &s->rules.items[i];

        if (rule->severity && !is_selected(rule->name, names))
            continue;
        CLEANUP(vector_release)
        struct vector v = promql_eval(rule->expression, s->store, s->now_ms);

        if (rule->severity)
            alerts_update(&s->alerts, rule, &v, &more, &now);
        else
            series_store_record(s->store, rule->name, &v, s->now_ms);
    }
}

static void print_firing(const struct state *s)
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

/* Returns the first word of the text, and advances `at` to the next one. */
static char *next_word(char **at)
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
    create_state(&s);
    while ((len = getline(&line, &room, stdin)) > 0) {
        char *at = line;

        line[len - 1] = '\0';
        const char *command = next_word(&at);

        if (strcmp(command, "sample") == 0) {
            struct point point = {.at_ms = 0};
            bool known = parse_int64(next_word(&at), &point.at_ms);
            const char *family = next_word(&at);
            const char *value = next_word(&at);

            assert(known);
            point.gone = strcmp(value, "gone") == 0;
            point.value = point.gone ? 0 : strtod(value, NULL);
            series_store_add(s.store, family, at, point);
        } else if (strcmp(command, "page") == 0) {
            CLEANUP(strbuf_release) struct strbuf page = STRBUF_INIT(PAGE_MAX_BYTES);
            bool known = parse_int64(next_word(&at), &s.now_ms) && file_read(at, &page, &err);

            assert(known);
            series_store_page(s.store, page.data, s.now_ms);
        } else if (strcmp(command, "turn") == 0) {
            bool known = parse_int64(next_word(&at), &s.now_ms);

            assert(known);
            evaluate_rules(&s, argv + 1);
        } else if (strcmp(command, "show") == 0) {
            print_firing(&s);
        } else {
            release_state(&s);
            create_state(&s);
        }
    }
    release_state(&s);
    alert_rules_release(&s.rules);
    free(line);
    return 0;
}
