"""The figures of `run.py` as Markdown: seconds, ratios, how the answers agree, and the targets."""

from collections.abc import Iterator
from statistics import median
from typing import Any

# Table by kind and rows, act, what is divided by what, the ratio that it should reach, and whether at the most or at the least.
TARGETS = (
    ("numeric", 5_000_000, "fit", "nbsql", "scan", 1.6, "most"),
    ("numeric", 5_000_000, "predict", "nbsql", "sql", 1.15, "most"),
    ("numeric", 5_000_000, "predict", "resident", "nbsql", 3, "least"),
    ("categorical", 3_000_000, "fit", "nbsql", "scan", 2.2, "most"),
    ("categorical", 3_000_000, "predict", "resident", "nbsql", 2.5, "least"),
    ("categorical", 3_000_000, "predict", "fetching", "nbsql", 25, "least"),
    ("text", 100_000, "fit", "resident", "nbsql", 2.5, "least"),
    ("text", 100_000, "predict", "resident", "nbsql", 1.5, "least"),
    ("mixed", 2_000_000, "fit", "resident", "nbsql", 5, "least"),
    ("mixed", 2_000_000, "predict", "resident", "nbsql", 5, "least"),
    ("lda", 1_000_000, "fit", "nbsql", "scan", 10, "most"),
    ("lda", 1_000_000, "fit", "fetching", "nbsql", 1, "least"),
)


IN_PROCESS = ("scan", "sql", "resident", "fetching", "polars")  # whose processors' seconds are those of their process
LARGE = 0.8  # what a ratio falls to, where it is worth a warning: a busy machine does a tenth


def markdown(report: dict[str, Any]) -> str:
    """Everything that a reader needs to judge the figures."""
    return "\n".join(_lines(report)) + "\n"


def _lines(report: dict[str, Any]) -> Iterator[str]:
    titles = {name: contender["title"] for name, contender in report["contenders"].items()}
    versions = dict.fromkeys(contender["version"] for contender in report["contenders"].values())
    yield f"Measured on {report['date']}, {report['machine']}, {report['threads']} threads each, Python {report['python']}:"
    yield f"{'; '.join(version for version in versions if version not in titles.values())}."
    yield ""
    yield f"Seconds, medians of up to {report['rounds']} alternating rounds (least to greatest). Ratios to nbsql are medians of"
    yield "those of each round: above 1, nbsql is faster."
    for result in report["results"]:
        yield from ("", f"### {result['title']}", "", *_table(list(_rows(result, titles, report["absent"]))))
    judged = [row for result in report["results"] for row in _judged(result, titles)]
    if judged:
        yield from ("", "### Targets", "", *_table([["table", "target", "measured", ""], *judged]))


def _rows(result: dict[str, Any], titles: dict[str, str], absent: dict[str, str]) -> Iterator[list[str]]:
    fit, predict = result["seconds"]["fit"], result["seconds"]["predict"]
    yield ["contender", "fit", "to nbsql", "predict", "to nbsql", "answers"]
    for name, title in titles.items():
        if name in result["out"]:
            yield [title, "", "", "", "", result["out"][name]]
        elif name in fit:
            ratios = [_ratio_text(seconds, name, "nbsql") for seconds in (fit, predict)]
            yield [title, _spread(fit[name]), ratios[0], _spread(predict[name]), ratios[1], _answers(result, name)]
        if name == "nbsql" and predict.get("nbsql, all columns"):
            yield ["nbsql, all columns kept", "", "", _spread(predict["nbsql, all columns"]), "", ""]
    yield from ([name, "", "", "", "", f"absent: {why}"] for name, why in absent.items())


def _answers(result: dict[str, Any], name: str) -> str:
    found = result["agreement"].get(name)
    if not found:
        return ""
    if not found["same model"]:
        return f"another model: {1 - found['otherwise'] / found['rows']:.1%} predicted the same"
    ties = f", all ties: {found['otherwise']}" if found["otherwise"] else ""
    if found["otherwise"] > found["ties"]:
        ties = f" but {found['otherwise']} of {found['rows']}"
    return f"the same{ties}; posteriors to {found['posterior']:.0e}"


def ratios_to_nbsql(seconds: dict[str, dict[str, list[float]]]) -> dict[str, dict[str, dict[str, float]]]:
    """Median, least and greatest of the ratios of the rounds, by act and contender."""
    return {
        act: {
            name: {"median": median(ratios), "least": min(ratios), "greatest": max(ratios)}
            for name in spent
            if (ratios := _ratios(spent, name, "nbsql"))
        }
        for act, spent in seconds.items()
    }


def remembered(report: dict[str, Any]) -> dict[str, Any]:
    """What a history of runs keeps of one: when, where, of what, and the ratios of processors by table, act and contender."""
    ratios = {
        result["title"]: {
            act: {name: ratio for name, ratio in of_act.items() if name in IN_PROCESS}
            for act, of_act in result["ratios of processors"].items()
        }
        for result in report["results"]
    }
    return {
        "date": report["date"],
        "machine": report["machine"],
        "of": report["contenders"]["nbsql"]["version"],
        "ratios": ratios,
    }


def slower(now: dict[str, Any], before: dict[str, Any]) -> list[str]:
    """Where nbsql has lost much ground to a contender: no round of now is nearly as good as the worst of then."""
    found = []
    for table, acts in now["ratios"].items():
        for act, ratios in acts.items():
            then = before["ratios"].get(table, {}).get(act, {})
            for name in sorted(ratios.keys() & then.keys() - {"nbsql"}):
                if ratios[name]["greatest"] < LARGE * then[name]["least"]:
                    was, is_ = (_number(each[name]["median"]) for each in (then, ratios))
                    found.append(
                        f"{table}, {act}: {name} spent {was} times the seconds of nbsql on {before['date']}, and now {is_}"
                    )
    return found


def _judged(result: dict[str, Any], titles: dict[str, str]) -> Iterator[list[str]]:
    case = result["case"]
    for kind, rows, act, over, under, bound, side in TARGETS:
        seconds = result["seconds"][act]
        if (kind, rows) == (case["name"], case["rows"]) and seconds.get(over) and seconds.get(under):
            ratio = _ratio(seconds, over, under)
            met = ratio <= bound if side == "most" else ratio >= bound
            target = f"{act}, {titles[over]} : {titles[under]}, at {side} {bound}"
            yield [result["title"], target, f"{ratio:.2f}", "met" if met else "missed"]


def _ratios(seconds: dict[str, list[float]], over: str, under: str) -> list[float]:
    """Those of the rounds, each of two times taken close to each other."""
    return [a / b for a, b in zip(seconds[over], seconds[under], strict=False)]


def _ratio(seconds: dict[str, list[float]], over: str, under: str) -> float:
    return median(_ratios(seconds, over, under))


def _ratio_text(seconds: dict[str, list[float]], over: str, under: str) -> str:
    ratios = _ratios(seconds, over, under)
    return f"{_number(median(ratios))} ({_number(min(ratios))} to {_number(max(ratios))})" if over != under else "1"


def _spread(times: list[float]) -> str:
    return f"{median(times):.3f} ({min(times):.3f} to {max(times):.3f})"


def _number(value: float) -> str:
    return f"{value:.2f}" if value < 10 else f"{value:,.0f}"


def _table(rows: list[list[str]]) -> Iterator[str]:
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    for number, row in enumerate(rows):
        yield "| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) + " |"
        if number == 0:
            yield "|" + "|".join("-" * (width + 2) for width in widths) + "|"
