/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/kube/auth/locate.h"

#include "metrics/base/strbuf.h"
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
    enum kube_search_result found;
    const char *wanted; /* The server, or what the error says. */
} locate_cases[] = {
    {"nobody told of any", NULL, NULL, {NULL}, KUBE_NOT_CONFIGURED, NULL},
    {"empty is not told", "", "", {"KUBECONFIG=", "HOME="}, KUBE_NOT_CONFIGURED, NULL},
    {"a home without a kubeconfig", NULL, NULL, {"HOME=@"}, KUBE_NOT_CONFIGURED, NULL},
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
     KUBE_UNUSABLE,
     "No such file or directory"},
    {"a pod without a port",
     NULL,
     NULL,
     {"KUBERNETES_SERVICE_HOST=10.0.0.1"},
     KUBE_UNUSABLE,
     "KUBERNETES_SERVICE_PORT"},
    {"a context, and nothing to look for it in",
     NULL,
     "prod",
     {"KUBERNETES_SERVICE_HOST=10.0.0.1", "KUBERNETES_SERVICE_PORT=443"},
     KUBE_UNUSABLE,
     "the context 'prod' needs a kubeconfig, and there is none"},
    {"a context that is not there", "@/told", "prod", {NULL}, KUBE_UNUSABLE, "prod"},
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
    CLEANUP(rest_config_release) struct rest_config config = {0};
    char *folder = folder_make();
    char *variables[VARIABLES_MAX + 1] = {NULL};
    CLEANUP(free_cleanup) char *kubeconfig = in_folder(c->kubeconfig, folder);
    struct kube_search place = {.kubeconfig = kubeconfig, .context = c->context};
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
    else if (c->found == KUBE_UNUSABLE && !strstr(err.text, c->wanted))
        assert_string_equal(err.text, c->wanted);
    for (size_t i = 0; i < VARIABLES_MAX; i++)
        free(variables[i]);
    folder_remove(folder);
}

/* Which proxy a server is reached by; test_proxy.c has what NO_PROXY may say. */
static struct proxy_case {
    const char *name;
    const char *variables[VARIABLES_MAX];
    const char *server;
    const char *wanted; /* NULL for none. */
} proxy_cases[] = {
    {"in small letters", {"https_proxy=http://lower:1"}, "k", "http://lower:1"},
    {"capitals go first",
     {"https_proxy=http://lower:1", "HTTPS_PROXY=http://upper:1"},
     "k",
     "http://upper:1"},
    {"an empty one is none", {"HTTPS_PROXY=", "https_proxy=http://lower:1"}, "k", "http://lower:1"},
    {"without a scheme it is http", {"HTTPS_PROXY=p.example:3128"}, "k", "http://p.example:3128"},
    {"that of http is another", {"HTTP_PROXY=http://p:1", "ALL_PROXY=http://p:1"}, "k", NULL},
    {"not for what is excepted", {"HTTPS_PROXY=http://p:1", "NO_PROXY=.b,a.c"}, "a.b:6443", NULL},
    {"for another port", {"HTTPS_PROXY=http://p:1", "NO_PROXY=k:443"}, "k:6443", "http://p:1"},
    {"the port that is not named", {"HTTPS_PROXY=http://p:1", "no_proxy=k:443"}, "k", NULL},
    {"not for this machine", {"HTTPS_PROXY=http://p:1"}, "127.0.0.1:6443", NULL},
    {"nor by its name", {"HTTPS_PROXY=http://p:1"}, "localhost:6443", NULL},
    {"nor over IPv6", {"HTTPS_PROXY=http://p:1"}, "[::1]:6443", NULL},
};

TEST_ROWS(inherits_a_proxy, proxy_cases, name)
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

TEST(a_pod_has_a_proxy_too)
{
    const char *variables[] = {"KUBERNETES_SERVICE_HOST=10.0.0.1", "KUBERNETES_SERVICE_PORT=443",
                               "HTTPS_PROXY=http://p:1", NULL};
    CLEANUP(rest_config_release) struct rest_config config = {0};
    struct error err;

    assert_int_equal(kube_locate(&(struct kube_search){NULL, NULL, variables}, &config, &err),
                     KUBE_FOUND);
    assert_string_equal(config.proxy_url, "http://p:1");
}

TEST(a_proxy_that_cannot_be_used_is_refused)
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
