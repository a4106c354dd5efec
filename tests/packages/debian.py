# SPDX-License-Identifier: Apache-2.0
"""A bare Debian 12 with systemd and the libraries that people are told to install, made once."""

import contextlib
import fcntl
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "deploy"))

from made import NAME  # noqa: E402
from exporter import PROGRAM, ROOT  # noqa: E402
from markdown import blocks, elsewhere  # noqa: E402

TEXT = (ROOT / "exporter/deploy/README.md").read_text()
PAGE = (ROOT / "exporter/docs/install.md").read_text()
CACHE = ROOT / os.environ.get("BUILD", "build") / "debian-root.tar"
DAY_S = 24 * 3600


def skip_unless_root():
    if os.geteuid() != 0:
        print("only root can make the root of a system and change into it")
        sys.exit(77)


def told_packages():
    """Those that the README tells to install."""
    return re.search(r"^apt-get install --no-install-recommends (.*)$", TEXT, re.MULTILINE)[
        1
    ].split()


def told_commands():
    """The commands of the page for the service: lists of lines for installation, upgrade and removal."""
    text, = elsewhere(PAGE, "tests/packages/service.test")
    scripts = "".join(content for _, content in blocks(text))
    return [part.splitlines() for part in re.split(r"^# (?:Upgrade|Removal)\n", scripts, flags=re.M)]


def sources():
    """Debian's lines of what this machine's apt reads."""
    rows = subprocess.run(
        [
            "apt-get",
            "indextargets",
            "--format",
            "$(ORIGIN) deb $(REPO_URI) $(RELEASE) $(COMPONENT)",
            "Identifier: Packages",
        ],
        capture_output=True,
        text=True,
        check=True,
    ).stdout.splitlines()
    return "\n".join(
        row.removeprefix("Debian ") for row in rows if re.match("Debian .* bookworm", row)
    )


def archive():
    """A tar archive of it; of another day it may lack corrections."""
    CACHE.parent.mkdir(parents=True, exist_ok=True)
    with open(CACHE.with_suffix(".lock"), "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not CACHE.exists() or time.time() - CACHE.stat().st_mtime > DAY_S:
            assert sources(), "apt has no lists of Debian 12: run apt-get update"
            subprocess.run(
                [
                    "mmdebstrap",
                    "--quiet",
                    "--variant=minbase",
                    "--format=tar",
                    "--include=" + ",".join([*told_packages(), "systemd", "systemd-sysv"]),
                    "bookworm",
                    f"{CACHE}.new",
                    "-",
                ],
                input=sources(),
                text=True,
                check=True,
                timeout=900,
            )
            os.rename(f"{CACHE}.new", CACHE)
    return CACHE


@contextlib.contextmanager
def system():
    with tempfile.TemporaryDirectory(prefix="exporter-debian-") as name:
        os.chmod(name, 0o755)
        root = pathlib.Path(name) / "root"
        root.mkdir()
        subprocess.run(["tar", "-C", root, "-xpf", archive(), "--exclude=./dev/*"], check=True)
        yield root


def installer(verb, destination):
    subprocess.run(
        [ROOT / "exporter/deploy/install.sh", verb, PROGRAM],
        check=True,
        env={**os.environ, "DESTDIR": str(destination), "PREFIX": "/usr/local"},
    )


def named_after_us(root):
    return sorted(str(p.relative_to(root)) for p in root.rglob("*karmada*"))


__all__ = [
    "NAME",
    "installer",
    "named_after_us",
    "skip_unless_root",
    "system",
    "told_commands",
    "told_packages",
]
