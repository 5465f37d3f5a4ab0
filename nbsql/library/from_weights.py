"""Models of given weights: a linear or quadratic form. They have no counts."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from nbsql.engines.connect import Connection
from nbsql.engines.engine import Engine
from nbsql.engines.source import Source
from nbsql.errors import InputError, listed, suggestion
from nbsql.family import Categorical, Family, Text, Weighted, all_named
from nbsql.learning.declared import declared_labels
from nbsql.library.from_tables import GIVEN_DEFAULTS, NO_WORD
from nbsql.model import Model
from nbsql.model.destination import Destination, key_columns, open_place
from nbsql.plan import Entry, Plan
from nbsql.plan.classes import ClassColumn
from nbsql.rendering.dialect import folded
from nbsql.spec.method import Logistic
from nbsql.spec.spec import Feature, Prior, Spec
from nbsql.spec.used import check_families_used
from nbsql.storage.type_conversion import with_types_of_engine

_COLUMNS = ("class", "feature", "value", "times", "weight")
_NUMBERS = ("x", "x^2")
_PRODUCT = "x y"
_VALUES = ("is", "unseen")
_TOKENS = ("count", "has")
_TIMES = ("1", *_NUMBERS, _PRODUCT, *_VALUES, *_TOKENS)


def from_weights(
    con: Connection,
    weights: Any,
    *,
    classes: Sequence[Any] | None = None,
    families: Mapping[str, str | Family] | None = None,
    target: str = "class",
    id: str | Sequence[str] = (),
    name: str | None = None,
    replace: bool = False,
    database: str | None = None,
) -> Model:
    """The model of given weights: the inverse of `Model.linear` and `Model.quadratic`.

    The score of a class is the sum of its weights, each multiplied by what `times` takes from the row; posteriors are the
    softmax of the scores. The model predicts, explains and evaluates like any other, in SQL too. It cannot learn, since it
    has no counts.

    Args:
        con: a connection, session, path or address, as `nbsql.fit` takes it.
        weights: a relation, frame or dict of columns: class, feature (NULL for the bias), value, times, weight, as in
            `Model.linear`. times is "1" for the bias; "x" or "x^2" for a number, whose column is the value, or the feature if
            there is no value; "x y" for the product of that column and the column `other`; "is" for a value of a category
            (NULL: where it is missing), "unseen" for a value without a weight; "count" or "has" for a token. An optional
            column `mean` is subtracted from a number, or a product, first, so that a missing one counts as the mean; for a
            token it is the idf.
        classes: the labels; needed if the weights name only one of two classes, as those of `Model.linear` do.
        families: the families of features that are neither categories ("is") nor texts ("count", "has"), such as
            `nbsql.Text(ngrams=2)` or `nbsql.Tokens()`, or of a category over several columns, `nbsql.Joint`.
        target: the name of the predicted column in rows whose class is known.
        id: the key column or columns, which are returned by `explain`.
        name: the name of the model; None makes a transient model.
        replace: whether to replace an existing model of that name.
        database: the attached database to store the model in; None is the current one.

    Raises:
        InputError: a column is missing, a weight is not finite or given twice, or `times` is none of these.
        ModelError: the name is taken.

    >>> import duckdb
    >>> odds = {"class": ["yes"] * 2, "feature": [None, "wind"], "value": [None] * 2, "times": ["1", "x"], "weight": [-1, 0.5]}
    >>> model = from_weights(duckdb.connect(), odds, classes=["no", "yes"])
    >>> model.predict("SELECT 2e0 AS wind").fetchall()
    [(2.0, 'no', 0.5)]
    """
    ids = key_columns(id)
    with open_place(con, name, database, replace=replace) as place:
        with place.engine.source(weights) as source:
            check_families_used(families or {}, estimates=False)
            plan = derive_from_weights(place, source, classes, families or {}, target, ids, source.label)
        return place.publish(*plan)


def derive_from_weights(
    place: Destination,
    source: Source,
    classes: Sequence[Any] | None,
    families: Mapping[str, str | Family],
    target: str,
    ids: tuple[str, ...],
    title: str,
    types: Mapping[str, str] | None = None,
) -> tuple[Plan, list[ClassColumn]]:
    """The plan and the classes of the model, which is made but not yet published.

    Labels and families may be given; `types` has the types of the columns of categories, as DuckDB names them, and `title` is
    the name of the source in the ledger.
    """
    engine = place.engine
    render = engine.renderer.fragment
    kinds = {folded(column.name): column for column in source.columns}
    for column in _COLUMNS:
        if column not in kinds:
            raise InputError(f"weights has no column {column!r}{suggestion(column, kinds)}; it needs {listed(_COLUMNS)}")
    with engine.temporaries() as temporary:
        staged = engine.create("weights", temporary("weights"), render("given_weights_of", source.relation, list(kinds)))
        labels = [row[0] for row in engine.query_macro("given_weight_classes", staged)]
        if classes is not None:
            labels_given = [row[0] for row in declared_labels(engine, classes, target, kinds["class"].type)]
            for name in labels:
                if name not in labels_given:
                    raise InputError(f"weights are of class {name!r}, which is none of classes{suggestion(name, labels_given)}")
            labels = labels_given
        if len(labels) < 2:
            raise InputError("weights tell two classes or more apart; name all labels in classes")
        features = _features(engine, staged, families, types or {})
        rows = [(name, 1 / len(labels)) for name in labels]
        query = render("given_prior_rows", rows, engine.renderer.dialect.query(kinds["class"].type))
        priors = engine.create("priors", temporary("priors"), query)
        given = engine.create("likelihoods", temporary("likelihoods"), render("given_likelihood_rows", []))
        spec = Spec(
            target, features, Prior("given"), ids,
            target_type=kinds["class"].type, given=True, logistic=Logistic(), defaults=GIVEN_DEFAULTS,
        )  # fmt: skip
        return place.derive(
            spec,
            render("given_cells", priors, given),
            [Entry(1, "1", "given", title, 0)],
            weights=render("given_weights", staged, priors),
        )


def _features(
    engine: Engine, staged: Any, families: Mapping[str, str | Family], types: Mapping[str, str]
) -> tuple[Feature, ...]:
    """The features of the weights, in the order of their names."""
    families_by_name = all_named(families)
    times: dict[str, set[str]] = {}
    missing: set[str] = set()
    types = dict(types)
    for feature, kind, has_null, times_given, wrong, *ends in engine.query_macro("given_weight_kinds", staged):
        where = "the bias" if feature is None else f"{feature!r}"
        if kind not in _TIMES:
            raise InputError(f"weights of {where} have times {kind!r}, which is none of {listed(_TIMES)}")
        if (feature is None) != (kind == "1"):
            raise InputError(f"weights of {where} have times {kind!r}; the bias has '1' and no feature, all others a feature")
        if kind == _PRODUCT and None in json.loads(feature):
            raise InputError("weights have times 'x y', of two columns; name one as 'value', or 'feature', and one as 'other'")
        if wrong:
            raise InputError(f"a weight of {where} is not a finite number; correct it, or leave it out")
        if times_given > 1:
            raise InputError(f"a weight of {where} is given {times_given} times; give it once")
        if feature is not None:
            times.setdefault(feature, set()).add(kind)
            missing |= {feature} if kind == "is" and has_null else set()
            is_level = families_by_name.get(feature, Categorical()).cell == "level"
            if kind == "is" and is_level and any(value and not NO_WORD.fullmatch(value) for value in ends):
                types.setdefault(feature, "VARCHAR")  # words, and bins without their family, are no values of a number
    for name in families_by_name:
        if name not in times:
            raise InputError(f"⟨families⟩ names {name!r}, which has no weights{suggestion(name, times)}")
    if not times:
        raise InputError("weights has a bias only; give the weights of a feature")
    features = (
        _feature(name, index, kinds, families_by_name.get(name), missing=name in missing, kind_of_values=types.get(name, ""))
        for index, (name, kinds) in enumerate(times.items(), start=1)
    )
    return with_types_of_engine(features, "DuckDB", engine.title)


def _feature(
    name: str, index: int, times: set[str], family_given: Family | None, *, missing: bool, kind_of_values: str
) -> Feature:
    """The feature of weights with these values of `times`."""
    if times <= set(_NUMBERS):
        is_binary = family_given is not None and family_given.cell == "boolean"
        family: Family = Weighted(squared="x^2" in times, binary=is_binary)
        fits, kind = family_given is None or is_binary, "BOOLEAN" if family_given else "DOUBLE"
    elif times == {_PRODUCT}:
        family, fits, kind = Weighted(product=True), family_given is None, "DOUBLE"
    elif times <= set(_VALUES):
        family = family_given or Categorical()
        fits, kind = family.level and not family.least_count, kind_of_values
    elif len(times) == 1 and times <= set(_TOKENS):
        family = family_given or Text(event="bernoulli" if times == {"has"} else "multinomial")
        fits = family.bag and family.presence == (times == {"has"})
        kind = {"tokens": "VARCHAR[]", "token counts": "MAP(VARCHAR, DOUBLE)"}.get(family.accepts[0], "VARCHAR")
    else:
        raise InputError(f"weights of {name!r} have times {listed(sorted(times))}, which no one family has; name two features")
    if not fits:
        raise InputError(
            f"family {family_given} of {name!r} is not scored by times {listed(sorted(times))}; leave it out of ⟨families⟩"
        )
    family = family.with_estimate("mean").with_defaults(
        alpha=1.0, nulls="category" if missing else "skip", unseen="smooth" if "unseen" in times else "skip"
    )
    columns = tuple(family.columns) if family.over_columns else (name,)
    if times == {_PRODUCT}:
        columns = tuple(json.loads(name))
    return Feature(
        name, family, columns, index, floating=kind == "DOUBLE", whole=kind == "BIGINT", types=(kind,) * len(columns)
    )
