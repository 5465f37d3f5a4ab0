"""Training rows scored by models that have not seen them: models of the other folds, or of all other rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from decimal import Decimal
from typing import Any

from markupsafe import Markup

from nbsql.engines.source import Source
from nbsql.errors import InputError
from nbsql.evaluation.leave_one_out import check_folds
from nbsql.evaluation.refitted_folds import make_folds_for_spec
from nbsql.plan.context import Context
from nbsql.spec.rules import spec_for_recount
from nbsql.storage.state import ModelState


@contextmanager
def out_of_fold(
    state: ModelState, source: Source, folds: int | str, cure: str, *, has_known: bool = False
) -> Iterator[tuple[Context, Markup, Markup, str | None]]:
    """The context, the rows of `out_of_fold` (folds.sql), the relation that numbers their classes, and the weight column.

    The source has all rows that the model has learnt; `cure` is what the message advises for other rows. With `has_known`, the
    rows have nbsql_known (sql/macros/scoring/certain.sql). Raises InputError for other rows, or if no row can be left out of
    one of the families.
    """
    check_folds(folds)
    engine, plan, title = state.engine, state.plan, state.title
    if plan.spec.half_life is not None:
        raise InputError(f"{title} has counts that decrease with age, which folds of its rows do not support; {cure}")
    # Bins and parents must not depend on the fold that is judged.
    spec = plan.spec if isinstance(folds, str) else plan.spec.without_fitted()
    spec = replace(spec_for_recount(spec, source.columns, source.label, title, exact=engine.exact), slice_by=None)
    learnt_weight = engine.query_macro("rows_learnt", plan.relations["statistics"])[0][0]
    renderer = engine.renderer
    with engine.temporaries() as temporary:
        cv = make_folds_for_spec(engine, source, spec, temporary, folds=folds, fold=None)
        counted_weight = sum(float(label[3]) for label in cv.labels)
        if abs(counted_weight - learnt_weight) > 1e-9 * learnt_weight:
            raise InputError(
                f"{source.label} counts {counted_weight:g} rows, and {title} has learnt {learnt_weight:g}; "
                f"folds need all rows that it has learnt, and no others; {cure}"
            )
        known = {_key(column.label, value) for column, value in zip(state.classes, state.labels(), strict=True)}
        if {*spec.classes, *(_key(*label[:2]) for label in cv.labels)} != known | {*spec.classes}:
            raise InputError(f"the classes of {source.label} are not those that {title} has learnt; {cure}")
        query = renderer.fragment("numbered_classes", plan.context(state.classes), plan.relations["parameters"])
        numbered_classes = cv.create("classes", query)
        parts = (cv.models(part, names) for part, names in cv.parts(cv.specs[0]))
        scored = cv.create_from_queries(
            "out of fold", (cv.outcomes(models, numbered_classes, has_known=has_known) for models in parts)
        )
        yield Context.of(spec, wide=False), scored, numbered_classes, spec.weight


def _key(text: str, value: Any) -> Any:
    """What tells a class from others: its text, but that of a decimal depends on its digits, such as 1.00."""
    return value if isinstance(value, Decimal) else text


def judged_by_folds(
    state: ModelState, source: Source, folds: int | str, cure: str, temporary: Callable[[str], Markup], *, weighted: bool = True
) -> Markup:
    """The common table expressions of the evaluated rows (evaluate.sql), each scored by a model without it.

    The arguments are those of `out_of_fold`; `weighted` says whether rows weigh as in the fit. The two tables that they read
    are named by `temporary`.
    """
    engine = state.engine
    with out_of_fold(state, source, folds, cure) as (context, scored, known, weight):
        rows = engine.create("score", temporary("rows out of fold"), engine.renderer.fragment("all_rows", scored))
        known = engine.create("score", temporary("classes"), engine.renderer.fragment("all_rows", known))
    return engine.renderer.fragment("judged_rows", context, rows, known, weight if weighted else None, False)
