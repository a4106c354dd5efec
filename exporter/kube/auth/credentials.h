/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <poll.h>

#include "exporter/kube/auth/rest_config.h"
#include "exporter/kube/http/transfer.h"
#include "metrics/base/error.h"

/*
 * Credentials for an API server and its CA, kept current. Certificate, key and CA files are read
 * again after a change, a token file every minute and after status 401. An exec plugin runs again
 * before its credential expires and after status 401. A file or plugin that fails leaves the old
 * credential in force until it expires, and credentials_problem() returns the reason.
 *
 * Replaced credentials are overwritten in memory. Copies in the requests and buffers of open
 * connections remain, so credentials_version() changes and the client closes its connections.
 *
 * `now_ms` is milliseconds of the steady clock, `wall_ms` milliseconds since the epoch.
 */
struct credentials;

/*
 * Reads the files. Returns NULL with an error if the server's URL or a needed file is unusable.
 * `config` and `environment`, the NAME=value texts for exec plugins with a NULL at the end, are
 * borrowed. An exec plugin does not run before credentials_advance().
 */
struct credentials *credentials_new(const struct rest_config *config,
                                    const char *const *environment, int64_t now_ms,
                                    struct error *err) MUST_USE;
/* Kills an exec plugin that runs. Accepts NULL. */
void credentials_free(struct credentials *c);

/* Reads files that are due, starts an exec plugin that is due, and reads the plugin's output. */
void credentials_advance(struct credentials *c, int64_t now_ms, int64_t wall_ms);

/*
 * Disables or enables reads of files by credentials_advance(): a file on a network file system can
 * block the caller. credentials_files_due() returns the steady time of the next read, also while
 * reads are disabled; credentials_due() ignores the files then.
 */
void credentials_hold_files(struct credentials *c, bool held);
int64_t credentials_files_due(const struct credentials *c);

/*
 * Returns the steady time in milliseconds of the next credentials_advance() if no descriptor is
 * ready before; INT64_MAX: no call needed.
 */
int64_t credentials_due(const struct credentials *c);

enum { CREDENTIALS_FDS = 3 };

/* Stores the descriptors to poll between calls of credentials_advance(). Returns their number. */
size_t credentials_fds(const struct credentials *c, struct pollfd out[static CREDENTIALS_FDS]);

/* Returns false while the exec plugin has returned no credential, or only an expired one. */
bool credentials_ready(const struct credentials *c);

/*
 * Returns the reason why the last read of a file or the last run of the plugin failed; "" if all
 * succeeded. Several failures have the order CA, client certificate, token, plugin: returns the
 * first. Borrowed. The reason contains no token, key or certificate of the kubeconfig. It can
 * contain the end of the plugin's standard error, in which exec_plugin_poll() hides some secrets.
 */
const char *credentials_problem(const struct credentials *c);

/*
 * Returns the URL for requests: "https://host:port/prefix". With tls-server-name, the URL contains
 * that name, and credentials_apply() makes curl connect to the real host. Borrowed.
 */
const char *credentials_url(const struct credentials *c);

/* Returns the source of trust for messages, such as "the CA in 'FILE'". Borrowed. */
const char *credentials_ca_name(const struct credentials *c);

/*
 * Callbacks of struct kube_client_credentials, where `apply` is described. credentials_apply()
 * returns false if the exec plugin has provided no valid credential, or curl rejects a value.
 */
bool credentials_apply(struct credentials *c, CURL *easy, struct curl_slist **headers,
                       struct error *err) MUST_USE;
/* Schedules a read of the token file and a run of the exec plugin after status 401. */
void credentials_note_unauthorized(struct credentials *c);
uint64_t credentials_version(const struct credentials *c);
struct kube_client_credentials credentials_identity(struct credentials *c);

/* Used only by credentials.c and tests. */

/* Time from a read of the token file to the next read after status 401. */
enum { TOKEN_READ_GAP_MS = 1000 };
