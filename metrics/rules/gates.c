/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/rules/gates.h"

#include <ctype.h>

#include "metrics/base/shown.h"

enum stage { STAGE_ALPHA, STAGE_BETA, STAGE_COUNT };

static const struct {
    const char *name;
    enum stage stage;
    bool fallback;
} gates[GATE_COUNT] = {
#define GATE_ROW(id, name, stage, fallback) {name, STAGE_##stage, fallback},
    GATES(GATE_ROW)};

static const char *const all_of_stage[STAGE_COUNT] = {"AllAlpha", "AllBeta"};

struct setting {
    const char *name;
    size_t name_len;
    bool on;
};

static void trim(const char **text, size_t *len)
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

/* The words of Go's strconv.ParseBool. Returns false for any other text. */
static bool parse_boolean(const char *text, size_t len, bool *out)
{
    *out = is_one_of(text, len, "1 t T true TRUE True");
    return *out || is_one_of(text, len, "0 f F false FALSE False");
}

/* Cuts the next "Name=value" off `text`, which is not at its end. */
static bool next_setting(const char **text, struct setting *out, struct error *err)
{
    const char *setting = *text;
    size_t len = strcspn(setting, ",");
    size_t name_len = strcspn(setting, ",=");
    const char *value = setting + name_len + (name_len < len);
    size_t value_len = len - (size_t)(value - setting);

    *text += len + (setting[len] == ',');
    *out = (struct setting){.name = setting, .name_len = name_len};
    trim(&out->name, &out->name_len);
    trim(&value, &value_len);
    if (out->name_len > 0 && parse_boolean(value, value_len, &out->on))
        return true;
    return fail(err, "'%s' is not a feature gate and its value, such as '%s=true'",
                shown_part(setting, len).text, gates[GATE_PREEMPTION].name);
}

static bool is_named(const struct setting *s, const char *name)
{
    return strlen(name) == s->name_len && strncmp(name, s->name, s->name_len) == 0;
}

/* The gates that a name stands for; 0 if it stands for none. */
static gate_set gates_of(const struct setting *s, bool whole_stage)
{
    gate_set set = 0;

    for (unsigned i = 0; i < GATE_COUNT; i++) {
        const char *name = whole_stage ? all_of_stage[gates[i].stage] : gates[i].name;

        set |= (gate_set)is_named(s, name) << i;
    }
    return set;
}

const char *gate_name(enum gate gate)
{
    return gates[gate].name;
}

bool gates_parse(const char *text, gate_set *out, struct error *err)
{
    gate_set set = 0;
    gate_set named = 0;

    for (unsigned i = 0; i < GATE_COUNT; i++)
        set |= (gate_set)gates[i].fallback << i;
    /* Karmada skips empty elements. */
    for (text += strspn(text, ","); *text != '\0'; text += strspn(text, ",")) {
        struct setting s;

        if (!next_setting(&text, &s, err))
            return false;

        gate_set one = gates_of(&s, false);
        gate_set all = gates_of(&s, true) & ~named;

        named |= one;
        set = s.on ? set | one | all : set & ~(one | all);
    }
    *out = set;
    return true;
}

const char *gates_next_unknown(const char **at, size_t *len)
{
    for (*at += strspn(*at, ","); **at != '\0'; *at += strspn(*at, ",")) {
        struct setting s;
        struct error ignored;

        if (next_setting(at, &s, &ignored) && !gates_of(&s, false) && !gates_of(&s, true)) {
            *len = s.name_len;
            return s.name;
        }
    }
    return NULL;
}
