#!/usr/bin/env python3
"""Makes the tables of README.md beside this file from results/*.json, between the markers that name a file.

    python3 tests/bench/tables.py            # rewrites the page
    python3 tests/bench/tables.py --check    # ends with 1 if the page is not what the files say

A file of results has title, machine, date, command and setup, "columns" (a row's key, the column's title) and "rows". "shown" picks rows by a
value, e.g. {"threads": 2}; without it the page shows all of them. A cell that is a list is a median with its quartiles. Every file is checked,
also those that the page does not show.
"""

import json
import pathlib
import re
import sys

FOLDER = pathlib.Path(__file__).resolve().parent
PAGE = FOLDER / "README.md"
TEXTS = ("title", "machine", "date", "command", "setup")
MARKED = re.compile(r"(<!-- results: (?P<name>[a-z0-9-]+) -->\n).*?(<!-- end of results -->)", re.DOTALL)


def read(path: pathlib.Path) -> dict:
    result = json.loads(path.read_text(encoding="utf-8"))
    for name in TEXTS:
        if not isinstance(result.get(name), str) or not result[name]:
            raise ValueError(f"{path.name}: {name} is missing")
    if not result.get("columns") or not result.get("rows"):
        raise ValueError(f"{path.name}: there are no columns or no rows")
    for key in result["columns"]:
        if not any(key in row for row in result["rows"]):
            raise ValueError(f"{path.name}: no row has {key}")
    return result


def cell(value: object, decimals: int) -> str:
    if value is None:
        return ""
    if isinstance(value, list):
        median, *quartiles = (f"{number:.{decimals}f}" for number in value)
        return f"{median} ({'–'.join(quartiles)})" if quartiles else median
    if isinstance(value, float):
        return f"{value:.{decimals}f}"
    return f"{value:,}" if isinstance(value, int) else str(value)


def decimals_of(values: list[object]) -> int:
    """As many as the column's numbers have at most, so that all have the same."""
    numbers = [number for value in values for number in (value if isinstance(value, list) else [value]) if isinstance(number, float)]
    return max((len(str(number).partition(".")[2]) for number in numbers), default=0)


def table(result: dict) -> str:
    wanted = result.get("shown", {}).items()
    rows = [row for row in result["rows"] if all(row.get(key) == value for key, value in wanted)]
    columns = result["columns"]
    decimals = {key: decimals_of([row.get(key) for row in rows]) for key in columns}
    lines = [
        f"**{result['title']}.** {result['machine']}; {result['date']}.",
        f"{result['setup']}\n",
        f"    {result['command']}\n",
        "| " + " | ".join(columns.values()) + " |",
        "|---" * len(columns) + "|",
    ]
    lines += ["|" + "|".join(f" {cell(row.get(key), decimals[key])} ".replace("  ", " ") for key in columns) + "|" for row in rows]
    return "\n".join(lines) + "\n"


def made(page: str, results: dict[str, dict]) -> str:
    def filled(match: re.Match[str]) -> str:
        if match["name"] not in results:
            raise ValueError(f"{PAGE.name}: there is no results/{match['name']}.json")
        return match[1] + table(results[match["name"]]) + match[3]

    return MARKED.sub(filled, page)


def main() -> None:
    results = {path.stem: read(path) for path in sorted((FOLDER / "results").glob("*.json"))}
    page = PAGE.read_text(encoding="utf-8")
    current = made(page, results)
    if current == page:
        return
    if "--check" in sys.argv[1:]:
        sys.exit("tests/bench/README.md is not what tests/bench/results say; run: python3 tests/bench/tables.py")
    PAGE.write_text(current, encoding="utf-8")


if __name__ == "__main__":
    main()
