"""The report of a table before there is a model of it."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from nbsql.engines.connect import Connection, opened
from nbsql.engines.engine import Engine
from nbsql.engines.source import Source
from nbsql.errors import listed
from nbsql.learning.spelling_advice import advice_on_booleans
from nbsql.rendering.dialect import folded
from nbsql.spec.keywords import ModelOptions
from nbsql.spec.options import Target
from nbsql.tuning.held_out import MIN_ROWS, rows_in_parts, split_at_part
from nbsql.tuning.verbs import auto
from nbsql.warn import collected, warn_user

if TYPE_CHECKING:
    from typing_extensions import Unpack

_PARTS = 5  # one of them is held out


def write_report(
    con: Connection,
    source: Any,
    path: str | os.PathLike[str],
    *,
    target: str | Target,
    budget: int | str | None = "10 s",
    rows: int | Sequence[int] = 0,
    least: int = 5,
    **options: Unpack[ModelOptions],
) -> None:
    """Write the report of a table in one step: choose a model on four fifths of its rows, and evaluate it on the others.

    The model is the best that `nbsql.auto` finds, and is not kept. The page is that of `Model.report`, and says how it was
    made. Of fewer than 30 rows none is held out, and each is predicted by the counts of the others.

    Args:
        con: a connection, session, path or address, as `nbsql.fit` takes it.
        source: table, view, SELECT text, file, DuckDB relation, or pandas, Polars or Arrow frame.
        path: the path of the page, which is overwritten.
        target: the column that holds the class.
        budget: how long to search for the best model, as `nbsql.auto` takes it.
        rows: how many of the rows that were held out are explained, or which of them, from 1.
        least: counts below this number are combined, so that the page can be shared.
        options: the options of `fit` that describe the model.

    Raises:
        InputError: an argument or the data cannot be used, or the file cannot be written.
        NotSupportedError: vl-convert-python, which draws the pictures, is not installed.

    >>> import duckdb, tempfile, os
    >>> data = "SELECT i % 2 = 0 AS even, (i % 2 = 0 OR i % 5 = 0)::VARCHAR AS answer FROM range(400) AS t(i)"
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_report(duckdb.connect(), data, os.path.join(folder, "even.html"), target="even")
    ...     os.listdir(folder)
    ['even.html']
    """
    from nbsql.report import check_request
    from nbsql.report import write_report as write_report_of

    check_request(path, rows, least)
    with opened(con) as engine, engine.transaction(), engine.source(source) as data, engine.temporaries() as temporary:
        name = target.column if isinstance(target, Target) else target
        seen, held_out = _split(engine, data, name, temporary)
        words = advice_on_booleans(engine, data, name)
        with collected() as warned:
            if words is not None and folded(name) not in map(folded, options.get("derive") or {}):
                warn_user(words)
            found = auto(engine, seen, target=target, budget=budget, **options)
            model = found.best()
        chosen, *untried = found.lines()
        choice = chosen.removeprefix("chosen: ").partition(";")[0]
        if found.exclude:
            warned.append(f"{listed(found.exclude)} left out, because the model predicts better without")
        learnt = "the rows" if held_out is None else "four fifths of the rows"
        made = ". ".join([
            f"The model was chosen on {learnt} of {data.label}, by cross-validation: {choice}",
            *(f"{line[0].upper()}{line[1:]}" for line in untried),
        ])  # fmt: skip
        write_report_of(
            model.state, path, held_out or seen, rows=rows, least=least, folds="auto", by=None, gain=False, made=made,
            warned=warned,
        )  # fmt: skip


def _split(
    engine: Engine, source: Source, target: str, temporary: Callable[[str], Markup]
) -> tuple[Source, Source | None]:  # fmt: skip
    """The rows to choose a model on, and those to evaluate it on, a fifth of each class; None of a small table."""
    relation = engine.create("reading the rows", temporary("rows"), engine.renderer.fragment("all_rows", source.relation))
    rows = Source(relation, source.label, source.columns, is_table=True)
    count = engine.query_value("row_count", relation)
    if count < MIN_ROWS:
        return rows, None
    names = [column.name for column in rows.columns]
    column = rows.column(target) or rows.columns[0]
    parts = rows_in_parts(engine, rows, names, (column.name, column.label_type), count, temporary, _PARTS)
    seen, held_out = split_at_part(engine, rows, parts, "0")
    held_out.label = "the other fifth"
    return seen, held_out
