/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/cli/document.h"

#include "exporter/yaml/yaml_writer.h"
#include "metrics/base/json.h"

bool document_is_requested(enum output_format format)
{
    return format == OUTPUT_JSON || format == OUTPUT_YAML;
}

void document_convert(struct strbuf *text, enum output_format format)
{
    CLEANUP(strbuf_release) struct strbuf yaml = STRBUF_INIT(text->max);
    struct error err;

    if (format != OUTPUT_YAML)
        return;

    CLEANUP(json_cleanup) cJSON *tree = json_parse(text->data, text->len, NULL, &err);

    /* Only a truncated document is invalid: output_flush() then reports the overflow of `text`. */
    if (!tree)
        return;
    yaml_write(tree, &yaml);
    strbuf_reset(text);
    json_escape(text, yaml.data);
    text->full |= !strbuf_ok(&yaml);
}
