#!/usr/bin/env python3
"""Makes sets of questions for `ask_set.py --data SET.jsonl`; what they ask about is written beside them.

make_set.py needle needle/needle.jsonl               one letter card hidden in drawn videos
make_set.py documents texts/documents.jsonl          six facts put into running text, with a question about each
make_set.py held-text texts/held-text.jsonl          the words that follow a text
make_set.py docvqa val_v1.0.json docvqa.jsonl        a benchmark's own file: milebench, docvqa, textvqa, chartqa, ai2d
"""

import argparse
import sys
from collections.abc import Callable
from pathlib import Path

import importers
from fact_documents import fact_items
from item_lines import BadSource, ItemLine, write_items
from needle_videos import LEAST_FRAMES, MOST_FRAMES, needle_items, needle_specs
from running_text import read_texts
from text_documents import DocumentSpecs, held_items

LEAST_WORDS, MOST_WORDS = 100, 100_000


def whole_number(least: int, most: int) -> Callable[[str], int]:
    def read(text: str) -> int:
        if not text.isdecimal() or not least <= int(text) <= most:
            raise argparse.ArgumentTypeError(f"must be a whole number from {least} to {most}, not {text}")
        return int(text)

    return read


def whole_numbers(least: int, most: int) -> Callable[[str], tuple[int, ...]]:
    return lambda text: tuple(map(whole_number(least, most), text.split(",")))


def needle(options: argparse.Namespace) -> list[ItemLine]:
    return needle_items(needle_specs(options.frames, options.depths, options.trials), options.out.parent)


def documents(options: argparse.Namespace) -> list[ItemLine]:
    make = fact_items if options.kind == "documents" else held_items
    return make(read_texts(options.text, options.encoding), DocumentSpecs(options.words, options.count, options.seed), options.out.parent)


def benchmark(options: argparse.Namespace) -> list[ItemLine]:
    return importers.imported(options.source, options.kind, options.images)


def parser() -> argparse.ArgumentParser:
    whole = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    kinds = whole.add_subparsers(dest="kind", required=True)

    videos = kinds.add_parser("needle", help="a letter card hidden at several depths of drawn videos (needs ffmpeg)")
    videos.set_defaults(make=needle)
    videos.add_argument(
        "--frames", type=whole_numbers(LEAST_FRAMES, MOST_FRAMES), default=(32, 64, 128, 256), help="lengths of these videos"
    )
    videos.add_argument("--depths", type=whole_number(1, 101), default=11, help="depths, evenly from 0 to 100 %%")
    videos.add_argument("--trials", type=whole_number(1, 1000), default=3, help="videos per length and depth")

    for kind, help_text in (
        ("documents", "six facts hidden in running text, with a question about each (for text models)"),
        ("held-text", "running text, and how well what follows it is foreseen (for text models)"),
    ):
        texts = kinds.add_parser(kind, help=help_text)
        texts.set_defaults(make=documents)
        lengths = whole_numbers(LEAST_WORDS, MOST_WORDS)
        texts.add_argument("--words", type=lengths, default=(1000, 2000, 4000), help="lengths of these documents")
        texts.add_argument("--count", type=whole_number(1, 1000), default=40, help="documents per length")
        texts.add_argument("--seed", type=whole_number(0, 1 << 30), default=0, help="of the facts and their places")
        texts.add_argument("--text", type=Path, nargs="+", default=[], help="files of running text; default: Debian's licence texts")
        texts.add_argument("--encoding", default="utf-8-sig", help="of these files, as Python names it")

    for kind in importers.FORMATS:
        published = kinds.add_parser(kind, help="questions in this benchmark's own format (importers.py)")
        published.set_defaults(make=benchmark)
        published.add_argument("source", type=Path, metavar="FILE", help="the benchmark's questions")
        published.add_argument("--images", type=Path, help="folder of its images, if not the usual one")
    for one in kinds.choices.values():
        one.add_argument("out", type=Path, metavar="SET.jsonl", help="the file of questions that is written")
    return whole


def main() -> int:
    options = parser().parse_args()
    try:
        options.out.parent.mkdir(parents=True, exist_ok=True)
        items = options.make(options)
        write_items(options.out, items)
    except (BadSource, OSError) as problem:
        print(f"make_set.py: {problem}", file=sys.stderr)
        return 1
    print(f"{options.out}: {len(items)} questions")
    return 0


if __name__ == "__main__":
    sys.exit(main())
