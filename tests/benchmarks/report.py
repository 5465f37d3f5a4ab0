"""The figures of `run.py` as Markdown: seconds, ratios, and the targets that they are held against."""

from __future__ import annotations

from collections.abc import Iterator
from statistics import median
from typing import Any


def print_report(report: dict[str, Any]) -> None:
    """Print everything that a reader needs to judge the figures."""
    print(
        ", ".join(f"{name} {value}" if name != "machine" else value for name, value in report.items() if isinstance(value, str))
    )
    print(f"\nSeconds: median of up to {report['rounds']} alternating rounds (least to greatest); ratios by round.\n")
    rows = [
        [
            "table",
            "act",
            "scan",
            "nbsql",
            "scikit-learn, resident",
            "scikit-learn, with fetch",
            "nbsql : scan",
            "resident : nbsql",
            "fetch : nbsql",
        ]
    ]
    for result in report["results"]:
        rows += [[result["title"], act, *_figures(result["seconds"][act])] for act in ("fit", "predict")]
    _table(rows)
    print("\nPredictions with all columns of the source passed through, into a table:\n")
    rows = [["table", "prediction and probability", "all columns"]]
    for result in report["results"]:
        seconds = result["seconds"]["predict"]
        rows.append([result["title"], _spread(seconds["nbsql"]), _spread(seconds["nbsql, all columns"])])
    _table(rows)
    print("\nAgreement with scikit-learn:\n")
    rows = [["table", "rows", "predicted otherwise", "of these, ties", "greatest difference of posteriors"]]
    for result in report["results"]:
        found = result["agreement"]
        rows.append(
            [result["title"], f"{found['rows']:,}", str(found["otherwise"]), str(found["ties"]), f"{found['posterior']:.1e}"]
        )
    _table(rows)
    print("\nTargets (two cores):\n")
    rows = [["table", "target", "measured", ""]]
    rows += [
        [title, target, f"{ratio:.2f}x", "met" if met else "missed"] for title, target, ratio, met in _judged(report["results"])
    ]
    _table(rows)


def _judged(results: list[dict[str, Any]]) -> Iterator[tuple[str, str, float, bool]]:
    for result in results:
        fit, predict, title = result["seconds"]["fit"], result["seconds"]["predict"], result["title"]
        kind = result["case"]["name"]
        over_scan = _ratio(fit, "nbsql", "scan")
        if kind == "numeric":
            yield title, "fit at most 2.2x the bare scan", over_scan, over_scan <= 2.2
            yield (
                title,
                "fit at least 5x faster than resident",
                _ratio(fit, "resident", "nbsql"),
                _ratio(fit, "resident", "nbsql") >= 5,
            )
        if kind == "categorical":
            yield title, "fit at most 3x the bare scan", over_scan, over_scan <= 3
        if kind in ("numeric", "categorical"):
            ratio = _ratio(predict, "resident", "nbsql")
            yield title, "predict at least 2x faster than resident", ratio, ratio >= 2
        if kind == "lda":
            yield title, "fit at most 10x the bare scan", over_scan, over_scan <= 10
            ratio = _ratio(fit, "fetching", "nbsql")
            yield title, "fit faster than with the fetch", ratio, ratio >= 1
        if kind == "text":
            for act, seconds in (("fit", fit), ("predict", predict)):
                ratio = _ratio(seconds, "resident", "nbsql")
                yield title, f"{act} at least as fast as CountVectorizer + MultinomialNB", ratio, ratio >= 1


def _figures(seconds: dict[str, list[float]]) -> list[str]:
    times = [_spread(seconds[name]) for name in ("scan", "nbsql", "resident", "fetching")]
    ratios = [("nbsql", "scan"), ("resident", "nbsql"), ("fetching", "nbsql")]
    return times + [f"{_ratio(seconds, over, under):.2f}" for over, under in ratios]


def _ratio(seconds: dict[str, list[float]], over: str, under: str) -> float:
    """The median of the ratios of the rounds, each of two times taken close to each other."""
    return median(a / b for a, b in zip(seconds[over], seconds[under], strict=False))


def _spread(times: list[float]) -> str:
    return f"{median(times):.3f} ({min(times):.3f} to {max(times):.3f})"


def _table(rows: list[list[str]]) -> None:
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    for number, row in enumerate(rows):
        print("| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) + " |")
        if number == 0:
            print("|" + "|".join("-" * (width + 2) for width in widths) + "|")
