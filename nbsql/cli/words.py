"""Prints explanations in words."""

from __future__ import annotations

from nbsql.cli import tables
from nbsql.cli.session import end_progress
from nbsql.engines.engine import Engine
from nbsql.queries.explanation import explained_rows


def explained(engine: Engine, statement: str, target: str, first: int, note: str = "") -> int:
    """Print explanations of the rows of an `explain` query, numbered from `first`, and return the number of rows.

    The probabilities are those of the contributions; `note` says what they leave out.
    """
    names = engine.names(statement)
    rows = engine.query_macro("as_text", engine.renderer.dialect.query(statement), names)
    end_progress(engine)
    count = 0
    for count, row in enumerate(explained_rows(names, rows, target, first, note), start=1):
        if count > 1:
            tables.echo("")
        tables.echo(row.title, *([""] if row.is_explained else []))
        if row.evidence:
            tables.draw(row.table(), keep=2, indent=2)
        elif row.is_explained:
            tables.echo("there is no other class to weigh it against")
    return count
