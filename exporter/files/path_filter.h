/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/options/option_value.h"
#include "metrics/base/error.h"

/*
 * Patterns that select files in a folder, in the syntax of .gitignore: '*', '?' and '[...]' match
 * inside a name, '**' any folders. A pattern with a '/' before its end is relative to the folder of
 * the pattern; other patterns match at any depth. A '/' at the end limits the pattern to folders.
 */
struct path_pattern {
    char **names; /* Names between the slashes of the pattern. Owned. */
    size_t name_count;
    bool any_depth;   /* The only name matches in any folder. */
    bool folder_only; /* The pattern ends in '/'. */
    bool negated;     /* The pattern began with '!'. */
};

/* List of patterns; a struct filled with zeros is empty. */
struct path_patterns {
    struct path_pattern *items;
    size_t count;
    size_t capacity;
};

void path_patterns_release(struct path_patterns *p);

/*
 * Adds a pattern, without its line end. Returns false, and adds nothing, if the line has no
 * pattern: it is blank, a comment, or only slashes.
 */
bool path_patterns_add(struct path_patterns *p, const char *line, size_t len);

/* Returns true if the pattern, without regard to `negated`, matches a path in its folder. */
bool path_pattern_matches(const struct path_pattern *pattern, const char *path, bool is_folder);

/* ---- ignore files ---- */

extern const char ignore_file_name[];

/* Maximum length of an ignore file in bytes, and maximum number of its patterns. */
enum { IGNORE_FILE_MAX = 1024 * 1024, IGNORE_PATTERNS_MAX = 10000 };

/* Patterns of the ignore file of a folder, and those of the folders above. */
struct ignore_rules {
    struct path_patterns patterns;
    size_t folder_len; /* Length of the path of the folder, with the '/' at its end. */
    const struct ignore_rules *above; /* NULL in the PATH. */
};

/*
 * Reads the ignore file of a folder. A missing file has no patterns. Returns false with the reason
 * if the file cannot be read or exceeds a limit. Blocks on a mount that does not answer.
 */
bool ignore_rules_read(struct ignore_rules *rules, const char *folder, struct error *err) MUST_USE;

/*
 * Returns true if the rules exclude a path. The last pattern of the deepest ignore file that
 * matches decides.
 */
bool ignore_rules_exclude(const struct ignore_rules *rules, const char *path, bool is_folder);

/* ---- patterns of the command line ---- */

/* Patterns of --exclude and --include, relative to each PATH. The strings are owned. */
struct path_filter {
    struct path_patterns exclude;
    struct path_patterns include; /* Without a pattern all files are included. */
};

/*
 * Makes the filter of the options. Returns false with the reason, which names the option, if a text
 * is no pattern: '!' is not allowed.
 */
bool path_filter_make(struct path_filter *out, const struct text_list *exclude,
                      const struct text_list *include, struct error *err) MUST_USE;

/* Copies the filter for another thread. */
struct path_filter path_filter_copy(const struct path_filter *f) MUST_USE;
void path_filter_release(struct path_filter *f);

/*
 * Returns true if the filter excludes a path, relative to its PATH. `used` has an element for each
 * pattern, those of `exclude` first: sets the elements of the patterns that match.
 */
bool path_filter_excludes(const struct path_filter *f, const char *path, bool is_folder,
                          bool *used);
