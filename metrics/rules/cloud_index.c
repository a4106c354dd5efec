/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/rules/cloud_index.h"

#include "metrics/base/map.h"
#include "metrics/model/store.h"

/* ---- names of assets ---- */

/* API groups of Config Connector that are named differently from the service they manage. */
static const struct service {
    const char *group;
    const char *service;
} services[] = {
    {"bigtable", "bigtableadmin"}, {"filestore", "file"},
    {"kms", "cloudkms"},           {"resourcemanager", "cloudresourcemanager"},
    {"sql", "sqladmin"},           {"vertexai", "aiplatform"},
};

static const char *const container_words[] = {
    [CONTAINER_PROJECT] = "projects",
    [CONTAINER_FOLDER] = "folders",
    [CONTAINER_ORGANIZATION] = "organizations",
};
static const char *const location_words[] = {"locations", "regions", "zones"};

/* Part of an asset name; `text` points into the name. */
struct name_piece {
    const char *text;
    size_t len;
};

static bool piece_equals(struct name_piece p, const char *text)
{
    return strlen(text) == p.len && memcmp(p.text, text, p.len) == 0;
}

/* Returns the text up to the next slash, and moves *at behind the slash; empty at the end. */
static struct name_piece take_next_piece(const char **at)
{
    struct name_piece p = {*at, strcspn(*at, "/")};

    *at += p.len;
    *at += **at == '/';
    return p;
}

/* Parsed asset name. */
struct asset_path {
    enum container_kind kind;
    struct name_piece container;
    struct name_piece location;
    struct name_piece name;
};

static void set_container_if_named(struct asset_path *out, struct name_piece word,
                                   struct name_piece value)
{
    for (size_t i = CONTAINER_PROJECT; i < ARRAY_LEN(container_words); i++) {
        if (out->kind == CONTAINER_NONE && piece_equals(word, container_words[i])) {
            out->kind = (enum container_kind)i;
            out->container = value;
        }
    }
}

/*
 * Parses an asset name: a service, then pairs such as "projects/p1"; "global" has no value. The
 * last piece is the resource's name.
 */
static struct asset_path parse_asset_name(const char *asset)
{
    const char *at = asset + (strncmp(asset, "//", 2) == 0 ? 2 : 0);
    struct asset_path path = {.kind = CONTAINER_NONE};

    take_next_piece(&at); /* Skip the service. */
    while (*at) {
        struct name_piece word = take_next_piece(&at);

        if (piece_equals(word, "global"))
            continue;

        struct name_piece value = *at ? take_next_piece(&at) : word;
        if (!*at) {
            path.name = value;
            break;
        }
        set_container_if_named(&path, word, value);
        for (size_t i = 0; i < ARRAY_LEN(location_words); i++) {
            if (piece_equals(word, location_words[i]) && !piece_equals(value, "global"))
                path.location = value;
        }
    }
    return path;
}

static const char *service_of_group(struct name_piece group, size_t *len)
{
    for (size_t i = 0; i < ARRAY_LEN(services); i++) {
        if (piece_equals(group, services[i].group)) {
            *len = strlen(services[i].service);
            return services[i].service;
        }
    }
    *len = group.len;
    return group.text;
}

/* Skips the prefix "Global" or "Region" of a type: Config Connector has one kind for both. */
static const char *skip_scope_prefix(const char *type)
{
    static const char *const scopes[] = {"Global", "Region"};

    for (size_t i = 0; i < ARRAY_LEN(scopes); i++) {
        size_t len = strlen(scopes[i]);

        if (strncmp(type, scopes[i], len) == 0 && type[len])
            return type + len;
    }
    return type;
}

/*
 * Returns true if the asset type belongs to the kind: "pubsub.googleapis.com/Topic" belongs to
 * PubSubTopic in the group pubsub.cnrm.cloud.google.com.
 */
static bool asset_type_belongs_to(const char *asset_type, const struct type *type)
{
    struct name_piece group = {type->group, strcspn(type->group, ".")};
    const char *slash = strchr(asset_type, '/');
    const char *kind = type->kind;
    size_t len;
    const char *service = service_of_group(group, &len);

    if (!slash || strncmp(asset_type, service, len) != 0 || asset_type[len] != '.')
        return false;
    /* Most kinds begin with the name of their group. */
    if (strncasecmp(kind, group.text, group.len) == 0 && kind[group.len])
        kind += group.len;
    return strcmp(skip_scope_prefix(slash + 1), skip_scope_prefix(kind)) == 0;
}

bool cloud_asset_is_resource(const char *asset, const char *asset_type,
                             const struct entry *template,
                             const struct connector_identity *identity)
{
    const struct container *container = &identity->container;
    struct asset_path path;

    if (identity->unclear || !asset_type ||
        !asset_type_belongs_to(asset_type, entry_type(template)))
        return false;
    path = parse_asset_name(asset);
    if (path.name.len == 0 || !piece_equals(path.name, identity->name))
        return false;
    if (path.location.len > 0 &&
        (!identity->location || !piece_equals(path.location, identity->location)))
        return false;
    /* A resource of CONTAINER_NONE, such as a bucket, has no project in its asset name. */
    return path.kind == container->kind &&
           (path.kind == CONTAINER_NONE || piece_equals(path.container, container->id));
}

uint64_t cloud_asset_hash(const char *asset, uint64_t seed)
{
    struct asset_path path = parse_asset_name(asset);

    return map_hash(
        path.name.text ? path.name.text : "", path.name.len,
        map_hash(path.container.text ? path.container.text : "", path.container.len, seed));
}

uint64_t cloud_identity_hash(const struct connector_identity *identity, uint64_t seed)
{
    const char *container = identity->container.id ? identity->container.id : "";

    return map_hash(identity->name, strlen(identity->name),
                    map_hash(container, strlen(container), seed));
}

/* ---- the index ---- */

/* Element of a list of entries with the same hash; most lists have one element. */
struct hash_cell {
    struct entry *entry;
    struct hash_cell *next;
};

struct cloud_index {
    struct map leases;    /* First cell of each list, by cloud_asset_hash(). */
    struct map resources; /* First cell of each list, by cloud_identity_hash(). */
    uint64_t seed;
};

/* Callback of both maps: the hash alone is the key of a list, whose cells may differ in names. */
static bool is_any_item(const void *item, const void *key)
{
    (void)item;
    (void)key;
    return true;
}

struct cloud_index *cloud_index_new(uint64_t seed)
{
    struct cloud_index *x = xcalloc(1, sizeof(*x));

    x->leases = x->resources = MAP_INIT(is_any_item);
    x->seed = seed;
    return x;
}

static void free_all_cells(struct map *m)
{
    struct hash_cell *first;

    for (size_t at = 0; (first = map_next(m, &at)) != NULL;) {
        for (struct hash_cell *cell = first, *next; cell; cell = next) {
            next = cell->next;
            free(cell);
        }
    }
    map_release(m);
}

void cloud_index_free(struct cloud_index *x)
{
    if (!x)
        return;
    free_all_cells(&x->leases);
    free_all_cells(&x->resources);
    free(x);
}

static void add_cell_of_entry(struct map *m, uint64_t hash, struct entry *entry)
{
    struct hash_cell *first = map_get(m, hash, NULL);
    struct hash_cell *cell = xmalloc(sizeof(*cell));

    *cell = (struct hash_cell){entry, NULL};
    if (first) {
        cell->next = first->next;
        first->next = cell;
    } else {
        map_add(m, hash, cell);
    }
}

static void remove_cell_of_entry(struct map *m, uint64_t hash, const struct entry *entry)
{
    struct hash_cell *first = map_take(m, hash, NULL);
    struct hash_cell **at = &first;

    while (*at && (*at)->entry != entry)
        at = &(*at)->next;
    struct hash_cell *found = *at;
    if (found)
        *at = found->next;
    free(found);
    if (first)
        map_add(m, hash, first);
}

void cloud_index_add_lease(struct cloud_index *x, struct entry *lease)
{
    add_cell_of_entry(&x->leases, cloud_asset_hash(lease->name, x->seed), lease);
}

void cloud_index_remove_lease(struct cloud_index *x, struct entry *lease)
{
    remove_cell_of_entry(&x->leases, cloud_asset_hash(lease->name, x->seed), lease);
}

void cloud_index_add_resource(struct cloud_index *x, struct entry *template,
                              const struct connector_identity *identity)
{
    add_cell_of_entry(&x->resources, cloud_identity_hash(identity, x->seed), template);
}

void cloud_index_remove_resource(struct cloud_index *x, struct entry *template,
                                 const struct connector_identity *identity)
{
    remove_cell_of_entry(&x->resources, cloud_identity_hash(identity, x->seed), template);
}

struct entry *cloud_index_find_lease(const struct cloud_index *x, const struct entry *template,
                                     const struct connector_identity *identity)
{
    const struct hash_cell *cell =
        map_get(&x->leases, cloud_identity_hash(identity, x->seed), NULL);
    struct entry *first = NULL;

    for (; cell; cell = cell->next) {
        const struct lease *lease = entry_lease(cell->entry);

        if (lease &&
            cloud_asset_is_resource(cell->entry->name, lease->asset_type, template, identity) &&
            (!first || strcmp(cell->entry->name, first->name) < 0))
            first = cell->entry;
    }
    return first;
}

void cloud_index_list_resources(const struct cloud_index *x, const struct entry *lease,
                                struct entry_list *out)
{
    const struct hash_cell *cell =
        map_get(&x->resources, cloud_asset_hash(lease->name, x->seed), NULL);

    for (; cell; cell = cell->next)
        entry_list_add(out, cell->entry);
}
