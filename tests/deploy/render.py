#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""render.py: write all that comes of the Helm chart. It is `make chart`.

    exporter/deploy/kustomize/                              what the chart renders, as a base and components
    tests/fixtures/deploy/rendered/                         what it renders of each file in tests/fixtures/deploy/values
    tests/fixtures/deploy/rendered.sha256                   of which chart that came

Rules and boards are left out of what is written: the chart has them from alerts/ and dashboards/, and that
they arrive unchanged is checked here. helm and kustomize are built of their Go modules, once: it takes minutes.
"""
import os
import pathlib
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import yaml  # noqa: E402
from deploy import (CHART, HASH, KUSTOMIZE, OVERLAYS, PAGE, RENDERED, ROOT, VALUES, comparable,  # noqa: E402
                    documents, hold_texts, put_back, rendered_hash, take_out)

NAMESPACE = "karmada-system"
NAME = "karmada-policy-exporter"
HEAD = "# SPDX-License-Identifier: Apache-2.0\n# Written by `make chart` from exporter/deploy/chart: change that.\n"


def built():
    done = subprocess.run([ROOT / "tests/build-go.sh", "tests/deploy/helm"], stdout=subprocess.PIPE,
                          check=False)
    if done.returncode:
        sys.exit(done.returncode)
    return pathlib.Path(done.stdout.decode().strip())


def run(*command):
    """What it prints; fails with what it says if it does not succeed."""
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False)
    # Links into the folders of rules and boards are meant; helm tells of each, every time.
    said = "".join(line for line in done.stderr.splitlines(True) if "found symbolic link" not in line)
    assert done.returncode == 0, f"{' '.join(map(str, command))}\n{said}{done.stdout}"
    return done.stdout


def dumped(objects):
    return HEAD + yaml.safe_dump_all(objects, sort_keys=False, width=110)


def hold(path, objects, page=PAGE):
    """Write them without rules and boards, which are what their source says."""
    path.parent.mkdir(parents=True, exist_ok=True)
    held = [take_out(obj, page) for obj in objects]
    for obj, kept in zip(objects, held):
        assert comparable(put_back(kept)) == comparable(obj), (path, obj["metadata"])
    path.write_text(dumped(held))
    print(f"{path.relative_to(ROOT)}: {len(objects)} objects")


class Chart:
    def __init__(self, tools):
        self.helm, self.kustomize = tools / "helm", tools / "kustomize"

    def rendered(self, *arguments):
        text = run(self.helm, "template", NAME, CHART, "--namespace", NAMESPACE, *arguments)
        return documents(text)

    def write(self, path, *arguments, page=PAGE):
        hold(path, self.rendered(*arguments), page)


def refused(helm, *arguments):
    """What helm says of values that it refuses."""
    done = subprocess.run([helm, "template", NAME, CHART, *arguments],
                          capture_output=True, text=True, check=False)
    assert done.returncode != 0, f"{arguments} are accepted"
    return done.stderr


def write_sidecar(chart):
    """The patch as a file of its own, and what is beside it."""
    objects = {obj["kind"]: obj for obj in chart.rendered("--set", "mode=sidecar")}
    folder = KUSTOMIZE / "components/sidecar"
    hold(folder / "patch.yaml", documents(objects["ConfigMap"]["data"]["patch.yaml"]))
    hold(folder / "service.yaml", [objects["Service"]])


def check_bad_values(helm):
    """Each is refused with its name: a key that was renamed, a type, a mistake of a flag's name."""
    for wrong, named in (("replicaCount=2", "replicaCount"), ("karmada.secret=a", "secret"),
                         ("image.pullpolicy=Always", "pullpolicy"), ("replicas=two", "replicas"),
                         ("options.rules\\.takover=static", "rules.takover"),
                         ("karmada.installedBy=hand", "installedBy")):
        said = refused(helm, "--set", wrong)
        assert named in said, f"{wrong}: {said}"
        print(f"  --set {wrong}: {[line for line in said.splitlines() if named in line][-1].strip()}")
    said = refused(helm, "--set", "mode=sidecar,shards=2")
    assert "shards: a sidecar has no ordinal" in said, said


def main():
    tools = built()
    chart = Chart(tools)
    hold_texts()
    print(run(tools / "helm", "lint", "--strict", CHART).strip())
    check_bad_values(tools / "helm")
    chart.write(KUSTOMIZE / "base/exporter.yaml")
    chart.write(KUSTOMIZE / "karmada/rbac.yaml", "--set", "target=karmada")
    write_sidecar(chart)
    for values in sorted(VALUES.glob("*.yaml")):
        options = yaml.safe_load(values.read_text()).get("options", {})
        chart.write(RENDERED / values.name, "--values", values,
                    page=options.get("web.external-url", PAGE).rstrip("/"))
    chart.write(RENDERED / "everything-karmada.yaml", "--values", VALUES / "everything.yaml", "--set",
                "target=karmada")
    for overlay in OVERLAYS:
        hold(RENDERED / f"kustomize-{overlay.name}.yaml",
             documents(run(tools / "kustomize", "build", overlay)))
    HASH.write_text(rendered_hash())


if __name__ == "__main__":
    main()
