# SPDX-License-Identifier: Apache-2.0
"""An API server over plain HTTP/1.1 that has no objects and serves ConfigMaps beside Karmada's
kinds. A test replaces any of its answers: by a status, by a body, or by silence."""
import contextlib
import http.server
import json
import socket
import threading
import urllib.parse

from exporter import write_kubeconfig

AGGREGATED = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
SILENCE = object()


def status(code, reason):
    """An answer that refuses the request."""
    return code, {"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": code,
                  "reason": reason, "message": reason}


def page(items=(), token="", remaining=None):
    """An answer to a list: one page."""
    metadata = {"resourceVersion": "1"}
    if token:
        metadata["continue"] = token
    if remaining is not None:
        metadata["remainingItemCount"] = remaining
    return 200, {"kind": "ThingList", "apiVersion": "v1", "metadata": metadata,
                 "items": list(items)}


def config_map(name):
    return {"metadata": {"namespace": "default", "name": name, "resourceVersion": "1", "uid": name}}


def policy():
    """It selects all ConfigMaps, which the exporter therefore reads."""
    return {"metadata": {"namespace": "default", "name": "all", "resourceVersion": "1", "uid": "p"},
            "spec": {"resourceSelectors": [{"apiVersion": "v1", "kind": "ConfigMap"}]}}


def discovery(path):
    kinds = [] if path == "/apis" else [{"metadata": {"name": ""}, "versions": [{
        "version": "v1", "freshness": "Current", "resources": [{
            "resource": "configmaps", "scope": "Namespaced", "verbs": ["delete", "get", "list", "watch"],
            "responseKind": {"group": "", "version": "v1", "kind": "ConfigMap"}}]}]}]
    return {"kind": "APIGroupDiscoveryList", "apiVersion": "apidiscovery.k8s.io/v2",
            "metadata": {}, "items": kinds}


class QuietServer(http.server.ThreadingHTTPServer):
    """It does not report connections that the client has cut."""
    daemon_threads = True

    def handle_error(self, request, client_address):
        pass


class OddServer:
    """`answer(path, query)` answers a request that is no watch; None: as a healthy server would."""

    def __init__(self, answer=lambda path, query: None):
        self.answer = answer
        self.requests = []
        self.over = threading.Event()
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            wbufsize = -1  # An answer in one packet: else each waits for an acknowledgement.

            def do_GET(self):
                with contextlib.suppress(OSError):
                    outer.reply(self)

            def log_message(self, *_):
                pass

        self.http = QuietServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.http.server_address[1]}"
        self.thread = threading.Thread(target=self.http.serve_forever)
        self.thread.start()

    def reply(self, handler):
        parts = urllib.parse.urlsplit(handler.path)
        query = dict(urllib.parse.parse_qsl(parts.query))
        self.requests.append((parts.path, query))
        answer = self.answer(parts.path, query)
        if answer is SILENCE or (answer is None and "watch" in query and self.begin_watch(handler, query)):
            self.over.wait()
            handler.close_connection = True
            return
        if answer is None:
            answer = self.healthy(parts.path, query)
        code, body = answer
        text = json.dumps(body).encode()
        handler.send_response(code)
        handler.send_header("Content-Type", AGGREGATED if parts.path in ("/api", "/apis")
                            else "application/json")
        handler.send_header("Content-Length", str(len(text)))
        handler.end_headers()
        handler.wfile.write(text)
        handler.wfile.flush()

    @staticmethod
    def begin_watch(handler, query):
        """A stream without events; false for one that begins with all objects, which is refused."""
        if "sendInitialEvents" in query:
            return False
        handler.send_response(200)
        handler.send_header("Content-Type", "application/json")
        handler.send_header("Transfer-Encoding", "chunked")
        handler.end_headers()
        handler.wfile.flush()
        return True

    @staticmethod
    def healthy(path, query):
        if path in ("/api", "/apis"):
            return 200, discovery(path)
        if path == "/version":
            return 200, {"gitVersion": "v1.34.0"}
        if "sendInitialEvents" in query:
            return status(422, "Invalid")
        return page([policy()]) if path.endswith("/propagationpolicies") else page()

    def count(self, end):
        """Requests so far for a resource, by the end of its path."""
        return sum(path.endswith(end) for path, _ in self.requests)

    def kubeconfig(self, folder):
        return write_kubeconfig(folder / "kubeconfig", self.url)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.over.set()
        self.http.shutdown()
        self.thread.join()
        self.http.server_close()


@contextlib.contextmanager
def refusing():
    """The URL of a server that is gone: connections are refused."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        yield f"http://127.0.0.1:{taken.getsockname()[1]}"


@contextlib.contextmanager
def silent():
    """The URL of a server that accepts connections and never answers."""
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen(128)
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
