/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/bench/generate.h"

#include <dirent.h>
#include <unistd.h>

#include "tests/bench/shape.h"

enum { OBJECT_MAX = 1 << 20, PATH_MAX_LEN = 4096 };
/* Policies have one of SPREAD pairs of member clusters; every third template has been applied. */
enum { SPREAD_FIRST = 10, SPREAD = 20, APPLIED_EVERY = 3 };

static unsigned namespace_of(const struct generated *g, unsigned at)
{
    return at % g->namespaces;
}

/* Returns the number, within the namespace, of the policy that selects the template. */
static unsigned group_of(const struct generated *g, unsigned at)
{
    unsigned per_namespace = g->policies / g->namespaces;

    return per_namespace ? at / g->namespaces % per_namespace : 0;
}

unsigned generated_per_policy(const struct generated *g)
{
    return g->templates / g->policies;
}

/* Returns the values of the shapes of a policy, and of the templates and bindings that it governs.
 */
static struct shape_values values_of(const struct generated *g, unsigned ns, unsigned group)
{
    unsigned policy = group * g->namespaces + ns;

    return (struct shape_values){.namespace = ns,
                                 .policy = policy,
                                 .group = group,
                                 .spread = SPREAD_FIRST + policy % SPREAD,
                                 .generation = 2,
                                 .kind = "Deployment",
                                 .lower_kind = "deployment",
                                 .api_version = "apps/v1",
                                 .cluster = "member1",
                                 .bound = g->bindings};
}

static struct shape_values numbered_values(const struct generated *g, unsigned at)
{
    struct shape_values values = values_of(g, namespace_of(g, at), group_of(g, at));

    values.number = at;
    values.version = 1000 + at;
    values.applied = at % APPLIED_EVERY == 0;
    return values;
}

static void expand_numbered(struct strbuf *out, const char *shape, const struct generated *g,
                            unsigned at)
{
    struct shape_values values = numbered_values(g, at);

    shape_expand(out, shape, &values);
}

void generate_template(struct strbuf *out, const struct generated *g, unsigned at)
{
    expand_numbered(out, "deployment", g, at);
}

void generate_policy(struct strbuf *out, const struct generated *g, unsigned at,
                     const char *member_cluster)
{
    struct shape_values values = values_of(g, namespace_of(g, at), at / g->namespaces);

    values.generation = 1;
    values.version = 1 + at;
    values.cluster = member_cluster;
    shape_expand(out, "policy", &values);
}

void generate_binding(struct strbuf *out, const struct generated *g, unsigned at)
{
    expand_numbered(out, "binding", g, at);
}

void generate_evicted_binding(struct strbuf *out, const struct generated *g, unsigned at)
{
    struct shape_values values = numbered_values(g, at);

    values.evicted = true;
    values.generation++;
    values.version += g->templates;
    shape_expand(out, "binding", &values);
}

char *generate_directory(void)
{
    char template[] = "/tmp/karmada-policy-exporter-bench-XXXXXX";

    if (!mkdtemp(template))
        abort();
    return xstrdup(template);
}

void generate_cleanup(char **directory)
{
    DIR *dir = *directory ? opendir(*directory) : NULL;
    const struct dirent *entry;

    while (dir && (entry = readdir(dir)))
        unlinkat(dirfd(dir), entry->d_name, 0);
    if (dir)
        closedir(dir);
    if (*directory)
        rmdir(*directory);
    free(*directory);
}

static FILE *create_file(const char *directory, const char *name)
{
    char path[PATH_MAX_LEN];

    snprintf(path, sizeof(path), "%s/%s", directory, name);

    FILE *file = fopen(path, "we");
    if (!file)
        abort();
    return file;
}

/* Writes the content of `object` to the file, and empties `object`. Returns the bytes written. */
static size_t flush_object(struct strbuf *object, FILE *file)
{
    size_t len = fwrite(object->data, 1, object->len, file);

    if (len != object->len)
        abort();
    strbuf_reset(object);
    return len;
}

size_t generate_list(const struct generated *g, const char *directory, const char *name)
{
    CLEANUP(strbuf_release) struct strbuf object = STRBUF_INIT(OBJECT_MAX);
    FILE *file = create_file(directory, name);
    size_t bytes = 0;

    strbuf_adds(&object, "{\"apiVersion\":\"v1\",\"items\":[");
    for (unsigned i = 0; i < g->policies; i++) {
        generate_policy(&object, g, i, "member1");
        strbuf_adds(&object, ",\n");
        bytes += flush_object(&object, file);
    }
    for (unsigned i = 0; i < g->templates; i++) {
        generate_template(&object, g, i);
        if (g->bindings) {
            strbuf_adds(&object, ",\n");
            generate_binding(&object, g, i);
        }
        strbuf_adds(&object, i + 1 < g->templates ? ",\n" : "");
        bytes += flush_object(&object, file);
    }
    strbuf_adds(&object, "],\"kind\":\"List\",\"metadata\":{\"resourceVersion\":\"\"}}\n");
    bytes += flush_object(&object, file);
    if (fclose(file) != 0)
        abort();
    return bytes;
}

void generate_file(const char *directory, const char *name, const char *text)
{
    char from[PATH_MAX_LEN];
    char to[PATH_MAX_LEN];
    FILE *file = create_file(directory, ".new");

    if (fputs(text, file) < 0 || fclose(file) != 0)
        abort();
    snprintf(from, sizeof(from), "%s/.new", directory);
    snprintf(to, sizeof(to), "%s/%s", directory, name);
    if (rename(from, to) != 0)
        abort();
}
