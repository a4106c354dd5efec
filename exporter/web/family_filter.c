/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/web/family_filter.h"

#include "exporter/options/suggest.h"
#include "metrics/expose/family.h"
#include "metrics/expose/series.h"

enum { NAMES_MAX = 100, SHOWN_MAX = 100, TEXT_MAX = 4096 };

static const char collect[] = "collect[]";
static const char exclude[] = "exclude[]";
static const char total[] = "_total";

static bool is_name_of(const struct family_def *def, const char *name)
{
    size_t len = strlen(name);

    if (strncmp(def->name, name, len) != 0)
        return false;
    return def->name[len] == '\0' ||
           (def->type == FAMILY_COUNTER && strcmp(def->name + len, total) == 0);
}

static const char *next_family(void *context)
{
    size_t *at = context;

    return *at < family_count() ? family_at((*at)++)->name : NULL;
}

/* What was typed is shown as a label would be, without what could pass for something else. */
static bool fail_unknown(const char *name, struct error *err)
{
    CLEANUP(strbuf_release) struct strbuf shown = STRBUF_INIT(TEXT_MAX);
    size_t at = 0;
    const char *nearest = nearest_name(name, next_family, &at);

    label_text_add(&shown, name);
    if (shown.len > SHOWN_MAX)
        return fail(err, "no metric family has a name that long");
    return fail(err, "there is no metric family \"%s\"%s%s%s", shown.data,
                nearest ? ": did you mean \"" : "", nearest ? nearest : "", nearest ? "\"?" : "");
}

static bool add_name(struct family_filter *f, bool excludes, const char *name, struct error *err)
{
    size_t index = 0;

    if (f->count > 0 && f->excludes != excludes)
        return fail(err, "%s and %s cannot be combined", collect, exclude);
    f->excludes = excludes;
    if (++f->count > NAMES_MAX)
        return fail(err, "more than %d metric families are named", NAMES_MAX);
    while (index < family_count() && !is_name_of(family_at(index), name))
        index++;
    if (index == family_count())
        return fail_unknown(name, err);
    if (!f->named)
        f->named = xcalloc(family_count(), sizeof(*f->named));
    f->named[index] = true;
    return true;
}

struct filter_reading {
    struct family_filter *filter;
    struct error *err;
    bool failed;
};

static enum MHD_Result read_parameter(void *context, enum MHD_ValueKind kind, const char *name,
                                      const char *value)
{
    struct filter_reading *r = context;
    bool excludes = strcmp(name, exclude) == 0;

    (void)kind;
    if (!excludes && strcmp(name, collect) != 0)
        return MHD_YES;
    r->failed = !add_name(r->filter, excludes, value ? value : "", r->err);
    return r->failed ? MHD_NO : MHD_YES;
}

bool family_filter_read(struct MHD_Connection *connection, struct family_filter *out,
                        struct error *err)
{
    struct filter_reading reading = {.filter = out, .err = err};

    *out = (struct family_filter){0};
    MHD_get_connection_values(connection, MHD_GET_ARGUMENT_KIND, read_parameter, &reading);
    return !reading.failed;
}

void family_filter_release(struct family_filter *f)
{
    free(f->named);
    *f = (struct family_filter){0};
}

bool family_filter_wants(const struct family_filter *f, size_t index)
{
    return !f->named || f->named[index] != f->excludes;
}
