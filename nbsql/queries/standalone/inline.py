"""Inline scorers: the query of a verb that contains the model's numbers and reads none of its tables."""

from collections.abc import Sequence
from itertools import zip_longest
from typing import Any

import duckdb
from markupsafe import Markup

from nbsql.engines.engine import Engine
from nbsql.engines.source import MissingSourceError, Source, split_path
from nbsql.errors import InputError, NbsqlError
from nbsql.plan import Rows
from nbsql.rendering.dialect import restore
from nbsql.spec.column import Column
from nbsql.spec.spec import Spec
from nbsql.storage.state import ModelState


def inline_query(state: ModelState, verb: str, source: Source, rows: Rows, calibration: str | None = None) -> str:
    """The query of a verb over the rows of a source (sql/macros/scoring/inline.sql).

    Raises InputError if the source has no name that another connection could read.
    """
    if source.is_registered:
        source.release()
        raise InputError(
            f"⟨inline=True⟩ cannot read {source.label}, which lives in this process; name a table, or give a SELECT"
        )
    render, plan = state.engine.renderer.fragment, state.plan
    tables = [_table(state, "parameters")]
    if any(feature.family.has_lookups for feature in plan.spec.features):
        tables.append(_table(state, "lookups"))
    if calibration is not None:
        fitted = render("calibration_by", plan.relations["calibration"], calibration)
        tables.append(_table(state, "calibration", fitted))
    relations = tuple(render("inline_name", name) for name in ("parameters", "lookups", "calibration"))
    query = plan.query(verb, rows, state.classes, tables=relations, calibration=calibration)
    return restore(render("with_inline_tables", query, tables))


def source_elsewhere(engine: Engine, spec: Spec, source: Any, error: NbsqlError) -> Source:
    """A source of another database, in which a query will run: a table or a SELECT, with the columns of a model.

    Raises `error`, that of looking for the source in this database, unless it says that there is no such table here.
    """
    missing = isinstance(error, MissingSourceError) or isinstance(error.__cause__, duckdb.CatalogException)
    if not missing or not isinstance(source, str):
        raise error
    from nbsql.queries.standalone.foreign import source_relation  # imports sqlglot, which takes long

    columns = {name: Column(name, "", "other") for name in spec.id}
    for feature in spec.features:
        for name, type_name in zip_longest(feature.columns, feature.types[: len(feature.columns)], fillvalue=""):
            kind = engine.kind(type_name) if type_name else feature.family.accepts[0]
            columns[name] = Column(name, type_name, kind)
    return Source(source_relation(source, engine.renderer), source, list(columns.values()))


def relation_as_written(engine: Engine, source: Source, text: Any) -> Markup:
    """The relation of a source by the name that the user wrote, without the current database: another one is to read it."""
    if source.derived:
        return source.relation.replace(source.needs.relation, relation_as_written(engine, source.needs, text))
    path = split_path(text) if isinstance(text, str) else []
    ident = engine.renderer.dialect.ident
    return ident(*path) if path and source.relation.endswith(ident(path[-1])) else source.relation


def _table(state: ModelState, name: str, relation: Markup | None = None) -> tuple[str, list[str], list[list[Markup]]]:
    """A table of the model as the macro takes it: its name, its columns, and its rows as literals."""
    engine, relation = state.engine, relation or state.relations[name]
    table_columns = engine.columns(relation)
    columns = [column.name for column in table_columns]
    label_type = engine.renderer.dialect.query(next((c.type for c in table_columns if c.name in ("class", "class_1")), ""))
    labels = {number: column.label for column in state.classes for number in column.members or (column.number,)}
    list_types = {c.name: engine.renderer.dialect.query(c.type) for c in table_columns if c.type.endswith("[]")}
    render = engine.renderer.fragment

    def literal(column: str, value: Any, row: Sequence[Any]) -> Any:
        if column in ("class_no", "of_class", "class_count") and value is not None:
            return value
        if name == "calibration" and column == "class":  # which nothing reads
            return render("inline_number", None)
        if name == "parameters" and column.startswith("class"):
            number = row[columns.index("class_no")] if column == "class" else int(column.removeprefix("class_"))
            return render("inline_label", labels[number], label_type)
        if column in ("feature", "value", "method"):
            return engine.renderer.dialect.text(value)
        return render("inline_number", value, list_types.get(column))

    rows = engine.query_macro("sorted_by", relation, columns[:2])
    literals = [[literal(column, value, row) for column, value in zip(columns, row, strict=True)] for row in rows]
    return f"nbsql {name}", columns, literals
