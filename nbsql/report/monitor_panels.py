"""The panel that needs rows of several periods."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from nbsql.errors import InputError
from nbsql.evaluation.monitor import monitor as watched
from nbsql.learning.model_source import check_columns
from nbsql.report.contrast_panels import drift_finding, most_drifted
from nbsql.report.model_panels import CLASSES
from nbsql.report.panel import Figure, Request, angle_parameter, records, shown

_FEATURES = 16
_PERIODS = 24
_LINES = {"accuracy": "accuracy", "log_loss": "log loss", "log_evidence": "mean ln p(x)"}
_SCORE = "(the score)"
_MIDNIGHT = " 00:00:00"
_NONE = "(no period)"


def monitor(request: Request) -> Iterator[Figure]:
    """The distance of each feature from the reference, period by period, and the metrics of the model."""
    state, source = request.state, request.watched
    assert source is not None  # noqa: S101 - the list of panels says that it takes rows
    state.require("drift")
    for rows in filter(None, (source, request.against)):
        check_columns(state, rows)
    query = watched(state, source, request.against, request.by, None, state.plan.calibration)
    known = records(query)
    named = {row["period"]: _NONE if row["period"] is None else shown(row["period"]) for row in known}
    if all(name.endswith(_MIDNIGHT) or name == _NONE for name in named.values()):  # days, and longer periods
        named = {period: name.removesuffix(_MIDNIGHT) for period, name in named.items()}
    found = [{**row, "period": named[row["period"]]} for row in known]
    few = {row["period"] for row in found if row["metric"] == "rows" and row["value"] < request.least}
    enough = list(dict.fromkeys(row["period"] for row in found if row["period"] not in few))
    periods = enough[-_PERIODS:]
    kept = [row for row in found if row["period"] in periods]
    moved = [
        {
            **{name: row[name] for name in ("period", "value", "by_chance")},
            "feature": _SCORE if row["feature"] is None else shown(row["feature"]),
            "moved": None if row["moved"] is None else shown(row["moved"]),
            "shade": None if row["value"] is None else min(row["value"], 0.5),
        }
        for row in kept
        if row["metric"] == "psi" and (row["value"] is not None or row["feature"] not in (None, request.by))
    ]
    moved = most_drifted(moved, "value", _FEATURES)
    measures = [
        {"measure": name, **{key: row[key] for key in ("period", "value", "reference")}}
        for metric, name in _LINES.items()
        for row in kept
        if row["metric"] == metric and row["value"] is not None
    ]
    mix = [
        {"class": request.class_name(row["class"]), **{key: row[key] for key in ("period", "value", "reference")}}
        for row in kept
        if row["metric"] == "predicted"
    ]
    classes = list(dict.fromkeys(row["class"] for row in mix))[:CLASSES]
    if not periods:
        raise InputError(f"no period of {source.label} has {request.least} rows or more")
    tables = {"rows": moved, "measures": measures, "mix": [row for row in mix if row["class"] in classes]}
    of_counts = "The reference is the counts of the model, which do not contain the distribution of its scores."
    notes = [
        f"Periods with fewer than {request.least} rows are left out: {len(few)}." if few else None,
        f"Only the last {_PERIODS} of {len(enough)} periods are shown." if len(periods) < len(enough) else None,
        of_counts if request.against is None else None,
    ]
    params = [angle_parameter(periods, 4), {"name": "periods", "value": periods}]
    yield Figure(_finding(moved, measures), tables, query.sql, "monitor", params, notes, csv=kept)


def _finding(moved: list[dict[str, Any]], measures: list[dict[str, Any]]) -> str:
    """The finding: the largest drift, and the period in which the model was worst."""
    parts = [drift_finding(moved, "value", "period")]
    right = [row for row in measures if row["measure"] == _LINES["accuracy"]]
    if right:
        worst = min(right, key=lambda row: row["value"])
        parts.append(f"accuracy is lowest in {worst['period']} ({worst['value']:.3f})")
    return "; ".join(filter(None, parts)) or "There is nothing to compare"
