"""Builds the relations of a model from its statistics."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby

from nbsql.engines.engine import Engine
from nbsql.plan import Entry, Plan, Statement
from nbsql.plan.classes import ClassColumn, class_columns, scored_class_count
from nbsql.version import __version__


def build(
    engine: Engine,
    plan: Plan,
    entries: Sequence[Entry],
    *,
    wide: bool | None = None,
    single: bool = False,
    classes: list[ClassColumn] | None = None,
) -> tuple[Plan, list[ClassColumn]]:
    """The plan of a new model, in the form in which it is written, and its classes: builds what it reads from its statistics.

    The ledger has `entries`. `wide` is the form of the tables that scoring reads, None to choose it by their size; `single`
    says whether each class, feature and value has only one cell. `classes` are read from the priors unless they are given.
    """
    described = [
        *plan.describe_model(__version__, entries[0], has_unique_cells=single),
        *map(plan.add_ledger_line, entries[1:]),
    ]
    views = [statement for statement in described if statement.small and statement.name in ("likelihoods", "components")]
    run_statements(engine, plan, [statement for statement in described if statement not in views])
    classes = class_columns(engine.rows(plan.class_order())) if classes is None else classes
    wide = plan.is_wide(scored_class_count(classes)) if wide is None else wide
    plan = Plan(engine.renderer, plan.spec, plan.relations, wide=wide)
    statements = [*plan.create_scoring_tables(classes, has_unique_cells=single), *views]
    if not plan.relations.temporary:
        statements.extend([*plan.create_macros(classes), *plan.create_user_views()])
        statements.extend(plan.add_comments([*described, *statements], ["weights"] if plan.spec.has_weights else []))
    run_statements(engine, plan, statements)
    return plan, classes


def run_statements(engine: Engine, plan: Plan, statements: Iterable[Statement]) -> None:
    """Run statements, some of which may create macros of a model."""
    with engine.creating_macros(plan.relations.path):
        for small, run in groupby(statements, key=lambda statement: statement.small):
            if small:
                first, *others = run
                engine.run_script(first.name, [first.sql, *(statement.sql for statement in others)])
            else:
                engine.run_all(run)
