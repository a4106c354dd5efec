/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/rules/gates.h"

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

/* Cut the next "Name=value" off `text`, which is not at its end. */
static bool next_setting(const char **text, struct setting *out, struct error *err)
{
    size_t len = strcspn(*text, ",");
    size_t name_len = strcspn(*text, ",=");
    const char *value = *text + name_len + 1;
    size_t value_len = len > name_len ? len - name_len - 1 : 0;

    *out = (struct setting){*text, name_len, value_len == 4 && strncmp(value, "true", 4) == 0};
    if (!out->on && !(value_len == 5 && strncmp(value, "false", 5) == 0))
        return fail(err, "'%s' is not a feature gate and its value, such as '%s=true'",
                    shown_part(*text, len).text, gates[GATE_PREEMPTION].name);
    *text += len + ((*text)[len] == ',');
    return true;
}

bool gates_parse(const char *text, gate_set *out, struct error *err)
{
    gate_set set = 0;
    gate_set named = 0;

    for (unsigned i = 0; i < GATE_COUNT; i++)
        set |= (gate_set)gates[i].fallback << i;
    while (*text) {
        struct setting s;

        if (!next_setting(&text, &s, err))
            return false;

        gate_set one = gates_of(&s, false);
        gate_set all = gates_of(&s, true) & ~named;

        if (!one && !gates_of(&s, true))
            return fail(err, "Karmada has no feature gate '%s'",
                        shown_part(s.name, s.name_len).text);
        named |= one;
        set = s.on ? set | one | all : set & ~(one | all);
    }
    *out = set;
    return true;
}
