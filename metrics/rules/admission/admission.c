/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/rules/admission/admission.h"

#include <math.h>

#include "metrics/base/number.h"
#include "metrics/base/shown.h"
#include "metrics/base/suggest.h"
#include "metrics/base/utf8.h"
#include "metrics/model/federated_quota.h"
#include "metrics/model/kind.h"
#include "metrics/model/metadata.h"
#include "metrics/model/override_policy.h"
#include "metrics/rules/admission/admission_place.h"

enum {
    FINDINGS_MAX = 32,     /* Listed findings; all are counted. */
    TEXTS_MAX = 64 * 1024, /* Bytes of their texts. */
    TEXTS_SHOWN = 3,       /* Findings in a sentence. */
};

#define ALL_RELEASES ((release_set)((1U << RELEASE_COUNT) - 1))

/* ---- places and findings ---- */

/* strcmp() without a call where the first characters differ. */
static int compare_names(const char *a, const char *b)
{
    return *a != *b ? (unsigned char)*a - (unsigned char)*b : strcmp(a, b);
}

/* Returns the rows of a name, if they begin at index `low`. */
static struct field_variants variants_at(const struct place *p, size_t low, const char *name)
{
    struct field_variants found = {.items = &crd_fields[p->first + low]};

    while (low + found.count < p->count && compare_names(found.items[found.count].name, name) == 0)
        found.releases |= found.items[found.count++].releases;
    return found;
}

struct field_variants place_find_fields(const struct place *p, const char *name)
{
    const struct crd_field *fields = &crd_fields[p->first];
    size_t low = 0, high = p->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (compare_names(fields[middle].name, name) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return variants_at(p, low, name);
}

/* Returns the rows for the elements of an array, which are the only rows below it. */
static struct field_variants element_variants(const struct place *p)
{
    return variants_at(p, 0, "[]");
}

/* Returns the rows for the values of a map. */
static struct field_variants find_map_values(const struct place *p)
{
    /* "{}" sorts behind all names of fields. */
    bool is_map = p->count > 0 && crd_fields[p->first + p->count - 1].name[0] == '{';

    return is_map ? place_find_fields(p, "{}") : (struct field_variants){0};
}

static struct place place_below(const struct place *p, const struct field_variants *variants,
                                const cJSON *value)
{
    return (struct place){
        .parent = p,
        .item = value,
        .value = cJSON_IsNull(value) ? NULL : value,
        .releases = p->releases & variants->releases,
        .first = variants->count > 0 ? variants->items[0].first : 0,
        .count = variants->count > 0 ? variants->items[0].count : 0,
    };
}

struct place place_member(const struct place *p, const char *name)
{
    const cJSON *item = p->value ? json_get(p->value, name) : NULL;
    struct place member = {.parent = p, .key = name, .releases = p->releases};
    struct field_variants variants;

    /* Most members are absent: the search for their fields would take half of the review. */
    if (!item)
        return member;
    variants = place_find_fields(p, name);
    member = place_below(p, &variants, item);
    member.key = name;
    if (member.releases == 0)
        member.value = NULL;
    return member;
}

struct place place_unlisted_member(const struct place *p, const char *name)
{
    const cJSON *item = json_get(p->value, name);

    return (struct place){
        .parent = p, .key = name, .item = item, .value = item, .releases = p->releases};
}

bool place_next_element(const struct place *p, struct place *element)
{
    const cJSON *item = element->item ? element->item->next : NULL;
    size_t index = element->item ? element->index + 1 : 0;
    struct field_variants variants;

    if (!element->item && cJSON_IsArray(p->value))
        item = p->value->child;
    if (!item)
        return false;
    variants = element_variants(p);
    *element = place_below(p, &variants, item);
    element->index = index;
    return true;
}

static void add_path(const struct place *p, struct strbuf *out)
{
    struct shown key;

    if (!p->parent)
        return;
    add_path(p->parent, out);
    if (!p->key) {
        strbuf_addf(out, "[%zu]", p->index);
        return;
    }
    key = shown(p->key);
    strbuf_addf(out, "%s%s", p->parent->parent ? "." : "", key.text);
}

/*
 * Adds a finding. The members `field` and `text` become pointers at the end of the review: until
 * then the texts follow each other in `texts`, each with its NUL.
 */
PRINTF_LIKE(5, 0)
static void add_finding(struct review *r, const struct place *p, release_set releases, bool pruned,
                        const char *text, va_list args)
{
    if (releases == 0)
        return;
    if (pruned)
        r->pruned |= releases;
    else
        r->refused |= releases;
    if (r->count == FINDINGS_MAX)
        return;
    if (!r->items)
        r->items = xcalloc(FINDINGS_MAX, sizeof(*r->items));
    r->items[r->count++] = (struct admission_finding){.releases = releases, .pruned = pruned};
    add_path(p, &r->texts);
    strbuf_addc(&r->texts, '\0');
    strbuf_vaddf(&r->texts, text, args);
    strbuf_addc(&r->texts, '\0');
}

void review_refuse(struct review *r, const struct place *p, release_set releases, const char *text,
                   ...)
{
    va_list args;

    va_start(args, text);
    add_finding(r, p, p->releases & releases, false, text, args);
    va_end(args);
}

static void PRINTF_LIKE(4, 5)
    add_pruned(struct review *r, const struct place *p, release_set releases, const char *text, ...)
{
    va_list args;

    va_start(args, text);
    add_finding(r, p, releases, true, text, args);
    va_end(args);
}

/* ---- schema: values ---- */

static bool is_type(const cJSON *value, enum crd_type type)
{
    switch (type) {
    case CRD_OBJECT:
        return cJSON_IsObject(value);
    case CRD_ARRAY:
        return cJSON_IsArray(value);
    case CRD_STRING:
        return cJSON_IsString(value);
    case CRD_BOOLEAN:
        return cJSON_IsBool(value);
    case CRD_INTEGER:
        return cJSON_IsNumber(value) && value->valuedouble == trunc(value->valuedouble);
    case CRD_ANY:
        return true;
    }
    abort();
}

static const char *type_text(enum crd_type type)
{
    static const char *const texts[] = {
        [CRD_OBJECT] = "an object",       [CRD_ARRAY] = "a list",
        [CRD_STRING] = "a string",        [CRD_BOOLEAN] = "true or false",
        [CRD_INTEGER] = "a whole number", [CRD_ANY] = "any value",
    };

    return texts[type];
}

/* Words of crd_limit.values: position of suggest_name() and of other loops. */
struct value_cursor {
    const char *at;
    char word[64];
};

static const char *next_value(void *context)
{
    struct value_cursor *c = context;
    size_t len = strcspn(c->at, "|");

    if (!*c->at)
        return NULL;
    snprintf(c->word, sizeof(c->word), "%.*s", (int)len, c->at);
    c->at += len + (c->at[len] == '|');
    return c->word;
}

static bool is_listed(const char *values, const char *text)
{
    size_t len = strlen(text);

    for (const char *at = values; at; at = strchr(at, '|')) {
        at += *at == '|';
        if (strncmp(at, text, len) == 0 && (at[len] == '|' || at[len] == '\0'))
            return true;
    }
    return false;
}

/* Appends "A, B or C". */
static void add_values(const char *values, struct strbuf *out)
{
    for (const char *at = values; *at;) {
        size_t len = strcspn(at, "|");
        const char *next = at + len + (at[len] == '|');

        if (at > values)
            strbuf_adds(out, *next ? ", " : " or ");
        strbuf_add(out, at, len);
        at = next;
    }
}

/* Returns the offset of the allowed value nearest to the text; SIZE_MAX if all differ much. */
static size_t nearest_value(const char *values, const char *text)
{
    struct value_cursor c = {.at = values};
    size_t best = SIZE_MAX, closest = SIZE_MAX;
    const char *at = values, *word;

    while ((word = next_value(&c))) {
        size_t distance = edit_distance(text, word);

        if (distance < closest && distance <= strlen(word) / 3 + 1) {
            closest = distance;
            best = (size_t)(at - values);
        }
        at = c.at;
    }
    return best;
}

static void refuse_value(struct review *r, const struct place *p, release_set releases,
                         const char *values)
{
    CLEANUP(strbuf_release) struct strbuf list = STRBUF_INIT(TEXTS_MAX);
    const char *text = p->value->valuestring;
    size_t nearest = nearest_value(values, text);

    add_values(values, &list);
    if (nearest == SIZE_MAX)
        review_refuse(r, p, releases, "must be %s, not \"%s\"", list.data, shown(text).text);
    else
        review_refuse(r, p, releases, "must be %s, not \"%s\" (the nearest is %.*s)", list.data,
                      shown(text).text, (int)strcspn(values + nearest, "|"), values + nearest);
}

/* Returns true if the text is a reason of an eviction task (CRD_PATTERN_REASON). */
static bool is_reason(const char *text)
{
    size_t len = strlen(text);
    const char *last = len > 0 ? text + len - 1 : text;

    if (!((*text >= 'a' && *text <= 'z') || (*text >= 'A' && *text <= 'Z')) || *last == ',' ||
        *last == ':')
        return false;
    for (const char *c = text; *c; c++) {
        if (!(*c >= 'a' && *c <= 'z') && !(*c >= 'A' && *c <= 'Z') && !(*c >= '0' && *c <= '9') &&
            !strchr("_,:", *c))
            return false;
    }
    return true;
}

static bool matches_pattern(const char *text, enum crd_pattern pattern)
{
    double amount;

    switch (pattern) {
    case CRD_PATTERN_QUANTITY:
        return parse_quantity(text, &amount);
    case CRD_PATTERN_REASON:
        return is_reason(text);
    case CRD_PATTERN_NONE:
        return true;
    }
    abort();
}

/* Refuses a string or a list that is too short or too long. */
static void check_length(struct review *r, const struct place *p, release_set releases,
                         const struct crd_limit *limit, size_t length, const char *unit)
{
    if (length < limit->min_length)
        review_refuse(r, p, releases, "must have at least %" PRIu32 " %s%s", limit->min_length,
                      unit, limit->min_length == 1 ? "" : "s");
    if (limit->max_length > 0 && length > limit->max_length)
        review_refuse(r, p, releases, "must have at most %" PRIu32 " %s%s", limit->max_length, unit,
                      limit->max_length == 1 ? "" : "s");
}

static void check_number(struct review *r, const struct place *p, const struct crd_field *field)
{
    const struct crd_limit *limit = &crd_limits[field->limit];
    double number = p->value->valuedouble;

    if (limit->has_minimum && number < limit->minimum)
        review_refuse(r, p, field->releases, "must be at least %" PRId32, limit->minimum);
    if (limit->has_maximum && number > limit->maximum)
        review_refuse(r, p, field->releases, "must be at most %" PRId32, limit->maximum);
    if (field->flags & CRD_INT32 ? number < INT32_MIN || number > INT32_MAX
                                 : fabs(number) >= 0x1p63)
        review_refuse(r, p, field->releases, "must fit in %d bits",
                      field->flags & CRD_INT32 ? 32 : 64);
}

/* Checks the value against one row of crd_fields, without the fields below. */
static void check_value(struct review *r, const struct place *p, const struct crd_field *field)
{
    const struct crd_limit *limit = &crd_limits[field->limit];
    const char *text;

    if (!p->value || !is_type(p->value, field->type)) {
        review_refuse(r, p, field->releases, "must be %s", type_text(field->type));
        return;
    }
    /* Row 0 has no limits. */
    if (field->limit == 0 && field->type != CRD_INTEGER)
        return;
    text = cJSON_GetStringValue(p->value);
    if (field->type == CRD_INTEGER)
        check_number(r, p, field);
    else if (field->type == CRD_ARRAY)
        check_length(r, p, field->releases, limit, (size_t)cJSON_GetArraySize(p->value), "element");
    else if (text && limit->values && !is_listed(limit->values, text))
        refuse_value(r, p, field->releases, limit->values);
    else if (text && !matches_pattern(text, limit->pattern))
        review_refuse(r, p, field->releases, "must not be \"%s\"", shown(text).text);
    if (text)
        check_length(r, p, field->releases, limit, utf8_count(text, strlen(text)), "character");
}

/* ---- schema: fields ---- */

/* Fields below a place that some of the releases have: position of suggest_name(). */
struct schema_cursor {
    const struct place *place;
    size_t at;
    release_set releases;
};

static const char *next_field(void *context)
{
    struct schema_cursor *c = context;

    while (c->at < c->place->count) {
        const struct crd_field *field = &crd_fields[c->place->first + c->at++];

        if (field->releases & c->releases)
            return field->name;
    }
    return NULL;
}

/*
 * Appends the path of a field of this name in the list, or in the lists below up to a depth.
 * Returns false if no list has it.
 */
static bool find_elsewhere(uint16_t first, uint16_t count, const char *name, unsigned depth,
                           struct strbuf *path)
{
    size_t len = path->len;
    struct place list = {.first = first, .count = count};

    if (place_find_fields(&list, name).count > 0) {
        strbuf_addf(path, "%s%s", len > 0 ? "." : "", name);
        return true;
    }
    for (uint16_t i = 0; depth > 0 && i < count; i++) {
        const struct crd_field *field = &crd_fields[first + i];
        bool element = strcmp(field->name, "[]") == 0;

        strbuf_addf(path, "%s%s", len > 0 && !element ? "." : "", field->name);
        if (find_elsewhere(field->first, field->count, name, depth - 1, path))
            return true;
        strbuf_cut(path, len);
    }
    return false;
}

/* Reports a field that some releases drop, with the place or the name that may be meant. */
static void prune(struct review *r, const struct place *p, release_set releases, bool known)
{
    enum { DEPTH_MAX = 6 };
    CLEANUP(strbuf_release) struct strbuf path = STRBUF_INIT(TEXTS_MAX);
    struct schema_cursor cursor = {p->parent, 0, releases};
    const char *nearest;

    if (r->count == FINDINGS_MAX) {
        r->pruned |= releases;
        return;
    }
    nearest = known ? NULL : suggest_name(p->key, next_field, &cursor);
    if (nearest) {
        add_pruned(r, p, releases, "is no field (the nearest is %s)", nearest);
        return;
    }
    for (unsigned depth = 1; !known && depth <= DEPTH_MAX; depth++) {
        if (find_elsewhere(r->kind->first, r->kind->count, p->key, depth, &path)) {
            add_pruned(r, p, releases, "is no field (there is %s)", path.data);
            return;
        }
    }
    add_pruned(r, p, releases, "is no field");
}

static void review_value(struct review *r, const struct place *p,
                         const struct field_variants *variants);

static void review_members(struct review *r, const struct place *p)
{
    struct field_variants others = find_map_values(p);
    size_t next = 0; /* Index behind the rows of the last member: members are often sorted. */
    const cJSON *member;

    cJSON_ArrayForEach (member, p->value) {
        struct field_variants variants = variants_at(p, next, member->string);
        struct place place;

        if (variants.count == 0)
            variants = place_find_fields(p, member->string);
        if (variants.count > 0)
            next = (size_t)(variants.items - &crd_fields[p->first]) + variants.count;

        if (variants.count == 0)
            variants = others;
        place = place_below(p, &variants, member);
        place.key = member->string;
        if (p->releases & (release_set)~variants.releases)
            prune(r, &place, p->releases & (release_set)~variants.releases, variants.count > 0);
        /* The API server drops a member that is null. */
        if (place.value && place.releases)
            review_value(r, &place, &variants);
    }
    for (uint16_t i = 0; i < p->count; i++) {
        const struct crd_field *field = &crd_fields[p->first + i];
        struct place place = {.parent = p, .key = field->name, .releases = p->releases};

        if ((field->flags & CRD_REQUIRED) && !json_get(p->value, field->name))
            review_refuse(r, &place, field->releases, "is required");
    }
}

static void review_value(struct review *r, const struct place *p,
                         const struct field_variants *variants)
{
    bool preserved = false;
    struct field_variants elements;
    struct place element = {0};

    for (size_t i = 0; i < variants->count; i++) {
        preserved |= variants->items[i].flags & CRD_PRESERVED;
        if (variants->items[i].releases & p->releases)
            check_value(r, p, &variants->items[i]);
    }
    /* The table has no fields below metadata, status and embedded objects, which are not checked.
     */
    if (preserved || p->count == 0)
        return;
    if (cJSON_IsObject(p->value))
        review_members(r, p);
    if (!cJSON_IsArray(p->value))
        return;
    elements = element_variants(p);
    while (place_next_element(p, &element))
        review_value(r, &element, &elements);
}

/* ---- kinds ---- */

/* Returns true for a group in which all kinds are Karmada's; `len`: length of its name. */
static bool is_reviewed_group(const char *group, size_t len)
{
    static const char suffix[] = ".karmada.io";
    const size_t suffix_len = sizeof(suffix) - 1;

    /* Objects of the group multicluster.x-k8s.io are templates. */
    if (len < suffix_len || memcmp(group + len - suffix_len, suffix, suffix_len) != 0)
        return false;
    for (size_t i = 0; i < crd_kind_count; i++) {
        if (api_group_is(group, len, crd_kinds[i].group))
            return true;
    }
    return false;
}

const struct crd_kind *admission_find_kind(const char *api_version, const char *kind)
{
    size_t len = api_group_len(api_version);

    for (size_t i = 0; i < crd_kind_count; i++) {
        if (strcmp(crd_kinds[i].kind, kind) == 0 &&
            api_group_is(api_version, len, crd_kinds[i].group) &&
            strcmp(crd_kinds[i].version, api_version + len + 1) == 0)
            return &crd_kinds[i];
    }
    return NULL;
}

static const char *next_kind(void *context)
{
    size_t *at = context;

    return *at < crd_kind_count ? crd_kinds[(*at)++].kind : NULL;
}

static void refuse_kind(struct review *r, const char *api_version, const char *kind)
{
    const struct place root = {.releases = ALL_RELEASES};
    size_t at = 0;
    const char *nearest = suggest_name(kind, next_kind, &at);

    for (size_t i = 0; nearest && i < crd_kind_count; i++) {
        if (strcmp(crd_kinds[i].kind, nearest) != 0)
            continue;
        review_refuse(r, &root, ALL_RELEASES,
                      "there is no kind %s in %s (the nearest is %s in %s/%s)", shown(kind).text,
                      shown(api_version).text, nearest, crd_kinds[i].group, crd_kinds[i].version);
        return;
    }
    review_refuse(r, &root, ALL_RELEASES, "there is no kind %s in %s", shown(kind).text,
                  shown(api_version).text);
}

/* ---- the review ---- */

/* Returns the findings in one allocation; NULL without findings. */
static struct admission *finish_review(const struct review *r)
{
    size_t items = r->count * sizeof(r->items[0]);
    struct admission *a;
    char *text;

    if (r->count == 0)
        return NULL;
    a = xmalloc(sizeof(*a) + items + r->texts.len + 1);
    *a = (struct admission){
        .refused = r->refused, .pruned = r->pruned, .refused_by_all = r->refused == ALL_RELEASES};
    text = (char *)a + sizeof(*a) + items;
    memcpy(text, r->texts.data, r->texts.len + 1);
    for (size_t i = 0; i < r->count; i++) {
        const char *end = (char *)a + sizeof(*a) + items + r->texts.len;
        struct admission_finding *f = &a->items[a->count++];

        *f = r->items[i];
        /* Texts that did not fit are empty. */
        f->field = text;
        text = text < end ? text + strlen(text) + 1 : text;
        f->text = text < end ? text : "";
        text = text < end ? text + strlen(text) + 1 : text;
    }
    return a;
}

static void review_object(struct review *r, const cJSON *object)
{
    const struct place root = {.value = object,
                               .releases = r->kind->releases,
                               .first = r->kind->first,
                               .count = r->kind->count};
    struct place spec;

    if (r->kind->releases != ALL_RELEASES) {
        const struct place all = {.releases = ALL_RELEASES};

        review_refuse(r, &all, (release_set)~r->kind->releases, "there is no kind %s in %s/%s",
                      r->kind->kind, r->kind->group, r->kind->version);
    }
    metadata_review(r, &root);
    if (strcmp(r->kind->kind, CLUSTER_KIND) == 0)
        cluster_review(r, &root);
    if (r->kind->count == 0)
        return;
    review_members(r, &root);
    spec = place_member(&root, "spec");
    webhook_review(r, &spec);
}

struct admission *admission_review(const cJSON *object)
{
    const char *api_version = json_str(object, "apiVersion", "");
    const char *kind = json_str(object, "kind", "");
    struct review r = {
        .ns = json_str(json_get(object, "metadata"), "namespace", ""),
        .texts = STRBUF_INIT(TEXTS_MAX),
    };
    struct admission *findings;

    if (!is_reviewed_group(api_version, api_group_len(api_version)))
        return NULL;
    r.kind = admission_find_kind(api_version, kind);
    if (r.kind)
        review_object(&r, object);
    else
        refuse_kind(&r, api_version, kind);
    findings = finish_review(&r);
    free(r.items);
    strbuf_release(&r.texts);
    return findings;
}

struct admission *admission_review_read(const cJSON *object)
{
    const cJSON *metadata = json_get(object, "metadata");
    struct admission *a = admission_review(object);
    uint32_t kept = 0;

    if (!a || (!*json_str(metadata, "creationTimestamp", "") && !*json_str(metadata, "uid", "")))
        return a;
    for (uint32_t i = 0; i < a->count; i++) {
        if (!a->items[i].pruned)
            a->items[kept++] = a->items[i];
    }
    a->count = kept;
    a->pruned = 0;
    a->stored = true;
    if (a->refused)
        return a;
    free(a);
    return NULL;
}

/* ---- findings ---- */

const struct admission *admission_of_entry(const struct entry *entry)
{
    if (!entry_object(entry))
        return NULL;
    switch (entry_class(entry)) {
    case CLASS_POLICY:
        return entry_policy(entry)->admission;
    case CLASS_OVERRIDE:
        return ((const struct override *)entry_object(entry))->admission;
    case CLASS_QUOTA:
        return entry_quota(entry)->admission;
    case CLASS_OTHER:
        return ((const struct other *)entry_object(entry))->admission;
    case CLASS_TEMPLATE:
    case CLASS_BINDING:
    case CLASS_CLUSTER:
    case CLASS_EVENT:
    case CLASS_WORK:
    case CLASS_LEASE:
    case CLASS_SETTING:
    case CLASS_COUNT:
        break;
    }
    return NULL;
}

static enum release_answer answer_for(release_set set, struct release_range range)
{
    release_set asked = release_range_set(range);

    if ((set & asked) == asked)
        return RELEASE_ANSWER_YES;
    return set & asked ? RELEASE_ANSWER_DIFFERS : RELEASE_ANSWER_NO;
}

enum release_answer admission_refuses(const struct admission *a, struct release_range range)
{
    return a ? answer_for(a->refused, range) : RELEASE_ANSWER_NO;
}

enum release_answer admission_keeps_out(const struct admission *a, struct release_range range)
{
    return a && !a->stored ? admission_refuses(a, range) : RELEASE_ANSWER_NO;
}

bool admission_drops_exclusions(const struct admission *a, struct release_range range)
{
    /* No release has the field, so that a policy with it has findings, unless it is stored. */
    return range.lacks_exclusions && a && !a->stored && a->pruned == ALL_RELEASES;
}

enum release_answer admission_prunes(const struct admission *a, struct release_range range)
{
    return a ? answer_for(a->pruned, range) : RELEASE_ANSWER_NO;
}

/*
 * Returns the first finding from index `at` on that applies to a release of the range, and sets
 * `at` to the index behind it; NULL without one.
 */
static const struct admission_finding *
next_finding(const struct admission *a, struct release_range range, bool pruned, uint32_t *at)
{
    release_set asked = release_range_set(range);

    while (a && *at < a->count) {
        const struct admission_finding *f = &a->items[(*at)++];

        if (f->pruned == pruned && (f->releases & asked) != 0)
            return f;
    }
    return NULL;
}

void admission_add_text(const struct admission *a, struct release_range range, bool pruned,
                        struct strbuf *out)
{
    const struct admission_finding *f;
    size_t found = 0;
    uint32_t at = 0;

    while ((f = next_finding(a, range, pruned, &at))) {
        if (found++ < TEXTS_SHOWN)
            strbuf_addf(out, "%s%s%s%s", found > 1 ? "; " : "", f->field, *f->field ? " " : "",
                        f->text);
    }
    if (found > TEXTS_SHOWN)
        strbuf_addf(out, "; and %zu more", found - TEXTS_SHOWN);
}

const char *admission_first_field(const struct admission *a, struct release_range range,
                                  bool pruned)
{
    uint32_t at = 0;
    const struct admission_finding *f = next_finding(a, range, pruned, &at);

    return f ? f->field : "";
}
