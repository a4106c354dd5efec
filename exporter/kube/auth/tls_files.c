/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/kube/auth/tls_files.h"

#include "exporter/system/encoding.h"

static char *read_pem(const struct pem_file *file, struct file_stamp *stamp, struct error *err)
{
    struct secret_file about;
    char *pem = NULL;

    if (!file->is_secret || secret_path_exists(file->path, err))
        pem = secret_file_read(file->path, TLS_FILE_MAX_BYTES, &about, err);

    if (pem && !file->check(pem, err)) {
        fail_in(err, "'%s'", file->path);
        secret_free(pem);
        pem = NULL;
    }
    if (pem)
        *stamp = about.stamp;
    else
        fail_in(err, "%s", file->name);
    return pem;
}

static void release_group(struct pem_group *group)
{
    for (size_t i = 0; i < group->count; i++)
        secret_free(group->files[i].pem);
}

/* Copies the PEM of the kubeconfig, or reads the file if the kubeconfig contains no PEM. */
static bool load_pem(struct pem_file *file, const struct rest_config_bytes *bytes,
                     struct error *err)
{
    if (bytes->data) {
        file->pem = xstrdup(bytes->data);
        return true;
    }
    file->path = bytes->file;
    if (!file->path)
        return true;
    file->pem = read_pem(file, &file->loaded, err);
    return file->pem != NULL;
}

static bool has_file(const struct pem_group *group)
{
    for (size_t i = 0; i < group->count; i++) {
        if (group->files[i].path)
            return true;
    }
    return false;
}

bool tls_files_load(struct tls_files *out, const struct rest_config *config, int64_t now_ms,
                    struct error *err)
{
    *out = (struct tls_files){
        .ca = {.files = {{.name = "the CA", .check = pem_check_certificates}},
               .count = 1,
               .seen_ms = INT64_MAX},
        .pair = {.files = {{.name = "the client certificate", .check = pem_check_certificates},
                           {.name = "the client key", .check = pem_check_key, .is_secret = true}},
                 .count = 2,
                 .seen_ms = INT64_MAX},
    };
    if (!load_pem(&out->ca.files[0], &config->ca, err) ||
        !load_pem(&out->pair.files[0], &config->certificate, err) ||
        !load_pem(&out->pair.files[1], &config->key, err)) {
        tls_files_release(out);
        return false;
    }
    bool any_file = has_file(&out->ca) || has_file(&out->pair);
    out->due_ms = any_file ? now_ms + TLS_CHECK_MS : INT64_MAX;
    return true;
}

void tls_files_release(struct tls_files *files)
{
    release_group(&files->ca);
    release_group(&files->pair);
    *files = (struct tls_files){.due_ms = 0};
}

/* Changes of the files of a group. */
struct group_changes {
    bool since_check; /* A file has changed since the last check. */
    bool any;         /* A file has changed since it was loaded. */
    bool all;         /* All files have changed since they were loaded. */
};

static bool find_changes(struct pem_group *group, struct group_changes *out, struct error *err)
{
    size_t files = 0;
    size_t changed = 0;

    *out = (struct group_changes){.since_check = false};
    for (size_t i = 0; i < group->count; i++) {
        struct pem_file *file = &group->files[i];
        struct file_stamp stamp;

        if (!file->path)
            continue;
        if (!file_stamp_read(file->path, &stamp, err))
            return fail_in(err, "%s", file->name);
        out->since_check = out->since_check || !file_stamp_equal(&stamp, &file->seen);
        file->seen = stamp;
        files++;
        changed += !file_stamp_equal(&stamp, &file->loaded);
    }
    out->any = changed > 0;
    out->all = changed == files;
    return true;
}

/*
 * Reads all files of the group again. Replaces the PEM of all files, or of no file if one of them
 * cannot be used or changes meanwhile. Sets `changed` if a PEM differs from the old one.
 */
static bool reload_group(struct pem_group *group, bool *changed, struct error *err)
{
    char *fresh[PEM_GROUP_MAX] = {NULL};
    struct file_stamp stamps[PEM_GROUP_MAX];
    bool usable = true;

    for (size_t i = 0; i < group->count && usable; i++) {
        if (!group->files[i].path)
            continue;
        fresh[i] = read_pem(&group->files[i], &stamps[i], err);
        if (fresh[i] && !file_stamp_equal(&stamps[i], &group->files[i].seen))
            usable = fail(err, "'%s' changes while it is read", group->files[i].path);
        else
            usable = fresh[i] != NULL;
    }
    for (size_t i = 0; i < group->count; i++) {
        struct pem_file *file = &group->files[i];

        if (usable && fresh[i]) {
            *changed = *changed || strcmp(file->pem, fresh[i]) != 0;
            secret_free(file->pem);
            file->pem = fresh[i];
            file->loaded = stamps[i];
        } else {
            secret_free(fresh[i]);
        }
    }
    return usable;
}

/* Checks a group, and reads it again once it is stable. Returns true if a PEM has changed. */
static bool advance_group(struct pem_group *group, int64_t now_ms)
{
    struct group_changes changes;
    bool changed = false;

    if (!find_changes(group, &changes, &group->problem)) {
        group->seen_ms = now_ms;
        return false;
    }
    if (!changes.any) {
        group->seen_ms = INT64_MAX;
        group->problem.text[0] = '\0';
        return false;
    }
    if (changes.since_check || group->seen_ms == INT64_MAX)
        group->seen_ms = now_ms;
    if (now_ms - group->seen_ms < (changes.all ? TLS_STABLE_MS : TLS_PAIR_STABLE_MS))
        return false;
    /* Only success sets seen_ms: after a failure, each check reads the files again. */
    if (reload_group(group, &changed, &group->problem)) {
        group->seen_ms = INT64_MAX;
        group->problem.text[0] = '\0';
    }
    return changed;
}

void tls_files_advance(struct tls_files *files, int64_t now_ms)
{
    if (now_ms < files->due_ms)
        return;

    bool ca_changed = advance_group(&files->ca, now_ms);
    bool pair_changed = advance_group(&files->pair, now_ms);
    bool unstable = files->ca.seen_ms != INT64_MAX || files->pair.seen_ms != INT64_MAX;
    files->version += ca_changed || pair_changed;
    files->due_ms = now_ms + (unstable ? TLS_STABLE_MS : TLS_CHECK_MS);
}

const char *tls_files_ca(const struct tls_files *files)
{
    return files->ca.files[0].pem;
}

const char *tls_files_certificate(const struct tls_files *files)
{
    return files->pair.files[0].pem;
}

const char *tls_files_key(const struct tls_files *files)
{
    return files->pair.files[1].pem;
}
