/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/conformance/conformance.h"

#include <limits.h>
#include <stdio.h>
#include <zlib.h>

/*
 * Compares the rules with the answers of Karmada's own functions and counts the verdicts, by rule
 * and release.
 *
 *     conformance [--markdown] [--folder PATH] [RULE [RELEASE]]
 *
 * RELEASE is a name of the release table, such as 1.15. --markdown prints the table of
 * exporter/docs/conformance.md. --folder names another folder with vectors. Exit status: 1 if an
 * answer is wrong, 2 for a usage or read error.
 */

static const struct rule {
    const char *name; /* First part of the file names. */
    const char *title;
    conformance_judge *judge;
    enum release oldest; /* Vectors exist from this release on. */
} rules[] = {
    {"affinity", "cluster affinity", judge_affinity, RELEASE_1_13},
    {"division", "division of replicas", judge_division, RELEASE_1_13},
    {"filters", "filters of the scheduler", judge_filters, RELEASE_1_13},
    {"schedule", "scheduling", judge_schedule, RELEASE_1_13},
    {"schedule-after-change", "scheduling after a change", judge_schedule_after_change,
     RELEASE_1_13},
    {"dependency", "dependencies", judge_dependency, RELEASE_1_13},
    {"admission", "admission of policies", judge_admission, RELEASE_1_13},
    {"admission-features", "admission of newer fields", judge_admission, RELEASE_1_13},
    {"overrides", "override policies", judge_overrides, RELEASE_1_19},
};

/* Version of Karmada whose functions gave the answers for a release. */
static const char *const versions[RELEASE_COUNT] = {
    [RELEASE_1_13] = "v1.13.10",        [RELEASE_1_14] = "v1.14.10", [RELEASE_1_15] = "v1.15.9",
    [RELEASE_1_16] = "v1.16.8",         [RELEASE_1_17] = "v1.17.5",  [RELEASE_1_18] = "v1.18.2",
    [RELEASE_1_19_RC] = "v1.19.0-rc.0", [RELEASE_1_19] = "f8fdd02d",
};

enum { LINE_MAX_BYTES = 1 << 20, WHY_MAX_BYTES = 1 << 14, DIFFERENCES_SHOWN = 5 };

struct counts {
    unsigned cases;
    unsigned right;
    unsigned undetermined;
    unsigned wrong;
};

static void show_difference(const struct rule *rule, enum release release, const cJSON *vector,
                            const char *why)
{
    const cJSON *number = cJSON_GetObjectItemCaseSensitive(vector, "case");

    fprintf(stderr, "%s %s, case %d: %s\n", rule->name, release_name(release),
            cJSON_IsNumber(number) ? number->valueint : -1, why);
}

/* Judges one line of a file and counts the verdict. Returns false if the line is no JSON. */
static bool count_line(const struct rule *rule, enum release release, const char *line,
                       struct counts *counts)
{
    cJSON *vector = cJSON_Parse(line);
    struct strbuf why = STRBUF_INIT(WHY_MAX_BYTES);

    if (!vector)
        return false;
    counts->cases++;
    switch (rule->judge(vector, release, &why)) {
    case VERDICT_RIGHT:
        counts->right++;
        break;
    case VERDICT_UNDETERMINED:
        counts->undetermined++;
        break;
    case VERDICT_WRONG:
        if (counts->wrong++ < DIFFERENCES_SHOWN)
            show_difference(rule, release, vector, why.data);
        break;
    }
    strbuf_release(&why);
    cJSON_Delete(vector);
    return true;
}

/* Judges all vectors of a rule for a release. Returns false if the file cannot be read. */
static bool count_file(const char *folder, const struct rule *rule, enum release release,
                       struct counts *counts)
{
    char path[PATH_MAX];
    char *line = xmalloc(LINE_MAX_BYTES);
    bool complete = true;
    gzFile file;

    snprintf(path, sizeof(path), "%s/%s.%s.jsonl.gz", folder, rule->name, versions[release]);
    file = gzopen(path, "rb");
    while (file && complete && gzgets(file, line, LINE_MAX_BYTES))
        complete = count_line(rule, release, line, counts);
    complete = complete && file && gzeof(file) && counts->cases > 0;
    if (!complete)
        fprintf(stderr, "conformance: cannot read vectors from %s\n", path);
    if (file)
        gzclose(file);
    free(line);
    return complete;
}

/* Verdicts by rule and release. */
struct results {
    struct counts counts[ARRAY_LEN(rules)][RELEASE_COUNT];
    struct counts total;
    bool is_unread; /* A file could not be read. */
};

/* ---- output ---- */

static double undetermined_percent(const struct counts *c)
{
    return c->cases ? 100.0 * c->undetermined / c->cases : 0;
}

static void print_line(const char *rule, const char *release, const struct counts *c)
{
    if (c->cases > 0)
        printf("%-22s %-12s %6u cases %6u right %5u undetermined (%.1f %%) %3u wrong\n", rule,
               release, c->cases, c->right, c->undetermined, undetermined_percent(c), c->wrong);
}

static void print_lines(const struct results *results)
{
    for (size_t i = 0; i < ARRAY_LEN(rules); i++) {
        for (enum release r = 0; r < RELEASE_COUNT; r++)
            print_line(rules[i].name, release_name(r), &results->counts[i][r]);
    }
}

/* Prints one row for each rule, with cases, wrong and undetermined answers for each release. */
static void print_markdown(const struct results *results)
{
    fputs("| rule |", stdout);
    for (enum release r = 0; r < RELEASE_COUNT; r++)
        printf(" %s |", release_name(r));
    fputs("\n|---|", stdout);
    for (enum release r = 0; r < RELEASE_COUNT; r++)
        fputs("---|", stdout);
    putchar('\n');
    for (size_t i = 0; i < ARRAY_LEN(rules); i++) {
        printf("| %s |", rules[i].title);
        for (enum release r = 0; r < RELEASE_COUNT; r++) {
            const struct counts *c = &results->counts[i][r];

            if (c->cases == 0)
                fputs(" |", stdout);
            else
                printf(" %u / %u / %u (%.0f %%) |", c->cases, c->wrong, c->undetermined,
                       undetermined_percent(c));
        }
        putchar('\n');
    }
    printf("\nAll rules and releases: %u cases, %u wrong, %u undetermined (%.1f %%).\n",
           results->total.cases, results->total.wrong, results->total.undetermined,
           undetermined_percent(&results->total));
}

/* ---- command line ---- */

struct selection {
    bool markdown;
    const char *folder;
    const char *rule;    /* NULL: all. */
    const char *release; /* NULL: all. */
};

static bool parse_arguments(int argc, char **argv, struct selection *out)
{
    int at = 1;

    if (at < argc && strcmp(argv[at], "--markdown") == 0) {
        out->markdown = true;
        at++;
    }
    if (at + 1 < argc && strcmp(argv[at], "--folder") == 0) {
        out->folder = argv[at + 1];
        at += 2;
    }
    if (at < argc)
        out->rule = argv[at++];
    if (at < argc)
        out->release = argv[at++];
    return at == argc && (!out->rule || out->rule[0] != '-');
}

static bool is_selected(const char *name, const char *wanted)
{
    return !wanted || strcmp(name, wanted) == 0;
}

static void run_rule(size_t rule, const struct selection *selection, struct results *results)
{
    for (enum release r = rules[rule].oldest; r < RELEASE_COUNT; r++) {
        struct counts *c = &results->counts[rule][r];

        if (!is_selected(release_name(r), selection->release))
            continue;
        if (!count_file(selection->folder, &rules[rule], r, c))
            results->is_unread = true;
        results->total.cases += c->cases;
        results->total.right += c->right;
        results->total.undetermined += c->undetermined;
        results->total.wrong += c->wrong;
    }
}

int main(int argc, char **argv)
{
    struct selection selection = {.folder = "tests/fixtures/vectors/by-release"};
    static struct results results;

    if (!parse_arguments(argc, argv, &selection)) {
        fputs("usage: conformance [--markdown] [--folder PATH] [RULE [RELEASE]]\n", stderr);
        return 2;
    }
    for (size_t i = 0; i < ARRAY_LEN(rules); i++) {
        if (is_selected(rules[i].name, selection.rule))
            run_rule(i, &selection, &results);
    }
    if (results.total.cases == 0 && !results.is_unread) {
        fputs("conformance: no vectors of this rule and release\n", stderr);
        return 2;
    }
    if (selection.markdown)
        print_markdown(&results);
    else
        print_lines(&results);
    if (!selection.markdown && !selection.rule)
        print_line("all", "", &results.total);
    return results.is_unread ? 2 : results.total.wrong > 0 ? 1 : 0;
}
