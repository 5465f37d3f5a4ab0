"""Resolves sources on PostgreSQL (tables, views and queries) and describes their columns."""

from __future__ import annotations

import re
from typing import Any

import psycopg
from psycopg.pq import ExecStatus

from nbsql.engines.postgres.driver import PostgreSQLDriver
from nbsql.engines.source import COMMENTS, MissingSourceError, Source, split_path
from nbsql.errors import DatabaseError, InputError, listed, suggestion

_KINDS = {
    **dict.fromkeys(["text", "character varying", "character", '"char"', "name", "citext", "uuid"], "text"),
    "boolean": "boolean",
    **dict.fromkeys(["smallint", "integer", "bigint"], "integer"),
    **dict.fromkeys(["real", "double precision"], "float"),
    "numeric": "decimal",
}
_TEMPORAL = ("date", "time", "interval")
_SELECT = re.compile(rf"{COMMENTS}\(*{COMMENTS}(select|with|values|table)\b", re.IGNORECASE | re.DOTALL)


def kind_of(name: str, typtype: str) -> str:
    """The kind of a type, from its name and pg_type.typtype; see `Column.kind`."""
    plain = name.rsplit(".", 1)[-1]  # the type of an extension may be qualified by its schema
    if typtype == "e":
        return "text"
    if plain.endswith("[]"):
        return "tokens" if _KINDS.get(plain.removesuffix("[]")) == "text" else "other"
    return "temporal" if plain.startswith(_TEMPORAL) else _KINDS.get(plain, "other")


def has_several_spellings(name: str) -> bool:
    """Whether a value of the type has several spellings, such as 1 and 1.0; a text or the value of an ENUM has one."""
    return _KINDS.get(name, "text") != "text" or name.startswith(_TEMPORAL)


def describe_query(engine: PostgreSQLDriver, sql: str) -> list[tuple[str, int]]:
    """The columns of a query and the OIDs of their types. The server parses the query and does not run it.

    Raises DatabaseError if the server rejects the query, or it is more than one statement; InputError if it has parameters.
    """
    with engine.errors(), engine.savepoint(trial=True):
        driver, encoding = engine.connection.pgconn, engine.connection.info.encoding
        result = driver.prepare(b"", sql.encode(encoding))
        if result.status != ExecStatus.COMMAND_OK:
            raise psycopg.errors.error_from_result(result, encoding=encoding)
        result = driver.describe_prepared(b"")
        if result.nparams:
            raise InputError("the query has parameters such as $1; a source has all its values in it")
        return [((result.fname(i) or b"").decode(encoding), result.ftype(i)) for i in range(result.nfields)]


def find(engine: PostgreSQLDriver, source: Any) -> Source:
    """The source that the user names. Raises InputError if the text is neither a table or view nor one SELECT."""
    if not isinstance(source, str):
        raise InputError(
            f"a source is a table, a view or a SELECT on PostgreSQL, not {type(source).__name__}; write it to a table first"
        )
    dialect = engine.renderer.dialect
    relations = engine.ask("relations")
    relation = _find(engine, source, relations)
    if relation is not None:
        path, is_table = relation
        return engine.described(Source(dialect.ident(*path), source, [], is_table=is_table))
    query = source.strip().rstrip(";").rstrip()
    selects = _SELECT.match(query) is not None
    try:
        describe_query(engine, query)  # described alone, it must be one complete statement
        if not selects:
            raise InputError(f"a source is a table, a view or one SELECT, not {source!r}")
        return engine.described(Source(engine.renderer.fragment("subquery", dialect.query(query)), "the query", []))
    except DatabaseError as error:
        if selects:
            missing = getattr(error.__cause__, "sqlstate", None) in ("42P01", "3F000")  # an undefined table or schema
            raise (MissingSourceError if missing else InputError)(f"the query cannot be read: {error}") from None
    if re.match(r"from\s", query, re.IGNORECASE):
        raise InputError(f"a query of PostgreSQL does not begin with FROM; write SELECT * before {query!r}")
    visible, hidden = list[str](), list[str]()
    for _, schema, name, _, is_visible in relations:
        if is_visible and not schema.startswith("pg_"):
            visible.append(name)
        elif name == query and not schema.startswith("pg_"):
            hidden.append(f"{schema}.{name}")
    if hidden:
        raise InputError(f"no table or view {source!r} in the search_path; did you mean {' or '.join(map(repr, hidden))}?")
    hint = suggestion(source, visible) or (f"; there are {listed(sorted(visible))}" if visible else "")
    hint = hint or f"; there are none in the search_path {engine.current_search_path()}, so name the schema, too"
    raise MissingSourceError(f"no table or view {source!r}{hint}")


def _find(engine: PostgreSQLDriver, text: str, relations: list[tuple[Any, ...]]) -> tuple[tuple[str, ...], bool] | None:
    """The table or view that a text names, either exactly or as PostgreSQL folds unquoted names."""
    database = engine.ask("current_database_and_schema")[0][0]
    paths = [[text], split_path(text), [name.lower() for name in split_path(text)] if '"' not in text else []]
    for whole in filter(None, paths):
        path = whole[1:] if len(whole) == 3 and whole[0] == database else whole
        for _, schema, name, kind, visible in relations:
            if path == [schema, name] or (path == [name] and visible):
                return (schema, name), kind == "table"
    return None
