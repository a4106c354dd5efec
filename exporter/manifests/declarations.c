/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/manifests/declarations.h"

/* One document that names an object. There is one for each object: every byte counts. */
struct mention {
    struct entry *entry; /* Stays, with or without an object, as long as it is named. */
    struct manifest_file *file;
    struct mention *earlier; /* The next one in order that names the same object. */
    size_t order;            /* In the file. */
    uint32_t line;
    uint32_t pass : 27;
    bool linked : 1;   /* Reached from the entry; only then it counts at all. */
    bool shadowed : 1; /* A later one is there. */
    bool holds : 1;    /* The store's object came from here. */
    bool retired : 1;  /* It counted, until its file did not name it any more. */
    bool rejected : 1; /* The document is no valid object any more: what it was stays. */
};

enum { PASS_MASK = (1 << 27) - 1 };

static struct mention *last_of(const struct entry *entry)
{
    return entry->mention;
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

static void link_in(struct mention *mention)
{
    struct mention *at = last_of(mention->entry);

    mention->linked = true;
    if (!at || is_after(mention, at)) {
        mention->entry->mention = mention;
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

static void unlink_from(struct mention *mention)
{
    struct mention *at = last_of(mention->entry);

    set_shadowed(mention, false);
    mention->linked = false;
    if (at == mention) {
        mention->entry->mention = mention->earlier;
        if (mention->earlier)
            set_shadowed(mention->earlier, false);
        return;
    }
    while (at->earlier != mention)
        at = at->earlier;
    at->earlier = mention->earlier;
}

/* A mention went: see that the store holds what counts now, or soon will. */
static void settle(struct mentions *m, struct entry *entry)
{
    struct mention *last = last_of(entry);

    if (!last) {
        store_remove(m->store, entry);
    } else if (!last->holds) {
        last->file->wanted = true;
        m->want(m->context, last->file);
    }
}

static void free_mention(struct mentions *m, struct mention *mention)
{
    mention->entry->pins--;
    store_tidy(m->store, mention->entry);
    free(mention);
}

static struct mention *make_mention(struct mentions *m, struct manifest_file *file,
                                    const struct identity *id, struct json_place place)
{
    struct mention *mention = xcalloc(1, sizeof(*mention));

    mention->entry = store_refer(m->store, id);
    mention->entry->pins++;
    mention->file = file;
    mention->line = place.line > UINT32_MAX ? UINT32_MAX : (uint32_t)place.line;
    mention->order = place.offset;
    mention->pass = file->pass & PASS_MASK;
    return mention;
}

/* What the file said of the object in earlier passes is over; true if the store held that. */
static bool forget_earlier_passes(const struct mention *fresh)
{
    struct mention *next;
    bool held = false;

    for (struct mention *at = last_of(fresh->entry); at; at = next) {
        next = at->earlier;
        if (at->file != fresh->file || at->pass == fresh->pass)
            continue;
        held = held || at->holds;
        at->holds = false;
        unlink_from(at);
    }
    return held;
}

/* `mention` holds now: nobody else does, and who only held a past version counts no more. */
static void take_hold(struct mention *mention)
{
    struct mention *next;

    for (struct mention *at = mention->earlier; at; at = next) {
        next = at->earlier;
        if (at->holds && at->rejected)
            unlink_from(at);
        at->holds = false;
    }
    mention->holds = true;
}

/* Decode and forget: a shadowed document has to be valid too. */
static bool is_valid(struct mentions *m, const cJSON *object, const struct mention *mention,
                     struct error *err)
{
    struct decode d = {.strings = store_strings(m->store), .err = err};
    const struct entry *entry = mention->entry;
    const struct kind *row = entry->scope->type->row;
    const char *ns = entry_ns(entry);
    void *decoded = row->decode(&d, object);

    row->release(d.strings, decoded);
    return decoded ||
           fail_in(err, "%s '%s%s%s'", entry_kind(entry), ns, *ns ? "/" : "", entry->name);
}

static bool offer(struct mentions *m, struct mention *mention, const cJSON *object, bool held,
                  struct error *err)
{
    struct origin origin = {mention->file->source, mention->pass};

    if (mention->shadowed)
        return is_valid(m, object, mention, err);
    if (store_put_at(m->store, mention->entry, object, origin, err) != STORE_REJECTED) {
        take_hold(mention);
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
    bool held = forget_earlier_passes(mention);

    link_in(mention);
    bool fine = offer(m, mention, object, held, err);

    if (fine || mention->holds) {
        keep(file, mention);
        return fine;
    }
    unlink_from(mention);
    settle(m, mention->entry);
    free_mention(m, mention);
    return false;
}

static bool is_of_this_pass(const struct mention *mention)
{
    return mention->linked && mention->pass == (mention->file->pass & PASS_MASK);
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
        unlink_from(mention);
    }
    for (size_t i = 0; i < file->mention_count; i++) {
        struct mention *mention = file->mentions[i];

        if (mention->linked) {
            file->mentions[kept++] = mention;
            continue;
        }
        if (mention->retired)
            settle(m, mention->entry);
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
            store_remove(m->store, mention->entry);
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

void mentions_report(struct manifest_file *file)
{
    problems_release(&file->duplicates);
    for (size_t i = 0; i < file->mention_count && file->shadowed > 0; i++) {
        const struct mention *mention = file->mentions[i];
        struct error text;

        if (!mention->shadowed)
            continue;
        const struct mention *last = last_of(mention->entry);
        const char *ns = entry_ns(mention->entry);

        fail(&text, "%s '%s%s%s' is named again in '%s', line %" PRIu32 ", which counts instead",
             entry_kind(mention->entry), ns, *ns ? "/" : "", mention->entry->name, last->file->path,
             last->line);
        problems_add(&file->duplicates, PROBLEM_DUPLICATE, (struct json_position){mention->line, 0},
                     text.text);
    }
}
