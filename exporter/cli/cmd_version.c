/* SPDX-License-Identifier: Apache-2.0 */

#include <cjson/cJSON.h>
#include <curl/curl.h>
#include <microhttpd.h>
#include <yaml.h>
#include <zlib.h>

#include "exporter/cli/command.h"
#include "exporter/version.h"

/* The first line has the format of the exporters of the Prometheus project. */
static enum exit_status run_version(struct invocation *invocation)
{
    CLEANUP(output_release) struct output o;

    output_init(&o, invocation->out);
    strbuf_addf(&o.text, "%s, version %s (revision: %s)\n", EXPORTER_NAME, EXPORTER_VERSION,
                exporter_revision);
    strbuf_addf(&o.text, "  compiler:         %s\n", EXPORTER_COMPILER);
    strbuf_addf(&o.text, "  libmicrohttpd:    %s\n", MHD_get_version());
    strbuf_addf(&o.text, "  libcurl:          %s\n", curl_version_info(CURLVERSION_NOW)->version);
    strbuf_addf(&o.text, "  cJSON:            %s\n", cJSON_Version());
    strbuf_addf(&o.text, "  libyaml:          %s\n", yaml_get_version_string());
    strbuf_addf(&o.text, "  zlib:             %s\n", zlibVersion());
    return invocation_print_output(invocation, &o, STATUS_OK);
}

const struct command version_command = {
    .name = "version",
    .usage = "",
    .summary = "print the version and the build",
    .details = "Prints the version, the commit, the compiler and the libraries, as --version does.",
    .bit = COMMAND_VERSION,
    .run = run_version,
};
