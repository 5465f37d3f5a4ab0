"""The nomogram: what each value adds to the total of each class, and the posterior of the values that are chosen."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from nbsql.answers.query import Query
from nbsql.answers.table import number, share
from nbsql.answers.table import plain as shown
from nbsql.errors import ModelError
from nbsql.family import Bernoulli, Binned, Conditional
from nbsql.judging.profile import CHOICE, choices_sql, contributions_sql, is_number, number_grid
from nbsql.report.of_counts import ALL_WORDS, frequent_values, telling_words
from nbsql.report.panel import LOWEST, Figure, Request, plain, records
from nbsql.spec.spec import Feature

_FEATURES = 24
_VALUES = 12  # of a feature, to choose from
_PLACES = 21  # of a number
_SLOTS = 3  # words of a text at a time
_POINTS = 12_000  # of all features, values and classes together: the page grows with them
_FAR = 8  # nats from one class to another, beyond which a chart may have a value at its edge (nomogram.vl.json)
_NONE = "—"

_Choices = list[tuple[str, Mapping[str, float]]]  # a value, and what it adds by class


def nomogram(request: Request) -> Iterator[Figure]:
    """What each value adds, exactly as the model scores, and the posterior of what is chosen."""
    model = request.model
    classes = _classes(request)
    most = max(3, min(_VALUES, _POINTS // (len(classes) * max(1, len(model._spec.features)))))
    rows: list[dict[str, Any]] = [
        {"feature_no": 0, "feature": "prior", "choice": 0, "value": None, "contribution": list(classes.values())}
    ]
    params: list[dict[str, Any]] = []
    queries: list[str] = []
    left: list[str] = []
    names: list[str] = []
    for feature in model._spec.features[:_FEATURES]:
        found = _choices(request, feature, list(classes), most, queries)
        if found is None:
            left.append(feature.name)
            continue
        slots = _slots(feature)
        kind = "word" if feature.family.bag else "count"
        for slot in range(1, slots + 1):
            names.append(shown(feature.name) if slots == 1 else f"{shown(feature.name)}: {kind} {slot}")
            place = len(names)
            rows += _points(place, names[-1], found, list(classes))
            params.append(_select(place, names[-1], found))
    if not names:
        raise ModelError(f"{model._title} has no feature that can be looked at value by value")
    left += [feature.name for feature in model._spec.features[_FEATURES:]]
    chosen = {"name": "chosen", "expr": f"[0, {', '.join(f'what_{place}' for place in range(1, len(names) + 1))}]"}
    labels = [shown(label) for label in classes]
    of_classes = {"name": "classes", "value": labels}
    classes_shown = {
        "name": "shown",
        "value": labels[0],
        "bind": {"input": "select", "options": labels, "name": "show what speaks for "},
    }
    notes = [f"Left as missing: {', '.join(map(shown, left))}."] if left else []
    if any(_spread(row["contribution"]) > _FAR for row in rows if row["feature_no"]):
        notes.append("A value that adds more than 8 nats, 3,000 to 1, stands at the edge with the number beside it.")
    spoken = [row for row in rows if row["value"] is not None]
    widest: dict[str, Any] | None = max(spoken, key=lambda row: _spread(row["contribution"]), default=None)
    if widest is None:
        raise ModelError(f"{model._title} has no feature whose values were met {request.least} times")
    moved = labels[max(range(len(labels)), key=lambda at: widest["contribution"][at])]
    best = max(classes, key=lambda label: classes[label])
    finding = (
        f"{widest['feature'].partition(': word')[0]} = {widest['value']} speaks loudest, for {moved}; with nothing known, "
        f"{shown(best)} is {share(math.exp(classes[best]))} probable"
    )
    csv = [
        {"feature": row["feature"], "value": row["value"], **dict(zip(classes, list(row["contribution"]), strict=True))}
        for row in rows
    ]
    sql = ";\n\n".join(dict.fromkeys(queries))
    yield Figure(finding, {"rows": rows}, sql, "nomogram", [*params, chosen, of_classes, classes_shown], notes, csv=csv)


def _classes(request: Request) -> dict[str, float]:
    """The classes by the log of their priors as scoring has it, the most probable first."""
    rows = sorted(records(request.model.priors, digits=None), key=lambda row: -row["prior"])
    counted = any(not feature.family.complement for feature in request.model._spec.features)
    return {str(row["class"]): (row["log_prior"] if row["prior"] > 0 else LOWEST) if counted else 0.0 for row in rows}


def _choices(request: Request, feature: Feature, classes: Sequence[str], most: int, queries: list[str]) -> _Choices | None:
    """Values of a feature and what they add to each class; None where a value adds nothing of its own."""
    family = feature.family
    if family.backs_off or isinstance(family, Conditional):  # what it adds depends on what else is chosen
        return None
    if request.model._spec.logistic is not None and (family.bag or family.over_columns):
        return None
    if family.level and family.over_columns:
        values = {value: json.loads(value) for value in _frequent(request, feature, most)}
        named = {", ".join("missing" if part is None else part for part in parts): parts for parts in values.values()}
        return _explained(request, feature, named, classes, queries)
    if family.bag or (family.distribution in ("dirichlet", "complement") and family.over_columns):
        return _tokens(request, feature, classes, queries)
    if family.over_columns:
        return _explained(request, feature, _means(request, feature), classes, queries)
    return _values(request, feature, classes, most, queries)


def _slots(feature: Feature) -> int:
    """How many tokens can be chosen at a time: one, where what a token adds depends on the others."""
    family = feature.family
    if family.bag:
        return 1 if family.presence or getattr(family, "norm", None) or max(getattr(family, "ngrams", (1, 1))) > 1 else _SLOTS
    return _SLOTS if family.over_columns and family.distribution in ("dirichlet", "complement") and not family.level else 1


def _tokens(request: Request, feature: Feature, classes: Sequence[str], queries: list[str]) -> _Choices | None:
    """The tokens, or the columns of counts, that tell most, each with what one adds."""
    family = feature.family
    found = _words(request, feature, queries)
    if family.distribution == "dirichlet" and not family.weighed and family.value_limit is None and not family.over_columns:
        return found
    tokens = [token for token, _ in found[1:]]
    if family.over_columns:
        return _explained(
            request,
            feature,
            {token: [str(int(token == column)) for column in feature.columns] for token in tokens},
            classes,
            queries,
        )
    return _explained(request, feature, {token: [token] for token in tokens}, classes, queries)


def _means(request: Request, feature: Feature) -> dict[str, list[str]]:
    """Of several numbers together, where the middle of each class is."""
    model = request.model
    means: dict[str, dict[str, float]] = {}
    for label, column, mean in model._engine.ask("means_of_columns", model._relations["likelihoods"], feature.name):
        means.setdefault(str(plain(label)), {})[column] = mean
    few = {str(row["class"]) for row in records(model.priors) if row["n"] is not None and row["n"] < request.least}
    whole = set(feature.columns) - set(feature.fractions) if feature.types else set()
    return {
        f"mean of {shown(label)}": [str(round(of[c])) if c in whole else repr(float(of[c])) for c in feature.columns]
        for label, of in list(means.items())[:_VALUES]
        if label not in few and len(of) == len(feature.columns)
    }


def _explained(
    request: Request, feature: Feature, values: Mapping[str, Sequence[str | None]], classes: Sequence[str], queries: list[str]
) -> _Choices | None:
    """What each of some values adds to each class, and what a missing one does, by `explain`."""
    if not values:
        return None
    model = request.model
    rows = [[None] * len(feature.columns), *values.values()]
    sql = str(choices_sql(model._engine, model._plan, model._classes, model._title, feature, rows))
    queries.append(sql)
    found = [dict.fromkeys(classes, 0.0) for _ in rows]
    for row in records(Query(model._engine, sql), digits=None):
        if row["feature"] is not None:
            term = LOWEST if row["contribution"] is None else row["contribution"]
            of_value = found[row[CHOICE]]
            of_value[str(row["class"])] = max(of_value[str(row["class"])] + term, LOWEST)
    return list(zip([_NONE, *map(shown, values)], found, strict=True))


def _values(request: Request, feature: Feature, classes: Sequence[str], most: int, queries: list[str]) -> _Choices | None:
    model, engine = request.model, request.model._engine
    if (numbers := _numbers_of_values(feature)) is not None:
        named = (
            list(numbers) if model._spec.given else [value for value in _frequent(request, feature, most) if value in numbers]
        )
        return _explained(request, feature, {value: [numbers[value]] for value in named}, classes, queries)
    numeric = is_number(feature)
    grid = number_grid(engine, model._plan, feature, _PLACES) if numeric else None
    sql = str(contributions_sql(engine, model._plan, model._classes, model._title, feature, grid))
    queries.append(sql)
    found: dict[str | None, dict[str, float]] = {}
    for row in records(Query(engine, sql), digits=None):
        if row["feature"] is not None:
            found.setdefault(row["value"], {})[str(row["class"])] = (
                LOWEST if row["contribution"] is None else row["contribution"]
            )
    if numeric:
        values = sorted((value for value in found if value is not None), key=float)
        return [
            (_NONE, dict.fromkeys(classes, 0.0)),
            *((number(float(f"{float(value):.10g}")), found[value]) for value in values),
        ]
    frequent = _frequent(request, feature, most)
    known = [value for value in frequent if value in found]
    if model._spec.given:  # nobody's rows
        known = sorted(value for value in found if value is not None)[:most]
    if not known:
        return None
    missing = found.get(None, dict.fromkeys(classes, 0.0))
    return [(_NONE, missing), *((shown(value), found[value]) for value in known)]


def _numbers_of_values(feature: Feature) -> dict[str, str] | None:
    """A number that has each value, of numbers that are counted as bins, or as yes or no; None of other features."""
    if isinstance(feature.family, Binned):
        edges, labels = list(feature.family.edges or ()), list(feature.family.labels)
        below = [edges[0] - max(1.0, abs(edges[0]))] if edges else [0.0]
        return dict(zip(labels, map(repr, [*below, *edges]), strict=True))  # a bin holds its lower edge
    if isinstance(feature.family, Bernoulli) and feature.types and feature.types[0].lower() != "boolean":
        return {"true": "1", "false": "0"}
    return None


def _frequent(request: Request, feature: Feature, most: int) -> list[str]:
    """The values that were met most often."""
    if request.model._spec.given:
        return []
    rows = records(frequent_values(request, feature.name, most + 1))  # of which one may be a missing value
    return list(dict.fromkeys(str(row["value"]) for row in rows if row["value"] is not None and not row["folded"]))[:most]


def _words(request: Request, feature: Feature, queries: list[str]) -> _Choices:
    """The words that tell most, each with what one occurrence adds."""
    query = telling_words(request, feature.name)
    queries.append(query.sql)
    likelihoods: dict[str, dict[str, float]] = {}
    for row in records(query, digits=None):
        if row["place"] <= ALL_WORDS:
            terms = likelihoods.setdefault(str(row["value"]), {})
            terms[str(row["class"])] = math.log(row["likelihood"]) if row["likelihood"] else LOWEST
    nothing = {label: 0.0 for terms in likelihoods.values() for label in terms}
    return [(_NONE, nothing), *((word, likelihoods[word]) for word in sorted(likelihoods))]


def _points(place: int, name: str, choices: _Choices, classes: Sequence[str]) -> Iterator[dict[str, Any]]:
    """A row a choice, with what it adds to each class."""
    for choice, (value, terms) in enumerate(choices):
        added = [terms.get(label, 0.0) for label in classes]
        yield {
            "feature_no": place,
            "feature": name,
            "choice": choice,
            "value": value if choice else None,
            "contribution": added,
        }


def _spread(added: Sequence[float]) -> float:
    """How far a value moves a class from the others."""
    known = [term for term in added if term > LOWEST]
    return max(known, default=0.0) - min(known, default=0.0)


def _select(place: int, name: str, choices: _Choices) -> dict[str, Any]:
    options = list(range(len(choices)))
    labels = [value for value, _ in choices]
    return {
        "name": f"what_{place}",
        "value": 0,
        "bind": {"input": "select", "options": options, "labels": labels, "name": f"{name} "},
    }
