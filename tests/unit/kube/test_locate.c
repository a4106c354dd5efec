/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/kube/auth/locate.h"

#include "metrics/base/strbuf.h"
#include "tests/unit/folder.h"
#include "tests/unit/suite.h"

enum { VARIABLES_MAX = 4, TEXT_MAX = 512 };

/* Kubeconfig that tests recognize by its server. */
#define AT(server)                                                                                 \
    "current-context: c\n"                                                                         \
    "contexts: [{name: c, context: {cluster: k, user: u}}]\n"                                      \
    "clusters: [{name: k, cluster: {server: 'https://" server "'}}]\n"                             \
    "users: [{name: u, user: {token: t}}]\n"

/*
 * '@' is the folder of the test. It has the kubeconfigs @/told, @/variable and @/home/.kube/config,
 * with the servers https://told, https://variable and https://home.
 */
static struct locate_case {
    const char *name;
    const char *kubeconfig;
    const char *context;
    const char *variables[VARIABLES_MAX];
    enum kube_search_result found;
    const char *wanted; /* Server, or part of the error. */
} locate_cases[] = {
    {"no configuration", NULL, NULL, {NULL}, KUBE_NOT_CONFIGURED, NULL},
    {"empty values", "", "", {"KUBECONFIG=", "HOME="}, KUBE_NOT_CONFIGURED, NULL},
    {"a home without a kubeconfig", NULL, NULL, {"HOME=@"}, KUBE_NOT_CONFIGURED, NULL},
    {"a given kubeconfig comes first",
     "@/told",
     NULL,
     {"KUBECONFIG=@/variable", "HOME=@/home", "KUBERNETES_SERVICE_HOST=10.0.0.1"},
     KUBE_FOUND,
     "https://told"},
    {"KUBECONFIG comes before HOME",
     NULL,
     NULL,
     {"KUBECONFIG=@/variable", "HOME=@/home"},
     KUBE_FOUND,
     "https://variable"},
    {"HOME comes before the pod, as in kubectl",
     NULL,
     NULL,
     {"HOME=@/home", "KUBERNETES_SERVICE_HOST=10.0.0.1", "KUBERNETES_SERVICE_PORT=443"},
     KUBE_FOUND,
     "https://home"},
    {"the pod comes last",
     NULL,
     NULL,
     {"HOME=@", "KUBERNETES_SERVICE_HOST=10.0.0.1", "KUBERNETES_SERVICE_PORT=443"},
     KUBE_FOUND,
     "https://10.0.0.1:443"},
    {"a variable with a longer name is ignored",
     NULL,
     NULL,
     {"KUBECONFIGS=@/variable", "HOME=@/home"},
     KUBE_FOUND,
     "https://home"},
    {"a given kubeconfig that is missing is an error",
     "@/missing",
     NULL,
     {"HOME=@/home"},
     KUBE_UNUSABLE,
     "No such file or directory"},
    {"a pod without a port",
     NULL,
     NULL,
     {"KUBERNETES_SERVICE_HOST=10.0.0.1"},
     KUBE_UNUSABLE,
     "KUBERNETES_SERVICE_PORT"},
    {"a context without a kubeconfig",
     NULL,
     "prod",
     {"KUBERNETES_SERVICE_HOST=10.0.0.1", "KUBERNETES_SERVICE_PORT=443"},
     KUBE_UNUSABLE,
     "the context 'prod' needs a kubeconfig, and there is none"},
    {"a missing context", "@/told", "prod", {NULL}, KUBE_UNUSABLE, "prod"},
};

/* Returns a copy with `folder` in place of the first '@'; NULL for NULL. The caller frees it. */
static char *insert_folder(const char *text, const char *folder)
{
    const char *at = text ? strchr(text, '@') : NULL;
    char *out = NULL;

    if (!at)
        return text ? xstrdup(text) : NULL;
    if (asprintf(&out, "%.*s%s%s", (int)(at - text), text, folder, at + 1) < 0)
        abort();
    return out;
}

TEST_ROWS(kubeconfig_is_found_in_the_order_of_kubectl, locate_cases, name)
{
    const struct locate_case *c = *state;
    CLEANUP(rest_config_release) struct rest_config config = {0};
    char *folder = folder_make();
    char *variables[VARIABLES_MAX + 1] = {NULL};
    CLEANUP(free_cleanup) char *kubeconfig = insert_folder(c->kubeconfig, folder);
    struct kube_search place = {.kubeconfig = kubeconfig, .context = c->context};
    struct error err = {""};

    folder_write(folder, "told", AT("told"));
    folder_write(folder, "variable", AT("variable"));
    folder_mkdir(folder, "home");
    folder_mkdir(folder, "home/.kube");
    folder_write(folder, "home/.kube/config", AT("home"));
    for (size_t i = 0; i < VARIABLES_MAX && c->variables[i]; i++)
        variables[i] = insert_folder(c->variables[i], folder);
    place.environment = (const char *const *)variables;

    assert_int_equal(kube_locate(&place, &config, &err), c->found);
    if (c->found == KUBE_FOUND)
        assert_string_equal(config.server, c->wanted);
    else if (c->found == KUBE_UNUSABLE && !strstr(err.text, c->wanted))
        assert_string_equal(err.text, c->wanted);
    for (size_t i = 0; i < VARIABLES_MAX; i++)
        free(variables[i]);
    folder_remove(folder);
}

/* Proxy for a server. For the syntax of NO_PROXY see test_proxy.c. */
static struct proxy_case {
    const char *name;
    const char *variables[VARIABLES_MAX];
    const char *server;
    const char *wanted; /* NULL: no proxy. */
} proxy_cases[] = {
    {"https_proxy", {"https_proxy=http://lower:1"}, "k", "http://lower:1"},
    {"HTTPS_PROXY comes before https_proxy",
     {"https_proxy=http://lower:1", "HTTPS_PROXY=http://upper:1"},
     "k",
     "http://upper:1"},
    {"an empty HTTPS_PROXY is ignored",
     {"HTTPS_PROXY=", "https_proxy=http://lower:1"},
     "k",
     "http://lower:1"},
    {"the default scheme is http", {"HTTPS_PROXY=p.example:3128"}, "k", "http://p.example:3128"},
    {"HTTP_PROXY and ALL_PROXY are ignored",
     {"HTTP_PROXY=http://p:1", "ALL_PROXY=http://p:1"},
     "k",
     NULL},
    {"NO_PROXY with the domain of the server",
     {"HTTPS_PROXY=http://p:1", "NO_PROXY=.b,a.c"},
     "a.b:6443",
     NULL},
    {"NO_PROXY with another port",
     {"HTTPS_PROXY=http://p:1", "NO_PROXY=k:443"},
     "k:6443",
     "http://p:1"},
    {"no_proxy with the default port", {"HTTPS_PROXY=http://p:1", "no_proxy=k:443"}, "k", NULL},
    {"no proxy for 127.0.0.1", {"HTTPS_PROXY=http://p:1"}, "127.0.0.1:6443", NULL},
    {"no proxy for localhost", {"HTTPS_PROXY=http://p:1"}, "localhost:6443", NULL},
    {"no proxy for ::1", {"HTTPS_PROXY=http://p:1"}, "[::1]:6443", NULL},
};

TEST_ROWS(proxy_is_inherited_from_the_environment, proxy_cases, name)
{
    const struct proxy_case *c = *state;
    CLEANUP(rest_config_release) struct rest_config config = {0};
    CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(TEXT_MAX);
    char *folder = folder_make();
    CLEANUP(free_cleanup) char *path = folder_path(folder, "told");
    const char *variables[VARIABLES_MAX + 1] = {NULL};
    struct error err = {""};

    memcpy(variables, c->variables, sizeof(c->variables));
    strbuf_addf(&text, AT("%s"), c->server);
    folder_write(folder, "told", text.data);
    assert_int_equal(kube_locate(&(struct kube_search){path, NULL, variables}, &config, &err),
                     KUBE_FOUND);
    if (c->wanted)
        assert_string_equal(config.proxy_url, c->wanted);
    else
        assert_null(config.proxy_url);
    assert_int_equal(config.proxy_is_from_environment, c->wanted != NULL);
    folder_remove(folder);
}

TEST(proxy_is_inherited_in_a_pod)
{
    const char *variables[] = {"KUBERNETES_SERVICE_HOST=10.0.0.1", "KUBERNETES_SERVICE_PORT=443",
                               "HTTPS_PROXY=http://p:1", NULL};
    CLEANUP(rest_config_release) struct rest_config config = {0};
    struct error err;

    assert_int_equal(kube_locate(&(struct kube_search){NULL, NULL, variables}, &config, &err),
                     KUBE_FOUND);
    assert_string_equal(config.proxy_url, "http://p:1");
}

TEST(unusable_proxy_is_rejected)
{
    const char *variables[] = {"KUBERNETES_SERVICE_HOST=10.0.0.1", "KUBERNETES_SERVICE_PORT=443",
                               "HTTPS_PROXY=ftp://me:hidden@p:1", NULL};
    CLEANUP(rest_config_release) struct rest_config config = {0};
    struct error err;

    assert_int_equal(kube_locate(&(struct kube_search){NULL, NULL, variables}, &config, &err),
                     KUBE_UNUSABLE);
    assert_string_equal(err.text, "HTTPS_PROXY: the scheme of a proxy is http, https or socks5");
    assert_null(config.proxy_url);
}
