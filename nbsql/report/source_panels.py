"""The panels that need rows whose class is known."""

import math
import re
from collections import defaultdict
from collections.abc import Iterator
from itertools import groupby
from typing import Any

from nbsql.errors import InputError, ModelError, counted
from nbsql.evaluation import profile as profiles
from nbsql.learning.model_source import read_source
from nbsql.queries.explanation import times
from nbsql.queries.query import Query
from nbsql.queries.table import number, share
from nbsql.report.model_panels import CLASSES, by_information, entropy_of, log_loss_bounds, top_classes
from nbsql.report.panel import (
    DIGITS,
    Figure,
    Request,
    angle_parameter,
    chosen,
    class_parameter,
    factor_parameter,
    plain,
    records,
    shown,
)  # fmt: skip
from nbsql.report.scored_source import CELLS, STEPS, ScoredSource

_MATRIX = 14  # the most classes of a confusion matrix
_FEATURES = 12  # the most features of a dependence
_DEPENDENT = 0.02  # the mutual information within the classes above which two features depend on each other
_ENOUGH = 30  # rows of a slice that say something; of small tables a tenth of the rows, of large ones a half per cent
_LINES = 12  # the most lines of a waterfall, and of slices
_KINDS = {  # of notable_rows.sql
    "surest right": "Most confident and right",
    "surest wrong": "Most confident and wrong",
    "nearest call": "Closest call",
    "least evidence": "Least evidence",
}


def _supported(request: Request) -> list[str]:
    """The classes of the rows, the most frequent first; of two classes only the rarer one, which is of interest."""
    classes = [item for item in request.source.evaluation.classes if item.support >= max(request.least, 1)]
    rarest = -1 if len(classes) == 2 else 1
    return [str(plain(item.label)) for item in sorted(classes, key=lambda item: -rarest * item.support)][:CLASSES]


def verdict(request: Request) -> Iterator[Figure]:
    """The metrics of the model, compared with those of predicting the most frequent class and of the priors alone."""
    if request.scored is None:
        yield from log_loss_bounds(request)
        return
    evaluation = request.source.evaluation
    entropy = entropy_of(request)
    higher, lower = "accuracy (higher is better)", "log loss (lower is better)"
    rows = [
        {"measure": higher, "who": "model", "role": "model", "value": evaluation.accuracy},
        {"measure": higher, "who": "most frequent class", "role": "baseline", "value": evaluation.majority},
        {"measure": lower, "who": "model", "role": "model", "value": round(evaluation.log_loss, 9)},  # 1e-16 is no bar
        {"measure": lower, "who": "priors only", "role": "baseline", "value": entropy},
    ]
    compared = "compared with" if evaluation.accuracy > evaluation.majority else "no better than the"
    finding = (
        f"Accuracy is {share(evaluation.accuracy)} on {evaluation.rows:,} rows, {compared} {share(evaluation.majority)} "
        "for always predicting the most frequent class"
    )
    others = [(name, value) for name, value in evaluation.summary()[2:] if name != "log loss"]  # which the plot shows
    named = [f"{name} {value:.4f}" for name, value in others if value is not None and not math.isnan(value)]
    cautions = [] if request.source.is_optimistic else evaluation.cautions()
    notes = [
        f"{request.source.how}." if request.source.how else None,
        f"Evaluated on {shown(request.source.label)}. Other metrics: {', '.join(named)}.",
        *(f"{note[0].upper()}{note[1:]}." for note in evaluation.notes()),
        *(f"{line[0].upper()}{line[1:]}." for line in cautions),
        f"Other methods, tried on these rows: {request.gained}." if request.gained else None,
    ]
    bars = [{**row, "value": plain(row["value"])} for row in rows]
    yield Figure(finding, {"rows": bars}, request.source.sql("metrics", 10), "verdict", notes=notes)


def confusion(request: Request) -> Iterator[Figure]:
    """The confusion matrix: how often each class was predicted for each class."""
    source = request.source
    found = records(source.evaluation.confusion)
    support: dict[str, float] = {}
    for row in found:
        support[_name(row["class"])] = support.get(_name(row["class"]), 0) + row["n"]
    ranked = sorted(support, key=lambda label: -support[label])
    named = ranked if len(ranked) <= _MATRIX else ranked[: _MATRIX - 1]
    rest = "(others)"
    cells: dict[tuple[str, str], float] = {}
    for row in found:
        actual, predicted = _name(row["class"]), _name(row["prediction"])
        wanted = {*named, "no class"} if len(named) < len(ranked) else {*named, predicted}
        key = (actual if actual in named else rest, predicted if predicted in wanted else rest)
        cells[key] = cells.get(key, 0) + row["n"]
    others = [rest] if len(named) < len(ranked) else []
    across = list(dict.fromkeys([*named, *sorted({predicted for _, predicted in cells} - {*named, rest}), *others]))
    down = [*named, *others]
    totals = {actual: sum(n for (a, _), n in cells.items() if a == actual) for actual in down}
    rows = []
    for actual in down:
        for predicted in across:
            n = cells.get((actual, predicted), 0)
            hidden = 0 < n < request.least
            rows.append({
                "class": actual, "prediction": predicted, "n": None if hidden else plain(n),
                "share": None if hidden or not totals[actual] else plain(n / totals[actual]),
                "label": f"< {request.least}" if hidden else number(n),
            })  # fmt: skip
    wrong = [(n, key) for key, n in cells.items() if key[0] != key[1] and n >= request.least]
    if wrong:
        n, (actual, predicted) = max(wrong, key=lambda item: (item[0], item[1]))
        of, said = request.class_name(actual), request.class_name(predicted)
        finding = f"Most frequent error: {number(n)} of {number(totals[actual])} rows of {of} are predicted as {said}"
    else:
        finding = "No errors" if request.least == 1 else f"No error occurs {request.least} times or more"
    few = f"Counts below {request.least} are shown as < {request.least}."
    more = f"The {len(named)} most frequent classes are shown; the other {len(ranked) - len(named)} are combined."
    notes = [few if any(row["n"] is None for row in rows) else None, more if others else None]
    yield Figure(finding, {"rows": rows}, source.sql("confusion"), "confusion", [angle_parameter(across, 9)], notes)


def _name(label: Any) -> str:
    return "no class" if label is None else shown(label)


def threshold(request: Request) -> Iterator[Figure]:
    """The metrics of a class by threshold, and its ROC and precision-recall curves."""
    source = request.source
    classes = _supported(request)
    if not classes:
        raise ModelError(f"no class of {source.label} has the {request.least} rows that a curve needs")
    query = source.query("threshold_steps", STEPS)
    steps = [row for row in records(query, digits=6) if str(row["class"]) in classes]
    rows = [row for row in steps if not 0 < row["true_positives"] + row["false_positives"] < request.least]
    totals = {
        str(row["class"]): (row["true_positives"] + row["false_negatives"], row["false_positives"] + row["true_negatives"])
        for row in steps
    }
    curve = [{"class": label, "threshold": 1.1, "false_positive_rate": 0, "recall": 0, "precision": None} for label in classes]
    for row in records(source.query("outlined_curves", CELLS, counted=source.points), digits=5):
        label = str(row["class"])
        if label in classes and row["recall"] is not None and row["false_positive_rate"] is not None:
            positives, negatives = totals[label]
            if row["recall"] * positives + row["false_positive_rate"] * negatives >= request.least - 0.01:
                curve.append({**row, "class": label})
    rows, curve = request.name_classes(rows), request.name_classes(curve)
    names = [request.class_name(label) for label in classes]
    half = next((row for row in rows if row["class"] == names[0] and row["threshold"] == 0.5), None)
    if half is None or half["precision"] is None:
        finding = f"At a threshold of 0.5, hardly any row is flagged as {names[0]}"
    else:
        recall, precision = share(half["recall"]), share(half["precision"])
        finding = f"At a threshold of 0.5, the recall of {names[0]} is {recall} and the precision {precision}"
    area = next((item.roc_auc for item in source.evaluation.classes if request.class_name(item.label) == names[0]), None)
    notes = [
        None if area is None else f"ROC AUC of {names[0]}: {area:.4f}.",
        f"Thresholds that flag fewer than {request.least} rows are left out." if len(rows) < len(steps) else None,
    ]
    tables, sql = {"rows": rows, "curve": curve}, source.sql("threshold_steps", STEPS)
    yield Figure(finding, tables, sql, "threshold", [chosen("shown", names, "class")], notes)


def reliability(request: Request) -> Iterator[Figure]:
    """The accuracy of predictions by their predicted probability."""
    source = request.source
    before, judged = source.uncalibrated, source.evaluation.calibration
    tables = [("uncalibrated", judged)] if before is None else [("uncalibrated", before), ("calibrated", judged)]
    everything = [
        {"when": when, **{key: row[key] for key in ("lower", "upper", "n", "probability", "frequency")}}
        for when, query in tables
        for row in records(query)
        if row["class"] is None
    ]
    rows = [row for row in everything if row["n"] >= request.least]
    if not rows:
        raise ModelError(f"no bin of probabilities has {request.least} rows of {source.label}")
    widest = max((row for row in rows if row["when"] == rows[-1]["when"]), key=lambda row: row["n"])  # as the model is
    probability, accuracy = share(widest["probability"]), share(widest["frequency"])
    finding = f"Predictions with a mean probability of {probability} have an accuracy of {accuracy}"
    errors = [f"{_calibration_error(everything, when):.4f} {when}" for when, _ in tables]
    notes = [f"Calibration error: {', '.join(errors)}."]
    if before is None and source.held_out is None:
        notes.append("The model is not calibrated. After model.calibrate(…) this plot also shows the calibrated probabilities.")
    elif before is None:
        notes.append("Without calibration. To see its effect, evaluate on rows that the model has not learnt from.")
    if len(rows) < len(everything):
        notes.append(f"Bins with fewer than {request.least} rows are left out.")
    yield Figure(finding, {"rows": rows}, source.sql("calibration", 10), "reliability", notes=notes)


def _calibration_error(bins: list[dict[str, Any]], when: str) -> float:
    kept = [row for row in bins if row["when"] == when and row["n"]]
    return float(sum(row["n"] * abs(row["probability"] - row["frequency"]) for row in kept) / sum(row["n"] for row in kept))


def lift(request: Request) -> Iterator[Figure]:
    """The share of a class that is found among the rows most likely to be of it."""
    source = request.source
    classes = _supported(request)
    support = {str(plain(item.label)): item.support for item in source.evaluation.classes}
    rows = [
        row for row in records(source.evaluation.lift)
        if str(row["class"]) in classes and row["gain"] is not None
        and row["gain"] * support[str(row["class"])] >= request.least
    ]  # fmt: skip
    if not rows:
        raise ModelError(f"no class of {source.label} has the {request.least} rows that a curve needs")
    rows.sort(key=lambda row: classes.index(str(row["class"])))
    rows = request.name_classes(rows)
    top = next((row for row in rows if row["class"] == request.class_name(classes[0])), rows[0])
    depth, gain = share(top["depth"]), share(top["gain"])
    finding = f"The top {depth} of the rows contain {gain} of all rows of {top['class']}, a lift of {top['lift']:.1f}"
    ranked = [label for label in top_classes(request) if label in classes]
    colours = class_parameter(map(request.class_name, [*ranked, *(label for label in classes if label not in ranked)]))
    yield Figure(finding, {"rows": rows}, source.sql("lift", 10), "lift", [colours])


def slices(request: Request) -> Iterator[Figure]:
    """The values of features for which the model is worst, by the bound of a confidence interval."""
    state, source = request.state, request.source
    if state.spec.joins:
        raise ModelError(f"{state.title} has joins, and its scores do not contain the joined columns")
    named = [
        feature.column
        for feature in state.spec.features
        if len(feature.columns) == 1 and not feature.family.bag
        and feature.family.kind == "level" and not profiles.is_number(feature)
    ]  # fmt: skip
    if not named:
        raise ModelError(f"{state.title} has no categorical feature to slice by")
    rows_judged = source.evaluation.rows
    least = max(request.least, 1, min(_ENOUGH, rows_judged // 10), rows_judged // 200)
    query, sql = source.slices(named, least)
    found = records(query)
    if len(found) < 2:
        raise ModelError(f"fewer than two values of a feature have the {least} rows of {source.label} that a slice needs")
    rows = [{**row, "label": f"{shown(row['feature'])} = {shown(row['slice'])}"} for row in found[:_LINES]]
    worst, knows = found[0], source.held_out is not None or source.learnt is not None
    of_learnt = ", on rows that the model has learnt" if knows else ""
    finding = f"No value is clearly worse than the accuracy of {share(worst['of_all'])} overall{of_learnt}"
    if worst["high"] < worst["of_all"]:
        finding = (
            f"Worst where {shown(worst['feature'])} is {shown(worst['slice'])}: accuracy is {share(worst['accuracy'])} "
            f"on {number(worst['n'])} rows, and {share(worst['of_all'])} overall{of_learnt}"
        )
    more = f"The {len(rows)} of {len(found)} values whose accuracy has the lowest upper bound."
    learnt = "Scored by the model itself, which has learnt from these rows: trust the differences more than the levels."
    few = f"Values with fewer than {least} rows are left out." if least > 1 else None
    notes = [more if len(rows) < len(found) else None, few, learnt if knows else None]
    yield Figure(finding, {"rows": rows}, sql, "slices", notes=notes)


def dependence(request: Request) -> Iterator[Figure]:
    """The conditional mutual information of pairs of features within the classes."""
    state, source = request.state, request.source
    single = [feature.name for feature in state.spec.features if not feature.family.bag and not feature.family.over_columns]
    if len(single) < 2:
        raise ModelError(f"{state.title} has {counted(len(single), 'feature')} with one value per row; dependence needs two")
    wanted = single if len(single) <= _FEATURES else by_information(state, single)[:_FEATURES]
    _, rows_by_age = read_source(state, source.source, reads_target=True, weighted=True)
    query = profiles.dependence(state, rows_by_age, wanted)
    rows = []
    for row in records(query):
        excess = row.pop("gain")
        del row["family"]
        names = shown(row["feature"]), shown(row["other"])
        rows += [{**row, "feature": one, "other": other, "excess": plain(excess)} for one, other in (names, names[::-1])]
    columns = {feature.name: feature.column for feature in state.spec.features}
    order = [shown(columns[name]) for name in wanted]
    for row in rows:
        row["place"], row["other_place"] = order.index(row["feature"]), order.index(row["other"])
    rows.sort(key=lambda row: (row["place"], row["other_place"]))
    if not rows:
        raise ModelError(f"{source.label} has no row with values of two features; there is no dependence to show")
    tied = {frozenset([each.column, parent]) for each in state.spec.features for parent in each.family.parent_names}
    free = [row for row in rows if {row["feature"], row["other"]} not in tied]
    first = max(free or rows, key=lambda row: row["excess"])
    if free and first["excess"] > _DEPENDENT:
        finding = (
            f"Within the classes, {first['feature']} and {first['other']} depend most on each other: their values are "
            f"{times(first['excess'])} times likelier together than apart"
        )
    else:
        finding = f"No two {'other ' if tied else ''}features depend on each other within the classes"
    together = "The model takes a feature together with its parents, and their common evidence counts once." if tied else None
    note = f"The {len(wanted)} most informative of {len(single)} features." if len(wanted) < len(single) else None
    darkest = {"name": "darkest", "value": max(5 * _DEPENDENT, *(row["excess"] for row in rows))}  # not what is next to nothing
    yield Figure(finding, {"rows": rows}, query.sql, "dependence", [darkest], notes=[together, note])


def waterfall(request: Request) -> Iterator[Figure]:
    """The chosen rows, or the most informative ones, each with the contributions to its prediction."""
    if request.chosen:
        found = request.source
        count = request.state.engine.query_value("row_count", found.source.relation)
        for number in request.chosen:
            if number > count:
                raise InputError(f"there is no row {number}; {found.label} has {counted(count, 'row')}")
            told = list(_told(found.row(number), 1))
            if not told:
                raise InputError(f"no class explains row {number} of {found.label}")
            fact, rows = told[0]
            yield _row(request, fact, rows, number)
        return
    if request.rows < 1:
        raise InputError("rows of the source are shown only on request: ⟨rows=4⟩, say")
    told = list(_told(request.source, -(-request.rows // 4)))
    by_kind = [list(group) for _, group in groupby(told, key=lambda each: each[0]["nbsql_kind"])]
    turns = sorted(
        (place, turn, fact["nbsql_position"]) for turn, group in enumerate(by_kind) for place, (fact, _) in enumerate(group)
    )
    wanted = [position for _, _, position in turns][: request.rows]
    for fact, rows in told:
        if fact["nbsql_position"] in wanted:
            yield _row(request, fact, rows, None)


def _told(source: ScoredSource, count: int) -> Iterator[tuple[dict[str, Any], list[dict[str, Any]]]]:
    """The most informative rows of a source, `count` of each kind, each with its contributions."""
    engine = source.state.engine
    relation = source.telling_rows(count)
    ordered = engine.renderer.subquery("sorted_by", relation, ["nbsql_position"])
    facts = records(Query(engine, engine.renderer.statement("sorted_by", relation, ["nbsql_position"])), digits=None)
    query = source.explained(ordered)
    names, of_row = query.columns, defaultdict(list)
    for row in query.fetchall():
        of_row[row[0]].append(dict(zip(names, row, strict=True)))
    for fact in facts:
        yield fact, of_row[fact["nbsql_position"]]


def _row(request: Request, fact: dict[str, Any], rows: list[dict[str, Any]], number: int | None) -> Figure:
    totals: dict[Any, float] = {}
    for row in rows:
        totals[row["class"]] = totals.get(row["class"], 0.0) + float(row["contribution"])
    ranked = sorted(totals, key=lambda label: -totals[label])
    best, other = ranked[:2]
    terms: dict[tuple[Any, Any], dict[Any, float]] = {}
    for row in rows:
        terms.setdefault((row["feature"], row["value"]), {})[row["class"]] = float(row["contribution"])
    prior = 0.0
    weighed = []
    for (feature, value), of_class in terms.items():
        difference = _difference(of_class.get(best, 0.0), of_class.get(other, 0.0))
        if feature is None:
            prior = difference
        elif difference or value is not None:
            short = f"{float(value):.{DIGITS}g}" if value and re.fullmatch(r"-?\d+\.\d{9,}", value) else value
            weighed.append((difference, request.value_name(feature, short)))
    weighed.sort(key=lambda item: (-abs(item[0]), item[1]))
    most = _LINES if len(weighed) > _LINES + 1 else _LINES + 1  # do not replace a single line by a summary
    lines = [("prior", prior), *((label, difference) for difference, label in weighed[:most])]
    if len(weighed) > most:
        lines.append((f"({len(weighed) - most} more)", math.fsum(item[0] for item in weighed[most:])))
    bars, at = [], 0.0
    for label, difference in lines:
        direction = "for the prediction" if difference >= 0 else "against the prediction"
        bars.append(_bar(label, at, at + difference, direction))
        at += difference
    bars.append(_bar("total", 0.0, at, "total"))
    actual = "" if fact["nbsql_class"] is None else f", actually {request.class_name(fact['nbsql_class'])}"
    probability = share(min(fact["nbsql_probability"], 1 - 1e-9))
    which = _KINDS[fact["nbsql_kind"]] if number is None else f"Row {number}"
    finding = f"{which}: predicted {request.class_name(best)} ({probability}){actual}"
    sql = request.source.explained(request.source.rows.relation).sql
    evidence = fact["nbsql_evidence"]
    note = None if evidence is None else f"The runner-up class is {request.class_name(other)}. ln p(x) = {evidence:.2f}."
    factors = factor_parameter(bar[end] for bar in bars for end in ("start", "end"))
    name = f"row {number or fact['nbsql_position']}"
    return Figure(finding, {"rows": bars}, sql, "waterfall", [factors], [note], name)


def _difference(a: float, b: float) -> float:
    return 0.0 if a == b else max(min(a - b, 700.0), -700.0)  # -infinity in one of them decides


def _bar(label: str, start: float, end: float, direction: str) -> dict[str, Any]:
    numbers = {"start": plain(start), "end": plain(end), "log_odds": plain(end - start), "right": plain(max(start, end))}
    return {"label": label, **numbers, "times": f"{times(abs(end - start))} ×", "direction": direction}
