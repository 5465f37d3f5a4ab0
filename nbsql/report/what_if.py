"""The nomogram: the contribution of each value to the total of each class, and the posterior of the chosen values."""

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from nbsql.errors import ModelError
from nbsql.evaluation.profile import CHOICE, choices_sql, is_number, number_grid
from nbsql.family.binned import bin_labels
from nbsql.queries.query import Query, priors_query
from nbsql.queries.table import share
from nbsql.rendering.dialect import folded
from nbsql.report.model_panels import ALL_WORDS, beyond_values, by_information, first_names, telling_words
from nbsql.report.panel import LOWEST, Figure, Request, common_digits, factor_parameter, plain, records, rounded, shown
from nbsql.spec.derived import inputs, needed
from nbsql.spec.spec import Feature, Spec

_FEATURES = 24
_VALUES = 12  # values of a feature to choose from
_PLACES = 21  # values of a number to choose from
_SLOTS = 3  # counts that can be chosen at a time
_WORDS = 200  # words that are known of a sentence that is typed
_POINTS = 12_000  # the most points of all features, values and classes, on which the size of the page depends
_FAR = 8  # the difference between classes in nats beyond which a value is drawn at the edge (nomogram.vl.json)
_NONE = "—"

_Texts = Sequence[str | None]  # a value as one text for each column of its feature; None if it is missing
_Choices = list[tuple[str, Mapping[str, float]]]  # a value, and its contribution by class


def nomogram(request: Request) -> Iterator[Figure]:
    """The contributions of each value, exactly as the model scores it, and the posterior of the chosen values."""
    state = request.state
    state.require("contributions")
    classes = _classes(request)
    most = max(3, min(_VALUES, _POINTS // (len(classes) * max(1, len(state.spec.features)))))
    rows: list[dict[str, Any]] = [
        {"feature_no": 0, "feature": "prior", "choice": 0, "value": None, "contribution": list(classes.values())}
    ]
    params: list[dict[str, Any]] = []
    names: list[str] = []
    typed: list[tuple[str, int]] = []
    features = state.spec.features
    if len(features) > _FEATURES:
        informative = by_information(state, [feature.name for feature in features])[:_FEATURES]
        features = tuple(feature for feature in features if feature.name in informative)
    values = {feature: found for feature, found in _values(request, features, most) if found}
    if not values:
        raise ModelError(f"{state.title} has no feature whose values contribute separately")
    sql, choices = _explained(request, values, list(classes))
    for feature, found in choices:
        if _is_typed(feature):
            names.append(shown(feature.name))
            rows += _points(len(names), names[-1], found, list(classes))
            params.append(_type(len(names), names[-1]))
            typed.append((names[-1], len(values[feature])))
            continue
        slots = _slots(feature)
        kind = "word" if feature.family.bag else "count"
        for slot in range(1, slots + 1):
            names.append(shown(feature.name) if slots == 1 else f"{shown(feature.name)}: {kind} {slot}")
            place = len(names)
            rows += _points(place, names[-1], found, list(classes))
            params.append(_select(place, names[-1], found))
    left = [feature.name for feature in state.spec.features if feature not in values]
    chosen = {"name": "chosen", "expr": f"[0, {', '.join(map(_chosen, params))}]"}
    labels = [request.class_name(label) for label in classes]
    of_classes = {"name": "classes", "value": labels}
    to_class = {"input": "select", "options": labels, "name": "show contributions to "}
    classes_shown = {"name": "shown", "value": labels[0], "bind": to_class}
    far = any(_spread(row["contribution"]) > _FAR for row in rows if row["feature_no"])
    at_edge = "Contributions of more than 3,000 times are drawn at the edge, with their power of ten beside them."
    below = [shown(feature.name) for feature, found in values.items() if _is_below_0(feature, found)]
    notes = [f"Left as missing: {first_names([shown(name) for name in left])}." if left else None, at_edge if far else None]
    notes += _made_of_others(state.spec, list(values))
    notes += [f"Of what is typed for {name}, the {n} words that tell the classes apart most count." for name, n in typed]
    notes += [beyond_values(below)] if below and request.scored is None else []
    spoken = [row for row in rows if row["value"] is not None]
    supported = _supported(request, list(classes))
    widest: dict[str, Any] | None = max(
        spoken, key=lambda row: _spread([row["contribution"][at] for at in supported]), default=None
    )
    if widest is None:
        raise ModelError(f"{state.title} has no feature with a value that occurs {request.least} times")
    moved = labels[max(supported, key=lambda at: widest["contribution"][at])]
    best = max(classes, key=lambda label: classes[label])
    name, _, _ = widest["feature"].partition(": word ")
    finding = (
        f"{request.value_name(name, widest['value'])} is the strongest evidence, for {moved}; before any "
        f"value is known, {request.class_name(best)} is {share(math.exp(classes[best]))} probable"
    )
    csv = [
        {"feature": row["feature"], "value": row["value"], **dict(zip(classes, list(row["contribution"]), strict=True))}
        for row in rows
    ]
    params += [chosen, of_classes, classes_shown, factor_parameter(_positions_on_axis(rows))]
    yield Figure(finding, {"rows": rows}, sql, "nomogram", params, notes, csv=csv)


def _made_of_others(spec: Spec, features: Sequence[Feature]) -> Iterator[str]:
    """Which features are derived from columns of others among these, whose values do not follow when those are chosen."""
    columns = {folded(name): feature for feature in features for name in feature.columns}
    for feature in features:
        made = needed(spec.derived, feature.columns)
        read = {*map(folded, inputs(made)), *(folded(each.name) for each in made)}
        if found := [shown(columns[name].name) for name in sorted(read) if columns.get(name, feature) is not feature]:
            yield f"{shown(feature.name)} is made of {first_names(found)} in the data; here each is chosen by itself."


def _positions_on_axis(rows: Sequence[Mapping[str, Any]]) -> Iterator[float]:
    """Where the values are on the axis of the chart: their contributions to the classes, relative to the mean over all."""
    for row in rows:
        if row["feature_no"] and row["value"] is not None:
            possible = [value for value in row["contribution"] if value > LOWEST]
            mean = math.fsum(possible) / max(len(possible), 1)
            yield from (max(min(value - mean, _FAR), -_FAR) for value in possible)


def _classes(request: Request) -> dict[str, float]:
    """The log priors of the classes as in scoring, the most probable first."""
    rows = sorted(records(priors_query(request.state), digits=None), key=lambda row: -row["prior"])
    counted = any(not feature.family.complement for feature in request.state.spec.features)
    return {str(row["class"]): (row["log_prior"] if row["prior"] > 0 else LOWEST) if counted else 0.0 for row in rows}


def _supported(request: Request, classes: list[str]) -> list[int]:
    """The places of the classes whose rows suffice for a headline, or of all classes if fewer than two have any."""
    priors = records(priors_query(request.state))
    few = {str(row["class"]) for row in priors if row["n"] is not None and row["n"] < request.least}
    found = [place for place, label in enumerate(classes) if label not in few]
    return found if len(found) > 1 else list(range(len(classes)))


def _values(request: Request, features: Sequence[Feature], most: int) -> Iterator[tuple[Feature, Mapping[str, _Texts]]]:
    """The values of each feature to choose from, by their names for readers; none if values have no separate contribution."""
    state, engine = request.state, request.state.engine
    counted = [feature for feature in features if feature.family.has_categories]
    frequent: dict[str, list[str]] = {}
    if counted and not state.spec.given:
        arguments = (state.plan.current_cells(), counted, request.least, most)
        for name, value in engine.query_macro("frequent_values", *arguments):
            frequent.setdefault(name, []).append(value)
    for feature in features:
        yield feature, _values_of(request, feature, frequent.get(feature.name, []), most)


def _values_of(request: Request, feature: Feature, frequent: Sequence[str], most: int) -> Mapping[str, _Texts]:
    state, family = request.state, feature.family
    several = family.bag or family.over_columns
    together = family.parent or family.product
    if family.backoff or together or (several and state.spec.logistic is not None):
        return {}  # its contribution depends on the other chosen values
    if family.level and family.over_columns:
        found = [json.loads(value) for value in frequent]
        return {", ".join("missing" if part is None else part for part in parts): parts for parts in found}
    if family.bag or (family.distribution in ("dirichlet", "complement") and family.over_columns):
        known = min(_WORDS, _POINTS // len(state.classes)) if _is_typed(feature) else ALL_WORDS
        query = telling_words(request, feature.name, known)
        words = sorted({str(row["value"]) for row in records(query) if row["place"] <= known})
        return {word: [str(int(word == c)) for c in feature.columns] if family.over_columns else [word] for word in words}
    if family.over_columns:
        return _means(request, feature)
    if is_number(feature):
        grid = number_grid(state, feature, _PLACES, None if request.scored is None else request.scored.source)
        places = [grid.low + grid.step * place for place in range(grid.count)]
        digits = min(4 + common_digits(places), 15)
        return {rounded(place, digits): [repr(place)] for place in places}
    numbers = _numbers_of_values(feature)
    if state.spec.given:  # it has no rows
        likelihoods = state.engine.query_macro("likelihoods_of", state.relations["likelihoods"], feature.name)
        frequent = list(numbers or sorted({value for _, value, *_ in likelihoods if value is not None}))[:most]
    return {value: [numbers[value] if numbers else value] for value in frequent if not numbers or value in numbers}


def _is_below_0(feature: Feature, found: Mapping[str, _Texts]) -> bool:
    """Whether a number that is above 0 for the greater part may be chosen below 0, too."""
    places = [float(texts[0] or 0) for texts in found.values()] if is_number(feature) else [0.0]
    return min(places) < 0 < min(places) + max(places)


def _is_typed(feature: Feature) -> bool:
    """Whether a reader types a sentence: its words are cut as the page can cut them, and each adds what it adds by itself."""
    return feature.family.is_typed and _slots(feature) > 1


def _slots(feature: Feature) -> int:
    """The number of tokens that can be chosen at a time: one if the contribution of a token depends on the others."""
    family = feature.family
    if family.bag:
        return 1 if family.presence or family.norm or family.has_overlaps else _SLOTS
    return _SLOTS if family.over_columns and family.distribution in ("dirichlet", "complement") and not family.level else 1


def _means(request: Request, feature: Feature) -> dict[str, list[str]]:
    """The means of each class, for several numbers together."""
    state = request.state
    means: dict[str, dict[str, float]] = {}
    for label, column, mean, *_ in state.engine.query_macro("likelihoods_of", state.relations["likelihoods"], feature.name):
        if mean is not None:
            means.setdefault(str(plain(label)), {})[column] = mean
    priors = records(priors_query(state))
    few = {str(row["class"]) for row in priors if row["n"] is not None and row["n"] < request.least}
    whole = set(feature.columns) - set(feature.fraction_types) if feature.types else set()
    return {
        f"mean of {shown(label)}": [str(round(of[c])) if c in whole else repr(float(of[c])) for c in feature.columns]
        for label, of in list(means.items())[:_VALUES]
        if label not in few and len(of) == len(feature.columns)
    }


def _explained(
    request: Request, values: Mapping[Feature, Mapping[str, _Texts]], classes: Sequence[str]
) -> tuple[str, Iterator[tuple[Feature, _Choices]]]:
    """The `explain` query for the contributions of each value, and of a missing one, to each class; and its result.

    Its first source row has no values; the next has the first value of every feature, the next the second, and so on.
    """
    state = request.state
    texts = {feature: [[None] * len(feature.columns), *of.values()] for feature, of in values.items()}
    lines = [
        [part for of in texts.values() for part in of[place if place < len(of) else 0]]
        for place in range(max(map(len, texts.values())))
    ]
    sql = choices_sql(state, list(values), lines)
    terms: dict[tuple[str, int], dict[str, float]] = {}
    for row in records(Query(state.engine, sql), digits=None):
        if row["feature"] is not None:
            added = terms.setdefault((row["feature"], row[CHOICE]), dict.fromkeys(classes, 0.0))
            term = LOWEST if row["contribution"] is None else row["contribution"]
            added[str(row["class"])] = max(added[str(row["class"])] + term, LOWEST)
    return sql, (
        (feature, [(label, terms.get((feature.name, at), {})) for at, label in enumerate([_NONE, *map(shown, of)])])
        for feature, of in values.items()
    )


def _numbers_of_values(feature: Feature) -> dict[str, str] | None:
    """A number for each value of a number that is counted in bins or as a yes or no; None for other features."""
    if feature.family.cell == "bin":
        edges, labels = list(feature.family.edges or ()), bin_labels(feature.family.edges or ())
        below = [edges[0] - max(1.0, abs(edges[0]))] if edges else [0.0]
        return dict(zip(labels, map(repr, [*below, *edges]), strict=True))  # a bin includes its lower edge
    if feature.family.cell == "boolean" and feature.types and feature.types[0].lower() != "boolean":
        return {"true": "1", "false": "0"}
    return None


def _points(place: int, name: str, choices: _Choices, classes: Sequence[str]) -> Iterator[dict[str, Any]]:
    """One row for each choice, with its contribution to each class."""
    for choice, (value, terms) in enumerate(choices):
        added = [terms.get(label, 0.0) for label in classes]
        value_of = {"choice": choice, "value": value if choice else None}
        yield {"feature_no": place, "feature": name, **value_of, "contribution": added}


def _spread(added: Sequence[float]) -> float:
    """The largest difference that a value makes between classes."""
    known = [term for term in added if term > LOWEST]
    return max(known, default=0.0) - min(known, default=0.0)


def _chosen(param: Mapping[str, Any]) -> str:
    """What is chosen, an expression of Vega: the number of a choice, or the words that were typed, each between two blanks."""
    name = param["name"]
    if param["bind"]["input"] == "select":
        return str(name)
    return rf"trim({name}) ? '  ' + replace(lower({name}), regexp('[^\\p{{L}}\\p{{M}}\\p{{N}}]+', 'gu'), '  ') + '  ' : 0"


def _type(place: int, name: str) -> dict[str, Any]:
    return {"name": f"what_{place}", "value": "", "bind": {"input": "text", "name": f"{name} ", "placeholder": "type words"}}


def _select(place: int, name: str, choices: _Choices) -> dict[str, Any]:
    options, labels = list(range(len(choices))), [value for value, _ in choices]
    bind = {"input": "select", "options": options, "labels": labels, "name": f"{name} "}
    return {"name": f"what_{place}", "value": 0, "bind": bind}
