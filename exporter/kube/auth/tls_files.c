/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/kube/auth/tls_files.h"

#include "exporter/system/encoding.h"

static char *read_part(const struct pem_file *part, struct file_stamp *stamp, struct error *err)
{
    struct secret_file about;
    char *pem = NULL;

    if (!part->secret || secret_path_exists(part->path, err))
        pem = secret_file_read(part->path, TLS_FILE_MAX_BYTES, &about, err);

    if (pem && !part->check(pem, err)) {
        fail_in(err, "'%s'", part->path);
        secret_free(pem);
        pem = NULL;
    }
    if (pem)
        *stamp = about.stamp;
    else
        fail_in(err, "%s", part->name);
    return pem;
}

static void release_set(struct pem_group *set)
{
    for (size_t i = 0; i < set->count; i++)
        secret_free(set->parts[i].pem);
}

/* Bytes in the kubeconfig itself win over a file, and never change. */
static bool load_part(struct pem_file *part, const struct rest_config_bytes *bytes,
                      struct error *err)
{
    if (bytes->data) {
        part->pem = xstrdup(bytes->data);
        return true;
    }
    part->path = bytes->file;
    if (!part->path)
        return true;
    part->pem = read_part(part, &part->stamp, err);
    return part->pem != NULL;
}

static bool has_files(const struct pem_group *set)
{
    for (size_t i = 0; i < set->count; i++) {
        if (set->parts[i].path)
            return true;
    }
    return false;
}

bool tls_files_load(struct tls_files *out, const struct rest_config *config, int64_t now_ms,
                    struct error *err)
{
    *out = (struct tls_files){
        .trust = {.parts = {{.name = "the CA", .check = pem_check_certificates}},
                  .count = 1,
                  .seen_ms = INT64_MAX},
        .pair = {.parts = {{.name = "the client certificate", .check = pem_check_certificates},
                           {.name = "the client key", .check = pem_check_key, .secret = true}},
                 .count = 2,
                 .seen_ms = INT64_MAX},
    };
    if (!load_part(&out->trust.parts[0], &config->ca, err) ||
        !load_part(&out->pair.parts[0], &config->certificate, err) ||
        !load_part(&out->pair.parts[1], &config->key, err)) {
        tls_files_release(out);
        return false;
    }
    bool files = has_files(&out->trust) || has_files(&out->pair);
    out->due_ms = files ? now_ms + TLS_CHECK_MS : INT64_MAX;
    return true;
}

void tls_files_release(struct tls_files *files)
{
    release_set(&files->trust);
    release_set(&files->pair);
    *files = (struct tls_files){.due_ms = 0};
}

/* What a look at the files of a set finds. */
struct look {
    bool moved; /* Since the last look. */
    bool old;   /* All are as they were read. */
    bool half;  /* One of several is. */
};

static bool look_at(struct pem_group *set, struct look *out, struct error *err)
{
    size_t files = 0;
    size_t changed = 0;

    *out = (struct look){.moved = false};
    for (size_t i = 0; i < set->count; i++) {
        struct pem_file *part = &set->parts[i];
        struct file_stamp stamp;

        if (!part->path)
            continue;
        if (!file_stamp_read(part->path, &stamp, err))
            return fail_in(err, "%s", part->name);
        out->moved = out->moved || !file_stamp_equal(&stamp, &part->seen);
        part->seen = stamp;
        files++;
        changed += !file_stamp_equal(&stamp, &part->stamp);
    }
    out->old = changed == 0;
    out->half = changed < files;
    return true;
}

/* Read all files of the set again, and use all of them or none. */
static bool replace_parts(struct pem_group *set, bool *changed, struct error *err)
{
    char *fresh[PEM_GROUP_MAX] = {NULL};
    struct file_stamp stamps[PEM_GROUP_MAX];
    bool well = true;

    for (size_t i = 0; i < set->count && well; i++) {
        if (!set->parts[i].path)
            continue;
        fresh[i] = read_part(&set->parts[i], &stamps[i], err);
        if (fresh[i] && !file_stamp_equal(&stamps[i], &set->parts[i].seen))
            well = fail(err, "'%s' changes while it is read", set->parts[i].path);
        else
            well = fresh[i] != NULL;
    }
    for (size_t i = 0; i < set->count; i++) {
        struct pem_file *part = &set->parts[i];

        if (well && fresh[i]) {
            *changed = *changed || strcmp(part->pem, fresh[i]) != 0;
            secret_free(part->pem);
            part->pem = fresh[i];
            part->stamp = stamps[i];
        } else {
            secret_free(fresh[i]);
        }
    }
    return well;
}

/* True if that changed the bytes. */
static bool advance_set(struct pem_group *set, int64_t now_ms)
{
    struct look look;
    bool changed = false;

    if (!look_at(set, &look, &set->problem)) {
        set->seen_ms = now_ms;
        return false;
    }
    if (look.old) {
        set->seen_ms = INT64_MAX;
        set->problem.text[0] = '\0';
        return false;
    }
    if (look.moved || set->seen_ms == INT64_MAX)
        set->seen_ms = now_ms;
    if (now_ms - set->seen_ms < (look.half ? TLS_PAIR_STABLE_MS : TLS_STABLE_MS))
        return false;
    /* Files that cannot be used are read again at every look, until somebody repairs them. */
    if (replace_parts(set, &changed, &set->problem)) {
        set->seen_ms = INT64_MAX;
        set->problem.text[0] = '\0';
    }
    return changed;
}

void tls_files_advance(struct tls_files *files, int64_t now_ms)
{
    if (now_ms < files->due_ms)
        return;

    bool trust_changed = advance_set(&files->trust, now_ms);
    bool pair_changed = advance_set(&files->pair, now_ms);
    bool unstable = files->trust.seen_ms != INT64_MAX || files->pair.seen_ms != INT64_MAX;
    files->version += trust_changed || pair_changed;
    files->due_ms = now_ms + (unstable ? TLS_STABLE_MS : TLS_CHECK_MS);
}

const char *tls_files_ca(const struct tls_files *files)
{
    return files->trust.parts[0].pem;
}

const char *tls_files_certificate(const struct tls_files *files)
{
    return files->pair.parts[0].pem;
}

const char *tls_files_key(const struct tls_files *files)
{
    return files->pair.parts[1].pem;
}
