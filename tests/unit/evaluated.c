/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/evaluated.h"

#include "tests/unit/suite.h"

struct evaluation *evaluated_manifests(const char *path, int64_t now_ms)
{
    static const struct log silent = {.level = LOG_LEVEL_NONE};
    static const char *const environment[] = {NULL};
    const char *const arguments[] = {"check", "--manifests", path};
    struct options options;
    struct error err = {""};
    struct evaluation *e;

    options_init(&options);
    assert_true(options_parse(&options, ARRAY_LEN(arguments), arguments, &err));
    e = evaluation_new(
        &(struct evaluation_settings){
            .options = &options, .environment = environment, .log = &silent, .seed = 1},
        &err);
    if (!e)
        fail_msg("%s", err.text);
    while (evaluation_load(e, &err) == LOADING_BUSY)
        evaluation_wait(e, NULL, NULL, 0, -1);
    assert_true(evaluation_run(e, now_ms, SIZE_MAX));
    evaluation_judge_problems(e, true, NULL);
    assert_true(evaluation_run(e, now_ms, SIZE_MAX));
    return e;
}
