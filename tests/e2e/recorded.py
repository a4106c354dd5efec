# SPDX-License-Identifier: Apache-2.0
"""What a real control plane with three member clusters wrote, a folder for each step of each story."""
import contextlib
import pathlib
import tarfile
import tempfile

from exporter import ROOT

ARCHIVE = ROOT / "tests/fixtures/recordings/stages.tar.xz"


@contextlib.contextmanager
def recorded():
    """A folder with all of it: <story>/<step>/<plural>.json. It may be changed, and goes in the end."""
    with tempfile.TemporaryDirectory() as folder, tarfile.open(ARCHIVE) as archive:
        archive.extractall(folder)
        yield pathlib.Path(folder)
