/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/options/unknown_gates.h"

#include "exporter/options/nearest.h"
#include "metrics/base/shown.h"
#include "metrics/rules/control_plane.h"

/* A part of a gate's name is near: Karmada's code calls PropagationPolicyPreemption
 * PolicyPreemption. */
static const char *nearest_gate(const char *gate)
{
    const char *nearest = gate_name(0);
    size_t closest = SIZE_MAX;

    for (unsigned i = 0; i < GATE_COUNT; i++) {
        size_t distance = strcasestr(gate_name(i), gate) ? 1 : edit_distance(gate, gate_name(i));

        if (distance < closest) {
            closest = distance;
            nearest = gate_name(i);
        }
    }
    return nearest;
}

/* Returns true if the text names this unknown gate before `end`. */
static bool is_repeated(const char *gates, const char *name, size_t len)
{
    size_t other_len;
    const char *other;

    while ((other = gates_next_unknown(&gates, &other_len)) != name) {
        if (other_len == len && strncmp(other, name, len) == 0)
            return true;
    }
    return false;
}

void unknown_gates_each(const char *gates, unknown_gate_fn *report, void *context)
{
    const char *at = gates;
    const char *name;
    size_t len;

    while ((name = gates_next_unknown(&at, &len)) != NULL) {
        struct shown gate = shown_part(name, len);

        if (!is_repeated(gates, name, len))
            report(context, gate.text, nearest_gate(gate.text));
    }
}
