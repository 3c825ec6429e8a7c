#!/usr/bin/env python3
"""`winnow-cli ask --server` against real servers: llama-cpp-python's with a small text model, and our own `serve` with the demo model.

    python3 tests/clients/real_servers.py build/release/bin/winnow-cli SmolLM2-135M-Instruct.Q4_1.gguf

Makes an environment with the servers of PyPI in a folder of its own (kept between runs; the first time compiles llama.cpp), starts each on a
free port and prints a line for each check; ends with 1 if one failed."""
import json
import pathlib
import signal
import socket
import subprocess
import sys
import time
import urllib.request

from served_model import SAMPLES, Checks, go_on_with, served


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def asked(cli, address, *options, timeout=300):
    return subprocess.run([cli, "ask", "--server", address, "--json", *options], capture_output=True, text=True, timeout=timeout)


def answers(check, name, cli, address, *options):
    run = asked(cli, address, *options)
    check(name, run.returncode == 0, run.stderr.strip() if run.returncode else "")
    if run.returncode != 0:
        return {}
    answer = json.loads(run.stdout)
    check(f"{name}: words and figures", bool(answer["answer"].strip()) and answer["tokens"]["generated"] > 0, answer["answer"][:60])
    return answer


def wait_for(address, server):
    for _ in range(600):
        try:
            with urllib.request.urlopen(address + "/models", timeout=2):
                return
        except OSError:
            if server.poll() is not None:
                raise SystemExit(f"the server ended with {server.returncode}")
            time.sleep(0.2)
    raise SystemExit("the server does not answer")


def llama_cpp_python(cli, model, check):
    port = free_port()
    server = subprocess.Popen([sys.executable, "-m", "llama_cpp.server", "--model", model, "--port", str(port), "--n_ctx", "512"],
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    address = f"http://127.0.0.1:{port}/v1"
    try:
        wait_for(address, server)
        answers(check, "llama-cpp-python: a text", cli, address, "--max-tokens", "16", "What is the capital of France?")
        missing = asked(cli, address, "--server-model", "no-such-model", "Why?")
        check("llama-cpp-python: a missing model", "no-such-model" in missing.stderr, missing.stderr.strip())
        long = asked(cli, address, "word " * 2000)
        check("llama-cpp-python: a question that is too long", long.returncode != 0 and "512" in long.stderr, long.stderr.strip()[:120])
        running = subprocess.Popen([cli, "ask", "--server", address, "--max-tokens", "400", "Count to one hundred in words."],
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        running.stdout.read(1)
        running.send_signal(signal.SIGINT)
        stopped = time.monotonic()
        running.communicate(timeout=60)
        check("llama-cpp-python: Ctrl+C ends it at once", time.monotonic() - stopped < 5, f"{time.monotonic() - stopped:.2f} s")
        broken = subprocess.Popen([cli, "ask", "--server", address, "--max-tokens", "400", "Tell me a long story about a fox."],
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        begun = broken.stdout.read(1)
        server.kill()
        rest, errors = broken.communicate(timeout=60)
        check("llama-cpp-python: killed in mid-answer", broken.returncode != 0 and bool(begun + rest), errors.strip().splitlines()[-1:])
    finally:
        server.kill()
        server.wait()


def own_server(cli, check):
    with served(cli) as address:
        picture = answers(check, "winnow serve: a picture", cli, address, "--image", str(SAMPLES / "picture.png"), "Name the color of the star.")
        check("winnow serve: the picture is seen", picture.get("answer") == "The star is blue.", picture.get("answer"))
        video = ("--video", str(SAMPLES / "ten-seconds.mp4"), "What comes first?")
        answers(check, "winnow serve: a video", cli, address, *video)
        again = answers(check, "winnow serve: the video again", cli, address, *video)
        tokens = again.get("tokens", {"prompt": 1, "thread_text": 0})
        check("winnow serve: its second question reads it no more", tokens["prompt"] < tokens["thread_text"],
              f"{tokens['prompt']} of {tokens['thread_text']} tokens read")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    go_on_with("llama-cpp-python[server]==0.3.36")
    checks = Checks()
    program = str(pathlib.Path(sys.argv[1]).resolve())
    own_server(program, checks)
    llama_cpp_python(program, sys.argv[2], checks)
    sys.exit(1 if checks.failed else 0)
