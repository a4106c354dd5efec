# SPDX-License-Identifier: Apache-2.0
"""What tests of packages share: make, as from a shell of its own, and what is below a folder."""

import os
import pathlib
import stat
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "e2e"))

from exporter import ROOT  # noqa: E402

NAME = "karmada-policy-exporter"
# make that started this test has flags which are not for another one.
CLEAN = {
    k: v
    for k, v in os.environ.items()
    if k not in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL", "MAKEOVERRIDES", "EXPORTER", "BUILD")
}


def make(*arguments, folder=ROOT, through=(), **environment):
    """Its output; fails with it if make does."""
    done = subprocess.run(
        [*map(str, through), "make", *map(str, arguments)],
        cwd=folder,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=1200,
        check=False,
        env={**CLEAN, **environment},
    )
    assert done.returncode == 0, done.stdout
    return done.stdout


def source():
    """Version, commit and time of the sources."""
    return subprocess.run(
        [ROOT / "exporter/deploy/source.sh"], capture_output=True, text=True, check=True
    ).stdout.split()


def is_clone():
    return len(source()) == 3 and (ROOT / ".git").exists()


def listing(folder):
    """Each path below it, with type, mode, owner, size and target of a link."""
    found = {}
    for path in sorted(pathlib.Path(folder).rglob("*")):
        about = path.lstat()
        is_folder = stat.S_ISDIR(about.st_mode)
        found[str(path.relative_to(folder))] = (
            oct(about.st_mode),
            about.st_uid,
            about.st_gid,
            None if is_folder else about.st_size,
            os.readlink(path) if path.is_symlink() else None,
        )
    return found
