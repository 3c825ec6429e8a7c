#!/usr/bin/env python3
"""One machine's Winnow asks another's: two network namespaces with a cable between them, the engine in one and the terminal in the other.

    sudo python3 tests/clients/two_machines.py build/release/bin/winnow-cli

Prints a line for each check; ends with 1 if one failed. What is compared: the same command with the engine on this machine."""
import contextlib
import json
import os
import pathlib
import subprocess
import sys
import tempfile

from served_model import SAMPLES, Checks, serving

THERE, HERE = "winnow-there", "winnow-here"
ADDRESS, OTHER = "10.231.7.1", "10.231.7.2"


def ip(*words):
    subprocess.run(["ip", *words], check=True)


@contextlib.contextmanager
def two_machines():
    ip("netns", "add", THERE)
    ip("netns", "add", HERE)
    try:
        ip("link", "add", "wt0", "netns", THERE, "type", "veth", "peer", "name", "wh0", "netns", HERE)
        for name, link, address in ((THERE, "wt0", ADDRESS), (HERE, "wh0", OTHER)):
            ip("-n", name, "addr", "add", f"{address}/24", "dev", link)
            ip("-n", name, "link", "set", link, "up")
            ip("-n", name, "link", "set", "lo", "up")
        yield
    finally:
        ip("netns", "del", HERE)
        ip("netns", "del", THERE)


def on(name, *command):
    return ["ip", "netns", "exec", name, *map(str, command)]


def steady(answer):
    """What does not depend on the hour or on how fast a machine is."""
    if isinstance(answer, dict):
        return {name: steady(value) for name, value in answer.items()
                if not any(word in name for word in ("ms", "per_s", "peak", "time", "free_bytes", "model", "device", "scratch"))}
    return [steady(value) for value in answer] if isinstance(answer, list) else answer


def run(program, home, address, key):
    check = Checks()
    wrong = home / "wrong"
    wrong.write_text("another-key\n")
    server = ["--server", address, "--key-file", key]
    video = SAMPLES / "two-minutes.mp4"

    def ask(command, *options, where=(), status=0):
        env = {**os.environ, "WINNOW_HOME": str(home / "here")}
        done = subprocess.run(on(HERE, program, command, *where, *options), env=env, capture_output=True, text=True)
        if status is not None and done.returncode != status:
            print(done.stderr, file=sys.stderr)
        return done

    def same(name, command, *options):
        here = json.loads(ask(command, "--json", *options).stdout)
        there = json.loads(ask(command, "--json", *options, where=server).stdout or "{}")
        check(name, bool(there) and steady(here) == steady(there),
              "" if steady(here) == steady(there) else f"\n  here  {steady(here)}\n  there {steady(there)}")
        return there

    question = ["--video", video, "--frames", "32", "Name the color of the star."]
    answer = same("a question about a video, with per-layer budgets", "ask", "--method", "vl-cache", "--retention", "0.2", *question)
    print("     ", str(answer)[:600])
    same("without compression", "ask", "--method", "full", *question)
    same("checked against the full cache", "ask", "--check", "--method", "snapkv", "--retention", "0.1", *question)
    same("a plan", "plan", "--method", "self-study", "--retention", "0.2", *question)
    same("a comparison", "compare", "--method", "full", "--method", "vl-cache@0.1", "--method", "snapkv@0.1", *question)
    there = list((home / "there" / "cache" / "served").iterdir())
    check("the video went there once", len(there) == 1 and there[0].stat().st_size == video.stat().st_size, there)
    refused = ask("ask", "Hello", where=["--server", address, "--key-file", wrong], status=None)
    check("another key is refused", refused.returncode != 0 and "key" in refused.stderr, refused.stderr.strip())
    ip("-n", THERE, "link", "set", "wt0", "down")
    lost = ask("ask", "Hello", where=server, status=None)
    check("a machine that is gone is said", lost.returncode != 0 and ADDRESS in lost.stderr, lost.stderr.strip())
    ip("-n", THERE, "link", "set", "wt0", "up")
    return check.failed


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder, two_machines():
        home = pathlib.Path(folder)
        key = home / "key"
        key.write_text("the-key-of-this-test\n")
        command = on(THERE, sys.argv[1], "serve", "--host", ADDRESS, "--api-key-file", key)
        with serving(command, home / "there") as address:
            sys.exit(run(sys.argv[1], home, address, key) > 0)
