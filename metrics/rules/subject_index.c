/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/rules/subject_index.h"

#include "metrics/model/store.h"

static bool is_about(const void *item, const void *key)
{
    const struct subject_group *group = item;
    const struct subject *subject = key;

    return strcmp(group->subject.name, subject->name) == 0 &&
           strcmp(group->subject.ns, subject->ns) == 0 &&
           strcmp(group->subject.kind, subject->kind) == 0;
}

static uint64_t hash_of(const struct subject_index *index, const struct subject *subject)
{
    uint64_t hash = map_hash(subject->kind, strlen(subject->kind), index->seed);

    hash = map_hash(subject->ns, strlen(subject->ns), hash);
    return map_hash(subject->name, strlen(subject->name), hash);
}

void subject_index_init(struct subject_index *index, uint64_t seed)
{
    *index = (struct subject_index){.groups = MAP_INIT(is_about), .seed = seed};
}

void subject_index_release(struct subject_index *index)
{
    void *group;

    for (size_t at = 0; (group = map_next(&index->groups, &at)) != NULL;)
        free(group);
    map_release(&index->groups);
}

/* Most have one entry for each of a few clusters: room is made for little more than there is. */
static struct subject_group *with_room(struct subject_group *group, const struct subject *subject)
{
    uint32_t capacity = group ? group->capacity + group->capacity / 2 + 1 : 1;

    if (group && group->count < group->capacity)
        return group;

    struct subject_group *larger =
        xreallocarray(group, 1, sizeof(*group) + capacity * sizeof(struct entry *));

    if (!group)
        *larger = (struct subject_group){.subject = *subject};
    larger->capacity = capacity;
    return larger;
}

void subject_index_add(struct subject_index *index, const struct subject *subject,
                       struct entry *entry)
{
    uint64_t hash = hash_of(index, subject);
    struct subject_group *group = with_room(map_take(&index->groups, hash, subject), subject);
    size_t at = entry_place(group->entries, group->count, entry);

    memmove(&group->entries[at + 1], &group->entries[at],
            (group->count - at) * sizeof(struct entry *));
    group->entries[at] = entry;
    group->count++;
    map_add(&index->groups, hash, group);
}

void subject_index_remove(struct subject_index *index, const struct subject *subject,
                          struct entry *entry)
{
    uint64_t hash = hash_of(index, subject);
    struct subject_group *group = map_take(&index->groups, hash, subject);
    size_t at = group ? entry_place(group->entries, group->count, entry) : 0;

    assert(group && at < group->count && group->entries[at] == entry);
    group->count--;
    memmove(&group->entries[at], &group->entries[at + 1],
            (group->count - at) * sizeof(struct entry *));
    if (group->count > 0)
        map_add(&index->groups, hash, group);
    else
        free(group);
}

const struct subject_group *subject_index_find(const struct subject_index *index,
                                               const struct subject *subject)
{
    /* Without Works or Events, as by default, nothing is hashed for each target. */
    return index->groups.count > 0 ? map_get(&index->groups, hash_of(index, subject), subject)
                                   : NULL;
}
