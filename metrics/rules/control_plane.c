/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/rules/control_plane.h"

#include <ctype.h>

#include "metrics/base/shown.h"
#include "metrics/model/template.h"

enum { NUMBER_DIGITS_MAX = 4 };

/* ---- release ---- */

/* Reads a number of up to NUMBER_DIGITS_MAX digits. Returns the text behind it, or NULL. */
static const char *parse_number(const char *text, unsigned *out)
{
    size_t digits = strspn(text, "0123456789");

    if (digits == 0 || digits > NUMBER_DIGITS_MAX)
        return NULL;
    *out = 0;
    for (size_t i = 0; i < digits; i++)
        *out = *out * 10 + (unsigned)(text[i] - '0');
    return text + digits;
}

static const char *const release_names[RELEASE_COUNT] = {
#define RELEASE_NAME(id, name) [RELEASE_##id] = (name),
    RELEASES(RELEASE_NAME)};

const char *release_name(enum release release)
{
    return release_names[release];
}

enum { OLDEST_MINOR = 13, NEWEST_MINOR = 19 };

/* Returns the row of the table for a version; `suffix` is the text behind the minor number. */
static enum release nearest_release(unsigned major, unsigned minor, const char *suffix)
{
    if (major > 1 || minor > NEWEST_MINOR)
        return RELEASE_NEWEST;
    if (minor < OLDEST_MINOR)
        return RELEASE_1_13;
    if (minor == NEWEST_MINOR)
        return strchr(suffix, '-') ? RELEASE_1_19_RC : RELEASE_1_19;
    return (enum release)(RELEASE_1_13 + (minor - OLDEST_MINOR));
}

bool release_parse(const char *text, struct release_range *out, bool *known, struct error *err)
{
    unsigned major = 0, minor = 0;
    const char *at = text + (*text == 'v');

    *known = true;
    *out = (struct release_range){RELEASE_NEWEST, RELEASE_NEWEST, RELEASE_ASSUMED, false};
    if (!*text)
        return true;
    at = parse_number(at, &major);
    at = at && *at == '.' ? parse_number(at + 1, &minor) : NULL;
    if (!at || major == 0 || (*at && *at != '.' && *at != '-'))
        return fail(err, "'%s' is not a release of Karmada, such as 'v1.15.2' or '1.16'",
                    shown(text).text);
    out->oldest = out->newest = nearest_release(major, minor, at);
    out->origin = RELEASE_GIVEN;
    out->lacks_exclusions = true;
    *known = major == 1 && minor >= OLDEST_MINOR && minor <= NEWEST_MINOR;
    return true;
}

static const struct {
    const char *name;
    const char *words; /* Completes "Karmada 1.18 (...)". */
} origins[RELEASE_ORIGIN_COUNT] = {
    [RELEASE_ASSUMED] = {"assumed", "assumed; set --karmada.version"},
    [RELEASE_GIVEN] = {"flag", "from --karmada.version"},
    [RELEASE_OF_SERVER] = {"server", "from the schemas of the API server"},
    [RELEASE_OF_FILES] = {"files", "from the CustomResourceDefinitions in the files"},
};

const char *release_origin_name(enum release_origin origin)
{
    return origins[origin].name;
}

void release_range_append(struct release_range range, struct strbuf *out)
{
    strbuf_adds(out, release_name(range.oldest));
    if (range.newest != range.oldest)
        strbuf_addf(out, " to %s", release_name(range.newest));
}

void release_range_describe(struct release_range range, struct strbuf *out)
{
    strbuf_adds(out, "Karmada ");
    release_range_append(range, out);
    strbuf_addf(out, " (%s)", origins[range.origin].words);
}

void release_warn_unknown(const char *text, struct release_range range, struct strbuf *out)
{
    bool early = range.newest < RELEASE_NEWEST;

    strbuf_addf(out,
                "--karmada.version: %s is %s than %s, the %s release that this exporter knows; the "
                "rules of %s apply",
                shown(text).text, early ? "older" : "newer", release_name(range.newest),
                early ? "oldest" : "newest", release_name(range.newest));
}

static const struct {
    enum release since;
    const char *now;
    const char *before;
    const char *name; /* In upper case. */
} behaviours[BEHAVIOUR_COUNT] = {
#define BEHAVIOUR_ROW(id, since, now, before)                                                      \
    [BEHAVIOUR_##id] = {RELEASE_##since, now, before, #id},
    BEHAVIOURS(BEHAVIOUR_ROW)};

/* A release of release_inverting() has 1 + the inverted behaviour above these bits. */
enum { RELEASE_BITS = 8 };

_Static_assert((unsigned)RELEASE_COUNT < 1U << RELEASE_BITS, "a release fits");

enum release release_inverting(enum release base, enum behaviour behaviour)
{
    return (enum release)((unsigned)base | (1U + (unsigned)behaviour) << RELEASE_BITS);
}

bool release_has(enum release release, enum behaviour behaviour)
{
    unsigned base = (unsigned)release & ((1U << RELEASE_BITS) - 1);
    bool has = base >= behaviours[behaviour].since;

    return (unsigned)release >> RELEASE_BITS == 1U + (unsigned)behaviour ? !has : has;
}

behaviour_set behaviours_that_differ(enum release a, enum release b)
{
    behaviour_set set = 0;

    for (unsigned i = 0; i < BEHAVIOUR_COUNT; i++) {
        if (release_has(a, i) != release_has(b, i))
            set |= UINT64_C(1) << i;
    }
    return set;
}

void behaviour_append_name(enum behaviour behaviour, struct strbuf *out)
{
    for (const char *at = behaviours[behaviour].name; *at != '\0'; at++)
        strbuf_addc(out, (char)tolower((unsigned char)*at));
}

_Static_assert((unsigned)RELEASE_COUNT <= 8 * sizeof(release_set), "a bit for each release");

release_set behaviour_releases(enum behaviour behaviour)
{
    release_set set = 0;

    for (unsigned i = 0; i < RELEASE_COUNT; i++) {
        if (release_has((enum release)i, behaviour))
            set |= (release_set)(1U << i);
    }
    return set;
}

release_set release_range_set(struct release_range range)
{
    release_set set = 0;

    for (unsigned i = range.oldest; i <= range.newest; i++)
        set |= (release_set)(1U << i);
    return set;
}

enum release_answer release_range_has(struct release_range range, enum behaviour behaviour)
{
    bool oldest = release_has(range.oldest, behaviour);

    if (oldest != release_has(range.newest, behaviour))
        return RELEASE_ANSWER_DIFFERS;
    return oldest ? RELEASE_ANSWER_YES : RELEASE_ANSWER_NO;
}

enum release_answer interprets_replicas(const char *api_version, const char *kind,
                                        struct release_range range)
{
    if (!kind_has_replicas(api_version, kind))
        return RELEASE_ANSWER_NO;
    return strcmp(kind, "ReplicaSet") == 0
               ? release_range_has(range, BEHAVIOUR_INTERPRETS_REPLICA_SETS)
               : RELEASE_ANSWER_YES;
}

enum release behaviour_since(enum behaviour behaviour)
{
    return behaviours[behaviour].since;
}

const char *behaviour_text(enum behaviour behaviour, bool has)
{
    return has ? behaviours[behaviour].now : behaviours[behaviour].before;
}

/* ---- feature gates ---- */

enum gate_stage { GATE_STAGE_ALPHA, GATE_STAGE_BETA, GATE_STAGE_COUNT };

struct gate_period {
    enum release since;
    enum gate_stage stage;
    bool default_on;
};

static const struct {
    const char *name;
    struct gate_period periods[2]; /* In order of time. */
} gates[GATE_COUNT] = {
#define GATE_ROW(id, name, since, stage, on, later, later_stage, later_on)                         \
    {(name),                                                                                       \
     {{RELEASE_##since, GATE_STAGE_##stage, (on)},                                                 \
      {RELEASE_##later, GATE_STAGE_##later_stage, (later_on)}}},
    GATES(GATE_ROW)};

/* Returns stage and default of a gate in a release; NULL if the release lacks the gate. */
static const struct gate_period *gate_period_of(enum gate gate, enum release release)
{
    const struct gate_period *periods = gates[gate].periods;

    if (release < periods[0].since)
        return NULL;
    return release < periods[1].since ? &periods[0] : &periods[1];
}

static const char *const all_of_stage[GATE_STAGE_COUNT] = {"AllAlpha", "AllBeta"};

struct setting {
    const char *name;
    size_t name_len;
    bool on;
};

static void trim_blanks(const char **text, size_t *len)
{
    while (*len > 0 && isspace((unsigned char)**text)) {
        (*text)++;
        (*len)--;
    }
    while (*len > 0 && isspace((unsigned char)(*text)[*len - 1]))
        (*len)--;
}

/* Returns true if the text is one of the words, which are separated by blanks. */
static bool is_one_of(const char *text, size_t len, const char *words)
{
    for (; *words != '\0'; words += strspn(words, " ")) {
        size_t word_len = strcspn(words, " ");

        if (word_len == len && strncmp(words, text, len) == 0)
            return true;
        words += word_len;
    }
    return false;
}

/* Accepts the words of Go's strconv.ParseBool. Returns false for any other text. */
static bool parse_boolean(const char *text, size_t len, bool *out)
{
    *out = is_one_of(text, len, "1 t T true TRUE True");
    return *out || is_one_of(text, len, "0 f F false FALSE False");
}

/* Parses "Name=value" at the start of `*text`, which is not empty, and advances `*text`. */
static bool parse_next_setting(const char **text, struct setting *out, struct error *err)
{
    const char *setting = *text;
    size_t len = strcspn(setting, ",");
    size_t name_len = strcspn(setting, ",=");
    const char *value = setting + name_len + (name_len < len);
    size_t value_len = len - (size_t)(value - setting);

    *text += len + (setting[len] == ',');
    *out = (struct setting){.name = setting, .name_len = name_len};
    trim_blanks(&out->name, &out->name_len);
    trim_blanks(&value, &value_len);
    if (out->name_len > 0 && parse_boolean(value, value_len, &out->on))
        return true;
    return fail(err, "'%s' is not a feature gate and its value, such as '%s=true'",
                shown_part(setting, len).text, gates[GATE_PREEMPTION].name);
}

static bool is_setting_of(const struct setting *s, const char *name)
{
    return strlen(name) == s->name_len && strncmp(name, s->name, s->name_len) == 0;
}

/* Returns the gate that a setting names, or GATE_COUNT. */
static enum gate gate_of_setting(const struct setting *s)
{
    unsigned at = 0;

    while (at < GATE_COUNT && !is_setting_of(s, gates[at].name))
        at++;
    return (enum gate)at;
}

/* Returns the stage that a setting names, or GATE_STAGE_COUNT. */
static enum gate_stage stage_of_setting(const struct setting *s)
{
    unsigned at = 0;

    while (at < GATE_STAGE_COUNT && !is_setting_of(s, all_of_stage[at]))
        at++;
    return (enum gate_stage)at;
}

/* Returns the gates of a release: those of one stage or, if `defaults`, those that are on. */
static gate_set gates_of_release(enum release release, enum gate_stage stage, bool defaults)
{
    gate_set set = 0;

    for (unsigned i = 0; i < GATE_COUNT; i++) {
        const struct gate_period *period = gate_period_of((enum gate)i, release);

        if (period && (defaults ? period->default_on : period->stage == stage))
            set |= (gate_set)1 << i;
    }
    return set;
}

const char *gate_name(enum gate gate)
{
    return gates[gate].name;
}

enum release gate_since(enum gate gate)
{
    return gates[gate].periods[0].since;
}

bool gates_parse(const char *text, enum release release, gate_set *out, struct error *err)
{
    gate_set set = gates_of_release(release, GATE_STAGE_COUNT, true);
    gate_set named = 0;

    /* Karmada skips empty elements. */
    for (text += strspn(text, ","); *text != '\0'; text += strspn(text, ",")) {
        struct setting s;

        if (!parse_next_setting(&text, &s, err))
            return false;

        enum gate gate = gate_of_setting(&s);
        gate_set one = gate < GATE_COUNT && gate_period_of(gate, release) ? (gate_set)1 << gate : 0;
        gate_set all = gates_of_release(release, stage_of_setting(&s), false) & ~named;

        named |= one;
        set = s.on ? set | one | all : set & ~(one | all);
    }
    *out = set;
    return true;
}

/* Advances `*at` behind the next setting that can be read. Returns false at the end. */
static bool next_setting(const char **at, struct setting *out)
{
    struct error ignored;

    for (*at += strspn(*at, ","); **at != '\0'; *at += strspn(*at, ",")) {
        if (parse_next_setting(at, out, &ignored))
            return true;
    }
    return false;
}

const char *gates_next_unknown(const char **at, size_t *len)
{
    struct setting s;

    while (next_setting(at, &s)) {
        if (gate_of_setting(&s) == GATE_COUNT && stage_of_setting(&s) == GATE_STAGE_COUNT) {
            *len = s.name_len;
            return s.name;
        }
    }
    return NULL;
}

bool gates_next_foreign(const char **at, enum release release, enum gate *out)
{
    struct setting s;

    while (next_setting(at, &s)) {
        enum gate gate = gate_of_setting(&s);

        if (gate == GATE_COUNT || gate_period_of(gate, release))
            continue;
        *out = gate;
        return true;
    }
    return false;
}

/* ---- incomplete kinds ---- */

void incomplete_init(struct incomplete *i, struct intern *strings)
{
    *i = (struct incomplete){.strings = strings};
}

static void drop_strings_of_kind(struct incomplete *i, const struct incomplete_kind *item)
{
    intern_drop(i->strings, item->api_version);
    intern_drop(i->strings, item->kind);
}

void incomplete_release(struct incomplete *i)
{
    for (size_t at = 0; at < i->count; at++)
        drop_strings_of_kind(i, &i->items[at]);
    free(i->items);
    *i = (struct incomplete){.strings = i->strings};
}

/* Returns the index of the kind; i->count if the kind is not incomplete. */
static size_t index_of_kind(const struct incomplete *i, const char *api_version, const char *kind)
{
    size_t at = 0;

    while (at < i->count && (strcmp(i->items[at].kind, kind) != 0 ||
                             strcmp(i->items[at].api_version, api_version) != 0))
        at++;
    return at;
}

bool incomplete_set(struct incomplete *i, const char *api_version, const char *kind,
                    bool incomplete)
{
    size_t at = index_of_kind(i, api_version, kind);

    if (incomplete == (at < i->count))
        return false;
    if (incomplete) {
        i->items = xreallocarray(i->items, i->count + 1, sizeof(*i->items));
        i->items[i->count++] = (struct incomplete_kind){intern_add(i->strings, api_version),
                                                        intern_add(i->strings, kind)};
    } else {
        drop_strings_of_kind(i, &i->items[at]);
        i->items[at] = i->items[--i->count];
    }
    return true;
}

bool incomplete_has(const struct incomplete *i, const char *api_version, const char *kind)
{
    return index_of_kind(i, api_version, kind) < i->count;
}

bool incomplete_has_type(const struct incomplete *i, const struct type *type)
{
    size_t at = 0;

    while (at < i->count &&
           (i->items[at].kind != type->kind || i->items[at].api_version != type->api_version))
        at++;
    return at < i->count;
}

unsigned incomplete_classes(const struct incomplete *i)
{
    unsigned classes = 0;

    for (size_t at = 0; at < i->count; at++)
        classes |= 1u << kind_of(i->items[at].api_version, i->items[at].kind)->class;
    return classes;
}
