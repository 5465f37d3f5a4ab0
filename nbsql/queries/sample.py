"""Models as generators: rows drawn from a model."""

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from operator import mul
from typing import Any

from markupsafe import Markup

from nbsql.errors import InputError, listed
from nbsql.family.checks import whole_number
from nbsql.queries.query import Query
from nbsql.spec.spec import Feature, Spec
from nbsql.storage.state import ModelState

# Types that a statement may take from a spec: names and numbers. The values of an ENUM are drawn as text.
_TYPE = re.compile(r"[A-Z][A-Z0-9_ ]*(\(\d+(, ?\d+)?\))?", re.IGNORECASE)


@dataclass(frozen=True)
class _Column:
    """A column to draw: name, type as the engine writes it (None: that of the drawn value), position in a joint feature."""

    name: str
    type: Markup | None
    position: int


@dataclass(frozen=True)
class _DrawnFeature:
    feature: Feature
    columns: list[_Column]


def sample(state: ModelState, n: Any, seed: Any) -> Query:
    """The query of `n` rows drawn from a model; see `Model.sample`."""
    for name, value in (("n", whole_number(n, "n", 0)), ("seed", whole_number(seed, "seed", None))):
        if not -(2**63) < value < 2**63 - 1:
            raise InputError(f"⟨{name}⟩ must be a whole number of 64 bits, not {value}")
    engine, plan, title = state.engine, state.plan, state.title
    # Bags are drawn only from counts, which give their lengths.
    drawable = ("value", "number", "vector") if plan.spec.given else ("value", "number", "vector", "bag")
    refused = [feature for feature in plan.spec.features if feature.family.sampling_kind not in drawable]
    if refused:
        names = listed(feature.name for feature in refused)
        if any(feature.family.parent for feature in refused):
            raise InputError(f"{title} cannot be sampled: its features {names} depend on others; fit it with ⟨method='naive'⟩")
        raise InputError(
            f"{title} cannot be sampled: {names} of family {refused[0].family.name!r} with these options does not say "
            "how a row comes about; fit it without"
        )
    weights = engine.query_macro("given_logarithms", plan.relations["statistics"]) if plan.spec.given else ()
    for (name,) in weights:
        raise InputError(
            f"{title} cannot be sampled: {name!r} was given as logarithms, which need not be of probabilities; "
            "give its likelihoods, or fit it without"
        )
    renderer = engine.renderer
    drawn = list(_columns_to_draw(plan.spec, renderer.dialect.query))
    relations = (plan.relations["priors"], plan.relations["likelihoods"], plan.current_cells())
    vectors = (each.feature for each in drawn if each.feature.family.sampling_kind == "vector")
    factors = {feature.name: list(_factors(state, feature)) for feature in vectors}
    components = None if plan.spec.components is None else plan.relations["components"]
    return Query(engine, renderer.statement("drawn_rows", drawn, plan.spec.target, n, seed, *relations, factors, components))


def _factors(state: ModelState, feature: Feature) -> Iterator[tuple[str, Sequence[float | None]]]:
    """For each class its label, and the means and the Cholesky factor, row by row, of several numbers.

    If no row has had all numbers, there is one of no class.
    """
    family: Any = feature.family
    columns, quoted = feature.columns, family.quoted_columns
    found: dict[str, dict[str, tuple[float, float]]] = {}
    for label, value, mean, covariance in state.engine.query_macro(
        "covariances_to_factor", state.plan.relations["likelihoods"], feature
    ):
        found.setdefault(label, {})[value] = mean, covariance
    if not found:
        yield "", [None] * (len(columns) * (len(columns) + 3) // 2)
    for label, entries in found.items():
        factor: list[list[float]] = []
        for j, column in enumerate(columns):
            row: list[float] = []
            for k in range(j):
                rest = entries[f"[{quoted[k]},{quoted[j]}]"][1] - sum(map(mul, row, factor[k]))
                row.append(rest / factor[k][k] if factor[k][k] else 0.0)
            factor.append([*row, math.sqrt(max(entries[column][1] - sum(map(mul, row, row)), 0.0))])
        yield label, [*(entries[column][0] for column in columns), *chain.from_iterable(factor)]


def _columns_to_draw(spec: Spec, gate: Any) -> Iterator[_DrawnFeature]:
    """The features to draw. A column of several features is drawn once, by the feature over several columns."""
    together = {column for feature in spec.features if feature.family.over_columns for column in feature.columns}
    for feature in spec.features:
        if feature.family.over_columns or feature.column not in together:
            types = [kind or usual_type(feature) for kind in feature.types or [""] * len(feature.columns)]
            columns = [
                _Column(name, castable_type(kind, gate), position)
                for position, (name, kind) in enumerate(zip(feature.columns, types, strict=True))
            ]
            yield _DrawnFeature(feature, columns)


def usual_type(feature: Feature) -> str | None:
    """The type of a column whose own is not known: that of whole numbers, or None."""
    return "BIGINT" if feature.whole else None


def castable_type(kind: str | None, gate: Any) -> Markup | None:
    """A type of a spec, for a statement; None if it is unknown or an ENUM."""
    return gate(kind) if kind is not None and _TYPE.fullmatch(kind) else None
