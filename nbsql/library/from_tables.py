"""Models of given probabilities: from an expert, a book or another system. They have no counts."""

import math
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import groupby
from operator import itemgetter
from typing import Any

from markupsafe import Markup

from nbsql.engines.connect import Connection
from nbsql.engines.engine import Engine
from nbsql.engines.source import Source
from nbsql.errors import InputError, listed, suggestion
from nbsql.family import Categorical, Family, Gaussian, Joint, Poisson, all_named
from nbsql.family.checks import finite, label, shortest
from nbsql.library.given_covariances import cells_of_matrices, rows_of_matrix
from nbsql.model import Model
from nbsql.model.destination import key_columns, open_place
from nbsql.plan import Entry
from nbsql.rendering.dialect import folded
from nbsql.spec.spec import Feature, Prior, Spec
from nbsql.spec.used import check_families_used
from nbsql.warn import warn_user

TOLERANCE = 1e-6  # by which a sum of probabilities may differ from 1
# A Boolean, a number, a date, a time, or an interval of days.
NO_WORD = re.compile(r"true|false|[-+\d.:eE T]+|[-+]?(nan|inf(inity)?)|-?\d+ (day|mon|year)\D*.*", re.IGNORECASE)
_WHOLE = re.compile("0|-?[1-9][0-9]*")  # not 02134, a text
_TYPES: dict[type, str] = {str: "string", bool: "boolean", int: "bigint", float: "double"}
GIVEN_DEFAULTS = {"alpha": 0.0, "nulls": "skip", "unseen": "skip"}
_NUMBERS = ("likelihood", "log_likelihood", "mean", "variance", "rate")
_EMPTY = dict.fromkeys(("label", "feature", "value", *_NUMBERS))
_KINDS = {  # the kinds of rows of likelihoods, and what each must hold
    "values": "a likelihood a value",
    "moments": "a mean and a variance",
    "rate": "a rate",
    "covariance": "a covariance matrix",
}


def from_tables(
    con: Connection,
    *,
    priors: Any,
    likelihoods: Any = None,
    families: Mapping[str, str | Family] | None = None,
    logarithms: bool = False,
    target: str = "class",
    id: str | Sequence[str] = (),
    name: str | None = None,
    replace: bool = False,
    database: str | None = None,
) -> Model:
    """The model of given probabilities: from an expert, a book or another system. Nothing is estimated.

    It predicts, explains and evaluates like any other, in SQL too. It cannot learn, since it has no counts. A value without a
    likelihood in any class is left out of the score; a value without a likelihood in some classes has likelihood 0 there.

    Args:
        con: a connection, session, path or address, as `nbsql.fit` takes it.
        priors: {class: probability}, or a relation or frame with the columns class and prior.
        likelihoods: {class: {feature: {value: likelihood}}}; for numbers, {"mean": m, "variance": v} or {"rate": r}. A tuple
            of columns is a feature whose values are tuples or, with {"mean": [...], "covariance": [[...], ...]}, a feature of
            several numbers. Or a relation or frame with the columns class, feature, and value and likelihood, or mean and
            variance, or rate, as in `Model.likelihoods`. There, a list as value belongs to `nbsql.Joint`, and a pair of
            columns, '["a","b"]', has their covariance as its variance.
        families: the families of features that are not categorical (values), Gaussian (mean and variance) or Poisson (rate).
        logarithms: whether the likelihoods of values are natural logarithms, of any sign: of densities, or weights of another
            library. In a relation they are in the column log_likelihood, which is also read if there is no column likelihood.
        target: the name of the predicted column in rows whose class is known.
        id: the key column or columns, which are returned by `explain`.
        name: the name of the model; None makes a transient model.
        replace: whether to replace an existing model of that name.
        database: the attached database to store the model in; None is the current one.

    Raises:
        InputError: a number is not a probability, the priors do not sum to 1, or a class lacks a feature.
        ModelError: the name is taken.

    >>> import duckdb
    >>> day = {"yes": {"wind": {"weak": 0.75, "strong": 0.25}}, "no": {"wind": {"weak": 0.5, "strong": 0.5}}}
    >>> model = from_tables(duckdb.connect(), priors={"yes": 0.5, "no": 0.5}, likelihoods=day)
    >>> model.predict("SELECT 'weak' AS wind").fetchall()[0][:2]
    ('weak', 'yes')
    """
    ids, families_by_name = key_columns(id), all_named({} if families is None else families)
    with open_place(con, name, database, replace=replace) as place, place.engine.temporaries() as temporary:
        engine = place.engine
        check_families_used(families_by_name, estimates=False)
        with _rows_of_priors(engine, priors) as (query, source):
            classes = engine.create("priors", temporary("priors"), query)
        kind = next(column.type for column in engine.columns(classes) if column.name == "class")
        with _rows_of_likelihoods(engine, likelihoods, families_by_name, logarithms=logarithms) as query:
            given = engine.create("likelihoods", temporary("likelihoods"), query)
        covariances = engine.query_macro("given_covariances", given)
        if covariances:
            rows = [_EMPTY | row for row in cells_of_matrices(covariances, families_by_name)]
            query = engine.renderer.fragment("with_given_pairs", given, rows)
            given = engine.create("likelihoods", temporary("pairs"), query)
        labels, sums = _checked_labels(engine, classes), engine.query_macro("given_sums", given)
        for of_class, feature, _ in sums:
            if feature is None or of_class is None:
                raise InputError("likelihoods has a row without a class or a feature; leave it out")
            if of_class not in labels:
                raise InputError(f"class {of_class!r} has likelihoods and no prior; give every class a prior")
        features = _features(engine, given, families_by_name)
        _check_likelihoods(engine, given, features)
        _check_sums(labels, sums)
        spec = Spec(target, features, Prior("given"), ids, target_type=kind, given=True, defaults=GIVEN_DEFAULTS)
        cells = engine.renderer.fragment("given_cells", classes, given)
        return place.publish(*place.derive(spec, cells, [Entry(1, "1", "given", source, 0)]))


# The arguments, as relations. ------------------------------------------------------------------------------------------


@contextmanager
def _rows_of_priors(engine: Engine, priors: Any) -> Iterator[tuple[Markup, str]]:
    """The query of class, label (as text) and prior, and the name of the source in the ledger."""
    if isinstance(priors, Mapping):
        priors = {_scalar(name): p for name, p in priors.items()}
        rows = [(label(name), finite(p, f"the prior of class {name!r}")) for name, p in priors.items()]
        if not rows:
            raise InputError("priors is empty; name at least one class: {'yes': 0.3, 'no': 0.7}")
        kinds = {type(name) for name in priors}
        if len(kinds) > 1 or not kinds <= set(_TYPES):
            raise InputError(f"the classes must be all text, or all numbers, not {listed(map(str, priors))}")
        kind = _TYPES[kinds.pop()]
        render = engine.renderer
        sql_type = render.fragment(kind) if kind in ("string", "double") else render.dialect.word(kind)
        yield render.fragment("given_prior_rows", rows, sql_type), "a dict"
        return
    with _source(engine, priors, "priors", ("class", "prior")) as data:
        classes = next(column for column in data.columns if folded(column.name) == "class")
        if classes.kind in ("tokens", "token counts", "other"):
            raise InputError(f"column 'class' of priors is {classes.type}; a class is one scalar value: cast it, to text say")
        yield engine.renderer.fragment("given_priors_of", data.relation, classes.type), data.label


@contextmanager
def _rows_of_likelihoods(
    engine: Engine, likelihoods: Any, families: dict[str, Family], *, logarithms: bool
) -> Iterator[Markup]:
    """The query of label, feature, value and the numbers. Adds the families that the keys imply to `families`."""
    if likelihoods is None:
        likelihoods = {}
    if isinstance(likelihoods, Mapping):
        yield engine.renderer.fragment(
            "given_likelihood_rows", list(_likelihood_rows(likelihoods, families, logarithms=logarithms))
        )
        return
    with _source(engine, likelihoods, "likelihoods", ("class", "feature")) as data:
        kinds = {folded(column.name): column.kind for column in data.columns}
        if logarithms and "log_likelihood" not in kinds:
            raise InputError(
                "likelihoods has no column 'log_likelihood', which logarithms=True reads; add it, or leave that out"
            )
        for name in {"likelihood"} if logarithms else {"log_likelihood"} if "likelihood" in kinds else set():
            kinds.pop(name, None)
        yield engine.renderer.fragment("given_likelihoods_of", data.relation, [*kinds], kinds.get("value"))


@contextmanager
def _source(engine: Engine, source: Any, argument: str, needed: Sequence[str]) -> Iterator[Source]:
    with engine.source(source) as data:
        names = [column.name for column in data.columns]
        for name in needed:
            if name not in map(folded, names):
                raise InputError(
                    f"{argument} has no column {name!r}{suggestion(name, names) or f'; it needs {listed(needed)}'}, "
                    f"or give a dict"
                )
        for column in data.columns:
            if folded(column.name) in ("prior", *_NUMBERS) and not column.is_number:
                raise InputError(f"column {column.name!r} of {argument} is {column.type}; it must hold numbers: cast it")
        yield data


def _likelihood_rows(
    likelihoods: Mapping[Any, Any], families: dict[str, Family], *, logarithms: bool = False
) -> Iterator[dict[str, Any]]:
    """The rows of {class: {feature: {value: likelihood}}}."""
    for given, features in likelihoods.items():
        name = _scalar(given)
        if not isinstance(features, Mapping):
            raise InputError(
                f"likelihoods of class {name!r} must be a dict {{feature: {{value: likelihood}}}}, not {features!r}"
            )
        for key, values in features.items():
            feature = key
            if isinstance(key, tuple):
                feature = ", ".join(map(str, key))
                if not _is_covariance(values):
                    families.setdefault(feature, Joint(key))
            if not isinstance(feature, str):
                raise InputError(f"a feature's name must be text, or a tuple of columns, not {key!r}")
            where = f"feature {feature!r} of class {name!r}"
            if not isinstance(values, Mapping) or not values:
                raise InputError(
                    f"{where} must be a dict, {{value: likelihood}}, {{'mean': m, 'variance': v}} or {{'rate': r}}"
                )
            row = _EMPTY | {"label": label(name), "feature": feature}
            family = families.get(feature)
            if _is_covariance(values):
                named = key if isinstance(key, tuple) else (key,)
                columns = family.columns if family is not None and family.over_columns else named
                yield from (row | part for part in rows_of_matrix(where, columns, values["mean"], values["covariance"]))
                continue
            if set(values) in ({"mean", "variance"}, {"rate"}) and (family is None or _likelihood_kind(family) != "values"):
                yield row | {part: finite(number, f"the {part} of {where}") for part, number in values.items()}
                continue
            for value, likelihood in values.items():
                what = f"the likelihood of {value!r}, {where}"
                if logarithms and likelihood != -math.inf:
                    yield row | {"value": _value_text(value), "log_likelihood": finite(likelihood, what)}
                else:
                    yield row | {"value": _value_text(value), "likelihood": 0.0 if logarithms else finite(likelihood, what)}


def _is_covariance(values: Any) -> bool:
    return (
        isinstance(values, Mapping) and set(values) == {"mean", "covariance"} and not isinstance(values["mean"], (int, float))
    )


def _scalar(value: Any) -> Any:
    """A numpy scalar as a Python value; any other value unchanged."""
    return value.item() if type(value).__module__ == "numpy" and hasattr(value, "item") else value


def _value_text(value: Any) -> str | list[str | None] | None:
    if isinstance(value, tuple):
        return [None if part is None else shortest(part) for part in value]
    return None if value is None else shortest(value)


# Checks. ----------------------------------------------------------------------------------------------------------------


def _checked_labels(engine: Engine, classes: Markup) -> list[str]:
    """The labels of the priors. Raises InputError unless each has one, and they sum to 1."""
    rows = engine.query_macro("given_prior_check", classes)
    if not rows:
        raise InputError("priors is empty; name at least one class")
    for name, times, prior in rows:
        if name is None:
            raise InputError("priors has a row without a class; leave it out")
        if times > 1:
            raise InputError(f"class {name!r} has {times} priors; give it one")
        if prior is None or not 0 <= prior <= 1:
            raise InputError(f"the prior of class {name!r} is {_format_number(prior)}; a probability lies between 0 and 1")
    total = math.fsum(row[2] for row in rows)
    if abs(total - 1) > TOLERANCE:
        raise InputError(f"the priors sum to {total:.12g}; they must sum to 1: divide each by {total:.12g}")
    return [row[0] for row in rows]


def _check_likelihoods(engine: Engine, given: Markup, features: Sequence[Feature]) -> None:
    families = {feature.name: feature.family for feature in features}
    for name, feature, value, times, likelihood, mean, variance, rate, log in engine.query_macro(
        "given_likelihood_check", given
    ):
        where = f"feature {feature!r} of class {name!r}"
        what = f"value {value!r} of {where}" if value is not None else where
        if times > 1:
            raise InputError(f"{what} is given {times} times; give it once")
        if log is not None and not log < math.inf:
            raise InputError(f"the log-likelihood of {what} is {_format_number(log)}; it must be a number below infinity")
        if log is None and likelihood is not None and not 0 <= likelihood <= 1:
            raise InputError(f"the likelihood of {what} is {_format_number(likelihood)}; a probability lies between 0 and 1")
        if mean is not None and not math.isfinite(mean):
            raise InputError(f"the mean of {where} is {_format_number(mean)}; it must be finite")
        if variance is not None and not 0 < variance < math.inf:
            raise InputError(f"the variance of {where} is {_format_number(variance)}; it must be above 0")
        if rate is not None and not 0 < rate < math.inf:
            raise InputError(f"the rate of {where} is {_format_number(rate)}; it must be above 0")
        families[feature].check_given(where, mean, variance, rate)


def _check_sums(labels: Sequence[str], sums: Sequence[tuple[str, str, float | None]]) -> None:
    """Warn of likelihoods that do not sum to 1. Raises InputError unless every class has those of each feature."""
    for feature, rows in groupby(sums, key=itemgetter(1)):
        given = {name for name, *_ in rows}
        missing = [name for name in labels if name not in given]
        if missing:
            raise InputError(f"feature {feature!r} has nothing for class {missing[0]!r}; every class needs its likelihoods")
    totals = [(name, feature, total) for name, feature, total in sums if total is not None]
    incomplete = [f"{feature} of {name} ({total:.6g})" for name, feature, total in totals if abs(total - 1) > TOLERANCE]
    if incomplete:
        warn_user(f"likelihoods do not sum to 1 in {listed(incomplete)}; what is not given is left out of the score")


def _features(engine: Engine, given: Markup, families_by_name: Mapping[str, Family]) -> tuple[Feature, ...]:
    """The features, in the order of their names."""
    features: list[Feature] = []
    for name, rows in groupby(engine.query_macro("given_features", given), key=itemgetter(0)):
        described = [row[1:] for row in rows]
        kinds = {kind for _, kind in described}
        values = {value for value, kind in described if value is not None or kind == "values"}
        if name in families_by_name:
            _check_is_given(name, families_by_name[name])
        if None in kinds or len(kinds) > 1:
            ways = " or ".join(_KINDS.values())
            raise InputError(f"feature {name!r} must have {ways} in every row, and one of them only")
        (kind,) = kinds
        category = Categorical(nulls="category" if None in values else None)
        inferred: dict[str, Family] = {"moments": Gaussian(), "rate": Poisson(), "values": category}
        family = families_by_name[name] if name in families_by_name else inferred[kind]
        _check_family(name, family, kind, values)
        missing_counts = None in values or family.cell == "list"  # a list with a gap is a value if it is given
        family = family.with_defaults(alpha=0.0, nulls="category" if missing_counts else "skip", unseen="skip")
        columns = tuple(family.columns) or (name,)
        whole = kind == "values" and all(value is None or _WHOLE.fullmatch(value) for value in values)
        features.append(
            Feature(
                name,
                family,
                columns,
                len(features) + 1,
                floating=kind == "covariance",
                whole=whole,
                # Most rows are assumed to be complete. Rows with gaps, and classes far apart, are detected when scored.
                is_complete=family.kind == "density" and family.centred,
                has_near_means=family.kind == "density" and family.centred,
                types=_types(engine, family, columns, values),
            )
        )
    for name in families_by_name:
        if name not in {feature.name for feature in features}:
            hint = suggestion(name, [feature.name for feature in features])
            raise InputError(f"⟨families⟩ names {name!r}, which has no likelihoods{hint}")
    return tuple(features)


def _types(engine: Engine, family: Family, columns: Sequence[str], values: Collection[str | None]) -> tuple[str, ...]:
    """The assumed types of columns that were not read; unknown for values that may be of several types."""
    are_words = any(value is not None and not NO_WORD.fullmatch(value) for value in values)
    usual = str(engine.renderer.fragment("string" if _likelihood_kind(family) == "values" else "double"))
    if _likelihood_kind(family) == "values" and (len(columns) > 1 or not are_words):
        usual = ""
    if family.is_integer:
        usual = "BIGINT"
    return ("BOOLEAN" if family.cell == "boolean" else usual,) * len(columns)


def _likelihood_kind(family: Family) -> str:
    """The kind (a key of `_KINDS`) of a family's rows."""
    if family.kind == "matrix":
        return "covariance"
    return "values" if family.kind != "density" or family.zeros else "moments" if family.centred else "rate"


def _check_is_given(name: str, family: Family) -> None:
    """Raise InputError if probabilities do not make up the family."""
    weighs = family.complement or family.presence or family.tfidf or family.best or family.least_count
    if weighs or family.zeros or family.fit_query is not None or family.parent or family.kind == "pairs":
        raise InputError(f"family {family.name!r} of {name!r} needs counts, which probabilities have not; fit it to rows")


def _check_family(name: str, family: Family, kind: str, values: Collection[str | None]) -> None:
    title = f"family {family.name!r} of {name!r}"
    if family.over_columns and not family.columns:
        raise InputError(
            f"{title} is of several columns; name them, ⟨families={{{name!r}: nbsql.{type(family).__name__}([...])}}⟩"
        )
    if family.unseen == "smooth":
        raise InputError(f"{title} cannot smooth values never seen without counts; leave out ⟨unseen='smooth'⟩")
    if _likelihood_kind(family) != kind:
        raise InputError(f"{title} takes {_KINDS[_likelihood_kind(family)]}, not {_KINDS[kind]}")
    needed = [value for value, _ in family.declared] if family.cell in ("boolean", "column") else []
    missing = [value for value in needed if value not in values]
    if missing:
        raise InputError(f"{title} needs a likelihood of {missing[0]!r}")


def _format_number(number: float | None) -> str:
    return "NULL" if number is None else f"{number:g}"
