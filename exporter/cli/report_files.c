/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/cli/report_files.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

/* Returns the file of a value and stores its format; NULL if the value is not FORMAT=FILE. */
static const char *parse_report(const char *value, enum output_format *format)
{
    const char *const *names = option_defs[OPTION_OF_output].choices;

    for (unsigned i = 0; i < OUTPUT_FORMAT_COUNT; i++) {
        size_t len = strlen(names[i]);

        if (findings_format_is((enum output_format)i) && strncmp(value, names[i], len) == 0 &&
            value[len] == '=' && value[len + 1] != '\0') {
            *format = (enum output_format)i;
            return value + len + 1;
        }
    }
    return NULL;
}

bool report_files_check(const struct options *o, struct error *err)
{
    const struct text_list *reports = &o->reports;
    enum output_format format;

    if (reports->count > 0 && *o->server != '\0')
        return fail(err, "--report needs the objects, which --server URL does not provide: omit "
                         "the flag, or use --kubeconfig FILE");
    for (size_t i = 0; i < reports->count; i++) {
        const char *file = parse_report(reports->items[i], &format);

        if (!file)
            return fail(err,
                        "--report: '%s' is not FORMAT=FILE with the format sarif, junit, github, "
                        "gitlab or markdown",
                        reports->items[i]);
        for (size_t k = 0; k < i; k++) {
            if (strcmp(parse_report(reports->items[k], &format), file) == 0)
                return fail(err, "--report: two reports have the file '%s'", file);
        }
    }
    return true;
}

static bool write_file(const char *path, struct output *o, struct error *err)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_NOCTTY | O_CLOEXEC, 0666);
    bool written;

    if (fd < 0)
        return fail(err, "--report: cannot write %s: %s", path, strerror(errno));
    written = output_flush(o, fd, err) || fail_in(err, "%s", path);
    if (close(fd) != 0 && written)
        return fail(err, "--report: cannot write %s: %s", path, strerror(errno));
    return written;
}

bool report_files_write(const struct text_list *reports, const struct findings *f,
                        const struct findings_end *end, struct error *err)
{
    bool all = true;

    for (size_t i = 0; i < reports->count; i++) {
        CLEANUP(output_release) struct output o;
        enum output_format format = OUTPUT_FORMAT_COUNT;
        const char *file = parse_report(reports->items[i], &format);
        struct error ignored;

        output_init(&o, -1);
        findings_write(f, format, end, &o.text);
        if (!write_file(file, &o, all ? err : &ignored))
            all = false;
    }
    return all;
}
