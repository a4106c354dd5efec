# SPDX-License-Identifier: Apache-2.0
"""Packages of npm for tests, fetched once into a folder of the build."""
import os
import shutil
import subprocess

from exporter import ROOT


def folder_of(name):
    return ROOT / os.environ.get("BUILD", "build") / name


def fetch_packages(folder, packages):
    """Why they cannot be had; None if they are there."""
    if not shutil.which("node") or not shutil.which("npm"):
        return "there is no node with npm: install Debian's nodejs and npm to run it"
    mark = folder / "fetched"
    if mark.exists() and mark.read_text() == " ".join(packages):
        return None
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "package.json").write_text('{"private": true}\n')
    try:
        done = subprocess.run(["npm", "install", "--no-audit", "--no-fund", "--ignore-scripts",
                               *packages], cwd=folder, capture_output=True, text=True,
                              timeout=300, check=False)
    except subprocess.TimeoutExpired:
        return "npm did not have the packages within 300 s"
    if done.returncode:
        return "npm cannot have the packages: " + (done.stderr.strip().splitlines() or ["?"])[-1]
    mark.write_text(" ".join(packages))
    return None
