"""The panels that need only the counts of a model."""

import math
import re
from collections.abc import Iterator, Sequence
from typing import Any

from nbsql.errors import InputError, ModelError, counted
from nbsql.evaluation import profile as profiles
from nbsql.evaluation.profile import feature_named, is_number
from nbsql.queries.explanation import times
from nbsql.queries.query import Query, priors_query
from nbsql.queries.table import number, share
from nbsql.report.panel import (
    Figure,
    Request,
    class_parameter,
    common_digits,
    factor_parameter,
    plain,
    records,
    rounded,
    shown,
    with_shown,
    without,
)  # fmt: skip
from nbsql.storage.state import ModelState

CLASSES = 6  # the most classes that a picture distinguishes by colour
_BARS = 24
WORDS = 10  # words of each class
ALL_WORDS = 20  # words among which the reader can choose
_VALUES = 15
_NUMBER = re.compile(r"[\[(]?(-?(?:inf|[\d.]+(?:e[+-]?\d+)?))(?:, [^,]+[\])])?")  # a number, or a bin as the statistics name it
ALIKE = 0.05  # the log-odds below which a difference is not reported
_RARE = 0.03  # the share of the rows of a class below which a value makes no headline
_FAINT = 0.002  # the share of the highest density below which a curve is not drawn


def top_classes(request: Request) -> list[str]:
    """The classes that a picture shows, the most probable first."""
    rows = sorted(records(priors_query(request.state)), key=lambda row: -(row["prior"] or 0))
    return [str(row["class"]) for row in rows][:CLASSES]


def card(request: Request) -> Iterator[Figure]:
    """The classes and their priors; the notes have the options and the ledger."""
    state = request.state
    query = priors_query(state)
    rows = sorted(records(query), key=lambda row: -(row["prior"] or 0))
    listed = [row for row in rows if row["n"] is None or row["n"] >= request.least][: 2 * _BARS]
    rest = [row for row in rows if row not in listed]
    folded = []
    if rest:
        n = None if any(row["n"] is None for row in rest) else sum(row["n"] for row in rest)
        label = f"({len(rest)} more {'class' if len(rest) == 1 else 'classes'})"
        folded.append({"class": label, "n": n, "prior": plain(sum(row["prior"] for row in rest))})
    total = sum(row["n"] or 0 for row in rows)
    bars = [
        {**row, "label": _share_and_rows(row["prior"], row["n"])}
        for row in [*request.name_classes({key: row[key] for key in ("class", "n", "prior")} for row in listed), *folded]
    ]
    features = [f"{shown(each.name)} ({': '.join(filter(None, (each.family.name, each.why)))})" for each in state.spec.features]
    learnt = f", learnt from {number(total)} rows" if total else ""
    predicts = f"Predicts {shown(state.spec.target)} ({counted(len(rows), 'class')}) from"
    finding = f"{'Describes rows by' if state.spec.describes_rows else predicts} {counted(len(features), 'feature')}{learnt}"
    yield Figure(finding, {"rows": bars}, query.sql, "card", notes=[f"Features: {first_names(features)}.", *_history(request)])


def first_names(names: Sequence[str]) -> str:
    """The names on one line: the first 30, and how many more there are; "none" if there are none."""
    more = len(names) - 30
    return ", ".join(names[:30] or ["none"]) + (f" and {more:,} more" if more > 0 else "")


def _share_and_rows(prior: float, n: float | None) -> str:
    return share(prior) if n is None else f"{share(prior)} · {number(n)} row{'' if n == 1 else 's'}"


def _history(request: Request) -> list[str]:
    """The newest lines of the ledger."""
    ledger = request.state.engine.query_macro("all_rows", request.state.relations["batches"])
    lines = [
        f"{operation.capitalize()}: {count:,} rows from {shown(source)}, {at:%Y-%m-%d %H:%M} UTC."
        for _, operation, source, count, at, _ in sorted(ledger, key=lambda row: row[5])[-3:]
    ]
    prior = request.state.spec.prior.kind
    return [f"Prior: {prior}. Smoothing: alpha = {request.state.spec.defaults['alpha']:g}.", *lines]


def by_information(state: ModelState, names: list[str]) -> list[str]:
    """The features by their mutual information with the class, the most informative first, those without any rank last."""
    ranked = [] if state.spec.given or len(names) < 2 else [row[0] for row in _ranking(state).fetchall()]
    return [*(name for name in ranked if name in names), *(name for name in names if name not in ranked)]


def _ranking(state: ModelState) -> Query:
    arguments = (state.plan.current_cells(), state.relations["priors"], state.spec.features)
    return Query(state.engine, state.engine.renderer.statement("ranking_of_features", *arguments))


def log_loss_bounds(request: Request) -> Iterator[Figure]:
    """Bounds on the log loss without rows to evaluate on: of the priors alone, of one feature, and of all features at best.

    H(class) - I(X; class), in nats, is the log loss of a model of one feature. If features are independent within the classes,
    I(all; class) is at most the sum over the features (Cover and Thomas, Elements of Information Theory, section 2.5).
    """
    state = request.state
    state.require("drift")
    query = _ranking(state)
    entropy = entropy_of(request)
    majority = max((row["prior"] or 0 for row in records(priors_query(state))), default=0)
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
    priors = [row["prior"] for row in records(priors_query(request.state), digits=None) if row["prior"]]
    return -math.fsum(prior * math.log(prior) for prior in priors)


def ranking(request: Request) -> Iterator[Figure]:
    """The features by their mutual information with the class, and the shares of their missing values."""
    state = request.state
    state.require("drift")
    query = _ranking(state)
    rows = [row for row in records(query) if row["mutual_information"] is not None]  # of a constant there is none
    if not rows:
        raise ModelError(f"{state.title} has no features to rank")
    bars = with_shown(rows[: 2 * _BARS], "feature")
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
        yield _number(request, name, rows, query.sql, note, classes)
        return
    words = feature.family.bag or (feature.family.over_columns and not feature.family.level)
    query = telling_words(request, feature.name) if words else frequent_values(request, feature.name, _VALUES)
    rows = [row for row in records(query, digits=6) if str(row["class"]) in classes]
    if words:
        yield _words(request, name, rows, query.sql, note, classes)
    else:
        yield _values(request, name, rows, query.sql, note, classes)


def telling_words(request: Request, feature: str, most: int = ALL_WORDS) -> Query:
    """The informative words of a feature that pictures show; the vocabulary stays in the database (profile.sql)."""
    return _of_profile(request, feature, "distinctive_words", request.least_to_tell, WORDS, most)


def frequent_values(request: Request, feature: str, most: int) -> Query:
    """The most frequent values of a feature, and all others combined into one."""
    return _of_profile(request, feature, "folded_profile", request.least, most)


def _of_profile(request: Request, feature: str, macro: str, *arguments: Any) -> Query:
    engine = request.state.engine
    state = request.state
    profile = engine.renderer.dialect.query(profiles.profile(state, feature_named(state.spec, feature, state.title), None).sql)
    return Query(engine, engine.renderer.statement(macro, profile, *arguments))


def _number(request: Request, name: str, rows: list[dict[str, Any]], sql: str, note: str | None, classes: list[str]) -> Figure:
    least = request.least
    common = common_digits([row["lower"] for row in rows if row["part"] == "density"])
    rows = [{column: plain(value, 6 + common) for column, value in row.items()} for row in rows]
    highest = max((row["density"] or 0 for row in rows if row["part"] == "density"), default=0)
    faint = _FAINT * highest
    places = [row["lower"] for row in rows if row["part"] == "density" and (row["density"] or 0) > faint]
    low, high = min(places, default=0), max(places, default=0)
    kept = request.name_classes(
        row for row in rows
        if row["part"] == "probability"
        or (row["part"] == "density" and low <= row["lower"] <= high)
        or (row["part"] == "histogram" and row["n"] >= least and row["upper"] >= low and row["lower"] <= high)
    )  # fmt: skip
    modes: dict[str, tuple[float, float]] = {}
    for row in (row for row in kept if row["part"] == "density"):
        if row["density"] is not None and row["density"] > modes.get(row["class"], (0, 0))[0]:
            modes[row["class"]] = (row["density"], row["lower"])
    names = [request.class_name(label) for label in classes]
    near = {label: rounded(modes[label][1], 3 + common) for label in names if label in modes}
    said = [f"{mode} in {label}" for label, mode in near.items()]
    if len(near) > 1 and len({*near.values()}) == 1:
        said = [f"{near[names[0]]} in {'both' if len(near) == 2 else 'all'} classes"]
    binned = any(row["part"] == "histogram" for row in rows)
    beyond = beyond_values([name]) if not binned and low < 0 and all(place > 0 for _, place in modes.values()) else None
    notes = [note, beyond, f"Bins with fewer than {least} rows are left out." if binned and least > 1 else None]
    of_zero = {row["class"]: row["density"] for row in kept if row["part"] == "probability"}
    zeros = [f"{share(of_zero[label])} of {label}" for label in names if label in of_zero]
    chart = "profile_of_zeros" if zeros else "profile_of_numbers"
    often = f"0 in {', '.join(zeros[:4])}, and otherwise " if zeros else ""
    finding = f"{name} is {often}most likely near {', '.join(said[:4])}" if said else f"{name} by class"
    colours = [class_parameter(names)]
    return Figure(finding, {"rows": kept}, sql, chart, colours, notes, name)


def beyond_values(names: list[str]) -> str:
    """The note on numbers that are drawn where their densities are, as a model does not keep their ranges."""
    return f"Without a source, {', '.join(names)} may be drawn beyond the values that occur, such as below 0."


def _values(request: Request, name: str, rows: list[dict[str, Any]], sql: str, note: str | None, classes: list[str]) -> Figure:
    least = request.least
    folded = max((row["how_many"] for row in rows if row["folded"]), default=0)
    with_parent = any(feature.family.parent for feature in request.state.spec.features if shown(feature.name) == name)
    if with_parent:  # each of its likelihoods is given the value of a parent, and they do not add up
        rows = [row for row in rows if not row["folded"]]
    others = f"({counted(folded, 'other')})"
    if folded and all(row["folded"] for row in rows):
        raise ModelError(f"none of the {folded:,} values of {name} has the {least} rows that a picture needs")
    sentences = {row["value"]: request.value_name(name, row["value"]) for row in rows}
    labels = {value: sentences[value] if str(value).startswith('["') else shown(value) for value in sentences}
    bars = [
        {**without(row, "folded", "how_many", "place"), "value": others if row["folded"] else labels[row["value"]]}
        for row in request.name_classes(rows)
    ]
    names = [request.class_name(label) for label in classes]
    places = [_place(row["value"]) for row in rows if not (row["folded"] or row["value"] is None)]
    if None not in places:  # numbers and bins are in the order of their values, not of how frequent they are
        bars.sort(key=lambda row: math.inf if (place := _place(row["value"])) is None else place)
    telling = [row for row in bars if row["log_odds"] is not None and row["n"] >= least]
    if folded and all(row["share"] < _RARE for row in bars if row["value"] != others):
        finding = f"{name} has {counted(folded + len({row['value'] for row in bars}) - 1, 'value')}, and each is rare"
    elif telling:
        best = max(telling, key=lambda row: row["share"] * abs(row["log_odds"]))
        found = next((each for each, label in labels.items() if label == best["value"]), None)
        value = f"{name} = {best['value']}" if found is None else request.subject(name, found)
        rest = [label for label in names if label != best["class"]]
        sides = (best["class"], rest[0] if len(rest) == 1 else "the other classes")
        more, less = sides if best["log_odds"] > 0 else sides[::-1]
        finding = f"{value} is {times_as(best['log_odds'])} as frequent in {more} as in {less}"
        if abs(best["log_odds"]) < ALIKE:
            finding = f"The values of {name} are about equally frequent in all classes"
    else:
        finding = f"Values of {name} by class"
    few = f"Values with fewer than {least} rows, and all" if least > 1 else "All values"
    combined = f"{few} after the {_VALUES} most frequent, are {'left out' if with_parent else 'combined'}."
    given = "A bar is a share of the rows of its class that have what follows 'with'." if with_parent else None
    notes = [note, given, combined if folded else None]
    return Figure(finding, {"rows": bars}, sql, "profile_of_values", [class_parameter(names)], notes, name)


def _place(value: str) -> float | None:
    """A number, or the lower edge of a bin of numbers; None for another value.

    >>> _place("12"), _place("[2.5, 7)"), _place("(-inf, 3)"), _place("red")
    (12.0, 2.5, -inf, None)
    """
    found = _NUMBER.fullmatch(value)
    return None if found is None else float(found[1])


def times_as(log_odds: float) -> str:
    """A factor in a sentence, from its logarithm: 'is 4.6 times' as likely."""
    factor = 2.718281828459045 ** min(abs(log_odds), 600)
    return f"{factor:.1f} times" if factor < 10 else f"{number(float(f'{factor:.2g}'))} times"


def _words(request: Request, name: str, rows: list[dict[str, Any]], sql: str, note: str | None, classes: list[str]) -> Figure:
    least = request.least_to_tell
    found = [
        row for each in classes for row in rows
        if str(row["class"]) == each and row["place_in_class"] <= WORDS and (row["log_odds"] or 0) > 0
    ]  # fmt: skip
    if not found:
        raise ModelError(f"no word of {name} that occurs {least} times or more favours a class")
    bars = [without(row, "place", "place_in_class") for row in with_shown(request.name_classes(found), "value")]
    firsts = {row["class"]: row["value"] for row in reversed(bars)}
    said = [f"{firsts[label]} for {label}" for label in map(request.class_name, classes) if label in firsts]
    notes = [note, f"Words that occur fewer than {least} times are left out."]
    finding = f"Most distinctive word{'' if len(said) == 1 else 's'} of {name}: {', '.join(said[:4])}"
    params = [class_parameter(map(request.class_name, classes)), factor_parameter(row["log_odds"] for row in bars)]
    return Figure(finding, {"rows": bars}, sql, "profile_of_words", params, notes, name)
