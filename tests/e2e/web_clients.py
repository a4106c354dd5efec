# SPDX-License-Identifier: Apache-2.0
"""Clients that do a web server no good: web_clients.py ADDRESS KIND=COUNT... until it is ended.

Whoever is closed comes back a second later, unless RETURN=no. With TLS=yes all but those that
say nothing shake hands first. The kinds: idle (connects and says nothing), kept (asks once and
keeps the connection), sender (sends a byte of its headers a second), reader (reads a byte of a
large page a second), connect (COUNT new ones a second, which stay as long as they may).
"""
import collections
import errno
import os
import resource
import select
import socket
import ssl
import sys
import time

TICK_S = 0.02
ABSENT_S = 3600.0 if os.environ.get("RETURN") == "no" else 1.0
TLS = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT) if os.environ.get("TLS") == "yes" else None
if TLS:
    TLS.check_hostname, TLS.verify_mode = False, ssl.CERT_NONE
GET = b"GET %s HTTP/1.1\r\nHost: a\r\n\r\n"


class Client:
    """One connection of a kind."""
    small_buffer = False
    first = b""

    def __init__(self, crowd):
        self.crowd = crowd
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        if self.small_buffer:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        self.socket.setblocking(False)
        code = self.socket.connect_ex(crowd.address)
        assert code in (0, errno.EINPROGRESS), errno.errorcode[code]
        self.begun = False

    def readable(self):
        """False once the server has closed it."""
        return self.socket.recv(65536) != b""

    def second(self):
        """What it does each second."""

    def shake_hands(self):
        """False while it goes on."""
        if not TLS or not self.first:
            return True
        if not isinstance(self.socket, ssl.SSLSocket):
            self.socket = TLS.wrap_socket(self.socket, do_handshake_on_connect=False)
        try:
            self.socket.do_handshake()
            return True
        except (ssl.SSLWantReadError, ssl.SSLWantWriteError):
            return False

    def writable(self):
        """Connected, and perhaps in the midst of a handshake."""
        if not self.shake_hands():
            return
        self.begun = True
        if self.first:
            self.socket.send(self.first)
            self.crowd.answered += 1


class Idle(Client):
    pass


class Kept(Client):
    first = GET % b"/-/healthy"


class Sender(Client):
    first = b"GET / HTTP/1.1\r\nHost: a\r\nX-"

    def second(self):
        if self.begun:
            self.socket.send(b"x")


class Reader(Client):
    small_buffer = True
    first = GET % b"/metrics"

    def readable(self):
        return True  # What there is is left for its next second.

    def second(self):
        if self.begun:
            self.socket.recv(1)


KINDS = {"idle": Idle, "kept": Kept, "sender": Sender, "reader": Reader, "connect": Idle}


class Crowd:
    """As many clients of a kind as wanted, or as many new ones a second."""

    def __init__(self, address, kind, count):
        host, port = address.rsplit(":", 1)
        self.address = (host, int(port))
        self.kind = KINDS[kind]
        self.rate = count if kind == "connect" else None
        self.wanted = count
        self.clients = {}
        self.poll = select.epoll()
        self.made = self.closed = self.answered = 0
        self.absent = collections.deque()  # When those who were closed come back.
        self.due = 0.0
        self.last = time.monotonic()
        self.round = 0

    def make(self):
        client = self.kind(self)
        self.clients[client.socket.fileno()] = client
        mask = select.EPOLLOUT | (0 if self.kind is Reader else select.EPOLLIN)
        self.poll.register(client.socket, mask)
        self.made += 1

    def drop(self, fd):
        client = self.clients.pop(fd)
        self.poll.unregister(fd)
        client.socket.close()
        self.closed += 1
        self.absent.append(time.monotonic() + ABSENT_S)

    def guarded(self, fd, act):
        try:
            if act() is False:
                self.drop(fd)
        except (BlockingIOError, ssl.SSLWantReadError, ssl.SSLWantWriteError):
            pass
        except OSError:
            self.drop(fd)

    def handle(self, timeout_s):
        for fd, mask in self.poll.poll(timeout_s, 1024):
            client = self.clients.get(fd)
            if mask & select.EPOLLOUT and not client.begun:
                self.guarded(fd, client.writable)
                if client.begun and fd in self.clients:
                    self.poll.modify(fd, 0 if self.kind is Reader else select.EPOLLIN)
            elif mask & select.EPOLLHUP or mask & select.EPOLLERR:
                self.drop(fd)
            elif mask & select.EPOLLIN:
                self.guarded(fd, client.readable)

    def refill(self):
        now = time.monotonic()
        while self.absent and self.absent[0] <= now:
            self.absent.popleft()
        if self.rate is None:
            missing = self.wanted - len(self.clients) - len(self.absent)
        else:
            self.due += (now - self.last) * self.rate
            missing = int(self.due)
            self.due -= missing
        self.last = now
        for _ in range(missing):
            try:
                self.make()
            except OSError:  # No descriptor, or no port: the next time.
                break

    def tick(self):
        """Everybody's second, spread over it."""
        steps = int(1 / TICK_S)
        self.round = (self.round + 1) % steps
        for fd in [fd for fd in self.clients if fd % steps == self.round]:
            self.guarded(fd, self.clients[fd].second)


def main(address, *orders):
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    crowds = [Crowd(address, kind, int(count)) for kind, count in (o.split("=") for o in orders)]
    told = time.monotonic()
    while True:
        for crowd in crowds:
            crowd.refill()
            crowd.handle(TICK_S / len(crowds))
            crowd.tick()
        if time.monotonic() - told > 1:
            told = time.monotonic()
            print(" ".join(f"{o.split('=')[0]}:{len(c.clients)}/{c.made}/{c.closed}"
                           for o, c in zip(orders, crowds)), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
