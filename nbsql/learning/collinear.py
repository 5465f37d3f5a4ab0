"""Checks for covariance matrices that have no inverse, before anything is written."""

from collections.abc import Sequence

from markupsafe import Markup

from nbsql.engines.engine import Engine
from nbsql.errors import InputError, listed
from nbsql.learning.draft import Draft
from nbsql.plan.context import Context
from nbsql.spec.spec import Feature, Spec


def features_with_covariance(spec: Spec) -> list[Feature]:
    return [feature for feature in spec.features if feature.family.kind == "matrix"]


def check_covariances(engine: Engine, spec: Spec, *cells: Markup) -> None:
    """Raise InputError if a covariance matrix of a model to be made has no inverse; the message names the dependent columns.

    The union of the queries `cells` is the cells of the model.
    """
    for feature in features_with_covariance(spec):
        statistics = engine.renderer.fragment("subquery", engine.renderer.fragment("union_of_rows", cells))
        for label, numbers in engine.query_macro("collinear_columns", Context.of(spec), statistics, feature):
            raise InputError(_collinear_message(feature, label, [feature.columns[i - 1] for i in numbers]))


def _collinear_message(feature: Feature, label: str, columns: Sequence[str]) -> str:
    where = "within the classes" if feature.family.degree == 1 else f"in class {label!r}"
    what = f"{columns[0]!r} does not vary" if len(columns) == 1 else f"{listed(columns)} are collinear"
    leave = f"leave {'it' if len(columns) == 1 else 'one of them'} out"
    if not feature.family.shrinkage:  # more shrinkage does not make a constant column vary
        leave += ", or use ⟨shrinkage=0.1⟩, say"
    elif feature.family.options["toward"] == "pooled" and len(columns) > 1:  # which are collinear in all classes
        leave += ", or use ⟨toward='identity'⟩"
    return f"{what} {where}, so the covariance matrix of {feature.name!r} has no inverse; {leave}"


def check_matrices(draft: Draft) -> Draft:
    """The step of a fit that raises InputError if a covariance matrix of the scanned rows has no inverse."""
    features = features_with_covariance(draft.spec)
    if not features:
        return draft
    moments = draft.temporary("moments")
    draft.write(draft.count.moments(moments, features))
    check_covariances(draft.engine, draft.spec, draft.engine.renderer.fragment("cells_of", moments))
    return draft
