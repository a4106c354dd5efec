/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/kube/auth/locate.h"

#include "tests/unit/folder.h"
#include "tests/unit/suite.h"

enum { VARIABLES_MAX = 4, TEXT_MAX = 512 };

/* A kubeconfig whose server tells which one it is. */
#define AT(server)                                                                                 \
    "current-context: c\n"                                                                         \
    "contexts: [{name: c, context: {cluster: k, user: u}}]\n"                                      \
    "clusters: [{name: k, cluster: {server: 'https://" server "'}}]\n"                             \
    "users: [{name: u, user: {token: t}}]\n"

/*
 * The folder '@' has the kubeconfigs told (of the server told), variable and
 * home/.kube/config; where there are variables they are those of the case.
 */
static struct locate_case {
    const char *name;
    const char *kubeconfig;
    const char *context;
    const char *variables[VARIABLES_MAX];
    enum kube_found found;
    const char *wanted; /* The server, or what the error says. */
} locate_cases[] = {
    {"nobody told of any", NULL, NULL, {NULL}, KUBE_NOWHERE, NULL},
    {"empty is not told", "", "", {"KUBECONFIG=", "HOME="}, KUBE_NOWHERE, NULL},
    {"a home without a kubeconfig", NULL, NULL, {"HOME=@"}, KUBE_NOWHERE, NULL},
    {"the file that is told",
     "@/told",
     NULL,
     {"KUBECONFIG=@/variable", "HOME=@/home", "KUBERNETES_SERVICE_HOST=10.0.0.1"},
     KUBE_FOUND,
     "https://told"},
    {"the variable before the home",
     NULL,
     NULL,
     {"KUBECONFIG=@/variable", "HOME=@/home"},
     KUBE_FOUND,
     "https://variable"},
    {"the home before the pod, as kubectl has it",
     NULL,
     NULL,
     {"HOME=@/home", "KUBERNETES_SERVICE_HOST=10.0.0.1", "KUBERNETES_SERVICE_PORT=443"},
     KUBE_FOUND,
     "https://home"},
    {"the pod at last",
     NULL,
     NULL,
     {"HOME=@", "KUBERNETES_SERVICE_HOST=10.0.0.1", "KUBERNETES_SERVICE_PORT=443"},
     KUBE_FOUND,
     "https://10.0.0.1:443"},
    {"a name that only begins alike is another variable",
     NULL,
     NULL,
     {"KUBECONFIGS=@/variable", "HOME=@/home"},
     KUBE_FOUND,
     "https://home"},
    {"a told file that is missing is not skipped",
     "@/missing",
     NULL,
     {"HOME=@/home"},
     KUBE_BROKEN,
     "No such file or directory"},
    {"a pod without a port",
     NULL,
     NULL,
     {"KUBERNETES_SERVICE_HOST=10.0.0.1"},
     KUBE_BROKEN,
     "KUBERNETES_SERVICE_PORT"},
    {"a context, and nothing to look for it in",
     NULL,
     "prod",
     {"KUBERNETES_SERVICE_HOST=10.0.0.1", "KUBERNETES_SERVICE_PORT=443"},
     KUBE_BROKEN,
     "the context 'prod' needs a kubeconfig, and there is none"},
    {"a context that is not there", "@/told", "prod", {NULL}, KUBE_BROKEN, "prod"},
};

/* The text with the folder in the place of '@'; the caller's. */
static char *in_folder(const char *text, const char *folder)
{
    const char *at = text ? strchr(text, '@') : NULL;
    char *out = NULL;

    if (!at)
        return text ? xstrdup(text) : NULL;
    if (asprintf(&out, "%.*s%s%s", (int)(at - text), text, folder, at + 1) < 0)
        abort();
    return out;
}

TEST_ROWS(locates, locate_cases, name)
{
    const struct locate_case *c = *state;
    CLEANUP(kube_config_release) struct kube_config config = {0};
    char *folder = folder_make();
    char *variables[VARIABLES_MAX + 1] = {NULL};
    CLEANUP(free_cleanup) char *kubeconfig = in_folder(c->kubeconfig, folder);
    struct kube_place place = {.kubeconfig = kubeconfig, .context = c->context};
    struct error err = {""};

    folder_write(folder, "told", AT("told"));
    folder_write(folder, "variable", AT("variable"));
    folder_mkdir(folder, "home");
    folder_mkdir(folder, "home/.kube");
    folder_write(folder, "home/.kube/config", AT("home"));
    for (size_t i = 0; i < VARIABLES_MAX && c->variables[i]; i++)
        variables[i] = in_folder(c->variables[i], folder);
    place.environment = (const char *const *)variables;

    assert_int_equal(kube_locate(&place, &config, &err), c->found);
    if (c->found == KUBE_FOUND)
        assert_string_equal(config.server, c->wanted);
    else if (c->found == KUBE_BROKEN && !strstr(err.text, c->wanted))
        assert_string_equal(err.text, c->wanted);
    for (size_t i = 0; i < VARIABLES_MAX; i++)
        free(variables[i]);
    folder_remove(folder);
}

/* Proxies are told in capitals or not; capitals go first. */
TEST(the_proxy_comes_from_the_environment)
{
    const char *lower[] = {"https_proxy=http://lower:1", "no_proxy=a", NULL};
    const char *both[] = {"https_proxy=http://lower:1", "HTTPS_PROXY=http://upper:1", NULL};
    CLEANUP(kube_config_release) struct kube_config first = {0};
    CLEANUP(kube_config_release) struct kube_config second = {0};
    char *folder = folder_make();
    CLEANUP(free_cleanup) char *path = folder_path(folder, "told");
    struct error err;

    folder_write(folder, "told", AT("told"));
    assert_int_equal(kube_locate(&(struct kube_place){path, NULL, lower}, &first, &err),
                     KUBE_FOUND);
    assert_string_equal(first.proxy_url, "http://lower:1");
    assert_string_equal(first.no_proxy, "a");
    assert_int_equal(kube_locate(&(struct kube_place){path, NULL, both}, &second, &err),
                     KUBE_FOUND);
    assert_string_equal(second.proxy_url, "http://upper:1");
    folder_remove(folder);
}
