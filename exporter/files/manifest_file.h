/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <sys/types.h>

#include "exporter/files/problems.h"

struct declaration;

/* Tells two states of a file apart without reading it. */
struct signature {
    dev_t device;
    ino_t inode;
    off_t size;
    struct timespec modified;
    struct timespec changed;
};

/* One file that is read. The tree finds it; declarations and problems are what was in it. */
struct manifest_file {
    char *path;
    uint32_t path_index; /* Of the PATH, as given, that it was found under. */
    bool is_path;        /* It is that PATH itself. */
    bool once;           /* A pipe or the like, which can be read only once. */

    struct signature signature;
    uint32_t scan;
    bool changed; /* To be read (again). */
    bool gone;    /* To be dropped. */

    uint32_t source;
    uint32_t pass;
    bool wanted;  /* To be read again for an object in it that counts again. */
    bool guesses; /* Of an object in it a definition may yet say that it has no namespace. */
    int spool;    /* The bytes of a file with `once`, or -1. */
    struct declaration **declarations;
    size_t declaration_count;
    size_t declaration_capacity;
    size_t shadowed; /* How many of them a later document shadows. */
    struct problems problems;
    struct problems duplicates;
};

struct manifest_file *manifest_file_new(const char *path, uint32_t path_index) MUST_USE;
/* Takes NULL. Its declarations must have been dropped. */
void manifest_file_free(struct manifest_file *file);

/* PATH by PATH as given, then by path in byte order. */
int manifest_file_compare(const struct manifest_file *a, const struct manifest_file *b);
