"""Checks for covariance matrices that have no inverse, before anything is written."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice

from markupsafe import Markup

from nbsql.engines.engine import Engine
from nbsql.engines.runner import Runner
from nbsql.errors import InputError, listed
from nbsql.learning.draft import Draft
from nbsql.spec.spec import Feature, Spec

MOST_COLUMNS = 64  # of a matrix whose dependent columns are all found, which takes an elimination each


class CollinearError(InputError):
    """A covariance matrix has no inverse."""

    columns: Mapping[str, str]  # without which it has one, and what is wrong with each; of a wide matrix the first only


def features_with_covariance(spec: Spec) -> list[Feature]:
    return [feature for feature in spec.features if feature.family.kind == "matrix"]


def check_covariances(engine: Engine, spec: Spec, *cells: Markup) -> None:
    """Raise InputError if a covariance matrix of a model to be made has no inverse; the message names the dependent columns.

    The union of the queries `cells` is the cells of the model.
    """
    for feature in features_with_covariance(spec):
        statistics = engine.renderer.subquery("union_of_rows", cells)
        most = len(feature.columns) if len(feature.columns) <= MOST_COLUMNS else 1
        found = list(islice(_collinear_columns(*engine.solver(statistics, [feature]), feature), most))
        if found:
            error = CollinearError(_collinear_message(feature, *found[0]))
            error.columns = {columns[-1]: _what_is_wrong(feature, label, columns) for label, columns in found}
            raise error


def _collinear_columns(engine: Runner, statistics: Markup, feature: Feature) -> Iterator[tuple[str, list[str]]]:
    """The classes and the dependent columns of a feature, each without the last of those before."""
    while rows := engine.query_macro("collinear_columns", statistics, feature):
        label, columns = rows[0][0], [feature.columns[i - 1] for i in rows[0][1]]
        yield label, columns
        if len(feature.columns) == 1:
            return
        feature = feature.without_column(columns[-1])


def _what_is_wrong(feature: Feature, label: str, columns: Sequence[str]) -> str:
    where = "within the classes" if feature.family.degree == 1 else f"in class {label!r}"
    return f"{f'{columns[0]!r} does not vary' if len(columns) == 1 else f'{listed(columns)} are collinear'} {where}"


def _collinear_message(feature: Feature, label: str, columns: Sequence[str]) -> str:
    leave = f"leave {'it' if len(columns) == 1 else 'one of them'} out"
    if not feature.family.shrinkage:  # more shrinkage does not make a constant column vary
        leave += ", or use ⟨shrinkage=0.1⟩, say"
    elif feature.family.options["toward"] == "pooled" and len(columns) > 1:  # which are collinear in all classes
        leave += ", or use ⟨toward='identity'⟩"
    return f"{_what_is_wrong(feature, label, columns)}, so the covariance matrix of {feature.name!r} has no inverse; {leave}"


def check_matrices(draft: Draft) -> Draft:
    """The step of a fit that raises InputError if a covariance matrix of the scanned rows has no inverse."""
    features = features_with_covariance(draft.spec)
    if not features:
        return draft
    moments = draft.temporary("moments")
    draft.write(draft.count.moments(moments, features))
    check_covariances(draft.engine, draft.spec, draft.engine.renderer.fragment("cells_of", moments))
    return draft
