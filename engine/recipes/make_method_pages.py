"""The lists of methods in engine/recipes/README.md and README.md, between their markers, from what the program knows and what was measured.

    python3 engine/recipes/make_method_pages.py --cli build/release/bin/winnow-cli

Names, sentences, sources and options are those of `winnow-cli methods --json`. Accuracy and memory kept are those of resources/demo/README.md, the
largest cache while a prompt is read is that of tests/bench/results/methods-cpu.json.
--check writes nothing and ends with 1 if a page is not current; a test runs it.
"""

import argparse
import json
import re
import subprocess
import sys
import textwrap
from collections.abc import Callable
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

    def __init__(self, page: str, peaks: dict[str, int]) -> None:
        self.single: dict[str, list[str]] = {}  # at 20 and at 10 % kept; what was really kept follows in brackets where it differs
        self.ten: dict[str, str] = {}  # mean of the second to the tenth question at 10 %; with a star where they were one conversation
        self.peaks = peaks  # largest cache while a prompt is read at 20 % kept, per cent of the full cache
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

    def one(self, name: str) -> str:
        return self.single[name][0].partition(" (")[0] if name in self.single else ""

    def later(self, name: str) -> str:
        return self.ten.get(name, "").removesuffix("\\*")

    def memory(self, name: str, phase: str) -> str:
        """Per cent of the full cache of the prompt that is held at 20 %; of methods that decide after the question also the peak."""
        if name not in self.single:
            return ""
        kept = re.search(r"\(([\d.]+) kept\)", self.single[name][0])
        held = 100.0 if name == "full" or phase == "retrieve" else float(kept[1]) if kept else 20.0
        return f"{held:.0f}" + (f" ({self.peaks[name]})" if name in self.peaks else "")

    def right(self, name: str) -> float:
        return float(self.single[name][0].split()[0]) if name in self.single else 0.0

    def sentence(self, name: str) -> str:
        if name not in self.single:
            return ""
        shares = [f"{cell} at {asked} %" for cell, asked in zip(self.single[name], (100,) if name == "full" else (20, 10), strict=True)]
        return ", ".join(shares) + (f"; ten questions: {self.ten[name]}" if name in self.ten else "")


def linked(method: dict) -> str:
    """The name; it leads to the method's own paper."""
    paper = re.search(r"arXiv (\d{4}\.\d{5})", method["source"])
    name = f"`{method['name']}`"
    return name if not paper or method["source"].startswith("Winnow") else f"[{name}](https://arxiv.org/abs/{paper[1]})"


def compact_table(methods: list[dict], columns: dict[str, Callable[[dict], str]]) -> list[str]:
    """Methods with the same idea share a row; equal cells of theirs are written once."""
    groups: dict[str, list[dict]] = {}
    for method in methods:
        groups.setdefault(method["idea"], []).append(method)
    lines = ["".join(f"| {column} " for column in ("method", "idea", *columns)) + "|", "|" + "---|" * (2 + len(columns))]
    for idea, group in groups.items():
        cells = [", ".join(dict.fromkeys(filter(None, map(cell, group)))) for cell in columns.values()]
        lines.append(" ".join(f"| {cell}".rstrip() for cell in (", ".join(map(linked, group)), idea, *cells)) + " |")
    return lines


def compact_tables(methods: list[dict], measured: Measured) -> str:
    """README's: the full cache and what decides before the question; then what decides after it, pruning last, by accuracy."""

    def place(method: dict) -> tuple:
        return method["phase"] == "prefill", -measured.right(method["name"])

    def one(method: dict) -> str:
        return measured.one(method["name"])

    def later(method: dict) -> str:
        return measured.later(method["name"])

    def memory(method: dict) -> str:
        return measured.memory(method["name"], method["phase"])

    full = [method for method in methods if method["name"] == "full"]
    before = [method for method in methods if method["phase"] in BEFORE]
    after = sorted((method for method in methods if method not in before and method not in full), key=place)
    accuracy = "accuracy, one question (20 % kept)"
    columns = {accuracy: one, "accuracy, 2nd to 10th question (10 % kept)": later, "memory": memory}
    lines = ["### Before the question", "", *compact_table(full + before, columns)]
    lines += ["", "### After the question", "", *compact_table(after, {accuracy: one, "memory (peak)": memory})]
    worse = ", ".join(f"`{method['name']}` {later(method)} %" for method in after if later(method))
    lines += ["", f"The 2nd to 10th question of a conversation (10 % kept): {worse}."]
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
    peaks = {row["method"]: row["peak"] for row in json.loads((ROOT / "tests/bench/results/methods-cpu.json").read_text())["rows"]}
    measured = Measured((ROOT / "resources/demo/README.md").read_text(), peaks)
    stale = []
    for path, part in (("engine/recipes/README.md", page(methods, measured)), ("README.md", compact_tables(methods, measured))):
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
