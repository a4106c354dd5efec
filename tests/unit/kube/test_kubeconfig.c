/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/kube/auth/kubeconfig.h"

#include <sys/stat.h>

#include "exporter/kube/auth/locate.h"
#include "exporter/system/secret.h"
#include "metrics/base/strbuf.h"
#include "tests/unit/folder.h"
#include "tests/unit/suite.h"

/* Blocks in base64 that pass for PEM; their content is neither a certificate nor a key. */
#define CERTIFICATE                                                                                \
    "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCk1BQT0KLS0tLS1FTkQgQ0VSVElGSUNBVEUtLS0tLQo="
#define KEY "LS0tLS1CRUdJTiBQUklWQVRFIEtFWS0tLS0tCk1BQT0KLS0tLS1FTkQgUFJJVkFURSBLRVktLS0tLQo="
#define LOCKED_KEY                                                                                 \
    "LS0tLS1CRUdJTiBFTkNSWVBURUQgUFJJVkFURSBLRVktLS0tLQpNQUE9Ci0tLS0tRU5EIEVOQ1JZUFRFRCBQUklWQVR"  \
    "FIEtFWS0tLS0tCg=="
#define NO_PEM "bm8gcGVt"

/* Kubeconfig with one context. The arguments are the fields of its cluster and of its user. */
#define ONE(cluster, user)                                                                         \
    "apiVersion: v1\nkind: Config\ncurrent-context: c\n"                                           \
    "contexts:\n- {name: c, context: {cluster: k, user: u}}\n"                                     \
    "clusters:\n- {name: k, cluster: {" cluster "}}\n"                                             \
    "users:\n- {name: u, user: {" user "}}\n"
#define HTTPS        "server: 'https://k:6443'"
#define USER(user)   ONE(HTTPS, user)
#define CLUSTER(...) ONE(__VA_ARGS__, "token: t")
#define EXEC(exec)   USER("exec: {apiVersion: client.authentication.k8s.io/v1, " exec "}")

enum { FILES_MAX = 3 };

/* In texts, '@' stands for the folder of the test. */
static struct load_case {
    const char *name;
    const char *files[FILES_MAX]; /* Contents of @/a, @/b/b and @/c; NULL: no file. */
    const char *list;             /* NULL: "@/a". */
    struct kubeconfig_options options;
    const char *wanted; /* Configuration in the format of dump(); NULL: the load fails. */
    const char *error;  /* Part of the error; NULL: the load succeeds. */
} load_cases[] = {
    {
        .name = "a token",
        .files = {ONE(HTTPS, "token: abc")},
        .wanted = "context 'c' of '@/a'; https://k:6443; token=abc",
    },
    {
        .name = "a context with a namespace, a server with a path",
        .files = {"current-context: c\n"
                  "contexts: [{name: c, context: {cluster: k, user: u, namespace: team}}]\n"
                  "clusters: [{name: k, cluster: {server: 'https://K.example/a/b/?q=1#f'}}]\n"
                  "users: [{name: u}]\n"},
        .wanted = "context 'c' of '@/a'; https://K.example/a/b; namespace=team",
    },
    {
        .name = "a kubeconfig in JSON",
        .files = {"{\"current-context\":\"c\",\"contexts\":[{\"name\":\"c\",\"context\":{"
                  "\"cluster\":\"k\",\"user\":\"u\"}}],\"clusters\":[{\"name\":\"k\",\"cluster\":{"
                  "\"server\":\"https://[::1]:6443\"}}],\"users\":[{\"name\":\"u\",\"user\":{}}]}"},
        .wanted = "context 'c' of '@/a'; https://[::1]:6443",
    },
    {
        .name = "unknown keys are ignored, as in kubectl",
        .files = {"preferences: {colors: true}\n" CLUSTER(HTTPS ", colour: red")},
        .wanted = "context 'c' of '@/a'; https://k:6443; token=t",
    },
    {
        .name = "another context than the current one",
        .files = {"current-context: c\n"
                  "contexts:\n- {name: c, context: {cluster: k, user: u}}\n"
                  "- {name: d, context: {cluster: l, user: v}}\n"
                  "clusters:\n- {name: l, cluster: {server: 'https://l'}}\n"
                  "users:\n- {name: v, user: {token: v}}\n"},
        .options = {.context = "d"},
        .wanted = "context 'd' of '@/a'; https://l; token=v",
    },
    /* merging */
    {
        .name = "a context, its cluster and its user each from another file",
        .files =
            {"users: [{name: u, user: {tokenFile: t}}]",
             "contexts: [{name: c, context: {cluster: k, user: u}}]\n"
             "clusters: [{name: k, cluster: {server: 'https://k', certificate-authority: ca}}]",
             "current-context: c"},
        .list = "@/a:@/b/b:@/c",
        .wanted = "context 'c' of '@/a:@/b/b:@/c'; https://k; ca=@/b/ca; token-file=@/t",
    },
    {
        .name = "a duplicate key in a file",
        .files = {"current-context: c\nusers: [{name: u, user: {token: first}}]",
                  "current-context: d\n" CLUSTER(HTTPS)},
        .list = "@/a:@/b/b",
        .error = "the key 'current-context' appears twice",
    },
    {
        .name = "the first current-context and the first user win",
        .files = {"current-context: c\nusers: [{name: u, user: {token: first}}]",
                  "current-context: d\n"
                  "contexts: [{name: c, context: {cluster: k, user: u}}]\n"
                  "clusters: [{name: k, cluster: {server: 'https://k'}}]\n"
                  "users: [{name: u, user: {token: second, as: x}}]"},
        .list = "@/a:@/b/b",
        .wanted = "context 'c' of '@/a:@/b/b'; https://k; token=first",
    },
    {
        .name = "missing and empty files of a list are skipped",
        .files = {USER("token: t"), ""},
        .list = "@/missing::@/b/b:@/a",
        .wanted = "context 'c' of '@/missing::@/b/b:@/a'; https://k:6443; token=t",
    },
    {
        .name = "a single file must exist",
        .list = "@/missing",
        .error = "the kubeconfig: cannot open '@/missing': No such file or directory",
    },
    {
        .name = "one file of a list must exist",
        .list = "@/missing:@/gone",
        .error = "no kubeconfig file exists at '@/missing:@/gone'",
    },
    {
        .name = "a file of a list that is not YAML",
        .files = {USER("token: t"), "a: [b"},
        .list = "@/a:@/b/b",
        .error = "the kubeconfig '@/b/b', line 2, column 1: not valid YAML",
    },
    {.name = "a folder", .list = "@", .error = "cannot read '@': is a directory, not a file"},
    {
        .name = "another kind",
        .files = {"apiVersion: v1\nkind: Pod\n"},
        .error = "'@/a' is not a kubeconfig: its kind is 'Pod' and not 'Config'",
    },
    {
        .name = "a string instead of a mapping",
        .files = {"hello"},
        .error = "'@/a' is not a kubeconfig: not a mapping",
    },
    {
        .name = "aliases that expand exponentially",
        .files = {"a: &a [x,x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a,*a]\n"
                  "c: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b,*b]\nd: &d [*c,*c,*c,*c,*c,*c,*c,*c,*c,*c]\n"
                  "e: &e [*d,*d,*d,*d,*d,*d,*d,*d,*d,*d]\nf: [*e,*e,*e,*e,*e,*e,*e,*e,*e,*e]\n"},
        .error = "the document, with its anchors expanded, is too large",
    },
    /* names without a definition */
    {
        .name = "no current-context",
        .files = {"contexts: [{name: a}, {name: b}]"},
        .error = "no current-context: name one with --context (there are: 'a', 'b')",
    },
    {
        .name = "an empty file",
        .files = {""},
        .error = "no current-context: name one with --context (there are: none)",
    },
    {
        .name = "a context that is missing",
        .files = {USER("token: t")},
        .options = {.context = "x"},
        .error = "the kubeconfig has no context 'x' (there are: 'c')",
    },
    {
        .name = "a cluster that is missing",
        .files = {"current-context: c\ncontexts:\n- name: c\n  context:\n    cluster: k\n"},
        .error = "'@/a', line 5, context 'c': 'cluster': there is no cluster 'k' in the kubeconfig",
    },
    {
        .name = "a user that is missing",
        .files = {"current-context: c\ncontexts: [{name: c, context: {cluster: k, user: u}}]\n"
                  "clusters: [{name: k, cluster: {server: 'https://k'}}]\n"},
        .error = "context 'c': 'user': there is no user 'u' in the kubeconfig",
    },
    {
        .name = "a context without a user",
        .files = {"current-context: c\ncontexts: [{name: c, context: {cluster: k}}]\n"
                  "clusters: [{name: k, cluster: {server: 'https://k'}}]\n"},
        .error = "context 'c': 'user': missing",
    },
    {
        .name = "a duplicate user name",
        .files = {"users: [{name: u}, {name: u}]\n"
                  "current-context: c\ncontexts: [{name: c, context: {cluster: k, user: u}}]\n"
                  "clusters: [{name: k, cluster: {server: 'https://k'}}]\n"},
        .error = "'@/a', line 1, users: 'name': 'u' appears twice",
    },
    /* clusters */
    {
        .name = "data wins over a file, with a note",
        .files = {CLUSTER(HTTPS ", certificate-authority: x, "
                                "certificate-authority-data: " CERTIFICATE)},
        .wanted = "context 'c' of '@/a'; https://k:6443; ca=data @/x; token=t; "
                  "note: certificate-authority-data is used, not certificate-authority",
    },
    {
        .name = "an absolute path stays unchanged",
        .files = {CLUSTER(HTTPS ", certificate-authority: /x/ca, certificate-authority-data: ''")},
        .wanted = "context 'c' of '@/a'; https://k:6443; ca=/x/ca; token=t",
    },
    {
        .name = "a tls-server-name",
        .files = {CLUSTER(HTTPS ", tls-server-name: api.example, disable-compression: true")},
        .wanted = "context 'c' of '@/a'; https://k:6443; tls=api.example; plain; token=t",
    },
    {
        .name = "an invalid tls-server-name",
        .files = {CLUSTER(HTTPS ", tls-server-name: 'a b'")},
        .error = "cluster 'k': 'tls-server-name': 'a b' is not the name of a host",
    },
    {
        .name = "no verification",
        .files = {CLUSTER(HTTPS ", insecure-skip-tls-verify: true")},
        .wanted = "context 'c' of '@/a'; https://k:6443; insecure; token=t; "
                  "note: insecure-skip-tls-verify: the identity of the server is not verified",
    },
    {
        .name = "no verification, and a CA",
        .files = {CLUSTER(HTTPS ", insecure-skip-tls-verify: true, certificate-authority: x")},
        .error = "'insecure-skip-tls-verify': true, and there is a certificate-authority",
    },
    {
        .name = "plain HTTP",
        .files = {CLUSTER("server: 'http://localhost:8001/'")},
        .wanted = "context 'c' of '@/a'; http://localhost:8001; token=t; "
                  "note: the server is reached without TLS: no credentials are sent",
    },
    {
        .name = "plain HTTP to another machine",
        .files = {CLUSTER("server: 'http://k.example:8001/'")},
        .error = "line 7, cluster 'k': 'server': http://k.example is not encrypted: use https://, "
                 "or run 'kubectl proxy' on this machine and name http://127.0.0.1:8001",
    },
    {.name = "no server", .files = {CLUSTER("")}, .error = "cluster 'k': 'server': missing"},
    {
        .name = "a server without a scheme",
        .files = {CLUSTER("server: 'k:6443'")},
        .error = "'@/a', line 7, cluster 'k': 'server': the address must begin with 'https://'",
    },
    {
        .name = "a server with another scheme",
        .files = {CLUSTER("server: 'ftp://k'")},
        .error = "'server': the address must begin with 'https://'",
    },
    {
        .name = "a server with a password, which is not shown",
        .files = {CLUSTER("server: 'https://me:hidden@k'")},
        .error = "'server': the address must not hold a user or a password",
    },
    {
        .name = "a server with an invalid port",
        .files = {CLUSTER("server: 'https://k:66666'")},
        .error = "'server': not an address: ",
    },
    {
        .name = "a CA that is not base64",
        .files = {CLUSTER(HTTPS ", certificate-authority-data: '**hidden**'")},
        .error = "cluster 'k': 'certificate-authority-data': not base64",
    },
    {
        .name = "base64 without its padding",
        .files = {CLUSTER(HTTPS ", certificate-authority-data: 'bm8gcGVtcw'")},
        .error = "'certificate-authority-data': not base64",
    },
    {
        .name = "a CA that is not PEM",
        .files = {CLUSTER(HTTPS ", certificate-authority-data: " NO_PEM)},
        .error = "'certificate-authority-data': there is no PEM certificate in it",
    },
    {
        .name = "a CA with a NUL byte",
        .files = {CLUSTER(HTTPS ", certificate-authority-data: 'YQBi'")},
        .error = "'certificate-authority-data': not PEM in base64",
    },
    {
        .name = "a proxy",
        .files = {CLUSTER(HTTPS ", proxy-url: 'socks5://p:1080'")},
        .wanted = "context 'c' of '@/a'; https://k:6443; proxy=socks5://p:1080; token=t",
    },
    {
        .name = "a proxy scheme of curl that kubectl lacks",
        .files = {CLUSTER(HTTPS ", proxy-url: 'socks4://me:hidden@p'")},
        .error = "'proxy-url': the scheme of a proxy is http, https or socks5",
    },
    {
        .name = "the extension of a cluster for exec plugins",
        .files = {CLUSTER(HTTPS ", extensions: [{name: x, extension: y}, "
                                "{name: client.authentication.k8s.io/exec, extension: {a: 1}}]")},
        .wanted = "context 'c' of '@/a'; https://k:6443; exec-config={\"a\":1}; token=t",
    },
    /* users */
    {
        .name = "a client certificate in files",
        .files = {NULL, USER("client-certificate: crt, client-key: ../key")},
        .list = "@/b/b",
        .wanted = "context 'c' of '@/b/b'; https://k:6443; certificate=@/b/crt; key=@/b/../key",
    },
    {
        .name = "a client certificate as data, and a token",
        .files = {USER("client-certificate-data: " CERTIFICATE ", client-key-data: " KEY
                       ", token: t, tokenFile: f")},
        .wanted = "context 'c' of '@/a'; https://k:6443; certificate=data; key=data; token=t; "
                  "token-file=@/f",
    },
    {
        .name = "data wins over files of a client certificate, with notes",
        .files = {USER("client-certificate: crt, client-certificate-data: " CERTIFICATE
                       ", client-key: key, client-key-data: " KEY)},
        .wanted = "context 'c' of '@/a'; https://k:6443; certificate=data @/crt; key=data @/key; "
                  "note: client-certificate-data is used, not client-certificate; "
                  "note: client-key-data is used, not client-key",
    },
    {
        .name = "a certificate without its key",
        .files = {USER("client-certificate: crt")},
        .error = "user 'u': 'client-key': missing, and a client certificate needs its key",
    },
    {
        .name = "a key without its certificate",
        .files = {USER("client-key: key")},
        .error = "user 'u': 'client-certificate': missing",
    },
    {
        .name = "a key that needs a passphrase",
        .files = {USER("client-certificate: crt, client-key-data: " LOCKED_KEY)},
        .error = "'client-key-data': the private key needs a passphrase, and the exporter "
                 "cannot ask for it",
    },
    {
        .name = "a certificate in the place of the key",
        .files = {USER("client-certificate: crt, client-key-data: " CERTIFICATE)},
        .error = "'client-key-data': there is no PEM private key in it",
    },
    {
        .name = "a token with a line break",
        .files = {USER("token: \"hidden\\r\\nX: y\"")},
        .error = "'@/a', line 9, user 'u': 'token': holds control characters",
    },
    {
        .name = "a token that is a number",
        .files = {USER("token: 12345678")},
        .error = "'token': is a number and must be a string: put it in quotes",
    },
    {
        .name = "a user and a password",
        .files = {USER("username: me, password: hidden")},
        .error = "user 'u': 'username': API servers have not accepted a user and password",
    },
    {
        .name = "a removed auth provider",
        .files = {USER("auth-provider: {name: gcp, config: {access-token: hidden}}")},
        .error = "'auth-provider': the provider 'gcp' was removed in Kubernetes 1.26: use an exec "
                 "plugin, such as gke-gcloud-auth-plugin",
    },
    {
        .name = "an unknown auth provider",
        .files = {USER("auth-provider: {name: mine}")},
        .error = "the provider 'mine' was removed in Kubernetes 1.26: use an exec plugin",
    },
    {
        .name = "impersonation",
        .files = {USER("token: t, as: jo, as-uid: '7', as-groups: [a, b], "
                       "as-user-extra: {x/y: [p, q], z: []}")},
        .wanted = "context 'c' of '@/a'; https://k:6443; token=t; as=jo; uid=7; group=a; group=b; "
                  "extra x/y=p; extra x/y=q",
    },
    {
        .name = "an impersonated group without a user",
        .files = {USER("token: t, as-groups: [a]")},
        .error = "user 'u': 'as': missing, and as-uid, as-groups and as-user-extra need it",
    },
    {
        .name = "a group that is a number",
        .files = {USER("token: t, as: x, as-groups: [1]")},
        .error = "'as-groups': an item is a number and must be a string",
    },
    {
        .name = "a group with a line break",
        .files = {USER("token: t, as: x, as-groups: [\"a\\nb\"]")},
        .error = "'as-groups': an item is empty, too long or holds control characters",
    },
    /* exec plugins */
    {
        .name = "an exec plugin",
        .files = {EXEC(
            "command: get-token, args: [-a, b], env: [{name: A, value: b}, {name: C}], "
            "installHint: hint, provideClusterInfo: true, interactiveMode: IfAvailable")},
        .wanted = "context 'c' of '@/a'; https://k:6443; "
                  "exec client.authentication.k8s.io/v1 get-token -a b A=b C= hint=hint cluster",
    },
    {
        .name = "a plugin beside the kubeconfig",
        .files = {NULL, USER("exec: {apiVersion: client.authentication.k8s.io/v1beta1, "
                             "command: ./bin/plugin}")},
        .list = "@/b/b",
        .wanted = "context 'c' of '@/b/b'; https://k:6443; "
                  "exec client.authentication.k8s.io/v1beta1 @/b/./bin/plugin",
    },
    {
        .name = "a token beside a plugin",
        .files = {EXEC("command: x}, token: t, x: {")},
        .wanted = "context 'c' of '@/a'; https://k:6443; token=t; "
                  "note: the token or certificate is used; the exec plugin is not run",
    },
    {
        .name = "a plugin although plugins are refused",
        .files = {EXEC("command: x")},
        .options = {.refuse_exec = true},
        .error = "context 'c' needs the exec plugin 'x', and running programs is not allowed here",
    },
    {
        .name = "a plugin with a removed apiVersion",
        .files = {USER("exec: {apiVersion: client.authentication.k8s.io/v1alpha1, command: x}")},
        .error = "user 'u': 'apiVersion': is 'client.authentication.k8s.io/v1alpha1' and must be",
    },
    {
        .name = "a plugin without a command",
        .files = {EXEC("args: []")},
        .error = "'command': missing",
    },
    {
        .name = "a plugin that needs a terminal",
        .files = {EXEC("command: x, interactiveMode: Always")},
        .error = "'interactiveMode': the plugin needs interactive input, and the exporter "
                 "cannot ask for input",
    },
    {
        .name = "an invalid interactiveMode",
        .files = {EXEC("command: x, interactiveMode: Sometimes")},
        .error = "'interactiveMode': is 'Sometimes' and must be",
    },
    {
        .name = "arguments that are not a list",
        .files = {EXEC("command: x, args: all")},
        .error = "'args': is a string and must be a list",
    },
    {
        .name = "a variable without a name",
        .files = {EXEC("command: x, env: [{value: hidden}]")},
        .error = "'name': the name of a variable is missing or holds a '='",
    },
    {
        .name = "variables as a mapping",
        .files = {EXEC("command: x, env: {A: hidden}")},
        .error = "'env': is a mapping and must be a list",
    },
    /* values of wrong types */
    {
        .name = "contexts that are not a list",
        .files = {"current-context: c\ncontexts: {c: d}"},
        .error = "'@/a', line 1, contexts: 'contexts': is a mapping and must be a list",
    },
    {
        .name = "a context that is not a mapping",
        .files = {"current-context: c\ncontexts: [c]"},
        .error = "'contexts': an item is a string and must be a mapping",
    },
    {
        .name = "a context with a string instead of its fields",
        .files = {"current-context: c\ncontexts: [{name: c, context: d}]"},
        .error = "context 'c': 'context': is a string and must be a mapping",
    },
    {
        .name = "a current-context that is a number",
        .files = {"current-context: 1"},
        .error = "the kubeconfig: 'current-context': is a number and must be a string",
    },
    {
        .name = "a flag in quotes",
        .files = {CLUSTER(HTTPS ", insecure-skip-tls-verify: 'true'")},
        .error = "'insecure-skip-tls-verify': is a string and must be true or false",
    },
};

/* ---- test functions ---- */

/* Returns `text` with each `from` replaced by `to`. The caller frees it. */
static char *replace_all(const char *text, const char *from, const char *to)
{
    struct strbuf out = STRBUF_INIT(1 << 16);
    size_t len;

    while (*text) {
        if (strncmp(text, from, strlen(from)) == 0) {
            strbuf_adds(&out, to);
            text += strlen(from);
        } else {
            strbuf_addc(&out, *text++);
        }
    }
    return strbuf_take(&out, &len);
}

static void dump_text(struct strbuf *out, const char *label, const char *text)
{
    if (text)
        strbuf_addf(out, "; %s%s", label, text);
}

static void dump_bytes(struct strbuf *out, const char *label, const struct rest_config_bytes *bytes)
{
    if (bytes->data || bytes->file)
        strbuf_addf(out, "; %s=%s%s%s", label, bytes->data ? "data" : "",
                    bytes->data && bytes->file ? " " : "", bytes->file ? bytes->file : "");
}

static void dump_exec(struct strbuf *out, const struct rest_config_exec *exec)
{
    if (!exec)
        return;
    strbuf_addf(out, "; exec %s %s", exec->api_version, exec->command);
    for (size_t i = 0; i < exec->arg_count; i++)
        strbuf_addf(out, " %s", exec->args[i]);
    for (size_t i = 0; i < exec->env_count; i++)
        strbuf_addf(out, " %s=%s", exec->env[i].name, exec->env[i].value);
    if (exec->install_hint)
        strbuf_addf(out, " hint=%s", exec->install_hint);
    if (exec->provide_cluster_info)
        strbuf_adds(out, " cluster");
}

static void dump_impersonation(struct strbuf *out, const struct rest_config_impersonation *as)
{
    dump_text(out, "as=", as->user);
    dump_text(out, "uid=", as->uid);
    for (size_t i = 0; i < as->group_count; i++)
        dump_text(out, "group=", as->groups[i]);
    for (size_t i = 0; i < as->extra_count; i++)
        strbuf_addf(out, "; extra %s=%s", as->extra[i].name, as->extra[i].value);
}

static void dump(struct strbuf *out, const struct rest_config *config)
{
    strbuf_addf(out, "%s; %s", config->origin, config->server);
    dump_text(out, "tls=", config->tls_server_name);
    dump_text(out, "insecure", config->insecure ? "" : NULL);
    dump_text(out, "plain", config->disable_compression ? "" : NULL);
    dump_bytes(out, "ca", &config->ca);
    dump_text(out, "proxy=", config->proxy_url);
    dump_text(out, "exec-config=", config->exec_config);
    dump_text(out, "namespace=", config->ns);
    dump_bytes(out, "certificate", &config->certificate);
    dump_bytes(out, "key", &config->key);
    dump_text(out, "token=", config->token);
    dump_text(out, "token-file=", config->token_file);
    dump_exec(out, config->exec);
    dump_impersonation(out, &config->as);
    for (size_t i = 0; i < config->note_count; i++)
        dump_text(out, "note: ", config->notes[i]);
}

static void write_files(const char *folder, const struct load_case *c)
{
    static const char *const names[FILES_MAX] = {"a", "b/b", "c"};

    folder_mkdir(folder, "b");
    for (size_t i = 0; i < FILES_MAX; i++) {
        if (c->files[i])
            folder_write(folder, names[i], c->files[i]);
    }
}

static void assert_contains(const char *text, const char *part)
{
    if (!strstr(text, part))
        fail_msg("'%s' does not say '%s'", text, part);
}

TEST_ROWS(load_yields_configuration_or_error, load_cases, name)
{
    const struct load_case *c = *state;
    struct kubeconfig_options options = c->options;
    struct strbuf found = STRBUF_INIT(1 << 16);
    struct rest_config config;
    struct error err;
    char *folder = folder_make();
    char *list = replace_all(c->list ? c->list : "@/a", "@", folder);

    write_files(folder, c);
    options.files = list;
    if (kubeconfig_load(&options, &config, &err))
        dump(&found, &config);
    else
        strbuf_adds(&found, err.text);

    char *shown = replace_all(found.data, folder, "@");
    folder_remove(folder);
    if (c->wanted) {
        assert_string_equal(shown, c->wanted);
    } else {
        assert_contains(shown, c->error);
        assert_null(strstr(shown, "hidden"));
        assert_null(config.server);
    }
    rest_config_release(&config);
    strbuf_release(&found);
    free(shown);
    free(list);
}

TEST(file_that_others_can_write_is_rejected)
{
    char *folder = folder_make();
    char *path = folder_path(folder, "a");
    struct rest_config config;
    struct error err;

    folder_write(folder, "a", USER("token: t"));
    assert_int_equal(chmod(path, 0622), 0);
    assert_false(kubeconfig_load(&(struct kubeconfig_options){.files = path}, &config, &err));
    assert_contains(err.text, "(mode 622), and could make the exporter connect to another server");
    assert_int_equal(chmod(path, 0600), 0);
    assert_true(kubeconfig_load(&(struct kubeconfig_options){.files = path}, &config, &err));
    rest_config_release(&config);
    free(path);
    folder_remove(folder);
}

TEST(file_over_1_mib_is_rejected)
{
    char *folder = folder_make();
    char *path = folder_path(folder, "a");
    char *text = xmalloc((1 << 20) + 2);
    struct rest_config config;
    struct error err;

    memset(text, '#', (1 << 20) + 1);
    text[(1 << 20) + 1] = '\0';
    folder_write(folder, "a", text);
    assert_false(kubeconfig_load(&(struct kubeconfig_options){.files = path}, &config, &err));
    assert_contains(err.text, "is larger than 1048576 bytes");
    free(text);
    free(path);
    folder_remove(folder);
}

TEST(name_of_extra_beyond_the_size_of_a_header_is_rejected)
{
    char *folder = folder_make();
    char *path = folder_path(folder, "a");
    struct rest_config config;
    struct error err;

    for (int over = 0; over < 2; over++) {
        struct strbuf text = STRBUF_INIT(1 << 20);

        strbuf_adds(&text, "current-context: c\n"
                           "contexts: [{name: c, context: {cluster: k, user: u}}]\n"
                           "clusters: [{name: k, cluster: {server: 'https://k:6443'}}]\n"
                           "users:\n- name: u\n  user:\n    token: t\n    as: jo\n"
                           "    as-user-extra:\n      ? ");
        for (int i = 0; i < SECRET_HEADER_MAX + over; i++)
            strbuf_addc(&text, 'n');
        strbuf_adds(&text, "\n      : [v]\n");
        folder_write(folder, "a", text.data);
        assert_int_equal(
            kubeconfig_load(&(struct kubeconfig_options){.files = path}, &config, &err), !over);
        if (over)
            assert_contains(err.text, "'as-user-extra': a name or a value of empty, too long");
        rest_config_release(&config);
        strbuf_release(&text);
    }
    free(path);
    folder_remove(folder);
}

static struct pod_case {
    const char *name;
    struct in_cluster_options options;
    const char *wanted;
    const char *error;
} pod_cases[] = {
    {
        .name = "a pod",
        .options = {"10.0.0.1", "443", "/folder"},
        .wanted = "the pod's service account; https://10.0.0.1:443; ca=/folder/ca.crt; "
                  "token-file=/folder/token",
    },
    {
        .name = "IPv6, and the default folder",
        .options = {"fd00::1", "6443", NULL},
        .wanted = "the pod's service account; https://[fd00::1]:6443; "
                  "ca=/var/run/secrets/kubernetes.io/serviceaccount/ca.crt; "
                  "token-file=/var/run/secrets/kubernetes.io/serviceaccount/token",
    },
    {.name = "outside a pod", .options = {NULL, "443", NULL}, .error = "not in a pod: "},
    {.name = "an empty port", .options = {"10.0.0.1", "", NULL}, .error = "not in a pod: "},
    {
        .name = "an invalid port",
        .options = {"10.0.0.1", "tcp://10.0.0.1:443", NULL},
        .error = "KUBERNETES_SERVICE_PORT is 'tcp://10.0.0.1:443', not a port",
    },
    {
        .name = "an invalid host",
        .options = {"a b", "443", NULL},
        .error = "KUBERNETES_SERVICE_HOST: not an address: ",
    },
};

TEST_ROWS(pod_environment_yields_configuration_or_error, pod_cases, name)
{
    const struct pod_case *c = *state;
    CLEANUP(strbuf_release) struct strbuf found = STRBUF_INIT(1 << 16);
    struct rest_config config;
    struct error err;

    if (c->error) {
        assert_false(in_cluster_load(&c->options, &config, &err));
        assert_contains(err.text, c->error);
        return;
    }
    assert_true(in_cluster_load(&c->options, &config, &err));
    dump(&found, &config);
    assert_string_equal(found.data, c->wanted);
    rest_config_release(&config);
}

static void append_path(void *context, const char *path)
{
    strbuf_addf(context, "%s;", path);
}

TEST(files_of_a_configuration_are_listed)
{
    static char ca[] = "ca", certificate[] = "crt", key[] = "key", token[] = "token";
    const struct rest_config config = {.ca = {.file = ca},
                                       .certificate = {.file = certificate},
                                       .key = {.file = key},
                                       .token_file = token};
    CLEANUP(strbuf_release) struct strbuf paths = STRBUF_INIT(1024);

    rest_config_each_file(&config, append_path, &paths);
    rest_config_each_file(&(struct rest_config){.token_file = token}, append_path, &paths);
    assert_string_equal(paths.data, "ca;crt;key;token;token;");
}
