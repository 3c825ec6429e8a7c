#!/usr/bin/env python3
"""What should a budget of bytes hold: fewer pairs in 16 bits, or more in 8 or 4?

    python3 resources/evaluation/make_set.py documents texts/documents.jsonl --words 1000 --count 24
    python tests/bench/trials/equal_bytes.py MODEL.gguf texts/documents.jsonl out/equal-bytes.jsonl
    python tests/bench/trials/equal_bytes.py --report out/equal-bytes.jsonl

A document is read in 16 bits and repeated once over its whole cache, which gives KVzip+'s scores. Fewer bits are those of cache_bits.py,
rounded when the pairs are chosen; with their scales they take the bytes of the share of the cache in 16 bits that a record names. The
template's beginning, questions and answers stay in 16 bits. Every question is answered alone behind each set. The log has a line an
answer, and a run that was cut off goes on with the document where it was. Needs torch, transformers, gguf and accelerate (README.md).
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
import time
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "resources/evaluation"))

from intervals import clustered_interval, mean  # noqa: E402

FLOOR = 0.2  # as the program's kvzip+: heads of all layers compete over a fifth of an equal part
BASELINE, LAST = "kvzip+", "kvzip+ in 4 bits"  # LAST: what a document's records end with


def sets_of(model, document, scores, share: float) -> dict:
    """Name -> what is kept of the document."""
    from cache_bits import INT8, ROTATED_4, HeldRows
    from kept_rows import KeptRows
    from replay_scores import choose

    sets = {BASELINE: KeptRows(document, choose(scores, round(share * scores.numel()), FLOOR))}
    for bits, recipe in ((8, INT8), (4, ROTATED_4)):
        more = round(share * scores.numel() * 16 / recipe.bits(model.head_dim, model.layers))
        held = document.held_by(HeldRows(model, recipe, document.end))
        sets[f"kvzip+ in {bits} bits"] = KeptRows(held, choose(scores, more, FLOOR))
    return sets


def measure(model, text: str, questions: list[dict], shares: list[float], most_tokens: int) -> list[dict]:
    """The log's records: every question of every set."""
    import torch
    from answer_metrics import contains
    from kept_rows import KeptRows, ask
    from replay_scores import WatchedReplay

    started = time.monotonic()
    document = model.read_document(text)
    tokens = torch.tensor([model.request("Repeat the previous context exactly.") + document.ids])
    replay = WatchedReplay(model, document)
    model.hidden(tokens, document.end + torch.arange(tokens.shape[1])[None], replay)
    named = [("full", 1.0, KeptRows(document, None))]
    for share in shares:
        named += [(name, share, kept) for name, kept in sets_of(model, document, replay.plus, share).items()]
    chosen = time.monotonic()
    pairs = [(question["question"], question["answers"][0]) for question in questions]
    asked = ask(model, [kept for _, _, kept in named], pairs, most_tokens)
    seconds = [round(end - begin) for begin, end in ((started, chosen), (chosen, time.monotonic()))]
    print(f"{len(document.ids)} tokens; seconds to choose and ask: {seconds}", flush=True)
    return [
        {
            "item": question["id"],
            "recipe": f"{name}, {share:.0%}",
            "method": name,
            "share": share,
            "seed": 0,
            "cluster": question["cluster"],
            "answer": answer.text,
            "score": float(any(contains(answer.text, gold) for gold in question["answers"])),
            "log_probability": round(answer.log_probability / answer.tokens, 5),
        }
        for (name, share, _), answers in zip(named, asked)
        for answer, question in zip(answers, questions)
    ]


def documents_of(path: Path) -> dict[str, list[dict]]:
    found: dict[str, list[dict]] = {}
    for line in path.read_text("utf-8").splitlines():
        question = json.loads(line)
        found.setdefault(question["media"], []).append(question)
    return found


def run(options: argparse.Namespace) -> None:
    from item_log import ItemLog
    from real_model import RealModel

    documents = list(documents_of(options.set).items())[: options.documents]
    model = RealModel.open(options.model, options.threads, options.bf16_products)
    options.log.parent.mkdir(parents=True, exist_ok=True)
    subject = f"equal bytes {sha256_of(options.model)} {options.shares} {options.max_tokens} {'bf16' if options.bf16_products else 'fp32'}"
    with ItemLog(options.log, subject) as log:
        for name, questions in documents:
            if log.has(questions[-1]["id"], f"{LAST}, {options.shares[-1]:.0%}", 0):
                continue
            print(f"{time.strftime('%H:%M:%S')} {name}", end=": ", flush=True)
            for record in measure(model, (options.set.parent / name).read_text("utf-8"), questions, options.shares, options.max_tokens):
                if not log.has(record["item"], record["recipe"], 0):
                    log.add(record)


def bounds(clusters: list[list[float]], scale: float, digits: int) -> str:
    """The mean over all, and between what it lies in 95 of 100 draws of documents."""
    low, high = clustered_interval(clusters)
    middle = mean([score for cluster in clusters for score in cluster])
    return f"{scale * middle:.{digits}f} ({scale * low:.{digits}f} to {scale * high:.{digits}f})"


def sha256_of(file: Path) -> str:
    with file.open("rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()


def records_of(log: Path) -> list[dict]:
    return [json.loads(line) for line in log.read_text("utf-8").splitlines()[1:]]


def report(path: Path) -> None:
    clusters: dict[tuple[float, str], dict[str, list[dict]]] = {}
    for record in records_of(path):
        clusters.setdefault((record["share"], record["method"]), {}).setdefault(record["cluster"], []).append(record)
    if not clusters:
        sys.exit(f"{path}: has no answer yet")
    documents = next(iter(clusters.values()))
    print(f"{len(documents)} documents, {sum(map(len, documents.values()))} questions\n")
    print("| kept | method | right, % | points beside kvzip+ | log-probability a token of the answer | beside kvzip+ |")
    print("|---|---|---:|---:|---:|---:|")
    for (share, method), found in clusters.items():
        cells = []
        for figure, scale, digits in (("score", 100, 1), ("log_probability", 1, 3)):
            own = [[record[figure] for record in cluster] for cluster in found.values()]
            cells += [bounds(own, scale, digits), ""]
            if method != BASELINE and (share, BASELINE) in clusters:
                other = [[record[figure] for record in cluster] for cluster in clusters[share, BASELINE].values()]
                cells[-1] = bounds([[a - b for a, b in zip(x, y)] for x, y in zip(own, other)], scale, digits)
        print(f"| {100 * share:.0f} % | {method} | " + " | ".join(cells) + " |")


def run_trial(parser: argparse.ArgumentParser, run: Callable[[argparse.Namespace], None], report: Callable[[Path], None]) -> None:
    """Takes what every trial is told, beside the parser's own options, and runs it or prints the table of its log."""
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--report", type=Path, metavar="LOG", help="print the table of a log, nothing else")
    parser.add_argument("model", type=Path, nargs="?", metavar="MODEL.gguf")
    parser.add_argument("set", type=Path, nargs="?", metavar="SET.jsonl")
    parser.add_argument("log", type=Path, nargs="?", metavar="LOG.jsonl")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--bf16-products", action="store_true", help="twice as fast where the processor multiplies bf16; sums stay in fp32")
    options = parser.parse_args()
    if options.report:
        report(options.report)
    elif not options.log:
        parser.error("a model, a set and a log are needed")
    else:
        run(options)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--documents", type=int, default=24)
    parser.add_argument("--shares", type=lambda text: [float(one) for one in text.split(",")], default=[0.05, 0.1])
    parser.add_argument("--max-tokens", type=int, default=28)
    run_trial(parser, run, report)


if __name__ == "__main__":
    main()
