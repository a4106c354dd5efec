/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/manifests/declarations.h"

/* One document that names an object. There is one for each object: every byte counts. */
struct declaration {
    struct entry *entry; /* Stays, with or without an object, as long as it is named. */
    struct manifest_file *file;
    struct declaration *earlier; /* The next one in order that names the same object. */
    size_t order;                /* In the file. */
    uint32_t line;
    uint32_t pass : 27;
    bool linked : 1;   /* Reached from the entry; only then it counts at all. */
    bool shadowed : 1; /* A later one is there. */
    bool holds : 1;    /* The store's object came from here. */
    bool retired : 1;  /* It counted, until its file did not name it any more. */
    bool rejected : 1; /* The document is no valid object any more: what it was stays. */
};

enum { PASS_MASK = (1 << 27) - 1 };

static struct declaration *last_of(const struct entry *entry)
{
    return entry->declaration;
}

static bool is_after(const struct declaration *a, const struct declaration *b)
{
    int order = manifest_file_compare(a->file, b->file);

    return order != 0 ? order > 0 : a->order >= b->order;
}

static void set_shadowed(struct declaration *declaration, bool shadowed)
{
    if (declaration->shadowed == shadowed)
        return;
    declaration->shadowed = shadowed;
    if (shadowed)
        declaration->file->shadowed++;
    else
        declaration->file->shadowed--;
}

static void link_in(struct declaration *declaration)
{
    struct declaration *at = last_of(declaration->entry);

    declaration->linked = true;
    if (!at || is_after(declaration, at)) {
        declaration->entry->declaration = declaration;
        declaration->earlier = at;
        if (at)
            set_shadowed(at, true);
        return;
    }
    while (at->earlier && !is_after(declaration, at->earlier))
        at = at->earlier;
    declaration->earlier = at->earlier;
    at->earlier = declaration;
    set_shadowed(declaration, true);
}

static void unlink_from(struct declaration *declaration)
{
    struct declaration *at = last_of(declaration->entry);

    set_shadowed(declaration, false);
    declaration->linked = false;
    if (at == declaration) {
        declaration->entry->declaration = declaration->earlier;
        if (declaration->earlier)
            set_shadowed(declaration->earlier, false);
        return;
    }
    while (at->earlier != declaration)
        at = at->earlier;
    at->earlier = declaration->earlier;
}

/* A declaration went: see that the store holds what counts now, or soon will. */
static void settle(struct declarations *m, struct entry *entry)
{
    struct declaration *last = last_of(entry);

    if (!last) {
        store_remove(m->store, entry);
    } else if (!last->holds) {
        last->file->wanted = true;
        m->want(m->context, last->file);
    }
}

static void free_declaration(struct declarations *m, struct declaration *declaration)
{
    declaration->entry->pins--;
    store_tidy(m->store, declaration->entry);
    free(declaration);
}

static struct declaration *make_declaration(struct declarations *m, struct manifest_file *file,
                                            const struct identity *id, struct json_place place)
{
    struct declaration *declaration = xcalloc(1, sizeof(*declaration));

    declaration->entry = store_refer(m->store, id);
    declaration->entry->pins++;
    declaration->file = file;
    declaration->line = place.line > UINT32_MAX ? UINT32_MAX : (uint32_t)place.line;
    declaration->order = place.offset;
    declaration->pass = file->pass & PASS_MASK;
    return declaration;
}

/* What the file said of the object in earlier passes is over; true if the store held that. */
static bool forget_earlier_passes(const struct declaration *fresh)
{
    struct declaration *next;
    bool held = false;

    for (struct declaration *at = last_of(fresh->entry); at; at = next) {
        next = at->earlier;
        if (at->file != fresh->file || at->pass == fresh->pass)
            continue;
        held = held || at->holds;
        at->holds = false;
        unlink_from(at);
    }
    return held;
}

/* `declaration` holds now: nobody else does, and who only held a past version counts no more. */
static void take_hold(struct declaration *declaration)
{
    struct declaration *next;

    for (struct declaration *at = declaration->earlier; at; at = next) {
        next = at->earlier;
        if (at->holds && at->rejected)
            unlink_from(at);
        at->holds = false;
    }
    declaration->holds = true;
}

/* Decode and forget: a shadowed document has to be valid too. */
static bool is_valid(struct declarations *m, const cJSON *object,
                     const struct declaration *declaration, struct error *err)
{
    struct decode d = {.strings = store_strings(m->store), .err = err};
    const struct entry *entry = declaration->entry;
    const struct kind_def *row = entry->partition->type->def;
    const char *ns = entry_ns(entry);
    void *decoded = row->decode(&d, object);

    row->release(d.strings, decoded);
    return decoded ||
           fail_in(err, "%s '%s%s%s'", entry_kind(entry), ns, *ns ? "/" : "", entry->name);
}

static bool offer(struct declarations *m, struct declaration *declaration, const cJSON *object,
                  bool held, struct error *err)
{
    struct origin origin = {declaration->file->source, declaration->pass};

    if (declaration->shadowed)
        return is_valid(m, object, declaration, err);
    if (store_put_at(m->store, declaration->entry, object, origin, err) != STORE_REJECTED) {
        take_hold(declaration);
        return true;
    }
    declaration->holds = held;
    declaration->rejected = held;
    return false;
}

static void keep(struct manifest_file *file, struct declaration *declaration)
{
    if (file->declaration_count == file->declaration_capacity) {
        file->declaration_capacity += file->declaration_capacity / 2 + 4;
        file->declarations = xreallocarray(file->declarations, file->declaration_capacity,
                                           sizeof(struct declaration *));
    }
    file->declarations[file->declaration_count++] = declaration;
}

bool declarations_put(struct declarations *m, struct manifest_file *file, const cJSON *object,
                      struct json_place place, struct error *err)
{
    struct identity id;

    if (!identity_read(object, &id, err))
        return false;

    struct declaration *declaration = make_declaration(m, file, &id, place);
    bool held = forget_earlier_passes(declaration);

    link_in(declaration);
    bool fine = offer(m, declaration, object, held, err);

    if (fine || declaration->holds) {
        keep(file, declaration);
        return fine;
    }
    unlink_from(declaration);
    settle(m, declaration->entry);
    free_declaration(m, declaration);
    return false;
}

static bool is_of_this_pass(const struct declaration *declaration)
{
    return declaration->linked && declaration->pass == (declaration->file->pass & PASS_MASK);
}

/*
 * Let go what the file does not name (any more), all of it before anybody is
 * asked to follow: it must not be the file itself.
 */
static void retire(struct declarations *m, struct manifest_file *file,
                   bool (*stays)(const struct declaration *declaration))
{
    size_t kept = 0;

    for (size_t i = 0; i < file->declaration_count; i++) {
        struct declaration *declaration = file->declarations[i];

        if (!declaration->linked || (stays && stays(declaration)))
            continue;
        declaration->retired = !declaration->shadowed;
        unlink_from(declaration);
    }
    for (size_t i = 0; i < file->declaration_count; i++) {
        struct declaration *declaration = file->declarations[i];

        if (declaration->linked) {
            file->declarations[kept++] = declaration;
            continue;
        }
        if (declaration->retired)
            settle(m, declaration->entry);
        free_declaration(m, declaration);
    }
    file->declaration_count = kept;
}

void declarations_begin(struct manifest_file *file)
{
    file->pass++;
}

void declarations_end(struct declarations *m, struct manifest_file *file)
{
    file->wanted = false;
    retire(m, file, is_of_this_pass);
}

void declarations_fail(struct declarations *m, struct manifest_file *file)
{
    size_t kept = 0;

    for (size_t i = 0; i < file->declaration_count; i++) {
        struct declaration *declaration = file->declarations[i];

        if (!declaration->linked) {
            free_declaration(m, declaration);
            continue;
        }
        file->declarations[kept++] = declaration;
        if (file->wanted && !declaration->shadowed && !declaration->holds)
            store_remove(m->store, declaration->entry);
    }
    file->declaration_count = kept;
    file->wanted = false;
}

void declarations_drop(struct declarations *m, struct manifest_file *file)
{
    retire(m, file, NULL);
}

void declarations_forget(struct declarations *m, struct manifest_file *file)
{
    for (size_t i = 0; i < file->declaration_count; i++)
        free_declaration(m, file->declarations[i]);
    file->declaration_count = 0;
}

void declarations_report(struct manifest_file *file)
{
    problems_release(&file->duplicates);
    for (size_t i = 0; i < file->declaration_count && file->shadowed > 0; i++) {
        const struct declaration *declaration = file->declarations[i];
        struct error text;

        if (!declaration->shadowed)
            continue;
        const struct declaration *last = last_of(declaration->entry);
        const char *ns = entry_ns(declaration->entry);

        fail(&text, "%s '%s%s%s' is named again in '%s', line %" PRIu32 ", which counts instead",
             entry_kind(declaration->entry), ns, *ns ? "/" : "", declaration->entry->name,
             last->file->path, last->line);
        problems_add(&file->duplicates, PROBLEM_DUPLICATE,
                     (struct json_position){declaration->line, 0}, text.text);
    }
}
