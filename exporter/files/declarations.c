/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/files/declarations.h"

#include "metrics/model/event.h"
#include "metrics/model/kind.h"
#include "metrics/model/work.h"

/*
 * Document that declares an object. The size matters, because nearly every object has a
 * declaration. For this reason `next` serves both the chain of the hash table and the order of the
 * declarations of the same object: these stand together in the chain, the last in order first.
 */
struct declaration {
    struct entry *entry; /* Pinned. */
    struct manifest_file *file;
    struct declaration *next;
    uint64_t order : 40;  /* Offset or number of the document in the file. */
    uint64_t column : 24; /* 0: unknown, or larger than COLUMN_MAX. */
    uint32_t line;
    uint32_t pass : 27; /* Pass of the file that has read the document, modulo 2^27. */
    bool linked : 1;    /* In a chain of the hash table; otherwise without effect. */
    bool shadowed : 1;  /* A later document declares the same object. */
    bool is_source : 1; /* The object in the store was read from this document. */
    bool was_last : 1;  /* Not shadowed when drop_declarations() unlinked the declaration. */
    bool rejected : 1;  /* The document is invalid now: the store has its last valid version. */
};

enum { COLUMN_MAX = (1 << 24) - 1, PASS_MASK = (1 << 27) - 1, FIRST_CHAINS = 64, CHAIN_LENGTH = 2 };

static const uint64_t ORDER_MASK = (UINT64_C(1) << 40) - 1; /* Files have less than a terabyte. */

/* Returns the link to the last declaration of an entry, or to the end of its chain. */
static struct declaration **find_link(const struct declarations *m, const struct entry *entry)
{
    struct declaration **at = &m->chains[map_hash_address(entry) & (m->chain_count - 1)];

    while (*at && (*at)->entry != entry)
        at = &(*at)->next;
    return at;
}

static struct declaration *find_last(const struct declarations *m, const struct entry *entry)
{
    return m->chain_count > 0 ? *find_link(m, entry) : NULL;
}

/* Returns the declaration of the same object that is before this one in order; or NULL. */
static struct declaration *find_previous(const struct declaration *declaration)
{
    struct declaration *next = declaration->next;

    return next && next->entry == declaration->entry ? next : NULL;
}

/* Doubles the number of chains. Each chain is split into two, which keep its order. */
static void double_chains(struct declarations *m)
{
    size_t old = m->chain_count;

    m->chain_count = old > 0 ? old * 2 : FIRST_CHAINS;
    m->chains = xreallocarray(m->chains, m->chain_count, sizeof(struct declaration *));
    memset(m->chains + old, 0, (m->chain_count - old) * sizeof(struct declaration *));
    for (size_t i = 0; i < old; i++) {
        struct declaration **ends[] = {&m->chains[i], &m->chains[i + old]};

        for (struct declaration *at = m->chains[i]; at; at = at->next) {
            size_t half = (map_hash_address(at->entry) & old) != 0;

            *ends[half] = at;
            ends[half] = &at->next;
        }
        *ends[0] = *ends[1] = NULL;
    }
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

static void link_declaration(struct declarations *m, struct declaration *declaration)
{
    if (m->count++ >= m->chain_count * CHAIN_LENGTH)
        double_chains(m);

    struct declaration **first = find_link(m, declaration->entry);
    struct declaration **at = first;

    while (*at && (*at)->entry == declaration->entry && !is_after(declaration, *at))
        at = &(*at)->next;
    declaration->linked = true;
    declaration->next = *at;
    *at = declaration;
    if (at != first)
        set_shadowed(declaration, true);
    else if (find_previous(declaration))
        set_shadowed(find_previous(declaration), true);
}

static void unlink_declaration(struct declarations *m, struct declaration *declaration)
{
    struct declaration **first = find_link(m, declaration->entry);
    struct declaration **at = first;

    while (*at != declaration)
        at = &(*at)->next;
    *at = declaration->next;
    if (at == first && find_previous(declaration))
        set_shadowed(find_previous(declaration), false);
    set_shadowed(declaration, false);
    declaration->linked = false;
    m->count--;
}

/*
 * Removes an object without declarations from the store. Otherwise requests to read the file of the
 * last declaration again, unless the object in the store was read from that declaration.
 */
static void refresh_object(struct declarations *m, struct entry *entry)
{
    struct declaration *last = find_last(m, entry);

    if (!last) {
        store_remove(m->store, entry);
    } else if (!last->is_source) {
        last->file->reread_requested = true;
        m->request_reread(m->context, last->file);
    }
}

static void free_declaration(struct declarations *m, struct declaration *declaration)
{
    store_unpin(m->store, declaration->entry);
    free(declaration);
}

static struct declaration *make_declaration(struct declarations *m, struct manifest_file *file,
                                            const struct identity *id, struct json_place place)
{
    struct declaration *declaration = xcalloc(1, sizeof(*declaration));

    declaration->entry = store_find_or_add(m->store, id);
    store_pin(declaration->entry);
    declaration->file = file;
    declaration->line = place.line > UINT32_MAX ? UINT32_MAX : (uint32_t)place.line;
    declaration->column = declared_column(place.column) & COLUMN_MAX;
    declaration->order = place.offset & ORDER_MASK;
    declaration->pass = file->pass & PASS_MASK;
    return declaration;
}

/*
 * Unlinks the declarations of the same object by earlier passes of the file. Returns true if one of
 * them was the source of the object in the store.
 */
static bool unlink_earlier_passes(struct declarations *m, const struct declaration *fresh)
{
    struct declaration *next;
    bool was_source = false;

    /* Nearly all files are read once: saves a search for each object. */
    if (fresh->file->pass == 1)
        return false;
    for (struct declaration *at = find_last(m, fresh->entry); at; at = next) {
        next = find_previous(at);
        if (at->file != fresh->file || at->pass == fresh->pass)
            continue;
        was_source = was_source || at->is_source;
        at->is_source = false;
        unlink_declaration(m, at);
    }
    return was_source;
}

/*
 * Checks an object that is not stored because a later document declares it, too. Returns false with
 * the reason if the object is invalid.
 */
static bool is_valid_object(struct declarations *m, const cJSON *object,
                            const struct declaration *declaration, struct error *err)
{
    struct decode d = store_make_decoder(m->store, err);
    const struct entry *entry = declaration->entry;
    const struct kind_def *row = entry_type(entry)->def;
    const char *ns = entry_ns(entry);
    void *decoded = row->decode(&d, object);

    row->release(d.strings, decoded);
    return decoded ||
           fail_in(err, "%s '%s%s%s'", entry_kind(entry), ns, *ns ? "/" : "", entry->name);
}

static bool store_object(struct declarations *m, struct declaration *declaration,
                         const cJSON *object, bool was_source, struct error *err)
{
    struct origin origin = {declaration->file->source, declaration->pass};

    if (declaration->shadowed)
        return is_valid_object(m, object, declaration, err);
    if (store_put_at(m->store, declaration->entry, object, origin, err) == STORE_REJECTED) {
        declaration->is_source = was_source;
        declaration->rejected = was_source;
        return false;
    }
    /* A rejected document only kept an older version in the store, which is now replaced. */
    for (struct declaration *at = find_previous(declaration), *next; at; at = next) {
        next = find_previous(at);
        if (at->is_source && at->rejected)
            unlink_declaration(m, at);
        at->is_source = false;
    }
    declaration->is_source = true;
    return true;
}

bool declarations_put(struct declarations *m, struct manifest_file *file, const cJSON *object,
                      struct json_place place, struct error *err)
{
    struct identity id;

    if (!identity_read(object, &id, err))
        return false;

    struct declaration *declaration = make_declaration(m, file, &id, place);
    bool was_source = unlink_earlier_passes(m, declaration);

    link_declaration(m, declaration);
    bool fine = store_object(m, declaration, object, was_source, err);

    if (fine || declaration->is_source) {
        if (file->declaration_count == file->declaration_capacity) {
            file->declaration_capacity += file->declaration_capacity / 2 + 4;
            file->declarations = xreallocarray(file->declarations, file->declaration_capacity,
                                               sizeof(struct declaration *));
        }
        file->declarations[file->declaration_count++] = declaration;
        return fine;
    }
    unlink_declaration(m, declaration);
    refresh_object(m, declaration->entry);
    free_declaration(m, declaration);
    return false;
}

static bool is_of_current_pass(const struct declaration *declaration)
{
    return declaration->linked && declaration->pass == (declaration->file->pass & PASS_MASK);
}

/*
 * Frees the declarations of a file that are unlinked already or for which `stays` returns false;
 * all if `stays` is NULL. Unlinks all of them before it refreshes an object, so that
 * refresh_object() does not request the file because of a declaration that is freed next.
 */
static void drop_declarations(struct declarations *m, struct manifest_file *file,
                              bool (*stays)(const struct declaration *declaration))
{
    size_t kept = 0;

    for (size_t i = 0; i < file->declaration_count; i++) {
        struct declaration *declaration = file->declarations[i];

        if (!declaration->linked || (stays && stays(declaration)))
            continue;
        declaration->was_last = !declaration->shadowed;
        unlink_declaration(m, declaration);
    }
    for (size_t i = 0; i < file->declaration_count; i++) {
        struct declaration *declaration = file->declarations[i];

        if (declaration->linked) {
            file->declarations[kept++] = declaration;
            continue;
        }
        if (declaration->was_last)
            refresh_object(m, declaration->entry);
        free_declaration(m, declaration);
    }
    file->declaration_count = kept;
}

size_t declared_column(size_t column)
{
    return column > COLUMN_MAX ? 0 : column;
}

void declarations_begin_pass(struct manifest_file *file)
{
    file->pass++;
    file->has_custom_kinds = false;
}

void declarations_end_pass(struct declarations *m, struct manifest_file *file)
{
    file->reread_requested = false;
    drop_declarations(m, file, is_of_current_pass);
}

void declarations_fail_pass(struct declarations *m, struct manifest_file *file)
{
    size_t kept = 0;

    for (size_t i = 0; i < file->declaration_count; i++) {
        struct declaration *declaration = file->declarations[i];

        if (!declaration->linked) {
            free_declaration(m, declaration);
            continue;
        }
        file->declarations[kept++] = declaration;
        if (file->reread_requested && !declaration->shadowed && !declaration->is_source)
            store_remove(m->store, declaration->entry);
    }
    file->declaration_count = kept;
    file->reread_requested = false;
}

void declarations_drop_file(struct declarations *m, struct manifest_file *file)
{
    drop_declarations(m, file, NULL);
}

void declarations_free_file(struct declarations *m, struct manifest_file *file)
{
    for (size_t i = 0; i < file->declaration_count; i++)
        free_declaration(m, file->declarations[i]);
    file->declaration_count = 0;
}

static bool get_place(const struct declaration *declaration, const char **path,
                      struct json_position *where)
{
    if (!declaration)
        return false;
    *path = manifest_file_origin(declaration->file, declaration->order)->path;
    *where = (struct json_position){declaration->line, declaration->column};
    return true;
}

bool declarations_find_place(const struct declarations *m, const struct entry *entry,
                             const char **path, struct json_position *where)
{
    return get_place(find_last(m, entry), path, where);
}

bool declarations_find_source(const struct declarations *m, const struct entry *entry,
                              struct object_source *out)
{
    const struct declaration *last = find_last(m, entry);
    const struct manifest_file *file;

    if (!last)
        return false;
    file = manifest_file_origin(last->file, last->order);
    /* The order of a rendered object is no offset in the file of its origin. */
    *out = (struct object_source){file,
                                  {last->line, last->column, file == last->file ? last->order : 0}};
    return true;
}

bool declarations_find_earlier_place(const struct declarations *m, const struct entry *entry,
                                     size_t index, const char **path, struct json_position *where)
{
    const struct declaration *found = find_last(m, entry);

    for (size_t i = 0; found && i <= index; i++)
        found = find_previous(found);
    return get_place(found, path, where);
}

void declarations_report_shadowed(const struct declarations *m, struct manifest_file *file)
{
    document_problems_release(&file->duplicates);
    for (size_t i = 0; i < file->declaration_count && file->shadowed > 0; i++) {
        const struct declaration *declaration = file->declarations[i];
        struct error text;

        if (!declaration->shadowed)
            continue;
        const struct declaration *last = find_last(m, declaration->entry);
        const char *ns = entry_ns(declaration->entry);

        fail(&text,
             "%s '%s%s%s' is declared again in '%s', line %" PRIu32
             "; the exporter uses that declaration",
             entry_kind(declaration->entry), ns, *ns ? "/" : "", declaration->entry->name,
             manifest_file_origin(last->file, last->order)->path, last->line);
        file->duplicates.path = manifest_file_origin(file, declaration->order)->path;
        document_problems_add(&file->duplicates, PROBLEM_DUPLICATE,
                              (struct json_position){declaration->line, declaration->column},
                              text.text, declaration->entry);
    }
}

void declarations_release(struct declarations *m)
{
    free(m->chains);
    m->chains = NULL;
    m->chain_count = 0;
    m->count = 0;
}

/* ---- namespace filter ---- */

/* Field selectors of settings (CLASS_SETTING) begin with "metadata.name=". */
enum { NAME_SELECTOR_LEN = sizeof("metadata.name=") - 1 };

static bool is_settings(const struct kind_def *def, const cJSON *object)
{
    const struct kind_watch *watch = &def->watch;
    const cJSON *metadata = json_get(object, "metadata");
    const char *ns = json_str(metadata, "namespace", "");
    const char *name = json_str(metadata, "name", "");

    if (def->class != CLASS_SETTING || !watch->unfiltered ||
        strcmp(watch->read_api_version, json_str(object, "apiVersion", "")) != 0 ||
        strcmp(def->name, json_str(object, "kind", "")) != 0)
        return false;
    return (!watch->only_namespace || strcmp(watch->only_namespace, ns) == 0) &&
           (!watch->field_selector || strcmp(watch->field_selector + NAME_SELECTOR_LEN, name) == 0);
}

/* Sets apiVersion to that of the settings, and returns true, if the object has settings. */
static bool adopt_settings_version(cJSON *object)
{
    size_t count;
    const struct kind_def *table = kind_table(&count);

    for (const struct kind_def *def = table; def < table + count; def++) {
        if (!is_settings(def, object))
            continue;
        cJSON_ReplaceItemInObjectCaseSensitive(object, "apiVersion",
                                               cJSON_CreateString(def->api_version));
        return true;
    }
    return false;
}

bool namespace_filter_reads_object(const struct namespace_filter *filter, cJSON *object)
{
    const char *ns = json_str(json_get(object, "metadata"), "namespace", "");
    const struct kind_def *def =
        kind_of(json_str(object, "apiVersion", ""), json_str(object, "kind", ""));

    if (def->watch.by_binding) {
        const char *binding_ns = work_binding_ns(object);

        return binding_ns && namespace_filter_allows(filter, binding_ns);
    }
    if (def->class == CLASS_EVENT)
        ns = event_subject_ns(object);
    return def->watch.unfiltered || def->watch.when == WATCH_NEVER_FROM_FILES ||
           namespace_filter_allows(filter, ns) || adopt_settings_version(object);
}
