#!/usr/bin/env python3
"""Ten questions about one video: over HTTP, and the same thread in `winnow-cli chat`, with the demo model, both in one run.

    python3 tests/clients/ten_questions.py build/release/bin/winnow-cli

Prints a line for each question; ends with 1 if an answer differs, or if the second to the tenth together take more than 1.2 times as long
over HTTP. No packages are needed."""
import http.client
import json
import subprocess
import sys
import time
import urllib.parse

from served_model import SAMPLES, Checks, served

VIDEO = SAMPLES / "two-minutes.mp4"
MOST_TIMES = 1.2
QUESTIONS = ["Which shapes do you see?", "What comes first?", "What comes last?", "How many circles are there?", "Is there a red square?",
             "What color is the star?", "Which shape comes after the first?", "Is there a blue circle?", "How many stars are there?",
             "List everything that you see."]


def over_http(address):
    place = urllib.parse.urlparse(address)
    connection = http.client.HTTPConnection(place.hostname, place.port, timeout=600)
    thread, told = [], []
    for question in QUESTIONS:
        video = [] if thread else [{"type": "video_url", "video_url": {"url": f"file://{VIDEO}"}}]
        thread.append({"role": "user", "content": [*video, {"type": "text", "text": question}]})
        started = time.monotonic()
        connection.request("POST", "/v1/chat/completions", json.dumps({"messages": thread}), {"Content-Type": "application/json"})
        answer = json.loads(connection.getresponse().read())["choices"][0]["message"]["content"]
        told.append((time.monotonic() - started, answer))
        thread.append({"role": "assistant", "content": answer})
    return told


def in_terminal(program):
    told = []
    with subprocess.Popen([program, "chat", "--video", str(VIDEO)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True) as chat:
        chat.stderr.readline()  # the model is there
        for question in QUESTIONS:
            started = time.monotonic()
            chat.stdin.write(question + "\n")
            chat.stdin.flush()
            answer = chat.stdout.readline().rstrip("\n")
            told.append((time.monotonic() - started, answer))
        chat.stdin.close()
    return told


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    check = Checks()
    terminal = in_terminal(sys.argv[1])
    with served(sys.argv[1]) as address:
        http_ = over_http(address)
    for question, (here, answer), (there, other) in zip(QUESTIONS, terminal, http_):
        check(f"{question:36}", answer == other, f"terminal {here * 1000:6.0f} ms, HTTP {there * 1000:6.0f} ms: {answer}")
    later = [sum(seconds for seconds, _ in told[1:]) for told in (terminal, http_)]
    check("second to tenth", later[1] <= MOST_TIMES * later[0],
          f"terminal {later[0] * 1000:.0f} ms, HTTP {later[1] * 1000:.0f} ms: {later[1] / later[0]:.2f} times")
    sys.exit(1 if check.failed else 0)
