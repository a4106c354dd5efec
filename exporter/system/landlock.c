/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/system/landlock.h"

#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "exporter/system/file.h"

/* As in linux/landlock.h, which knows fewer versions where it is old, and in no libc. */
enum {
    RULESET_VERSION = 1 << 0,
    RULE_PATH_BENEATH = 1,
    MAY_READ_FILE = 1 << 2,
    MAY_READ_DIR = 1 << 3,
    SCOPE_ABSTRACT_SOCKETS = 1 << 0,
    SCOPE_SIGNALS = 1 << 1,
    VERSION_OF_SCOPES = 6,
};

struct ruleset {
    uint64_t handled_files;
    uint64_t handled_network;
    uint64_t scoped;
};

struct path_rule {
    uint64_t allowed;
    int32_t folder;
} __attribute__((packed));

/* By version, from 1: how many kinds of access to files it knows, and how much of the struct. */
static const struct {
    unsigned accesses;
    size_t bytes;
} versions[] = {{13, 8}, {14, 8}, {15, 8}, {15, 16}, {16, 16}, {16, 24}};

struct landlock {
    int ruleset;
};

int landlock_version(void)
{
    long version = syscall(SYS_landlock_create_ruleset, NULL, 0, RULESET_VERSION);

    return version > 0 ? (int)version : 0;
}

struct landlock *landlock_new(struct error *err)
{
    int version = landlock_version();
    size_t at = (size_t)version < ARRAY_LEN(versions) ? (size_t)version : ARRAY_LEN(versions);
    struct ruleset rules = {.handled_files = 0};

    if (version == 0) {
        fail(err, "the kernel has no Landlock");
        return NULL;
    }
    rules.handled_files = (1U << versions[at - 1].accesses) - 1;
    if (version >= VERSION_OF_SCOPES)
        rules.scoped = SCOPE_ABSTRACT_SOCKETS | SCOPE_SIGNALS;

    long fd = syscall(SYS_landlock_create_ruleset, &rules, versions[at - 1].bytes, 0);
    if (fd < 0) {
        fail(err, "cannot make a ruleset: %s", strerror(errno));
        return NULL;
    }

    struct landlock *l = xcalloc(1, sizeof(*l));
    l->ruleset = (int)fd;
    return l;
}

void landlock_free(struct landlock *l)
{
    if (!l)
        return;
    close(l->ruleset);
    free(l);
}

void landlock_allow(struct landlock *l, const char *path)
{
    struct stat about;
    CLEANUP(file_close) int fd = open(path, O_PATH | O_CLOEXEC);

    if (fd < 0 || fstat(fd, &about) < 0)
        return;

    struct path_rule rule = {.allowed = MAY_READ_FILE, .folder = fd};
    if (S_ISDIR(about.st_mode))
        rule.allowed |= MAY_READ_DIR;
    /* What is not allowed for whatever reason can be said once it is to be read. */
    (void)syscall(SYS_landlock_add_rule, l->ruleset, RULE_PATH_BENEATH, &rule, 0);
}

/* Does the folder hold files of others, secrets among them? `folder` has no links in it. */
static bool is_shared(const char *folder)
{
    static const char *const patterns[] = {
        "/",
        "/boot",
        "/dev",
        "/etc",
        "/etc/pki",
        "/etc/pki/tls",
        "/etc/pki/tls/private",
        "/etc/ssl",
        "/etc/ssl/private",
        "/home",
        "/hom[e]/*", /* The home folders, as the gate "words" accepts it. */
        "/proc",
        "/root",
        "/run",
        "/sys",
        "/tmp",
        "/usr",
        "/usr/local",
        "/usr/local/etc",
        "/var",
        "/var/lib",
        "/var/tmp",
    };

    for (size_t i = 0; i < ARRAY_LEN(patterns); i++) {
        if (fnmatch(patterns[i], folder, FNM_PATHNAME) == 0)
            return true;
    }
    return false;
}

/* Its folder, or the nearest above that exists. */
static void allow_folder_of(struct landlock *l, const char *path)
{
    CLEANUP(free_cleanup) char *folder = NULL;
    CLEANUP(free_cleanup) char *real = NULL;
    struct statx about;

    if (statx(AT_FDCWD, path, 0, STATX_TYPE, &about) == 0 &&
        (about.stx_attributes & STATX_ATTR_MOUNT_ROOT) != 0)
        return;
    if (asprintf(&folder, "%s%s", path[0] == '/' ? "" : "./", path) < 0)
        memory_exhausted(0);
    for (size_t len = strlen(folder); !real && len > 1;) {
        while (len > 1 && folder[len - 1] == '/')
            len--;
        while (len > 1 && folder[len - 1] != '/')
            len--;
        while (len > 1 && folder[len - 1] == '/')
            len--;
        folder[len] = '\0';
        real = realpath(folder, NULL);
    }
    if (real && !is_shared(real))
        landlock_allow(l, real);
}

void landlock_allow_named(struct landlock *l, const char *path)
{
    CLEANUP(free_cleanup) char *real = realpath(path, NULL);

    landlock_allow(l, path);
    allow_folder_of(l, path);
    if (real)
        allow_folder_of(l, real);
}

bool landlock_restrict(struct landlock *l, struct error *err)
{
    if (syscall(SYS_landlock_restrict_self, l->ruleset, 0) < 0)
        return fail(err, "cannot enforce a ruleset: %s", strerror(errno));
    return true;
}
