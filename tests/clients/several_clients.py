#!/usr/bin/env python3
"""Four clients that ask at the same time, against the same four questions one after the other, in one run of one server.

    python3 tests/clients/several_clients.py build/release/bin/winnow-cli [--model MODEL] [--tokens 64] [--rounds 3]

Prints the median times of one answer, of four one after the other and of four at once; ends with 1 if an answer differs. Without a model the
demo model is asked. No packages are needed."""
import argparse
import concurrent.futures
import http.client
import json
import statistics
import sys
import time
import urllib.parse

from served_model import Checks, served

QUESTIONS = ["Write about the sea.", "Explain how a bicycle stays upright.", "Tell a story about a lighthouse.", "Describe a forest in winter."]


def ask(address, question, tokens):
    place = urllib.parse.urlparse(address)
    connection = http.client.HTTPConnection(place.hostname, place.port, timeout=600)
    body = {"messages": [{"role": "user", "content": question}], "max_tokens": tokens, "temperature": 0, "winnow": {"method": "full"}}
    connection.request("POST", "/v1/chat/completions", json.dumps(body), {"Content-Type": "application/json"})
    answer = json.loads(connection.getresponse().read())
    return answer["choices"][0]["message"]["content"], answer["usage"]["completion_tokens"]


def timed(work):
    started = time.monotonic()
    return work(), time.monotonic() - started


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--model")
    parser.add_argument("--tokens", type=int, default=64)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    check = Checks()
    with served(options.program, "--at-once", "4", *(["--model", options.model] if options.model else [])) as address:
        ask(address, "Hello.", 4)
        one, apart, together = [], [], []
        for number in range(options.rounds):
            questions = [f"{question} Round {number}." for question in QUESTIONS]
            one.append(timed(lambda: ask(address, "Write about a river.", options.tokens))[1])
            told, seconds = timed(lambda: [ask(address, question, options.tokens) for question in questions])
            apart.append(seconds)
            with concurrent.futures.ThreadPoolExecutor(len(questions)) as clients:
                at_once, seconds = timed(lambda: list(clients.map(lambda question: ask(address, question, options.tokens), questions)))
            together.append(seconds)
            for question, (answer, _), (other, tokens) in zip(questions, told, at_once):
                check(question, answer == other, f"{tokens} tokens")
    one, apart, together = (statistics.median(seconds) for seconds in (one, apart, together))
    print(f"one {one:.2f} s, four one after the other {apart:.2f} s, four at once {together:.2f} s: "
          f"{together / one:.2f} of one, {apart / together:.2f} times as many tokens a second")
    sys.exit(1 if check.failed else 0)
