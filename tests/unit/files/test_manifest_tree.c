/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/files/manifest_tree.h"

#include <poll.h>
#include <unistd.h>

#include "tests/unit/folder.h"
#include "tests/unit/suite.h"

/* Limit of waits for events. inotify queues events before a write returns, so waits are short. */
enum { EVENT_WAIT_MS = 20000 };

struct fixture {
    char *folder;
    struct manifest_tree manifest_tree;
    char *paths[3];
};

static int set_up(void **state)
{
    struct fixture *p = xcalloc(1, sizeof(*p));

    p->folder = folder_make();
    *state = p;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *p = *state;

    manifest_tree_release(&p->manifest_tree);
    for (size_t i = 0; i < ARRAY_LEN(p->paths); i++)
        free(p->paths[i]);
    folder_remove(p->folder);
    free(p);
    return 0;
}

/* Takes the changed files, then the removed files with a '-', each with a blank after its path. */
static const char *take_files(struct fixture *p, char out[static 1024])
{
    size_t prefix = strlen(p->folder) + 1;
    struct manifest_file *file;
    size_t len = 0;

    out[0] = '\0';
    while ((file = manifest_tree_take_changed(&p->manifest_tree))) {
        file->pass++;
        len += (size_t)snprintf(out + len, 1024 - len, "%s ", file->path + prefix);
    }
    while ((file = manifest_tree_take_gone(&p->manifest_tree))) {
        len += (size_t)snprintf(out + len, 1024 - len, "-%s ", file->path + prefix);
        manifest_file_free(file);
    }
    return out;
}

static void assert_files(struct fixture *p, const char *wanted)
{
    char out[1024];

    assert_string_equal(take_files(p, out), wanted);
}

/* Watches and walks these PATHs inside the folder; `wanted` are the files found. */
static void start(struct fixture *p, const char *path, const char *second, const char *wanted)
{
    const char *paths[2];
    size_t count = second ? 2 : 1;
    struct error err;

    p->paths[0] = *path ? folder_path(p->folder, path) : xstrdup(p->folder);
    p->paths[1] = second ? folder_path(p->folder, second) : NULL;
    for (size_t i = 0; i < count; i++)
        paths[i] = p->paths[i];
    manifest_tree_init(&p->manifest_tree, paths, count);
    assert_true(manifest_tree_watch(&p->manifest_tree, &err) >= 0);
    assert_true(manifest_tree_walk_all(&p->manifest_tree, &err));
    assert_files(p, wanted);
}

static bool has_events(struct fixture *p, int wait_ms)
{
    struct pollfd fd = {.fd = p->manifest_tree.watches.fd, .events = POLLIN};

    return poll(&fd, 1, wait_ms) == 1;
}

/* Waits for an event, handles all events, and compares the changed and removed files. */
static void assert_changes(struct fixture *p, const char *wanted)
{
    assert_true(has_events(p, EVENT_WAIT_MS));
    do {
        manifest_tree_pump_events(&p->manifest_tree);
    } while (has_events(p, 0));
    assert_files(p, wanted);
}

/* Handles events, if there are any, and asserts that they change no manifest file. */
static void assert_no_changes(struct fixture *p)
{
    while (has_events(p, 0))
        manifest_tree_pump_events(&p->manifest_tree);
    assert_files(p, "");
}

TEST_WITH(a_folder_is_walked_in_byte_order, set_up, tear_down)
{
    struct fixture *p = *state;

    folder_mkdir(p->folder, "b");
    folder_mkdir(p->folder, "b/c");
    folder_write(p->folder, "b.yaml", "");
    folder_write(p->folder, "a.json", "");
    folder_write(p->folder, "b/z.yml", "");
    folder_write(p->folder, "b/c/x.yaml", "");
    start(p, "", NULL, "a.json b.yaml b/c/x.yaml b/z.yml ");
    assert_int_equal(p->manifest_tree.count, 4);
}

TEST_WITH(hidden_files_and_other_suffixes_are_ignored, set_up, tear_down)
{
    struct fixture *p = *state;

    folder_mkdir(p->folder, ".git");
    folder_mkdir(p->folder, "..2026");
    folder_write(p->folder, ".git/a.yaml", "");
    folder_write(p->folder, "..2026/a.yaml", "");
    folder_write(p->folder, ".a.yaml", "");
    folder_write(p->folder, "a.yaml~", "");
    folder_write(p->folder, "a.yaml.swp", "");
    folder_write(p->folder, "README.md", "");
    folder_write(p->folder, "yaml", "");
    folder_write(p->folder, "a.YAML", "");
    start(p, "", NULL, "");
}

TEST_WITH(paths_are_read_in_the_given_order, set_up, tear_down)
{
    struct fixture *p = *state;

    folder_mkdir(p->folder, "b");
    folder_mkdir(p->folder, "a");
    folder_write(p->folder, "b/1.yaml", "");
    folder_write(p->folder, "a/2.yaml", "");
    start(p, "b/", "a", "b/1.yaml a/2.yaml ");
}

TEST_WITH(a_file_as_path_has_any_name, set_up, tear_down)
{
    struct fixture *p = *state;

    folder_write(p->folder, "policies.txt", "");
    start(p, "policies.txt", NULL, "policies.txt ");
    assert_true(p->manifest_tree.files[0]->is_path);
    assert_false(p->manifest_tree.files[0]->read_once);
}

TEST_WITH(a_fifo_as_path_is_read_once_unless_files_are_watched, set_up, tear_down)
{
    struct fixture *p = *state;
    const char *paths[1];
    struct error err;

    p->paths[0] = folder_path(p->folder, "fifo");
    assert_int_equal(mkfifo(p->paths[0], 0600), 0);
    paths[0] = p->paths[0];
    manifest_tree_init(&p->manifest_tree, paths, 1);
    assert_true(manifest_tree_walk_all(&p->manifest_tree, &err));
    assert_files(p, "fifo ");
    assert_true(p->manifest_tree.files[0]->read_once);
    manifest_tree_release(&p->manifest_tree);

    manifest_tree_init(&p->manifest_tree, paths, 1);
    assert_true(manifest_tree_watch(&p->manifest_tree, &err) >= 0);
    assert_false(manifest_tree_walk_all(&p->manifest_tree, &err));
    assert_non_null(strstr(err.text, "is a FIFO, not a regular file"));
}

TEST_WITH(files_of_proc_are_not_accepted_as_paths, set_up, tear_down)
{
    static const char *const names[] = {"/proc/self/stat", "/proc/self"};
    struct fixture *p = *state;
    struct error err;

    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        manifest_tree_init(&p->manifest_tree, &names[i], 1);
        assert_false(manifest_tree_walk_all(&p->manifest_tree, &err));
        assert_non_null(strstr(err.text, names[i]));
        assert_non_null(strstr(err.text, "a file of a virtual file system"));
        manifest_tree_release(&p->manifest_tree);
    }
}

TEST_WITH(a_missing_path_is_an_error, set_up, tear_down)
{
    struct fixture *p = *state;
    struct error err;
    char wanted[256];

    p->paths[0] = folder_path(p->folder, "nothing");
    const char *paths[] = {p->paths[0]};
    manifest_tree_init(&p->manifest_tree, paths, 1);
    assert_false(manifest_tree_walk_all(&p->manifest_tree, &err));
    snprintf(wanted, sizeof(wanted), "cannot open '%s': No such file or directory", p->paths[0]);
    assert_string_equal(err.text, wanted);
}

TEST_WITH(link_loops_end, set_up, tear_down)
{
    struct fixture *p = *state;

    folder_mkdir(p->folder, "a");
    folder_mkdir(p->folder, "b");
    folder_link(p->folder, "..", "a/up");
    folder_link(p->folder, "../b", "a/b");
    folder_link(p->folder, "../a", "b/a");
    folder_link(p->folder, "self.yaml", "self.yaml");
    folder_link(p->folder, "nowhere", "dangling.yaml");
    folder_write(p->folder, "a/x.yaml", "");
    folder_write(p->folder, "b/y.yaml", "");
    start(p, "", NULL, "a/b/y.yaml a/x.yaml ");
}

TEST_WITH(changes_in_place_are_found, set_up, tear_down)
{
    struct fixture *p = *state;

    folder_write(p->folder, "a.yaml", "1");
    start(p, "", NULL, "a.yaml ");
    assert_no_changes(p);
    folder_write(p->folder, "a.yaml", "2");
    assert_changes(p, "a.yaml ");
    /* Size and modification time may be equal after both writes. */
    folder_write(p->folder, "a.yaml", "3");
    folder_write(p->folder, "a.yaml", "4");
    assert_changes(p, "a.yaml ");
}

TEST_WITH(a_replacement_by_rename_is_found, set_up, tear_down)
{
    struct fixture *p = *state;

    folder_write(p->folder, "a.yaml", "1");
    start(p, "", NULL, "a.yaml ");
    folder_replace(p->folder, "a.yaml", "2");
    assert_changes(p, "a.yaml ");
}

TEST_WITH(a_save_with_a_backup_file_is_one_change, set_up, tear_down)
{
    struct fixture *p = *state;

    folder_write(p->folder, "a.yaml", "1");
    start(p, "", NULL, "a.yaml ");
    folder_write(p->folder, "4913", "");
    folder_unlink(p->folder, "4913");
    folder_write(p->folder, ".a.yaml.swp", "x");
    folder_rename(p->folder, "a.yaml", "a.yaml~");
    folder_write(p->folder, "a.yaml", "2");
    folder_unlink(p->folder, "a.yaml~");
    assert_changes(p, "a.yaml ");
}

TEST_WITH(new_and_removed_files_are_found, set_up, tear_down)
{
    struct fixture *p = *state;
    CLEANUP(free_cleanup) char *from = folder_path(p->folder, "a.yaml");
    CLEANUP(free_cleanup) char *to = folder_path(p->folder, "hard.yaml");

    folder_write(p->folder, "a.yaml", "1");
    start(p, "", NULL, "a.yaml ");
    folder_write(p->folder, "b.yaml", "1");
    assert_changes(p, "b.yaml ");
    assert_int_equal(link(from, to), 0);
    assert_changes(p, "hard.yaml ");
    folder_unlink(p->folder, "b.yaml");
    assert_changes(p, "-b.yaml ");
    folder_rename(p->folder, "hard.yaml", "c.yaml");
    assert_changes(p, "c.yaml -hard.yaml ");
    folder_rename(p->folder, "c.yaml", "c.txt");
    assert_changes(p, "-c.yaml ");
    folder_write(p->folder, "other.txt", "1");
    assert_no_changes(p);
}

TEST_WITH(changes_in_subfolders_are_found, set_up, tear_down)
{
    struct fixture *p = *state;

    start(p, "", NULL, "");
    folder_mkdir(p->folder, "sub");
    folder_write(p->folder, "sub/a.yaml", "1");
    assert_changes(p, "sub/a.yaml ");
    folder_write(p->folder, "sub/b.yaml", "1");
    assert_changes(p, "sub/b.yaml ");
    folder_rename(p->folder, "sub", "new");
    assert_changes(p, "new/a.yaml new/b.yaml -sub/a.yaml -sub/b.yaml ");
    folder_write(p->folder, "new/a.yaml", "2");
    assert_changes(p, "new/a.yaml ");
    folder_rmdir(p->folder, "new");
    assert_changes(p, "-new/a.yaml -new/b.yaml ");
    assert_int_equal(p->manifest_tree.count, 0);
}

TEST_WITH(a_folder_moved_out_of_the_path_is_not_watched, set_up, tear_down)
{
    struct fixture *p = *state;

    folder_mkdir(p->folder, "in");
    folder_mkdir(p->folder, "in/sub");
    folder_write(p->folder, "in/sub/a.yaml", "1");
    start(p, "in", NULL, "in/sub/a.yaml ");
    folder_rename(p->folder, "in/sub", "out");
    assert_changes(p, "-in/sub/a.yaml ");
    folder_write(p->folder, "out/a.yaml", "2");
    assert_no_changes(p);
}

static void make_config_map(struct fixture *p)
{
    folder_mkdir(p->folder, "..2026_1");
    folder_mkdir(p->folder, "..2026_1/sub");
    folder_write(p->folder, "..2026_1/a.yaml", "1");
    folder_write(p->folder, "..2026_1/sub/b.yaml", "1");
    folder_link(p->folder, "..2026_1", "..data");
    folder_link(p->folder, "..data/a.yaml", "a.yaml");
    folder_link(p->folder, "..data/sub", "sub");
}

TEST_WITH(updates_of_a_mounted_config_map_are_found, set_up, tear_down)
{
    struct fixture *p = *state;

    make_config_map(p);
    start(p, "", NULL, "a.yaml sub/b.yaml ");
    for (int round = 2; round < 5; round++) {
        char name[32];
        char file[48];

        snprintf(name, sizeof(name), "..2026_%d", round);
        folder_mkdir(p->folder, name);
        snprintf(file, sizeof(file), "%s/a.yaml", name);
        folder_write(p->folder, file, "2");
        snprintf(file, sizeof(file), "%s/sub", name);
        folder_mkdir(p->folder, file);
        snprintf(file, sizeof(file), "%s/sub/b.yaml", name);
        folder_write(p->folder, file, "2");
        folder_swap(p->folder, name, "..data");
        snprintf(name, sizeof(name), "..2026_%d", round - 1);
        folder_rmdir(p->folder, name);
        assert_changes(p, "a.yaml sub/b.yaml ");
    }
}

TEST_WITH(updates_of_one_file_of_a_config_map_are_found, set_up, tear_down)
{
    struct fixture *p = *state;

    make_config_map(p);
    start(p, "a.yaml", NULL, "a.yaml ");
    folder_mkdir(p->folder, "..2026_2");
    folder_write(p->folder, "..2026_2/a.yaml", "2");
    folder_swap(p->folder, "..2026_2", "..data");
    assert_changes(p, "a.yaml ");
}

TEST_WITH(changes_of_a_link_target_are_found, set_up, tear_down)
{
    struct fixture *p = *state;

    folder_mkdir(p->folder, "in");
    folder_write(p->folder, "target.yaml", "1");
    folder_link(p->folder, "../target.yaml", "in/a.yaml");
    start(p, "in", NULL, "in/a.yaml ");
    folder_write(p->folder, "target.yaml", "2");
    assert_changes(p, "in/a.yaml ");
    folder_replace(p->folder, "target.yaml", "3");
    assert_changes(p, "in/a.yaml ");
    folder_write(p->folder, "target.yaml", "4");
    assert_changes(p, "in/a.yaml ");
}

TEST_WITH(changes_in_a_linked_folder_are_found, set_up, tear_down)
{
    struct fixture *p = *state;

    folder_mkdir(p->folder, "in");
    folder_mkdir(p->folder, "out");
    folder_write(p->folder, "out/a.yaml", "1");
    start(p, "in", NULL, "");
    folder_link(p->folder, "../out", "in/sub");
    assert_changes(p, "in/sub/a.yaml ");
    folder_write(p->folder, "out/a.yaml", "2");
    assert_changes(p, "in/sub/a.yaml ");
    folder_unlink(p->folder, "in/sub");
    assert_changes(p, "-in/sub/a.yaml ");
}

TEST_WITH(changes_of_a_file_as_path_are_found, set_up, tear_down)
{
    struct fixture *p = *state;

    folder_write(p->folder, "a.txt", "1");
    start(p, "a.txt", NULL, "a.txt ");
    folder_replace(p->folder, "a.txt", "2");
    assert_changes(p, "a.txt ");
    folder_write(p->folder, "a.txt", "3");
    assert_changes(p, "a.txt ");
    folder_replace(p->folder, "a.txt", "4");
    assert_changes(p, "a.txt ");
    folder_write(p->folder, "b.txt", "1");
    assert_no_changes(p);
}

TEST_WITH(a_removed_path_keeps_its_files_and_is_reported, set_up, tear_down)
{
    struct fixture *p = *state;

    folder_mkdir(p->folder, "in");
    folder_write(p->folder, "in/a.yaml", "1");
    folder_write(p->folder, "b.yaml", "1");
    start(p, "in", "b.yaml", "in/a.yaml b.yaml ");
    folder_rename(p->folder, "in", "away");
    folder_unlink(p->folder, "b.yaml");
    assert_changes(p, "");
    assert_int_equal(p->manifest_tree.count, 2);
    assert_true(p->manifest_tree.paths[0].missing);
    assert_true(p->manifest_tree.paths[1].missing);
    assert_int_equal(p->manifest_tree.paths[0].problems.count, 1);
    assert_int_equal(p->manifest_tree.paths[1].problems.count, 1);

    folder_rename(p->folder, "away", "in");
    folder_write(p->folder, "b.yaml", "2");
    assert_changes(p, "in/a.yaml b.yaml ");
    assert_false(p->manifest_tree.paths[0].missing);
    assert_int_equal(p->manifest_tree.paths[0].problems.count, 0);
}

TEST_WITH(a_swapped_link_above_the_path_is_found, set_up, tear_down)
{
    struct fixture *p = *state;

    folder_mkdir(p->folder, "v1");
    folder_mkdir(p->folder, "v1/in");
    folder_write(p->folder, "v1/in/a.yaml", "1");
    folder_mkdir(p->folder, "v2");
    folder_mkdir(p->folder, "v2/in");
    folder_write(p->folder, "v2/in/a.yaml", "1");
    folder_write(p->folder, "v2/in/b.yaml", "1");
    folder_link(p->folder, "v1", "current");
    start(p, "current/in", NULL, "current/in/a.yaml ");
    folder_swap(p->folder, "v2", "current");
    assert_changes(p, "current/in/a.yaml current/in/b.yaml ");
    folder_write(p->folder, "v2/in/b.yaml", "2");
    assert_changes(p, "current/in/b.yaml ");
}

TEST_WITH(permission_changes_of_a_file_are_found, set_up, tear_down)
{
    struct fixture *p = *state;
    CLEANUP(free_cleanup) char *path = folder_path(p->folder, "a.yaml");

    folder_write(p->folder, "a.yaml", "1");
    start(p, "", NULL, "a.yaml ");
    assert_int_equal(chmod(path, 0), 0);
    assert_changes(p, "a.yaml ");
    assert_int_equal(chmod(path, 0644), 0);
    assert_changes(p, "a.yaml ");
}

TEST_WITH(a_folder_that_cannot_be_opened_keeps_its_files, set_up, tear_down)
{
    struct fixture *p = *state;

    if (geteuid() == 0)
        skip();
    CLEANUP(free_cleanup) char *sub = folder_path(p->folder, "sub");

    folder_mkdir(p->folder, "sub");
    folder_write(p->folder, "sub/a.yaml", "1");
    start(p, "", NULL, "sub/a.yaml ");
    assert_int_equal(chmod(sub, 0), 0);
    assert_changes(p, "");
    assert_int_equal(p->manifest_tree.count, 1);
    assert_int_equal(p->manifest_tree.paths[0].problems.count, 1);
    assert_int_equal(chmod(sub, 0755), 0);
    assert_changes(p, "");
    assert_int_equal(p->manifest_tree.paths[0].problems.count, 0);
}

static unsigned queue_length(void)
{
    FILE *f = fopen("/proc/sys/fs/inotify/max_queued_events", "r");
    unsigned length = 0;

    if (!f)
        return 0;
    if (fscanf(f, "%u", &length) != 1)
        length = 0;
    fclose(f);
    return length;
}

TEST_WITH(an_event_overflow_walks_all_paths_again, set_up, tear_down)
{
    struct fixture *p = *state;
    unsigned length = queue_length();

    if (length == 0 || length > 100000)
        skip();
    folder_write(p->folder, "a.yaml", "1");
    folder_write(p->folder, "b.yaml", "1");
    folder_write(p->folder, "c.yaml", "1");
    start(p, "", NULL, "a.yaml b.yaml c.yaml ");
    /* The kernel merges equal events in a row, so the names alternate. */
    for (unsigned i = 0; i < length / 2 + 10; i++) {
        folder_write(p->folder, "noise1.txt", "");
        folder_write(p->folder, "noise2.txt", "");
    }
    folder_mkdir(p->folder, "sub");
    folder_write(p->folder, "sub/d.yaml", "1");
    folder_write(p->folder, "a.yaml", "2");
    folder_unlink(p->folder, "b.yaml");
    assert_changes(p, "a.yaml c.yaml sub/d.yaml -b.yaml ");
    folder_write(p->folder, "sub/d.yaml", "2");
    assert_changes(p, "sub/d.yaml ");
}

TEST_WITH(a_removed_and_recreated_file_is_read, set_up, tear_down)
{
    struct fixture *p = *state;

    folder_write(p->folder, "a.yaml", "1");
    start(p, "", NULL, "a.yaml ");
    folder_unlink(p->folder, "a.yaml");
    assert_true(has_events(p, EVENT_WAIT_MS));
    manifest_tree_pump_events(&p->manifest_tree);
    folder_write(p->folder, "a.yaml", "1");
    assert_changes(p, "a.yaml ");
}
