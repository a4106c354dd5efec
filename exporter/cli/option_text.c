/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/cli/option_text.h"

void option_describe(struct strbuf *out, const struct option_def *def, bool with_default)
{
    bool has_default = with_default && def->fallback && *def->fallback != '\0';
    bool grows = option_type_grows(def->type);

    strbuf_adds(out, def->help);
    if (def->type == OPTION_SET) {
        strbuf_adds(out, ": ");
        option_choices_add(out, def->choices);
    }
    if (has_default)
        strbuf_addf(out, " (default %s%s", def->fallback, grows ? "; " : ")");
    if (grows)
        strbuf_addf(out, "%smay be given several times)", has_default ? "" : " (");
}

void option_verbs_add(struct strbuf *out, const struct verb *const *verbs, unsigned bits)
{
    const char *between = "";

    if (bits == VERB_ALL) {
        strbuf_adds(out, "all");
        return;
    }
    for (size_t i = 0; verbs[i]; i++) {
        if (!(verbs[i]->bit & bits))
            continue;
        strbuf_addf(out, "%s%s", between, verbs[i]->name);
        between = ", ";
    }
}
