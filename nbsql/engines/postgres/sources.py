"""Resolves sources on PostgreSQL (tables, views and queries) and describes their columns."""

import re
from collections.abc import Sequence
from typing import Any

import psycopg
from psycopg.pq import ExecStatus

from nbsql.engines.postgres.driver import OWN_PATH, PostgreSQLDriver
from nbsql.engines.source import COMMENTS, MissingSourceError, Source, check_distinct, file_hint, split_path
from nbsql.errors import DatabaseError, InputError, listed, suggestion

_KINDS = {
    **dict.fromkeys(["text", "character varying", "bpchar", '"char"', "name", "citext", "uuid"], "text"),
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
    with engine.errors(), engine.with_settings(trial=True):
        driver, encoding = engine.connection.pgconn, engine.connection.info.encoding
        result = driver.prepare(b"", sql.encode(encoding))
        if result.status != ExecStatus.COMMAND_OK:
            raise psycopg.errors.error_from_result(result, encoding=encoding)
        result = driver.describe_prepared(b"")
        if result.nparams:
            raise InputError("the query has parameters such as $1; a source has all its values in it")
        return [((result.fname(i) or b"").decode(encoding), result.ftype(i)) for i in range(result.nfields)]


def find(engine: PostgreSQLDriver, source: Any, *, is_ours: bool = False) -> Source:
    """The source that the user names, or for a query of ours (`is_ours`) its text, whose names are those of our path.

    Raises InputError if the text is neither a table or view nor one SELECT.
    """
    if not isinstance(source, str):
        raise InputError(
            f"a source is a table, a view or a SELECT on PostgreSQL, not {type(source).__name__}; write it to a table first"
        )
    dialect = engine.renderer.dialect
    if is_ours:
        return engine.described(Source(engine.renderer.fragment("subquery", dialect.query(source)), "the query", []))
    with engine.using_search_path(None):
        database, _, schemas = engine.query_macro("current_database_and_schema")[0]
    if engine.current_search_path() != OWN_PATH:
        _check_path(engine, schemas, "this role can make no view, by which a query is resolved")
    relations = engine.query_macro("relations", schemas)
    relation = _find(database, source, relations)
    if relation is not None:
        path, is_table = relation
        return engine.described(Source(dialect.ident(*path), source, [], is_table=is_table))
    query = source.strip().rstrip(";").rstrip()
    selects = _SELECT.match(query) is not None
    try:
        with engine.using_search_path(None):
            columns = describe_query(engine, query)  # described alone, it must be one complete statement
        if not selects:
            raise InputError(f"a source is a table, a view or one SELECT, not {source!r}")
        check_distinct([name for name, _ in columns], "the query")
        whole = engine.renderer.fragment("subquery", dialect.query(_without_path(engine, query, schemas)))
        return engine.described(Source(whole, "the query", []))
    except DatabaseError as error:
        if selects:
            missing = getattr(error.__cause__, "sqlstate", None) in ("42P01", "3F000")  # an undefined table or schema
            raise (MissingSourceError if missing else InputError)(f"the query cannot be read: {error}") from None
    raise _missing(engine, source, query, relations)


def _missing(engine: PostgreSQLDriver, source: str, query: str, relations: Sequence[tuple[Any, ...]]) -> InputError:
    """The error that a text is neither a table or view nor a query, with what may be meant."""
    if re.match(r"from\s", query, re.IGNORECASE):
        return InputError(f"a query of PostgreSQL does not begin with FROM; write SELECT * before {query!r}")
    others = [(schema, name, is_visible) for _, schema, name, _, is_visible in relations if not schema.startswith("pg_")]
    visible = [name for _, name, is_visible in others if is_visible]
    hidden = [f"{schema}.{name}" for schema, name, is_visible in others if name == query and not is_visible]
    if hidden:
        return InputError(f"no table or view {source!r} in the search_path; did you mean {' or '.join(map(repr, hidden))}?")
    hint = file_hint(source) or suggestion(source, visible) or (f"; there are {listed(sorted(visible))}" if visible else "")
    hint = hint or f"; there are none in the search_path {engine.session_path()}, so name the schema, too"
    return MissingSourceError(f"no table or view {source!r}{hint}")


def _without_path(engine: PostgreSQLDriver, query: str, schemas: list[str]) -> str:
    """A query of the session as a text that says the same on our path; the query itself if that cannot be found out.

    It cannot by a role that may make no view. Its statements run on the path of the session from then on, as long as no other
    role has put anything there that could run in the place of PostgreSQL's own; otherwise this raises InputError.
    """
    try:
        return resolved_query(engine, query)
    except DatabaseError as error:
        engine.take_search_path(None)
        _check_path(engine, schemas, f"the names in the query cannot be resolved beforehand ({error}); give a table or a view")
        return query


def _check_path(engine: PostgreSQLDriver, schemas: list[str], why: str) -> None:
    """Raise InputError if another role has put anything into schemas that could run in the place of PostgreSQL's own."""
    with engine.using_search_path(OWN_PATH):
        for name, schema, owner in engine.query_macro("namesakes", schemas):
            engine.take_search_path(OWN_PATH)
            raise InputError(f"{name} of {owner!r} in {schema!r} could run in the place of PostgreSQL's own, as {why}")


def resolved_query(engine: PostgreSQLDriver, query: str, *, path: str | None = None) -> str:
    """A query on a path, None for that of the session, as a text that says the same on our path: its names are qualified.

    Raises DatabaseError if no view can be made of it.
    """
    name = engine.renderer.dialect.ident("pg_temp", engine.transient_name())
    create = engine.renderer.statement("create_view_as", name, engine.renderer.dialect.query(query), temporary=True)
    with engine.errors(), engine.connection.transaction(force_rollback=True):
        with engine.using_search_path(path):
            engine.rows(create)
        with engine.using_search_path(OWN_PATH):
            text: str = engine.query_value("resolved_query", str(name))
    return text.rstrip(";")


def resolved_expression(engine: PostgreSQLDriver, expression: str, source: Source) -> str:
    """An expression of the session as a text that says the same on our path: as it is, if it does, or if it is none."""
    if not isinstance(expression, str):
        return expression
    render, mark = engine.renderer.statement, f" AS {engine.transient_name().replace(' ', '_')}"
    query = render("expression_of", source.relation, engine.renderer.dialect.query(f"({expression}\n){mark}"))
    try:
        resolved = resolved_query(engine, query)
    except DatabaseError:  # it is no expression, or the role can make no view; what our path does not have is an error then
        return expression
    try:
        if resolved_query(engine, query, path=OWN_PATH) == resolved:
            return expression
    except DatabaseError:
        pass
    return resolved[: resolved.index(mark)].strip().partition(" ")[2]  # without the keyword before it


def _find(database: str, text: str, relations: list[tuple[Any, ...]]) -> tuple[tuple[str, ...], bool] | None:
    """The table or view that a text names, either exactly or as PostgreSQL folds unquoted names."""
    paths = [[text], split_path(text), [name.lower() for name in split_path(text)] if '"' not in text else []]
    for whole in filter(None, paths):
        path = whole[1:] if len(whole) == 3 and whole[0] == database else whole
        for _, schema, name, kind, visible in relations:
            if path == [schema, name] or (path == [name] and visible):
                return (schema, name), kind == "table"
    return None
