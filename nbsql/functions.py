"""The functions by which a model is used in SQL where there are no macros over a table: of one row, given as JSON."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from markupsafe import Markup

from nbsql.context import ClassColumn
from nbsql.dialect import restore
from nbsql.plan.base import Rows

if TYPE_CHECKING:
    from nbsql.plan.scoring import Scoring

VERBS = {verb: verb for verb in ("predict", "predict_proba", "joint_log_likelihood", "log_evidence")}


def functions(
    plan: Scoring, classes: Sequence[ClassColumn], verbs: Mapping[str, str] = VERBS, calibration: str | None = None
) -> Iterator[tuple[str, str]]:
    """The statements that make them, by the name of the function (sql/macros/postgres/functions.sql).

    Args:
        plan: of the model.
        classes: its classes.
        verbs: of each function, by its name.
        calibration: the method of their calibration, if they have one.
    """
    dialect, render = plan.renderer.dialect, plan.renderer.fragment
    double = render("double")
    joins = plan.joins()
    pairs = [pair for feature in plan.spec.features for pair in zip(feature.columns, feature.types, strict=True)]
    for dimension in (joining.dimension for joining in joins):  # whose columns the function looks up by its key
        pairs += zip([key for key, _ in dimension.on], dimension.types, strict=True)
    brought = {name for joining in joins for name in joining.dimension.names}
    # A "character" without its length would be one character.
    types = {name: dialect.query("text" if kind == "character" else kind) for name, kind in pairs if name not in brought}
    if not types or plan.spec.segment_by is not None:  # which may read any column, and a text does not say which
        return
    rows = Rows(render("given_row", list(types.items())), list(types)[:1], joins)
    predicted = [(dialect.ident("prediction"), dialect.query(plan.spec.target_type)), (dialect.ident("probability"), double)]
    added: dict[str, list[tuple[Markup, Markup]]] = {
        "predict": predicted,
        "predict_proba": [*predicted, *((dialect.output(column.probability), double) for column in classes)],
        "joint_log_likelihood": [(dialect.output(column.joint), double) for column in classes],
        "log_evidence": [(dialect.ident("log_evidence"), double)],
    }
    for name, verb in verbs.items():
        query = plan.query(verb, rows, classes, calibration=calibration)
        body = dialect.text(restore(render("added_alone", query, added[verb])))
        yield name, plan.renderer.statement("create_function", plan.relations[name], body, added[verb])
