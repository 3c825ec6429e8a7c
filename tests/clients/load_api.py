#!/usr/bin/env python3
"""How `winnow-cli serve` stands what clients do to it, with the demo model: many requests, 1,000 connections, readers that are slow or
leave at a random word, several requests in one packet, halves of requests. Whoever leaves stops the answer. Afterwards it must still
answer, and its memory must be flat.

    python3 tests/clients/load_api.py build/release/bin/winnow-cli [REQUESTS]

REQUESTS: 10,000 unless given. Prints the memory of the server and its processes, and how soon answers stop; ends with 1 if a check failed. No packages are needed."""
import json
import pathlib
import random
import re
import socket
import sys
import time
import urllib.parse

from served_model import Checks, served

ALLOWED_GROWTH = 0.10  # of the memory after the first tenth
STOPPED_MS = 200  # after whoever asked has left


def body_of(question, **more):
    return json.dumps({"messages": [{"role": "user", "content": question}], "max_tokens": 4, **more}).encode()


def packet(body, close=False, path="/v1/chat/completions"):
    return (b"POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %d\r\n%s\r\n"
            % (path.encode(), len(body), b"Connection: close\r\n" if close else b"")) + body


class Server:
    def __init__(self, address):
        parsed = urllib.parse.urlparse(address)
        self.place = (parsed.hostname, parsed.port)

    def connect(self):
        return socket.create_connection(self.place, timeout=60)

    def ask(self, body, path="/v1/chat/completions"):
        with self.connect() as connection:
            connection.sendall(packet(body, True, path))
            return b"".join(iter(lambda: connection.recv(65536), b""))

    def in_line(self):
        with self.connect() as connection:
            connection.sendall(b"GET /metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
            text = b"".join(iter(lambda: connection.recv(65536), b""))
        return int(re.search(rb"^winnow_requests_waiting (\d+)", text, re.M).group(1))


def server_at(address):
    """The process that listens there."""
    port = f":{urllib.parse.urlparse(address).port:04X}"
    inodes = {line.split()[9] for line in pathlib.Path("/proc/net/tcp").read_text().splitlines()[1:]
              if line.split()[1].endswith(port) and line.split()[3] == "0A"}
    for link in pathlib.Path("/proc").glob("[0-9]*/fd/*"):
        try:
            if str(link.readlink()).strip("socket:[]") in inodes:
                return int(link.parts[2])
        except OSError:
            continue
    sys.exit("nobody listens at the server's port")


def resident_mib(pid):
    """Of a process and all that it started."""
    total = 0
    for status in pathlib.Path("/proc").glob("[0-9]*/status"):
        try:
            fields = dict(line.split(":", 1) for line in status.read_text().splitlines())
        except OSError:
            continue
        if int(status.parent.name) == pid:
            total += int(fields["VmRSS"].split()[0])
        elif int(fields["PPid"]) == pid and "VmRSS" in fields:
            total += resident_mib(int(status.parent.name)) * 1024
    return total / 1024


def one_of_many(server, number, chance):
    kind = number % 10
    question = body_of(f"Question {number}", stream=kind in (1, 2))
    if kind == 2:  # leaves at a random word
        with server.connect() as connection:
            connection.sendall(packet(question))
            connection.recv(chance.randrange(1, 2000))
        return True
    if kind == 3:  # half a request
        with server.connect() as connection:
            connection.sendall(packet(question)[:chance.randrange(1, 200)])
        return True
    if kind == 4:
        return b" 400 " in server.ask(question[:-5])
    if kind == 5:
        return b'"tokens"' in server.ask(json.dumps({"content": "x" * chance.randrange(1, 5000)}).encode(), "/tokenize")
    answer = server.ask(question)
    return b" 200 " in answer or b" 429 " in answer


def many(server, check, requests, pid):
    chance = random.Random(1)
    wrong, resident = 0, []
    for number in range(requests):
        wrong += not one_of_many(server, number, chance)
        if number % max(1, requests // 20) == 0:
            resident.append(resident_mib(pid))
            print(f"     {number} requests: {resident[-1]:.1f} MiB", flush=True)
    resident.append(resident_mib(pid))
    check("every request has its answer", wrong == 0, f"{wrong} of {requests} without")
    after_a_tenth = resident[2]
    check("memory is flat", resident[-1] <= after_a_tenth * (1 + ALLOWED_GROWTH), f"{after_a_tenth:.1f} MiB, then {resident[-1]:.1f} MiB")


def thousand_connections(server, check):
    connections = []
    for _ in range(1000):
        try:
            connections.append(server.connect())
        except OSError:
            break
    check("1,000 connections are taken or closed", len(connections) > 100, str(len(connections)))
    for connection in connections:
        connection.close()
    time.sleep(1)


def packed(server, check):
    with server.connect() as connection:
        connection.sendall(packet(body_of("one")) + packet(body_of("two")) + packet(body_of("three"), close=True))
        answers = b"".join(iter(lambda: connection.recv(65536), b""))
    check("three requests in one packet have three answers", answers.count(b"HTTP/1.1 200") == 3)


def slow_reader(server, check):
    with server.connect() as connection:
        connection.sendall(packet(body_of("Tell me a story.", stream=True, max_tokens=64), close=True))
        text = b""
        while piece := connection.recv(16):
            text += piece
            time.sleep(0.002)
    check("a slow reader has the whole answer", b"[DONE]" in text)


def stopped_after(server, body, moment):
    """Milliseconds from leaving, so many seconds after the answer's first byte or in its prompt, to the end of it; None: it had ended."""
    connection = server.connect()
    connection.sendall(packet(body, path="/v1/completions"))
    while server.in_line() == 0:
        time.sleep(0.001)
    time.sleep(moment)
    if server.in_line() == 0:
        return None
    connection.close()
    left = time.monotonic()
    while server.in_line() > 0:
        time.sleep(0.001)
    return (time.monotonic() - left) * 1000


def stopping(server, check):
    chance = random.Random(2)
    for name, words, most in (("a prompt", 3900, 0.25), ("an answer", 20, 0.3)):
        times = []
        for number in range(40):
            body = json.dumps({"prompt": f"{number} " + "word " * words, "max_tokens": 4000, "stream": True, "temperature": 2.0, "seed": number,
                               "winnow": {"method": "full"}}).encode()
            times.append(stopped_after(server, body, chance.uniform(0, most)))
        times = sorted(each for each in times if each is not None)
        check(f"{name} that nobody waits for stops", len(times) > 5 and times[-1] <= STOPPED_MS,
              f"{len(times)} times: median {times[len(times) // 2]:.0f}, longest {times[-1]:.0f} ms" if times else "they were too short")


def run(address, requests, pid):
    server = Server(address)
    check = Checks()
    packed(server, check)
    slow_reader(server, check)
    thousand_connections(server, check)
    stopping(server, check)
    many(server, check, requests, pid)
    check("it still answers", b" 200 " in server.ask(body_of("Hello")))
    return check.failed


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    with served(sys.argv[1]) as address:
        failures = run(address, int(sys.argv[2]) if len(sys.argv) == 3 else 10_000, server_at(address))
    sys.exit(1 if failures else 0)
