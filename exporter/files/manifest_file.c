/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/files/manifest_file.h"

#include <unistd.h>

struct manifest_file *manifest_file_new(const char *path, uint32_t path_index)
{
    struct manifest_file *file = xcalloc(1, sizeof(*file));

    file->path = xstrdup(path);
    file->path_index = path_index;
    file->spool = -1;
    return file;
}

void manifest_file_free(struct manifest_file *file)
{
    if (!file)
        return;
    assert(file->declaration_count == 0);
    if (file->spool >= 0)
        close(file->spool);
    problems_release(&file->problems);
    problems_release(&file->duplicates);
    free(file->declarations);
    free(file->path);
    free(file);
}

int manifest_file_compare(const struct manifest_file *a, const struct manifest_file *b)
{
    if (a->path_index != b->path_index)
        return a->path_index < b->path_index ? -1 : 1;
    return strcmp(a->path, b->path);
}
