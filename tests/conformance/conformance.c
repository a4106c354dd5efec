/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/conformance/conformance.h"

#include <stdio.h>
#include <zlib.h>

/*
 * Compares the rules with the answers of Karmada's own functions and counts the verdicts, by rule
 * and release.
 *
 *     conformance [--markdown] [RULE [RELEASE]]
 *
 * RELEASE is a name of the release table, such as 1.15. --markdown prints the table of
 * exporter/docs/conformance.md. Exit status: 1 if an answer is wrong, 2 for a usage or read error.
 */

static const char folder[] = "tests/fixtures/vectors/by-release";

static const struct rule {
    const char *name; /* First part of the file names. */
    const char *title;
    conformance_judge *judge;
} rules[] = {
    {"affinity", "cluster affinity", judge_affinity},
    {"division", "division of replicas", judge_division},
    {"schedule", "scheduling", judge_schedule},
    {"schedule-after-change", "scheduling after a change", judge_schedule_after_change},
    {"dependency", "dependencies", judge_dependency},
    {"admission", "admission of policies", judge_admission},
    {"admission-features", "admission of newer fields", judge_admission},
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
static bool count_file(const struct rule *rule, enum release release, struct counts *counts)
{
    char path[256];
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

/* ---- output ---- */

enum format { FORMAT_TEXT, FORMAT_MARKDOWN };

static void print_counts(enum format format, const char *rule, const char *release,
                         const struct counts *c)
{
    double share = c->cases ? 100.0 * c->undetermined / c->cases : 0;

    if (format == FORMAT_TEXT)
        printf("%-22s %-12s %6u cases %6u right %5u undetermined (%.1f %%) %3u wrong\n", rule,
               release, c->cases, c->right, c->undetermined, share, c->wrong);
    else
        printf("| %s | %s | %u | %u | %u (%.1f %%) | %u |\n", rule, release, c->cases, c->right,
               c->undetermined, share, c->wrong);
}

static void print_heading(enum format format)
{
    if (format == FORMAT_MARKDOWN)
        puts(
            "| rule | release | cases | right | undetermined | wrong |\n|---|---|---|---|---|---|");
}

/* ---- command line ---- */

struct selection {
    enum format format;
    const char *rule;    /* NULL: all. */
    const char *release; /* NULL: all. */
};

static bool parse_arguments(int argc, char **argv, struct selection *out)
{
    int at = 1;

    if (at < argc && strcmp(argv[at], "--markdown") == 0) {
        out->format = FORMAT_MARKDOWN;
        at++;
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

/* Result of a run: numbers of files. */
struct files {
    unsigned passed;
    unsigned failed;
    unsigned unread;
};

static void run_rule(const struct rule *rule, const struct selection *selection,
                     struct counts *total, struct files *files)
{
    for (enum release r = 0; r < RELEASE_COUNT; r++) {
        struct counts counts = {0};

        if (!is_selected(release_name(r), selection->release))
            continue;
        if (!count_file(rule, r, &counts)) {
            files->unread++;
            continue;
        }
        print_counts(selection->format,
                     selection->format == FORMAT_MARKDOWN ? rule->title : rule->name,
                     release_name(r), &counts);
        *(counts.wrong ? &files->failed : &files->passed) += 1;
        total->cases += counts.cases;
        total->right += counts.right;
        total->undetermined += counts.undetermined;
        total->wrong += counts.wrong;
    }
}

int main(int argc, char **argv)
{
    struct selection selection = {0};
    struct counts total = {0};
    struct files files = {0};

    if (!parse_arguments(argc, argv, &selection)) {
        fputs("usage: conformance [--markdown] [RULE [RELEASE]]\n", stderr);
        return 2;
    }
    print_heading(selection.format);
    for (size_t i = 0; i < ARRAY_LEN(rules); i++) {
        if (is_selected(rules[i].name, selection.rule))
            run_rule(&rules[i], &selection, &total, &files);
    }
    if (files.passed + files.failed + files.unread == 0) {
        fputs("conformance: no vectors of this rule and release\n", stderr);
        return 2;
    }
    if (!selection.rule)
        print_counts(selection.format, "all", "all", &total);
    return files.unread ? 2 : files.failed ? 1 : 0;
}
