/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/lines.h"

#include <setjmp.h>
#include <zlib.h>

#include <cmocka.h>

enum { LINE_MAX_BYTES = 1 << 20 };

size_t lines_each(const char *path, void (*each)(const cJSON *line, void *context), void *context)
{
    CLEANUP(free_cleanup) char *text = xmalloc(LINE_MAX_BYTES);
    gzFile file = gzopen(path, "rb");
    size_t count = 0;

    assert_non_null(file);
    while (gzgets(file, text, LINE_MAX_BYTES)) {
        cJSON *line = cJSON_Parse(text);

        assert_non_null(line);
        each(line, context);
        cJSON_Delete(line);
        count++;
    }
    gzclose(file);
    return count;
}
