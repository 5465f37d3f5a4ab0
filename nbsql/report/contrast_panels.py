"""The panels that compare sides: two classes, a slice and the one before it, and the periods of rows."""

import itertools
import math
from collections.abc import Iterator, Mapping
from typing import Any

from nbsql.errors import InputError, ModelError
from nbsql.evaluation import profile
from nbsql.evaluation.monitor import monitor as watched
from nbsql.evaluation.profile import is_number
from nbsql.learning.derive import slice_names
from nbsql.learning.model_source import check_columns
from nbsql.report.model_panels import ALIKE, CLASSES, times_as, top_classes
from nbsql.report.panel import Figure, Request, angle_parameter, class_parameter, factor_parameter, records, shown, with_shown

_BARS = 24
_SLICES = 16


def discrimination(request: Request) -> Iterator[Figure]:
    """The values that distinguish one class from another, those first whose counts support the largest ratio."""
    known = top_classes(request)
    a, b = map(request.state.label_text, request.classes or (known[0], known[1]))
    query = profile.discrimination(request.state, a, b)
    numbers = {feature.name for feature in request.state.spec.features if is_number(feature)}  # whose values are cells
    rows, least = [row for row in records(query) if row["feature"] not in numbers], request.least_to_tell
    frequent = [row for row in rows if row["n"] + row["other_n"] >= least and (row["likelihood"] or row["other_likelihood"])]
    for row in frequent:
        if row["log_ratio"] is None:  # infinite, which JSON does not know
            row["log_ratio"] = math.inf if row["likelihood"] else -math.inf
    if not frequent:
        raise ModelError(
            f"no value that occurs {least} times or more distinguishes {a} from {b}; numbers have profiles instead"
        )
    frequent.sort(key=_least_log_ratio, reverse=True)
    one, other = request.class_name(a), request.class_name(b)
    strongest = frequent[:_BARS]
    edge = max((abs(row["log_ratio"]) for row in strongest if math.isfinite(row["log_ratio"])), default=math.log(1000)) * 1.2
    first, is_only = strongest[0], any(not math.isfinite(row["log_ratio"]) for row in strongest)
    finding = request.subject(first["feature"], first["value"])
    sides = (one, other) if first["log_ratio"] > 0 else (other, one)
    if abs(first["log_ratio"]) < ALIKE:
        finding = f"Values are about equally frequent in {one} and in {other}"
    elif math.isfinite(first["log_ratio"]):
        finding += f" is {times_as(first['log_ratio'])} as likely in {sides[0]} as in {sides[1]}"
    else:
        finding += f" is in {sides[0]} and never in {sides[1]}"
    bars = []
    for row in strongest:
        label = request.value_name(row["feature"], row["value"])
        row |= {"for": one if row["log_ratio"] > 0 else other, "label": label}
        if not math.isfinite(row["log_ratio"]):  # a bar has an end
            row |= {"label": f"{label} (only in {row['for']})", "log_ratio": math.copysign(edge, row["log_ratio"])}
        bars.append(row)
    rare = f"Values that occur fewer than {least} times in the two classes are left out."
    more = f"The {_BARS} most distinctive of {len(frequent)} values, by the ratio that their counts support at 95 % confidence."
    only = "A value that only one of the two classes has is infinitely likelier in it; its bar ends at the edge."
    notes = [rare if len(frequent) < len(rows) else None, more if len(frequent) > _BARS else None, only if is_only else None]
    params = [class_parameter((one, other)), factor_parameter(row["log_ratio"] for row in bars)]
    yield Figure(finding, {"rows": with_shown(bars, "feature", "value")}, query.sql, "discrimination", params, notes)


def _least_log_ratio(row: Mapping[str, Any]) -> float:
    """The lower bound of the 95 % confidence interval of the absolute logarithm of a ratio of two counts.

    The variance of the logarithm of a count n is about 1 / (n + 1/2) (Gart and Zweifel, Biometrika 54, 1967).
    """
    error = math.sqrt(1 / (row["n"] + 0.5) + 1 / (row["other_n"] + 0.5))
    return float(abs(row["log_ratio"])) - 1.96 * error


def drift(request: Request) -> Iterator[Figure]:
    """The drift of each feature from slice to slice, or from batch to batch."""
    state = request.state
    if state.spec.slice_by is not None:
        names = slice_names(state)
    else:
        ledger = sorted(state.engine.query_macro("all_rows", state.relations["batches"]), key=lambda row: row[5])
        names = [str(row[0]) for row in ledger if row[1] in ("fit", "update")]
    if len(names) < 2:
        raise ModelError(f"{state.title} has fewer than two slices or batches; fit it with ⟨slice_by⟩, or update it")
    rows, sql = [], ""
    for before, after in list(itertools.pairwise(names))[-_SLICES:]:
        query = profile.drift(state, before, after)
        sql = query.sql
        for row in records(query):
            feature = f"({state.spec.target})" if row["feature"] is None else shown(row["feature"])
            psi = row["psi"]
            rows.append({**row, "feature": feature, "slice": shown(after), "shade": None if psi is None else min(psi, 0.5)})
    kept = most_drifted(rows, "psi", _BARS)
    slices = "" if state.spec.slice_by is None else f"{shown(state.spec.slice_by)} "
    finding = drift_finding(kept, "psi", "slice", slices)
    if finding is None:
        raise ModelError(f"{state.title} has nothing whose drift can be measured")
    yield Figure(finding, {"rows": kept}, sql, "drift", [angle_parameter([row["slice"] for row in kept], 4)])


def most_drifted(rows: list[dict[str, Any]], measure: str, count: int) -> list[dict[str, Any]]:
    """The rows of the features with the highest values of a measure, the highest first."""
    highest: dict[str, float] = {}
    for row in rows:
        highest[row["feature"]] = max(highest.get(row["feature"], 0.0), row[measure] or 0.0)
    ranked = sorted(highest, key=lambda feature: (-highest[feature], feature))[:count]
    return [row for feature in ranked for row in rows if row["feature"] == feature]


def drift_finding(rows: list[dict[str, Any]], measure: str, place: str, places: str = "") -> str | None:
    """The sentence about the largest drift, with the slice or period in the column `place`; None if none is known."""
    most = max((row for row in rows if row[measure] is not None), key=lambda row: row[measure], default=None)
    if most is None:
        return None
    little = "" if most[measure] >= 0.25 else "Little drift: "
    return f"{little}{most['feature']} drifted most, in {places}{most[place]} (PSI {most[measure]:.2f})"


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
