/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/text/plan_upgrade_text.h"

#include "metrics/base/shown.h"

enum { INDENT = 2, TEXT_MAX_BYTES = 1 << 16 };

/* ---- release ---- */

/* Sets `err` if the release is not one of the table, for a text that release_parse() accepts. */
static bool fail_unknown(const char *typed, struct release_range nearest, struct error *err)
{
    bool early = nearest.newest < RELEASE_NEWEST;

    return fail(err, "%s is %s than %s, the %s release that this exporter knows", shown(typed).text,
                early ? "older" : "newer", release_name(nearest.newest),
                early ? "oldest" : "newest");
}

/* Returns false and sets `err` unless `present` is exactly one release, and known. */
static bool is_exact(struct release_range present, struct error *err)
{
    CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(TEXT_MAX_BYTES);

    if (present.origin == RELEASE_ASSUMED)
        return fail(err, "the present release of Karmada is not known: set --karmada.version");
    release_range_append(present, &text);
    return present.oldest == present.newest ||
           fail(err, "the control plane may run Karmada %s: set --karmada.version", text.data);
}

bool plan_upgrade_typed(struct plan *p, struct release_range present, const char *typed,
                        struct error *err)
{
    struct release_range to;
    bool known;

    if (*typed == '\0')
        return fail(err, "name a release, such as %s", release_name(RELEASE_NEWEST));
    if (!release_parse(typed, &to, &known, err))
        return false;
    if (!known)
        return fail_unknown(typed, to, err);
    if (!is_exact(present, err))
        return false;
    if (to.newest == present.newest)
        return fail(err, "the control plane runs Karmada %s already", release_name(to.newest));
    if (to.newest < present.newest)
        return fail(err, "the control plane runs Karmada %s: a plan simulates no downgrade to %s",
                    release_name(present.newest), release_name(to.newest));
    plan_upgrade(p, to.newest);
    return true;
}

/* ---- text ---- */

void plan_add_causes(const struct plan_template *t, struct strbuf *out)
{
    const char *between = "by ";

    for (unsigned i = 0; i < BEHAVIOUR_COUNT; i++) {
        if (!(t->causes >> i & 1))
            continue;
        strbuf_adds(out, between);
        behaviour_append_name(i, out);
        between = ", ";
    }
    if (t->by_restart)
        strbuf_adds(out, "by the restart of Karmada's controllers");
}

/* Prints text such as "2 templates: any_zone, since 1.18: one zone ...; before: all zones ...". */
static void print_behaviour(const struct plan_upgrade *u, enum behaviour behaviour,
                            struct output *o)
{
    CLEANUP(strbuf_release) struct strbuf line = STRBUF_INIT(TEXT_MAX_BYTES);

    strbuf_addf(&line, "%zu by ", u->templates[behaviour]);
    behaviour_append_name(behaviour, &line);
    strbuf_addf(&line, " (since %s): %s; before, %s.", release_name(behaviour_since(behaviour)),
                behaviour_text(behaviour, true), behaviour_text(behaviour, false));
    output_add_line(o, INDENT, line.data);
}

/* Prints the behaviours without an effect on a template. */
static void print_other_behaviours(const struct plan_upgrade *u, behaviour_set differing,
                                   struct output *o)
{
    CLEANUP(strbuf_release) struct strbuf line = STRBUF_INIT(TEXT_MAX_BYTES);
    size_t count = 0;

    for (unsigned i = 0; i < BEHAVIOUR_COUNT; i++) {
        if (!(differing >> i & 1) || u->templates[i] > 0)
            continue;
        strbuf_adds(&line, count++ > 0 ? ", " : "No template changes by ");
        behaviour_append_name(i, &line);
    }
    if (count == 0)
        return;
    strbuf_addc(&line, '.');
    output_add_line(o, INDENT, line.data);
}

static void print_gates(const struct plan_upgrade *u, struct output *o)
{
    CLEANUP(strbuf_release) struct strbuf line = STRBUF_INIT(TEXT_MAX_BYTES);

    for (unsigned i = 0; i < GATE_COUNT; i++) {
        if (gate_is_on(u->gates_before, i) == gate_is_on(u->gates_after, i))
            continue;
        strbuf_addf(&line, "%s%s %s", line.len > 0 ? ", " : "Feature gates: ", gate_name(i),
                    gate_is_on(u->gates_after, i) ? "is on by default" : "is off by default");
    }
    if (line.len == 0)
        return;
    strbuf_addc(&line, '.');
    output_add_line(o, INDENT, line.data);
}

void plan_print_upgrade(const struct plan_result *r, struct output *o)
{
    const struct plan_upgrade *u = &r->upgrade;
    behaviour_set differing = behaviours_that_differ(u->from, u->to);
    CLEANUP(strbuf_release) struct strbuf line = STRBUF_INIT(TEXT_MAX_BYTES);

    if (!u->planned)
        return;
    strbuf_addf(&line, "Upgrade from Karmada %s to %s: templates that change, by behaviour.",
                release_name(u->from), release_name(u->to));
    strbuf_addc(&o->text, '\n');
    output_add_line(o, 0, line.data);
    for (unsigned i = 0; i < BEHAVIOUR_COUNT; i++) {
        if (u->templates[i] > 0)
            print_behaviour(u, i, o);
    }
    if (u->restarted > 0) {
        strbuf_reset(&line);
        strbuf_addf(&line,
                    "%zu by the restart of Karmada's controllers, which applies changes that wait.",
                    u->restarted);
        output_add_line(o, INDENT, line.data);
    }
    print_other_behaviours(u, differing, o);
    print_gates(u, o);
    if (u->not_compared > 0) {
        strbuf_reset(&line);
        strbuf_addf(&line, "%zu not compared: the free capacity of the clusters decides.",
                    u->not_compared);
        output_add_line(o, INDENT, line.data);
    }
}
