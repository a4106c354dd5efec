/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/rules/name_collisions.h"

#include "metrics/model/binding.h"
#include "tests/unit/suite.h"
#include "tests/unit/world.h"

enum { STEPS = 4000, NAME_ROOM = 64 };

/* Identities, some of which differ only in a part that binding names lack, such as the group. */
static const char *const versions[] = {"apps/v1", "apps/v1beta1", "example.io/v1", "v1"};
static const char *const kinds[] = {"Deployment", "deployment", "Role"};
static const char *const namespaces[] = {"default", "team"};
static const char *const names[] = {"web", "Web", "web-1", "system:web", "system.web"};

enum {
    ALL = ARRAY_LEN(versions) * ARRAY_LEN(kinds) * ARRAY_LEN(namespaces) * ARRAY_LEN(names),
};

/* All entries, whether each is in the index, and the expected answers. */
struct fixture {
    struct world w;
    struct name_collisions *collisions;
    struct entry *entries[ALL];
    bool inside[ALL];
    bool answers[ALL];
};

static void make_entries(struct fixture *f)
{
    size_t n = 0;

    for (size_t v = 0; v < ARRAY_LEN(versions); v++) {
        for (size_t k = 0; k < ARRAY_LEN(kinds); k++) {
            for (size_t s = 0; s < ARRAY_LEN(namespaces); s++) {
                for (size_t i = 0; i < ARRAY_LEN(names); i++)
                    f->entries[n++] =
                        store_find_or_add(f->w.store, &(struct identity){versions[v], kinds[k],
                                                                         namespaces[s], names[i]});
            }
        }
    }
}

static bool same_binding(const struct entry *a, const struct entry *b)
{
    CLEANUP(strbuf_release) struct strbuf left = STRBUF_INIT(NAME_ROOM);
    CLEANUP(strbuf_release) struct strbuf right = STRBUF_INIT(NAME_ROOM);

    binding_name(entry_kind(a), a->name, &left);
    binding_name(entry_kind(b), b->name, &right);
    return strcmp(entry_ns(a), entry_ns(b)) == 0 && strcmp(left.data, right.data) == 0;
}

static bool is_version_of(const struct entry *a, const struct entry *b)
{
    return strcmp(entry_type(a)->group, entry_type(b)->group) == 0 &&
           strcmp(entry_kind(a), entry_kind(b)) == 0 && strcmp(a->name, b->name) == 0;
}

static bool collides(const struct fixture *f, size_t at)
{
    for (size_t i = 0; i < ALL; i++) {
        if (f->inside[i] && same_binding(f->entries[i], f->entries[at]) &&
            !is_version_of(f->entries[i], f->entries[at]))
            return true;
    }
    return false;
}

/* Asserts the number of entries that collide with entries[at], and the first two of them. */
static void check_listed_others(const struct fixture *f, size_t at)
{
    const struct entry *first[2] = {NULL}, *named[2] = {NULL};
    size_t count = 0;

    for (size_t i = 0; i < ALL; i++) {
        const struct entry *other = f->entries[i];

        if (!f->inside[i] || !same_binding(other, f->entries[at]) ||
            is_version_of(other, f->entries[at]))
            continue;
        count++;
        if (!first[0] || entry_compare(other, first[0]) < 0) {
            first[1] = first[0];
            first[0] = other;
        } else if (!first[1] || entry_compare(other, first[1]) < 0) {
            first[1] = other;
        }
    }
    assert_int_equal(name_collisions_list_others(f->collisions, f->entries[at], named, 2), count);
    assert_ptr_equal(named[0], first[0]);
    assert_ptr_equal(named[1], first[1]);
}

static bool is_listed(const struct entry_list *list, const struct entry *entry)
{
    for (size_t i = 0; i < list->count; i++) {
        if (list->items[i] == entry)
            return true;
    }
    return false;
}

/*
 * Asserts all answers, and that `changed` lists exactly the entries with another answer than
 * before. The entry `moved`, which was added or removed, may be in `changed` or not.
 */
static void check(struct fixture *f, size_t moved, const struct entry_list *changed)
{
    for (size_t i = 0; i < ALL; i++) {
        bool expected = f->inside[i] && collides(f, i);

        if (f->inside[i])
            assert_int_equal(name_collisions_has_collision(f->collisions, f->entries[i]), expected);
        if (i != moved)
            assert_int_equal(is_listed(changed, f->entries[i]), expected != f->answers[i]);
        f->answers[i] = expected;
    }
}

TEST(any_history_agrees_with_a_scan_of_all_entries)
{
    struct fixture f = {0};
    struct entry_list changed = {0};
    size_t collided = 0;

    world_init(&f.w, &rules_options_default, 3);
    f.collisions = name_collisions_new(intern_memory(store_string_pool(f.w.store)),
                                       &collision_binding_name, 5);
    make_entries(&f);
    for (size_t step = 0; step < STEPS; step++) {
        /* Every 500 steps, alternates between a quarter of the entries and all of them. */
        size_t at = world_random(&f.w, step / 500 % 2 ? ALL : ALL / 4);

        changed.count = 0;
        if (f.inside[at])
            name_collisions_remove(f.collisions, f.entries[at], &changed);
        else
            name_collisions_add(f.collisions, f.entries[at], &changed);
        f.inside[at] = !f.inside[at];
        check(&f, at, &changed);
        if (f.inside[at])
            check_listed_others(&f, at);
        collided += f.answers[at];
    }
    assert_true(collided > 0);
    entry_list_release(&changed);
    name_collisions_free(f.collisions);
    world_release(&f.w);
}

/* Overlong names are compared by their beginning, and are removed correctly. */
TEST(overlong_names_collide_by_their_beginning)
{
    struct entry_list changed = {0};
    struct name_collisions *c;
    struct world w;
    char name[4096];

    world_init(&w, &rules_options_default, 3);
    c = name_collisions_new(intern_memory(store_string_pool(w.store)), &collision_binding_name, 5);
    memset(name, 'x', sizeof(name) - 1);
    name[sizeof(name) - 1] = '\0';

    struct entry *one =
        store_find_or_add(w.store, &(struct identity){"v1", "Secret", "default", name});
    name[sizeof(name) - 2] = 'y';
    struct entry *other =
        store_find_or_add(w.store, &(struct identity){"v1", "Secret", "default", name});
    name_collisions_add(c, one, &changed);
    name_collisions_add(c, other, &changed);
    assert_true(name_collisions_has_collision(c, one));
    name_collisions_remove(c, one, &changed);
    assert_false(name_collisions_has_collision(c, other));
    name_collisions_remove(c, other, &changed);
    name_collisions_add(c, one, &changed);
    assert_false(name_collisions_has_collision(c, one));
    entry_list_release(&changed);
    name_collisions_free(c);
    world_release(&w);
}
