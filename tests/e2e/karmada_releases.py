# SPDX-License-Identifier: Apache-2.0
"""The CustomResourceDefinitions of released Karmadas, as its chart installs them. They come from Karmada's
Go module, which the Go command downloads and verifies."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

import yaml
from exporter import ROOT
from karmada_crds import karmada_definitions

MODULE = "github.com/karmada-io/karmada"
CHART = "charts/karmada/_crds/bases"


def download(release):
    """The folder of Karmada's sources of a release; where it cannot be had, None and why."""
    tools = ROOT / os.environ.get("BUILD", "build") / "tools/go/bin"
    environment = {**os.environ, "GOTOOLCHAIN": "local", "GOFLAGS": "-mod=mod",
                   "PATH": f"{tools}:{os.environ['PATH']}"}
    with tempfile.TemporaryDirectory() as folder:
        try:
            done = subprocess.run(["go", "mod", "download", "-json", f"{MODULE}@{release}"],
                                  cwd=folder, env=environment, capture_output=True, text=True,
                                  check=False)
        except FileNotFoundError:
            return None, "Go is missing: Karmada's module cannot be downloaded"
    try:
        module = json.loads(done.stdout)
    except ValueError:
        return None, done.stderr.strip()
    if "Dir" not in module:
        return None, module.get("Error", done.stderr).strip().splitlines()[-1]
    return pathlib.Path(module["Dir"]), None


def skip_without_releases(*releases):
    """{release: definitions}; ends the test as skipped where a module cannot be had."""
    found = {}
    for release in releases:
        folder, why = download(release)
        if not folder:
            print(f"Karmada {release} cannot be had: {why}")
            sys.exit(77)
        found[release] = [yaml.safe_load(path.read_text())
                          for path in sorted((folder / CHART).glob("*/*.yaml"))]
        assert len(found[release]) > 10, (release, folder)
    return found


def cluster_definition():
    """Clusters are served by an API server of Karmada's own, so that its chart has no definition."""
    return [d for d in karmada_definitions() if d["spec"]["names"]["kind"] == "Cluster"]
