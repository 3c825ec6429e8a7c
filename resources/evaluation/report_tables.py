"""The three forms of a report: JSON and CSV with shares in [0, 1], Markdown in per cent."""

import json

from intervals import Interval
from report_rows import SELECTION_FIGURES, Report, Row

# How the Markdown table calls a figure, what it says of it, and whether it is per cent.
_SELECTION_COLUMNS = (
    ("hit_rate", "hits", "share of its best prompt columns that were kept (hits)", True),
    ("output_error", "output error", "relative error of the attention's output at the first token on the compressed cache", False),
    ("visual_contribution", "contribution", "share of the attention to the prompt that goes to pictures (contribution)", True),
    ("visual_coverage", "coverage", "share of pictures among its best columns (coverage)", True),
    ("sparsity", "sparsity", "share of entries below a hundredth of their row's maximum (sparsity)", True),
    ("kept_attention", "attention", "share of the attention to the prompt that goes to what was kept (attention)", True),
)
_CSV_COLUMNS = (
    *("dataset", "recipe", "method", "requested_retention", "achieved_retention", "items", "answers", "score", "low_95", "high_95"),
    *("of_full", "of_full_low_95", "of_full_high_95", "same_as_full", "top1_agreement", "kl", "perplexity"),
)


def percent(share: float | None) -> str:
    return "" if share is None else f"{100.0 * share:.1f}"


def _thousandths(value: float | None) -> str:
    return "" if value is None else f"{value:.3f}"


def _span(interval: Interval) -> str:
    return f" ({percent(interval.low)}-{percent(interval.high)})"


def table_line(cells: list[str]) -> str:
    return "|" + "".join(f" {cell} |" for cell in cells) + "\n"


def json_table(report: Report) -> str:
    whole = {
        "dataset": report.dataset,
        "model": report.model,
        "metrics": report.metrics,
        "planned": report.planned,
        "answered": report.answered,
        "rows": [_json_row(row) for row in report.rows],
    }
    return json.dumps(whole, indent=2, ensure_ascii=False) + "\n"


def _json_row(row: Row) -> dict:
    line = {
        "recipe": row.recipe,
        "method": row.method,
        "requested_retention": row.requested,
        "achieved_retention": row.achieved,
        "items": row.items,
        "answers": row.answers,
        "score": row.score,
        "interval_95": list(row.interval),
        "groups": row.groups,
        "budget_jsd": row.budget_divergence,
        "kv_bytes": row.kv_bytes,
        "kv_bytes_full": row.kv_bytes_full,
        "generated_tokens": row.generated_tokens,
    }
    if row.of_full is not None:
        line["of_full"] = {"items": row.of_full.items, "score": row.of_full.score, "interval_95": list(row.of_full.interval)}
    measured = {"same_as_full": row.same_as_full, "top1_agreement": row.top_agreement, "kl": row.divergence, "perplexity": row.perplexity}
    measured |= row.selection or {}
    return line | {name: value for name, value in measured.items() if value is not None}


def markdown_table(report: Report) -> str:
    rows = report.rows
    same, top = any(row.same_as_full is not None for row in rows), any(row.top_agreement is not None for row in rows)
    of_full, perplexity = any(row.of_full is not None for row in rows), any(row.perplexity is not None for row in rows)
    text = f"## {report.dataset}\n\n{report.model}; metric {report.metrics}; {report.answered} of {report.planned} answers. "
    text += "Per cent; in brackets the 95 % interval of the mean.\n\n"
    if of_full:
        text += "Of full's: of the questions that the full cache answers. Intervals: whole documents drawn.\n\n"
    if perplexity:
        text += (
            "Perplexity: of the right answer, read token by token behind what was kept; its score is the mean probability of a token.\n\n"
        )
    head = ["method", "asked", "kept", "questions", "score"]
    head += ["of full's"] * of_full + ["as full"] * same + ["top-1", "KL"] * top + ["perplexity"] * perplexity + ["JSD", *report.groups]
    text += table_line(head) + "|---|" + "---:|" * (len(head) - 1) + "\n"
    for row in rows:
        cells = [row.method, percent(row.requested), percent(row.achieved), str(row.items), percent(row.score) + _span(row.interval)]
        if of_full:
            cells.append(percent(row.of_full.score) + _span(row.of_full.interval) if row.of_full else "")
        cells += [percent(row.same_as_full)] * same + [percent(row.top_agreement), _thousandths(row.divergence)] * top
        cells += [_thousandths(row.perplexity)] * perplexity + [_thousandths(row.budget_divergence)]
        text += table_line(cells + [percent(row.groups.get(group)) for group in report.groups])
    return text + _selection_table(report) + _mistakes_table(report)


def _selection_table(report: Report) -> str:
    """Empty where it was not measured."""
    measured = [(row, row.selection) for row in report.rows if row.selection is not None]
    if not measured:
        return ""
    meanings = ", ".join(meaning for _, _, meaning, _ in _SELECTION_COLUMNS)
    text = f"\nAttention of the answers' tokens in the full cache: {meanings}.\n\n"
    text += table_line(["method", "asked", *(title for _, title, _, _ in _SELECTION_COLUMNS)]) + "|---|" + "---:|" * 7 + "\n"
    for row, selection in measured:
        figures = [(percent if as_percent else _thousandths)(selection[name]) for name, _, _, as_percent in _SELECTION_COLUMNS]
        text += table_line([row.method, percent(row.requested), *figures])
    return text


def _mistakes_table(report: Report) -> str:
    if not report.mistakes:
        return ""
    text = "\nWhat the full cache answers wrongly:\n\n| question | right | its answer |\n|---|---|---|\n"
    # On one line, and no cell's end.
    in_a_cell = str.maketrans("\n\r|", "   ")
    return text + "".join(table_line([cell.translate(in_a_cell) for cell in mistake]) for mistake in report.mistakes)


def _csv_field(text: str) -> str:
    return '"' + text.replace('"', '""') + '"' if any(c in text for c in ',"\n\r') else text


def _csv_number(value: float | None) -> str:
    return "" if value is None else f"{value:.6g}"


def csv_table(report: Report) -> str:
    head = [*_CSV_COLUMNS, *SELECTION_FIGURES, "budget_jsd", "kv_bytes", "kv_bytes_full", "generated_tokens", *report.groups]
    text = ",".join(map(_csv_field, head)) + "\n"
    for row in report.rows:
        share = (row.of_full.score, *row.of_full.interval) if row.of_full else (None, None, None)
        selection = row.selection or {}
        cells = [_csv_field(report.dataset), _csv_field(row.recipe), _csv_field(row.method)]
        cells += [_csv_number(row.requested), _csv_number(row.achieved), str(row.items), str(row.answers)]
        figures = (row.score, *row.interval, *share, row.same_as_full, row.top_agreement, row.divergence, row.perplexity)
        cells += [_csv_number(value) for value in (*figures, *(selection.get(name) for name in SELECTION_FIGURES), row.budget_divergence)]
        cells += [f"{row.kv_bytes:.0f}", f"{row.kv_bytes_full:.0f}", _csv_number(row.generated_tokens)]
        text += ",".join(cells + [_csv_number(row.groups.get(group)) for group in report.groups]) + "\n"
    return text
