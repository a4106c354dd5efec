/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/manifests/mentions.h"

#include "metrics/base/intern.h"

struct mention {
    const struct type *type;
    const char *ns; /* Shared with the store. */
    struct manifest_file *file;
    struct mention *earlier; /* The next one in order that names the same object. */
    size_t line;
    size_t order; /* In the file. */
    uint32_t pass;
    bool linked;   /* Under by_object; only then it counts at all. */
    bool shadowed; /* A later one is there. */
    bool holds;    /* The store's object came from here. */
    bool rejected; /* The document is no valid object any more: what it was stays. */
    bool retired;  /* It went while it counted: somebody has to follow. */
    char name[];
};

/* An object's name, as it stays valid while the store's entries come and go. */
struct object_key {
    const struct type *type;
    const char *ns;
    const char *name;
};

static struct object_key key_of(const struct mention *mention)
{
    return (struct object_key){mention->type, mention->ns, mention->name};
}

static bool is_mention(const void *item, const void *key)
{
    const struct mention *mention = item;
    const struct object_key *k = key;

    return mention->type == k->type && mention->ns == k->ns && strcmp(mention->name, k->name) == 0;
}

static uint64_t hash(const struct mentions *m, struct object_key key)
{
    uint64_t salt = (uint64_t)(uintptr_t)key.type * 31 + (uint64_t)(uintptr_t)key.ns;

    return map_hash(key.name, strlen(key.name), m->seed ^ salt);
}

static struct mention *last_of(const struct mentions *m, struct object_key key)
{
    return map_get(&m->by_object, hash(m, key), &key);
}

static void set_last(struct mentions *m, struct object_key key, struct mention *last)
{
    map_take(&m->by_object, hash(m, key), &key);
    if (last)
        map_add(&m->by_object, hash(m, key), last);
}

static bool is_after(const struct mention *a, const struct mention *b)
{
    int order = manifest_file_compare(a->file, b->file);

    return order != 0 ? order > 0 : a->order >= b->order;
}

static void set_shadowed(struct mention *mention, bool shadowed)
{
    if (mention->shadowed == shadowed)
        return;
    mention->shadowed = shadowed;
    if (shadowed)
        mention->file->shadowed++;
    else
        mention->file->shadowed--;
}

static void link_in(struct mentions *m, struct mention *mention)
{
    struct mention *at = last_of(m, key_of(mention));

    mention->linked = true;
    if (!at || is_after(mention, at)) {
        set_last(m, key_of(mention), mention);
        mention->earlier = at;
        if (at)
            set_shadowed(at, true);
        return;
    }
    while (at->earlier && !is_after(mention, at->earlier))
        at = at->earlier;
    mention->earlier = at->earlier;
    at->earlier = mention;
    set_shadowed(mention, true);
}

static void unlink_from(struct mentions *m, struct mention *mention)
{
    struct mention *at = last_of(m, key_of(mention));

    set_shadowed(mention, false);
    mention->linked = false;
    if (at == mention) {
        set_last(m, key_of(mention), mention->earlier);
        if (mention->earlier)
            set_shadowed(mention->earlier, false);
        return;
    }
    while (at->earlier != mention)
        at = at->earlier;
    at->earlier = mention->earlier;
}

static void free_mention(struct mentions *m, struct mention *mention)
{
    intern_drop(store_strings(m->store), mention->ns);
    free(mention);
}

static void remove_object(struct mentions *m, struct object_key key)
{
    struct identity id = {key.type->api_version, key.type->kind, key.ns, key.name};
    struct entry *entry = store_find(m->store, &id);

    if (entry)
        store_remove(m->store, entry);
}

/* A mention went: see that the store holds what counts now, or soon will. */
static void settle(struct mentions *m, struct object_key key)
{
    struct mention *last = last_of(m, key);

    if (!last) {
        remove_object(m, key);
    } else if (!last->holds) {
        last->file->wanted = true;
        m->want(m->context, last->file);
    }
}

static struct mention *make_mention(struct mentions *m, struct manifest_file *file,
                                    const struct identity *id, struct json_place place)
{
    const struct entry *entry = store_refer(m->store, id);
    size_t size = strlen(id->name) + 1;
    struct mention *mention = xcalloc(1, sizeof(*mention) + size);

    mention->type = entry->scope->type;
    mention->ns = intern_ref(entry->scope->ns);
    mention->file = file;
    mention->line = place.line;
    mention->order = place.offset;
    mention->pass = file->pass;
    memcpy(mention->name, id->name, size);
    return mention;
}

/* What the file said of the object in earlier passes is over; true if the store held that. */
static bool forget_earlier_passes(struct mentions *m, const struct mention *fresh)
{
    struct mention *next;
    bool held = false;

    for (struct mention *at = last_of(m, key_of(fresh)); at; at = next) {
        next = at->earlier;
        if (at->file != fresh->file || at->pass == fresh->pass)
            continue;
        held = held || at->holds;
        at->holds = false;
        unlink_from(m, at);
    }
    return held;
}

/* `mention` holds now: nobody else does, and who only held a past version counts no more. */
static void take_hold(struct mentions *m, struct mention *mention)
{
    struct mention *next;

    for (struct mention *at = mention->earlier; at; at = next) {
        next = at->earlier;
        if (at->holds && at->rejected)
            unlink_from(m, at);
        at->holds = false;
    }
    mention->holds = true;
}

/* Decode and forget: a shadowed document has to be valid too. */
static bool is_valid(struct mentions *m, const cJSON *object, const struct mention *mention,
                     struct error *err)
{
    struct decode d = {.strings = store_strings(m->store), .err = err};
    void *decoded = mention->type->row->decode(&d, object);

    mention->type->row->release(d.strings, decoded);
    return decoded || fail_in(err, "%s '%s%s%s'", mention->type->kind, mention->ns,
                              *mention->ns ? "/" : "", mention->name);
}

static bool offer(struct mentions *m, struct mention *mention, const cJSON *object, bool held,
                  struct error *err)
{
    struct origin origin = {mention->file->source, mention->pass};

    if (mention->shadowed)
        return is_valid(m, object, mention, err);
    if (store_put(m->store, object, origin, err) != STORE_REJECTED) {
        take_hold(m, mention);
        return true;
    }
    mention->holds = held;
    mention->rejected = held;
    return false;
}

static void keep(struct manifest_file *file, struct mention *mention)
{
    if (file->mention_count == file->mention_capacity) {
        file->mention_capacity += file->mention_capacity / 2 + 4;
        file->mentions =
            xreallocarray(file->mentions, file->mention_capacity, sizeof(struct mention *));
    }
    file->mentions[file->mention_count++] = mention;
}

bool mentions_put(struct mentions *m, struct manifest_file *file, const cJSON *object,
                  struct json_place place, struct error *err)
{
    struct identity id;

    if (!identity_read(object, &id, err))
        return false;

    struct mention *mention = make_mention(m, file, &id, place);
    bool held = forget_earlier_passes(m, mention);

    link_in(m, mention);
    bool fine = offer(m, mention, object, held, err);

    if (fine || mention->holds) {
        keep(file, mention);
        return fine;
    }
    unlink_from(m, mention);
    settle(m, key_of(mention));
    free_mention(m, mention);
    return false;
}

static bool is_of_this_pass(const struct mention *mention)
{
    return mention->linked && mention->pass == mention->file->pass;
}

/*
 * Let go what the file does not name (any more), all of it before anybody is
 * asked to follow: it must not be the file itself.
 */
static void retire(struct mentions *m, struct manifest_file *file,
                   bool (*stays)(const struct mention *mention))
{
    size_t kept = 0;

    for (size_t i = 0; i < file->mention_count; i++) {
        struct mention *mention = file->mentions[i];

        if (!mention->linked || (stays && stays(mention)))
            continue;
        mention->retired = !mention->shadowed;
        unlink_from(m, mention);
    }
    for (size_t i = 0; i < file->mention_count; i++) {
        struct mention *mention = file->mentions[i];

        if (mention->linked) {
            file->mentions[kept++] = mention;
            continue;
        }
        if (mention->retired)
            settle(m, key_of(mention));
        free_mention(m, mention);
    }
    file->mention_count = kept;
}

void mentions_begin(struct manifest_file *file)
{
    file->pass++;
}

void mentions_end(struct mentions *m, struct manifest_file *file)
{
    file->wanted = false;
    retire(m, file, is_of_this_pass);
}

void mentions_fail(struct mentions *m, struct manifest_file *file)
{
    size_t kept = 0;

    for (size_t i = 0; i < file->mention_count; i++) {
        struct mention *mention = file->mentions[i];

        if (!mention->linked) {
            free_mention(m, mention);
            continue;
        }
        file->mentions[kept++] = mention;
        if (file->wanted && !mention->shadowed && !mention->holds)
            remove_object(m, key_of(mention));
    }
    file->mention_count = kept;
    file->wanted = false;
}

void mentions_drop(struct mentions *m, struct manifest_file *file)
{
    retire(m, file, NULL);
}

void mentions_forget(struct mentions *m, struct manifest_file *file)
{
    for (size_t i = 0; i < file->mention_count; i++)
        free_mention(m, file->mentions[i]);
    file->mention_count = 0;
}

void mentions_report(const struct mentions *m, struct manifest_file *file)
{
    problems_release(&file->duplicates);
    for (size_t i = 0; i < file->mention_count && file->shadowed > 0; i++) {
        const struct mention *mention = file->mentions[i];
        struct error text;

        if (!mention->shadowed)
            continue;
        const struct mention *last = last_of(m, key_of(mention));

        fail(&text, "%s '%s%s%s' is named again in '%s', line %zu, which counts instead",
             mention->type->kind, mention->ns, *mention->ns ? "/" : "", mention->name,
             last->file->path, last->line);
        problems_add(&file->duplicates, PROBLEM_DUPLICATE, (struct json_position){mention->line, 0},
                     text.text);
    }
}

void mentions_init(struct mentions *m, struct store *store, uint64_t seed)
{
    *m = (struct mentions){.store = store, .seed = seed, .by_object = MAP_INIT(is_mention)};
}

void mentions_release(struct mentions *m)
{
    map_release(&m->by_object);
}
