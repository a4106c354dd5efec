# SPDX-License-Identifier: Apache-2.0
"""Packages of PyPI for tests, fetched once into a virtual environment of the build."""
import os
import subprocess
import sys

from exporter import ROOT


def environment_of(name):
    return ROOT / os.environ.get("BUILD", "build") / name


def fetch_packages(environment, packages):
    """Why they cannot be had; None if they are there."""
    mark = environment / "fetched"
    if mark.exists() and mark.read_text() == " ".join(packages):
        return None
    for command in ([sys.executable, "-m", "venv", environment],
                    [environment / "bin/pip", "-q", "install", *packages]):
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
        except subprocess.TimeoutExpired:
            return f"pip did not have {', '.join(packages)} within 300 s"
        if done.returncode:
            return f"pip cannot have {', '.join(packages)}: {(done.stderr.strip().splitlines() or ['?'])[-1]}"
    mark.write_text(" ".join(packages))
    return None
