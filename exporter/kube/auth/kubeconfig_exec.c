/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/kube/auth/kubeconfig_exec.h"

enum { ENV_MAX = 1000 };

static bool check_version(const struct field_place *place, const cJSON *exec, const char *version,
                          struct error *err)
{
    static const char *const known[] = {"client.authentication.k8s.io/v1",
                                        "client.authentication.k8s.io/v1beta1"};

    for (size_t i = 0; version && i < ARRAY_LEN(known); i++) {
        if (strcmp(version, known[i]) == 0)
            return true;
    }
    return field_fail(place, exec, "apiVersion", err, "it is '%s' and must be '%s' or '%s'",
                      version ? version : "", known[0], known[1]);
}

static bool check_interaction(const struct field_place *place, const cJSON *exec, struct error *err)
{
    static const char *const fine[] = {"Never", "IfAvailable"};
    const char *mode;

    if (!field_text(place, exec, "interactiveMode", &mode, err))
        return false;
    for (size_t i = 0; mode && i < ARRAY_LEN(fine); i++) {
        if (strcmp(mode, fine[i]) == 0)
            return true;
    }
    if (mode && strcmp(mode, "Always") == 0)
        return field_fail(place, exec, "interactiveMode", err,
                          "the plugin always asks a person, and there is nobody to ask");
    if (mode)
        return field_fail(place, exec, "interactiveMode", err,
                          "it is '%s' and must be 'Never', 'IfAvailable' or 'Always'", mode);
    return true;
}

static bool read_command(const struct field_place *place, const cJSON *exec, struct kube_exec *out,
                         struct error *err)
{
    const char *command;

    if (!field_text(place, exec, "command", &command, err))
        return false;
    if (!command)
        return field_fail(place, exec, "command", err, "it is missing");
    /* What has no slash is looked for in PATH. */
    out->command = strchr(command, '/') ? field_resolve(place, command) : xstrdup(command);
    return field_copy_texts(place, exec, "args", &out->args, &out->arg_count, err);
}

static bool read_env(const struct field_place *place, const cJSON *exec, struct kube_exec *out,
                     struct error *err)
{
    const cJSON *list;
    const cJSON *item;

    if (!field_list(place, exec, "env", &list, err))
        return false;
    if (cJSON_GetArraySize(list) > ENV_MAX)
        return field_fail(place, exec, "env", err, "it has more than %d items", ENV_MAX);
    out->env = xcalloc((size_t)cJSON_GetArraySize(list) + 1, sizeof(*out->env));
    cJSON_ArrayForEach (item, list) {
        const char *name;
        const char *value;

        if (!field_text(place, item, "name", &name, err) ||
            !field_text(place, item, "value", &value, err))
            return false;
        if (!name || strchr(name, '='))
            return field_fail(place, item, "name", err,
                              "the name of a variable is missing or "
                              "holds a '='");
        out->env[out->env_count++] = (struct kube_pair){xstrdup(name), xstrdup(value ? value : "")};
    }
    return true;
}

static bool read(const struct field_place *place, const cJSON *exec, struct kube_exec *out,
                 struct error *err)
{
    return field_copy_text(place, exec, "apiVersion", &out->api_version, err) &&
           check_version(place, exec, out->api_version, err) &&
           check_interaction(place, exec, err) && read_command(place, exec, out, err) &&
           read_env(place, exec, out, err) &&
           field_copy_text(place, exec, "installHint", &out->install_hint, err) &&
           field_bool(place, exec, "provideClusterInfo", &out->provide_cluster_info, err);
}

bool kubeconfig_read_exec(const struct field_place *place, const cJSON *exec,
                          struct kube_exec **out, struct error *err)
{
    struct kube_exec *plugin = xcalloc(1, sizeof(*plugin));

    if (!read(place, exec, plugin, err)) {
        kube_exec_free(plugin);
        return false;
    }
    *out = plugin;
    return true;
}
