"""The counts of a fit for an engine that no model lives in: one SELECT of the cells of a source, in its dialect."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from nbsql.engines.engine import Engine
from nbsql.errors import ModelError, NotSupportedError
from nbsql.queries.standalone.foreign import category_kind, comparison_kind, judged_elsewhere, source_relation
from nbsql.rendering.dialect import Traits
from nbsql.rendering.renderer import Renderer
from nbsql.spec.capabilities import check
from nbsql.spec.spec import Feature, Spec
from nbsql.storage.state import ModelState

# What a cell belongs to -> how a row is read, and which cells it has (sql/macros/scoring/standalone/statistics.sql).
_COUNTED = {
    "number": ("density", "number"),
    "level": ("category", "value"),
    "boolean": ("bernoulli", "value"),
    "bin": ("binned", "value"),
    "column": ("counts", "column"),
}


@dataclass(frozen=True)
class _CountedFeature(Feature):
    """A feature as the macros count it."""

    shape: str = ""  # how its value is read from a row
    cells: str = ""  # what its cells are: one for each "value", "number" or "column"
    kind: str = ""  # the kind as which the values of a category are read


@dataclass(frozen=True)
class _Counting:
    """The data from which the macros render the counts: the target and its kind, the weight, and the features."""

    target: str
    kind: str
    weight: str | None
    features: Sequence[_CountedFeature]
    traits: Traits = field(repr=False)


def standalone_statistics(state: ModelState, source: Any, dialect: str) -> str:
    """The query of the statistics of a source of another engine: a table, or a SELECT in its dialect.

    Raises InputError for another source, ModelError or NotSupportedError if the model or a feature cannot be counted this way.
    """
    engine, spec = state.engine, state.spec
    check_countable(spec, state.title)
    renderer = Renderer(dialect, "standalone")
    features = [_counted_feature(engine, feature, dialect) for feature in spec.features]
    kind = comparison_kind(engine, spec.target_type)
    counting = _Counting(spec.target, kind, spec.weight, features, renderer.traits)
    relation = judged_elsewhere(spec, source_relation(source, renderer), renderer, engine.renderer.dialect.name)
    return renderer.statement("standalone_statistics", counting, relation)


def check_countable(spec: Spec, title: str) -> None:
    """Raise ModelError unless the model follows from counts of all rows, with one set of cells for each feature."""
    check(spec, "from_statistics", title)
    if spec.slice_by is not None:
        raise ModelError(f"{title} is cut into slices by an expression of its own engine; count the rows of each by a SELECT")


def _counted_feature(engine: Engine, feature: Feature, dialect: str) -> _CountedFeature:
    family = feature.family
    if family.cell not in _COUNTED:
        raise NotSupportedError(
            f"{feature.name!r} is {family.name}, which is not counted in the dialect {dialect!r}; leave it out of the model, "
            "or fit it on DuckDB"
        )
    shape, cells = _COUNTED[family.cell]
    if shape == "category":
        kind = category_kind(engine, feature, numbers=False)
    else:
        kind = comparison_kind(engine, feature.types[0]) if feature.types else "boolean"
    return _CountedFeature(**vars(feature), shape=shape, cells=cells, kind=kind)
