"""Models derived from the cells of others: as of a batch, of some slices, merged, or read from a file."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from markupsafe import Markup

from nbsql.engines.connect import transient_relations
from nbsql.engines.engine import Engine
from nbsql.errors import InputError, ModelError, NoPartError, listed, suggestion
from nbsql.learning.collinear import check_covariances
from nbsql.learning.joins import dimensions_of_model
from nbsql.plan import Entry, Plan
from nbsql.plan.classes import ClassColumn
from nbsql.rendering.relations import Relations
from nbsql.spec.capabilities import check
from nbsql.spec.rules import are_written_alike, label_type
from nbsql.spec.spec import Feature, Spec
from nbsql.storage.schema import build, drop_replaced
from nbsql.storage.state import ModelState

_ALIKE = "fit one with the families of the other, ⟨families=model.families⟩"
_SEGMENTS = "⟨segment_by⟩ {%d.segment_by!r} (shrinkage {%d.segment_shrinkage:g})"
_DIFFERENCES = {  # what is said of two specs that differ in an attribute
    "prior": "one has the prior {0.prior.kind!r}, the other {1.prior.kind!r}, or with other numbers",
    "half_life": "one has the half-life {0.half_life}, the other {1.half_life}",
    "slice_by": "one has ⟨slice_by⟩ {0.slice_by!r}, the other {1.slice_by!r}",
    **dict.fromkeys(("segment_by", "segment_shrinkage"), f"one has {_SEGMENTS % (0, 0)}, the other {_SEGMENTS % (1, 1)}"),
    "components": "their classes are split into components, and not by the same centres",
}


def derive(
    engine: Engine,
    spec: Spec,
    cells: Markup,
    entries: Sequence[Entry],
    relations: Relations | None = None,
    replaces: tuple[str, str] | None = None,
    *,
    wide: bool | None = None,
    weights: Markup | None = None,
    origin: Relations | None = None,
) -> tuple[Plan, list[ClassColumn]]:
    """The plan and the classes of a model that is created from cells, inside the caller's transaction.

    The ledger has `entries`. The model is at `relations`, or transient, and replaces the one in the database and schema
    `replaces`. `wide` is the form of the tables that scoring reads, None to choose it by their size; `weights` is the query of
    its learnt weights, if it has any. `origin` is the model that the spec comes from, relative to whose database dimensions are
    named; None is the current database.
    """
    relations = relations or transient_relations(engine)
    if spec.joins:
        spec = replace(spec, joins=dimensions_of_model(engine, spec.joins, relations, origin))
    plan = Plan(engine.renderer, spec, relations)
    with engine.temporaries() as temporary:
        staged = engine.create("cells", temporary("cells"), cells)  # they may come from the model that is replaced
        check_covariances(engine, spec, engine.renderer.fragment("cells_of", staged))
        if replaces is not None:
            drop_replaced(engine, *replaces)
        if not relations.temporary:
            engine.run_all([plan.create_schema()])
        query = engine.renderer.fragment("cells_of", staged)
        engine.create("statistics", relations["statistics"], query, temporary=relations.temporary)
        if weights is not None:
            engine.create("weights", relations["weights"], weights, temporary=relations.temporary)
    return build(engine, plan, entries, wide=wide)


def slice_names(state: ModelState) -> list[str]:
    """The slices of a model, oldest first. Raises ModelError if it has none."""
    if state.spec.slice_by is None:
        raise NoPartError(f"{state.title} has no slices; fit it with ⟨slice_by=\"date_trunc('month', sent_at)\"⟩, say")
    return [row[0] for row in state.engine.query_macro("slices_in_order", state.relations["statistics"])]


def check_slice_names(state: ModelState, names: object) -> list[str | None]:
    """The names of slices, or of one, as text, and None for the rows without one.

    Raises InputError if no slice has that name, or if no name is given.
    """
    existing: list[str | None] = [*slice_names(state)]
    given = names if isinstance(names, Iterable) and not isinstance(names, str) else [names]
    texts = [None if name is None else str(name) for name in given]
    if None in texts:
        cells = state.engine.renderer.subquery("cells_of_slices", state.relations["statistics"], [None])
        existing += [None] if state.engine.query_value("rows_learnt", cells) else []
    for text in texts:
        if text not in existing:
            if text is None:
                raise InputError(f"{state.title} has no rows without a slice; it has the slices {listed(existing)}")
            hint = suggestion(text, filter(None, existing)) or f"; it has {listed(existing)}"
            raise InputError(f"no slice {text!r} in {state.title}{hint}")
    if not texts:
        raise InputError(f"name at least one slice; {state.title} has {listed(existing)}")
    return texts


def merge_specs(specs: Sequence[tuple[str, Spec]]) -> Spec:
    """The spec of merged models, each given by its name in messages and its spec. Raises ModelError unless they match."""
    (first, spec), *others = specs
    for title, each in specs:
        check(each, "merge", title)
    for title, other in others:
        reason = _describe_difference(spec, other)
        if reason is not None:
            raise ModelError(f"{first} and {title} cannot be merged: {reason}")
    if others:
        check(spec, "merge_several", f"{first} and {others[0][0]}")
    for _, other in others:
        spec = replace(spec, target_type=label_type(spec.target_type, other.target_type) or spec.target_type)
    return replace(spec, shared=tuple(dict.fromkeys(note for _, each in specs for note in each.shared)))


def _unlike(*features: Feature) -> list[str]:
    """What of each of two features the other one is not: the columns, the family or, in one family, its options."""
    if features[0].columns != features[1].columns:
        return [f"of {listed(each.columns)}" for each in features]
    names, options = [each.family.name for each in features], [each.family.options for each in features]
    if names[0] != names[1]:
        return names
    other = [name for name in options[0] if options[0][name] != options[1][name]]
    return [f"{names[0]} with {', '.join(f'{name}={each[name]!r}' for name in other)}" for each in options]


def _describe_difference(one: Spec, other: Spec) -> str | None:
    """What one of two models has and the other has not, in words; None if they can be merged."""
    if one.target != other.target or label_type(one.target_type, other.target_type) is None:
        return f"one predicts {one.target!r} ({one.target_type}), the other {other.target!r} ({other.target_type})"
    features = _describe_other_features(one, other)
    if features is not None:
        return features
    for name, text in _DIFFERENCES.items():
        if getattr(one, name) != getattr(other, name):
            return text.format(one, other)
    if one.classes != other.classes:
        descriptions = [listed(spec.classes) if spec.classes else "not named" for spec in (one, other)]
        return f"the classes of one are {descriptions[0]}, and of the other {descriptions[1]}"
    ours, theirs = ({each.name: each.expression for each in spec.derived} for spec in (one, other))
    for name in [*ours, *theirs]:
        if ours.get(name) != theirs.get(name):
            return f"one derives {name!r} as {ours.get(name)!r}, the other as {theirs.get(name)!r}"
    return None


def _describe_other_features(one: Spec, other: Spec) -> str | None:
    ours, theirs = ({feature.name: feature for feature in spec.features} for spec in (one, other))
    for name in [*ours, *theirs]:
        if name not in ours or name not in theirs:
            return f"only one of them has the feature {name!r}; {_ALIKE}"
        if ours[name].family != theirs[name].family or ours[name].columns != theirs[name].columns:
            sides = _unlike(ours[name], theirs[name])
            return f"feature {name!r} is {sides[0]} in one and {sides[1]} in the other; {_ALIKE}"
        for kinds in zip(ours[name].types, theirs[name].types, strict=False):
            if ours[name].is_category and not are_written_alike(*kinds):
                return f"feature {name!r} is {kinds[0]} in one and {kinds[1]} in the other, whose values are other texts"
    return None
