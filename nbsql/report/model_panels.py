"""The panels that need only the counts of a model."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterator
from typing import Any

from markupsafe import Markup

from nbsql.answers.explanation import times
from nbsql.answers.query import Query, relation_query
from nbsql.answers.table import counted, number, share
from nbsql.errors import InputError, ModelError
from nbsql.judging import contrasts
from nbsql.judging import profile as profiles
from nbsql.judging.profile import feature_named, is_number
from nbsql.learning.derive import slice_names
from nbsql.report.panel import (
    Figure,
    Request,
    angle_parameter,
    class_parameter,
    common_digits,
    factor_parameter,
    plain,
    records,
    rounded,
    show,
    shown,
    without,
)  # fmt: skip
from nbsql.storage.state import ModelState

CLASSES = 6  # the most classes that a picture distinguishes by colour
_BARS = 24
WORDS = 10  # words of each class
ALL_WORDS = 20  # words among which the reader can choose
_VALUES = 15
_SLICES = 16
_NUMBER = re.compile(r"[\[(]?(-?(?:inf|[\d.]+(?:e[+-]?\d+)?))(?:, [^,]+[\])])?")  # a number, or a bin as the statistics name it
_ALIKE = 0.05  # the log-odds below which a difference is not reported
_FAINT = 0.002  # the share of the highest density below which a curve is not drawn


def top_classes(request: Request) -> list[str]:
    """The classes that a picture shows, the most probable first."""
    rows = sorted(records(relation_query(request.state, "priors", "class")), key=lambda row: -(row["prior"] or 0))
    return [str(row["class"]) for row in rows][:CLASSES]


def card(request: Request) -> Iterator[Figure]:
    """The classes and their priors; the notes have the options and the ledger."""
    state = request.state
    query = relation_query(state, "priors", "class")
    rows = sorted(records(query), key=lambda row: -(row["prior"] or 0))
    listed = [row for row in rows if row["n"] is None or row["n"] >= request.least][: 2 * _BARS]
    rest = [row for row in rows if row not in listed]
    if rest:
        n = None if any(row["n"] is None for row in rest) else sum(row["n"] for row in rest)
        label = f"({len(rest)} more {'class' if len(rest) == 1 else 'classes'})"
        listed.append({"class": label, "n": n, "prior": plain(sum(row["prior"] for row in rest))})
    total = sum(row["n"] or 0 for row in rows)
    bars = [
        {"class": shown(row["class"]), "n": row["n"], "prior": row["prior"], "label": _of_rows(row["prior"], row["n"])}
        for row in listed
    ]
    features = [f"{each.name} ({': '.join(filter(None, (each.family.name, each.why)))})" for each in state.spec.features]
    learnt = f", learnt from {number(total)} rows" if total else ""
    finding = f"Predicts {state.spec.target} ({counted(len(rows), 'class')}) from {counted(len(features), 'feature')}{learnt}"
    named = ", ".join(features[:30]) + (f" and {len(features) - 30} more" if len(features) > 30 else "")
    yield Figure(finding, {"rows": bars}, query.sql, "card", notes=[f"Features: {named}.", *_history(request)])


def _of_rows(prior: float, n: float | None) -> str:
    return share(prior) if n is None else f"{share(prior)} · {number(n)} row{'' if n == 1 else 's'}"


def _history(request: Request) -> list[str]:
    """The newest lines of the ledger."""
    ledger = request.state.engine.query_macro("all_rows", request.state.relations["batches"])
    lines = [
        f"{operation}: {count:,} rows from {shown(source)}, {at:%Y-%m-%d %H:%M} UTC."
        for _, operation, source, count, at, _ in sorted(ledger, key=lambda row: row[5])[-3:]
    ]
    prior = request.state.spec.prior.kind
    return [f"Prior: {prior}. Smoothing: alpha = {request.state.spec.defaults['alpha']:g}.", *lines]


def ranked_features(state: ModelState) -> list[str]:
    """The features by their mutual information with the class, the most informative first."""
    return [row[0] for row in _ranking(state).fetchall()]


def _ranking(state: ModelState) -> Query:
    arguments = (state.plan.current_cells(), state.relations["priors"], state.spec.features)
    return Query(state.engine, state.engine.renderer.statement("ranking_of_features", *arguments))


def bounds(request: Request) -> Iterator[Figure]:
    """Bounds on the log loss without rows to evaluate on: of the priors alone, of one feature, and of all features at best.

    H(class) - I(X; class), in nats, is the log loss of a model of one feature. If features are independent within the classes,
    I(all; class) is at most the sum over the features (Cover and Thomas, Elements of Information Theory, section 2.5).
    """
    state = request.state
    state.require("drift")
    query = _ranking(state)
    entropy = entropy_of(request)
    majority = max((row["prior"] or 0 for row in records(relation_query(state, "priors", "class"))), default=0)
    information = {
        shown(row["feature"]): row["mutual_information"] * (1 - row["missing"])
        for row in records(query, digits=None)
        if row["missing"] is not None and row["mutual_information"] is not None
    }
    known = sorted(information, key=lambda name: (-information[name], name))
    measure = "log loss (lower is better)"
    losses = [("priors only", "baseline", entropy)]
    losses += [(f"{name} only", "model", max(entropy - information[name], 0.0)) for name in known[:3]]
    least = entropy - math.fsum(information.values())
    if len(known) > 1 and least > 0:
        losses.append(("all features, at best", "model", least))
    rows = [{"measure": measure, "who": who, "role": role, "value": plain(value)} for who, role, value in losses]
    notes = [
        "These bounds follow from the counts alone. To evaluate the model, give rows whose class is known as the source.",
        f"Always predicting the most frequent class has an accuracy of {share(majority)}.",
    ]
    finding = f"Not evaluated on rows: the log loss is {entropy:.3f} with the priors only"
    if known:
        finding += f", and could be {losses[1][2]:.3f} with {known[0]} only"
        notes.append("With one feature, the log loss is the entropy of the class minus their mutual information.")
        notes.append(
            "With all features, if they are independent within the classes, the log loss is not lower than shown."
            if least > 0
            else "With all features there is no bound, as their mutual information adds up to the entropy of the class or more."
        )
    if len(known) < len(state.spec.features):
        notes.append("Features of words and counts are left out, because they count occurrences, not rows.")
    yield Figure(finding, {"rows": rows}, query.sql, "verdict", notes=notes)


def entropy_of(request: Request) -> float:
    """The entropy of the priors, in nats."""
    priors = [row["prior"] for row in records(relation_query(request.state, "priors", "class"), digits=None) if row["prior"]]
    return -math.fsum(prior * math.log(prior) for prior in priors)


def ranking(request: Request) -> Iterator[Figure]:
    """The features by their mutual information with the class, and the shares of their missing values."""
    state = request.state
    state.require("drift")
    query = _ranking(state)
    rows = [row for row in records(query) if row["mutual_information"] is not None]  # of a constant there is none
    if not rows:
        raise ModelError(f"{state.title} has no features to rank")
    bars = show(rows[: 2 * _BARS], "feature")
    for row in bars:
        row["label"] = f"{share(row['missing'])} missing" if row["missing"] else ""
    best = f"{bars[0]['feature']} is the most informative about {state.spec.target}"
    if len(bars) == 1:
        likelier = f"{times(bars[0]['mutual_information'])} times likelier"
        best = f"{bars[0]['feature']}, the only feature, makes the right {state.spec.target} {likelier} on average"
    second = f", followed by {bars[1]['feature']}" if len(bars) > 1 else ""
    least = f"; {bars[-1]['feature']} is the least informative" if len(bars) > 2 else ""
    if not bars[0]["mutual_information"]:
        best, second, least = f"No feature tells more about {state.spec.target} than chance would", "", ""
    note = f"The {2 * _BARS} most informative of {len(rows)} features." if len(rows) > 2 * _BARS else None
    yield Figure(f"{best}{second}{least}", {"rows": bars}, query.sql, "ranking", notes=[note])


def profile(request: Request) -> Iterator[Figure]:
    """One feature: categories by their shares, a number by its densities, words by their log-odds."""
    if request.feature is None:
        raise InputError("a profile is of one feature; say which: ⟨feature='message'⟩, say")
    feature = feature_named(request.state.spec, request.feature, request.state.title)
    classes = top_classes(request)
    all_shown = len(classes) >= len(request.state.classes)
    note = None if all_shown else f"Only the {len(classes)} most probable classes are shown."
    name = shown(feature.name)
    if is_number(feature):
        query = profiles.profile(request.state, feature, None if request.scored is None else request.scored.source)
        rows = [row for row in records(query, digits=None) if str(row["class"]) in classes]
        yield _number(name, rows, query.sql, request.least, note, classes)
        return
    words = feature.family.bag or (feature.family.over_columns and not feature.family.level)
    query = telling_words(request, feature.name) if words else frequent_values(request, feature.name, _VALUES)
    rows = [row for row in records(query, digits=6) if str(row["class"]) in classes]
    if words:
        yield _words(name, rows, query.sql, request.least_to_tell, note, classes)
    else:
        yield _values(name, rows, query.sql, request.least, note, classes)


def telling_words(request: Request, feature: str) -> Query:
    """The informative words of a feature that pictures show; the vocabulary stays in the database (profile.sql)."""
    return _of_profile(request, feature, "distinctive_words", request.least_to_tell, WORDS, ALL_WORDS)


def frequent_values(request: Request, feature: str, most: int) -> Query:
    """The most frequent values of a feature, and all others combined into one."""
    return _of_profile(request, feature, "folded_profile", request.least, most)


def _of_profile(request: Request, feature: str, macro: str, *arguments: Any) -> Query:
    engine = request.state.engine
    state = request.state
    profile = Markup(profiles.profile(state, profiles.feature_named(state.spec, feature, state.title), None).sql)  # noqa: S704
    return Query(engine, engine.renderer.statement(macro, profile, *arguments))


def _number(name: str, rows: list[dict[str, Any]], sql: str, least: int, note: str | None, classes: list[str]) -> Figure:
    common = common_digits([row["lower"] for row in rows if row["part"] == "density"])
    rows = [{column: plain(value, 6 + common) for column, value in row.items()} for row in rows]
    highest = max((row["density"] or 0 for row in rows if row["part"] == "density"), default=0)
    faint = _FAINT * highest
    places = [row["lower"] for row in rows if row["part"] == "density" and (row["density"] or 0) > faint]
    low, high = min(places, default=0), max(places, default=0)
    kept = show([
        row for row in rows
        if row["part"] == "probability"
        or (row["part"] == "density" and low <= row["lower"] <= high)
        or (row["part"] == "histogram" and row["n"] >= least and row["upper"] >= low and row["lower"] <= high)
    ], "class")  # fmt: skip
    modes: dict[str, tuple[float, float]] = {}
    for row in (row for row in kept if row["part"] == "density"):
        if row["density"] is not None and row["density"] > modes.get(row["class"], (0, 0))[0]:
            modes[row["class"]] = (row["density"], row["lower"])
    said = [f"{rounded(modes[label][1], 3 + common)} in {label}" for label in map(shown, classes) if label in modes]
    binned = any(row["part"] == "histogram" for row in rows)
    notes = [note, f"Bins with fewer than {least} rows are left out." if binned and least > 1 else None]
    of_zero = {row["class"]: row["density"] for row in kept if row["part"] == "probability"}
    zeros = [f"{share(of_zero[label])} of {label}" for label in map(shown, classes) if label in of_zero]
    chart = "profile_of_zeros" if zeros else "profile_of_numbers"
    often = f"0 in {', '.join(zeros[:4])}, and otherwise " if zeros else ""
    finding = f"{name} is {often}most likely near {', '.join(said[:4])}" if said else f"{name} by class"
    colours = [class_parameter(map(shown, classes))]
    return Figure(finding, {"rows": kept}, sql, chart, colours, notes, name)


def _values(name: str, rows: list[dict[str, Any]], sql: str, least: int, note: str | None, classes: list[str]) -> Figure:
    folded = max((row["how_many"] for row in rows if row["folded"]), default=0)
    others = f"({counted(folded, 'other')})"
    bars = [
        {**without(row, "folded", "how_many", "place"), "value": others if row["folded"] else row["value"]}
        for row in show(rows, "class", "value")
    ]
    places = [_place(row["value"]) for row in rows if not (row["folded"] or row["value"] is None)]
    if None not in places:  # numbers and bins are in the order of their values, not of how frequent they are
        bars.sort(key=lambda row: math.inf if (place := _place(row["value"])) is None else place)
    telling = [row for row in bars if row["log_odds"] is not None and row["n"] >= least]
    if telling:
        best = max(telling, key=lambda row: row["share"] * abs(row["log_odds"]))
        rest = [label for label in map(shown, classes) if label != best["class"]]
        sides = (best["class"], rest[0] if len(rest) == 1 else "the other classes")
        more, less = sides if best["log_odds"] > 0 else sides[::-1]
        finding = f"{name} = {best['value']} is {_times(best['log_odds'])} as frequent in {more} as in {less}"
        if abs(best["log_odds"]) < _ALIKE:
            finding = f"The values of {name} are about equally frequent in all classes"
    else:
        finding = f"Values of {name} by class"
    few = f"Values with fewer than {least} rows, and all" if least > 1 else "All values"
    combined = f"{few} after the {_VALUES} most frequent, are combined."
    notes = [note, combined if folded else None]
    return Figure(finding, {"rows": bars}, sql, "profile_of_values", [class_parameter(map(shown, classes))], notes, name)


def _place(value: str) -> float | None:
    """A number, or the lower edge of a bin of numbers; None for another value.

    >>> _place("12"), _place("[2.5, 7)"), _place("(-inf, 3)"), _place("red")
    (12.0, 2.5, -inf, None)
    """
    found = _NUMBER.fullmatch(value)
    return None if found is None else float(found[1])


def _times(log_odds: float) -> str:
    factor = 2.718281828459045 ** min(abs(log_odds), 600)
    return f"{factor:.1f} times" if factor < 10 else f"{number(float(f'{factor:.2g}'))} times"


def _words(name: str, rows: list[dict[str, Any]], sql: str, least: int, note: str | None, classes: list[str]) -> Figure:
    found = [
        row for each in classes for row in rows
        if str(row["class"]) == each and row["place_in_class"] <= WORDS and (row["log_odds"] or 0) > 0
    ]  # fmt: skip
    if not found:
        raise ModelError(f"no word of {name} that occurs {least} times or more favours a class")
    bars = [without(row, "place", "place_in_class") for row in show(found, "class", "value")]
    firsts = {row["class"]: row["value"] for row in reversed(bars)}
    said = [f"{firsts[label]} for {label}" for label in map(shown, classes) if label in firsts]
    notes = [note, f"Words that occur fewer than {least} times are left out."]
    finding = f"Most distinctive word{'' if len(said) == 1 else 's'} of {name}: {', '.join(said[:4])}"
    params = [class_parameter(map(shown, classes)), factor_parameter(row["log_odds"] for row in bars)]
    return Figure(finding, {"rows": bars}, sql, "profile_of_words", params, notes, name)


def discrimination(request: Request) -> Iterator[Figure]:
    """The values that distinguish one class from another."""
    known = top_classes(request)
    if len(known) < 2:
        raise ModelError(f"{request.state.title} has only one class; discrimination compares two")
    a, b = request.classes or (known[0], known[1])
    query = contrasts.discrimination(request.state, a, b)
    rows, least = records(query), request.least_to_tell
    frequent = [row for row in rows if row["n"] + row["other_n"] >= least and (row["likelihood"] or row["other_likelihood"])]
    for row in frequent:
        if row["log_ratio"] is None:  # infinite, which JSON does not know
            row["log_ratio"] = math.inf if row["likelihood"] else -math.inf
    if not frequent:
        raise ModelError(
            f"no value that occurs {least} times or more distinguishes {a} from {b}; numbers have profiles instead"
        )
    one, other = shown(plain(a)), shown(plain(b))
    strongest = show(frequent[:_BARS], "feature", "value")
    edge = max((abs(row["log_ratio"]) for row in strongest if math.isfinite(row["log_ratio"])), default=math.log(1000)) * 1.2
    for row in strongest:
        row |= {"label": f"{row['feature']} = {row['value']}", "for": one if row["log_ratio"] > 0 else other}
        if not math.isfinite(row["log_ratio"]):  # a bar has an end
            row |= {"label": f"{row['label']} (only in {row['for']})", "log_ratio": math.copysign(edge, row["log_ratio"])}
    rare = f"Values that occur fewer than {least} times in the two classes are left out."
    more = f"The {_BARS} most distinctive of {len(frequent)} values."
    only = "A value that only one of the two classes has is infinitely likelier in it; its bar ends at the edge."
    is_only = any(not math.isfinite(row["log_ratio"]) for row in frequent[:_BARS])
    notes = [rare if len(frequent) < len(rows) else None, more if len(frequent) > _BARS else None, only if is_only else None]
    first = strongest[0]
    rest = other if first["for"] == one else one
    finding = f"{first['label']} is {_times(first['log_ratio'])} as likely in {first['for']} as in {rest}"
    if not math.isfinite(frequent[0]["log_ratio"]):
        finding = f"{frequent[0]['feature']} = {frequent[0]['value']} is in {first['for']} and never in {rest}"
    params = [class_parameter((one, other)), factor_parameter(row["log_ratio"] for row in strongest)]
    yield Figure(finding, {"rows": strongest}, query.sql, "discrimination", params, notes)


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
        query = contrasts.drift(state, before, after)
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
