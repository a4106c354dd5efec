# SPDX-License-Identifier: Apache-2.0
"""Scrapers beside clients that do a web server no good (web_clients.py), and how long they wait."""
import base64
import multiprocessing
import os
import socket
import ssl
import subprocess
import sys
import time

from exporter import ROOT

FULL = os.environ.get("ATTACKS") == "full"
SECONDS = 30 if FULL else 2
LIMIT_S = 1.0 if FULL else 5.0
PATIENCE_S = 20


class Access:
    """How a scraper reaches the exporter: over TLS with the certificate of an authority, or without,
    and with which credentials."""

    def __init__(self, authority=None, credentials=None):
        self.authority = authority
        self.header = b""
        if credentials:
            self.header = b"Authorization: Basic " + base64.b64encode(credentials.encode()) + b"\r\n"

    def connect(self, address):
        host, port = address.rsplit(":", 1)
        connection = socket.create_connection((host, int(port)), timeout=PATIENCE_S)
        if not self.authority:
            return connection
        context = ssl.create_default_context(cafile=self.authority)
        return context.wrap_socket(connection, server_hostname="localhost")


PLAIN = Access()


class Ended(AssertionError):
    """The connection was ended before there was any answer."""


def first_bytes(connection, header):
    """What the request is answered with first."""
    try:
        connection.sendall(b"GET /metrics HTTP/1.1\r\nHost: a\r\nAccept-Encoding: gzip\r\n" + header +
                           b"\r\n")
        answer = connection.recv(65536)
    except (ConnectionResetError, BrokenPipeError, ssl.SSLEOFError, ssl.SSLZeroReturnError) as error:
        raise Ended(repr(error)) from error
    if not answer:
        raise Ended("closed before it answered")
    return answer


def scrape(connection, kept, header=b""):
    """One scrape, to its last byte."""
    answer = first_bytes(connection, header + (b"" if kept else b"Connection: close\r\n"))
    while b"\r\n\r\n" not in answer:
        chunk = connection.recv(65536)
        assert chunk, f"closed after {answer!r}"
        answer += chunk
    head, _, body = answer.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 200 "), head
    missing = int(head.lower().split(b"content-length: ")[1].split(b"\r\n")[0]) - len(body)
    while missing > 0:
        chunk = connection.recv(1 << 20)
        assert chunk, f"{missing} bytes are missing"
        missing -= len(chunk)


def scrape_as_clients_do(address, access, connection):
    """
    On a kept connection, or on a new one where that was ended before it answered anything: HTTP lets
    servers end it between two requests, and whoever keeps connections (Go's client, and so
    Prometheus) asks once more then. The connection that it was answered on.
    """
    if connection:
        try:
            scrape(connection, True, access.header)
            return connection
        except Ended:
            connection.close()
    connection = access.connect(address)
    scrape(connection, True, access.header)
    return connection


def keep_scraping(address, access, kept, pause_s, results):
    """Latencies and failures of a scraper: with a connection for each scrape, or with one."""
    latencies, failures, connection = [], [], None
    end = time.monotonic() + SECONDS
    while time.monotonic() < end:
        start = time.monotonic()
        try:
            if kept:
                connection = scrape_as_clients_do(address, access, connection)
            else:
                connection = access.connect(address)
                scrape(connection, False, access.header)
            latencies.append(time.monotonic() - start)
        except (OSError, AssertionError) as error:
            failures.append(f"after {time.monotonic() - start:.3f} s {error!r}")
            kept_before, connection = connection, None
            if kept_before:
                kept_before.close()
        if not kept and connection:
            connection.close()
            connection = None
        time.sleep(pause_s)
    results.put((latencies, failures))


class Scrapers:
    """A scraper of each kind, each in a process of its own: what disturbs one delays no other."""

    def __init__(self, address, kinds=("new", "kept"), access=PLAIN):
        self.kinds = kinds
        self.results = [multiprocessing.Queue() for _ in kinds]
        self.processes = [
            multiprocessing.Process(target=keep_scraping,
                                    args=(address, access, kind == "kept",
                                          0.25 if kind == "kept" else 0.05, results))
            for kind, results in zip(kinds, self.results)]
        for process in self.processes:
            process.start()

    def judge(self, what, limit_s=LIMIT_S):
        for name, results, process in zip(self.kinds, self.results, self.processes):
            latencies, failures = results.get(timeout=SECONDS + 4 * PATIENCE_S)
            process.join()
            latencies.sort()
            p99 = latencies[int(len(latencies) * 0.99)] if latencies else float("inf")
            print(f"      {what}, {name} connections: {len(latencies)} scrapes, "
                  f"{len(failures)} failed, p99 {p99 * 1000:.0f} ms, "
                  f"longest {latencies[-1] * 1000 if latencies else 0:.0f} ms")
            assert not failures and p99 <= limit_s, (what, name, failures[:3], p99)


class Attack:
    """Hostile clients, a process for each kind, which the scheduler weighs as other users'."""

    def __init__(self, address, orders, come_back=True, tls=False):
        self.processes = [
            subprocess.Popen([sys.executable, str(ROOT / "tests/e2e/web_clients.py"), address, order],
                             stdout=subprocess.PIPE, start_new_session=True,
                             env={**os.environ, "RETURN": "yes" if come_back else "no",
                                  "TLS": "yes" if tls else "no"})
            for order in orders]
        for process in self.processes:
            process.stdout.readline()  # Their first second is over.

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for process in self.processes:
            assert process.poll() is None, "hostile clients ended by themselves"
            process.kill()
            process.wait()
            process.stdout.close()
