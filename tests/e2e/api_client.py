# SPDX-License-Identifier: Apache-2.0
"""What kubectl does, for tests: create, apply, patch, delete, of any object by apiVersion and kind.

Objects are written as a person or a component: `manager` is who the server notes down.
"""
import copy
import http.client
import json
import ssl
import time
import urllib.parse

from exporter import wait_for

USER, KARMADA = "kubectl", "karmada-controller-manager"
MERGE_PATCH = "application/merge-patch+json"
AGGREGATED = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
PATIENCE_S = 60
IDLE_S = 30  # The server hangs up after 90.


class Refused(Exception):
    """An answer that is not a success."""

    def __init__(self, method, path, status, body):
        super().__init__(f"{method} {path}: {status} {body[:600].decode(errors='replace')}")
        self.status = status


def identity(obj):
    """What makes an object this one: apiVersion, kind, namespace, name."""
    meta = obj["metadata"]
    return obj["apiVersion"], obj["kind"], meta.get("namespace", ""), meta["name"]


class ApiClient:
    """One connection. A thread has its own."""

    def __init__(self, port, ca, client_files):
        self.port, self.files = port, (ca, client_files)
        self.tls = ssl.create_default_context(cafile=str(ca))
        self.tls.load_cert_chain(*map(str, client_files))
        self.connection, self.used = None, 0
        self.resources = {}

    def another(self):
        client = ApiClient(self.port, *self.files)
        client.resources = self.resources
        return client

    # ---- requests

    def connect(self):
        """Another connection, to speak HTTP on."""
        return http.client.HTTPSConnection("127.0.0.1", self.port, context=self.tls,
                                           timeout=PATIENCE_S)

    def exchange(self, method, path, body, headers):
        if time.monotonic() - self.used > IDLE_S:
            self.hang_up()
        self.used = time.monotonic()
        if not self.connection:
            self.connection = self.connect()
        try:
            self.connection.request(method, path, body, headers)
            answer = self.connection.getresponse()
            return answer.status, answer.read()
        except (OSError, http.client.HTTPException):
            self.hang_up()
            raise

    def hang_up(self):
        if self.connection:
            self.connection.close()
            self.connection = None

    def request(self, method, path, body=None, content_type="application/json", accept="application/json"):
        """The answer's JSON. Tries again while the server is busy or not ready."""
        encoded = None if body is None else json.dumps(body).encode()
        headers = {"Content-Type": content_type, "Accept": accept}
        deadline = time.monotonic() + PATIENCE_S
        while True:
            status, answer = self.exchange(method, path, encoded, headers)
            if status < 300:
                return json.loads(answer)
            if status not in (429, 503) or time.monotonic() > deadline:
                raise Refused(method, path, status, answer)
            time.sleep(0.1)

    def status(self, path):
        """The status of a page; 0 if nobody answers."""
        self.hang_up()
        try:
            return self.exchange("GET", path, None, {})[0]
        except (OSError, http.client.HTTPException):
            return 0

    # ---- where objects are

    def resource(self, api_version, kind):
        """(plural, namespaced) of a kind, from the server's discovery."""
        key = (api_version, kind)
        deadline = time.monotonic() + PATIENCE_S
        while key not in self.resources:
            root = f"/api/{api_version}" if "/" not in api_version else f"/apis/{api_version}"
            try:
                served = self.request("GET", root)["resources"]
            except Refused as error:
                if error.status != 404 or time.monotonic() > deadline:
                    raise
                served = []
            for resource in served:
                if "/" not in resource["name"]:
                    self.resources[(api_version, resource["kind"])] = (
                        resource["name"], resource["namespaced"])
            if key not in self.resources:
                assert time.monotonic() < deadline, f"{kind} of {api_version} is not served"
                time.sleep(0.05)
        return self.resources[key]

    def collection(self, api_version, kind, namespace=None):
        plural, namespaced = self.resource(api_version, kind)
        root = "/api/" if "/" not in api_version else "/apis/"
        inside = f"/namespaces/{namespace}" if namespaced and namespace else ""
        return f"{root}{api_version}{inside}/{plural}"

    def place(self, obj):
        api_version, kind, namespace, name = identity(obj)
        return f"{self.collection(api_version, kind, namespace)}/{urllib.parse.quote(name)}"

    # ---- verbs

    def create(self, obj, manager=USER):
        """Create it, with its status where it has one."""
        api_version, kind, namespace, _ = identity(obj)
        path = self.collection(api_version, kind, namespace) + f"?fieldManager={manager}"
        try:
            made = self.request("POST", path, obj)
        except Refused as error:
            # A kind that has just been defined is in the discovery before it is served.
            if error.status != 404 or kind == "Namespace":
                raise
            time.sleep(0.5)
            made = self.request("POST", path, obj)
        if obj.get("status") and made.get("status") != obj["status"]:
            made = self.patch(obj, {"status": obj["status"]}, manager, "/status")
        return made

    def create_all(self, objects, manager=USER):
        for obj in objects:
            self.create(obj, manager)
        definitions = [obj for obj in objects if obj["kind"] == "CustomResourceDefinition"]
        if definitions:
            self.wait_until_served(definitions)

    def wait_until_served(self, definitions):
        """Waits until the kinds can be listed and are in the aggregated discovery, which the server
        updates later and which programs such as the exporter read once."""
        paths = {f"/apis/{spec['group']}/{served['name']}/{spec['names']['plural']}"
                 for spec in (obj["spec"] for obj in definitions)
                 for served in spec["versions"] if served["served"]}
        for path in sorted(paths):
            wait_for(f"{path} to be served", lambda path=path: self.status(path) == 200, PATIENCE_S)
        wait_for(f"{sorted(paths)} to be discovered", lambda: paths <= self.discovered(), PATIENCE_S)

    def discovered(self):
        """The paths of the resources in the aggregated discovery that can be watched."""
        groups = self.request("GET", "/apis", accept=AGGREGATED)["items"]
        return {f"/apis/{group['metadata']['name']}/{version['version']}/{resource['resource']}"
                for group in groups for version in group["versions"]
                if version.get("freshness") != "Stale"
                for resource in version.get("resources", []) if "watch" in resource["verbs"]}

    def get(self, obj):
        """The object as the server has it; None if it does not."""
        try:
            return self.request("GET", self.place(obj))
        except Refused as error:
            if error.status != 404:
                raise
            return None

    def list(self, api_version, kind, namespace=None):
        return self.request("GET", self.collection(api_version, kind, namespace))["items"]

    def patch(self, obj, change, manager=USER, subresource=""):
        """Merge a change (null removes) into an object."""
        return self.request("PATCH", f"{self.place(obj)}{subresource}?fieldManager={manager}",
                            change, MERGE_PATCH)

    def apply(self, obj, manager=USER):
        """Make the object so, whether it is there or not."""
        return self.patch(obj, copy.deepcopy(obj), manager) if self.get(obj) else self.create(
            obj, manager)

    def delete(self, obj):
        """Delete it and remove its finalizers. False if it is not there.

        A definition is waited for: its finalizer is the server's own, which takes the objects
        of the kind along. Without it they would be back with the definition.
        """
        try:
            left = self.request("DELETE", self.place(obj))
        except Refused as error:
            if error.status != 404:
                raise
            return False
        if obj["kind"] == "CustomResourceDefinition":
            wait_for(f"{self.place(obj)} to be gone", lambda: not self.get(obj), PATIENCE_S)
        elif left.get("metadata", {}).get("finalizers"):
            self.patch(obj, {"metadata": {"finalizers": None}}, KARMADA)
        return True

    def metrics(self):
        status, answer = self.exchange("GET", "/metrics", None, {})
        assert status == 200, answer
        return answer.decode()
