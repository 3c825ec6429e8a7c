"""The lists of methods in engine/recipes/README.md and README.md, between their markers, from what the program knows and what was measured.

    python3 engine/recipes/make_method_pages.py --cli build/release/bin/winnow-cli

Names, sentences, sources and options are those of `winnow-cli methods --json`; shares of right answers those of resources/demo/README.md.
--check writes nothing and ends with 1 if a page is not current; a test runs it.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import textwrap
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BEGIN = "<!-- methods: made by engine/recipes/make_method_pages.py -->"
END = "<!-- methods: end -->"
BEFORE = ("context", "stream", "retrieve")
SECTIONS = (
    ("Before the question", ("context",)),
    ("Clip by clip, for streams and long videos", ("stream",)),
    ("Fetched anew for each question", ("retrieve",)),
    ("Once, when the prompt has been read", ("once",)),
    ("While the answer is written too", ("decode", "ratio-decode")),
    ("While the prompt is read: token pruning", ("prefill",)),
)


class Measured:
    """Per cent right on the demo model, from the first tables of resources/demo/README.md that have a method (videos of 64 frames)."""

    def __init__(self, page: str) -> None:
        self.single: dict[str, list[str]] = {}  # at 20 and at 10 % kept; what was really kept follows in brackets where it differs
        self.ten: dict[str, str] = {}  # mean of the second to the tenth question at 10 %; with a star where they were one conversation
        single, ten = page.split("\n## ")[1:3]
        for name, *cells in self.rows(single):
            self.single.setdefault(name, [cell for cell in cells if cell])
        star = ""
        for name, *cells in self.rows(ten):
            star = {"drop": "", "keep": "\\*"}.get(name, star)
            mean = re.fullmatch(r"\d+ · \d+ · ([\d.]+) ± [\d.]+", cells[0])
            if mean:
                self.ten.setdefault(name, mean[1] + star)

    @staticmethod
    def rows(text: str) -> list[list[str]]:
        return [[cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines() if line.startswith("| ")]

    def one(self, name: str, before_question: bool) -> str:
        """At 20 %. Shares of the video alone are all alike, so what was kept of the prompt with it is left out."""
        if name not in self.single:
            return ""
        share, _, kept = self.single[name][0].partition(" (")
        return f"{share} ({float(kept.split()[0]):.0f})" if kept and not before_question else share

    def right(self, name: str) -> float:
        return float(self.single[name][0].split()[0]) if name in self.single else 0.0

    def sentence(self, name: str) -> str:
        if name not in self.single:
            return ""
        shares = [f"{cell} at {asked} %" for cell, asked in zip(self.single[name], (100,) if name == "full" else (20, 10), strict=True)]
        return ", ".join(shares) + (f"; ten questions: {self.ten[name]}" if name in self.ten else "")


def short_source(source: str) -> str:
    """An arXiv number as a link, else venue and year; of our own methods the closest precedent."""
    paper = re.search(r"arXiv (\d{4}\.\d{5})", source)
    link = f"[{paper[1]}](https://arxiv.org/abs/{paper[1]})" if paper else ""
    if source.startswith("Winnow"):
        return f"Winnow; near {link}" if "precedent" in source else "Winnow"
    venue = re.search(r"[A-Z]{4,} \d{4}", source)
    return link or (venue[0] if venue else source)


def compact_table(methods: list[dict], measured: Measured) -> str:
    """README's: methods with the same idea share a row; those that decide after the question by their share of right answers."""

    def place(method: dict) -> tuple:
        before = method["phase"] in BEFORE
        return method["name"] != "full", not before, method["phase"] == "prefill", 0.0 if before else -measured.right(method["name"])

    groups: dict[str, list[dict]] = {}
    for method in sorted(methods, key=place):
        groups.setdefault(method["idea"], []).append(method)
    lines = ["| name | idea | source | one | ten |", "|---|---|---|---|---|"]
    for idea, group in groups.items():
        names = ", ".join(f"`{method['name']}`" for method in group)
        sources = ", ".join(dict.fromkeys(short_source(method["source"]) for method in group))
        one = " / ".join(filter(None, (measured.one(method["name"], method["phase"] in BEFORE) for method in group)))
        ten = " / ".join(filter(None, (measured.ten.get(method["name"], "") for method in group)))
        lines.append(" ".join(f"| {cell}".rstrip() for cell in (names, idea, sources, one, ten)) + " |")
    return "\n".join(lines)


def wrapped(line: str) -> str:
    indent = "  " if line.startswith("- ") else ""
    return textwrap.fill(line, 140, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)


def entry(method: dict, measured: Measured) -> list[str]:
    guide = "the question" if method["query_aware"] else "" if method["phase"] in BEFORE or not method["needs"] else "all of the prompt"
    kind = [f"guided by {guide}" if guide else "", "merges what leaves" if method["merges"] else "", f"phase `{method['phase']}`"]
    lines = [f"### {method['title']}: `{method['name']}`", "", method["purpose"], "", f"- Limits: {method['caution']}"]
    lines.append(f"- Source: {method['source']}.")
    lines.append(f"- Kind: {', '.join(filter(None, kind))}.")
    if method["needs"]:
        lines.append(f"- Statistics: {', '.join(method['needs'])}.")
    if method["options"]:
        lines.append("- Options: " + ", ".join(re.sub(r"(\w+=\S*)$", r"`\1`", option) for option in method["options"]) + ".")
    if right := measured.sentence(method["name"]):
        lines.append(f"- Right: {right}.")
    return [*(wrapped(line) for line in lines), ""]


def page(methods: list[dict], measured: Measured) -> str:
    lines: list[str] = []
    for title, phases in SECTIONS:
        lines += [f"## {title}", ""]
        for method in methods:
            if method["phase"] in phases:
                lines += entry(method, measured)
    lines += ["## Options", "", "| option | meaning |", "|---|---|"]
    helps = {name: help_ for method in methods for name, help_ in method["option_help"].items()}
    lines += [f"| `{name}` | {helps[name]} |".replace("between |", "between \\|") for name in sorted(helps)]
    return "\n".join(lines)


def with_part(text: str, part: str, name: str) -> str:
    if text.count(BEGIN) != 1 or text.count(END) != 1:
        sys.exit(f"{name}: the lines that the methods stand between are missing:\n{BEGIN}\n{END}")
    head, rest = text.split(BEGIN)
    return f"{head}{BEGIN}\n{part}\n{END}{rest.split(END)[1]}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    source = parser.add_mutually_exclusive_group(required=True)
    source.add_argument("--cli", type=Path, help="the program's terminal binary")
    source.add_argument("--methods", type=Path, help="what its `methods --json` printed")
    parser.add_argument("--check", action="store_true", help="write nothing; end with 1 if a page is not current")
    options = parser.parse_args()
    printed = options.methods.read_text() if options.methods else subprocess.check_output([options.cli, "methods", "--json"], text=True)
    methods = json.loads(printed)
    measured = Measured((ROOT / "resources/demo/README.md").read_text())
    stale = []
    for path, part in (("engine/recipes/README.md", page(methods, measured)), ("README.md", compact_table(methods, measured))):
        old = (ROOT / path).read_text()
        new = with_part(old, part, path)
        if new != old:
            stale.append(path)
            if not options.check:
                (ROOT / path).write_text(new)
    if options.check and stale:
        sys.exit(f"not current: {', '.join(stale)}. Make them anew:\n  python3 engine/recipes/make_method_pages.py --cli build/release/bin/winnow-cli")


if __name__ == "__main__":
    main()
