/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/serve/confinement.h"

#include <errno.h>
#include <sys/prctl.h>

#include "exporter/kube/auth/locate.h"
#include "exporter/notify/alertmanager_access.h"
#include "exporter/system/file_reader.h"
#include "exporter/system/platform.h"
#include "exporter/system/sandbox.h"
#include "exporter/web/access_control.h"

enum { TRIAL_WAIT_MS = 1000 }; /* Maximum time between checks whether the trial has ended. */

/* Paths that the exporter and its libraries may read with any options. No file holds secrets. */
static const char *const system_paths[] = {
    /* Name resolution and modules of glibc. */
    "/etc/nsswitch.conf",
    "/etc/host.conf",
    "/etc/gai.conf",
    "/etc/services",
    "/etc/protocols",
    "/etc/ld.so.cache",
    "/lib",
    "/lib64",
    "/usr/lib",
    "/usr/lib64",
    "/usr/local/lib",
    "/run/systemd/resolve",
    "/run/resolvconf",
    "/run/nscd",
    /* Certificate authorities and TLS settings, without the neighbouring folders of keys. */
    "/etc/ssl/certs",
    "/etc/ssl/cert.pem",
    "/etc/ssl/openssl.cnf",
    "/etc/pki/ca-trust",
    "/etc/pki/tls/certs",
    "/etc/pki/tls/cert.pem",
    "/etc/pki/tls/openssl.cnf",
    "/etc/ca-certificates",
    "/etc/gnutls/config",
    "/usr/share/ca-certificates",
    "/usr/local/share/ca-certificates",
    "/usr/share/p11-kit",
    /* State and limits of the process and the machine; devices. */
    "/proc/self",
    "/proc/stat",
    "/proc/meminfo",
    "/proc/sys/vm",
    "/proc/sys/kernel/random",
    "/sys/fs/cgroup",
    "/sys/devices/system/cpu",
    "/dev/null",
    "/dev/urandom",
    "/dev/random",
    /* Time zone, for libraries. */
    "/etc/localtime",
    "/usr/share/zoneinfo",
};

/* Files that other programs may replace at any time, also by renaming over a link's target. */
static const char *const replaced_paths[] = {"/etc/resolv.conf", "/etc/hosts"};

/* Allows a path from options or from files that options name. Skips NULL, "" and "-". */
static void allow_path(void *landlock, const char *path)
{
    if (path && *path != '\0' && strcmp(path, "-") != 0)
        landlock_allow_replaceable(landlock, path);
}

static bool restrict_files(const struct options *o, const struct kube_search *search,
                           const struct rest_config *config, struct error *err)
{
    struct landlock *l = landlock_new(err);

    if (!l)
        return false;
    for (size_t i = 0; i < ARRAY_LEN(system_paths); i++)
        landlock_allow_read(l, system_paths[i]);
    for (size_t i = 0; i < ARRAY_LEN(replaced_paths); i++)
        landlock_allow_replaceable(l, replaced_paths[i]);
    for (size_t i = 0; i < o->manifests.count; i++)
        allow_path(l, o->manifests.items[i]);
    allow_path(l, o->asset_file);
    allow_path(l, o->config_file);
    alertmanager_access_each_file(o, allow_path, l);
    active_web_config_visit_files(o->web_config_file, allow_path, l);
    kube_search_each_file(search, allow_path, l);
    rest_config_each_file(config, allow_path, l);

    bool restricted = landlock_restrict(l, err);
    landlock_free(l);
    return restricted;
}

static void confine_thread(const struct options *o, const char *const *environment,
                           struct confinement *out)
{
    CLEANUP(rest_config_release) struct rest_config config = {0};
    const struct kube_search search = {
        .kubeconfig = o->kubeconfig,
        .context = o->context,
        .environment = environment,
    };

    *out = (struct confinement){.wanted = (enum hardening)o->hardening};
    if (o->manifests.count == 0 && kube_locate(&search, &config, &out->landlock) != KUBE_FOUND) {
        fail(&out->seccomp, "the API server is not known");
        return;
    }
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0) {
        fail(&out->landlock, "cannot drop privileges: %s", strerror(errno));
        out->seccomp = out->landlock;
        return;
    }
    if (config.exec) {
        snprintf(out->plugin, sizeof(out->plugin), "%.*s", (int)sizeof(out->plugin) - 1,
                 shown_path(config.exec->command).text);
        return;
    }
    out->done = restrict_files(o, &search, &config, &out->landlock);
    out->wants_seccomp = true;
}

/* Input of try_confining(). Both pointers stay valid until the process ends: the job may hang. */
struct trial {
    const struct options *options;
    const char *const *environment;
};

static void try_confining(struct read_job *job, void *input)
{
    const struct trial *trial = input;
    struct confinement ignored;

    (void)job;
    confine_thread(trial->options, trial->environment, &ignored);
}

/*
 * Tries confine_thread() in a thread, because a path may hang, and ignores its result. Sets
 * out->is_blocked. If the thread hangs or cannot run, fails with out->landlock.
 */
static bool check_paths_answer(const struct options *o, const char *const *environment,
                               struct confinement *out)
{
    struct file_reader *reader = file_reader_new(&out->landlock);
    enum read_job_state state;
    struct read_result result;

    if (!reader)
        return false;

    struct trial *trial = xmalloc(sizeof(*trial));

    *trial = (struct trial){o, environment};
    struct read_job *job = read_job_start(reader, "", try_confining, trial, free);

    while ((state = read_job_next(job, platform_steady_ms(), &result)) == JOB_WAITS)
        file_reader_wait(reader, TRIAL_WAIT_MS);
    read_job_free(job);
    out->is_blocked = !file_reader_free(reader);
    return state == JOB_DONE ||
           fail(&out->landlock, state == JOB_HANGS ? "a path in the options does not respond"
                                                   : "cannot start a thread to check the sandbox");
}

void confine_process(const struct options *o, const char *const *environment,
                     struct confinement *out)
{
    *out = (struct confinement){.wanted = (enum hardening)o->hardening};
    if (out->wanted == HARDENING_OFF || HARDENING_SANITIZED)
        return;
    if (check_paths_answer(o, environment, out))
        confine_thread(o, environment, out);
    else
        out->seccomp = out->landlock;
}

void filter_syscalls(struct confinement *c)
{
    if (c->wants_seccomp && seccomp_install(&c->seccomp))
        c->done = true;
}

void confinement_log(const struct confinement *c, const struct log *log)
{
    if (HARDENING_SANITIZED)
        log_write(log, LOG_LEVEL_WARN, "not confined: this is a build with a sanitizer");
    else if (c->plugin[0] != '\0')
        log_write(log, LOG_LEVEL_WARN,
                  "not confined by Landlock and seccomp: the exec plugin would inherit them",
                  "plugin", c->plugin);
    else if (c->wanted == HARDENING_OFF)
        log_write(log, LOG_LEVEL_INFO, "not confined: --hardening is off");
    else
        log_write(log, c->done ? LOG_LEVEL_INFO : LOG_LEVEL_WARN,
                  "confined to the files and system calls that the options need", "landlock",
                  *c->landlock.text ? c->landlock.text : "on", "seccomp",
                  *c->seccomp.text ? c->seccomp.text : "on");
}
