#!/usr/bin/env python3
"""Tables out of the log of `ask_set.py`: RESULTS/SET.json, .md and .csv, of the needle test also a heat map (-map.svg, -map.csv).

    python3 resources/evaluation/report.py RESULTS/SET                            the tables; Markdown is printed, too
    python3 resources/evaluation/report.py RESULTS/SET --paper aircache:ChartQA   and a paper's values beside ours

Made from the log alone: a run that was cut off and went on has the tables of one that was not. A table replaces an earlier one of the same
set and nothing else.
"""

import argparse
import sys
from pathlib import Path

from needle_map import needle_csv, needle_maps, needle_svg
from paper_values import NoValues, paper_comparison
from report_rows import build_report
from report_tables import csv_table, json_table, markdown_table
from results import BadResults, read_results, require_beginning, write_whole


def tables(base: Path, paper: str) -> dict[Path, str]:
    results = read_results(base)
    report = build_report(results)
    maps = needle_maps(results)
    markdown = markdown_table(report)
    if paper:
        name, _, benchmark = paper.partition(":")
        markdown += "\n" + paper_comparison(name, benchmark, report)
    made = {".json": json_table(report), ".md": markdown, ".csv": csv_table(report)}
    if maps:
        made |= {"-map.csv": needle_csv(maps), "-map.svg": needle_svg(maps, f"One card in a video, {results.model}")}
    return {base.with_name(base.name + ending): text for ending, text in made.items()}


def require_replaceable(path: Path, text: str) -> None:
    beginning = {".json": '{\n  "dataset": ', ".svg": "<svg ", ".md": text[: text.find("\n\n") + 2]}.get(
        path.suffix, text[: text.find(",") + 1]
    )
    require_beginning(path, beginning, "no table of an evaluation")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results", type=Path, metavar="RESULTS/SET", help="what ask_set.py wrote, without the ending of its files")
    parser.add_argument("--paper", default="", help="aircache:BENCHMARK, vl-cache:DocVQA, or meda:COLUMN (T-1 .. IR of MileBench)")
    options = parser.parse_args()
    base = options.results
    if base.suffix in (".jsonl", ".json", ".md", ".csv"):
        base = base.with_name(base.name.removesuffix(base.suffix).removesuffix(".run"))
    try:
        made = tables(base, options.paper)
        for path, text in made.items():
            require_replaceable(path, text)
        for path, text in made.items():
            write_whole(path, text)
    except (BadResults, NoValues, OSError) as problem:
        print(f"report.py: {problem}", file=sys.stderr)
        return 1
    print(made[base.with_name(base.name + ".md")])
    print(f"wrote {', '.join(path.name for path in made)} in {base.parent}", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
