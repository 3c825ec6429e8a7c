"""Accuracy that papers printed, beside what was measured here.

Values are per cent as printed; the share is that of the cache kept (AirCache: of the visual cache). Methods have our presets' names;
"pyramidkv" is the paper's PyramidKV, and so on. Sources: MEDA (arXiv 2502.17599), AirCache (2503.23956), VL-Cache (2410.23317).
"""

from typing import NamedTuple

from report_rows import Report
from report_tables import percent, table_line


class NoValues(Exception):
    """A paper or a benchmark without values here."""


class PaperValue(NamedTuple):
    benchmark: str  # ChartQA, DocVQA, ...; of MileBench the column: T-1 .. IR
    model: str
    method: str
    retention: float
    score: float


_MILEBENCH = ("T-1", "T-2", "T-3", "T-4", "S-1", "S-2", "S-3", "S-4", "S-5", "NH", "IR")
# The table of MileBench, rho = 0.1.
_MEDA = (
    ("LLaVA-NeXT-7B", "full", 1.0, (45.8, 51.8, 38.3, 44.8, 61.1, 39.6, 18.7, 29.8, 66.9, 5.5, 7.6)),
    ("LLaVA-NeXT-7B", "h2o", 0.1, (42.0, 48.8, 35.1, 41.5, 57.8, 35.9, 15.0, 25.9, 63.8, 2.4, 3.7)),
    ("LLaVA-NeXT-7B", "look-m", 0.1, (44.1, 50.1, 36.7, 43.0, 59.5, 37.8, 17.2, 28.1, 65.3, 3.6, 5.0)),
    ("LLaVA-NeXT-7B", "meda", 0.1, (45.4, 50.9, 37.6, 44.1, 60.2, 38.9, 17.8, 30.1, 66.9, 4.8, 7.4)),
    ("LLaVA-v1.5-13B", "full", 1.0, (39.8, 46.2, 30.8, 48.1, 64.8, 48.5, 13.6, 28.4, 60.0, 12.0, 1.0)),
    ("LLaVA-v1.5-13B", "look-m", 0.1, (38.8, 44.3, 28.5, 46.5, 62.8, 46.4, 11.7, 26.7, 57.6, 10.2, 1.0)),
    ("LLaVA-v1.5-13B", "meda", 0.1, (40.0, 46.2, 30.4, 48.0, 64.7, 48.6, 13.1, 27.6, 59.7, 12.2, 1.5)),
)
_DOCUMENTS = ("ChartQA", "InfoVQA", "DocVQA", "TextVQA")
# Visual cache kept 10 % and 1 %. (The first column is printed "ChatQA" but cites ChartQA.)
_AIRCACHE = (
    ("LLaVA-OV-7B", "full", 1.0, (80.3, 66.1, 87.0, 76.0)),
    ("LLaVA-OV-7B", "h2o", 0.1, (77.4, 59.2, 74.2, 70.1)),
    ("LLaVA-OV-7B", "h2o", 0.01, (71.0, 52.0, 55.3, 60.4)),
    ("LLaVA-OV-7B", "elastic-cache", 0.1, (77.9, 60.5, 74.2, 72.0)),
    ("LLaVA-OV-7B", "elastic-cache", 0.01, (71.0, 52.0, 55.3, 60.2)),
    ("LLaVA-OV-7B", "prefixkv", 0.1, (78.2, 61.1, 80.5, 72.7)),
    ("LLaVA-OV-7B", "prefixkv", 0.01, (70.9, 51.9, 55.4, 60.2)),
    ("LLaVA-OV-7B", "snapkv", 0.1, (79.3, 64.2, 84.4, 73.4)),
    ("LLaVA-OV-7B", "snapkv", 0.01, (72.9, 57.8, 64.1, 58.2)),
    ("LLaVA-OV-7B", "aircache", 0.1, (79.9, 65.7, 85.5, 75.3)),
    ("LLaVA-OV-7B", "aircache", 0.01, (76.4, 62.5, 73.2, 67.1)),
    ("InternVL2-8B", "full", 1.0, (82.2, 73.0, 91.0, 77.7)),
    ("InternVL2-8B", "snapkv", 0.1, (80.4, 72.3, 90.1, 73.9)),
    ("InternVL2-8B", "snapkv", 0.01, (75.0, 64.9, 71.1, 61.7)),
    ("InternVL2-8B", "aircache", 0.1, (81.7, 72.6, 90.0, 77.0)),
    ("InternVL2-8B", "aircache", 0.01, (78.4, 68.2, 78.5, 68.6)),
    ("Qwen2-VL-7B", "full", 1.0, (83.2, 76.2, 93.8, 84.4)),
    ("Qwen2-VL-7B", "snapkv", 0.1, (81.6, 74.9, 87.2, 83.1)),
    ("Qwen2-VL-7B", "snapkv", 0.01, (69.1, 66.2, 71.2, 60.2)),
    ("Qwen2-VL-7B", "aircache", 0.1, (82.3, 75.2, 92.9, 83.4)),
    ("Qwen2-VL-7B", "aircache", 0.01, (75.9, 70.7, 78.3, 68.6)),
)
# DocVQA, ANLS: by the share kept.
_VL_CACHE_SHARES = (0.01, 0.05, 0.1, 0.2)
_VL_CACHE_FULL = (("LLaVA-Mistral-7B", 68.0), ("LLaVA-1.6-34B", 85.0))
_VL_CACHE = (
    ("LLaVA-Mistral-7B", "vl-cache", (43.0, 59.0, 62.0, 64.0)),
    ("LLaVA-Mistral-7B", "h2o", (37.0, 40.0, 56.0, 59.0)),
    ("LLaVA-Mistral-7B", "pyramidkv", (42.0, 58.0, 60.0, 61.0)),
    ("LLaVA-Mistral-7B", "streaming-llm", (20.0, 32.0, 47.0, 45.0)),
    ("LLaVA-1.6-34B", "vl-cache", (41.0, 82.0, 84.0, 85.0)),
    ("LLaVA-1.6-34B", "h2o", (28.0, 41.0, 75.0, 82.0)),
    ("LLaVA-1.6-34B", "pyramidkv", (43.0, 79.0, 83.0, 85.0)),
    ("LLaVA-1.6-34B", "streaming-llm", (0.0, 16.0, 34.0, 48.0)),
)


def paper_values(paper: str) -> list[PaperValue]:
    def by_column(rows: tuple, columns: tuple[str, ...]) -> list[PaperValue]:
        return [
            PaperValue(name, model, method, kept, score) for model, method, kept, scores in rows for name, score in zip(columns, scores)
        ]

    if paper == "meda":
        return by_column(_MEDA, _MILEBENCH)
    if paper == "aircache":
        return by_column(_AIRCACHE, _DOCUMENTS)
    if paper == "vl-cache":
        full = [PaperValue("DocVQA", model, "full", 1.0, score) for model, score in _VL_CACHE_FULL]
        curves = [(model, method, kept, score) for model, method, scores in _VL_CACHE for kept, score in zip(_VL_CACHE_SHARES, scores)]
        return full + [PaperValue("DocVQA", *point) for point in curves]
    raise NoValues(f"{paper} is no paper with values here: aircache, meda, vl-cache")


def paper_comparison(paper: str, benchmark: str, report: Report) -> str:
    """A Markdown table: the paper's values for one benchmark, each beside ours for the same method and share where that was asked."""
    values = [value for value in paper_values(paper) if value.benchmark == benchmark]
    if not values:
        known = ", ".join(dict.fromkeys(value.benchmark for value in paper_values(paper)))
        raise NoValues(f"{paper} prints no values for {benchmark or 'these questions'}; name one as {paper}:BENCHMARK ({known})")
    text = f"### {benchmark} in the paper of {paper}\n\nOurs: {report.model}. Per cent.\n\n"
    text += "| method | asked | paper's model | paper | ours | difference |\n|---|---:|---|---:|---:|---:|\n"
    for value in values:
        ours = [row for row in report.rows if row.method == value.method and abs(row.requested - value.retention) < 1e-9]
        if ours:
            own = 100 * ours[0].score
            text += table_line(
                [value.method, percent(value.retention), value.model, f"{value.score:.1f}", f"{own:.1f}", f"{own - value.score:.1f}"]
            )
        else:
            text += f"| {value.method} | {percent(value.retention)} | {value.model} | {value.score:.1f} |  | |\n"
    return text
