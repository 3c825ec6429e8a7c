#!/usr/bin/env python3
"""What strangers and careless clients may do to `winnow-cli serve` without harm to others, with the demo model: bodies that drip, idle
connections, texts of millions of letters, askers that leave, damaged HTTP.

    python3 tests/clients/attack_api.py build/release/bin/winnow-cli [REQUESTS]

REQUESTS: damaged ones, 2,000 unless given. Prints a line for each check; ends with 1 if one failed. No packages are needed."""
import contextlib
import json
import pathlib
import random
import socket
import sys
import tempfile
import threading
import time
import urllib.parse

from served_model import Checks, serving

KEY = "the-key-of-this-test"
ANNOUNCED = 268_435_456


class Server:
    def __init__(self, address, key=None):
        parsed = urllib.parse.urlparse(address)
        self.place, self.key = (parsed.hostname, parsed.port), key

    def connect(self):
        return socket.create_connection(self.place, timeout=120)

    def head(self, line, length=None, more=""):
        key = f"Authorization: Bearer {self.key}\r\n" if self.key else ""
        size = "" if length is None else f"Content-Length: {length}\r\n"
        return f"{line} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n{key}{size}{more}\r\n".encode()

    def told(self, bytes_, ends=False):
        """What comes back; empty where the connection is refused or cut."""
        with contextlib.suppress(OSError), self.connect() as connection:
            with contextlib.suppress(OSError):
                connection.sendall(bytes_)
                if ends:
                    connection.shutdown(socket.SHUT_WR)
            return b"".join(iter(lambda: connection.recv(65536), b""))
        return b""

    def post(self, path, fields):
        body = json.dumps(fields).encode()
        return self.told(self.head(f"POST {path}", len(body)) + body)

    def status(self, told):
        return int(told[9:12]) if told.startswith(b"HTTP/1.1 ") else 0

    def answers(self):
        asked = {"messages": [{"role": "user", "content": "Hello"}], "max_tokens": 2}
        return self.status(self.post("/v1/chat/completions", asked)) == 200


@contextlib.contextmanager
def meanwhile(do, count):
    ended = threading.Event()
    threads = [threading.Thread(target=do, args=(number, ended), daemon=True) for number in range(count)]
    for thread in threads:
        thread.start()
    time.sleep(1)
    try:
        yield
    finally:
        ended.set()
        for thread in threads:
            thread.join(10)


def dripping(server, check):
    stranger = Server(f"http://{server.place[0]}:{server.place[1]}")
    heads = [stranger.head("POST /health", ANNOUNCED), stranger.head("OPTIONS /v1/models", ANNOUNCED),
             stranger.head("POST /v1/chat/completions", more="Transfer-Encoding: chunked\r\n"), stranger.head("GET /health", ANNOUNCED)]
    def drip(number, ended):
        while not ended.is_set():
            with contextlib.suppress(OSError), stranger.connect() as connection:
                connection.sendall(heads[number % len(heads)])
                while not ended.wait(0.5):
                    connection.sendall(b"x")
    with meanwhile(drip, 8):
        held = [server.answers() for _ in range(9)]
    check("who has the key is answered while eight without it drip", all(held), f"{sum(held)} of 9")
    for head, status in zip(heads, (401, 413, 401, 413)):
        told = stranger.told(head)
        check(f"{head.split(b' HTTP')[0].decode()} with a body, without the key", server.status(told) == status, told[:40])


def idling(server, check, connections=160):
    def idle(number, ended):
        while not ended.is_set():
            with contextlib.suppress(OSError), server.connect() as connection:
                connection.sendall((b"", b"GET / HT")[number % 2])
                connection.settimeout(0.2)
                while not ended.is_set():
                    with contextlib.suppress(TimeoutError):
                        if not connection.recv(1):
                            break
    with meanwhile(idle, connections):
        honest = [server.answers() for _ in range(40)]
    check(f"{connections} idle connections close the door to nobody", all(honest), f"{sum(honest)} of 40")


def long_texts(server, check):
    engines = engines_of(server)
    for name, text in (("4,000,000 letters", "a" * 4_000_000), ("8,000,000", "a" * 8_000_000), ("15,000,000", "a" * 15_000_000),
                       ("8.4 MB of short words", "an ox " * 1_400_000), ("8.4 MB of words of a letter", "a b c d " * 1_050_000),
                       ("200,000 letters", "a" * 200_000)):
        for path, field, more in (("/tokenize", "content", {}), ("/tokenize", "content", {"with_pieces": True}), ("/v1/completions", "prompt", {})):
            begun = time.monotonic()
            told = server.post(path, {field: text, **more})
            words = told.partition(b"\r\n\r\n")[2][:90]
            check(f"{path} {name} {more or ''}", server.status(told) in (200, 400), f"{server.status(told)} after {time.monotonic() - begun:.1f} s {words}")
    tokens = json.dumps({"tokens": [100] * 1_000_000})
    check("/detokenize 1,000,000 tokens", server.status(server.told(server.head("POST /detokenize", len(tokens)) + tokens.encode())) == 200)
    check("the engine is the same", engines_of(server) == engines, engines)
    body = json.dumps({"content": "an ox " * 1_400_000}).encode()
    with server.connect() as connection:
        connection.sendall(server.head("POST /tokenize", len(body)) + body)
        time.sleep(0.7)
    begun = time.monotonic()
    check("nobody waits for a text whose asker has left", server.answers() and time.monotonic() - begun < 3, f"{time.monotonic() - begun:.1f} s")


def engines_of(server):
    """The engines that the process which listens there has started."""
    return sorted(int(stat.parent.name) for stat in pathlib.Path("/proc").glob("[0-9]*/stat")
                  if server.program in parents(stat) and "winnow-engine" in (stat.parent / "cmdline").read_text())


def parents(stat):
    with contextlib.suppress(OSError, ValueError):
        return [int(stat.read_text().rpartition(")")[2].split()[1])]
    return []


def half_closed(server, check):
    body = json.dumps({"messages": [{"role": "user", "content": "Hello"}], "max_tokens": 2}).encode()
    told = server.told(server.head("POST /v1/chat/completions", len(body)) + body, ends=True)
    check("who ends its own half of the connection is answered", server.status(told) == 200, told[:40])


def damaged(server, check, requests):
    chance = random.Random(1)
    body = json.dumps({"messages": [{"role": "user", "content": "Hello"}], "max_tokens": 2}).encode()
    whole = server.head("POST /v1/chat/completions", len(body)) + body
    chunks = server.head("POST /v1/chat/completions", more="Transfer-Encoding: chunked\r\n") + b"%x\r\n%s\r\n0\r\n\r\n" % (len(body), body)
    statuses = {}
    for number in range(requests):
        bytes_ = bytearray((whole, chunks)[number % 2])
        for _ in range(chance.randrange(1, 5)):
            if not bytes_:
                break
            at = chance.randrange(len(bytes_))
            kind = chance.randrange(4)
            if kind == 0:
                bytes_[at] = chance.randrange(256)
            elif kind == 1:
                del bytes_[at:at + chance.randrange(1, 20)]
            elif kind == 2:
                bytes_[at:at] = chance.choice([b"\r\n", b"\r\n\r\n", b"\0", b"Transfer-Encoding: xchunked\r\n", b"Content-Length: 5\r\n", b"x" * 20_000])
            else:
                bytes_ = bytes_[:at + 1]
        status = server.status(server.told(bytes(bytes_), ends=True))
        statuses[status] = statuses.get(status, 0) + 1
    check(f"{requests} damaged requests are answered or cut", set(statuses) <= {0, 200, 400, 401, 403, 404, 405, 413, 429, 431, 501}, statuses)
    for coding in ("xchunked", "identity", "gzip, chunked"):
        told = server.told(server.head("POST /v1/models", more=f"Transfer-Encoding: {coding}\r\n") + b"GET /smuggled HTTP/1.1\r\nHost: localhost\r\n\r\n")
        check(f"Transfer-Encoding {coding}", server.status(told) == 501 and told.count(b"HTTP/1.1 ") == 1, told[:40])


def run(server, requests):
    check = Checks()
    half_closed(server, check)
    dripping(server, check)
    idling(server, check)
    long_texts(server, check)
    damaged(server, check, requests)
    check("it still answers", server.answers())
    return check.failed


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    with tempfile.TemporaryDirectory() as home:
        key = pathlib.Path(home) / "key"
        key.write_text(KEY + "\n")
        with serving([sys.argv[1], "serve", "--port", "0", "--api-key-file", str(key)], home) as where:
            attacked = Server(where, KEY)
            attacked.program = next(int(pid.name) for pid in pathlib.Path("/proc").glob("[0-9]*")
                                    if str(key) in (pid / "cmdline").read_text() and (pid / "comm").read_text().startswith("winnow-cli"))
            failures = run(attacked, int(sys.argv[2]) if len(sys.argv) == 3 else 2_000)
    sys.exit(1 if failures else 0)
