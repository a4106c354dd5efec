/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/cli/reference.h"

#include "exporter/cli/option_text.h"

enum { CELL_MAX = 4096 };

static const char head[] =
    "# Configuration\n\n"
    "Written by `karmada-policy-exporter help --output markdown`; a test fails where this file "
    "differs from what that prints.\n\n"
    "An option is a flag of the commands in its row. What has a key may also stand in the YAML "
    "file of `--config.file`, which is one mapping of such keys:\n\n"
    "```yaml\n"
    "manifests: [/etc/karmada/policies, /etc/karmada/templates]\n"
    "rules.grace: 2m\n"
    "metrics.opt-in: true\n"
    "```\n\n"
    "A flag goes before the file. An unknown flag or key, a key that occurs twice and a value "
    "that does not fit are errors, which name the line and the nearest name that exists. The "
    "file is read again on SIGHUP and by `/-/reload`; if it is wrong then, what was in force "
    "stays in force, and `karmada_policy_exporter_config_last_reload_successful` is 0.\n\n"
    "Durations are written `90s`, `1h30m` or `250ms` (units `ms`, `s`, `m`, `h`, `d`, `w`). "
    "Options without a value are switched off with `--no-` before the name, and are `true` or "
    "`false` in the file. What may be given several times is a list there.\n\n"
    "| flag | key | default | commands | what it says |\n"
    "|---|---|---|---|---|\n";

void reference_markdown(const struct verb *const *verbs, struct strbuf *out)
{
    strbuf_adds(out, head);
    for (size_t i = 0; i < OPTION_COUNT; i++) {
        const struct option_def *def = &option_defs[i];
        CLEANUP(strbuf_release) struct strbuf help = STRBUF_INIT(CELL_MAX);
        bool has_default = def->fallback && *def->fallback != '\0';
        const char *mark = has_default ? "`" : "";

        strbuf_adds(out, "| ");
        if (def->letter != '\0')
            strbuf_addf(out, "`-%c`, ", def->letter);
        strbuf_addf(out, "`--%s%s%s` | ", def->name, def->value ? " " : "",
                    def->value ? def->value : "");
        if (!def->flag_only)
            strbuf_addf(out, "`%s`", def->name);
        strbuf_addf(out, " | %s%s%s | ", mark, has_default ? def->fallback : "", mark);
        option_verbs_add(out, verbs, def->verbs);
        strbuf_adds(out, " | ");
        option_describe(&help, def, false);
        for (size_t at = 0; at < help.len; at++)
            strbuf_addf(out, "%s%c", help.data[at] == '|' ? "\\" : "", help.data[at]);
        strbuf_addf(out, "%s |\n", def->needs_restart ? "; changes with a restart only" : "");
    }
}
