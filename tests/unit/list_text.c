/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/list_text.h"

#include "metrics/base/strbuf.h"
#include "tests/unit/suite.h"

void list_world_run(struct world *w, int64_t now_ms)
{
    struct problem_options options = {.snapshot = true};

    world_run(w, now_ms);
    problem_settings_reset(&options.settings);
    engine_judge_problems(w->engine, &options);
    world_run(w, now_ms);
}

char *list_rows(const struct world *w, const struct list *list)
{
    struct strbuf out = STRBUF_INIT(1 << 20);
    size_t count, len;
    CLEANUP(free_cleanup) char *rows = list->gather(w->engine, &count);

    for (size_t i = 0; i < count; i++) {
        struct json_writer writer = {.out = &out};

        list_write_row(&writer, list, w->engine, rows + i * list->row_size);
        strbuf_addc(&out, '\n');
    }
    return strbuf_take(&out, &len);
}

void check_has(const char *text, const char *part)
{
    if (!strstr(text, part))
        fail_msg("%s is not in: %s", part, text);
}
