/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/files/manifest_source.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include "metrics/model/store.h"
#include "metrics/model/template.h"
#include "tests/unit/folder.h"
#include "tests/unit/suite.h"

/* Limit of waits for events. inotify queues events before a write returns, so waits are short. */
enum { EVENT_WAIT_MS = 20000 };

/* test_manifest_source_reader.c runs the same tests with a file reader. */
#ifndef WITH_READER
#define WITH_READER false
#endif

struct fixture {
    char *folder;
    char *paths[3];
    struct store *store;
    struct manifests *manifests;
    struct file_reader *reader; /* NULL unless WITH_READER. */
    int fd;
};

static int set_up(void **state)
{
    struct fixture *p = xcalloc(1, sizeof(*p));

    p->folder = folder_make();
    p->store = store_new(1);
    *state = p;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *p = *state;

    manifests_free(p->manifests);
    assert_true(file_reader_free(p->reader));
    store_free(p->store);
    for (size_t i = 0; i < ARRAY_LEN(p->paths); i++)
        free(p->paths[i]);
    folder_remove(p->folder);
    free(p);
    return 0;
}

static int compare_lines(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Appends "name=replicas " for each object of the store, sorted; -1 without replicas. */
static void dump_store(const struct store *store, struct strbuf *out)
{
    char *lines[4096];
    size_t count = 0;

    for (const struct type *type = store_first_type(store); type; type = type->next) {
        for (const struct partition *partition = type->partitions; partition;
             partition = partition->next_of_type) {
            for (size_t i = 0; i < partition->count && count < ARRAY_LEN(lines); i++) {
                const struct entry *entry = partition_entry(partition, i);
                char line[256];

                if (!entry_exists(entry))
                    continue;
                int replicas = -1;
                if (entry_class(entry) == CLASS_TEMPLATE)
                    replicas = template_replicas(entry_template(entry));
                snprintf(line, sizeof(line), "%s=%d ", entry->name, replicas);
                lines[count++] = xstrdup(line);
            }
        }
    }
    if (count > 0)
        qsort(lines, count, sizeof(char *), compare_lines);
    for (size_t i = 0; i < count; i++) {
        strbuf_adds(out, lines[i]);
        free(lines[i]);
    }
}

static const char *short_path(const struct fixture *p, const char *path)
{
    size_t len = strlen(p->folder);

    return strncmp(path, p->folder, len) == 0 && path[len] == '/' ? path + len + 1 : path;
}

/* Appends "kind path:line " for each problem, in the order of the source. */
static void dump_problems(const struct fixture *p, const struct manifests *m, struct strbuf *out)
{
    for (size_t i = 0; i < manifests_problem_count(m); i++) {
        struct manifest_problem problem = manifests_problem(m, i);

        strbuf_addf(out, "%s %s:%zu ", problem_kind_name(problem.kind), short_path(p, problem.path),
                    problem.line);
    }
}

static void assert_content(struct fixture *p, const char *objects, const char *problems)
{
    CLEANUP(strbuf_release) struct strbuf got = STRBUF_INIT(1 << 20);

    dump_store(p->store, &got);
    assert_string_equal(got.data, objects);
    strbuf_reset(&got);
    dump_problems(p, p->manifests, &got);
    assert_string_equal(got.data, problems);
}

static void assert_text(struct fixture *p, size_t i, const char *wanted)
{
    assert_true(i < manifests_problem_count(p->manifests));
    const char *text = manifests_problem(p->manifests, i).text;

    if (!strstr(text, wanted))
        fail_msg("wanted '%s' in '%s'", wanted, text);
}

/* If WITH_READER, creates a file reader, whose jobs then read the files. */
static void set_reader(struct fixture *p)
{
    struct error err;

    if (!WITH_READER)
        return;
    p->reader = file_reader_new(&err);
    assert_non_null(p->reader);
    manifests_set_reader(p->manifests, p->reader);
}

/*
 * Returns the result of one pump. With a file reader, waits up to 1 ms for a result of the reader
 * if the source waits for one.
 */
static bool pump(const struct fixture *p, unsigned slice_ms)
{
    struct error err;
    bool moved = manifests_pump(p->manifests, slice_ms);

    if (p->reader) {
        file_reader_handle_event(p->reader);
        if (manifests_due(p->manifests) > 0 &&
            manifests_state(p->manifests, &err) == MANIFESTS_BUSY)
            file_reader_wait(p->reader, 1);
    }
    return moved;
}

static bool is_busy(const struct fixture *p)
{
    struct error err;

    return p->reader ? manifests_state(p->manifests, &err) == MANIFESTS_BUSY
                     : manifests_busy(p->manifests);
}

static bool load(const struct fixture *p, struct error *err)
{
    if (!p->reader)
        return manifests_load(p->manifests, err);
    manifests_start_reading(p->manifests);
    while (is_busy(p))
        pump(p, 5);
    return manifests_state(p->manifests, err) == MANIFESTS_READ;
}

static void start_limited(struct fixture *p, const char *path, const char *second,
                          const struct manifest_limits *limits)
{
    const char *paths[2];
    struct error err;

    p->paths[0] = *path ? folder_path(p->folder, path) : xstrdup(p->folder);
    p->paths[1] = second ? folder_path(p->folder, second) : NULL;
    for (size_t i = 0; i < 2; i++)
        paths[i] = p->paths[i];
    p->manifests = manifests_new(p->store, paths, second ? 2 : 1, "default", limits);
    set_reader(p);
    p->fd = manifests_watch(p->manifests, &err);
    assert_true(p->fd >= 0);
    assert_true(load(p, &err));
}

static void start(struct fixture *p, const char *path, const char *second)
{
    start_limited(p, path, second, &manifest_limits_default);
}

static bool has_events(const struct fixture *p, int wait_ms)
{
    struct pollfd fd = {.fd = p->fd, .events = POLLIN};

    return poll(&fd, 1, wait_ms) == 1;
}

/* Waits for an event, then pumps until all changes are read. */
static void read_changes(struct fixture *p)
{
    assert_true(has_events(p, EVENT_WAIT_MS));
    do {
        pump(p, 5);
    } while (is_busy(p) || has_events(p, 0));
}

static void add_deployment(struct strbuf *out, const char *name, unsigned replicas)
{
    strbuf_addf(out,
                "---\napiVersion: apps/v1\nkind: Deployment\n"
                "metadata: {name: %s, namespace: default}\nspec: {replicas: %u}\n",
                name, replicas);
}

/* Writes Deployments to a file: "a1 b2" is a with one replica and b with two. */
static void write_deployments(struct fixture *p, const char *file, const char *objects)
{
    CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(1 << 20);

    for (; *objects; objects++) {
        if (*objects == ' ')
            continue;
        char name[2] = {*objects++, '\0'};
        add_deployment(&text, name, (unsigned)(*objects - '0'));
    }
    folder_write(p->folder, file, text.data);
}

TEST_WITH(documents_of_yaml_and_json_become_objects, set_up, tear_down)
{
    struct fixture *p = *state;

    write_deployments(p, "a.yaml", "a1 b2");
    folder_write(p->folder, "b.json",
                 "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"c\"}}");
    start(p, "", NULL);
    assert_content(p, "a=1 b=2 c=-1 ", "");
    assert_int_equal(manifests_file_count(p->manifests), 2);
    assert_int_equal(manifests_broken_file_count(p->manifests), 0);
    assert_false(manifests_busy(p->manifests));
}

TEST_WITH(yaml_lists_are_flattened, set_up, tear_down)
{
    struct fixture *p = *state;

    folder_write(p->folder, "a.yaml",
                 "apiVersion: v1\nkind: List\nitems:\n"
                 "- apiVersion: v1\n  kind: ConfigMap\n  metadata: {name: c}\n"
                 "- apiVersion: apps/v1\n  kind: DeploymentList\n  items:\n"
                 "  - metadata: {name: d}\n    spec: {replicas: 3}\n"
                 "- nothing: here\n"
                 "- apiVersion: v1\n  kind: ConfigMap\n");
    start(p, "", NULL);
    assert_content(p, "c=-1 d=3 ", "rejected a.yaml:12 rejected a.yaml:13 ");
}

TEST_WITH(skipped_and_rejected_documents_are_distinguished, set_up, tear_down)
{
    struct fixture *p = *state;

    folder_write(p->folder, "a.yaml",
                 "replicaCount: 1\n---\napiVersion: v1\nmetadata: {name: x}\n---\n"
                 "kind: ConfigMap\nmetadata: {name: x}\n---\n"
                 "apiVersion: v1\nkind: ConfigMap\nmetadata: {}\n---\n"
                 "- a list\n---\njust text\n---\n"
                 "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: fine}\n");
    start(p, "", NULL);
    assert_content(p, "fine=-1 ",
                   "skipped a.yaml:1 rejected a.yaml:3 rejected a.yaml:6 rejected a.yaml:9 "
                   "skipped a.yaml:13 skipped a.yaml:15 ");
    assert_text(p, 1, "no kind");
    assert_text(p, 2, "no apiVersion");
    assert_text(p, 3, "no metadata.name");
    assert_int_equal(manifests_broken_file_count(p->manifests), 1);
}

TEST_WITH(an_unquoted_boolean_or_number_as_name_is_rejected, set_up, tear_down)
{
    struct fixture *p = *state;

    folder_write(p->folder, "a.yaml",
                 "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: y}\n---\n"
                 "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: 12}\n---\n"
                 "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: 'y'}\n");
    start(p, "", NULL);
    assert_content(p, "y=-1 ", "rejected a.yaml:1 rejected a.yaml:5 ");
    assert_text(p, 0, "metadata.name is a boolean: put it in quotes");
    assert_text(p, 1, "metadata.name is a number: put it in quotes");
}

TEST_WITH(skipped_files_are_not_broken, set_up, tear_down)
{
    struct fixture *p = *state;

    folder_write(p->folder, "values.yaml", "replicaCount: 1\n");
    start(p, "", NULL);
    assert_content(p, "", "skipped values.yaml:1 ");
    assert_int_equal(manifests_broken_file_count(p->manifests), 0);
}

TEST_WITH(problems_above_the_limit_are_counted, set_up, tear_down)
{
    struct fixture *p = *state;
    CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(1 << 20);

    for (unsigned i = 0; i < 150; i++)
        strbuf_adds(&text, "---\nkind: ConfigMap\nmetadata: {name: a}\n---\na: 1\n");
    folder_write(p->folder, "a.yaml", text.data);
    start(p, "", NULL);
    assert_int_equal(manifests_problem_count(p->manifests), 202);
    assert_text(p, 200, "and 50 more");
    assert_text(p, 201, "and 50 more");
    assert_int_equal(manifests_skipped_count(p->manifests, SKIPPED_OTHER_YAML), 150);
}

TEST_WITH(a_malformed_file_keeps_its_objects, set_up, tear_down)
{
    struct fixture *p = *state;

    write_deployments(p, "a.yaml", "a1 b1");
    write_deployments(p, "b.yaml", "c1");
    start(p, "", NULL);
    folder_write(p->folder, "a.yaml",
                 "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a, namespace: default}\n"
                 "spec: {replicas: 9}\n---\nx: [1\n");
    read_changes(p);
    assert_content(p, "a=1 b=1 c=1 ", "malformed a.yaml:7 ");
    assert_int_equal(manifests_broken_file_count(p->manifests), 1);
    /* Other files are still read. */
    write_deployments(p, "b.yaml", "c2");
    read_changes(p);
    assert_content(p, "a=1 b=1 c=2 ", "malformed a.yaml:7 ");
    write_deployments(p, "a.yaml", "a3");
    read_changes(p);
    assert_content(p, "a=3 c=2 ", "");
}

TEST_WITH(a_file_that_was_never_valid_gives_no_objects, set_up, tear_down)
{
    struct fixture *p = *state;

    folder_write(p->folder, "a.yaml",
                 "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\n--- [");
    start(p, "", NULL);
    assert_content(p, "", "malformed a.yaml:5 ");
    assert_int_equal(manifests_problem(p->manifests, 0).column, 1);
}

TEST_WITH(malformed_json_keeps_objects_behind_the_error, set_up, tear_down)
{
    struct fixture *p = *state;
    static const char good[] =
        "{\"kind\":\"List\",\"items\":[\n"
        "{\"apiVersion\":\"apps/v1\",\"kind\":\"Deployment\",\"metadata\":{\"name\":\"a\"}},\n"
        "{\"apiVersion\":\"apps/v1\",\"kind\":\"Deployment\",\"metadata\":{\"name\":\"b\"}}]}";

    folder_write(p->folder, "a.json", good);
    start(p, "", NULL);
    assert_content(p, "a=-1 b=-1 ", "");
    folder_write(
        p->folder, "a.json",
        "{\"apiVersion\":\"apps/v1\",\"kind\":\"Deployment\",\"metadata\":{\"name\":\"c\"}}\n"
        "{\"a\": x}");
    read_changes(p);
    assert_content(p, "a=-1 b=-1 c=-1 ", "malformed a.json:2 ");
    assert_int_equal(manifests_problem(p->manifests, 0).column, 7);
    folder_write(p->folder, "a.json", good);
    read_changes(p);
    assert_content(p, "a=-1 b=-1 ", "");
}

/* The store rejects this policy because its placement is not an object. */
static const char bad_policy[] = "apiVersion: policy.karmada.io/v1alpha1\n"
                                 "kind: PropagationPolicy\n"
                                 "metadata: {name: p, namespace: default}\n"
                                 "spec: {placement: 7}\n";
static const char good_policy[] =
    "apiVersion: policy.karmada.io/v1alpha1\n"
    "kind: PropagationPolicy\n"
    "metadata: {name: p, namespace: default}\n"
    "spec: {resourceSelectors: [{apiVersion: apps/v1, kind: Deployment}]}\n";

TEST_WITH(a_rejected_document_keeps_its_last_valid_version, set_up, tear_down)
{
    struct fixture *p = *state;
    CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(1 << 20);

    folder_write(p->folder, "a.yaml", good_policy);
    start(p, "", NULL);
    assert_content(p, "p=-1 ", "");
    strbuf_adds(&text, bad_policy);
    add_deployment(&text, "d", 1);
    folder_write(p->folder, "a.yaml", text.data);
    read_changes(p);
    assert_content(p, "d=1 p=-1 ", "rejected a.yaml:1 ");
    assert_text(p, 0, "PropagationPolicy 'default/p'");
    folder_write(p->folder, "a.yaml", bad_policy);
    read_changes(p);
    assert_content(p, "p=-1 ", "rejected a.yaml:1 ");
    folder_write(p->folder, "a.yaml", "");
    read_changes(p);
    assert_content(p, "", "");
}

TEST_WITH(a_rejected_document_keeps_the_object_of_another_file, set_up, tear_down)
{
    struct fixture *p = *state;

    folder_write(p->folder, "a.yaml", good_policy);
    folder_write(p->folder, "b.yaml", bad_policy);
    start(p, "", NULL);
    assert_content(p, "p=-1 ", "rejected b.yaml:1 ");
    folder_unlink(p->folder, "b.yaml");
    read_changes(p);
    assert_content(p, "p=-1 ", "");
    folder_write(p->folder, "b.yaml", bad_policy);
    read_changes(p);
    folder_unlink(p->folder, "a.yaml");
    read_changes(p);
    assert_content(p, "", "rejected b.yaml:1 ");
}

TEST_WITH(the_last_of_several_duplicates_counts, set_up, tear_down)
{
    struct fixture *p = *state;

    write_deployments(p, "a.yaml", "x1 x2");
    write_deployments(p, "b.yaml", "x3");
    write_deployments(p, "c.yaml", "x4");
    start(p, "", NULL);
    assert_content(p, "x=4 ", "duplicate a.yaml:2 duplicate a.yaml:7 duplicate b.yaml:2 ");
    assert_text(p, 0, "Deployment 'default/x' is declared again in '");
    assert_text(p, 0, "/c.yaml', line 2; the exporter uses that declaration");
    assert_int_equal(manifests_broken_file_count(p->manifests), 0);
    assert_int_equal(manifests_duplicate_count(p->manifests), 3);

    /* A change of a duplicate in an earlier file does not change the store. */
    write_deployments(p, "b.yaml", "x5");
    read_changes(p);
    assert_content(p, "x=4 ", "duplicate a.yaml:2 duplicate a.yaml:7 duplicate b.yaml:2 ");

    /* Each removed document makes the document before it count again. */
    folder_unlink(p->folder, "c.yaml");
    read_changes(p);
    assert_content(p, "x=5 ", "duplicate a.yaml:2 duplicate a.yaml:7 ");
    write_deployments(p, "b.yaml", "w1");
    read_changes(p);
    assert_content(p, "w=1 x=2 ", "duplicate a.yaml:2 ");
    write_deployments(p, "a.yaml", "x7");
    read_changes(p);
    assert_content(p, "w=1 x=7 ", "");
    assert_int_equal(manifests_duplicate_count(p->manifests), 0);
    folder_unlink(p->folder, "a.yaml");
    read_changes(p);
    assert_content(p, "w=1 ", "");
}

static void assert_place(const struct fixture *p, const char *name, const char *file, size_t line,
                         size_t column)
{
    const struct identity id = {"apps/v1", "Deployment", "default", name};
    struct json_position found;
    const char *path;

    assert_true(manifests_find_place(p->manifests, store_find(p->store, &id), &path, &found));
    assert_string_equal(short_path(p, path), file);
    assert_int_equal(found.line, line);
    assert_int_equal(found.column, column);
}

TEST_WITH(the_place_of_an_object_is_the_declaration_that_counts, set_up, tear_down)
{
    const struct identity missing = {"apps/v1", "Deployment", "default", "y"};
    struct fixture *p = *state;
    struct json_position where;
    const char *path;

    write_deployments(p, "a.yaml", "x1 x2");
    write_deployments(p, "b.yaml", "w1 x3");
    start(p, "", NULL);
    assert_place(p, "w", "b.yaml", 2, 1);
    assert_place(p, "x", "b.yaml", 7, 1);
    folder_unlink(p->folder, "b.yaml");
    read_changes(p);
    assert_place(p, "x", "a.yaml", 7, 1);
    assert_false(
        manifests_find_place(p->manifests, store_find_or_add(p->store, &missing), &path, &where));
}

/* A column beyond 2^24 is unknown, and not another column. */
TEST_WITH(the_place_of_an_object_has_its_column, set_up, tear_down)
{
    static const char object[] = "{\"apiVersion\":\"apps/v1\",\"kind\":\"Deployment\",\"metadata\":"
                                 "{\"name\":\"%s\",\"namespace\":\"default\"}}";
    CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(32 << 20);
    struct fixture *p = *state;

    folder_write(p->folder, "a.yaml",
                 "apiVersion: v1\nkind: List\nitems:\n"
                 "  - apiVersion: apps/v1\n    kind: Deployment\n"
                 "    metadata: {name: item, namespace: default}\n"
                 "  -   {apiVersion: apps/v1, kind: Deployment, metadata: {name: flow, namespace: "
                 "default}}\n"
                 "---   {apiVersion: apps/v1, kind: Deployment, metadata: {name: late, namespace: "
                 "default}}\n");
    strbuf_adds(&text, "{\"kind\":\"List\",\"apiVersion\":\"v1\",\"items\":[\n  ");
    strbuf_addf(&text, object, "first");
    strbuf_adds(&text, ", ");
    strbuf_addf(&text, object, "second");
    strbuf_adds(&text, "]}");
    folder_write(p->folder, "b.json", text.data);
    strbuf_reset(&text);
    strbuf_addf(&text, "%*s", 20 << 20, "");
    strbuf_addf(&text, object, "far");
    folder_write(p->folder, "c.json", text.data);
    start(p, "", NULL);
    assert_place(p, "item", "a.yaml", 4, 5);
    assert_place(p, "flow", "a.yaml", 7, 7);
    assert_place(p, "late", "a.yaml", 8, 7);
    assert_place(p, "first", "b.json", 2, 3);
    assert_place(p, "second", "b.json", 2, 99);
    assert_place(p, "far", "c.json", 1, 0);
}

TEST_WITH(the_order_of_paths_precedes_the_order_of_names, set_up, tear_down)
{
    struct fixture *p = *state;

    write_deployments(p, "z.yaml", "x1");
    write_deployments(p, "a.yaml", "x2");
    start(p, "z.yaml", "a.yaml");
    assert_content(p, "x=2 ", "duplicate z.yaml:2 ");
}

TEST_WITH(a_document_of_a_malformed_file_does_not_count_again, set_up, tear_down)
{
    struct fixture *p = *state;

    write_deployments(p, "a.yaml", "x1 w1");
    write_deployments(p, "b.yaml", "x2");
    start(p, "", NULL);
    folder_write(p->folder, "a.yaml", "[");
    read_changes(p);
    assert_content(p, "w=1 x=2 ", "malformed a.yaml:2 duplicate a.yaml:2 ");
    folder_unlink(p->folder, "b.yaml");
    read_changes(p);
    assert_content(p, "w=1 ", "malformed a.yaml:2 ");
    write_deployments(p, "a.yaml", "x3");
    read_changes(p);
    assert_content(p, "x=3 ", "");
}

TEST_WITH(renaming_a_file_keeps_its_objects, set_up, tear_down)
{
    struct fixture *p = *state;

    write_deployments(p, "m.yaml", "x1");
    start(p, "", NULL);
    folder_rename(p->folder, "m.yaml", "z.yaml");
    read_changes(p);
    assert_content(p, "x=1 ", "");
    folder_rename(p->folder, "z.yaml", "a.yaml");
    read_changes(p);
    assert_content(p, "x=1 ", "");
}

TEST_WITH(a_removed_file_removes_its_objects, set_up, tear_down)
{
    struct fixture *p = *state;

    folder_mkdir(p->folder, "sub");
    write_deployments(p, "sub/a.yaml", "x1");
    write_deployments(p, "b.yaml", "w1");
    start(p, "", NULL);
    folder_rmdir(p->folder, "sub");
    read_changes(p);
    assert_content(p, "w=1 ", "");
    assert_int_equal(manifests_file_count(p->manifests), 1);
}

TEST_WITH(a_removed_path_keeps_its_objects, set_up, tear_down)
{
    struct fixture *p = *state;

    write_deployments(p, "a.yaml", "x1");
    start(p, "a.yaml", NULL);
    folder_unlink(p->folder, "a.yaml");
    read_changes(p);
    assert_content(p, "x=1 ", "unreadable a.yaml:0 ");
    assert_text(p, 0, "No such file");
    write_deployments(p, "a.yaml", "x2");
    read_changes(p);
    assert_content(p, "x=2 ", "");
}

TEST_WITH(fifos_and_devices_are_reported_and_never_block, set_up, tear_down)
{
    struct fixture *p = *state;
    CLEANUP(free_cleanup) char *fifo = folder_path(p->folder, "fifo.yaml");

    assert_int_equal(mkfifo(fifo, 0600), 0);
    folder_link(p->folder, "/dev/zero", "zero.yaml");
    write_deployments(p, "a.yaml", "x1");
    start(p, "", NULL);
    assert_content(p, "x=1 ", "unreadable fifo.yaml:0 unreadable zero.yaml:0 ");
    assert_text(p, 0, "is a FIFO, not a regular file");
}

TEST_WITH(a_file_without_permission_is_reported, set_up, tear_down)
{
    struct fixture *p = *state;

    if (geteuid() == 0)
        skip();
    CLEANUP(free_cleanup) char *path = folder_path(p->folder, "a.yaml");

    write_deployments(p, "a.yaml", "x1");
    start(p, "", NULL);
    assert_int_equal(chmod(path, 0), 0);
    read_changes(p);
    assert_content(p, "x=1 ", "unreadable a.yaml:0 ");
    assert_text(p, 0, "Permission denied");
    assert_int_equal(chmod(path, 0644), 0);
    read_changes(p);
    assert_content(p, "x=1 ", "");
}

TEST_WITH(exceeded_limits_are_reported, set_up, tear_down)
{
    struct fixture *p = *state;
    struct manifest_limits limits = {
        .yaml_max_bytes = 4000, .object_max_bytes = 300, .nodes_max = 60};
    CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(1 << 20);

    for (unsigned i = 0; i < 50; i++)
        add_deployment(&text, "x", i);
    folder_write(p->folder, "a.yaml", text.data);
    strbuf_reset(&text);
    strbuf_adds(&text, "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: y}\ndata: {a: '");
    for (unsigned i = 0; i < 300; i++)
        strbuf_addc(&text, 'x');
    strbuf_adds(&text, "'}\n");
    folder_write(p->folder, "b.yaml", text.data);
    folder_write(p->folder, "c.json",
                 "{\"kind\":\"List\",\"items\":[\n{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\","
                 "\"metadata\":{\"name\":\"z\"}}]}");
    strbuf_reset(&text);
    strbuf_adds(&text, "a: &a [1, 2, 3, 4, 5, 6, 7, 8, 9]\n");
    strbuf_adds(&text, "b: [*a, *a, *a, *a, *a, *a, *a]\n");
    folder_write(p->folder, "d.yaml", text.data);
    start_limited(p, "", NULL, &limits);
    assert_content(p, "z=-1 ", "unreadable a.yaml:0 malformed b.yaml:1 malformed d.yaml:2 ");
    assert_text(p, 0, "larger than 4000 bytes, even compressed: split it, or write it as JSON");
    assert_text(p, 1, "larger than 300 bytes");
    assert_text(p, 2, "with its anchors expanded");
}

TEST_WITH(malformed_files_are_reported_with_their_line, set_up, tear_down)
{
    struct fixture *p = *state;

    folder_write(p->folder, "a.yaml", "a: 1\nb: \xff\n");
    folder_write(p->folder, "b.yaml", "a: 1\na: 2\n");
    folder_write(p->folder, "c.json", "{}\n{\"a\":\"\xff\"}");
    folder_write(p->folder, "d.json", "hello");
    start(p, "", NULL);
    assert_content(p, "",
                   "malformed a.yaml:2 skipped b.yaml:1 repeated_key b.yaml:2 skipped c.json:1 "
                   "malformed c.json:2 malformed d.json:1 ");
}

/* Writes a list of `count` items, then `end`. 2,000 items are so long that the queue compresses. */
static void write_long_list(struct fixture *p, const char *name, unsigned count, const char *end)
{
    CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(32 << 20);

    strbuf_adds(&text, "apiVersion: v1\nitems:\n");
    for (unsigned i = 0; i < count; i++)
        strbuf_addf(&text,
                    "- apiVersion: apps/v1\n  kind: Deployment\n  metadata:\n    name: d%u\n"
                    "    annotations: {a: '%0500u'}\n  spec: {replicas: %u}\n",
                    i, i, i);
    strbuf_adds(&text, end);
    folder_write(p->folder, name, text.data);
}

TEST_WITH(a_long_list_of_yaml_is_read, set_up, tear_down)
{
    struct fixture *p = *state;
    CLEANUP(strbuf_release) struct strbuf got = STRBUF_INIT(1 << 20);

    write_long_list(p, "a.yaml", 2000, "kind: List\nmetadata:\n  resourceVersion: ''\n");
    start(p, "", NULL);
    dump_store(p->store, &got);
    assert_int_equal(manifests_problem_count(p->manifests), 0);
    assert_non_null(strstr(got.data, "d0=0 "));
    assert_non_null(strstr(got.data, "d1999=1999 "));
}

TEST_WITH(a_truncated_long_list_does_not_change_the_store, set_up, tear_down)
{
    struct fixture *p = *state;

    write_long_list(p, "a.yaml", 2, "kind: List\n");
    start(p, "", NULL);
    assert_content(p, "d0=0 d1=1 ", "");
    write_long_list(p, "a.yaml", 2000, "- apiVersion: v1\n  kind: [Conf");
    read_changes(p);
    assert_content(p, "d0=0 d1=1 ", "malformed a.yaml:12005 ");
}

TEST_WITH(yaml_items_inherit_a_kind_that_follows_them, set_up, tear_down)
{
    struct fixture *p = *state;

    folder_write(
        p->folder, "a.yaml",
        "apiVersion: apps/v1\nitems:\n- metadata: {name: x}\n  spec: {replicas: 5}\n"
        "- {apiVersion: v1, kind: ConfigMap, metadata: {name: c}}\n- 7\n"
        "- kind: List\n  items:\n  - {apiVersion: v1, kind: ConfigMap, metadata: {name: d}}\n"
        "  - {apiVersion: v1, kind: ConfigMap, metadata: {name: y}}\n"
        "kind: DeploymentList\n---\nitems:\n- metadata: {name: s}\nkind: Foo\n---\n"
        "items:\n- metadata: {name: t}\n- 8\nkind: ConfigMapList\napiVersion: v1\n");
    start(p, "", NULL);
    assert_content(p, "c=-1 d=-1 t=-1 x=5 ",
                   "skipped a.yaml:6 rejected a.yaml:10 skipped a.yaml:14 skipped a.yaml:19 ");
}

TEST_WITH(files_without_a_known_suffix_are_read_by_content, set_up, tear_down)
{
    struct fixture *p = *state;

    write_deployments(p, "a.txt", "x1");
    folder_write(p->folder, "b",
                 " \n{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"c\"}}"
                 "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"d\"}}");
    start(p, "a.txt", "b");
    assert_content(p, "c=-1 d=-1 x=1 ", "");
}

TEST_WITH(a_json_kind_after_its_items_needs_a_second_pass, set_up, tear_down)
{
    struct fixture *p = *state;

    write_deployments(p, "a.yaml", "x1");
    folder_write(
        p->folder, "b.json",
        "{\"apiVersion\":\"apps/v1\",\"items\":[\n"
        "{\"metadata\":{\"name\":\"x\",\"namespace\":\"default\"},\"spec\":{\"replicas\":5}},\n"
        "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"c\"}},\n"
        "{\"apiVersion\":\"apps/v1\",\"kind\":\"Deployment\","
        "\"metadata\":{\"name\":\"x\",\"namespace\":\"default\"},\"spec\":{\"replicas\":6}}\n"
        "],\"kind\":\"DeploymentList\"}");
    start(p, "", NULL);
    /* The text order decides which document counts, although a second pass reads line 2 last. */
    assert_content(p, "c=-1 x=6 ", "duplicate a.yaml:2 duplicate b.json:2 ");
    folder_unlink(p->folder, "b.json");
    read_changes(p);
    assert_content(p, "x=1 ", "");
}

/* Loads "-" and a file, with `text` as standard input. */
static void start_on_stdin(struct fixture *p, const char *text, const char *second, bool watched)
{
    int ends[2];
    int saved = dup(STDIN_FILENO);
    struct error err;

    assert_int_equal(pipe(ends), 0);
    assert_int_equal(write(ends[1], text, strlen(text)), strlen(text));
    close(ends[1]);
    assert_int_equal(dup2(ends[0], STDIN_FILENO), STDIN_FILENO);
    close(ends[0]);

    p->paths[0] = folder_path(p->folder, second);
    const char *paths[] = {"-", p->paths[0]};
    p->manifests = manifests_new(p->store, paths, 2, "default", &manifest_limits_default);
    set_reader(p);
    if (watched)
        p->fd = manifests_watch(p->manifests, &err);
    assert_true(load(p, &err));
    dup2(saved, STDIN_FILENO);
    close(saved);
}

TEST_WITH(documents_of_standard_input_are_kept, set_up, tear_down)
{
    struct fixture *p = *state;
    CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(1 << 20);

    add_deployment(&text, "x", 1);
    add_deployment(&text, "w", 1);
    write_deployments(p, "a.yaml", "x2");
    start_on_stdin(p, text.data, "a.yaml", true);
    assert_content(p, "w=1 x=2 ", "duplicate -:2 ");
    write_deployments(p, "a.yaml", "z2");
    read_changes(p);
    assert_content(p, "w=1 x=1 z=2 ", "");
}

TEST_WITH(a_kind_after_its_items_on_standard_input_is_an_error, set_up, tear_down)
{
    struct fixture *p = *state;
    static const char json[] =
        "{\"apiVersion\":\"apps/v1\",\"items\":[{\"metadata\":{\"name\":\"x\"}}],"
        "\"kind\":\"DeploymentList\"}";

    write_deployments(p, "a.yaml", "w1");
    start_on_stdin(p, json, "a.yaml", false);
    assert_content(p, "w=1 ", "unreadable -:0 ");
    assert_text(
        p, 0, "is a stream and cannot be read twice, but the field kind of its list follows items");
}

TEST_WITH(a_missing_path_is_an_error, set_up, tear_down)
{
    struct fixture *p = *state;
    const char *paths[1];
    struct error err;

    p->paths[0] = folder_path(p->folder, "nothing");
    paths[0] = p->paths[0];
    p->manifests = manifests_new(p->store, paths, 1, "default", &manifest_limits_default);
    set_reader(p);
    assert_false(load(p, &err));
    assert_non_null(strstr(err.text, "nothing"));
}

TEST_WITH(a_large_file_is_read_in_slices, set_up, tear_down)
{
    struct fixture *p = *state;
    CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(64 << 20);
    unsigned slices = 0;

    start(p, "", NULL);
    strbuf_adds(&text, "{\"kind\":\"List\",\"items\":[");
    for (unsigned i = 0; i < 4000; i++)
        strbuf_addf(
            &text,
            "%s{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"c%u\"},"
            "\"data\":{\"a\":\"%0100u\"}}",
            i > 0 ? ",\n" : "", i, i);
    strbuf_adds(&text, "]}");
    folder_write(p->folder, "a.json", text.data);
    assert_true(has_events(p, EVENT_WAIT_MS));
    do {
        pump(p, 0);
        slices++;
    } while (is_busy(p));
    assert_true(slices > 5);
    assert_int_equal(store_object_count(p->store, CLASS_TEMPLATE), 4000);
    folder_unlink(p->folder, "a.json");
    read_changes(p);
    assert_int_equal(store_object_count(p->store, CLASS_TEMPLATE), 0);
}

TEST_WITH(a_file_changed_during_reading_is_read_again, set_up, tear_down)
{
    struct fixture *p = *state;
    CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(64 << 20);

    start(p, "", NULL);
    for (unsigned i = 0; i < 100; i++)
        add_deployment(&text, "x", 1);
    folder_write(p->folder, "a.yaml", text.data);
    assert_true(has_events(p, EVENT_WAIT_MS));
    for (unsigned i = 0; i < 20; i++)
        pump(p, 0);
    assert_true(WITH_READER || is_busy(p));
    folder_unlink(p->folder, "a.yaml");
    write_deployments(p, "a.yaml", "w2");
    read_changes(p);
    assert_content(p, "w=2 ", "");
}

/* Returns a pseudo-random number. The same seed reproduces a failure. */
static unsigned random_below(uint64_t *seed, unsigned below)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(*seed >> 33) % below;
}

static const char *const files[] = {"a.yaml", "b.yaml", "sub/c.yaml", "sub/d.json", "z.json"};

static bool exists(const struct fixture *p, const char *name)
{
    CLEANUP(free_cleanup) char *path = folder_path(p->folder, name);

    return access(path, F_OK) == 0;
}

/* Writes up to four documents: most are objects with one of five names, so many are duplicates. */
static void write_random_objects(struct fixture *p, const char *name, uint64_t *seed)
{
    CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(1 << 20);
    bool json = strstr(name, ".json") != NULL;
    unsigned count = random_below(seed, 5);

    for (unsigned i = 0; i < count; i++) {
        char object[2] = {(char)('a' + random_below(seed, 5)), '\0'};

        if (random_below(seed, 8) == 0)
            strbuf_adds(&text, json ? "{\"kind\": \"NoName\"}\n" : "---\nforeign: 1\n");
        else if (json)
            strbuf_addf(&text,
                        "{\"apiVersion\":\"apps/v1\",\"kind\":\"Deployment\",\"metadata\":{"
                        "\"name\":\"%s\",\"namespace\":\"default\"},\"spec\":{\"replicas\":%u}}\n",
                        object, random_below(seed, 100));
        else
            add_deployment(&text, object, random_below(seed, 100));
    }
    if (random_below(seed, 2) == 0)
        folder_write(p->folder, name, text.data);
    else
        folder_replace(p->folder, name, text.data);
}

static void edit_random_file(struct fixture *p, uint64_t *seed)
{
    const char *name = files[random_below(seed, ARRAY_LEN(files))];
    const char *other = files[random_below(seed, ARRAY_LEN(files))];
    bool has_sub = exists(p, "sub");

    switch (random_below(seed, 8)) {
    case 0:
        if (has_sub && random_below(seed, 2) == 0)
            folder_rmdir(p->folder, "sub");
        else if (has_sub && !exists(p, "other"))
            folder_rename(p->folder, "sub", "other");
        else if (!has_sub && exists(p, "other"))
            folder_rename(p->folder, "other", "sub");
        break;
    case 1:
        if (exists(p, name))
            folder_unlink(p->folder, name);
        break;
    case 2:
        if (exists(p, name) && (has_sub || strncmp(other, "sub", 3) != 0))
            folder_rename(p->folder, name, other);
        break;
    case 3:
        if (exists(p, name))
            folder_write(p->folder, name, "{ [");
        break;
    default:
        if (!has_sub && strncmp(name, "sub", 3) == 0)
            folder_mkdir(p->folder, "sub");
        write_random_objects(p, name, seed);
        break;
    }
}

/*
 * Removes the folder `other`, and writes valid content to all other files: an edit may have left
 * invalid text, or YAML in a *.json file.
 */
static void write_valid_files(struct fixture *p, uint64_t *seed)
{
    if (exists(p, "other"))
        folder_rmdir(p->folder, "other");
    for (size_t i = 0; i < ARRAY_LEN(files); i++) {
        if (exists(p, files[i]))
            write_random_objects(p, files[i], seed);
    }
}

static void assert_equals_fresh_load(const struct fixture *p)
{
    CLEANUP(strbuf_release) struct strbuf wanted = STRBUF_INIT(1 << 20);
    CLEANUP(strbuf_release) struct strbuf got = STRBUF_INIT(1 << 20);
    struct store *store = store_new(2);
    const char *paths[] = {p->folder};
    struct manifests *fresh = manifests_new(store, paths, 1, "default", &manifest_limits_default);
    struct error err;

    assert_true(manifests_load(fresh, &err));
    dump_store(store, &wanted);
    dump_problems(p, fresh, &wanted);
    dump_store(p->store, &got);
    dump_problems(p, p->manifests, &got);
    manifests_free(fresh);
    store_free(store);
    assert_string_equal(got.data, wanted.data);
}

static const char definition[] =
    "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\n"
    "metadata: {name: things.example.org}\n"
    "spec: {group: example.org, scope: Cluster, names: {kind: Thing}}\n";
static const char thing[] = "apiVersion: example.org/v1\nkind: Thing\nmetadata: {name: x}\n---\n";

/* Asserts where the Thing x exists: in the namespace default, and as a cluster-scoped object. */
static void assert_thing(const struct fixture *p, bool in_default, bool is_cluster_scoped)
{
    const struct identity in = {"example.org/v1", "Thing", "default", "x"};
    const struct identity cluster_scoped = {"example.org/v1", "Thing", "", "x"};
    const struct entry *a = store_find(p->store, &in);
    const struct entry *b = store_find(p->store, &cluster_scoped);

    assert_int_equal(a && entry_exists(a), in_default);
    assert_int_equal(b && entry_exists(b), is_cluster_scoped);
}

TEST_WITH(a_definition_applies_to_files_before_and_after_it, set_up, tear_down)
{
    struct fixture *p = *state;
    CLEANUP(strbuf_release) struct strbuf both = STRBUF_INIT(1 << 20);

    folder_write(p->folder, "a.yaml", thing);
    start(p, "", NULL);
    assert_thing(p, true, false);
    folder_write(p->folder, "b.yaml", definition);
    read_changes(p);
    assert_thing(p, false, true);
    assert_content(p, "things.example.org=-1 x=-1 ", "");

    strbuf_addf(&both, "%s%s", thing, definition);
    folder_write(p->folder, "a.yaml", "");
    folder_write(p->folder, "b.yaml", both.data);
    read_changes(p);
    assert_thing(p, false, true);
    assert_equals_fresh_load(p);
}

TEST_WITH(random_edits_end_in_the_state_of_a_fresh_load, set_up, tear_down)
{
    struct fixture *p = *state;

    start(p, "", NULL);
    for (uint64_t round = 1; round <= 60; round++) {
        uint64_t seed = round * 977;

        for (unsigned i = 0; i < 40; i++) {
            edit_random_file(p, &seed);
            if (random_below(&seed, 3) == 0)
                pump(p, random_below(&seed, 2));
        }
        write_valid_files(p, &seed);
        while (has_events(p, 0) || is_busy(p))
            pump(p, 5);
        assert_equals_fresh_load(p);
    }
}

TEST(manifests_without_work_have_no_deadline)
{
    struct store *store = store_new(1);
    struct manifests *m = manifests_new(store, NULL, 0, "", &manifest_limits_default);

    assert_int_equal(manifests_due(m), INT64_MAX);
    manifests_pump(m, 1);
    assert_int_equal(manifests_due(m), INT64_MAX);
    manifests_free(m);
    store_free(store);
}
