/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/cli/git_tree.h"

#include <errno.h>
#include <fts.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include "exporter/system/child_process.h"
#include "exporter/system/file.h"
#include "exporter/system/temporary_folder.h"
#include "metrics/base/number.h"
#include "metrics/base/shown.h"

/* ---- the tree ---- */

enum {
    ARGUMENTS_MAX = 24,
    TIME_MAX_SECONDS = 300,
    ANSWER_MAX_BYTES = 8192,
    LISTING_MAX_BYTES = 256 * 1024 * 1024,
};

/* Maximum size of all files of a tree. */
#define TREE_MAX_BYTES (UINT64_C(1) << 30)

struct git_tree {
    struct temporary_folder *folder;
    char *top;       /* Root of the repository, without symbolic links. */
    char *id;        /* Object name of the tree. */
    char *submodule; /* Path of the first submodule; NULL without one. */
};

void git_tree_free(struct git_tree *t)
{
    if (!t)
        return;
    temporary_folder_remove(t->folder);
    free(t->top);
    free(t->id);
    free(t->submodule);
    free(t);
}

/* ---- commands ---- */

/*
 * Runs git with the arguments, which NULL ends, in `folder`. Variables that a Git hook sets for its
 * own repository are removed, because the folder decides about the repository.
 */
static bool run_git(const char *folder, const char *const *arguments, struct strbuf *out,
                    struct error *err)
{
    const char *all[ARGUMENTS_MAX] = {"env",           "-u", "GIT_DIR",        "-u",
                                      "GIT_WORK_TREE", "-u", "GIT_INDEX_FILE", "-u",
                                      "GIT_PREFIX",    "git"};
    CLEANUP(strbuf_release) struct strbuf messages = STRBUF_INIT(ANSWER_MAX_BYTES);
    size_t count = 10;

    while (*arguments)
        all[count++] = *arguments++;
    all[count] = NULL;
    if (child_run(&(struct child_command){.program = "env",
                                          .arguments = all,
                                          .folder = folder,
                                          .time_max_seconds = TIME_MAX_SECONDS,
                                          .messages = &messages},
                  out, err))
        return true;
    /* Usual in the container of a CI job. */
    if (strstr(messages.data, "dubious ownership"))
        return fail(err, "the repository belongs to another user: run git config --global --add "
                         "safe.directory FOLDER, with the root of the repository");
    return fail_in(err, "git %s", all[10]);
}

/* Like run_git(), and returns the output without the line break at its end; NULL on errors. */
static char *ask_git(const char *folder, const char *const *arguments, struct error *err)
{
    CLEANUP(strbuf_release) struct strbuf out = STRBUF_INIT(ANSWER_MAX_BYTES);

    if (!run_git(folder, arguments, &out, err))
        return NULL;
    while (out.len > 0 && out.data[out.len - 1] == '\n')
        strbuf_cut(&out, out.len - 1);
    return strbuf_take(&out, NULL);
}

/* ---- PATHs ---- */

/*
 * Returns the folder of a PATH without symbolic links, owned by the caller, and stores the rest of
 * the PATH, "" for a folder. Returns NULL if the PATH does not exist.
 */
static char *find_folder(const char *path, const char **rest)
{
    const char *slash = strrchr(path, '/');
    char resolved[PATH_MAX];
    struct stat about;

    if (stat(path, &about) != 0)
        return NULL;
    *rest = S_ISDIR(about.st_mode) ? "" : slash ? slash + 1 : path;

    CLEANUP(free_cleanup)
    char *folder = S_ISDIR(about.st_mode) ? xstrdup(path)
                   : slash                ? xmemdup0(path, (size_t)(slash - path) + 1)
                                          : xstrdup(".");

    return realpath(folder, resolved) ? xstrdup(resolved) : NULL;
}

/* Sets the root of the repository, or checks that the PATH is in the same one. */
static bool find_repository(struct git_tree *t, const char *path, struct error *err)
{
    const char *rest;
    CLEANUP(free_cleanup) char *folder = find_folder(path, &rest);
    CLEANUP(free_cleanup) char *top = NULL;

    if (strcmp(path, "-") == 0)
        return fail(err, "standard input has no earlier version: give files instead of -");
    if (!folder)
        return true;
    top = ask_git(folder, (const char *const[]){"rev-parse", "--show-toplevel", NULL}, err);
    if (!top)
        return fail_in(err, "%s", shown_path(path).text);
    if (!t->top) {
        t->top = xstrdup(top);
        return true;
    }
    return strcmp(t->top, top) == 0 ||
           fail(err, "%s is in another Git repository than the PATHs before it: %s and %s",
                shown_path(path).text, shown_path(top).text, shown_path(t->top).text);
}

char *git_tree_find(const struct git_tree *t, const char *path)
{
    const char *rest;
    CLEANUP(free_cleanup) char *folder = find_folder(path, &rest);
    CLEANUP(strbuf_release) struct strbuf out = STRBUF_INIT(PATH_MAX);
    size_t len = strlen(t->top);
    struct stat about;

    if (!folder || strncmp(folder, t->top, len) != 0)
        return NULL;
    strbuf_addf(&out, "%s/tree%s%s%s", temporary_folder_path(t->folder), folder + len,
                *rest ? "/" : "", rest);
    return strbuf_ok(&out) && lstat(out.data, &about) == 0 ? strbuf_take(&out, NULL) : NULL;
}

/* ---- tree ---- */

static bool find_tree(struct git_tree *t, const char *ref, struct error *err)
{
    CLEANUP(strbuf_release) struct strbuf name = STRBUF_INIT(ANSWER_MAX_BYTES);
    CLEANUP(free_cleanup) char *shallow = NULL;
    struct error ignored;

    strbuf_addf(&name, "%s^{tree}", ref);
    /* A REF such as --all must not become an option, and ^main excludes commits. */
    if (*ref == '\0' || *ref == '-' || *ref == '^' || !strbuf_ok(&name))
        return fail(err, "'%s' names no commit, branch or tag", shown(ref).text);
    t->id = ask_git(
        t->top, (const char *const[]){"rev-parse", "--verify", "--quiet", name.data, NULL}, err);
    if (t->id)
        return true;
    shallow = ask_git(t->top, (const char *const[]){"rev-parse", "--is-shallow-repository", NULL},
                      &ignored);
    if (shallow && strcmp(shallow, "true") == 0)
        return fail(err,
                    "the repository has no commit '%s', because it is a shallow clone: fetch the "
                    "commit, as with git fetch --depth=1 origin BRANCH, or clone with more depth",
                    shown(ref).text);
    return fail(err,
                "the repository has no commit, branch or tag '%s': correct the name, or fetch "
                "it",
                shown(ref).text);
}

/* Adds the size of an entry of `git ls-tree -l -z`: "100644 blob ID SIZE<TAB>PATH". */
static bool read_listed(struct git_tree *t, const char *entry, uint64_t *sum)
{
    const char *tab = strchr(entry, '\t');
    const char *size = tab;
    uint64_t bytes;

    if (!tab)
        return false;
    while (size > entry && size[-1] != ' ')
        size--;
    if (strncmp(entry, "160000 ", 7) == 0) {
        if (!t->submodule)
            t->submodule = xstrdup(tab + 1);
        return true;
    }

    CLEANUP(free_cleanup) char *digits = xmemdup0(size, (size_t)(tab - size));

    if (!parse_uint(digits, UINT64_MAX / 2, &bytes))
        return false;
    *sum = bytes > UINT64_MAX / 2 - *sum ? UINT64_MAX / 2 : *sum + bytes;
    return true;
}

static bool check_size(struct git_tree *t, struct error *err)
{
    CLEANUP(strbuf_release) struct strbuf listing = STRBUF_INIT(LISTING_MAX_BYTES);
    uint64_t sum = 0;

    if (!run_git(t->top, (const char *const[]){"ls-tree", "-r", "-l", "-z", t->id, NULL}, &listing,
                 err))
        return false;
    for (size_t at = 0; at < listing.len; at += strlen(listing.data + at) + 1) {
        if (!read_listed(t, listing.data + at, &sum))
            return fail(err, "git ls-tree: the output is malformed");
    }
    return sum <= TREE_MAX_BYTES ||
           fail(err,
                "the files have %" PRIu64 " MiB, and the maximum is %" PRIu64
                " MiB: use a report of check -o json instead",
                sum >> 20, TREE_MAX_BYTES >> 20);
}

/* Removes the link if it leads out of the folder `top`. */
static bool keep_within(const char *top, const char *link, struct error *err)
{
    size_t len = strlen(top);
    char target[PATH_MAX];

    /* A link without a target is an error of the files, as at the head. */
    if (!realpath(link, target) ||
        (strncmp(target, top, len) == 0 && (target[len] == '/' || target[len] == '\0')))
        return true;
    return unlink(link) == 0 || fail(err, "cannot remove %s: %s", link, strerror(errno));
}

/*
 * Removes the symbolic links that lead out of the folder. They would lead to present files, and
 * problems that are new in these files would count as known.
 */
static bool remove_links_out(const char *folder, struct error *err)
{
    char top[PATH_MAX];
    char *paths[] = {top, NULL};
    bool fine = true;
    FTSENT *entry;
    FTS *walk;

    if (!realpath(folder, top))
        return fail(err, "cannot read the folder %s: %s", folder, strerror(errno));
    walk = fts_open(paths, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
    if (!walk)
        return fail(err, "cannot read the folder %s: %s", top, strerror(errno));
    while (fine && (entry = fts_read(walk)) != NULL) {
        if (entry->fts_info == FTS_SL || entry->fts_info == FTS_SLNONE)
            fine = keep_within(top, entry->fts_path, err);
    }
    fts_close(walk);
    return fine;
}

static bool extract(struct git_tree *t, struct error *err)
{
    CLEANUP(strbuf_release) struct strbuf archive = STRBUF_INIT(PATH_MAX);
    CLEANUP(strbuf_release) struct strbuf output = STRBUF_INIT(ANSWER_MAX_BYTES);
    CLEANUP(strbuf_release) struct strbuf folder = STRBUF_INIT(PATH_MAX);

    t->folder = temporary_folder_make(err);
    if (!t->folder)
        return false;
    strbuf_addf(&archive, "--output=%s/tree.tar", temporary_folder_path(t->folder));
    strbuf_addf(&folder, "%s/tree", temporary_folder_path(t->folder));
    if (!run_git(t->top,
                 (const char *const[]){"archive", "--format=tar", archive.data, t->id, NULL},
                 &output, err))
        return false;
    if (mkdir(folder.data, S_IRWXU) != 0)
        return fail(err, "cannot make the folder %s: %s", folder.data, strerror(errno));
    if (!child_run(&(struct child_command){.program = "tar",
                                           .arguments = (const char *const[]){"tar", "-xf",
                                                                              "../tree.tar", NULL},
                                           .folder = folder.data,
                                           .time_max_seconds = TIME_MAX_SECONDS},
                   &output, err))
        return fail_in(err, "tar");
    return remove_links_out(folder.data, err);
}

struct git_tree *git_tree_extract(const char *ref, const struct text_list *paths, struct error *err)
{
    struct git_tree *t = xcalloc(1, sizeof(*t));
    bool fine = true;

    for (size_t i = 0; i < paths->count && fine; i++)
        fine = find_repository(t, paths->items[i], err);
    if (fine && !t->top)
        fine =
            fail(err, paths->count > 0 ? "no PATH exists"
                                       : "git:REF compares files: give PATHs in a Git repository");
    if (fine && find_tree(t, ref, err) && check_size(t, err) && extract(t, err))
        return t;
    git_tree_free(t);
    return NULL;
}

const char *git_tree_submodule(const struct git_tree *t)
{
    return t->submodule;
}
