"""The functions by which a model is used in SQL where there are no macros over a table: of one row, given as JSON."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from markupsafe import Markup

from nbsql.context import ClassColumn
from nbsql.dialect import restore

if TYPE_CHECKING:
    from nbsql.plan.scoring import Scoring

VERBS = ("predict", "predict_proba", "joint_log_likelihood", "log_evidence")


def functions(plan: Scoring, classes: Sequence[ClassColumn]) -> Iterator[tuple[str, str]]:
    """The statements that make them, by the name of the function (sql/macros/postgres/functions.sql)."""
    dialect, render = plan.renderer.dialect, plan.renderer.fragment
    double = render("double")
    joins = plan.joins()
    pairs = [pair for feature in plan.spec.features for pair in zip(feature.columns, feature.types, strict=True)]
    for dimension in (joining.dimension for joining in joins):  # whose columns the function looks up by its key
        pairs += zip([key for key, _ in dimension.on], dimension.types, strict=True)
    brought = {name for joining in joins for name in joining.dimension.names}
    # A "character" without its length would be one character.
    types = {name: dialect.query("text" if kind == "character" else kind) for name, kind in pairs if name not in brought}
    if not types:
        return
    row = render("given_row", list(types.items()))
    predicted = [(dialect.ident("prediction"), dialect.query(plan.spec.target_type)), (dialect.ident("probability"), double)]
    added: dict[str, list[tuple[Markup, Markup]]] = {
        "predict": predicted,
        "predict_proba": [*predicted, *((dialect.output(column.probability), double) for column in classes)],
        "joint_log_likelihood": [(dialect.output(column.joint), double) for column in classes],
        "log_evidence": [(dialect.ident("log_evidence"), double)],
    }
    for verb in VERBS:
        query = plan.query(verb, row, classes, columns=list(types)[:1], joins=joins)
        body = dialect.text(restore(render("added_alone", query, added[verb])))
        yield verb, plan.renderer.statement("create_function", plan.relations[verb], body, added[verb])
