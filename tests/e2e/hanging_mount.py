#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A real mount that hangs: a file system in user space, which takes requests and does not answer.

Who touches it then waits in the kernel, where no signal reaches: as with NFS without its server.
As a program, hanging_mount.py MOUNTPOINT SOURCE: serves the files of the folder SOURCE, and hangs
while there is a file SOURCE.hang beside it. With a number in that file only who reads beyond so
many bytes of a file waits; with "close" in it only who closes a file waits.
"""
import ctypes
import errno
import os
import pathlib
import shutil
import signal
import socket
import stat
import struct
import subprocess
import sys
import tempfile
import time

LOOKUP, FORGET, GETATTR, OPEN, READ, STATFS, RELEASE, FLUSH, INIT = 1, 2, 3, 14, 15, 17, 18, 25, 26
OPENDIR, READDIR, RELEASEDIR, INTERRUPT, BATCH_FORGET = 27, 28, 29, 36, 42
UNANSWERED = (FORGET, INTERRUPT, BATCH_FORGET)
ROOT = 1


class FileSystem:
    def __init__(self, mountpoint, source):
        self.source = pathlib.Path(source)
        self.names = {}  # By inode number.
        self.device = os.open("/dev/fuse", os.O_RDWR)
        options = f"fd={self.device},rootmode=40000,user_id=0,group_id=0,allow_other"
        libc = ctypes.CDLL(None, use_errno=True)
        if libc.mount(b"hanging", os.fsencode(mountpoint), b"fuse", 0, options.encode()):
            raise OSError(ctypes.get_errno(), "cannot mount")

    def attributes(self, node):
        if node == ROOT:
            return struct.pack("<6Q10I", ROOT, 0, 0, 0, 0, 0, 0, 0, 0, stat.S_IFDIR | 0o755, 2, 0, 0, 0, 0, 0)
        about = (self.source / self.names[node]).stat()
        return struct.pack("<6Q10I", node, about.st_size, 8, 0, int(about.st_mtime), 0, 0,
                           about.st_mtime_ns % 10**9, 0, stat.S_IFREG | 0o644, 1, 0, 0, 0, 0, 0)

    def answer(self, kind, node, body):
        if kind == INIT:
            return struct.pack("<4I2H2I2H", 7, 31, 65536, 0, 12, 9, 65536, 1, 0, 0) + bytes(32)
        if kind == LOOKUP:
            path = self.source / body.rstrip(b"\0").decode()
            about = path.stat()
            self.names[about.st_ino] = path.name
            return struct.pack("<4Q2I", about.st_ino, 0, 0, 0, 0, 0) + self.attributes(about.st_ino)
        if kind == GETATTR:
            return struct.pack("<Q2I", 0, 0, 0) + self.attributes(node)
        if kind in (OPEN, OPENDIR):
            return struct.pack("<Q2I", 1, 1 if kind == OPEN else 0, 0)
        if kind == STATFS:
            return bytes(80)
        if kind == READ:
            _, offset, size = struct.unpack_from("<QQI", body)
            return (self.source / self.names[node]).read_bytes()[offset:offset + size]
        if kind == READDIR:
            out = b""
            for at, path in enumerate(sorted(self.source.iterdir())):
                name = path.name.encode()
                entry = struct.pack("<2Q2I", path.stat().st_ino, at + 1, len(name), 8) + name
                out += entry + bytes(-len(entry) % 8)
            return out if struct.unpack_from("<QQ", body)[1] == 0 else b""
        if kind in (RELEASE, RELEASEDIR, FLUSH):
            return b""
        raise OSError(errno.ENOSYS, "")

    def hangs(self, kind, body):
        try:
            after = pathlib.Path(f"{self.source}.hang").read_text()
        except FileNotFoundError:
            return False
        if after == "":
            return kind != INIT
        if after == "close":
            return kind == FLUSH
        return kind == READ and struct.unpack_from("<QQI", body)[1] >= int(after)

    def serve(self):
        while True:
            request = os.read(self.device, 1 << 17)
            _, kind, number, node = struct.unpack_from("<2I2Q", request)
            while self.hangs(kind, request[40:]):
                time.sleep(0.02)
            if kind in UNANSWERED:
                continue
            try:
                error, out = 0, self.answer(kind, node, request[40:])
            except OSError as failure:
                error, out = failure.errno, b""
            try:
                os.write(self.device, struct.pack("<IiQ", 16 + len(out), -error, number) + out)
            except FileNotFoundError:
                pass  # Whoever asked is gone.


class HangingMount:
    """A mount with a folder's files in it; `source` is that folder. None where nothing can be mounted."""

    @staticmethod
    def works():
        return os.geteuid() == 0 and os.access("/dev/fuse", os.R_OK | os.W_OK)

    def __init__(self, beside=None):
        """`beside`: the folder that its folder is made in; None for the system's."""
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="exporter-hang-", dir=beside))
        self.source = self.folder / "source"
        self.path = self.folder / "mount"
        self.source.mkdir()
        self.path.mkdir()
        self.flag = self.folder / "source.hang"
        self.server = None

    def hang(self, after=""):
        self.flag.write_text(str(after))

    def answer(self):
        self.flag.unlink(missing_ok=True)

    def __enter__(self):
        self.server = subprocess.Popen([sys.executable, __file__, self.path, self.source])
        deadline = time.monotonic() + 20
        while not os.path.ismount(self.path):
            assert self.server.poll() is None and time.monotonic() < deadline, "cannot mount"
            time.sleep(0.01)
        return self

    def __exit__(self, *_):
        self.answer()
        # Without its server every request fails, also those that hang.
        self.server.kill()
        self.server.wait()
        subprocess.run(["umount", "-l", self.path], check=False)
        shutil.rmtree(self.folder)


def is_listening(address):
    with socket.socket() as client:
        return client.connect_ex(address) == 0


def ends_while_it_hangs(serving, mount, number=signal.SIGTERM, within_s=1):
    """The exporter closes its port in time and logs why it stays; it ends when the mount answers."""
    host, port = serving.url.removeprefix("http://").split(":")
    begun = time.monotonic()
    serving.process.send_signal(number)
    while is_listening((host, int(port))):
        assert time.monotonic() - begun < 10 * within_s, "the port stays open"
        time.sleep(0.01)
    took = time.monotonic() - begun
    print(f"      the port was closed {took * 1000:.0f} ms after the signal")
    assert took < within_s, took
    serving.wait_for_log(f"stopping although reads of files hang.*file=\"?{mount.path}")
    with socket.socket() as successor:
        successor.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        successor.bind((host, int(port)))
        successor.listen()
    mount.answer()
    status = serving.process.wait(10)
    assert status == 0, status


if __name__ == "__main__":
    FileSystem(sys.argv[1], sys.argv[2]).serve()
