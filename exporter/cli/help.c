/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/cli/help.h"

#include <cjson/cJSON.h>
#include <curl/curl.h>
#include <microhttpd.h>
#include <yaml.h>
#include <zlib.h>

#include "exporter/text/table.h"
#include "exporter/version.h"

enum {
    FLAG_MAX = 128,
    HELP_MAX = 4096,
    HELP_WIDTH = 80, /* Also on wider terminals: long lines are hard to read. */
    HELP_INDENT = 30,
};

static size_t help_width(const struct output *o)
{
    return o->width > 0 && o->width < HELP_WIDTH ? o->width : HELP_WIDTH;
}

static void print_paragraph(struct output *o, const char *text)
{
    output_wrap(&o->text, text, 0, 0, help_width(o));
    strbuf_adds(&o->text, "\n\n");
}

static void print_option(struct output *o, const struct option_def *def)
{
    CLEANUP(strbuf_release) struct strbuf flag = STRBUF_INIT(FLAG_MAX);
    CLEANUP(strbuf_release) struct strbuf help = STRBUF_INIT(HELP_MAX);
    const char *fallback = def->fallback ? def->fallback : "";
    bool grows = option_type_grows(def->type);

    if (def->letter != '\0')
        strbuf_addf(&flag, "  -%c, ", def->letter);
    else
        strbuf_adds(&flag, "      ");
    strbuf_addf(&flag, "--%s%s%s", def->name, def->value ? " " : "", def->value ? def->value : "");
    strbuf_adds(&help, def->help);
    if (def->type == OPTION_SET) {
        strbuf_adds(&help, ": ");
        option_choices_add(&help, def->choices);
    }
    if (*fallback != '\0')
        strbuf_addf(&help, " (default %s%s", fallback, grows ? "; " : ")");
    if (grows)
        strbuf_addf(&help, "%smay be given several times)", *fallback != '\0' ? "" : " (");

    strbuf_add(&o->text, flag.data, flag.len);
    if (flag.len + 2 > HELP_INDENT)
        strbuf_addf(&o->text, "\n%*s", HELP_INDENT, "");
    else
        strbuf_addf(&o->text, "%*s", (int)(HELP_INDENT - flag.len), "");
    output_wrap(&o->text, help.data, HELP_INDENT, HELP_INDENT, help_width(o));
    strbuf_addc(&o->text, '\n');
}

static void print_heading(struct output *o, const char *text)
{
    output_styled(o, STYLE_HEADING, text);
    strbuf_addc(&o->text, '\n');
}

static void print_options(struct output *o, const char *heading, unsigned bit)
{
    print_heading(o, heading);
    for (size_t i = 0; i < OPTION_COUNT; i++) {
        if (option_defs[i].verbs & bit)
            print_option(o, &option_defs[i]);
    }
}

void help_print(const struct verb *verb, struct output *o)
{
    strbuf_addf(&o->text, "Usage: %s %s %s\n\n", EXPORTER_NAME, verb->name, verb->usage);
    print_paragraph(o, verb->details);
    if (verb->permissions) {
        print_heading(o, "Permissions");
        print_paragraph(o, verb->permissions);
    }
    print_options(o, "Flags", verb->bit);
    if (!verb->examples)
        return;
    strbuf_addc(&o->text, '\n');
    print_heading(o, "Examples");
    for (size_t i = 0; verb->examples[i]; i++)
        strbuf_addf(&o->text, "  %s %s\n", EXPORTER_NAME, verb->examples[i]);
}

void help_print_all(const struct verb *const *verbs, struct output *o)
{
    CLEANUP(table_release) struct table t = table_make(NULL, 2, 2);

    strbuf_addf(&o->text, "Usage: %s [COMMAND] [FLAGS] [ARGUMENTS]\n\n", EXPORTER_NAME);
    print_paragraph(o, "Shows where Karmada's resources do not follow their propagation policies: "
                       "as Prometheus metrics, or as a check of manifests.");
    print_heading(o, "Commands");
    for (size_t i = 0; verbs[i]; i++) {
        table_add(&t, STYLE_PLAIN, verbs[i]->name);
        table_addf(&t, STYLE_PLAIN, "%s%s", verbs[i]->summary, i == 0 ? " (the default)" : "");
    }
    table_print(&t, o);
    strbuf_addc(&o->text, '\n');
    strbuf_addf(&o->text, "Each has its own flags: %s COMMAND --help\n\n", EXPORTER_NAME);
    print_options(o, "Flags of serve", VERB_SERVE);
    strbuf_addc(&o->text, '\n');
    print_heading(o, "Exit status");
    strbuf_adds(&o->text, "  0  nothing found\n"
                          "  1  findings\n"
                          "  2  a wrong command line, or input that cannot be read completely\n"
                          "  3  the source cannot be reached\n");
}

void version_print(struct output *o)
{
    strbuf_addf(&o->text, "%s, version %s (revision: %s)\n", EXPORTER_NAME, EXPORTER_VERSION,
                exporter_revision);
    strbuf_addf(&o->text, "  compiler:         %s\n", EXPORTER_COMPILER);
    strbuf_addf(&o->text, "  libmicrohttpd:    %s\n", MHD_get_version());
    strbuf_addf(&o->text, "  libcurl:          %s\n", curl_version_info(CURLVERSION_NOW)->version);
    strbuf_addf(&o->text, "  cJSON:            %s\n", cJSON_Version());
    strbuf_addf(&o->text, "  libyaml:          %s\n", yaml_get_version_string());
    strbuf_addf(&o->text, "  zlib:             %s\n", zlibVersion());
}
