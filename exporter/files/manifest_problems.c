/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/files/manifest_problems.h"

#include <sys/stat.h>
#include <unistd.h>

const char *problem_kind_name(enum problem_kind kind)
{
    switch (kind) {
    case PROBLEM_UNREADABLE:
        return "unreadable";
    case PROBLEM_MALFORMED:
        return "malformed";
    case PROBLEM_REJECTED:
        return "rejected";
    case PROBLEM_DUPLICATE:
        return "duplicate";
    case PROBLEM_NOT_RENDERED:
        return "not_rendered";
    case PROBLEM_REPEATED_KEY:
        return "repeated_key";
    case PROBLEM_SKIPPED:
        return "skipped";
    case PROBLEM_KIND_COUNT:
        break;
    }
    abort();
}

bool problem_kind_blocks_evaluation(enum problem_kind kind)
{
    return kind == PROBLEM_UNREADABLE || kind == PROBLEM_MALFORMED || kind == PROBLEM_REJECTED;
}

void manifest_problem_append_place(const struct manifest_problem *p, struct strbuf *out)
{
    strbuf_adds(out, p->path);
    if (p->line > 0)
        strbuf_addf(out, ":%zu", p->line);
    if (p->line > 0 && p->column > 0)
        strbuf_addf(out, ":%zu", p->column);
}

static void free_problem(struct document_problem *p)
{
    free(p->path);
    free(p->text);
}

void document_problems_release(struct document_problems *p)
{
    for (size_t i = 0; i < p->count; i++)
        free_problem(&p->items[i]);
    free(p->items);
    free(p->skipped);
    *p = (struct document_problems){0};
}

size_t document_problems_blocking(const struct document_problems *p)
{
    size_t count = 0;

    for (unsigned i = 0; i < PROBLEM_KIND_COUNT; i++)
        count += problem_kind_blocks_evaluation((enum problem_kind)i) ? p->seen[i] : 0;
    return count;
}

bool document_problems_find_fault(const struct document_problems *p, struct json_position *where)
{
    const struct document_problem *first = NULL;

    for (size_t i = 0; i < p->count; i++) {
        const struct document_problem *q = &p->items[i];

        if (problem_kind_blocks_evaluation(q->kind) &&
            (!first || q->line < first->line ||
             (q->line == first->line && q->column < first->column)))
            first = q;
    }
    if (first)
        *where = (struct json_position){first->line, first->column};
    return first != NULL;
}

/* Adds a problem with its own text, or frees the text if the list is full. */
static void add_problem(struct document_problems *p, struct document_problem problem)
{
    if (p->seen[problem.kind]++ >= PROBLEMS_MAX) {
        free(problem.text);
        return;
    }
    if (p->count == p->capacity) {
        p->capacity = p->capacity ? p->capacity * 2 : 1;
        p->items = xreallocarray(p->items, p->capacity, sizeof(*p->items));
    }
    problem.path = p->path ? xstrdup(p->path) : NULL;
    p->items[p->count++] = problem;
}

void document_problems_add(struct document_problems *p, enum problem_kind kind,
                           struct json_position where, const char *text, const struct entry *object)
{
    add_problem(p, (struct document_problem){.kind = kind,
                                             .line = where.line,
                                             .column = where.column,
                                             .text = xstrdup(text),
                                             .object = object});
}

void document_problems_skip(struct document_problems *p, enum skipped_kind kind,
                            struct json_position where, bool strict)
{
    if (strict) {
        document_problems_add(p, PROBLEM_REJECTED, where, skipped_message(kind).text, NULL);
        return;
    }
    if (!p->skipped)
        p->skipped = xcalloc(SKIPPED_KIND_COUNT, sizeof(*p->skipped));
    p->skipped[kind]++;
    add_problem(p, (struct document_problem){.kind = PROBLEM_SKIPPED,
                                             .line = where.line,
                                             .column = where.column,
                                             .text = xstrdup(skipped_message(kind).text),
                                             .skipped = kind});
}

void problem_view_release(struct problem_view *v)
{
    for (size_t i = 0; i < v->text_count; i++)
        free(v->texts[i]);
    free(v->texts);
    free(v->items);
    *v = (struct problem_view){0};
}

static void append_problem(struct problem_view *v, struct manifest_problem problem)
{
    if (v->count == v->capacity) {
        v->capacity = v->capacity ? v->capacity * 2 : 16;
        v->items = xreallocarray(v->items, v->capacity, sizeof(*v->items));
    }
    v->items[v->count++] = problem;
}

static int compare_problems(const void *a, const void *b)
{
    const struct manifest_problem *p = a;
    const struct manifest_problem *q = b;
    int order = strcmp(p->path, q->path);

    if (order != 0)
        return order;
    if (p->line != q->line)
        return p->line < q->line ? -1 : 1;
    if (p->column != q->column)
        return p->column < q->column ? -1 : 1;
    if (p->kind != q->kind)
        return p->kind < q->kind ? -1 : 1;
    return strcmp(p->text, q->text);
}

/* Adds one problem for those of a kind that were not stored, if any. `seen` counts all. */
static void add_omitted_count(struct problem_view *v, const char *path, enum problem_kind kind,
                              size_t seen)
{
    char text[96];

    if (seen <= PROBLEMS_MAX)
        return;
    snprintf(text, sizeof(text), "and %zu more like these", seen - PROBLEMS_MAX);
    v->texts = xreallocarray(v->texts, v->text_count + 1, sizeof(*v->texts));
    v->texts[v->text_count] = xstrdup(text);
    append_problem(
        v, (struct manifest_problem){.kind = kind, .path = path, .text = v->texts[v->text_count]});
    v->text_count++;
}

static void add_problems(struct problem_view *v, const char *path,
                         const struct document_problems *p)
{
    for (size_t i = 0; i < p->count; i++) {
        const struct document_problem *q = &p->items[i];

        append_problem(v, (struct manifest_problem){q->kind, q->path ? q->path : path, q->line,
                                                    q->column, q->text, q->object, q->skipped});
    }
}

void problem_view_add(struct problem_view *v, const char *path, const struct document_problems *own,
                      const struct document_problems *duplicates)
{
    size_t first = v->count;

    add_problems(v, path, own);
    add_problems(v, path, duplicates);
    if (v->count > first)
        qsort(v->items + first, v->count - first, sizeof(*v->items), compare_problems);
    for (unsigned i = 0; i < PROBLEM_KIND_COUNT; i++)
        add_omitted_count(v, path, (enum problem_kind)i, own->seen[i] + duplicates->seen[i]);
    v->broken += document_problems_blocking(own) > 0;
    v->duplicates += duplicates->seen[PROBLEM_DUPLICATE];
    v->repeated_keys += own->seen[PROBLEM_REPEATED_KEY];
    for (unsigned i = 0; i < SKIPPED_KIND_COUNT && own->skipped; i++)
        v->skipped[i] += own->skipped[i];
}

/* ---- manifest files ---- */

struct file_signature file_signature_of(const struct stat *about)
{
    return (struct file_signature){.device = about->st_dev,
                                   .inode = about->st_ino,
                                   .size = about->st_size,
                                   .modified = about->st_mtim,
                                   .changed = about->st_ctim};
}

static bool is_same_time(struct timespec a, struct timespec b)
{
    return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec;
}

bool file_signature_equal(const struct file_signature *a, const struct file_signature *b)
{
    return a->device == b->device && a->inode == b->inode && a->size == b->size &&
           is_same_time(a->modified, b->modified) && is_same_time(a->changed, b->changed);
}

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
    document_problems_release(&file->problems);
    document_problems_release(&file->duplicates);
    free(file->declarations);
    free(file->origins);
    free(file->path);
    free(file);
}

const struct manifest_file *manifest_file_origin(const struct manifest_file *file, uint64_t order)
{
    return order > 0 && order <= file->origin_count ? file->origins[order - 1] : file;
}

int manifest_file_compare(const struct manifest_file *a, const struct manifest_file *b)
{
    if (a->path_index != b->path_index)
        return a->path_index < b->path_index ? -1 : 1;
    return strcmp(a->path, b->path);
}
